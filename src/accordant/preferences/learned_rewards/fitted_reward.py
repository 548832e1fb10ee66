"""`FittedComparisonReward`: a reward that was learned from comparisons, ready to be asked, saved and restored.

`CellFeatures` have a level for every cell, and a slope in every context column for every cell:

    reward(x, a, o) = Σ_k W[cell, k] z_k(x),   z_0 = 1, z_k the k-th context column, standardised

A continuous outcome o has, for every action, a level, a slope and a curve: (1, s, s²) with s = (o − mean) / standard
deviation. Outcomes beyond those that were compared count as the nearest one compared: a curve says nothing out there.

`Scale` leads from learned rewards to [0, 1]. Comparisons identify a reward up to a constant, in log-odds of choices
(Bradley and Terry 1952). An affine map (r − low) / (high − low), clipped, makes it a reward of a decision problem.
Where low and high lie is our choice:

    by range    low: the smallest, over cells, of the 1 % quantile over training rows; high: the largest 99 % quantile
    by anchors  low and high: the means over training rows of two declared cells

Quantiles instead of extremes: one row with an odd context would otherwise squeeze everybody else together. Without
context columns they are the smallest and the largest reward of a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.contexts import Contexts, Log
from accordant.errors import DataError, UnknownNameError
from accordant.json_values import json_value
from accordant.preferences.learned_rewards.answers import Answers
from accordant.problem import DecisionProblem
from accordant.rewards import Cell, Outcome, RewardSignal

FARTHEST = 1e6  # standard deviations from the mean that a context may be: further numbers count as this far
CURVE = 3  # features of a continuous outcome: level, slope, curve
TAIL = 0.01  # share of training rows beyond each end of the range, for the cell that reaches furthest
NEGLIGIBLE = 1e-3  # log-odds: a range that moves the probability of a choice by less than 0.03 % is rounding
MIDDLE = 0.5  # reward of everything if nothing is preferred to anything


@dataclass(frozen=True)
class CellFeatures:
    """From (context, action, outcome) to features.

    Attributes
    ----------
    actions, outcomes
        Declared names; no outcomes if they are numbers.
    context
        Context column to mean and standard deviation on training rows.
    number
        Mean and standard deviation of continuous outcomes on training rows, lowest and highest one compared; None for
        discrete outcomes.
    """

    actions: tuple[str, ...]
    outcomes: tuple[str, ...]
    context: Mapping[str, tuple[float, float]]
    number: tuple[float, float, float, float] | None = None

    @classmethod
    def fit(cls, log: Log, problem: DecisionProblem, columns: tuple[str, ...], answers: Answers) -> CellFeatures:
        """Return features standardised on training rows.

        Raises
        ------
        DataError
            If a context column is unknown, text, or has no value in any training row.
        """
        context = {column: _spread(column, log.contexts.numeric(column)) for column in columns}
        if not problem.continuous:
            return cls(problem.actions, problem.outcome_names, context)
        ends = float(answers.outcomes.min()), float(answers.outcomes.max())
        return cls(problem.actions, (), context, (*_spread("outcome", log.outcomes.astype(np.float64)), *ends))

    @classmethod
    def of_answers(cls, answers: Answers, problem: DecisionProblem, columns: tuple[str, ...]) -> CellFeatures:
        """Return features standardised on the answers themselves, so that no training row has a say in them.

        Raises
        ------
        DataError
            If a context column has no value in any answer.
        """
        named = zip(columns, answers.contexts.T, strict=True)
        context = {column: _spread(column, values, "answer") for column, values in named}
        if not problem.continuous:
            return cls(problem.actions, problem.outcome_names, context)
        numbers = answers.outcomes.astype(np.float64).ravel()
        ends = float(numbers.min()), float(numbers.max())
        return cls(problem.actions, (), context, (*_spread("outcome", numbers, "answer"), *ends))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of features of a cell, and of columns z."""
        per_action = CURVE if self.number is not None else len(self.outcomes)
        return len(self.actions) * per_action, 1 + len(self.context)

    def surroundings(self, columns: Values) -> Values:
        """Return z of raw context columns, shape (context, 1 + column); a missing value counts as the mean.

        Numbers further than a million standard deviations from the mean count as that far.
        """
        means, spreads = (np.array([moments[k] for moments in self.context.values()]) for k in (0, 1))
        with np.errstate(over="ignore"):
            standardised = (columns - means) / spreads if self.context else columns.reshape(len(columns), 0)
        standardised = np.clip(standardised, -FARTHEST, FARTHEST)
        return np.hstack([np.ones((len(columns), 1)), np.where(np.isnan(standardised), 0.0, standardised)])

    def of_contexts(self, contexts: Contexts) -> Values:
        """Return z, shape (context, 1 + column)."""
        columns = [contexts.numeric(column) for column in self.context]
        return self.surroundings(np.stack(columns, axis=1) if columns else np.empty((contexts.n_contexts, 0)))

    def of_cells(self, actions: Codes, outcomes: Codes | Values) -> Values:
        """Return features of cells, from codes of actions and codes or numbers of outcomes, shape (cell, feature)."""
        features = np.zeros((len(actions), self.shape[0]))
        rows = np.arange(len(actions))
        if self.number is None:
            features[rows, actions * len(self.outcomes) + outcomes.astype(np.intp)] = 1.0
            return features
        mean, spread, low, high = self.number
        standardised = (np.clip(outcomes, low, high) - mean) / spread
        for power in range(CURVE):
            features[rows, actions * CURVE + power] = standardised**power
        return features

    @cached_property
    def _one_hot(self) -> Values:
        """Features of all cells of named outcomes, shape (cell, feature); nobody writes into them."""
        features = np.eye(self.shape[0])
        features.flags.writeable = False
        return features

    def of_cell(self, action: str, outcome: Outcome, n_contexts: int) -> Values:
        """Return features of a named cell, shape (1, feature), or (context, feature) with an outcome per context."""
        if action not in self.actions:
            raise UnknownNameError("action", action, self.actions)
        code = self.actions.index(action)
        if self.number is None:
            if not isinstance(outcome, str) or outcome not in self.outcomes:
                raise UnknownNameError("outcome", str(outcome), self.outcomes)
            place = code * len(self.outcomes) + self.outcomes.index(outcome)
            return self._one_hot[place : place + 1]
        numbers = np.atleast_1d(np.asarray(outcome, dtype=np.float64) if not isinstance(outcome, str) else np.nan)
        if numbers.shape not in ((1,), (n_contexts,)) or np.isnan(numbers).any():
            raise DataError(f"outcome is {outcome!r:.40}; allowed: a number, or one per context ({n_contexts})")
        return self.of_cells(np.full(len(numbers), code), numbers)

    def items(self, answers: Answers) -> Values:
        """Return features of the chosen items, then of the rejected ones, shape (2 · record, feature)."""
        around = self.surroundings(answers.contexts)
        sides = [self.of_cells(answers.actions[side], answers.outcomes[side]) for side in (0, 1)]
        return np.vstack([(cells[:, :, None] * around[:, None, :]).reshape(len(cells), -1) for cells in sides])

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        content: dict[str, Any] = json_value(asdict(self))
        return content


