"""Bootstrap intervals of group metrics: accordant against fairlearn's MetricFrame (its `n_boot`).

The work, equal for both: percentile limits (2.5 % and 97.5 %) of selection rate, true positive rate, false
positive rate and accuracy, overall and in each of four groups, and of their differences and ratios between
groups, for one binary strategy.

* Limits are compared where both can run, `--rows` contexts × `--resamples` resamples: first on the very
  resamples that fairlearn draws, where they must be equal; then on own resamples, where limits differ by
  Monte Carlo error even if both are right, so the error is also given in units of its standard deviation.
* Time is compared in the same process: accordant at 100,000 × 1,000 measured; fairlearn at 100,000 ×
  `--peer-resamples` measured and extrapolated linearly (it evaluates one resample after another).
  The ratio is of CPU time.

Run: OMP_NUM_THREADS=1 python benchmarks/bootstrap.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation.bootstrap import (
    Resampled,
    Statistics,
    resampled,
)
from accordant.evidence import Evidence
from accordant.metrics.metric import Metric
from accordant.problem import DecisionProblem
from accordant.statistics import Units, WeightBlock, percentile_interval
from accordant.utilities import ExpectedRewards

PEER = {
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
    "accuracy": accuracy_score,
}
CRITERIA = {
    "selection_rate": "demographic_parity",
    "true_positive_rate": "equal_opportunity",
    "false_positive_rate": "predictive_equality",
    "accuracy": "accuracy_parity",
}
Limits = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Data:
    """One binary decision problem: outcomes, decisions and groups, each of shape (context,)."""

    outcomes: NDArray[np.intp]
    decisions: NDArray[np.intp]
    groups: NDArray[np.float64]


def data(n: int, generator: np.random.Generator) -> Data:
    """Return decisions that follow the outcome more often in some groups than in others."""
    groups = generator.choice(4, size=n, p=(0.4, 0.3, 0.2, 0.1))
    outcomes = generator.random(n) < 0.3 + 0.1 * groups
    right = generator.random(n) < 0.85 - 0.05 * groups
    return Data(
        outcomes.astype(np.intp),
        np.where(right, outcomes, ~outcomes).astype(np.intp),
        groups.astype(np.float64),
    )


def evidence(found: Data) -> tuple[Evidence, Decisions]:
    """Return the same data as accordant's types."""
    problem = DecisionProblem(
        stakeholders=["Applicant"],
        actions=["no", "yes"],
        outcomes=["bad", "good"],
        favourable_actions=["yes"],
        favourable_outcomes=["good"],
        outcome_to_action={"bad": "no", "good": "yes"},
    )
    n = len(found.outcomes)
    rewards = np.zeros((1, 2, n))
    expected = ExpectedRewards(rewards, stakeholders=["Applicant"], actions=problem.actions)
    log = Log(Contexts({"group": found.groups}), found.decisions, found.outcomes)
    return (
        Evidence(problem, log, expected, rewards),
        Decisions("strategy", problem.actions, found.decisions, np.zeros(n, dtype=bool)),
    )


def statistics(found: Data) -> Statistics:
    """Return what accordant resamples."""
    known, decisions = evidence(found)
    group: dict[str, Any] = {"attributes": ("group",)}
    asked: dict[str, Metric] = {name: metrics.create(name, group) for name in PEER}
    for name, criterion in CRITERIA.items():
        asked[f"{name} difference"] = metrics.create(criterion, group)
        asked[f"{name} ratio"] = metrics.create(criterion, group | {"aggregate": "ratio"})
    return Statistics.of({"strategy": decisions}, known, asked)


def ours(found: Data, resamples: int, generator: np.random.Generator) -> Limits:
    """Return limits (2, …) by name, computed by accordant, preparation included."""
    prepared = statistics(found)
    return limits_of(prepared, resampled(prepared, resamples=resamples, generator=generator))


def ours_on_theirs(found: Data, resamples: int) -> Limits:
    """Return accordant's limits on the resamples that fairlearn draws with ``random_state=0``."""
    prepared, n = statistics(found), len(found.outcomes)
    seeds = np.random.default_rng(0).integers(0, np.iinfo(np.uint32).max, size=resamples, dtype=np.uint32)
    rows = pd.Series(np.arange(n))
    blocks = []
    for b, seed in enumerate(seeds):
        drawn = rows.sample(frac=1, replace=True, random_state=seed).to_numpy()
        weights = np.bincount(drawn, minlength=n).astype(np.float64)[None]
        blocks.append(WeightBlock(slice(b, b + 1), slice(None), weights))
    return limits_of(prepared, prepared.resampled(Units.single(n), blocks, resamples))


