"""`Choices`: what an attack can make of decisions, context by context, and which of it serves a table best.

Sets        one action of a set in each context; mixed with a uniform draw for ε-greedy rules
Mixtures    probabilities that come from scores, each of which an attack moves within an interval
Anything    any probabilities where somebody may misreport: nothing is known of the rule
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from accordant.arrays import Integers, Mask, Values, WholeNumbers
from accordant.decisions import Decisions
from accordant.kernels import compiled


@dataclass(frozen=True, eq=False)
class Move:
    """What an attack makes of the decision in every context.

    Attributes
    ----------
    codes
        The chosen action, shape (context,); for probabilities the honestly chosen one.
    changed
        Where the attack reports something, shape (context,).
    policy
        Probabilities, shape (action, context); None if the chosen action is certain.
    raised
        Which scores are at their highest, the others of a changed context being at their lowest, shape
        (action, context); None if the attack is known by its codes.
    """

    codes: Integers
    changed: Mask
    policy: Values | None = None
    raised: Mask | None = None


@dataclass(frozen=True, eq=False)
class Choices(ABC):
    """What can be made of the decisions.

    Attributes
    ----------
    base
        The honest decisions.
    at_most
        In how many contexts an attack may report something; None for all of them.
    """

    base: Decisions
    at_most: int | None

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.base.action_names)

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return self.base.n_contexts

    @property
    def limited(self) -> bool:
        """Whether some contexts must stay as they are."""
        return self.at_most is not None and self.at_most < self.n_contexts

    @property
    def settled(self) -> bool:
        """Whether nothing but the honest decisions can be made."""
        return self.at_most == 0 or not self._open()

    @abstractmethod
    def _open(self) -> bool:
        """Return whether there is any choice."""

    @abstractmethod
    def best(self, table: Values) -> tuple[Values, Move]:
        """Return the largest contribution in every context, shape (context,), and the move that makes it.

        Parameters
        ----------
        table
            What each action would contribute, shape (action, context).
        """

    @abstractmethod
    def weigh(self, table: Values, move: Move) -> Values:
        """Return what a move contributes in every context, shape (context,)."""

    def decisions(self, move: Move) -> Decisions:
        """Return the decisions that a move makes."""
        return replace(self.base, codes=move.codes, policy=move.policy, scores=None, flags={}, quantities={})

    def take(self, contexts: Integers) -> Self:
        """Return the choices in some contexts."""
        policy = None if self.base.policy is None else np.asarray(self.base.policy)[:, contexts]
        base = Decisions(
            self.base.strategy, self.base.action_names, self.base.codes[contexts], self.base.tied[contexts], None,
            policy,
        )  # fmt: skip
        return replace(self, base=base, **self._arrays(contexts))

    def kept(self, gains: Values) -> Mask:
        """Return where the attack is worth it: wherever it gains, or where it gains most if it is limited."""
        if not self.limited:
            return np.ones(len(gains), dtype=bool)
        kept = np.zeros(len(gains), dtype=bool)
        assert self.at_most is not None
        if self.at_most:
            kept[np.argpartition(-gains, self.at_most - 1)[: self.at_most]] = True
        return np.asarray(kept & (gains > 0))

    @abstractmethod
    def _arrays(self, contexts: Integers) -> dict[str, Any]:
        """Return the fields that have one entry per context, in some contexts."""


@dataclass(frozen=True, eq=False)
class Sets(Choices):
    """One action of a set in each context.

    Attributes
    ----------
    mask
        The sets, shape (action, context); they hold the honest decision.
    epsilon
        Share of decisions drawn uniformly from all actions; 0 for none.
    """

    mask: Mask
    epsilon: float = 0.0

    def best(self, table: Values) -> tuple[Values, Move]:
        """Take the best action of every set."""
        table = self._mixed(table)
        codes, values = np.empty(self.n_contexts, dtype=np.int64), np.empty(self.n_contexts)
        best_allowed(np.ascontiguousarray(table), np.ascontiguousarray(self.mask), codes, values)
        honest = np.asarray(self.base.codes)
        if self.limited:
            before = np.asarray(table[honest, np.arange(self.n_contexts)])
            kept = self.kept(values - before)
            codes, values = np.where(kept, codes, honest), np.where(kept, values, before)
        return values, self._move(codes)

    def weigh(self, table: Values, move: Move) -> Values:
        """Return the contributions of the chosen actions."""
        return np.asarray(self._mixed(table)[move.codes, np.arange(self.n_contexts)])

    def _open(self) -> bool:
        return bool(np.count_nonzero(self.mask) > self.n_contexts)

    def _move(self, codes: Integers) -> Move:
        return Move(codes, np.asarray(codes != self.base.codes), self._policy(codes))

    def _policy(self, codes: Integers) -> Values | None:
        if not self.epsilon:
            return None
        policy = np.full((self.n_actions, self.n_contexts), self.epsilon / self.n_actions)
        policy[codes, np.arange(self.n_contexts)] += 1.0 - self.epsilon
        return policy

    def _mixed(self, table: Values) -> Values:
        return (1.0 - self.epsilon) * table + self.epsilon * table.mean(axis=0) if self.epsilon else table

    def _arrays(self, contexts: Integers) -> dict[str, Any]:
        return {"mask": self.mask[:, contexts]}


@compiled
def best_allowed(table: Values, mask: Mask, codes: WholeNumbers, values: Values) -> None:
    """Write the largest allowed entry of every context and where it stands, the first of equal ones.

    In NumPy::

        allowed = np.where(mask, table, -np.inf)
        values[:], codes[:] = allowed.max(axis=0), allowed.argmax(axis=0)
    """
    n_actions, n_contexts = table.shape
    values[:] = -np.inf
    codes[:] = 0
    for a in range(n_actions):
        row, allowed = table[a], mask[a]
        for t in range(n_contexts):
            better = allowed[t] and row[t] > values[t]
            codes[t] = a if better else codes[t]
            values[t] = row[t] if better else values[t]


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
    table: Values, lowest: Values, highest: Values, temperature: float, tolerance: float, values: Values,
    policy: Values, raised: Mask,
) -> None:  # fmt: skip
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
