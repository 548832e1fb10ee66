"""`Line`: a number that follows the first sum of the voters; `Room`: how far that sum can rise and nothing changes.

The method compares purses with prices, prices with prices, and costs with what voters hold. As long as every comparison
comes out as before, all of these are straight lines over the first sum. So the smallest sum at which one of them could
come out otherwise is a quotient: what is between two lines, over the rate at which they approach [ours].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

SAFE = 0.9  # of a distance in floating point that is not close: rounding moves it by less than a tenth
RATE = 1e-9  # of the terms of a rate: rounding moves a sum of 100,000 of them by less

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class Line(Generic[Number]):
    """What a number is now, and by how much it rises with each coin of the first sum."""

    value: Number
    rate: Number


class Room:
    """The largest rise of the first sum below which every comparison so far comes out as it did.

    Attributes
    ----------
    coins
        Exact or too low, never too high; infinite if nothing was compared that could change.
    """

    def __init__(self) -> None:
        self.coins: Fraction | float = math.inf

    def keep(self, distance: Fraction, approach: Fraction) -> None:
        """Stay below the point where two lines meet, exactly."""
        if approach > 0:
            self.coins = min(self.coins, distance / approach)

    def keep_roughly(self, distance: float, approach: float) -> None:
        """Stay well below the point where two lines meet; `approach` must not be too low."""
        if not approach <= 0:
            room = SAFE * distance / approach
            self.coins = min(self.coins, room) if room >= 0 else 0.0
