"""Cost of taking part: rewards, E, strategies and metrics beside a plain predictor, as a problem grows.

Work: one offline pass of Algorithm 1 (Vineis, Perelli and Tolomei 2025) on simulated logs with three outcomes, without
cross-validation, bootstrap and report: a reward model per stakeholder, f under every action and E on ten times as many
new rows, four strategies, and metrics of each. Peer, in the same process on the same rows: the outcome model alone,
fitted, and asked about the new rows under the action that was taken. All models are histogram boosting of 40 trees.

The paper claims for the additional offline cost, per run of cross-validation,

    O(|I| (|G| c_train + T |A| (c_inf + |D|)) + T |D| |M|)

with I stakeholders, G the grid of the reward model, T validation rows, A actions, D strategies, M metrics. Exponents
are slopes of log CPU seconds over log size, one size growing at a time; the claim is a bound for large sizes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from accordant import strategies
from accordant.contexts import Contexts, Log
from accordant.evaluation.batch_evidence import gather_evidence
from accordant.learning.augmentation import augmented_queries, elicit
from accordant.learning.expectation import expected_rewards
from accordant.learning.outcome_learning import DiscreteOutcomeLearner
from accordant.learning.outcome_models import action_design
from accordant.learning.reward_learning import RewardLearner
from accordant.metrics import metrics
from accordant.problem import DecisionProblem
from accordant.rewards import TableReward

OUTCOMES = ("Bad", "Middling", "Good")
FEATURES = ("a", "b", "c", "d", "e", "f")
TREES = {"max_iter": 40, "max_leaf_nodes": 15, "early_stopping": False, "random_state": 0}
RULES = ("utilitarian", "maximin", "nash_social_welfare", "kalai_smorodinsky")
METRICS = ("min_reward", "mean_reward", "gini_reward", "nash_welfare")
PARTS = ("rewards", "f", "E", "strategies", "metrics")  # f under every action
NEW_ROWS = 10  # for each row that is learned from: strategies and metrics take too little time to tell on fewer


@dataclass(frozen=True)
class Size:
    """How large the problem is; rows are those learned from."""

    stakeholders: int = 4
    actions: int = 4
    rows: int = 2000
    metrics: int = 4


GROWTH: dict[str, tuple[int, ...]] = {
    "stakeholders": (2, 4, 8, 16, 32),
    "actions": (2, 4, 8, 16),
    "rows": (1000, 2000, 4000, 8000),
    "metrics": (2, 4, 8, 16, 32),
}
CLAIMED: dict[str, dict[str, str]] = {
    "stakeholders": {"rewards": "1", "f": "", "E": "1", "strategies": "1", "metrics": "0"},
    "actions": {"rewards": "c_train", "f": "", "E": "1", "strategies": "1", "metrics": "0"},
    "rows": {"rewards": "c_train", "f": "", "E": "1", "strategies": "1", "metrics": "1"},
    "metrics": {"rewards": "0", "f": "", "E": "0", "strategies": "0", "metrics": "1"},
}
"""Exponents of each part in the claim; ``c_train`` where the cost of training a reward model hides them. Predictions of
f are in no term of it."""


@dataclass
class Clock:
    """CPU seconds by part."""

    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, part: str, work: Callable[[], Any]) -> Any:
        """Do some work, and add what it took to a part."""
        started = time.process_time()
        result = work()
        self.seconds[part] = self.seconds.get(part, 0.0) + time.process_time() - started
        return result


def simulated_log(problem: DecisionProblem, rows: int, generator: np.random.Generator) -> Log:
    """Return rows whose outcome depends on features and action."""
    columns = generator.normal(size=(rows, len(FEATURES)))
    actions = generator.integers(len(problem.actions), size=rows)
    latent = columns[:, 0] + 0.5 * columns[:, 1] * actions / len(problem.actions) + generator.normal(size=rows)
    outcomes = np.digitize(latent, [-0.5, 0.5])
    return Log(Contexts(dict(zip(FEATURES, columns.T, strict=True))), actions, outcomes)


def costs(size: Size, seed: int = 0) -> dict[str, float]:
    """Return CPU seconds of the plain predictor and of each part for one size."""
    problem = DecisionProblem(
        stakeholders=[f"S{i}" for i in range(size.stakeholders)],
        actions=[f"A{a}" for a in range(size.actions)],
        outcomes=OUTCOMES,
    )
    generator, clock = np.random.default_rng(seed), Clock()
    train, new = (simulated_log(problem, size.rows * factor, generator) for factor in (1, NEW_ROWS))
    signals = {
        name: TableReward({
            action: dict(zip(OUTCOMES, generator.uniform(size=3), strict=True)) for action in problem.actions
        })
        for name in problem.stakeholder_names
    }  # fmt: skip
    classifier = HistGradientBoostingClassifier(**TREES)
    learner = DiscreteOutcomeLearner(classifier, {}, False, True, train, FEATURES, problem, 0)
    outcome_model = clock.of("plain", lambda: learner.fit(np.arange(size.rows), {}))
    logged = action_design(outcome_model.encoder(new.contexts), new.actions, size.actions)
    clock.of("plain", lambda: outcome_model.classifier.predict_proba(logged))

    reward_models = []
    queries = clock.of("rewards", lambda: augmented_queries(train, problem, "actions", generator))
    for name, signal in signals.items():
        answers = clock.of("rewards", lambda s=signal: elicit(s, train.contexts, queries, problem, generator)[None])
        regressor = HistGradientBoostingRegressor(**TREES)
        one = RewardLearner((name,), regressor, {}, train, queries, answers, FEATURES, problem)
        reward_models.append(clock.of("rewards", lambda r=one: r.fit(np.arange(size.rows), {})))

    prediction = clock.of("f", lambda: outcome_model.predict(new.contexts))
    expected = clock.of("E", lambda: expected_rewards(new.contexts, prediction, reward_models, problem))
    decisions = [clock.of("strategies", lambda n=name: strategies.create(n)(expected)) for name in RULES]
    evidence = clock.of("metrics", lambda: gather_evidence(problem, new, signals, expected, prediction))
    for each in decisions:
        for number in range(size.metrics):
            metric = metrics.create(METRICS[number % len(METRICS)])
            clock.of("metrics", lambda m=metric, d=each: m.evaluate(d, evidence))
    return clock.seconds


def least_costs(size: Size, repeats: int) -> dict[str, float]:
    """Return the least seconds of each part over repeated passes."""
    passes = [costs(size) for _ in range(repeats)]
    return {part: min(each[part] for each in passes) for part in passes[0]}


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Return the slope of log seconds over log size by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(name: str, sizes: tuple[int, ...], repeats: int) -> None:
    """Print what each part costs as one size grows, and how fast that grows."""
    columns = ("plain", *PARTS)
    print(f"\n{name:>13}" + "".join(f"{column:>12}" for column in columns) + "   parts / plain")
    found = [least_costs(replace(Size(), **{name: size}), repeats) for size in sizes]
    for size, seconds in zip(sizes, found, strict=True):
        together = sum(seconds[part] for part in PARTS) / seconds["plain"]
        print(f"{size:13d}" + "".join(f"{1000 * seconds[column]:9.1f} ms" for column in columns) + f"{together:16.1f}")
    for words, rows in (("exponent", slice(None)), ("last doubling", slice(-2, None))):
        slopes = [exponent(sizes[rows], [seconds[column] for seconds in found[rows]]) for column in columns]
        print(f"{words:>13}" + "".join(f"{slope:12.2f}" for slope in slopes))
    print(f"{'claimed':>13}{'':12}" + "".join(f"{CLAIMED[name][part]:>12}" for part in PARTS))


def main() -> None:
    """Print the table of each size that grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="passes of which the least time counts")
    repeats, base = parser.parse_args().repeats, Size()
    print(f"CPU time; {base.stakeholders} stakeholders, {base.actions} actions, {base.rows} rows to learn from and "
          f"{base.rows * NEW_ROWS} new ones, {len(RULES)} strategies and {base.metrics} metrics where they do not "
          f"grow; least of {repeats}")  # fmt: skip
    with threadpool_limits(1):
        costs(Size(rows=200))  # compiled code is made or read here
        for name, sizes in GROWTH.items():
            growth(name, sizes, repeats)


if __name__ == "__main__":
    main()