def limits_of(prepared: Statistics, drawn: Resampled) -> Limits:
    """Return percentile limits (2, …) by name."""
    limits = percentile_interval(drawn.values[:, 0])
    return {label: np.array([limits.low[m], limits.high[m]]) for m, label in enumerate(prepared.metrics)}


def fairlearn(found: Data, resamples: int) -> Limits:
    """Return limits (2, …) by name, computed by fairlearn."""
    frame = MetricFrame(
        metrics=PEER,
        y_true=found.outcomes,
        y_pred=found.decisions,
        sensitive_features=found.groups,
        n_boot=resamples,
        ci_quantiles=[0.025, 0.975],
        random_state=0,
    )
    result: Limits = {}
    differences, ratios = frame.difference_ci(), frame.ratio_ci()
    for name in PEER:
        result[name] = np.array([limit[name] for limit in frame.overall_ci])
        result[f"{name} difference"] = np.array([limit[name] for limit in differences])
        result[f"{name} ratio"] = np.array([limit[name] for limit in ratios])
    return result


def seconds(work: Callable[[], object], repeats: int = 1) -> tuple[float, float]:
    """Return the shortest wall and CPU times of some repeats."""
    walls, processes = [], []
    for _ in range(repeats):
        wall, process = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processes.append(time.process_time() - process)
    return min(walls), min(processes)


def largest(limits: Limits, other: Limits) -> tuple[float, str]:
    """Return the largest difference between limits and where it is."""
    gaps = {name: float(np.abs(limits[name] - other[name]).max()) for name in limits}
    name = max(gaps, key=lambda each: gaps[each])
    return gaps[name], name


def compare_limits(rows: int, resamples: int) -> None:
    """Print how far the limits of both are from each other and from precise ones."""
    found = data(rows, np.random.default_rng(1))
    theirs, same = fairlearn(found, resamples), ours_on_theirs(found, resamples)
    runs = [ours(found, resamples, np.random.default_rng(seed)) for seed in range(60)]
    precise = ours(found, 20_000, np.random.default_rng(60))
    spread = {name: np.std([run[name] for run in runs], axis=0) for name in precise}
    n_limits = sum(limits.size for limits in precise.values())
    print(f"limits, {rows:,} contexts × {resamples} resamples, {n_limits} limits")
    print(f"  both on the resamples of fairlearn: largest difference {largest(theirs, same)[0]:.1e}")
    for who, limits in (("fairlearn", theirs), ("accordant", runs[0])):
        gap, name = largest(limits, precise)
        errors = {each: limits[each] - precise[each] for each in precise}
        mean = np.mean(np.concatenate([np.abs(error).ravel() for error in errors.values()]))
        scaled = np.concatenate([(errors[each] / spread[each]).ravel() for each in precise])
        print(f"  {who} against accordant with 20,000 resamples: mean {mean:.5f}, largest {gap:.5f} ({name}),")
        print(f"    root mean square in units of the Monte Carlo sd {np.sqrt(np.mean(scaled**2)):.2f} (1 expected)")


def compare_times(peer_resamples: int) -> None:
    """Print the times of both and their ratio."""
    found = data(100_000, np.random.default_rng(2))
    mine = seconds(lambda: ours(found, 1000, np.random.default_rng(0)), repeats=5)
    many, one = seconds(lambda: fairlearn(found, peer_resamples)), seconds(lambda: fairlearn(found, 1))
    # the difference leaves out what fairlearn does once, whatever the number of resamples
    wall, process = ((all_ - first) / (peer_resamples - 1) * 1000 for all_, first in zip(many, one, strict=True))
    print("time, 100,000 contexts × 1,000 resamples, one process, seconds")
    print(f"  accordant wall {mine[0]:.3f}, CPU {mine[1]:.3f} (measured, best of 5, preparation included)")
    print(f"  fairlearn wall {wall:.0f}, CPU {process:.0f} (extrapolated from {peer_resamples} resamples)")
    print(f"  ratio of CPU times {process / mine[1]:,.0f}")
    first, second = (ours(found, 1000, np.random.default_rng(seed)) for seed in (0, 1))
    gap, name = largest(first, second)
    print(f"  two seeds of accordant: limits differ by at most {gap:.5f} ({name})")


def main() -> None:
    """Read the sizes and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000, help="contexts for the comparison of limits")
    parser.add_argument("--resamples", type=int, default=300, help="resamples for the comparison of limits")
    parser.add_argument("--peer-resamples", type=int, default=20, help="resamples of fairlearn at 100,000 contexts")
    asked = parser.parse_args()
    compare_limits(asked.rows, asked.resamples)
    compare_times(asked.peer_resamples)


if __name__ == "__main__":
    main()
