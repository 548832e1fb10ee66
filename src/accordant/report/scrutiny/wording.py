"""Sentences with emphasised names, and numbers as this part of the report writes them."""

from __future__ import annotations

import math

from markupsafe import Markup

from accordant.report.charts.svg import clean, tag
from accordant.report.scale import number


def strong(name: str) -> Markup:
    """Return a name set in bold."""
    return tag("strong", {}, name)


def sentence(*parts: str) -> Markup:
    """Return parts in a row; those that are not markup are escaped."""
    return Markup("").join(part if isinstance(part, Markup) else clean(part) for part in parts)


def known(value: float | None) -> float | None:
    """Return a number, or None for one that is none: shares of no contexts are written as NaN."""
    return None if value is None or math.isnan(value) else value


def short(value: float) -> str:
    """Return a number with as many decimals as it needs, three at most."""
    text = number(value, 3)
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun: ``1 pair``, ``2 pairs``."""
    return f"{n} {one if n == 1 else more or one + 's'}"
