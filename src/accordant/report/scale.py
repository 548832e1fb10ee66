"""Axes and numbers: linear scales with round ticks, cells, and how many decimals a column deserves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_DECIMALS = 8
WHOLE = 1e-6  # by which the sum of many chances may miss a whole number
NOT_DEFINED = "not defined"


@dataclass(frozen=True)
class Cell:
    """One number as it is set: value, interval, what else there is to know, and its footnote."""

    value: str
    interval: str = ""
    details: tuple[str, ...] = ()
    note: int | None = None


@dataclass(frozen=True)
class Scale:
    """A linear map from data to drawing units.

    Attributes
    ----------
    low, high
        Ends of the axis in data units, low < high.
    start, end
        Where they are drawn; start > end turns the axis round.
    ticks
        Round values between low and high.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """Return where a value is drawn."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def labels(self) -> list[str]:
        """Return the text of every tick, with the decimals that their step needs."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else self.high - self.low
        digits = next((d for d in range(MOST_DECIMALS) if math.isclose(step, round(step, d), rel_tol=1e-6)), 3)
        return [number(tick, digits) for tick in self.ticks]


def linear_scale(values: Iterable[float], start: float, end: float, *, wanted: int = 4, tight: bool = False) -> Scale:
    """Return a scale with round ticks around all values.

    Parameters
    ----------
    values
        What must fit on the axis; none gives [0, 1], a single value gets room on both sides.
    start, end
        Drawing units.
    wanted
        About how many steps between ticks.
    tight
        Whether the axis ends at the extreme values; otherwise it ends at the ticks around them.
    """
    numbers = list(values) or [0.0, 1.0]
    low, high = min(numbers), max(numbers)
    if high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        room = 0.05 * max(1.0, abs(low))
        low, high = low - room, high + room
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in ROUND_STEPS if factor * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if tight:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = tuple(index * step for index in range(first, last + 1))
    if tight:
        return Scale(low, high, start, end, ticks)
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def decimals(values: Iterable[float | None]) -> int:
    """Return the decimals for a column: three below 10, more where that leaves fewer than two digits.

    From 10 on, three significant digits are kept, and up to three decimals where values differ only there.
    """
    known = [value for value in values if value is not None]
    largest = max(map(abs, known), default=0.0)
    if largest == 0:
        return 3
    power = math.floor(math.log10(largest))
    if largest < 10:
        return min(MOST_DECIMALS, max(3, 1 - power))
    spread = max(known) - min(known)
    apart = min(3, 1 - math.floor(math.log10(spread))) if spread > 0 else 0
    return max(0, 2 - power, apart)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with a true minus sign and thousands set apart, or ``not defined``."""
    if value is None:
        return NOT_DEFINED
    text = f"{abs(value):,.{digits}f}".replace(",", THIN_SPACE)
    negative = value < 0 and any(digit in text for digit in "123456789")
    return MINUS + text if negative else text


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return limits in brackets, or nothing if there are none."""
    return "" if low is None or high is None else f"[{number(low, digits)}, {number(high, digits)}]"


def percent(share: float | None) -> str:
    """Return a share in per cent with one decimal; a dash if it does not apply."""
    if share is None:
        return "–"
    if 0 < share < 0.001:
        return "< 0.1%"
    if 0.9995 <= share < 1 - 1e-9:
        return "> 99.9%"
    text = f"{100 * share:.1f}"
    return f"{text.removesuffix('.0')}%"


def count(value: float | None) -> str:
    """Return a number of rows; expected numbers of randomised decisions keep one decimal."""
    if value is None:
        return "–"
    return number(value, 0 if abs(value - round(value)) < WHOLE else 1)
