"""Values of streams: what a decision, and what followed it, says about everything that is watched.

The values of a row depend on the run and that row alone. So they may be made anywhere, of many rows at once, before
evidence is gathered in the order of time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from accordant.arrays import Codes, Mask, Times, Values
from accordant.contexts import Contexts
from accordant.errors import MissingColumnError
from accordant.evaluation.promise_errors import Kind, PromiseErrors, calibration_errors, reward_errors
from accordant.learning.augmentation import RewardQueries, elicit
from accordant.problem import value_label
from accordant.rewards import ObservedReward
from accordant.runs.folder import Run

SAME = 1e-6  # by which E in the log may differ from that of the run: rounding in other libraries


@dataclass(frozen=True)
class Layout:
    """What the rows of values are about.

    Attributes
    ----------
    features
        Names of the features.
    errors
        Kind, name and part of each error of f and E that untouched rows of the run tell something of.
    stakeholders
        Their names.
    groups
        Sensitive attribute and group, wherever one is watched apart.
    """

    features: tuple[str, ...]
    errors: tuple[tuple[Kind, str, str], ...]
    stakeholders: tuple[str, ...]
    groups: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return what is watched about a run."""
        parts = () if run.record.promise is None else run.record.promise.errors
        return cls(
            tuple(run.policy.features_),
            tuple(dict.fromkeys((part.kind, part.name, part.part) for part in parts)),
            run.policy.problem.stakeholder_names,
            tuple(dict.fromkeys((part.attribute, part.group) for part in parts if part.attribute)),
        )


@dataclass(frozen=True, eq=False)
class DecisionValues:
    """What decisions say.

    Attributes
    ----------
    features
        As `accordant.learning.novelty.TrainingProfile.comparable` returns them, shape (feature, decision).
    actions
        Position of each action; it does not count where a person decides, shape (decision,).
    referred, unusual
        Whether a person decides, and whether the context is unlike the training rows, shape (decision,).
    times
        In UTC, to the second; NaT where they are not known, shape (decision,).
    """

    features: Values
    actions: Codes
    referred: Mask
    unusual: Mask
    times: Times


@dataclass(frozen=True, eq=False)
class OutcomeValues:
    """What outcomes say, in the order of a `Layout`.

    Attributes
    ----------
    errors
        Of f and E, NaN where there is none, shape (error, outcome).
    promised, realised
        Rewards; NaN where it is not known what followed, shape (stakeholder, outcome).
    members
        Who is of which group, shape (group, outcome).
    differs
        Whether a promise is not what the run expects, shape (outcome,).
    times
        Of the decisions, see `DecisionValues`.
    """

    errors: Values
    promised: Values
    realised: Values
    members: Mask
    differs: Mask
    times: Times


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """Decisions, and what followed them.

    Attributes
    ----------
    contexts
        Typed as the training rows.
    actions
        Position of each action, -1 where a person decides, shape (decision,).
    times
        See `DecisionValues`.
    known
        Whether the outcome is known, shape (decision,).
    outcomes
        Codes or numbers; they do not count where none is known, shape (decision,).
    rewards
        Those that somebody observed, NaN for the others, shape (stakeholder, decision).
    promised
        E of the actions when they were taken, of the same shape; None for what the run expects.
    """

    contexts: Contexts
    actions: Codes
    times: Times
    known: Mask
    outcomes: Codes | Values
    rewards: Values
    promised: Values | None = None

    @property
    def seen(self) -> Mask:
        """Whether an outcome or a reward is known, shape (decision,)."""
        return self.known | ~np.isnan(self.rewards).all(axis=0)

    def take(self, rows: Codes) -> Self:
        """Return some of the rows."""
        promised = None if self.promised is None else self.promised[:, rows]
        return replace(
            self, contexts=self.contexts.take(rows), actions=self.actions[rows], times=self.times[rows],
            known=self.known[rows], outcomes=self.outcomes[rows], rewards=self.rewards[:, rows], promised=promised,
        )  # fmt: skip


def time_texts(times: Times) -> list[str]:
    """Return times as ISO 8601 writes them, and nothing where they are not known."""
    return ["" if text == "NaT" else f"{text}Z" for text in np.datetime_as_string(times, unit="s").tolist()]


def decision_values(run: Run, contexts: Contexts, actions: Codes, referred: Mask, times: Times) -> DecisionValues:
    """Return what decisions say; see `DecisionValues`."""
    profile = run.policy.profile_
    comparable = profile.comparable(contexts)
    return DecisionValues(
        np.stack([comparable[name] for name in run.policy.features_]), actions, referred,
        np.any(list(profile(contexts).kinds.values()), axis=0), times,
    )  # fmt: skip


def outcome_values(run: Run, layout: Layout, rows: DecidedRows) -> tuple[OutcomeValues, tuple[str, ...]]:
    """Return what outcomes of decisions by the rule say, and which rewards cannot be told, in words."""
    n = len(rows.actions)
    every = np.asarray(run.policy.expected_rewards(rows.contexts).values, dtype=np.float64)
    expected = every[:, rows.actions, np.arange(n)]
    promised = expected if rows.promised is None else rows.promised
    realised, remarks = _realised(run, rows)
    by_key = {
        part.key: part.values
        for part in (*_calibration(run, rows), *reward_errors(layout.stakeholders, promised, realised))
    }
    errors = np.full((len(layout.errors), n), np.nan)
    for place, key in enumerate(layout.errors):
        errors[place] = by_key.get(key, np.nan)
    differs = np.any(np.abs(expected - promised) > SAME, axis=0)
    return OutcomeValues(errors, promised, realised, _members(layout, rows.contexts), differs, rows.times), remarks


def _calibration(run: Run, rows: DecidedRows) -> tuple[PromiseErrors, ...]:
    """Return errors of f, NaN where only rewards are known."""
    there = np.flatnonzero(rows.known)
    if not len(there):
        return ()
    prediction = run.policy.outcome_model_.predict(rows.contexts.take(there))
    spread = []
    for part in calibration_errors(run.policy.problem, prediction, rows.actions[there], rows.outcomes[there]):
        values = np.full(len(rows.actions), np.nan)
        values[there] = part.values
        spread.append(replace(part, values=values))
    return tuple(spread)


def _realised(run: Run, rows: DecidedRows) -> tuple[Values, tuple[str, ...]]:
    """Return the reward of what followed, observed or as it is stated, and what cannot be told for want of a column."""
    policy, there = run.policy, np.flatnonzero(rows.known)
    rewards, remarks = np.full(rows.rewards.shape, np.nan), list[str]()
    for i, name in enumerate(policy.problem.stakeholder_names):
        signal = policy.signals_[name]
        if not isinstance(signal, ObservedReward) and len(there):
            queries = RewardQueries(there, rows.actions[there], rows.outcomes[there])
            try:
                rewards[i, there] = elicit(signal, rows.contexts, queries, policy.problem, None)
            except MissingColumnError as error:
                remarks.append(f"The reward of {name} reads the column {error.name!r}, which the log does not hold.")
    return np.where(np.isnan(rows.rewards), rewards, rows.rewards), tuple(remarks)


def _members(layout: Layout, contexts: Contexts) -> Mask:
    """Return who is of which group; nobody where the attribute is not known."""
    members = np.zeros((len(layout.groups), contexts.n_contexts), dtype=bool)
    labels = {
        name: np.array([value_label(value) for value in contexts[name]], dtype=str)
        for name in dict(layout.groups)
        if name in contexts
    }
    for place, (attribute, group) in enumerate(layout.groups):
        if attribute in labels:
            members[place] = labels[attribute] == group
    return members
