"""What a constraint over the batch starts from, and what it answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Integers, Mask, Values
from accordant.strategies.selection import select_best


@dataclass(frozen=True, eq=False)
class Batch:
    """All contexts that are decided together.

    A sum of scores is compared in two steps: first the number of contexts decided with score −inf, the fewer the
    better, then the sum of the finite scores.

    Attributes
    ----------
    actions
        Names of the first axis.
    scores
        The rule's scores, shape (action, context); −inf is worse than any number.
    admissible
        Actions that may be taken, shape (action, context); at least one per context.
    totals
        What breaks ties: the utilitarian sum, shape (action, context).
    codes
        The best admissible action of each context by itself, shape (context,).
    tolerance
        Scores this close, relative to max(1, |score|), are equal.
    """

    actions: tuple[str, ...]
    scores: Values
    admissible: Mask
    totals: Values
    codes: Integers
    tolerance: float

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return int(self.scores.shape[1])

    def take(self, rows: Codes) -> Batch:
        """Return some of the contexts."""
        return Batch(
            self.actions, self.scores[:, rows], self.admissible[:, rows], self.totals[:, rows], self.codes[rows],
            self.tolerance,
        )  # fmt: skip

    def best_of(self, actions: Mask) -> Best:
        """Return the best admissible action among some, ties by the totals and then the declared order."""
        rows, columns = np.flatnonzero(actions), np.arange(self.n_contexts)
        if not rows.size:
            nothing, never = np.zeros(self.n_contexts), np.zeros(self.n_contexts, dtype=bool)
            return Best(np.zeros_like(self.codes), never, never, nothing, nothing)
        admissible, scores = self.admissible[rows], self.scores[rows]
        ranked = np.where(admissible, scores, -np.inf)
        hopeless = np.isneginf(ranked).all(axis=0)
        if hopeless.any():
            ranked[:, hopeless] = np.where(admissible[:, hopeless], 0.0, -np.inf)
        chosen = rows[select_best(ranked, self.totals[rows], self.tolerance).codes].astype(self.codes.dtype)
        own = actions[self.codes]  # where the best of all is among them, it is the best of them, ties as decided before
        chosen[own] = self.codes[own]
        exists, score = np.asarray(admissible.any(axis=0)), self.scores[chosen, columns]
        hopeless = np.isneginf(score)
        return Best(chosen, exists, hopeless, np.where(hopeless, 0.0, score), self.totals[chosen, columns])


@dataclass(frozen=True, eq=False)
class Best:
    """The best action of a set in each context; every array has shape (context,).

    Attributes
    ----------
    codes
        The action.
    exists
        Whether any action of the set is admissible; if not, the rest means nothing.
    hopeless
        Whether its score is −inf.
    score
        Its score, 0 where hopeless.
    total
        What breaks its ties.
    """

    codes: Integers
    exists: Mask
    hopeless: Mask
    score: Values
    total: Values


@dataclass(frozen=True, eq=False)
class Plan:
    """Decisions for the whole batch.

    Attributes
    ----------
    codes
        The action, or the most probable one, shape (context,).
    policy
        Probability of each action, shape (action, context); None if every decision is certain.
    per_place
        Capped action to the score that one more place would add; inf if it would spare a score of −inf.
    per_tolerance
        Score that a wider parity bound would add, per unit of ε, at the margin; inf likewise; None without parity.
    """

    codes: Integers
    policy: Values | None = None
    per_place: Mapping[str, float] = field(default_factory=dict)
    per_tolerance: float | None = None


DECIMALS = 12  # gains that agree so far are equal, and ties decide


@dataclass(frozen=True, eq=False)
class Exchange:
    """Two sides, the best action of a set and the best of the others, in each context.

    Attributes
    ----------
    inside, outside
        The two sides.
    prefers
        Whether the context by itself would be inside, shape (context,).
    forced
        Whether it must be inside, shape (context,).
    free
        Whether both sides are admissible, shape (context,).
    spared
        Scores of −inf that going inside spares: 1, 0 or −1, shape (context,).
    gain
        What going inside adds to the finite scores, shape (context,). The pair (spared, gain), compared in this order,
        is at least (0, 0) exactly where the context prefers to be inside.
    """

    inside: Best
    outside: Best
    prefers: Mask
    forced: Mask
    free: Mask
    spared: NDArray[np.int8]
    gain: Values

    @classmethod
    def of(cls, batch: Batch, actions: Mask) -> Self:
        """Compare a set of actions with all others."""
        inside, outside = batch.best_of(actions), batch.best_of(~actions)
        spared = outside.hopeless.astype(np.int8) - inside.hopeless.astype(np.int8)
        gain = np.round(inside.score - outside.score, DECIMALS)
        prefers = np.asarray(actions[batch.codes])
        rounding = (spared == 0) & np.where(prefers, gain < 0, gain > 0)  # a tie that was decided the other way
        gain[rounding] = 0.0
        return cls(
            inside, outside, prefers, inside.exists & ~outside.exists, inside.exists & outside.exists, spared, gain
        )

    def keys(self, rows: Codes) -> tuple[Values, float]:
        """Return numbers in the order of (spared, gain), and the weight of `spared` in them."""
        gain, spared = self.gain[rows], self.spared[rows]
        weight = 4.0 * float(np.abs(gain).max(initial=0.0)) + 1.0
        return (gain + weight * spared if spared.any() else gain), weight

    def leading(self, rows: Codes, count: int) -> Codes:
        """Return the `count` rows that gain most from being inside, in no particular order but the last one last.

        Equal gains go to contexts that prefer to be inside, then to the larger gain of the utilitarian sum, then to
        the earlier context.
        """
        if count == 0:
            return rows[:0]
        keys, _ = self.keys(rows)
        cut = np.partition(keys, len(keys) - count)[len(keys) - count]
        above, level = rows[keys > cut], rows[keys == cut]
        welfare = self.inside.total[level] - self.outside.total[level]
        order = np.lexsort((level, -np.round(welfare, DECIMALS), ~self.prefers[level]))
        return np.concatenate([above, level[order[: count - len(above)]]])

    def codes(self, inside: Mask) -> NDArray[np.signedinteger]:
        """Return the actions of contexts that are inside, or outside, shape (context,)."""
        return np.where(inside, self.inside.codes, self.outside.codes)
