"""Concession levels: who is left at least as well off as a joint decision leaves it."""

from __future__ import annotations

CLOSE = 1e-9  # utilities this close, relative to their size, are level


def lowest_at_level(liked: float) -> float:
    """Return the lowest utility that counts as at least `liked`, with rounding forgiven."""
    return liked - CLOSE * max(1.0, abs(liked))
