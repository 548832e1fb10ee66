"""Numbers and values of features as every sentence of an explanation writes them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

from accordant.explanation.contexts import Value

MINUS = "\N{MINUS SIGN}"
MOST_DIGITS = 12  # decimals beyond which two values that a rule compares are level
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
    size = min((abs(difference) for difference in differences if difference), default=1.0)
    return 3 if size >= SMALL else 1 - math.floor(math.log10(size))


def capital(words: str) -> str:
    """Return words with a capital first letter."""
    return words[:1].upper() + words[1:]


def value_text(value: Value | None) -> str:
    """Return a value of a feature: whole numbers without decimals, others with four digits, texts as they are."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return value or "an empty text"
    text = f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"
    return text.replace("-", MINUS)
