"""Paired differences of one group's users between two models: intervals, one-sided tests and what they could show.

Where users differ, the bootstrap-t: quantiles of (mean* − mean) / standard error* over resamples of users, each tail by
itself (Hall 1988; Efron and Tibshirani 1993, Section 12.5). A resample of users who are all alike has no standard error
and counts as beyond any limit on both sides.

Where nearly all users change alike, resampling tells nothing about losses that nobody in the sample suffers. If no user
can lose more than an amount L, the count of losers still does:

    loss, mean ≤ −ε     a share of at least ε / L loses something: the binomial distribution (Clopper and Pearson 1934)
    gain, mean ≤ c      exp(−n KL(m̂, m)) with m̂, m = mean and c as shares of [−L, L] (Hoeffding 1963, Theorem 1)

L is the largest change that the utility allows; for losses, where a few users do change, at most twice the largest
change that was seen [ours]. Both are far from sharp where users differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from accordant.arrays import Values
from accordant.statistics import resample_counts

BLOCK = 1_000_000  # counts held at a time (8 MB)
FLAT = 1e-12  # a spread below this share of the values is rounding
MOST_ALIKE = 1e-3  # share of resamples of users all alike above which the bootstrap says too little


@dataclass(frozen=True, eq=False)
class PairedDifference:
    """The mean difference of a group's users, and how it varies.

    Attributes
    ----------
    n_users
        Users of the group.
    mean, error
        Mean difference and its standard error; NaN without users.
    drawn
        Sorted studentised deviations on resamples, −∞ and ∞ for resamples of users all alike; empty where counts of
        losers and gainers are used instead.
    losers, gainers
        Users with a negative and with a positive difference.
    largest
        What a user can gain or lose at most; ∞ if that has no limit.
    largest_loss
        The same where losers are counted, by the bounds at the head of this module.
    remark
        Why resamples of users say nothing, else empty.
    """

    n_users: int
    mean: float
    error: float
    drawn: Values
    losers: int
    gainers: int
    largest: float
    largest_loss: float
    remark: str

    @property
    def resampled(self) -> bool:
        """Whether tests rest on resamples of users."""
        return len(self.drawn) > 0

    def p_above(self, border: float) -> float:
        """Return the p-value of a mean at or below a border, small if the mean is above it."""
        if not self.resampled:
            return self._p_exact_above(border)
        count = len(self.drawn) - np.searchsorted(self.drawn, (self.mean - border) / self.error, side="left")
        return float((1 + count) / (1 + len(self.drawn) - self._n_alike))

    def p_below(self, border: float) -> float:
        """Return the p-value of a mean at or above a border, small if the mean is below it."""
        if not self.resampled:
            return self._p_bounded(-self.mean, -border)
        count = np.searchsorted(self.drawn, (self.mean - border) / self.error, side="right")
        return float((1 + count) / (1 + len(self.drawn) - self._n_alike))

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of the mean whose tails have equal probability; infinite if the users do not tell."""
        tail = (1.0 - level) / 2.0
        if not self.n_users:
            return -math.inf, math.inf
        if not self.resampled:
            low, high = (-_most(self.losers, self.n_users, tail), _most(self.gainers, self.n_users, tail))
            return self.largest_loss * low, self.largest_loss * high
        return self.mean - self.critical(tail) * self.error, self.mean + self._critical_below(tail) * self.error

    def critical(self, size: float) -> float:
        """Return what (mean − border) / standard error must exceed for a p-value of a size; ∞ if nothing can."""
        return _beyond(self.drawn[::-1], size, self._n_alike)

    def chance_above(self, true: float, border: float, size: float) -> float:
        """Return the probability that a mean is found above a border, if it is, by a p-value of at most a size.

        Normal differences with the standard error seen: the standard error of another sample varies too, so that
        (Z + (true − border) / error) / S > c with S² near N(1, 2 / (n − 1)).

        Parameters
        ----------
        true
            True mean.
        border, size
            Of the test.
        """
        if not self.resampled:
            return float(self._as_if(true).p_above(border) <= size)
        critical = self.critical(size)
        if not math.isfinite(critical):
            return 0.0
        return NormalDist().cdf(((true - border) / self.error - critical) / self._widening(critical))

    def least_true(self, border: float, size: float, chance: float) -> float:
        """Return the true mean that is found above a border with a probability; ∞ if resamples say nothing."""
        critical = self.critical(size) if self.resampled else math.inf
        if not math.isfinite(critical):
            return math.inf
        return border + self.error * (critical + self._widening(critical) * NormalDist().inv_cdf(chance))

    def _widening(self, critical: float) -> float:
        """Return √(1 + c² / (2 (n − 1))): how the standard error's own chance spreads the studentised mean."""
        return math.sqrt(1.0 + critical**2 / (2.0 * (self.n_users - 1)))

    @property
    def _n_alike(self) -> int:
        """Number of resamples of users all alike; they stand at both ends."""
        return int(np.isposinf(self.drawn).sum())

    def _critical_below(self, size: float) -> float:
        return _beyond(-self.drawn, size, self._n_alike)

    def _as_if(self, mean: float) -> PairedDifference:
        """Return the same group with another mean, all users alike."""
        return replace(self, mean=mean, error=0.0)

    def _p_exact_above(self, border: float) -> float:
        if not self.n_users or not math.isfinite(self.largest):
            return 1.0
        if border >= 0:
            return self._p_bounded(self.mean, border)
        from scipy import stats

        return float(stats.binom.cdf(self.losers, self.n_users, min(1.0, -border / self.largest_loss)))

    def _p_bounded(self, mean: float, border: float) -> float:
        """Return Hoeffding's bound of a mean as high as that seen if the true one is at most a border."""
        if not self.n_users or not math.isfinite(self.largest) or mean <= border:
            return 1.0
        seen, most = ((number + self.largest) / (2 * self.largest) for number in (mean, border))
        divergence = seen * math.log(seen / most) if seen > 0 else 0.0
        divergence += (1 - seen) * math.log((1 - seen) / (1 - most)) if seen < 1 else 0.0
        return math.exp(-self.n_users * divergence)


