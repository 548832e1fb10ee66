"""How good probabilities are: the Brier score, its error, and two views of calibration.

Pure array functions. Everywhere

* ``probabilities`` is (n, k): row t holds the predicted probability of each of k classes, and sums to 1;
* ``codes`` is (n,): the column of the class that happened in row t.

The Brier score is used in its original form, the *sum* over classes, in [0, 2] (Brier, 1950, "Verification
of forecasts expressed in terms of probability", Monthly Weather Review 78, eq. 2). For two classes it is
twice the one-column form that is also called Brier score; for k classes it is what
``sklearn.metrics.brier_score_loss(..., scale_by_half=False)`` returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.statistics import standard_error

ROW_SUM_TOLERANCE = 1e-9
"""How far a row of probabilities may sum from 1."""


@dataclass(frozen=True)
class MeanWithError:
    """A mean over rows, the standard error of that mean, and the number of rows."""

    value: float
    standard_error: float
    n: int


@dataclass(frozen=True)
class ClassCalibration:
    """Whether a class happens as often as predicted (calibration in the large).

    `mean_predicted` and `base_rate` are in [0, 1]; `standard_error` is that of their difference if every
    predicted probability were right.
    """

    mean_predicted: float
    base_rate: float
    standard_error: float

    def within(self, standard_errors: float = 3.0) -> bool:
        """Return whether prediction and base rate differ by at most so many standard errors."""
        return abs(self.mean_predicted - self.base_rate) <= standard_errors * self.standard_error + 1e-12


def class_codes(y: ArrayLike, classes: ArrayLike) -> Codes:
    """Return the column of each label of `y` (n,) in `classes` (k,), which may be in any order.

    Raises
    ------
    InputError
        If `classes` repeats a label, or a label of `y` is not among `classes`; the message names it.
    """
    labels, declared = np.asarray(y), np.asarray(classes)
    order = np.argsort(declared, kind="stable")
    ordered = declared[order]
    if np.any(ordered[1:] == ordered[:-1]):
        raise InputError(f"classes are declared twice: {declared.tolist()}")
    position = np.searchsorted(ordered, labels).clip(0, len(ordered) - 1)
    unknown = ordered[position] != labels
    if np.any(unknown):
        raise InputError(f"unknown classes {np.unique(labels[unknown]).tolist()}; declared: {declared.tolist()}")
    codes: Codes = order[position].astype(np.intp)
    return codes


def brier_contributions(probabilities: ArrayLike, codes: ArrayLike) -> Values:
    """Return each row's sum_o (p_o - 1[y = o])^2, (n,), each in [0, 2] (Brier, 1950).

    Raises
    ------
    InputError
        If shapes disagree, a probability is outside [0, 1] or NaN, or a row does not sum to 1 within 1e-9.
    """
    p, happened = _checked(probabilities, codes)
    residual = p.copy()
    residual[np.arange(len(p)), happened] -= 1.0
    contributions: Values = np.einsum("to,to->t", residual, residual)
    return contributions


def mean_with_error(contributions: ArrayLike, groups: Codes | None = None) -> MeanWithError:
    """Return the mean of per-row values (n,) and its standard error s / sqrt(n); the error is 0 for one row.

    Give it Brier contributions for a score, or the row-wise difference of two models' contributions for a
    *paired* comparison. Rows are taken as independent unless they have groups (n,): then the error is that of whole
    groups (`accordant.statistics.standard_error`), NaN for one group. Cross-validated predictions of one fold share a
    training set, so the error is a little too small there (Bengio and Grandvalet, 2004).
    """
    values = np.asarray(contributions, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise InputError(f"expected one value per row and at least one row, found shape {values.shape}")
    error = float(standard_error(values, groups)) if values.size > 1 else 0.0
    return MeanWithError(float(values.mean()), error, int(values.size))


def expected_calibration_error(probabilities: ArrayLike, codes: ArrayLike, *, n_bins: int = 10) -> float:
    """Return the classwise expected calibration error, in [0, 1], smaller is better.

    Mean over classes o of sum_b (n_b / n) |mean p_o in bin b - share of class o in bin b|, with n_b the rows
    of bin b (Kull et al., 2019, "Beyond temperature scaling", eq. 3). All classes count, because an expected
    reward uses every class's probability, not only the largest. Bins hold equally many rows where
    probabilities differ, so that narrow ranges of probabilities, usual for rare outcomes, are still seen;
    equal probabilities always share a bin. The estimate is biased upwards by a bin's sampling error.
    """
    if n_bins < 1:
        raise InputError(f"n_bins must be at least 1, found {n_bins}")
    p, happened = _checked(probabilities, codes)
    errors = [_binned_gap(p[:, o], happened == o, n_bins) for o in range(p.shape[1])]
    return float(np.mean(errors))


def calibration_in_the_large(
    probabilities: ArrayLike, codes: ArrayLike, groups: Codes | None = None
) -> tuple[ClassCalibration, ...]:
    """Compare, per class, the mean predicted probability with the share of rows in which the class happened.

    If the predictions are right, the number of rows with class o has mean sum_t p_to and variance
    sum_t p_to (1 - p_to); the standard error is the root of that variance over n (Poisson's binomial
    distribution; as a test of forecasts: Spiegelhalter, 1986, Statistics in Medicine 5). It does not
    vanish when a rare class happens not to occur in these rows. Where rows have groups (n,) it is at least that of
    whole groups (`accordant.statistics.standard_error`).
    """
    p, happened = _checked(probabilities, codes)
    n, k = p.shape
    rates = np.bincount(happened, minlength=k) / n
    errors = np.sqrt((p * (1.0 - p)).sum(axis=0)) / n
    if groups is not None:
        errors = np.fmax(errors, standard_error(((happened[:, None] == np.arange(k)) - p).T, groups))
    return tuple(
        ClassCalibration(float(mean), float(rate), float(error))
        for mean, rate, error in zip(p.mean(axis=0), rates, errors, strict=True)
    )


def _binned_gap(p: Values, happened: NDArray[np.bool_], n_bins: int) -> float:
    edges = np.unique(np.quantile(p, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    bins = np.searchsorted(edges, p, side="right")
    # |sum p - sum happened| / n equals (n_b / n) |mean p - share|: the bin sizes cancel.
    gaps = np.bincount(bins, weights=p - happened)
    return float(np.abs(gaps).sum() / len(p))


def _checked(probabilities: ArrayLike, codes: ArrayLike) -> tuple[Values, Codes]:
    p = np.asarray(probabilities, dtype=np.float64)
    happened: NDArray[Any] = np.asarray(codes)
    if p.ndim != 2 or 0 in p.shape:
        raise InputError(f"probabilities must be (rows, classes) and not empty, found shape {p.shape}")
    if happened.shape != p.shape[:1] or happened.dtype.kind not in "iu":
        raise InputError(f"codes must be {p.shape[0]} integers, found shape {happened.shape} of {happened.dtype}")
    if happened.min() < 0 or happened.max() >= p.shape[1]:
        raise InputError(f"codes must lie in 0..{p.shape[1] - 1}, found {happened.min()}..{happened.max()}")
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise InputError("probabilities must lie in [0, 1] and not be NaN")
    if np.abs(p.sum(axis=1) - 1.0).max() > ROW_SUM_TOLERANCE:
        raise InputError("each row of probabilities must sum to 1 within 1e-9")
    return p, happened.astype(np.intp)
