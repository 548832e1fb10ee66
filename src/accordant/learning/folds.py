"""Folds: disjoint parts of the training rows, each held out in turn; rows of one person are never in two of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError

MINIMUM_FOLDS = 3  # two folds are left out at a time, and something must remain


def make_folds(
    n_rows: int,
    n_folds: int,
    generator: np.random.Generator,
    strata: NDArray[Any] | None = None,
    groups: NDArray[Any] | None = None,
) -> tuple[Codes, ...]:
    """Return shuffled, disjoint folds whose sizes differ by at most one, or as little as whole groups allow.

    Parameters
    ----------
    n_rows
        Number of training rows.
    n_folds
        At least 3, at most `n_rows` and the number of groups.
    generator
        Shuffles.
    strata
        Labels, shape (row,): rows of one label are dealt to the folds in turn, so that even rare labels are
        spread as evenly as they can be. None ignores labels.
    groups
        Whose each row is, shape (row,): rows of one group are in one fold. None if rows are independent.
    """
    if n_folds < MINIMUM_FOLDS:
        raise InputError(f"folds is {n_folds}; allowed: at least {MINIMUM_FOLDS}")
    if n_rows < n_folds:
        raise DataError(f"{n_rows} training rows are too few for {n_folds} folds")
    if groups is not None:
        if (n_groups := len(np.unique(groups))) < n_folds:
            raise DataError(f"{n_rows} training rows of {n_groups} groups are too few for {n_folds} folds of groups")
        dealt = deal_groups(groups, n_folds, generator, strata)
        return tuple(np.flatnonzero(dealt == fold) for fold in range(n_folds))
    order = generator.permutation(n_rows)
    if strata is not None:
        _, labels = np.unique(strata, return_inverse=True)
        order = order[np.argsort(labels[order], kind="stable")]
    return tuple(np.sort(order[start::n_folds]) for start in range(n_folds))


def all_but(folds: tuple[Codes, ...], *left_out: int) -> Codes:
    """Return the rows of all folds except those left out, sorted."""
    return np.sort(np.concatenate([rows for fold, rows in enumerate(folds) if fold not in left_out]))


def some_rows(rows: Codes, n_rows: int, most: int | None) -> Codes:
    """Return at most so many of some of `n_rows` rows, sorted; two sets of rows keep the same ones of what they share.

    Parameters
    ----------
    rows
        Sorted positions.
    n_rows
        How many rows there are in all.
    most
        At least 1; None keeps all.
    """
    if most is None or most >= len(rows):
        return rows
    order = np.random.default_rng(n_rows).permutation(n_rows)
    return np.sort(rows[np.argsort(order[rows])[: max(1, most)]])


def deal_groups(
    groups: NDArray[Any], n_folds: int, generator: np.random.Generator, strata: NDArray[Any] | None = None
) -> Codes:
    """Return the fold of each row, shape (row,): whole groups, with sizes and strata as even as they can be dealt.

    As scikit-learn's ``StratifiedGroupKFold``: groups are dealt from the largest to the smallest, each to the fold that
    keeps the shares of strata most even. Here the size of a fold counts as one more stratum, and rows that are alone
    in their group fill up what the others left, all of a stratum at once: scikit-learn takes seconds for tens of
    thousands of them, and folds are made anew in every inner fit.

    Parameters
    ----------
    groups
        Whose each row is.
    n_folds
        At least 1. With fewer groups some folds stay empty.
    generator
        Breaks ties.
    strata
        Labels to be spread; None for none.
    """
    _, codes = np.unique(groups, return_inverse=True)
    labels = np.zeros(len(codes), dtype=np.intp) if strata is None else np.unique(strata, return_inverse=True)[1]
    sizes, counts = np.bincount(codes), np.bincount(labels)
    dealt = np.empty(len(codes), dtype=np.intp)
    filled = np.zeros((n_folds, len(counts)))  # rows
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    by_group, starts = np.argsort(codes, kind="stable"), np.cumsum(sizes) - sizes
    for group in order[sizes[order] > 1]:
        rows = by_group[starts[group] : starts[group] + sizes[group]]
        held = np.bincount(labels[rows], minlength=len(counts))
        # the sum of squared shares grows by this, up to a factor and what is the same for all folds
        growth = filled @ (held / counts**2) + filled.sum(axis=1) * (len(rows) / len(codes) ** 2)
        fold = int(np.argmin(growth))
        dealt[rows] = fold
        filled[fold] += held
    alone = by_group[starts[order[sizes[order] == 1]]]
    for stratum in np.argsort(counts, kind="stable"):
        own = alone[labels[alone] == stratum]
        added = _filling(filled[:, stratum], filled.sum(axis=1), len(own))
        dealt[own] = np.repeat(np.arange(n_folds), added)
        filled[:, stratum] += added
    return dealt


def held_out_parts(folds: Codes, n_folds: int) -> list[tuple[Codes, Codes]]:
    """Return training rows and held-out rows of each fold that is not empty, from the fold of each row."""
    parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    return [(train, test) for train, test in parts if len(train) and len(test)]


def _filling(levels: NDArray[np.float64], sizes: NDArray[np.float64], n: int) -> Codes:
    """Return how many of `n` rows each fold gets so that its level is as even as it can be, then its size."""
    ordered = np.sort(levels)
    lowest = next(k for k in range(len(levels), 0, -1) if (n + ordered[:k].sum()) // k >= ordered[k - 1])
    level = (n + ordered[:lowest].sum()) // lowest
    added: Codes = np.maximum(level - levels, 0).astype(np.intp)
    rest = n - int(added.sum())
    open_folds = np.flatnonzero(levels + added == level)
    # by size after this filling; equal ones in the order of their numbers
    last = open_folds[np.argsort((sizes + added)[open_folds], kind="stable")][:rest]
    added[last] += 1
    return added


ALWAYS_TRAINING = -1
"""Fold of a row that is never held back."""

MOST_MIXED = 0.05
"""Share of groups of equal features that may hold several classes before equal rows no longer count as copies."""


def copied_records(X: Values, codes: Codes) -> Codes:
    """Return (n,) for each row the first row that is the same record: equal in X (n, features) and in class.

    A copy that is held back while its original is in training makes a model that learns by heart look good. But
    equal features are copies only if the class is equal too, as a rule: where more than 5 % of the groups of equal
    features hold several classes, or fewer than half of the records are distinct, equal rows are separate
    observations, and every row is a record of its own. (Holding back together only those that agree in class
    would then turn the predictions around.)
    """
    rows = np.arange(len(codes), dtype=np.intp)
    _, group, sizes = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    _, first, record = np.unique(np.column_stack([group, codes]), axis=0, return_index=True, return_inverse=True)
    repeated = sizes > 1
    mixed = np.bincount(group[first], minlength=len(sizes)) > 1
    if 2 * len(first) < len(codes) or mixed.sum() > MOST_MIXED * repeated.sum():
        return rows
    return first[record].astype(np.intp)


def deal_folds(
    codes: Codes, n_folds: int, random_state: int, *, records: Codes | None = None, groups: Codes | None = None
) -> Codes:
    """Return the fold of every row, (n,) in 0..n_folds-1 or `ALWAYS_TRAINING`.

    Records are shuffled within their class and dealt out in turn, so their counts per class differ by at most
    one between folds. Unlike scikit-learn's stratified folds, classes may have fewer records than there are
    folds: a class of two or more is spread over different folds, so every training part holds it; a class of
    one record cannot be learned from and predicted at once and is always in training.

    Parameters
    ----------
    codes
        (n,) class of each row.
    n_folds, random_state
        Number of folds, at least 2, and the seed of the shuffling.
    records
        (n,) from `copied_records`: rows with the same number go to the same fold. None: every row by itself.
    groups
        (n,) whose each row is. Rows of one group go to the same fold, whatever their class, and `records` say no more:
        equal rows of two persons are two observations. All groups with a class of which all rows came to one fold are
        always in training.

    Raises
    ------
    InputError
        If `n_folds` is below 2, or no class has two records.
    """
    if n_folds < 2:
        raise InputError(f"n_folds must be at least 2, found {n_folds}")
    if groups is not None:
        return _dealt_groups(codes, groups, n_folds, random_state)
    rows = np.arange(len(codes)) if records is None else records
    _, first, record_of_row = np.unique(rows, return_index=True, return_inverse=True)
    record_codes = codes[first]
    shuffled = np.random.default_rng(random_state).permutation(len(first))
    by_class = shuffled[np.argsort(record_codes[shuffled], kind="stable")]
    dealt = by_class[np.bincount(record_codes)[record_codes[by_class]] > 1]
    if dealt.size == 0:
        raise InputError(f"cross-validation needs a class with two different rows, found none in {len(codes)} rows")
    folds = np.full(len(first), ALWAYS_TRAINING, dtype=np.intp)
    folds[dealt] = np.arange(dealt.size) % n_folds
    return folds[record_of_row]


def _dealt_groups(codes: Codes, groups: Codes, n_folds: int, random_state: int) -> Codes:
    folds = deal_groups(groups, n_folds, np.random.default_rng(random_state), codes)
    together = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    kept = [rows for rows in together if (folds[rows] == folds[rows[0]]).all()]
    if kept:
        folds[np.isin(groups, groups[np.concatenate(kept)])] = ALWAYS_TRAINING
    if (folds == ALWAYS_TRAINING).all():
        raise InputError(f"cross-validation needs a class in two groups, found none in {len(codes)} rows")
    return folds


def splits(folds: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield (training rows, held-back rows) for each fold that holds a row back."""
    for fold in np.unique(folds[folds != ALWAYS_TRAINING]):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
