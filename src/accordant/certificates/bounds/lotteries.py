"""Choices between probabilities: what an attack can make of randomised decisions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.bounds.choices import Choices, Move
from accordant.compiled import compiled


@dataclass(frozen=True, eq=False)
class Probabilities(Choices):
    """Probabilities of actions in each context, among which an attack chooses."""

    @property
    def honest(self) -> Values:
        """The honest probabilities, shape (action, context)."""
        return self.base.probabilities()

    def best(self, table: Values) -> tuple[Values, Move]:
        """Take the best probabilities of every context."""
        values, policy, raised, movable = self._best(table)
        honest = self.honest
        before = (honest * table).sum(axis=0)
        changed = self.kept(np.where(movable, values - before, -np.inf)) & movable
        policy = np.where(changed, policy, honest)
        return np.where(changed, values, before), Move(np.asarray(self.base.codes), changed, policy, raised)

    def weigh(self, table: Values, move: Move) -> Values:
        """Return the expected contributions."""
        assert move.policy is not None
        return np.asarray((move.policy * table).sum(axis=0))

    @abstractmethod
    def _best(self, table: Values) -> tuple[Values, Values, Mask | None, Mask]:
        """Return largest contributions, probabilities, which scores are raised, and where anything can be moved."""


@dataclass(frozen=True, eq=False)
class Mixtures(Probabilities):
    """Probabilities made of scores that move independently of each other.

    Attributes
    ----------
    lowest, highest
        The scores that each action can be given, shape (action, context).
    temperature
        Of a softmax of the scores; None if probabilities are proportional to them.
    tolerance
        Scores this close to the highest, relative to max(1, |score|), are drawn like it.
    """

    lowest: Values
    highest: Values
    temperature: float | None
    tolerance: float

    def _best(self, table: Values) -> tuple[Values, Values, Mask | None, Mask]:
        """Raise the scores of the best actions, and lower the others, where to draw the line tried in every place."""
        policy, raised = np.empty(table.shape), np.empty(table.shape, dtype=bool)
        values = np.empty(self.n_contexts)
        theta, lowest, highest = map(np.ascontiguousarray, (table, self.lowest, self.highest))
        best_draw(theta, lowest, highest, self.temperature or 0.0, self.tolerance, values, policy, raised)
        return values, policy, raised, np.asarray((self.lowest != self.highest).any(axis=0))

    def _open(self) -> bool:
        return bool((self.lowest != self.highest).any())

    def _arrays(self, contexts: Integers) -> dict[str, Any]:
        return {"lowest": self.lowest[:, contexts], "highest": self.highest[:, contexts]}


@dataclass(frozen=True, eq=False)
class Anything(Probabilities):
    """Any probabilities.

    Attributes
    ----------
    movable
        Where somebody may misreport, shape (context,).
    """

    movable: Mask

    def _best(self, table: Values) -> tuple[Values, Values, Mask | None, Mask]:
        """Take the best action for certain."""
        codes = table.argmax(axis=0)
        policy = np.asarray(codes == np.arange(self.n_actions)[:, None], dtype=np.float64)
        return np.asarray(table.max(axis=0)), policy, None, self.movable

    def _open(self) -> bool:
        return bool(self.movable.any())

    def _arrays(self, contexts: Integers) -> dict[str, Any]:
        return {"movable": self.movable[contexts]}


@compiled
def best_draw(
    table: Values,
    lowest: Values,
    highest: Values,
    temperature: float,
    tolerance: float,
    values: Values,
    policy: Values,
    raised: Mask,
) -> None:
    """Write the largest expected entry that scores can draw in every context, and how.

    Parameters
    ----------
    table
        What each action contributes, shape (action, context).
    lowest, highest
        The ends of its score, same shape; −inf is allowed.
    temperature
        Of the softmax; 0 draws in proportion to scores of at least 0.
    tolerance
        How close to the highest score others are drawn like it.
    values
        Where the largest expected entries go, shape (context,).
    policy, raised
        Where probabilities go, and which scores are at their highest, shape (action, context).
    """
    n_actions, n_contexts = table.shape
    weights, best_weights = np.empty(n_actions), np.empty(n_actions)
    for t in range(n_contexts):
        values[t] = -np.inf
        best_line, best_total = -1, 1.0
        for line in range(-1, n_actions):
            top = -np.inf
            for a in range(n_actions):
                up = line >= 0 and table[a, t] >= table[line, t]
                weights[a] = highest[a, t] if up else lowest[a, t]
                top = weights[a] if weights[a] > top else top
            near = top - tolerance * (abs(top) if abs(top) > 1.0 else 1.0)
            total = 0.0
            for a in range(n_actions):
                if temperature > 0.0:
                    distance = 0.0 if weights[a] >= near or top == -np.inf else weights[a] - top
                    weights[a] = np.exp(distance / temperature)
                total += weights[a]
            if not total > 0.0:
                weights[:] = 1.0
                total = float(n_actions)
            value = 0.0
            for a in range(n_actions):
                value += weights[a] * table[a, t]
            value /= total
            if value > values[t]:
                values[t] = value
                best_line, best_total = line, total
                best_weights[:] = weights
        for a in range(n_actions):
            policy[a, t] = best_weights[a] / best_total
            raised[a, t] = best_line >= 0 and table[a, t] >= table[best_line, t]
