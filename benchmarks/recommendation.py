"""Cost of recommendations, per context: in a batch, one at a time, and at first use; and per row from file to file.

    python -m benchmarks.recommendation           all of it
    python -m benchmarks.recommendation --files   a million rows from CSV to CSV, and from Parquet to Parquet

Work: 3 stakeholders × 3 actions × 3 outcomes, three sets of models: reward forests of 150 trees with at most ten levels
and an outcome forest of 100; the same without a limit; the models that the package takes by default. Peers, in the same
process with the same fitted models: scikit-learn's own predictions, all rows of a batch at once; and one prediction per
stakeholder, action and outcome for every row, as the official code of the published framework does it. The expected
rewards must be equal bit for bit, otherwise a ratio says nothing.

From file to file the run is the case ``story``. Peer, in the same run: ten lines of scikit-learn's ``predict_proba``, a
matrix product with a table of rewards and NumPy's ``argmax``, read and written by pandas, all rows at once; it finds no
runner-up, no margin, no ties and nothing unusual. Each in a process of its own, so that its peak of memory is known.
"""

from __future__ import annotations

import argparse
import copy
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import accordant as ac
from accordant.cases.files import read_case
from accordant.cases.loaders import simulate
from accordant.learning.augmentation import RewardQueries
from accordant.learning.outcome_models import DiscreteOutcomeModel
from accordant.learning.reward_models import LearnedReward, design
from accordant.runs import read_run
from accordant.runs.recommendation import write_recommendations

ROWS, LOOPED_ROWS, SINGLE_ROWS, REPEATS = 5_000, 10, 200, 5


def forests(levels: int | None) -> dict[str, Any]:
    """Return an outcome forest and a reward forest with at most so many levels."""
    return {
        "outcome_model": RandomForestClassifier(100, max_depth=levels, random_state=0),
        "reward_model": RandomForestRegressor(150, max_depth=levels, random_state=0),
    }


MODELS = {"forests of 10 levels": forests(10), "forests without limit": forests(None), "default models": {}}


def fitted_policy(models: dict[str, Any]) -> ac.ParticipatoryPolicy:
    """Return a policy fitted on simulated loans."""
    case, _ = read_case("lending-published")
    policy = ac.ParticipatoryPolicy(
        case.problem,
        features=case.data.features,
        augmentation="actions",
        metrics={"mean_reward": 1.0},
        folds=3,
        resamples=100,
        **models,
    )
    return policy.fit_log(simulate(case, 0, 2_000, {}).log, case.signals())


def renewed(policy: ac.ParticipatoryPolicy, *, directly: bool) -> ac.ParticipatoryPolicy:
    """Return the policy as if it were just loaded, or one that asks scikit-learn instead of reading the models."""
    again, outcome = copy.copy(policy), policy.outcome_model_
    assert isinstance(outcome, DiscreteOutcomeModel)
    again.outcome_model_ = copy.copy(outcome)
    again.reward_models_ = tuple(copy.copy(each) for each in policy.reward_models_)
    if not directly:
        vars(again.outcome_model_)["_probabilities"] = outcome.classifier.predict_proba
        for each in again.reward_models_:
            vars(each)["_trees"] = None
    return again


def looped(policy: ac.ParticipatoryPolicy, contexts: ac.Contexts) -> np.ndarray:
    """Return E computed row by row, one model call per stakeholder, action and outcome."""
    problem = policy.problem
    values = np.zeros((len(problem.stakeholders), len(problem.actions), contexts.n_contexts))
    for t in range(contexts.n_contexts):
        row = contexts.take(np.array([t]))
        weights = policy.outcome_model_.predict(row).weights
        for i, model in enumerate(policy.reward_models_):
            assert isinstance(model, LearnedReward)
            for a in range(len(problem.actions)):
                for o in range(len(problem.outcome_names)):
                    cell = RewardQueries(np.zeros(1, dtype=np.intp), np.array([a]), np.array([o]))
                    q = model.regressor.predict(design(model.encoder(row), cell, problem))[0]
                    values[i, a, t] += np.clip(q, 0, 1) * weights[a, o, 0]
    return values


def measured(work: Callable[[], object], rows: int, repeats: int = REPEATS) -> tuple[float, float]:
    """Return the least wall and processor microseconds per row."""
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls) / rows * 1e6, min(processors) / rows * 1e6


