"""Folds: disjoint parts of the training rows, each held out in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.errors import DataError, InputError

Rows = NDArray[np.intp]
MINIMUM_FOLDS = 3  # two folds are left out at a time, and something must remain


def make_folds(
    n_rows: int, n_folds: int, generator: np.random.Generator, strata: NDArray[Any] | None = None
) -> tuple[Rows, ...]:
    """Return shuffled, disjoint folds whose sizes differ by at most one.

    Parameters
    ----------
    n_rows
        Number of training rows.
    n_folds
        At least 3, at most `n_rows`.
    generator
        Shuffles.
    strata
        Labels, shape (row,): rows of one label are dealt to the folds in turn, so that even rare labels are
        spread as evenly as they can be. None ignores labels.
    """
    if n_folds < MINIMUM_FOLDS:
        raise InputError(f"folds is {n_folds}; allowed: at least {MINIMUM_FOLDS}")
    if n_rows < n_folds:
        raise DataError(f"{n_rows} training rows are too few for {n_folds} folds")
    order = generator.permutation(n_rows)
    if strata is not None:
        _, labels = np.unique(strata, return_inverse=True)
        order = order[np.argsort(labels[order], kind="stable")]
    return tuple(np.sort(order[start::n_folds]) for start in range(n_folds))


def all_but(folds: tuple[Rows, ...], *left_out: int) -> Rows:
    """Return the rows of all folds except those left out, sorted."""
    return np.sort(np.concatenate([rows for fold, rows in enumerate(folds) if fold not in left_out]))
