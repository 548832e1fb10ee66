"""Bets on what may change: each is a factor with mean at most 1 where nothing does, and words for what it bets on.

`ShapeBets`: on uniform ranks of numbers, 1 + ε P(2 rank − 1) with Legendre polynomials P of degree 1 (higher or lower),
2 (toward the ends or the middle) and 3: their means under the uniform distribution are 0.

`LevelBets`: on uniform ranks of categories, which lie in the interval of their category. The odds of one category are
multiplied; the factor is the ratio of the two likelihoods.

`MeanBets`: on values with a mean between two limits, 1 + λ (value − high) and 1 + λ (low − value) (Waudby-Smith and
Ramdas 2024), with fractions of the largest λ that cannot lose everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from accordant.arrays import Codes, Values

STRENGTHS = (0.1, 0.3, 0.9)  # ε: small, middling and large changes of a number
ODDS = (1.5, 2.0, 4.0)  # by which the odds of a category are multiplied, or divided
FRACTIONS = (0.02, 0.05, 0.12, 0.3, 0.7)  # of the largest λ
ROOM = 0.01  # what is left of a range at either end, so that no factor is 0 or endless
MOST_LEVELS = 12  # categories with bets of their own; rarer ones are bet on together
SHAPES = (
    ("values are higher", "values are lower"),
    ("more values at both ends", "more values in the middle"),
    ("more high values, and fewer a little lower", "more low values, and fewer a little higher"),
)


class Bets(Protocol):
    """Bets on one stream of values."""

    @property
    def words(self) -> tuple[str, ...]:
        """What each bets on."""
        ...

    def log_factors(self, values: Values) -> Values:
        """Return the logarithm of each factor, shape (record, bet)."""
        ...


@dataclass(frozen=True)
class ShapeBets:
    """Bets on ranks of numbers."""

    @property
    def words(self) -> tuple[str, ...]:
        """What each bets on."""
        return tuple(word for shape in SHAPES for word in shape for _ in STRENGTHS)

    def log_factors(self, values: Values) -> Values:
        """Return the logarithm of each factor, shape (record, bet)."""
        x = 2.0 * values - 1.0
        polynomials = np.stack([x, (3 * x**2 - 1) / 2, (5 * x**3 - 3 * x) / 2], axis=1)
        signed = np.array([sign * strength for sign in (1, -1) for strength in STRENGTHS])
        factors = np.log1p(polynomials[:, :, None] * signed)
        return np.asarray(factors.reshape(len(values), len(SHAPES) * len(signed)))


@dataclass(frozen=True)
class LevelBets:
    """Bets on ranks of categories.

    Attributes
    ----------
    names
        Categories in the order of their ranks, the most frequent first; what no reference value is, last.
    ends
        Where the interval of each ends, rising to 1.
    """

    names: tuple[str, ...]
    ends: tuple[float, ...]

    @classmethod
    def of(cls, counts: Mapping[str, int], rest: str) -> LevelBets:
        """Return the bets for a reference, the most frequent category first; `rest` comes after all of them."""
        total = sum(counts.values()) + 1
        named = list(counts)[: MOST_LEVELS - 1]
        ends = np.cumsum([counts[name] for name in named]) / total
        last = rest if len(named) == len(counts) else f"{len(counts) - len(named)} rare categories, or {rest}"
        return cls((*named, last), (*ends.tolist(), 1.0))

    @classmethod
    def of_two(cls, usual: str, other: str, share: float) -> LevelBets:
        """Return the bets on the second of two categories, whose share of the reference is given."""
        return cls((usual, other), (min(1 - ROOM, max(ROOM, 1.0 - share)), 1.0))

    @property
    def words(self) -> tuple[str, ...]:
        """What each bets on."""
        names = [self.names[place] for place in self._bet_on]
        return tuple(f"{name} {how} often" for name in names for how in ("more", "less") for _ in ODDS)

    @property
    def _bet_on(self) -> Codes:
        """Positions of the categories that are bet on: of two, one is the other turned round."""
        return np.arange(1 if len(self.names) == 2 else 0, len(self.names))

    def log_factors(self, values: Values) -> Values:
        """Return the logarithm of each factor, shape (record, bet)."""
        places = np.searchsorted(np.array(self.ends[:-1]), values, side="right")
        shares = np.diff(np.array([0.0, *self.ends]))[self._bet_on, None]
        odds = np.array([*ODDS, *(1.0 / ratio for ratio in ODDS)])
        moved = odds * shares / (1.0 - shares + odds * shares)
        inside, outside = np.log(moved / shares), np.log((1.0 - moved) / (1.0 - shares))
        hit = places[:, None, None] == self._bet_on[:, None]
        return np.asarray(np.where(hit, inside, outside).reshape(len(values), -1))


@dataclass(frozen=True)
class MeanBets:
    """Bets on values whose mean is between two limits if nothing changed.

    Attributes
    ----------
    low, high
        The limits, within the range.
    least, most
        The range of the values.
    above, below
        What a mean above, and one below, mean in words.
    """

    low: float
    high: float
    least: float
    most: float
    above: str
    below: str

    @property
    def words(self) -> tuple[str, ...]:
        """What each bets on."""
        return (*(self.above for _ in FRACTIONS), *(self.below for _ in FRACTIONS))

    def log_factors(self, values: Values) -> Values:
        """Return the logarithm of each factor, shape (record, bet)."""
        fractions = np.array(FRACTIONS)
        room, values = ROOM * (self.most - self.least), np.clip(values, self.least, self.most)  # rounding
        gains = (values - self.high) / max(self.high - self.least, room)
        losses = (self.low - values) / max(self.most - self.low, room)
        return np.asarray(np.log1p(np.concatenate([np.outer(gains, fractions), np.outer(losses, fractions)], axis=1)))
