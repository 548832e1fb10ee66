"""All strategies of a run evaluated, with intervals, on more rows than memory should hold: time, memory, and equality.

Peer, on the first million rows: the same leaderboard of all rows in memory. Its intervals are left out, as a bootstrap
over a million rows takes far longer than all the rest; how intervals compare is shown by `benchmarks.part_sums`.

Work: the case ``story`` with eighteen strategies that decide row by row, seven metrics, 500 resamples; simulated rows
in Parquet files of a million, in parts of 250,000, written one by one into a temporary folder. Each size is evaluated
in a process of its own, so that its peak of memory is known; time for starting and loading is left out.

    OMP_NUM_THREADS=1 python -m benchmarks.dataset_evaluation [--rows 1e6 1e7] [--on processes:2] [--linked]

With ``--linked`` one file of a million rows stands under as many names as needed: rows are equal, work and memory are
not less, and nothing but the evaluation takes time.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from accordant.cases.files import read_case_file
from accordant.cases.loaders import simulated_table
from accordant.cases.spec import StrategySpec
from accordant.compute.local import cpu_seconds
from accordant.evaluation import evaluate
from accordant.evaluation.leaderboard import Leaderboard
from accordant.metrics.metric import weighted_metrics
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.datasets.evaluation import evaluate_dataset
from accordant.runs.datasets.parts import Job
from accordant.runs.execution import part_data
from accordant.tables.datasets import Part

FILE_ROWS, PART_ROWS = 1_000_000, 250_000
STRATEGIES = ("kalai_smorodinsky", "leximin", "minimax_regret")  # beside those of the case, to make eighteen


def make_run(folder: Path) -> None:
    """Learn the case with all strategies."""
    file = read_case_file("story")
    more = [StrategySpec(name=name) for name in STRATEGIES]
    case = file.case.model_copy(update={"strategies": [*file.case.strategies, *more]})
    write_run(carry_out(dataclasses.replace(file, case=case), RunOptions(effort="quick")), folder)


def write_rows(folder: Path, rows: int, *, linked: bool) -> None:
    """Write simulated rows, a file after another."""
    case = read_case_file("story").case
    folder.mkdir()
    for k, start in enumerate(range(0, rows, FILE_ROWS)):
        place = folder / f"rows-{k:05d}.parquet"
        if k and linked:
            os.link(folder / "rows-00000.parquet", place)
        else:
            frame = simulated_table(case, 1000 + k, min(FILE_ROWS, rows - start))
            frame.to_parquet(place, row_group_size=PART_ROWS)


def by_parts(folder: Path, rows: str, on: str) -> tuple[dict[str, float], float, float, float]:
    """Return values by line and metric, CPU seconds, seconds, and the peak of memory in MB."""
    run = read_run(folder / "run")
    evaluate_dataset(Job(run, str(folder / "few"), folder / f"few out {rows}", "here", PART_ROWS))
    before, start = cpu_seconds(), time.perf_counter()
    job = Job(run, str(folder / rows), folder / f"{rows} out", on, PART_ROWS)
    found = evaluate_dataset(job, resamples=500)
    spent = cpu_seconds() - before, time.perf_counter() - start
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return values_of(found), *spent, max(peaks) / 1024


def in_memory(folder: Path, rows: str, on: str) -> tuple[dict[str, float], float, float, float]:
    """Return the same of all rows of one file in memory, without intervals."""
    del on
    run = read_run(folder / "run")
    policy = run.policy
    before, start = cpu_seconds(), time.perf_counter()
    data, _ = part_data(run.case, Part(0, str(folder / rows / "rows-00000.parquet"), None, 0, None, 0), policy.types_)
    evidence = policy.evidence_on(data.log)
    rules = {label: rule for label, rule in policy.strategies_.items() if not rule.whole_batch}
    decisions = {label: each for label, each in policy.decide_on(evidence).items() if label in rules}
    found = evaluate(
        decisions, {label: rule.kind for label, rule in rules.items()}, evidence, weighted_metrics(policy.metrics),
        candidates=[label for label, rule in rules.items() if rule.candidate], generator=np.random.default_rng(0),
        resamples=0,
    )  # fmt: skip
    spent = cpu_seconds() - before, time.perf_counter() - start
    return values_of(found), *spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def values_of(board: Leaderboard) -> dict[str, float]:
    """Return every value of a leaderboard by name."""
    found: dict[str, float | None] = {}
    for row in board:
        found |= {f"{row.strategy}: score": row.score.value, f"{row.strategy}: tied": row.tied}
        for label, cell in row.metrics.items():
            found |= {f"{row.strategy}: {label}": cell.estimate.value, f"{row.strategy}: n of {label}": cell.n}
            found |= {f"{row.strategy}: {label} of {each.label}": each.estimate.value for each in cell.by_group}
    return {name: np.nan if value is None else value for name, value in found.items()}


def apart(work: Callable[..., Any], *given: Any) -> Any:
    """Return what work gives in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def main() -> None:
    """Print the costs of each size, and the largest difference from memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 4e6])
    parser.add_argument("--on", default="here", help="where parts are carried out; memory is that of one worker")
    parser.add_argument("--linked", action="store_true", help="one file under many names")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="accordant-bench-"))
    try:
        make_run(folder / "run")
        write_rows(folder / "few", PART_ROWS, linked=False)
        print("rows            seconds   CPU seconds   CPU µs a row   peak MB   sums of parts MB")
        for rows in map(int, asked.rows):
            name = f"{rows} rows"
            write_rows(folder / name, rows, linked=asked.linked)
            values, cpu, seconds, peak = apart(by_parts, folder, name, asked.on)
            sums = sum(each.stat().st_size for each in (folder / f"{name} out").iterdir()) / 1e6
            print(
                f"{rows:13,}  {seconds:8.1f}  {cpu:12.1f}  {cpu / rows * 1e6:13.2f}  {peak:8.0f}  {sums:17.0f}",
                flush=True,
            )
            if rows == FILE_ROWS:
                whole, cpu, seconds, peak = apart(in_memory, folder, name, "")
                print(
                    f"  in memory    {seconds:8.1f}  {cpu:12.1f}  {cpu / rows * 1e6:13.2f}  {peak:8.0f}  (no intervals)"
                )
                gaps = {each: abs(values[each] - whole[each]) / max(1.0, abs(whole[each])) for each in whole}
                worst = max(gaps, key=lambda each: -1.0 if np.isnan(gaps[each]) else gaps[each])
                print(f"  largest of {len(gaps)} differences: {gaps[worst]:.1e} ({worst})")
                assert values.keys() == whole.keys()
                assert all(np.isnan(values[each]) == np.isnan(whole[each]) for each in whole)
            shutil.rmtree(folder / name)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
