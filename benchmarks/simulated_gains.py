"""Gains from drawn values: a check of the closed forms and of the theorems that uses none of them, and any sampler.

One more item of a type adds what its value has above the k-th best so far, so

    h(a + 1) − h(a) = E (X − k-th best of a draws)⁺,    the k-th best of fewer than k draws counting 0.

`drawn_gains` simulates the k-th best in many rows of draws, and takes the excess over it from a second, larger sample.
For values that are 1 or 0 the chance of no success so far is soon too small to be seen in any number of rows;
`split_gains` multiplies shares of failures among fresh draws, item by item: multilevel splitting (Kahn, Harris 1951).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.consumption.values import whole_number

Sampler = Callable[[np.random.Generator, tuple[int, ...]], Values]
"""From a generator and a shape to independent values of at least 0."""

ROWS = 2_000  # simulated types; shares of slates then vary by about a hundredth
REFERENCE = 400_000  # draws of the second sample, of which enough are above the best of a thousand


def drawn_gains(
    sampler: Sampler,
    consumed: int,
    items: int,
    generator: np.random.Generator,
    *,
    rows: int = ROWS,
    reference: int = REFERENCE,
) -> Values:
    """Return simulated log gains log(h(a + 1) − h(a)) for a = 0..items − 1, never rising, shape (items,).

    Parameters
    ----------
    sampler
        Draws values.
    consumed
        k ≥ 1.
    items
        At least 0.
    generator
        Source of randomness.
    rows
        Simulated types.
    reference
        Draws of the second sample.

    Raises
    ------
    InputError
        If a number is wrong, or a drawn value is negative or not finite.
    """
    k, length = whole_number("consumed", consumed, 1), whole_number("items", items, 0)
    others = np.sort(_checked(sampler(generator, (whole_number("reference", reference, 1),))))
    above = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]])  # sum of those from a position on
    gains = np.empty(length)
    best = np.zeros((whole_number("rows", rows, 1), k))  # ascending: the first is the k-th best
    for a in range(length):
        level = best[:, 0]
        first = np.searchsorted(others, level, side="right")
        gains[a] = ((above[first] - level * (len(others) - first)) / len(others)).mean()
        np.maximum(best[:, 0], _checked(sampler(generator, (rows,))), out=best[:, 0])
        if k > 1:
            best.sort(axis=1)
    with np.errstate(divide="ignore"):
        return np.minimum.accumulate(np.log(np.maximum(gains, 0.0)))


def split_gains(sampler: Sampler, items: int, generator: np.random.Generator, *, rows: int = ROWS) -> Values:
    """Return simulated log gains for k = 1 and values that are 1 or 0, shape (items,).

    The gain of item a + 1 is the chance to please, times the chances of all a before it to fail.

    Parameters
    ----------
    sampler
        Draws 1 or 0.
    items
        At least 0.
    generator
        Source of randomness.
    rows
        Draws for each item.

    Raises
    ------
    InputError
        If a drawn value is neither 1 nor 0, or all of an item's are 1: then more rows are needed.
    """
    length = whole_number("items", items, 0)
    fails = np.empty(length)
    for a in range(length):
        drawn = _checked(sampler(generator, (whole_number("rows", rows, 1),)))
        if not np.isin(drawn, (0.0, 1.0)).all():
            raise InputError("a drawn value is neither 0 nor 1; use drawn_gains")
        fails[a] = 1.0 - drawn.mean()
    if (fails == 0).any():
        raise InputError(f"all {rows} draws of an item please; draw more rows to see one that does not")
    pleases = 1.0 - float(fails.mean()) if length else 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(pleases) + np.concatenate([[0.0], np.cumsum(np.log(fails[:-1]))])[:length])


def _checked(values: Values) -> Values:
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InputError("a drawn value is negative or not finite; allowed: finite numbers of at least 0")
    return values
