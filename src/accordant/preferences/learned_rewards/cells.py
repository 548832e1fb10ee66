"""Features of cells in contexts: a level for every cell, and a slope in every context column for every cell.

    reward(x, a, o) = Σ_k W[cell, k] z_k(x),   z_0 = 1, z_k the k-th context column, standardised

A continuous outcome o has, for every action, a level, a slope and a curve: (1, s, s²) with s = (o − mean) / standard
deviation. Outcomes beyond those that were compared count as the nearest one compared: a curve says nothing out there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.contexts import Contexts, Log
from accordant.errors import DataError, UnknownNameError
from accordant.preferences.learned_rewards.answers import Answers
from accordant.problem import DecisionProblem
from accordant.rewards import Outcome

FARTHEST = 1e6  # standard deviations from the mean that a context may be: further numbers count as this far
CURVE = 3  # features of a continuous outcome: level, slope, curve


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

    @property
    def shape(self) -> tuple[int, int]:
        """Number of features of a cell, and of columns z."""
        per_action = CURVE if self.number is not None else len(self.outcomes)
        return len(self.actions) * per_action, 1 + len(self.context)

    def surroundings(self, columns: Values) -> Values:
        """Return z of raw context columns, shape (context, 1 + column); a missing value counts as the mean.

        Numbers further than a million standard deviations from the mean count as that far.
        """
        means, spreads = (np.array([each[k] for each in self.context.values()]) for k in (0, 1))
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
        found = np.zeros((len(actions), self.shape[0]))
        rows = np.arange(len(actions))
        if self.number is None:
            found[rows, actions * len(self.outcomes) + outcomes.astype(np.intp)] = 1.0
            return found
        mean, spread, low, high = self.number
        standardised = (np.clip(outcomes, low, high) - mean) / spread
        for power in range(CURVE):
            found[rows, actions * CURVE + power] = standardised**power
        return found

    def of_cell(self, action: str, outcome: Outcome, n_contexts: int) -> Values:
        """Return features of a named cell, shape (1, feature), or (context, feature) with an outcome per context."""
        if action not in self.actions:
            raise UnknownNameError("action", action, self.actions)
        code = self.actions.index(action)
        if self.number is None:
            if not isinstance(outcome, str) or outcome not in self.outcomes:
                raise UnknownNameError("outcome", str(outcome), self.outcomes)
            return self.of_cells(np.array([code]), np.array([self.outcomes.index(outcome)]))
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
        return {
            "actions": list(self.actions),
            "outcomes": list(self.outcomes),
            "context": {column: list(pair) for column, pair in self.context.items()},
            "number": None if self.number is None else list(self.number),
        }


def _spread(name: str, values: Values) -> tuple[float, float]:
    """Return mean and standard deviation of known values; 1 where all are the same."""
    known = values[np.isfinite(values)]
    if not len(known):
        raise DataError(f"context column {name!r} has no value in any training row")
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = float(known.mean()), 1.0 if known.min() == known.max() else float(known.std())
    if not np.isfinite([mean, spread]).all():
        raise DataError(f"{name} goes from {known.min():g} to {known.max():g}: too far apart to be standardised")
    return mean, spread
