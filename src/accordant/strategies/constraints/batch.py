"""What a constraint over the batch starts from, and what it answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Mask, Values
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

    def take(self, rows: NDArray[np.intp]) -> Batch:
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