def _spread(name: str, values: Values, where: str = "training row") -> tuple[float, float]:
    """Return mean and standard deviation of known values; 1 where all are the same."""
    known = values[np.isfinite(values)]
    if not len(known):
        raise DataError(f"context column {name!r} has no value in any {where}")
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = float(known.mean()), 1.0 if known.min() == known.max() else float(known.std())
    if not np.isfinite([mean, spread]).all():
        raise DataError(f"{name} goes from {known.min():g} to {known.max():g}: too far apart to be standardised")
    return mean, spread


@dataclass(frozen=True)
class Scale:
    """An affine map to [0, 1], clipped.

    Attributes
    ----------
    low, high
        Learned rewards that become 0 and 1; equal if nothing is preferred to anything, and then everything is ½.
    """

    low: float
    high: float

    @classmethod
    def by_range(cls, rewards: Values) -> Scale:
        """Return the scale from learned rewards of all cells on training rows, shape (cell, context)."""
        lows, highs = np.quantile(rewards, [TAIL, 1 - TAIL], axis=1)
        low, high = float(lows.min()), float(highs.max())
        return cls(low, high) if high - low > NEGLIGIBLE else cls(low, low)

    @classmethod
    def by_anchors(cls, lowest: Values, highest: Values) -> Scale:
        """Return the scale from learned rewards of two cells on training rows, shape (context,) each.

        Raises
        ------
        DataError
            If the comparisons do not put the highest above the lowest.
        """
        low, high = float(lowest.mean()), float(highest.mean())
        if not low < high:
            raise DataError(
                f"the comparisons give the anchor 'highest' a reward of {high:.3g} and 'lowest' one of {low:.3g} in "
                "log-odds; allowed: highest above lowest"
            )
        return cls(low, high)

    def __call__(self, rewards: Values) -> Values:
        """Return rewards in [0, 1], shape as given."""
        if self.low == self.high:
            return np.full(np.shape(rewards), MIDDLE)
        return np.clip((rewards - self.low) / (self.high - self.low), 0.0, 1.0)

    def outside(self, rewards: Values) -> tuple[float, float]:
        """Return the shares of learned rewards below and above the ends."""
        if self.low == self.high:
            return 0.0, 0.0
        return float(np.mean(rewards < self.low)), float(np.mean(rewards > self.high))


