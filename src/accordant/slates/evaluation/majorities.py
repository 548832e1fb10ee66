"""`condorcet`: whether lists hold what a majority prefers to everything else.

Stakeholder i prefers a to b if E_i(a) > E_i(b) by more than rounding. Item a beats b if the weights of those who prefer
a exceed the weights of those who prefer b; without a difference they tie. Only items that may be shown are compared.

    Condorcet winner      beats every other item (Condorcet 1785)
    stable list           every item shown beats every item not shown (Gehrlein 1985); weakly stable: or ties

No rule can always show a stable list: there may be none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask
from accordant.slates.candidates import Candidates
from accordant.slates.slates import NOTHING, Slates


@dataclass(frozen=True)
class Condorcet:
    """How lists stand to majorities.

    Attributes
    ----------
    compared
        Requests with at least two items that may be shown.
    winners
        Of these, how many have a Condorcet winner.
    winner_shown
        Share of those whose list holds it; None without winners.
    lists
        Requests with an item shown and one not shown.
    beating
        Share of items shown, over these lists, that beat every item not shown; None without such lists.
    stable, weakly_stable
        Share of these lists of which all items do so, or do so or tie; None without such lists.
    """

    compared: int
    winners: int
    winner_shown: float | None
    lists: int
    beating: float | None
    stable: float | None
    weakly_stable: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(vars(self))


def condorcet(slates: Slates, candidates: Candidates) -> Condorcet:
    """Compare lists with the preferences of weighted majorities.

    Parameters
    ----------
    slates, candidates
        Of the same users and items.
    """
    parts = candidates.slices()
    winner = np.concatenate([np.zeros(0, np.intp), *(condorcet_winners(candidates.take(part)) for part in parts)])
    compared = candidates.available.sum(axis=0) >= 2
    has = compared & (winner != NOTHING)
    held = (slates.items == winner[:, None]).any(axis=1)
    beats, ties = (np.zeros(slates.items.shape, dtype=bool) for _ in range(2))
    for part in parts:
        beats[part], ties[part] = _against_rest(slates.items[part], candidates.take(part))
    filled = slates.items != NOTHING
    counted = filled.any(axis=1) & (candidates.available.sum(axis=0) > slates.lengths)
    return Condorcet(
        int(compared.sum()),
        int(has.sum()),
        _share(held[has]),
        int(counted.sum()),
        _share(beats[filled & counted[:, None]]),
        _share((beats | ~filled).all(axis=1)[counted]),
        _share((beats | ties | ~filled).all(axis=1)[counted]),
    )


def condorcet_winners(candidates: Candidates) -> Codes:
    """Return the item that beats every other one of each user, `NOTHING` where there is none, shape (user,).

    One pass keeps an item until another one is not beaten by it; only the last one kept can be the winner, and a second
    pass compares it with all. A single item that may be shown is a winner.
    """
    available = candidates.available
    kept = np.full(candidates.n_users, NOTHING, dtype=np.intp)
    for item in range(len(candidates.items)):
        safe = majority(candidates, kept, slice(item, item + 1))[0] > 0
        kept = np.where(available[item] & ~((kept != NOTHING) & safe), item, kept)
    own = np.arange(len(candidates.items))[:, None] == kept
    wins = (~available | own | (majority(candidates, kept) > 0)).all(axis=0)
    return np.where(wins, kept, NOTHING)


def majority(candidates: Candidates, items: Codes, others: slice = slice(None)) -> NDArray[np.int8]:
    """Return 1 where the item of a user beats another one, −1 where it is beaten, 0 where they tie, shape (item, user).

    Parameters
    ----------
    candidates
        E and weights.
    items
        One for each user, shape (user,); what is said of `NOTHING` means nothing.
    others
        Items that it is compared with.
    """
    values = candidates.values
    gaps = values[:, items, np.arange(len(items))][:, None] - values[:, others]
    sides = np.where(np.abs(gaps) > candidates.tolerance, np.sign(gaps), 0.0)
    margins = np.tensordot(candidates.weights, sides, axes=1)
    slack = candidates.tolerance * candidates.weights.sum()
    return np.where(np.abs(margins) > slack, np.sign(margins), 0.0).astype(np.int8)


def _against_rest(items: Codes, candidates: Candidates) -> tuple[Mask, Mask]:
    """Return whether the item at each place beats, and beats or ties, every available item not shown."""
    rest = candidates.available.copy()
    beats, ties = items != NOTHING, items != NOTHING
    for chosen in items.T:
        users = np.flatnonzero(chosen != NOTHING)
        rest[chosen[users], users] = False
    for place, chosen in enumerate(items.T):
        found = majority(candidates, chosen)
        beats[:, place] &= (~rest | (found > 0)).all(axis=0)
        ties[:, place] &= (~rest | (found >= 0)).all(axis=0)
    return beats, ties


def _share(flags: Mask) -> float | None:
    return float(flags.mean()) if len(flags) else None
