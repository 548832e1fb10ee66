"""Evidence that may be looked at after every record: what bounds false alarms bounds them over all time.

`ChangeEvidence`: an e-process against "no record changes anything". A bet multiplies a stake by a factor with mean at
most 1 if that is true; a part of the stake is put on each bet from each record on, and a reserve is kept:

    E_t = r_t + Σ_s (r_{s−1} − r_s) · mean over bets of Π_{s ≤ u ≤ t} factor_u,   r_t = log 2 / log (t + 2)

E is a supermartingale from 1, so that P(E ever reaches 1/α) ≤ α (Ville 1939). A change at record s costs the logarithm
of its stake, about log s, and not what bets lost before it. Mixtures over beginnings are those of Shiryaev and Roberts,
with stakes that sum to 1; the reserve is [ours].

`ReferenceRanks`: is a new value like those of a finite reference? Among the reference and the new values before it, all
orders are as likely if they are exchangeable, so a new value falls into each gap between reference values with
probability (1 + new values that are there) / (n + 1 + t): Pólya's urn. Its rank, spread evenly over its gap, is uniform
and independent of all ranks before it, whatever the distribution and however few reference values there are (Vovk,
Gammerman and Shafer 2005). Ties are broken at random.

`betting_limits`: limits of a mean of values in a known range, right for any number of them and any distribution. A mean
m is left out if a bet against it, 1 + g (m − value) / (most − m) or its mirror, would have won 2/α on average over some
g (Waudby-Smith and Ramdas 2024, after the last value alone). Normal limits are too narrow where many means of few rows
are compared: a rare loss that was not seen adds nothing to a variance.

`RunningMean`: a confidence sequence for the mean, over the records so far, of what each record was expected to be. The
empirical Bernstein bound of Howard, Ramdas, McAuliffe and Sekhon 2021 (theorem 4), with their stitched boundary
(equation 10): records may depend on the past, and their means may move.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from accordant.arrays import Codes, Values

FRACTIONS = (0.01, 0.03, 0.08, 0.2, 0.45, 0.8)  # g: of what a bet may lose at once
MEANS = 64  # that are tried on either side of the mean
DECIMALS = 3  # to which values are rounded, outward
EPOCH, POWER = 2.0, 1.4  # of the stitched boundary: how fast epochs grow, and how their shares of α fall


class ChangeEvidence:
    """Evidence against "nothing changes", from any number of bets, and when a change most likely began.

    Parameters
    ----------
    n_bets
        Number of bets; each gets the same share of every stake.

    Attributes
    ----------
    n
        Records so far.
    """

    def __init__(self, n_bets: int) -> None:
        self.n = 0
        self._log_wealth = np.full(n_bets, -np.inf)
        self._most = np.full(n_bets, -np.inf)  # log of what a stake of 1 came to that was put on at the best time
        self._begun: Codes = np.zeros(n_bets, dtype=np.intp)

    def add(self, log_factors: Values) -> tuple[Values, Codes, Codes]:
        """Take in records.

        Parameters
        ----------
        log_factors
            Logarithm of the factor of each bet, shape (record, bet).

        Returns
        -------
        tuple
            After each record, shape (record,): log E; the bet that would have won most from one record on; and the
            number of that record, from 0: the likeliest beginning of a change (Page 1954).
        """
        n, n_bets = log_factors.shape
        numbers = np.arange(self.n, self.n + n)
        stakes = np.log(reserve(numbers) - reserve(numbers + 1))
        total = np.cumsum(log_factors, axis=0)
        entered = stakes[:, None] - np.vstack([np.zeros(n_bets), total[:-1]])
        wealth = np.logaddexp.accumulate(np.vstack([self._log_wealth, entered]), axis=0)[1:] + total
        before = np.vstack([self._most, np.vstack([np.zeros(n_bets), -total[:-1]])])
        most = np.maximum.accumulate(before, axis=0)
        raised = np.where(most[1:] > most[:-1], numbers[:, None], -1)
        begun = np.maximum.accumulate(np.vstack([self._begun, raised]), axis=0)[1:]
        won = most[1:] + total
        if n:
            self._log_wealth, self._most, self._begun = wealth[-1], won[-1], begun[-1]
        self.n += n
        winner = won.argmax(axis=1)
        kept = np.log(reserve(numbers + 1))
        log_evidence = np.logaddexp(np.logaddexp.reduce(wealth, axis=1) - math.log(n_bets), kept)
        return log_evidence, winner, begun[np.arange(n), winner]


def reserve(n: Codes) -> Values:
    """Return the part of the stake that is on no bet after n records, 1 before the first."""
    return np.asarray(math.log(2.0) / np.log(n + 2.0))


class ReferenceRanks:
    """Ranks of new values among a finite reference and the new values before them.

    Parameters
    ----------
    reference
        Values of the reference, shape (record,); NaN comes before all numbers.
    generator
        Breaks ties, and spreads ranks over their gaps.
    """

    def __init__(self, reference: Values, generator: np.random.Generator) -> None:
        self._generator = generator
        ordered = _nan_first(reference)
        self._values = np.unique(ordered)
        self._keys = np.sort(np.searchsorted(self._values, ordered) + generator.random(len(ordered)))
        self._counts = np.ones(len(ordered) + 1, dtype=np.int64)  # of each gap; Pólya's urn begins with one in each
        self._total = len(ordered) + 1

    def __call__(self, values: Values) -> Values:
        """Return the ranks of new values in [0, 1), shape (record,); the work of a call grows with its square."""
        n = len(values)
        drawn = self._generator.random((n, 2))
        ordered = _nan_first(values)
        places = np.searchsorted(self._values, ordered)
        tied = self._values[np.minimum(places, len(self._values) - 1)] == ordered
        gaps = np.searchsorted(self._keys, places + np.where(tied, drawn[:, 0], 0.0))
        below = np.concatenate([[0], np.cumsum(self._counts)])[gaps]
        earlier = np.tri(n, k=-1, dtype=bool)
        below = below + ((gaps[None, :] < gaps[:, None]) & earlier).sum(axis=1)
        equal = self._counts[gaps] + ((gaps[None, :] == gaps[:, None]) & earlier).sum(axis=1)
        ranks = (below + drawn[:, 1] * equal) / (self._total + np.arange(n))
        self._counts += np.bincount(gaps, minlength=len(self._counts))
        self._total += n
        return np.asarray(ranks)


def _nan_first(values: Values) -> Values:
    return np.where(np.isnan(values), -np.inf, values)


class RunningMean:
    """A confidence sequence for the mean of differences between values in [0, 1] and what was forecast for them.

    Attributes
    ----------
    n
        Records so far.
    """

    def __init__(self) -> None:
        self.n = 0
        self._sum = self._variance = 0.0

    def add(self, values: Values, forecasts: Values) -> None:
        """Take in records: values and forecasts in [0, 1], shape (record,) each; a forecast is made before its value.

        What was observed is compared with the forecast moved by the mean difference before it.
        """
        differences = values - forecasts
        before = self._sum + np.concatenate([[0.0], np.cumsum(differences)])
        guess = np.clip(forecasts + before[:-1] / (self.n + 1 + np.arange(len(values))), 0.0, 1.0)
        self._variance += float(((values - guess) ** 2).sum())
        self._sum = float(before[-1])
        self.n += len(values)

    def interval(self, level: float) -> tuple[float, float, float]:
        """Return the mean difference so far with its limits; all limits together hold with probability `level`."""
        if self.n == 0:
            return math.nan, -1.0, 1.0
        mean, half = self._sum / self.n, stitched(self._variance, (1.0 - level) / 2.0) / self.n
        return mean, max(-1.0, mean - half), min(1.0, mean + half)


def stitched(variance: float, alpha: float) -> float:
    """Return a boundary that a sum with an estimated variance crosses once, ever, with probability at most α.

    u(v) = √(k₁² v ℓ + k₂² ℓ²) + k₂ ℓ,   ℓ = s log log (η v) + log (ζ(s) / (α log^s η)),   v at least 1

    with k₁ = (η^¼ + η^−¼) / √2 and k₂ = (√η + 1) / 2, for observations within 1 of their predictions.
    """
    from scipy.special import zeta

    v = max(variance, 1.0)
    length = POWER * math.log(math.log(EPOCH * v)) + math.log(float(zeta(POWER)) / (alpha * math.log(EPOCH) ** POWER))
    first, second = (EPOCH**0.25 + EPOCH**-0.25) / math.sqrt(2.0), (math.sqrt(EPOCH) + 1.0) / 2.0
    return math.sqrt(first**2 * v * length + (second * length) ** 2) + second * length


def betting_limits(
    values: Values, least: float, most: float, alphas: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    """Return limits of a mean, for each α the pair that leaves it out with probability at most α.

    Parameters
    ----------
    values
        Independent, with one mean, shape (value,), at least one.
    least, most
        Their range, least < most.
    alphas
        In (0, 1).
    """
    lows = _upper_limits(-values, -most, -least, alphas)
    highs = _upper_limits(values, least, most, alphas)
    return tuple((-low, high) for low, high in zip(lows, highs, strict=True))


def _upper_limits(values: Values, least: float, most: float, alphas: Sequence[float]) -> list[float]:
    """Return for each α the least of some means that a bet against it would have won 2/α."""
    scale = 10.0**DECIMALS / (most - least)
    rounded = np.minimum(most, least + np.ceil((values - least) * scale) / scale)
    seen, counts = np.unique(rounded, return_counts=True)
    mean = float(rounded.mean())
    if mean >= most:  # nothing above it is left to bet against
        return [most] * len(alphas)
    means = mean + (most - mean) * np.linspace(0.0, 1.0, MEANS + 1)[1:-1] ** 2  # denser near the mean
    gains = (means[:, None] - seen) / (most - means[:, None])
    won = [np.log1p(fraction * gains) @ counts for fraction in FRACTIONS]
    wealth = np.logaddexp.reduce(won, axis=0) - math.log(len(FRACTIONS))
    limits = []
    for alpha in alphas:
        against = np.flatnonzero(wealth >= math.log(2.0 / alpha))
        limits.append(float(means[against[0]]) if len(against) else most)
    return limits
