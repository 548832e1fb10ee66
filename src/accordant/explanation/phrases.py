"""Numbers and lists of names as explanations write them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

MINUS = "\N{MINUS SIGN}"
SMALL = 0.001  # below this three decimals would show too little


def shown(value: float, rounding: str = ROUND_HALF_EVEN, digits: int | None = None) -> str:
    """Return a number as every sentence writes it: three decimals, or two digits if it is smaller than 0.001.

    Parameters
    ----------
    value
        A finite number.
    rounding
        Of `decimal`: what holds up to a number must be rounded down, what holds from it on must be rounded up.
    digits
        Decimals; None for as many as the number itself needs.
    """
    digits = decimals_for(value) if digits is None else digits
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=rounding)
    return f"{MINUS if rounded < 0 else ''}{abs(rounded):f}"


def decimals_for(*differences: float) -> int:
    """Return the decimals that show the smallest difference: three, or those of two digits if it is below 0.001."""
    size = min((abs(each) for each in differences if each), default=1.0)
    return 3 if size >= SMALL else 1 - math.floor(math.log10(size))


def capital(words: str) -> str:
    """Return words with a capital first letter."""
    return words[:1].upper() + words[1:]
