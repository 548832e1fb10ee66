"""What is believed about the coefficients of a linear reward: a normal distribution, perhaps times a scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.checks import numbers, share

SYMMETRIC = 1e-8  # relative difference of mirrored entries that rounding explains
SHRINK = 0.1  # towards equal variances: enough to be invertible when users are fewer than features


@dataclass(frozen=True)
class ScalePrior:
    """How much steeper or flatter somebody's answers may be than the prior of the coefficients says.

    The coefficients of a person are s times a draw of that prior. Answers of people with weak preferences are close to
    coin flips; taken for those of somebody with strong preferences they would seem to settle every decision. log s is
    uniform between two ends: any order of magnitude between them is as likely as another.

    Parameters
    ----------
    low, high
        Smallest and largest factor s, above 0, low < high.

    Raises
    ------
    InputError
        If an end is out of range.
    """

    low: float = 0.05
    high: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < np.inf:
            raise InputError(f"scale goes from {self.low} to {self.high}; allowed: above 0, the first below the second")

    def scales(self, standard: Values) -> Values:
        """Return factors of standard normal numbers, which makes them log-uniform; any shape."""
        return np.asarray(self.low * (self.high / self.low) ** ndtr(standard))

    def standard(self, share: float) -> float:
        """Return the standard normal number whose factor lies at a share of the way from low to high, in (0, 1)."""
        return float(ndtri(share))


@dataclass(frozen=True, eq=False)
class NormalBelief:
    """Coefficients θ ~ N(mean, covariance), in units in which a margin of 1 makes an item e times as likely chosen.

    Parameters
    ----------
    mean
        Shape (feature,), finite, at least one feature.
    covariance
        Shape (feature, feature), symmetric and positive definite.

    Raises
    ------
    InputError
        If a shape differs, a number is not finite, or the covariance is not symmetric and positive definite.
    """

    kind: ClassVar[str] = "belief"

    mean: Values
    covariance: Values

    def __post_init__(self) -> None:
        mean = numbers(f"mean of the {self.kind}", self.mean, "feature")
        covariance = np.asarray(self.covariance, dtype=np.float64)
        if covariance.shape != (len(mean), len(mean)) or not np.isfinite(covariance).all() or len(mean) == 0:
            raise InputError(
                f"covariance of the {self.kind} has shape {covariance.shape}; allowed: finite numbers of shape "
                f"({len(mean)}, {len(mean)}), at least one feature"
            )
        if np.abs(covariance - covariance.T).max() > SYMMETRIC * np.abs(covariance).max():
            raise InputError(f"covariance of the {self.kind} is not symmetric")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)
        assert self.root.shape == covariance.shape  # computed now, so that a singular covariance is refused now

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.mean)

    @cached_property
    def root(self) -> Values:
        """Lower triangular L with L Lᵀ = covariance, shape (feature, feature)."""
        try:
            return np.asarray(np.linalg.cholesky(self.covariance))
        except np.linalg.LinAlgError:
            raise InputError(
                f"covariance of the {self.kind} is not positive definite; add a small variance to every feature"
            ) from None


class NormalPrior(NormalBelief):
    """What is believed of somebody who has not answered yet: θ ~ N(mean, covariance), see `NormalBelief`.

    Coefficients are in units in which a margin of 1 makes an item e times as likely chosen.
    """

    kind = "prior"

    @classmethod
    def isotropic(cls, n_features: int, variance: float = 1.0) -> Self:
        """Return N(0, variance · I): nothing is known but how large coefficients may be.

        Parameters
        ----------
        n_features
            At least 1.
        variance
            Above 0.
        """
        if n_features < 1 or not 0 < variance < np.inf:
            raise InputError(f"n_features is {n_features} and variance {variance}; allowed: at least 1, above 0")
        return cls(np.zeros(n_features), variance * np.eye(n_features))

    @classmethod
    def of_population(cls, coefficients: Any, shrink: float = SHRINK) -> Self:
        """Return the mean and covariance of other users' rewards.

        The covariance is (1 − shrink) S + shrink · (tr S / d) I with the sample covariance S (the form of Ledoit and
        Wolf 2004, with a chosen instead of an estimated weight). Fitted rewards also differ by their errors of
        estimation, so this prior is rather too wide than too narrow, unless they were fitted with a strong ridge.

        Parameters
        ----------
        coefficients
            One row per user, shape (user, feature), finite; at least two users.
        shrink
            Above 0, at most 1.
        """
        rows = np.asarray(coefficients, dtype=np.float64)
        if rows.ndim != 2 or len(rows) < 2 or rows.shape[1] == 0 or not np.isfinite(rows).all():
            raise InputError(
                f"coefficients of the population have shape {rows.shape}; allowed: finite numbers of shape "
                "(user, feature), at least 2 users"
            )
        weight, n_features = share("shrink", shrink), rows.shape[1]
        sample = np.atleast_2d(np.cov(rows, rowvar=False))
        level = np.trace(sample) / n_features
        return cls(rows.mean(axis=0), (1 - weight) * sample + weight * level * np.eye(n_features))

    def scaled(self, factor: float) -> NormalPrior:
        """Return the prior of coefficients that are larger by a factor, above 0."""
        return NormalPrior(factor * self.mean, factor**2 * self.covariance)
