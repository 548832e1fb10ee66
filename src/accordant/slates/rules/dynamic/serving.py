"""Users of a block, one after the other: what is known of each beforehand, and what each list adds to the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.candidates import Candidates
from accordant.slates.gains import Gains, extremes
from accordant.slates.moderation.offers import best_items
from accordant.slates.rules.dynamic.compatibility import compatibilities
from accordant.slates.rules.dynamic.history import FairnessOfHistory, History
from accordant.slates.rules.dynamic.history.past import RunningHistory
from accordant.slates.rules.in_order import Mend
from accordant.slates.slates import NOTHING, Slates


@dataclass(frozen=True, eq=False)
class Block:
    """What is known of some users before any of them is served.

    Attributes
    ----------
    candidates
        E and what may be shown.
    by_user
        E, shape (user, stakeholder, item).
    own
        E of the user, shape (user, item); 0 if the user has no say.
    ideal, worst
        Of every stakeholder, shape (stakeholder, user).
    speakers
        Positions of the stakeholders who may be given a say: those with weight above 0, but for the user.
    compatibility
        c_i, shape (stakeholder, user); 1 where no allocation reads it.
    reads_compatibility
        Whether one does.
    """

    candidates: Candidates
    by_user: Values
    own: Values
    ideal: Values
    worst: Values
    speakers: NDArray[np.intp]
    compatibility: Values
    reads_compatibility: bool

    @classmethod
    def of(cls, candidates: Candidates, user: int | None, k: int, reads_compatibility: bool) -> Block:
        """Return what is known, with the position of the user among stakeholders, None if the user has no say."""
        lengths = np.minimum(k, candidates.available.sum(axis=0))
        ideal, worst = extremes(candidates, lengths)
        by_user = np.ascontiguousarray(candidates.values.transpose(2, 0, 1))
        own = np.zeros_like(by_user[:, 0]) if user is None else by_user[:, user]
        speakers = np.array([i for i in np.flatnonzero(candidates.weights > 0) if i != user], dtype=np.intp)
        if not reads_compatibility:
            fits = np.ones(ideal.shape)
        elif user is None:
            fits = np.ones(ideal.shape)  # nobody is there to fit
        else:
            fits = compatibilities(candidates, candidates.values[user], (ideal[user], worst[user]), k)
        return cls(candidates, by_user, own, ideal, worst, speakers, fits, reads_compatibility)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the speakers."""
        return tuple(self.candidates.stakeholders[i] for i in self.speakers)

    @property
    def weights(self) -> Values:
        """Weights of the speakers."""
        return np.asarray(self.candidates.weights[self.speakers])

    def attained(self, u: int, items: NDArray[np.intp]) -> Values:
        """Return the normalised utilities of one user's list, shape (stakeholder,)."""
        if not len(items):
            return np.full(len(self.ideal), np.nan)
        means = self.by_user[u][:, items].sum(axis=1) / len(items)
        return Gains(means, self.ideal[:, u], self.worst[:, u]).attained


Fairness = Callable[[History], FairnessOfHistory]
Say = Callable[[int, Values], tuple[Values, Values]]


def served_block(
    block: Block, k: int, history: RunningHistory, fairness: Fairness, say: Say, share: float, mend: Mend | None = None
) -> Slates:
    """Return the slates of the users of a block, each of which becomes part of the history.

    Parameters
    ----------
    block
        Users.
    k
        Places.
    history
        Of the users before; changed.
    fairness
        From the history to m.
    say
        From the position of a user and m to the chances and the say of every stakeholder.
    share
        λ.
    mend
        Changes each list before it is shown; None if nothing does.
    """
    candidates = block.candidates
    shape = len(candidates.stakeholders), candidates.n_users
    totals, available = candidates.totals, candidates.available
    items = np.full((candidates.n_users, k), NOTHING, dtype=np.intp)
    tied = np.zeros(candidates.n_users, dtype=bool)
    fair, chances, given = (np.empty(shape) for _ in range(3))
    for u in range(candidates.n_users):
        fair[:, u] = fairness(history.seen).values
        chances[:, u], given[:, u] = say(u, fair[:, u])
        scores = (1.0 - share * given[:, u].sum()) * block.own[u] + share * (given[:, u] @ block.by_user[u])
        column = slice(u, u + 1)
        best = best_items(scores[:, None], totals[:, column], available[:, column], k, candidates.tolerance)
        items[u], tied[u] = best.items[0] if mend is None else mend(u, best.items[0]), best.tied[0]
        history.add(items[u], block.attained(u, items[u][items[u] != NOTHING]))
    known = {"compatibility": block.compatibility} if block.reads_compatibility else {}
    return Slates(
        "dynamic", candidates.items, items, tied, {}, {"fairness": fair, "chances": chances, "say": given, **known}
    )
