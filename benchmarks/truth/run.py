"""One run in one world: fit, compare what is said with what is true."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from accordant import ParticipatoryPolicy, metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation import Leaderboard
from accordant.evidence import Evidence
from accordant.learning.expectation import expected_rewards
from accordant.strategies import Strategy
from benchmarks.truth import readings
from benchmarks.truth.worlds import SENSITIVE, Values, World

COMPOSITE = "composite"
CHOSEN = "score of the selected"
EQUAL = 1e-9  # rounding
RECORD = (
    "part", "strategy", "metric", "value", "low", "high", "truth", "candidate", "selected", "flagged", "worse",
    "member", "compared",
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """How every run is made.

    Attributes
    ----------
    resamples, folds
        Of the policy.
    calibrated
        Whether the outcome model is calibrated; a logistic one hardly changes, and it takes a third of a fit.
    population
        Contexts over which true values are means; rounded up to a power of 2. They fill the space evenly, so that
        errors are those of a much larger random sample.
    normalisation
        Of the composite score; None for the library's default.
    stability
        Whether to drop and add candidates.
    """

    resamples: int = 500
    folds: int = 5
    calibrated: bool = False
    population: int = 32_768
    normalisation: str | None = None
    stability: bool = True


@dataclass(frozen=True)
class Run:
    """What one run leaves behind.

    Attributes
    ----------
    records
        One tuple per part, strategy and metric, see `RECORD`.
    dropped, added
        How often D* changed when another candidate was dropped, and when a dominated one was added, each with how many
        were tried.
    regrets
        True composite score of the best candidate less that of the selected rule and of constant choices of a rule.
    seconds
        CPU seconds of the fit, of the test part, of the truth and of dropping and adding.
    """

    records: list[tuple[Any, ...]]
    dropped: tuple[int, int]
    added: tuple[int, int]
    regrets: dict[str, float]
    seconds: dict[str, float]


def weighted(world: World) -> dict[str, tuple[metrics.Metric, float]]:
    """Return what is measured: three metrics with weights, and others that are shown only."""
    groups: Mapping[str, Any] = {"attributes": [SENSITIVE]}
    listed: dict[str, tuple[str, Mapping[str, Any], float]] = {
        "mean_reward": ("mean_reward", {}, 0.4),
        "min_reward": ("min_reward", {}, 0.3),
        "parity": ("demographic_parity", groups, 0.3),
        "signed_parity": ("demographic_parity", {**groups, "protected": "1"}, 0.0),
        "equal_opportunity": ("equal_opportunity", groups, 0.0),
        "first_stakeholder": ("stakeholder_reward", {"stakeholder": world.problem.stakeholder_names[0]}, 0.0),
        "nash_welfare": ("nash_welfare", {}, 0.0),
        "gini_reward": ("gini_reward", {}, 0.0),
        "share_of_a0": ("share_of_action", {"action": "a0"}, 0.0),
        "welfare_regret": ("welfare_regret", {}, 0.0),
    }
    return {label: (metrics.create(name, dict(given)), weight) for label, (name, given, weight) in listed.items()}


def one_run(world: World, run: int, settings: Settings) -> Run:
    """Fit a policy on rows of a world, and hold everything it says against the truth."""
    training, test = world.sample(run)
    clock = [time.process_time()]
    chosen = {} if settings.normalisation is None else {"normalisation": settings.normalisation}
    policy = ParticipatoryPolicy(
        world.problem, features=[f"x{j}" for j in range(world.features)],
        outcome_model=LogisticRegression(max_iter=1000), reward_model="stated", metrics=weighted(world),
        calibrated=settings.calibrated, folds=settings.folds, resamples=settings.resamples, random_state=run, **chosen,
    ).fit_log(training, world.signals)  # fmt: skip
    clock.append(time.process_time())
    boards = {"validation": policy.leaderboard_, "test": policy.leaderboard_on(policy.evidence_on(test))}
    clock.append(time.process_time())
    truth = true_leaderboard(policy, world, settings.population)
    clock.append(time.process_time())
    records = [record for part, board in boards.items() for record in compared(policy, part, board, truth)]
    dropped, added = flips(policy) if settings.stability else ((0, 0), (0, 0))
    clock.append(time.process_time())
    spent = dict(zip(("fit", "test", "truth", "stability"), np.diff(clock).tolist(), strict=True))
    return Run(records, dropped, added, regrets(policy, truth), spent)


@lru_cache(maxsize=2)
def _population(world: World, size: int) -> tuple[Log, Values]:
    return world.population(size)


def true_leaderboard(policy: ParticipatoryPolicy, world: World, size: int) -> Leaderboard:
    """Return the leaderboard on a population whose rewards are true expectations: its values are the true ones.

    Metrics that compare decisions with what was logged read the population's log.
    """
    log, rewards = _population(world, size)
    prediction = policy.outcome_model_.predict(log.contexts)
    expected = expected_rewards(log.contexts, prediction, policy.reward_models_, world.problem)
    return without_resamples(policy).leaderboard_on(Evidence(world.problem, log, expected, rewards, prediction))


def without_resamples(policy: ParticipatoryPolicy) -> Any:
    """Return the same policy that resamples nothing."""
    other = copy.copy(policy)
    other.resamples = 0
    return other


def compared(policy: ParticipatoryPolicy, part: str, board: Leaderboard, truth: Leaderboard) -> list[tuple[Any, ...]]:
    """Return the records of one part."""
    found = []
    for row in board:
        known = truth[row.strategy]
        flagged = readings.overlap_flagged(policy, board, row.strategy)
        about = (
            row.candidate, row.strategy == policy.selected_, flagged, readings.said_worse(row),
            readings.among_best(row), readings.compared(row),
        )  # fmt: skip
        cells = {label: (cell.estimate, known.metrics[label].estimate) for label, cell in row.metrics.items()}
        cells[COMPOSITE] = row.score, known.score
        if row.strategy == policy.selected_:
            cells[CHOSEN] = readings.selected_score(board, row, part), known.score
        for label, (estimate, true) in cells.items():
            found.append((part, row.strategy, label, *readings.limits(estimate), readings.limits(true)[0], *about))
    return found


def regrets(policy: ParticipatoryPolicy, truth: Leaderboard) -> dict[str, float]:
    """Return the true score of the best selectable rule less that of the selected one and of two fixed choices."""
    scores = {
        row.strategy: row.score.value
        for row in truth
        if row.score.value is not None and policy.strategies_[row.strategy].may_be_selected
    }
    best = max(scores.values())
    choices = {"selected": policy.selected_, "utilitarian": "utilitarian", "maximin": "maximin"}
    return {name: best - scores[label] for name, label in choices.items()}


class Selection:
    """How D* is chosen on the rows that the policy was selected on, whoever stands for selection.

    Only metrics with weight are computed, and every strategy decides once.
    """

    def __init__(self, policy: ParticipatoryPolicy, extra: Sequence[Strategy] = ()) -> None:
        self._policy = without_resamples(policy)
        self._policy.metrics = {label: each for label, each in policy.metrics.items() if each[1] > 0}
        self.everybody = {**policy.strategies_, **{rule.label: rule for rule in extra}}
        self._policy.strategies_ = self.everybody
        self._decisions = self._policy.decide_on(policy.evidence_)

    def among(self, labels: Sequence[str]) -> tuple[str, Leaderboard]:
        """Return D* among some strategies, and the leaderboard."""
        other = copy.copy(self._policy)
        other.strategies_ = {label: self.everybody[label] for label in labels}
        other.decide_on = lambda _evidence: {label: self._decisions[label] for label in labels}
        other.leaderboard_ = other.leaderboard_on(other.evidence_)
        return str(other._select()), other.leaderboard_  # noqa: SLF001 - the rule by which the library itself selects


def flips(policy: ParticipatoryPolicy) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how often D* changes if another candidate is dropped, and if a dominated one is added; each of how many.

    Those added count only if they came out dominated on these rows.
    """
    extra = (Worst(), Partial())
    selection = Selection(policy, extra)
    listed = list(policy.strategies_)
    before, _ = selection.among(listed)
    others = [label for label in listed if policy.strategies_[label].candidate and label != before]
    dropped = sum(selection.among([each for each in listed if each != other])[0] != before for other in others)
    tried = added = 0
    for rule in extra:
        after, board = selection.among([*listed, rule.label])
        if is_dominated(board, rule.label):
            tried, added = tried + 1, added + (after != before)
    return (int(dropped), len(others)), (added, tried)


