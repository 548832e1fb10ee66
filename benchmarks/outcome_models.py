"""Outcome models side by side: every default candidate against the default, which is told nothing.

    python -m benchmarks.outcome_models DATA [--seeds 2] [--parts 5] [--only TEXT]

DATA is a folder with `lending/*.csv`; the simulated loan files need none. Peers and work: each candidate is
fitted on the training part of an *outer* cross-validation and scored on the held-back part; `default` is
`SelectedClassifier`, which averages those candidates that its own cross-validation inside that training part
cannot tell apart, and never sees the part it is scored on; `single` is the best candidate of that same
cross-validation alone (`tolerance=0`). Rows are averaged over seeds first, so standard errors count rows, not
rows times seeds. Columns:

brier           held-back Brier score, sum over classes, in [0, 2], and its standard error
default - it    paired difference of the default to this one and the standard error of that difference;
                negative if the default is better
excess          1e4 times the squared distance to the true probabilities, where they are known
chosen          in how many outer parts it was the best candidate, and its mean weight in the average

The verdict asks of `default` and `single` whether they are within one paired standard error of the candidate
that turned out best in the held-back rows, which nobody could have known beforehand.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from accordant.arrays import Values
from accordant.learning.classification import CalibratedProbabilities, SelectedClassifier, default_candidates
from accordant.learning.classification.brier import brier_contributions, class_codes, mean_with_error
from accordant.learning.folds import copied_records, deal_folds, splits
from benchmarks.simulated_loans import OUTCOMES, SIMULATED

FEATURES = ("Income", "Credit Score", "Loan Amount", "Interest Rate")
DEFAULT = "default"
SINGLE = "single"
MANY_ROWS = 10_000
"""Above this many rows two outer parts and one seed must do."""


@dataclass(frozen=True)
class Task:
    """One loan file; `truth` is (n, 3) or None."""

    name: str
    X: Values
    y: NDArray[np.str_]
    truth: Values | None


@dataclass(frozen=True)
class HeldBack:
    """Per model, (n,) mean over seeds: held-back Brier contribution, and squared distance to the truth."""

    brier: dict[str, Values]
    excess: dict[str, Values]
    chosen: Counter[str]
    mean_weight: dict[str, float]
    cpu_seconds_per_selection: float


def tasks(data: Path) -> Iterator[Task]:
    """Yield the real loan files, then the simulated ones."""
    for path in sorted((data / "lending").glob("*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        X = np.array([[float(row[name]) for name in FEATURES] for row in rows])
        yield Task(path.stem, X, np.array([row["Outcome"] for row in rows]), None)
    for seed, (name, make) in enumerate(SIMULATED.items()):
        simulated = make(seed)
        yield Task(name, simulated.X, simulated.y, simulated.truth)


def held_back(task: Task, n_seeds: int, n_parts: int) -> HeldBack:
    """Score every candidate and the selection on outer held-back parts."""
    n = len(task.y)
    n_parts, seeds = (n_parts, range(n_seeds)) if n <= MANY_ROWS else (2, range(1))
    codes = class_codes(task.y, OUTCOMES)
    names = [DEFAULT, SINGLE, *(each.name for each in default_candidates(task.X.shape[1]))]
    brier = {name: np.full((len(seeds), n), np.nan) for name in names}
    excess = {name: np.full((len(seeds), n), np.nan) for name in names}
    chosen: Counter[str] = Counter()
    weights: list[dict[str, float]] = []
    cpu: list[float] = []
    for index, seed in enumerate(seeds):
        parts = deal_folds(codes, n_parts, 1000 + seed, records=copied_records(task.X, codes))
        for training, test in splits(parts):
            start = time.process_time()
            default = SelectedClassifier(classes=OUTCOMES, random_state=seed).fit(task.X[training], task.y[training])
            cpu.append(time.process_time() - start)
            chosen[default.best_name_] += 1
            weights.append(default.weights_)
            models: dict[str, CalibratedProbabilities | SelectedClassifier] = {DEFAULT: default}
            for each in default_candidates(task.X.shape[1], seed):
                unfitted = each.estimator.set_params(classes=OUTCOMES)
                models[each.name] = unfitted.fit(task.X[training], task.y[training])
            models[SINGLE] = models[default.best_name_]
            for name, model in models.items():
                p = model.predict_proba(task.X[test])
                brier[name][index, test] = brier_contributions(p, codes[test])
                if task.truth is not None:
                    excess[name][index, test] = ((p - task.truth[test]) ** 2).sum(axis=1)
    scored = ~np.isnan(brier[DEFAULT][0])
    return HeldBack(
        {name: rows[:, scored].mean(axis=0) for name, rows in brier.items()},
        {name: rows[:, scored].mean(axis=0) for name, rows in excess.items()},
        chosen,
        {name: float(np.mean([each.get(name, 0.0) for each in weights])) for name in names},
        float(np.mean(cpu)),
    )


def show(task: Task, result: HeldBack) -> tuple[bool, bool]:
    """Print the table of one file; return whether `default` and `single` are within an error of the best."""
    print(f"\n{task.name}: {len(task.y)} rows, {result.cpu_seconds_per_selection:.1f} CPU s per selection")
    print(f"  {'model':<22}  brier ± se         default - it ± se    excess  chosen, weight")
    order = sorted(result.brier, key=lambda name: float(result.brier[name].mean()))
    for name in order:
        score = mean_with_error(result.brier[name])
        gap = mean_with_error(result.brier[DEFAULT] - result.brier[name])
        excess = f"{1e4 * result.excess[name].mean():7.1f}" if task.truth is not None else "      -"
        used = f"{result.chosen[name]:3d}  {result.mean_weight[name]:.2f}" if result.mean_weight[name] else ""
        print(
            f"  {name:<22} {score.value:.4f} ± {score.standard_error:.4f}"
            f"   {gap.value:+.5f} ± {gap.standard_error:.5f}  {excess}  {used}"
        )
    best = next(name for name in order if name not in (DEFAULT, SINGLE))
    return _verdict(result, DEFAULT, best), _verdict(result, SINGLE, best)


def _verdict(result: HeldBack, name: str, best: str) -> bool:
    gap = mean_with_error(result.brier[name] - result.brier[best])
    within = gap.value <= gap.standard_error
    print(
        f"  {name}: {'within' if within else 'NOT WITHIN'} one standard error of the best candidate, {best}"
        f" ({gap.value:+.5f} ± {gap.standard_error:.5f})",
        flush=True,
    )
    return within


def main() -> None:
    """Run the tasks and print how many pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--parts", type=int, default=5, help="parts of the outer cross-validation")
    parser.add_argument("--only", default="", help="run the files whose name contains this text")
    arguments = parser.parse_args()
    with threadpool_limits(limits=1):
        verdicts = [
            show(task, held_back(task, arguments.seeds, arguments.parts))
            for task in tasks(arguments.data)
            if arguments.only in task.name
        ]
    print()
    for name, within in zip((DEFAULT, SINGLE), zip(*verdicts, strict=True), strict=False):
        print(f"{name}: within one standard error of the best candidate on {sum(within)} of {len(within)} files")


if __name__ == "__main__":
    main()