@dataclass(frozen=True, eq=False)
class FittedComparisonReward(RewardSignal):
    """A learned reward, ready to be asked.

    Attributes
    ----------
    features
        Of cells in contexts.
    coefficients
        W of each member, shape (member, cell feature, 1 + context column).
    scales
        From each member's learned reward to [0, 1].
    groups
        Group of each member: the reward is the lowest of the groups' means.
    about
        Where it comes from, see `provenance`.
    sentences
        See `warnings`.
    """

    features: CellFeatures
    coefficients: Values
    scales: tuple[Scale, ...]
    groups: tuple[int, ...]
    about: Mapping[str, Any]
    sentences: tuple[str, ...]

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> FittedComparisonReward:
        """Return the signal that `state` was taken from."""
        return cls(
            CellFeatures(**state["features"]),
            np.array(state["coefficients"], dtype=np.float64),
            tuple(Scale(*ends) for ends in state["scales"]),
            tuple(state["groups"]),
            state["about"],
            tuple(state["sentences"]),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the comparisons leave open, in sentences."""
        return self.sentences

    def provenance(self) -> dict[str, Any]:
        """Return file, sha256, counts of records, users and groups, learner, aggregation, and agreement."""
        return dict(self.about)

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Return the learned reward of a cell in each context, shape (context,)."""
        cell = self.features.of_cell(action, outcome, contexts.n_contexts)
        rewards: Values = self._rewards(self.features.of_contexts(contexts), cell[np.newaxis])[0]
        return rewards

    def rewards(self, contexts: Contexts, cells: Sequence[Cell]) -> list[Values]:
        """Return the learned rewards of several cells at once, to the last bit those of each by itself."""
        asked = [self.features.of_cell(action, outcome, contexts.n_contexts) for action, outcome in cells]
        if len({len(features) for features in asked}) != 1:
            return super().rewards(contexts, cells)
        rewards = self._rewards(self.features.of_contexts(contexts), np.array(asked))
        inside = ((rewards >= 0) & (rewards <= 1)).all()
        return list(rewards) if inside else super().rewards(contexts, cells)  # which says where it is not

    def _rewards(self, around: Values, cells: Values) -> Values:
        """Return learned rewards, shape (cell, context).

        Parameters
        ----------
        around
            z of the contexts, shape (context, 1 + column).
        cells
            Features, shape (cell, 1, feature), or (cell, context, feature) with an outcome per context.
        """
        shape = len(cells), len(around)
        lowest: Values = np.ones(shape)
        for group in dict.fromkeys(self.groups):
            members = [m for m, label in enumerate(self.groups) if label == group]
            total: Values = np.zeros(shape)
            for member in members:
                flat = cells.reshape(-1, cells.shape[-1])
                slopes = np.einsum("cf,fk->ck", flat, self.coefficients[member])  # the same alone as in a batch
                slopes = slopes.reshape(*cells.shape[:2], -1)
                learned = np.einsum("ctk,ctk->ct", around[np.newaxis], slopes)
                total += self.scales[member](learned)
            lowest = np.minimum(lowest, total / len(members))
        return lowest

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "features": self.features.to_json(),
            "coefficients": self.coefficients.tolist(),
            "scales": [[scale.low, scale.high] for scale in self.scales],
            "groups": list(self.groups),
            "about": dict(self.about),
            "sentences": list(self.sentences),
        }

    def restored(self, state: Mapping[str, Any]) -> FittedComparisonReward:
        """Return the signal that `state` was taken from."""
        return self.of_state(state)