def is_dominated(board: Leaderboard, label: str) -> bool:
    """Return whether another candidate is at least as good on every metric with weight, and better on one."""
    counted = [column for column in board.columns if column.weight > 0]
    sign = {"max": 1.0, "min": -1.0, "zero": -1.0}

    def values(strategy: str) -> Values:
        raw = [board[strategy].metrics[column.label].estimate.value for column in counted]
        sizes = [abs(value) if column.goal == "zero" else value for value, column in zip(raw, counted, strict=True)]
        return np.array([sign[column.goal] * size for size, column in zip(sizes, counted, strict=True)])

    own = values(label)
    others = [values(row.strategy) - own for row in board if row.candidate and row.strategy != label]
    return any((gain >= 0).all() and (gain > EQUAL).any() for gain in others)


class _Bad(Strategy):
    """A candidate that nobody should choose."""

    selectable = False

    def __call__(
        self, expected: Any, *, prediction: Any = None, log: Any = None, contexts: Contexts | None = None
    ) -> Decisions:
        del prediction, log
        codes = self.codes(expected.values.mean(axis=0), contexts)
        return Decisions(self.label, expected.actions, codes, np.zeros(len(codes), dtype=bool))

    def codes(self, welfare: Values, contexts: Contexts | None) -> Any:
        """Choose from the mean expected rewards, shape (action, context)."""
        raise NotImplementedError


class Worst(_Bad):
    """Takes the action with the lowest mean expected reward."""

    name = "worst"

    def codes(self, welfare: Values, contexts: Contexts | None) -> Any:
        """Return the action with the lowest value."""
        del contexts
        return welfare.argmin(axis=0)


class Partial(_Bad):
    """Takes the favourable action for one group only, and the worst of the others for everybody else."""

    name = "partial"

    def codes(self, welfare: Values, contexts: Contexts | None) -> Any:
        """Return the favourable action, or the worst other one."""
        assert contexts is not None
        return np.where(contexts[SENSITIVE] == 1, 0, 1 + welfare[1:].argmin(axis=0))
