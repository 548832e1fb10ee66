"""Values with finitely many levels: every level is a row of trials, won by each item that reaches it.

Let F̄_j be the chance of a value of at least the j-th lowest level v_j, and v_0 = 0. The best k of a values sum to
Σ_j (v_j − v_{j−1}) min(k, number that reaches v_j), so

    h(a + 1) − h(a) = Σ_j (v_j − v_{j−1}) F̄_j P(fewer than k of a items reach v_j).

`Bernoulli` has one level, E min(k, Binomial). `RankedChances` has one level that later items reach less often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.consumption.checks import (
    LARGEST,
    checked_counts,
    checked_numbers,
    checked_probabilities,
    number_above,
    whole_number,
)
from accordant.slates.consumption.values import summed_gains

CHANCES = 1 << 20  # chances of levels and items worked on at once: 8 MiB


@dataclass(frozen=True)
class Bernoulli:
    """Value 1 with a given chance, otherwise 0. h(a) = 1 − (1 − q)^a for k = 1.

    Parameters
    ----------
    chance
        q, above 0, at most 1.
    """

    chance: float

    def __post_init__(self) -> None:
        if not 0 < self.chance <= 1:
            raise InputError(f"chance is {self.chance}; allowed: above 0, at most 1")

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a) = E min(k, Binomial(a, q)), shape of `items`."""
        return summed_gains(self.log_gains(consumed, _largest(items)), items)

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return the log of q P(Binomial(a, q) < k), shape (items,)."""
        chances = np.full((whole_number("items", items, 0), 1), self.chance)
        return np.asarray(log_chances_below(consumed, chances)[:, 0] + np.log(self.chance))


@dataclass(frozen=True, eq=False)
class Discrete:
    """Finitely many levels, drawn independently: also the empirical distribution of held-back values.

    Parameters
    ----------
    levels
        At least 0, shape (level,), in any order; equal ones add up.
    probabilities
        Of the levels, shape (level,); None if all are equally likely, as draws with replacement from held-back values.
    """

    levels: ArrayLike
    probabilities: ArrayLike | None = None

    def __post_init__(self) -> None:
        _ = self.steps  # checks

    @cached_property
    def steps(self) -> tuple[Values, Values]:
        """v_j − v_{j−1} and F̄_j of the levels that are above 0 and can occur, from the lowest."""
        levels = checked_numbers("levels", self.levels, "level")
        if self.probabilities is None:
            mass = np.full(levels.shape, 1.0 / len(levels))
        else:
            mass = checked_probabilities("probabilities", self.probabilities, "level")
        if mass.shape != levels.shape:
            raise InputError(f"probabilities have shape {mass.shape}; allowed: {levels.shape}, one for each level")
        distinct, place = np.unique(np.concatenate([[0.0], levels]), return_inverse=True)
        occurs = np.bincount(place, np.concatenate([[0.0], mass]), minlength=len(distinct))
        reached = np.minimum(occurs[::-1].cumsum()[::-1], 1.0)
        reached[: np.flatnonzero(occurs)[0] + 1] = 1.0  # by definition, whatever the masses were rounded to
        kept = reached[1:] > 0
        return np.diff(distinct)[kept], reached[1:][kept]

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), shape of `items`; see `ValueDistribution`."""
        return summed_gains(self.log_gains(consumed, _largest(items)), items)

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return log gains, shape (items,)."""
        heights, reached = self.steps
        found = np.full(whole_number("items", items, 0), -np.inf)
        block = max(1, CHANCES // max(items, 1))
        for first in range(0, len(heights), block):
            part = slice(first, first + block)
            chances = np.broadcast_to(reached[part], (items, len(reached[part])))
            terms = log_chances_below(consumed, chances) + np.log(heights[part] * reached[part])
            found = np.logaddexp(found, np.logaddexp.reduce(terms, axis=1))
        return found


@dataclass(frozen=True)
class RankedChances:
    """Items of a type in a fixed order; the i-th pleases with chance q_i = c (i + d)^(−α), otherwise its value is 0.

    The setting of theorem 2 of Peng et al. (2024).

    Parameters
    ----------
    decay
        α ≥ 0.
    factor
        c, above 0 and small enough for q_1 ≤ 1.
    offset
        d, above −1.
    """

    decay: float
    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        number_above("factor", self.factor, 0.0)
        number_above("offset", self.offset, -1.0)
        if not 0 <= self.decay <= LARGEST:
            raise InputError(f"decay is {self.decay}; allowed: a number of at least 0, at most {LARGEST:g}")
        if self.first > 1:
            raise InputError(f"the first item pleases with chance {self.first:g}; allowed: at most 1")

    @property
    def first(self) -> float:
        """q_1."""
        try:
            return float(self.factor * (1.0 + float(self.offset)) ** -float(self.decay))
        except OverflowError:
            return float("inf")

    def chances(self, items: int) -> Values:
        """Return q_i for the first items, shape (items,)."""
        return np.asarray(self.factor * self._places(items) ** -self.decay)

    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), shape of `items`: the expected number of pleasing ones among the first a, at most k."""
        return summed_gains(self.log_gains(consumed, _largest(items)), items)

    def log_gains(self, consumed: int, items: int) -> Values:
        """Return the log of q_{a+1} P(fewer than k of the first a please), shape (items,)."""
        logs = np.log(self.factor) - self.decay * np.log(self._places(items))  # chances may be too small for a float
        return np.asarray(logs + log_chances_below(consumed, self.chances(items)[:, None])[:, 0])

    def _places(self, items: int) -> Values:
        """Return i + d of the first items, shape (items,)."""
        return np.asarray(np.arange(1, whole_number("items", items, 0) + 1) + self.offset, dtype=np.float64)


def log_chances_below(consumed: int, chances: Values) -> Values:
    """Return log P(fewer than k of the first a trials succeed) for a = 0..items − 1, shape (items, level).

    Parameters
    ----------
    consumed
        k ≥ 1.
    chances
        Of independent trials, shape (items, level); levels do not mix.
    """
    whole_number("consumed", consumed, 1)
    found = np.zeros(chances.shape)
    if consumed >= len(chances):
        return found
    with np.errstate(divide="ignore"):
        lost, won = np.log1p(-chances), np.log(chances)
    if consumed == 1:
        np.cumsum(lost[:-1], axis=0, out=found[1:])
        return found
    # exactly 0, 1, .., k − 1 successes so far; nothing is subtracted, so digits are kept
    exactly = np.full((chances.shape[1], consumed), -np.inf)
    exactly[:, 0] = 0.0
    for a in range(1, len(chances)):
        before = exactly[:, :-1] + won[a - 1][:, None]
        exactly += lost[a - 1][:, None]
        exactly[:, 1:] = np.logaddexp(exactly[:, 1:], before)
        if a >= consumed:
            found[a] = np.logaddexp.reduce(exactly, axis=1)
    return found


def _largest(items: ArrayLike) -> int:
    """Return the largest number of items asked for."""
    return int(checked_counts("items", items).max(initial=0))