def compare(name: str, models: dict[str, Any]) -> None:
    """Print every figure for one set of models."""
    fitted = fitted_policy(models)
    contexts = simulate(read_case("lending-published")[0], 1, ROWS, {}).log.contexts
    some = contexts.take(np.arange(LOOPED_ROWS))
    row = {column: contexts[column][:1] for column in fitted.features_}
    policy, by_sklearn = renewed(fitted, directly=True), renewed(fitted, directly=False)

    print(f"\n{name}: D* is {fitted.selected_}")
    first, _ = measured(lambda: policy.recommend(row), 1, repeats=1)
    print(f"  first recommendation, reading the models     {first / 1000:8.1f} ms wall (compiled code on disk)")

    loop_wall, loop = measured(lambda: looped(by_sklearn, some), LOOPED_ROWS, repeats=1)
    sklearn_wall, sklearn = measured(lambda: by_sklearn.recommend(contexts), ROWS, repeats=2)
    wall, processor = measured(lambda: policy.recommend(contexts), ROWS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"  batch of {ROWS}                  per context: {wall:8.1f} µs wall, {processor:.1f} µs CPU, {cores} cores")
    print(f"    scikit-learn, batched                      {sklearn_wall:8.1f} µs wall, {sklearn:.1f} µs CPU")
    print(f"    row by row, {LOOPED_ROWS} contexts                    {loop_wall:8.0f} µs wall, {loop:.0f} µs CPU")
    print(f"    ratios of CPU time: {sklearn / processor:.1f} to scikit-learn, {loop / processor:.0f} to row by row")

    alone, _ = measured(lambda: [policy.recommend(row) for _ in range(SINGLE_ROWS)], SINGLE_ROWS)
    asked, _ = measured(lambda: [by_sklearn.recommend(row) for _ in range(5)], 5)
    print(f"  one context alone                            {alone:8.0f} µs wall")
    print(f"    scikit-learn                               {asked:8.0f} µs wall, {asked / alone:.0f} times as much")

    mine, theirs = (each.expected_rewards(contexts).values for each in (policy, by_sklearn))
    assert np.array_equal(mine, theirs), "expected rewards differ"
    difference = np.abs(looped(by_sklearn, some) - theirs[:, :, :LOOPED_ROWS]).max()
    print(f"  equal bit for bit to scikit-learn in the batch; to row by row within {difference:.0e}")


FILE_ROWS, PEER_ROWS = 1_000_000, 2_000
FORMATS = ("csv", "parquet")
START = "from accordant.cli.app import main; main()"


def files() -> None:
    """Print rows a second, processor time and memory from file to file, for us and for the peer."""
    folder = Path(tempfile.mkdtemp(prefix="accordant-bench-"))
    try:
        run = folder / "run"
        command = [
            sys.executable,
            "-c",
            "from accordant.cli.app import main; main()",
            "run",
            "story",
            "--out",
            str(run),
        ]
        subprocess.run(command, check=True, capture_output=True)
        for name, n in (("rows", FILE_ROWS), ("few", FILE_ROWS // 10)):
            log = simulate(read_case("story")[0], 1, n, {}).log
            table = pd.DataFrame({column: log.contexts[column] for column in log.contexts}).assign(o=log.outcomes)
            table.to_csv(folder / f"{name}.csv", index=False)
            table.to_parquet(folder / f"{name}.parquet", row_group_size=100_000)
        print(f"\n{FILE_ROWS:,} rows from file to file; in brackets the peak of memory for a tenth of them")
        context = multiprocessing.get_context("spawn")
        for kind in FORMATS:
            for name, work in (("accordant", _ours), ("scikit-learn, argmax", _theirs)):
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    small = pool.submit(_cost, work, folder, "few", kind, FILE_ROWS // 10).result()
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    cost = pool.submit(_cost, work, folder, "rows", kind, FILE_ROWS).result()
                print(
                    f"  {kind:8} {name:22} {cost[0]:6.2f} µs  {cost[1]:10,.0f} rows/s  "
                    f"{cost[2]:6.0f} MB ({small[2]:.0f} MB)"
                )
    finally:
        shutil.rmtree(folder)


def _cost(work: Callable[[Path, str, str], None], folder: Path, name: str, kind: str, n: int) -> tuple[float, ...]:
    """Return processor µs a row, rows a second, and the peak of memory in MB, without starting and loading."""
    work(folder, "few", kind)
    wall, processor = time.perf_counter(), time.process_time()
    work(folder, name, kind)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return processor / n * 1e6, n / wall, peak_memory()


def peak_memory() -> float:
    """Return the most memory of this process in MB; `resource` would give that of its parent, if it had more."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _ours(folder: Path, name: str, kind: str) -> None:
    run = read_run(folder / "run")
    write_recommendations(run, folder / f"{name}.{kind}", None, folder / f"decided.{kind}")


def _theirs(folder: Path, name: str, kind: str) -> None:
    read = pd.read_csv if kind == "csv" else pd.read_parquet
    features, rewards = ["Heat_demand", "Rent_burden", "Condition"], np.random.default_rng(0).random((3, 3))
    few = read(folder / f"few.{kind}").head(PEER_ROWS)
    model = LogisticRegression(max_iter=5_000).fit(few[features], few["o"])
    table = read(folder / f"{name}.{kind}")
    expected = model.predict_proba(table[features]) @ rewards
    decided = pd.DataFrame(expected, columns=["a", "b", "c"]).assign(action=expected.argmax(axis=1))
    decided.to_csv(folder / "theirs.csv", index=False) if kind == "csv" else decided.to_parquet(
        folder / "theirs.parquet"
    )


def main() -> None:
    """Print the figures for every set of models, and for files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only from file to file")
    only_files = parser.parse_args().files
    files()
    if only_files:
        return
    with threadpool_limits(1):  # scikit-learn's; blocks of contexts go to every free core
        for name, models in MODELS.items():
            compare(name, models)


if __name__ == "__main__":
    main()
