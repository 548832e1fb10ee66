"""Durations and amounts in words, as the terminal and the page of a plan say them."""

from __future__ import annotations

import math

from accordant.report.scale import MINUS

DURATIONS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def unit_of(amount: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """Return the largest unit that is no larger than an amount, and its name; else the smallest."""
    return next((unit for unit in units if amount >= unit[0]), units[-1])


def digits(value: float) -> str:
    """Return a number with three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them."""
    factor, unit = unit_of(seconds, DURATIONS)
    return f"{digits(seconds / factor)} {unit}"


def span(low: float, high: float, value: float) -> str:
    """Return limits in the unit that suits the value between them."""
    factor, unit = unit_of(value, DURATIONS)
    return f"{digits(low / factor)}–{digits(high / factor)} {unit}"


def size(amount: float) -> str:
    """Return bytes in the unit that suits them."""
    factor, unit = unit_of(amount, SIZES)
    return f"{digits(amount / factor)} {unit}"


def power(value: float) -> str:
    """Return a power of ten, or a number of rows between two of them: ``10⁹``, ``4 × 10⁷``."""
    exponent = math.floor(math.log10(value) + 1e-9)
    factor = digits(value / 10.0**exponent)
    return f"{'' if factor == '1' else f'{factor} × '}10{str(exponent).translate(RAISED)}"


def constant(value: float) -> str:
    """Return a measured constant with three digits, however small."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return digits(value).replace("-", MINUS)
    exponent = math.floor(math.log10(abs(value)))
    return f"{value / 10.0**exponent:.2f} × 10{str(exponent).translate(RAISED)}".replace("-", MINUS)