def paired_differences(
    differences: Values, sizes: Sequence[float], largest: float, resamples: int, generator: np.random.Generator
) -> list[PairedDifference]:
    """Return what one group's users say about several candidates, all on the same resamples of users.

    Parameters
    ----------
    differences
        Candidate less reference, shape (user, candidate).
    sizes
        Of the values behind each column, which say what is rounding, shape (candidate,).
    largest
        What a user can gain or lose at most; ∞ for no limit.
    resamples
        At least 1.
    generator
        Source of randomness.
    """
    n, n_candidates = differences.shape
    if n == 0:
        empty = PairedDifference(0, math.nan, math.nan, np.empty(0), 0, 0, largest, largest, "no users")
        return [empty] * n_candidates
    means, errors = differences.mean(axis=0), differences.std(axis=0) / math.sqrt(n)
    varies = np.ptp(differences, axis=0) > FLAT * np.asarray(sizes)
    drawn = np.zeros((resamples, n_candidates))
    if n > 1 and varies.any():
        drawn = _studentised(differences - means, resamples, generator)
    of_candidates = []
    for k in range(n_candidates):
        column, least, alike = differences[:, k], FLAT * sizes[k], np.isnan(drawn[:, k])
        ends = np.full(int(alike.sum()), np.inf)
        ordered, largest_loss, remark = np.empty(0), largest, ""
        if n == 1:
            remark = "one user"
        elif not varies[k]:
            remark = "the same difference for every user: nothing to resample"
        elif alike.mean() > MOST_ALIKE:
            remark = "too few different users to resample"
            largest_loss = min(largest, 2.0 * float(np.abs(column).max()))
        else:
            ordered = np.concatenate([-ends, np.sort(drawn[~alike, k]), ends])
        of_candidates.append(
            PairedDifference(
                n, float(means[k]), float(errors[k]), ordered, int((column < -least).sum()),
                int((column > least).sum()), largest, largest_loss if math.isfinite(largest) else math.inf, remark,
            )
        )  # fmt: skip
    return of_candidates


def _studentised(centred: Values, resamples: int, generator: np.random.Generator) -> Values:
    """Return mean / standard error on resamples of centred differences; NaN where all users are alike."""
    n, n_candidates = centred.shape
    least = FLAT * centred.var(axis=0)
    step = max(1, BLOCK // n)
    ratios = np.empty((resamples, n_candidates))
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        drawn = resample_counts(n, stop - start, generator).astype(np.float64)
        means = drawn @ centred / n
        variances = drawn @ centred**2 / n - means**2
        flat = variances <= least
        ratios[start:stop] = np.where(flat, np.nan, means / np.sqrt(np.where(flat, 1.0, variances) / n))
    return ratios


def _beyond(descending: Values, size: float, n_alike: int) -> float:
    """Return the least value whose p-value is at most a size, from values in descending order; ∞ if there is none."""
    most = math.floor(size * (1 + len(descending) - n_alike) + 1e-9) - 1  # resampled values at or beyond it
    return float(descending[most]) if 0 <= most < len(descending) else math.inf


def _most(count: int, n: int, tail: float) -> float:
    """Return the upper limit of a share (Clopper and Pearson 1934)."""
    from scipy import stats

    return 1.0 if count >= n else float(stats.beta.ppf(1.0 - tail, count + 1, n - count))
