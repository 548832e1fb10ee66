"""Lists that are built item by item: normalised gains, and the greedy start with exchanges.

`NormalisedGains` say what each item adds to the normalised utility of each stakeholder. A list of m items gives
stakeholder i the normalised utility

    (Σ_{c in S} E[i, c, u] − W_i) / (I_i − W_i)  =  Σ_{c in S} (E[i, c, u] − W_i / m) / (I_i − W_i)

with I_i and W_i the sums over i's m best and m worst items that may be shown. The right side gives every item a gain,
and the sum of gains is exactly `Gains.attained` when the list is full [ours]. While it grows, each empty place counts
as the average item of i's worst list, so that a running sum may lie a little below 0.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError
from accordant.kernels import compiled
from accordant.slates.candidates import ALIKE, Candidates, best_item
from accordant.slates.rule import SlateRule
from accordant.slates.slates import NOTHING, Slates

SWAPS = 3  # on random lists of 4 of 12, later exchanges changed the mean by less than 0.001 [measured]


@dataclass(frozen=True, eq=False)
class NormalisedGains:
    """Gains of those who have a say, or of others who are asked for, shape (stakeholder, item, user).

    They are 0 for whom all lists are alike, which `sided` says, shape (stakeholder, user). `lengths` are items in the
    list of each user, shape (user,); weights, shape (stakeholder,), are above 0 for who has a say; utilities within the
    tolerance are level.
    """

    values: Values
    sided: Mask
    weights: Values
    lengths: NDArray[np.intp]
    tolerance: float

    def of(self, items: NDArray[np.intp]) -> Values:
        """Return the gains of one item for each user, shape (stakeholder, user); 0 for `NOTHING`, which is −1."""
        gains = self.values[:, np.maximum(items, 0), np.arange(len(items))]
        return np.where(items >= 0, gains, 0.0)

    def total(self, items: NDArray[np.intp]) -> Values:
        """Return the normalised utilities of lists, shape (stakeholder, user), from items of shape (user, place)."""
        reached = np.zeros(self.sided.shape)
        add_up(self.values, np.ascontiguousarray(items), reached)
        return reached


def normalised_gains(candidates: Candidates, k: int) -> NormalisedGains:
    """Return the gains of every item for lists of k items, or of all items where there are fewer."""
    say = candidates.weights > 0
    lengths = np.minimum(k, candidates.available.sum(axis=0))
    return gains_for_lengths(candidates, say, lengths)


def gains_for_lengths(candidates: Candidates, who: Mask, lengths: NDArray[np.intp]) -> NormalisedGains:
    """Return the gains of every item to some stakeholders.

    `who` marks the stakeholders, shape (stakeholder,); `lengths` are numbers of items in the list of each user, at most
    as many as may be shown, shape (user,).
    """
    values = candidates.values if who.all() else np.ascontiguousarray(candidates.values[who])
    available = np.ascontiguousarray(candidates.available)
    kept = np.empty((max(1, int(lengths.max(initial=0))), candidates.n_users))
    best, worst = (end_sums(values, available, lengths, sign, kept) for sign in (1.0, -1.0))
    span, places = best - worst, np.maximum(lengths, 1)
    sided = span / places > ALIKE
    scale = np.where(sided, 1.0 / np.where(sided, span, 1.0), 0.0)
    gains = np.empty_like(values)
    rescale(values, worst / places, scale, gains)
    return NormalisedGains(gains, sided, candidates.weights[who], lengths, candidates.tolerance)


@compiled
def end_sums(values: Values, available: Mask, lengths: NDArray[np.intp], sign: float, kept: Values) -> Values:
    """Return the sum of the largest values (smallest with sign −1) of each stakeholder, shape (stakeholder, user).

    Values are of shape (stakeholder, item, user), `available` of shape (item, user). `lengths` of them are summed,
    shape (user,); `kept`, shape (place, user), is room for the best so far in descending order.

        np.sort(values[i, available[:, u], u])[::-1][: lengths[u]].sum()  # of each i and u, with sign 1
    """
    n_stakeholders, n_items, n_users = values.shape
    sums = np.zeros((n_stakeholders, n_users))
    last = len(kept) - 1
    for i in range(n_stakeholders):
        kept[:] = -np.inf
        for c in range(n_items):
            row, shown = values[i, c], available[c]
            for u in range(n_users):
                value = sign * row[u]
                if shown[u] and value > kept[last, u]:
                    place = last
                    while place > 0 and value > kept[place - 1, u]:
                        kept[place, u] = kept[place - 1, u]
                        place -= 1
                    kept[place, u] = value
        for u in range(n_users):
            for place in range(lengths[u]):
                sums[i, u] += sign * kept[place, u]
    return sums


@compiled
def add_up(gains: Values, items: NDArray[np.intp], reached: Values) -> None:
    """Add the gains of lists, shape (user, place) with −1 for empty places, to utilities, shape (stakeholder, user).

    reached += np.where(items >= 0, gains[:, items, np.arange(len(items))[:, None]], 0.0).sum(axis=2)
    """
    for i in range(len(gains)):
        for u in range(len(items)):
            for place in range(items.shape[1]):
                if items[u, place] >= 0:
                    reached[i, u] += gains[i, items[u, place], u]


@compiled
def rescale(values: Values, less: Values, scale: Values, out: Values) -> None:
    """Write ``(values - less[:, None]) * scale[:, None]``, shape (stakeholder, item, user)."""
    n_stakeholders, n_items, n_users = values.shape
    for i in range(n_stakeholders):
        low, factor = less[i], scale[i]
        for c in range(n_items):
            row, result = values[i, c], out[i, c]
            for u in range(n_users):
                result[u] = (row[u] - low[u]) * factor[u]


@dataclass(frozen=True)
class GreedySlate(SlateRule):
    """A rule that judges lists by normalised utilities.

    Place after place goes to the item with which the running list is best. Then, up to `swaps` times, the one exchange
    of an item of the list for another that improves the list most is made; the new item takes the place of the old one.
    Of exchanges that are as good as each other, that of the earlier place is made. Neither reaches the best list
    always.

    Parameters
    ----------
    swaps
        The most exchanges in one list, at least 0. Looking for one costs about as much as filling the list.
    """

    swaps: int = SWAPS

    def __post_init__(self) -> None:
        if isinstance(self.swaps, bool) or not isinstance(self.swaps, int) or self.swaps < 0:
            raise InputError(f"{self.name} makes {self.swaps!r} swaps; allowed: a whole number of at least 0")

    @abstractmethod
    def scores(self, gains: NormalisedGains, running: Values, free: Mask) -> Values:
        """Return how good the running list with each item would be, shape (item, user).

        Parameters
        ----------
        gains
            Of every item.
        running
            Normalised utilities of the list so far, shape (stakeholder, user).
        free
            Which items may be added, shape (item, user); the others get −inf.
        """

    @abstractmethod
    def worth(self, gains: NormalisedGains, reached: Values) -> Values:
        """Return what lists with these utilities are worth, shape (rank, user): the first rank in which two differ."""

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Fill the lists of one block, and improve them."""
        gains = normalised_gains(candidates, k)
        items = np.full((candidates.n_users, k), NOTHING, dtype=np.intp)
        tied = np.zeros(candidates.n_users, dtype=bool)
        running, free = np.zeros(gains.sided.shape), candidates.available.copy()
        users = np.arange(candidates.n_users)
        for place in range(min(k, len(candidates.items))):
            scores = self.scores(gains, running, free)
            chosen, level = best_item(scores, candidates.totals, candidates.tolerance)
            items[:, place], tied = chosen, tied | level
            free[np.maximum(chosen, 0), users] = False
            running += gains.of(chosen)
        for _ in range(self.swaps):
            improved, level = self._swap(gains, candidates, items, free, running)
            if not improved.any():
                break
            tied |= improved & level
        return Slates(self.label, candidates.items, items, tied)

    def _swap(
        self, gains: NormalisedGains, candidates: Candidates, items: Codes, free: Mask, running: Values
    ) -> tuple[Mask, Mask]:
        """Make the best exchange of each user, in place; return whose list improves, and who had several as good."""
        users = np.arange(len(items))
        best = self.worth(gains, running)
        places, entering = np.full(len(items), -1), np.zeros(len(items), dtype=np.intp)
        tied = np.zeros(len(items), dtype=bool)
        for place in range(items.shape[1]):
            without = running - gains.of(items[:, place])
            scores = self.scores(gains, without, free)
            chosen, several = best_item(scores, candidates.totals, candidates.tolerance)
            worth = self.worth(gains, without + gains.of(chosen))
            there = (chosen != NOTHING) & (items[:, place] != NOTHING)
            sign = compare_ranks(worth, best, gains.tolerance)
            better, level = there & (sign > 0), there & (sign == 0)
            tied = np.where(better, several, tied | level)
            best = np.where(better, worth, best)
            places, entering = np.where(better, place, places), np.where(better, chosen, entering)
        improved = places >= 0
        who, at, new = users[improved], places[improved], entering[improved]
        running += np.where(improved, gains.of(entering) - gains.of(items[users, np.maximum(places, 0)]), 0.0)
        free[items[who, at], who], free[new, who] = True, False
        items[who, at] = new
        return improved, tied


def compare_ranks(first: Values, second: Values, tolerance: float) -> Codes:
    """Return 1 where the first rank in which two lists differ by more than the tolerance is higher in the first.

    −1 where it is lower, and 0 where no rank differs, shape (user,), from shapes (rank, user).
    """
    with np.errstate(invalid="ignore"):
        difference = np.where(first == second, 0.0, first - second)
    margin = tolerance * np.maximum(1.0, np.where(np.isfinite(second), np.abs(second), 1.0))
    sign = np.where(difference > margin, 1, np.where(difference < -margin, -1, 0))
    deciding = np.argmax(sign != 0, axis=0)
    return np.asarray(sign[deciding, np.arange(sign.shape[1])])
