"""Errors and cost of what runs learn, file by file, so that two versions of the program can be compared row by row.

    python -m benchmarks.learning_errors DATA --save before.npz          # in a checkout of the earlier version
    python -m benchmarks.learning_errors DATA --against before.npz       # in this one

DATA is the folder that cases look into. Work: each case's own data, split and folds with seed 42; everything that
`accordant run` learns, on one job. No row is scored by a model that saw it. For each case:

f               held-out rows: Brier score in [0, 2], or squared error of the logged action's level
f, test rows    the same by the final model on untouched rows
q of NAME       test rows, every action and outcome: squared distance to the stated reward without noise, mean per row;
                to the observed reward where none is stated
CPU s           of learning

`--against` prints mean ± standard error of both, and of the difference on the same rows. An error is *kept* if it rises
by at most one standard error of the earlier mean.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from accordant.arrays import Values
from accordant.cases.files import read_case_file
from accordant.contexts import Log
from accordant.learning.augmentation import augmented_queries, elicit, logged_queries
from accordant.learning.cross_fitting import learn
from accordant.policy import ParticipatoryPolicy
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward
from accordant.runs.execution import RunOptions, build_policy, case_data, split
from accordant.runs.reward_sources import located_signals
from accordant.statistics import standard_error

SEED = 42
TASKS: tuple[tuple[str, str, str], ...] = (
    ("lending 2015", "lending", ""),
    ("lending 2007", "lending", "lending/lending_club_2007_2010.csv"),
    ("triage", "triage", ""),
    ("health 1", "health", ""),
    ("health 2", "health", "ihdp/ihdp_npci_2.csv"),
    ("health 3", "health", "ihdp/ihdp_npci_3.csv"),
    ("education", "education", ""),
    ("education-tutoring", "education-tutoring", ""),
    ("lending-published", "lending-published", ""),
)
"""Name, case, and a file below DATA in place of the case's own."""


def outcome_errors(prediction: OutcomePrediction, log: Log, problem: DecisionProblem) -> Values:
    """Return the error of each row's logged action, (row,)."""
    rows = np.arange(len(log))
    of_action = log.actions if prediction.depends_on_action else np.zeros_like(log.actions)
    if problem.continuous:
        return np.asarray((prediction.levels()[of_action, rows] - log.outcomes) ** 2)
    p = prediction.weights[of_action, :, rows].copy()
    p[rows, log.outcomes.astype(np.intp)] -= 1.0
    return np.asarray((p**2).sum(axis=1))


def reward_errors(policy: ParticipatoryPolicy, log: Log, name: str) -> Values:
    """Return the mean squared error of one stakeholder's learned reward in each row, (row,)."""
    problem, signal = policy.problem, policy.signals_[name]
    observed = isinstance(signal, ObservedReward)
    queries = logged_queries(log) if observed else augmented_queries(
        log, problem, policy.augmentation, np.random.default_rng(SEED)
    )  # fmt: skip
    target = log.rewards[name] if observed else elicit(signal, log.contexts, queries, problem, None)
    model = next(each for each in policy.learned_.reward_models if name in each.stakeholders)
    errors = np.empty(len(queries))
    if problem.continuous:
        nodes = np.asarray(queries.outcomes).reshape(-1, len(log))
        of = np.arange(len(queries)) // len(log) % len(nodes) if not observed else np.zeros(len(queries), np.intp)
        for each in np.unique(of):
            chosen = np.flatnonzero(of == each)
            outcomes = np.empty(len(log))
            outcomes[queries.rows[chosen]] = queries.outcomes[chosen]
            at = np.broadcast_to(outcomes, (len(problem.actions), 1, len(log)))
            q = model.predict(log.contexts, at)[model.stakeholders.index(name)]
            errors[chosen] = q[queries.actions[chosen], 0, queries.rows[chosen]] - target[chosen]
    else:
        q = model.predict(log.contexts, None)[model.stakeholders.index(name)]
        errors[:] = q[queries.actions, np.asarray(queries.outcomes, dtype=np.intp), queries.rows] - target
    return np.bincount(queries.rows, errors**2, len(log)) / np.bincount(queries.rows, minlength=len(log))


def measured(case: str, file: str, data: Path) -> dict[str, Values]:
    """Learn a case and return errors by row, and the CPU seconds under ``CPU s``."""
    declared = read_case_file(case)
    spec = declared.case
    options = RunOptions(SEED, str(data / file if file else data))
    signals = located_signals(spec, declared.beside, options.data, {})
    loaded = case_data(spec, declared.beside, options, signals)
    train, test = split(loaded, spec.evaluation.test_size, SEED)
    policy = build_policy(spec, options)
    policy.features_ = policy._features(train.log.contexts)  # noqa: SLF001 - learning alone, without a leaderboard
    log = policy._typed(train.log)  # noqa: SLF001
    policy.signals_ = {
        name: signals[name].of_stakeholder(name, spec.problem).fit(log, spec.problem)
        for name in spec.problem.stakeholder_names
    }
    settings = dataclasses.replace(policy._settings(), n_jobs=1)  # noqa: SLF001
    start = time.process_time()
    policy.learned_ = learned = learn(
        spec.problem, log, policy.signals_, policy.features_, settings, policy.confounders
    )
    found = {"CPU s": np.array([time.process_time() - start])}
    found["f"] = outcome_errors(learned.held_out_prediction, log, spec.problem)
    found["f, test rows"] = outcome_errors(learned.outcome_model.predict(test.log.contexts), test.log, spec.problem)
    if spec.learning.reward_model.name != "stated":
        for name in spec.problem.stakeholder_names:
            found[f"q of {name}"] = reward_errors(policy, test.log, name)
    return found


def compared(before: Mapping[str, Values], now: Mapping[str, Values]) -> Iterator[str]:
    """Yield a line for each error."""
    for name, values in now.items():
        earlier = before[name]
        if name == "CPU s":
            share = values[0] / earlier[0]
            yield f"  {name:<20} {earlier[0]:9.1f}               {values[0]:9.1f}             {share:.2f}"
            continue
        error = float(standard_error(earlier))
        gap, own = float((values - earlier).mean()), float(standard_error(values - earlier))
        verdict, error_now = "kept" if gap <= error else "WORSE", float(standard_error(values))
        yield (
            f"  {name:<20} {earlier.mean():.6f} ± {error:.6f}   {values.mean():.6f} ± {error_now:.6f}"
            f"   {gap:+.6f} ± {own:.6f}   {verdict}"
        )


def main() -> None:
    """Measure, save or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", default="", help="the tasks whose name contains this text")
    arguments = parser.parse_args()
    before = dict(np.load(arguments.against)) if arguments.against else {}
    kept: dict[str, Values] = {}
    if before:
        print("  " + " " * 20 + " before                 now                    difference")
    for task, case, file in TASKS:
        if arguments.only not in task:
            continue
        with threadpool_limits(1):
            now = measured(case, file, arguments.data)
        kept |= {f"{task}/{name}": values for name, values in now.items()}
        rows = f"{len(now['f'])} training rows, {len(now['f, test rows'])} test rows"
        print(f"{task}: {rows}, {float(now['CPU s'][0]):.1f} CPU s", flush=True)
        earlier = {name: before[f"{task}/{name}"] for name in now if f"{task}/{name}" in before}
        if len(earlier) == len(now):
            print("\n".join(compared(earlier, now)), flush=True)
        if arguments.save:
            np.savez_compressed(arguments.save, **kept)


if __name__ == "__main__":
    main()
