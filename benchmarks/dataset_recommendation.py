"""Recommendations for more rows than memory should hold, from Parquet to Parquet: rows a second, CPU time, memory.

Peers, in the same run, each in a process of its own, file by file as well:

- scikit-learn: ten lines of ``predict_proba``, a product with a table of rewards and NumPy's ``argmax``; action and E
  are written. It finds no runner-up, no margin, no ties and nothing unusual.
- Polars: the action with the largest sum of rewards of E that stands in a file already; the action alone is written.
- plain reading and writing: columns of the features are read by pyarrow, and our own output is written again.

Work: the case ``story``. A file of a million simulated rows stands under as many names as needed; each is read, and
each output written. Starting and loading is left out. Figures at ``--on`` other than ``here`` are ours alone; that and
all peers use one thread.

    OMP_NUM_THREADS=1 python -m benchmarks.dataset_recommendation [--rows 1e6 1e7 1e8] [--on here processes:2]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from accordant.cases.files import read_case
from accordant.cases.loaders import simulated_table
from accordant.compute.local import cpu_seconds
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.recommendation import recommend_dataset
from benchmarks.dataset_evaluation import apart

FILE_ROWS, PART_ROWS, PEER_ROWS = 1_000_000, 500_000, 2_000
FEATURES = ["Heat_demand", "Rent_burden", "Condition"]
OUT = "out"


def prepare(folder: Path) -> None:
    """Learn the case, and write a file of rows, one of E, and one of what we recommend for them."""
    write_run(carry_out("story", RunOptions(effort="quick")), folder / "run")
    run, rows = read_run(folder / "run"), folder / "rows"
    rows.mkdir()
    frame = simulated_table(read_case("story")[0], 1, FILE_ROWS)
    frame.to_parquet(rows / "00000.parquet", row_group_size=PART_ROWS)
    expected = run.policy.expected_rewards(frame)
    table = {
        f"{stakeholder}: {action}": expected.values[i, a]
        for i, stakeholder in enumerate(expected.stakeholders)
        for a, action in enumerate(expected.actions)
    }
    (folder / "E").mkdir()
    pd.DataFrame(table).to_parquet(folder / "E" / "00000.parquet", row_group_size=PART_ROWS)
    (folder / OUT).mkdir()


def linked(folder: Path, files: int) -> list[Path]:
    """Give the one file of a folder as many names as asked for."""
    first = folder / "00000.parquet"
    places = [first, *(folder / f"{k:05d}.parquet" for k in range(1, files))]
    for place in places[1:]:
        place.unlink(missing_ok=True)
        os.link(first, place)
    for extra in set(folder.iterdir()) - set(places):
        extra.unlink()
    return places


def ours(folder: Path, files: list[Path], on: str) -> None:
    """Recommend for the files."""
    recommend_dataset(Job(read_run(folder / "run"), str(files[0].parent), folder / OUT / "ours", on, PART_ROWS))


def scikit_learn(folder: Path, files: list[Path]) -> None:
    """Do what ten lines do."""
    from sklearn.linear_model import LogisticRegression

    rewards = np.random.default_rng(0).random((3, 3))
    few = pd.read_parquet(files[0]).head(PEER_ROWS)
    outcome = next(column for column in few if few[column].nunique() == len(rewards) and column not in FEATURES)
    model = LogisticRegression(max_iter=5_000).fit(few[FEATURES], few[outcome])
    for file in files:
        expected = model.predict_proba(pd.read_parquet(file, columns=FEATURES)) @ rewards
        decided = pd.DataFrame(expected, columns=["a", "b", "c"]).assign(action=expected.argmax(axis=1))
        decided.to_parquet(folder / OUT / file.name)


def polars_argmax(folder: Path, files: list[Path]) -> None:
    """Take the action with the largest sum of what stands in files."""
    import polars as pl

    actions = read_run(folder / "run").policy.problem.actions
    sums = [pl.sum_horizontal(pl.selectors.ends_with(f": {action}")) for action in actions]
    for file in files:
        decided = pl.scan_parquet(folder / "E" / file.name).select(pl.concat_list(sums).list.arg_max().alias("action"))
        decided.collect().write_parquet(folder / OUT / file.name)


def plain(folder: Path, files: list[Path]) -> None:
    """Read what is decided about, and write what was recommended."""
    import pyarrow.parquet as pq

    parts = [pq.read_table(each) for each in sorted((folder / "ours").glob("*.parquet"))]
    for file in files:
        pq.read_table(file, columns=FEATURES, use_threads=False)
        for k, part in enumerate(parts):
            pq.write_table(part, folder / OUT / f"{k}-{file.name}")


def cost(work: Callable[[Path, list[Path]], None], folder: Path, files: int) -> tuple[float, ...]:
    """Return seconds, CPU seconds and the peak of memory in MB, of this process or of the largest worker."""
    places = linked(folder / "rows", files)
    linked(folder / "E", files)
    before, start = cpu_seconds(), time.perf_counter()
    work(folder, places)
    spent = time.perf_counter() - start, cpu_seconds() - before
    own = int(Path("/proc/self/status").read_text(encoding="ascii").partition("VmHWM:")[2].split()[0])
    return *spent, max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def main() -> None:
    """Print the costs of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 4e6])
    parser.add_argument("--on", nargs="+", default=["here", "processes:2"], help="where our parts are carried out")
    asked = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = "1"
    folder = Path(tempfile.mkdtemp(prefix="accordant-bench-"))
    try:
        apart(prepare, folder)
        apart(cost, partial(ours, on="here"), folder, 1)
        (folder / OUT / "ours").rename(folder / "ours")
        print(f"{'':34} rows       seconds     rows a second   CPU µs a row   peak MB")
        for files in (max(1, round(rows / FILE_ROWS)) for rows in asked.rows):
            rows = files * FILE_ROWS
            works: dict[str, Callable[[Path, list[Path]], None]] = {
                **{f"accordant, {on}": partial(ours, on=on) for on in asked.on},
                "scikit-learn, argmax": scikit_learn, "Polars, argmax of E": polars_argmax,
                "plain reading and writing": plain,
            }  # fmt: skip
            for name, work in works.items():
                seconds, cpu, peak = apart(cost, work, folder, files)
                print(
                    f"{name:26} {rows:13,}  {seconds:12.1f}  {rows / seconds:16,.0f}  "
                    f"{cpu / rows * 1e6:13.2f}  {peak:8.0f}",
                    flush=True,
                )
                shutil.rmtree(folder / OUT)
                (folder / OUT).mkdir()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
