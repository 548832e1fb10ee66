"""Cross-validation folds in which every class stays learnable, however rare."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.arrays import Codes, Values
from accordant.learning.folds import deal_groups

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
    ValueError
        If `n_folds` is below 2, or no class has two records.
    """
    if n_folds < 2:
        raise ValueError(f"n_folds must be at least 2, found {n_folds}")
    if groups is not None:
        return _dealt_groups(codes, groups, n_folds, random_state)
    rows = np.arange(len(codes)) if records is None else records
    _, first, record_of_row = np.unique(rows, return_index=True, return_inverse=True)
    record_codes = codes[first]
    shuffled = np.random.default_rng(random_state).permutation(len(first))
    by_class = shuffled[np.argsort(record_codes[shuffled], kind="stable")]
    dealt = by_class[np.bincount(record_codes)[record_codes[by_class]] > 1]
    if dealt.size == 0:
        raise ValueError(f"cross-validation needs a class with two different rows, found none in {len(codes)} rows")
    folds = np.full(len(first), ALWAYS_TRAINING, dtype=np.intp)
    folds[dealt] = np.arange(dealt.size) % n_folds
    return folds[record_of_row]


def _dealt_groups(codes: Codes, groups: Codes, n_folds: int, random_state: int) -> Codes:
    folds = deal_groups(groups, n_folds, np.random.default_rng(random_state), codes)
    together = [np.flatnonzero(codes == each) for each in np.unique(codes)]
    kept = [rows for rows in together if (folds[rows] == folds[rows[0]]).all()]
    if kept:
        folds[np.isin(groups, groups[np.concatenate(kept)])] = ALWAYS_TRAINING
    if (folds == ALWAYS_TRAINING).all():
        raise ValueError(f"cross-validation needs a class in two groups, found none in {len(codes)} rows")
    return folds


def splits(folds: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield (training rows, held-back rows) for each fold that holds a row back."""
    for fold in np.unique(folds[folds != ALWAYS_TRAINING]):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
