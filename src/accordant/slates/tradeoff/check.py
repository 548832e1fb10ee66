"""The check whether diversity costs accuracy, or only seems to because all that is shown is taken as consumed.

Peng, Raghavan, Pierson, Kleinberg and Garg (2024, arXiv 2307.15142) show that lists which are best for a user who takes
only a few items are diverse, so that a trade-off measured over the whole list may be an artefact. Whether it is one on
given data is a question that data can answer; how it is asked here is ours:

1. A path of lists, from the most accurate to the most diverse: maximal marginal relevance with a falling balance.
2. Each list under two readings: accuracy if **all** is consumed, the mean over the list; and if the **best** k_c are
   consumed, the mean over those (0 for missing ones).
3. Differences to the most accurate list, with intervals over users that hold for all points and readings together.
4. A verdict by the rules of `accordant.slates.tradeoff.verdicts`, if there are users and resamples enough for one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.market import Served
from accordant.slates.rule import check_places
from accordant.slates.rules.diversity import MaximalMarginalRelevance, types_of, wanted_types
from accordant.slates.slates import NOTHING, Slates
from accordant.slates.tradeoff.verdicts import (
    Change,
    Effect,
    LoggedOutcomes,
    Outcomes,
    PathPoint,
    PooledGamma,
    Verdict,
    pooled_gamma,
    real_from,
    too_few,
    verdict_of,
)
from accordant.statistics import percentile_interval
from accordant.utilities import ExpectedRewards

# of the path; relevance is scaled to at most 1 for each request, so below a half every list is as diverse as can be
BALANCES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.45)
MARGIN = 0.005  # half a percentage point of accuracy [ours]
RESAMPLES = 1000  # 1.6 of them lie beyond an end of the intervals of BALANCES at LEVEL
LEVEL = 0.95


@dataclass(frozen=True)
class TradeoffCheck:
    """The path, and what it shows.

    Attributes
    ----------
    verdict
        See `accordant.slates.tradeoff.verdicts`.
    reason
        One sentence with the numbers that decide.
    real_from
        Mean number of categories of the least diverse point at which reading ``best`` loses more than the margin; None
        if there is none.
    points
        From the most accurate to the most diverse.
    length, consumed
        Places k and items consumed k_c.
    margin, level, resamples
        Of the intervals. With too few resamples or users the verdict is ``undecided``, and every effect ``unclear``.
    n_requests, n_users
        Requests with something to judge by, and whose they are.
    """

    verdict: Verdict
    reason: str
    real_from: float | None
    points: tuple[PathPoint, ...]
    length: int
    consumed: int
    margin: float
    level: float
    resamples: int
    n_requests: int
    n_users: int


def check_tradeoff(
    relevance: Values,
    categories: NDArray[np.intp],
    outcomes: Outcomes,
    users: Sequence[str],
    *,
    length: int,
    consumed: int,
    available: NDArray[np.bool_] | None = None,
    balances: Sequence[float] = BALANCES,
    margin: float = MARGIN,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> TradeoffCheck:
    """Return whether an accuracy–diversity trade-off on given data is real or an artefact of consumption.

    Parameters
    ----------
    relevance
        Predicted, by which lists are made, in [0, 1], shape (item, request); not what they are judged by.
    categories
        Codes of items, −1 for none, shape (item,).
    outcomes
        What lists are judged by: `LoggedOutcomes` or `ModelledOutcomes`.
    users
        Who asks, shape (request,); requests of one user are resampled together.
    length, consumed
        k and k_c, with 1 ≤ k_c ≤ k.
    available
        Shape (item, request); None for all.
    balances
        Falling, the first of them the most accurate lists.
    margin, level, resamples, seed
        Of the intervals.

    Raises
    ------
    InputError
        If shapes or numbers do not fit.
    """
    check_places(length)
    _check(relevance, categories, users, consumed, length, balances, margin, level, resamples)
    candidates = _candidates(relevance, categories, available)
    judged = outcomes.judged
    if not judged.any():
        raise InputError("no request has an outcome to judge a list by")
    types = types_of(categories)
    wanted = wanted_types(relevance, candidates.available, types)
    paths = [MaximalMarginalRelevance(balance)(candidates, length, threads=1) for balance in balances]
    counts = [_counts(slates, types) for slates in paths]
    columns = np.stack([
        [*outcomes.accuracies(slates, consumed), (count > 0).sum(axis=0), _entropy(count)]
        for slates, count in zip(paths, counts, strict=True)
    ])[:, :, judged]  # fmt: skip
    who = np.asarray(users)[judged]
    names, codes = np.unique(who, return_inverse=True)
    means, drawn = _resampled(columns, codes, len(names), resamples, seed)
    gammas = [pooled_gamma(wanted[:, judged], count[:, judged]) for count in counts]
    tail = (1.0 - level) / 2 / (2 * (len(balances) - 1))  # Bonferroni's, for two readings of all points but the first
    lack = too_few(len(names), resamples, tail)
    points = _points(balances, means, drawn, gammas, margin, tail, clear=lack is None)
    verdict, reason = verdict_of(points, consumed, margin)
    if lack is not None:
        verdict, reason = "undecided", lack
    return TradeoffCheck(
        verdict, reason, real_from(points), points, length, consumed, margin, level, resamples,
        int(judged.sum()), len(names),
    )  # fmt: skip


def check_served(
    served: Served,
    *,
    consumed: int,
    margin: float = MARGIN,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> TradeoffCheck:
    """Return the check for the requests that were served, judged by what was really consumed afterwards.

    Parameters
    ----------
    served
        With targets; only its requests and candidates are read, for lists are made anew.
    consumed
        k_c.
    margin, level, resamples, seed
        As in `check_tradeoff`.

    Raises
    ------
    InputError
        If nobody knows what was consumed.
    """
    if served.targets is None:
        raise InputError("nobody knows what was consumed afterwards; use check_tradeoff with ModelledOutcomes")
    relevance = np.concatenate([batch.relevance for batch in served.market.batches], axis=1)
    return check_tradeoff(
        relevance, served.candidates.categories, LoggedOutcomes(served.targets), served.users,
        length=served.slates.k, consumed=consumed, available=served.candidates.available,
        margin=margin, level=level, resamples=resamples, seed=seed,
    )  # fmt: skip


def _candidates(relevance: Values, categories: NDArray[np.intp], available: NDArray[np.bool_] | None) -> Candidates:
    """Return relevance as what one stakeholder wants, scaled so that the best item of each request has 1."""
    largest = relevance.max(axis=0)
    scaled = relevance / np.where(largest > 0, largest, 1.0)
    names = [str(item) for item in range(len(relevance))]
    return Candidates(ExpectedRewards(scaled[None], stakeholders=["user"], actions=names), available, None, categories)


def _counts(slates: Slates, types: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many items of each type a list has, shape (type, request)."""
    counts = np.zeros((int(types.max()) + 1, slates.n_users), dtype=np.intp)
    users, places = np.nonzero(slates.items != NOTHING)
    np.add.at(counts, (types[slates.items[users, places]], users), 1)
    return counts


def _entropy(counts: NDArray[np.intp]) -> Values:
    """Return −Σ_t s_t log s_t of the shares of types, in nats, shape (request,)."""
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    return np.asarray(-np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)), axis=0))


def _resampled(
    columns: Values, codes: NDArray[np.intp], n_users: int, resamples: int, seed: int
) -> tuple[Values, Values]:
    """Return means over requests, (point, column), and over resamples of users, (resample, point, column)."""
    sums = np.zeros((*columns.shape[:2], n_users))
    np.add.at(np.moveaxis(sums, 2, 0), codes, np.moveaxis(columns, 2, 0))
    sizes = np.bincount(codes, minlength=n_users).astype(np.float64)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(n_users, np.full(n_users, 1.0 / n_users), size=resamples).astype(np.float64)
    totals = np.tensordot(drawn, sums, axes=(1, 2))
    return sums.sum(axis=2) / sizes.sum(), totals / (drawn @ sizes)[:, None, None]


def _points(
    balances: Sequence[float],
    means: Values,
    drawn: Values,
    gammas: Sequence[PooledGamma],
    margin: float,
    tail: float,
    *,
    clear: bool,
) -> tuple[PathPoint, ...]:
    """Return the path; effects are told only if they can be clear."""
    changes = drawn[:, :, :2] - drawn[:, :1, :2]
    limits = percentile_interval(changes, 1.0 - 2 * tail)
    low, high = limits.low, limits.high

    def change(point: int, reading: int) -> Change | None:
        """Return one difference to the first point."""
        if point == 0:
            return None
        lower, upper = float(low[point, reading]), float(high[point, reading])
        effect: Effect = "unclear"
        if clear:
            effect = "costs" if upper < -margin else "holds" if lower >= -margin else "unclear"
        return Change(float(means[point, reading] - means[0, reading]), lower, upper, effect)

    return tuple(
        PathPoint(
            float(balance), float(means[p, 2]), float(means[p, 3]), float(means[p, 0]), float(means[p, 1]),
            change(p, 0), change(p, 1), gammas[p],
        )
        for p, balance in enumerate(balances)
    )  # fmt: skip


def _check(
    relevance: Values,
    categories: NDArray[np.intp],
    users: Sequence[str],
    consumed: int,
    length: int,
    balances: Sequence[float],
    margin: float,
    level: float,
    resamples: int,
) -> None:
    if relevance.ndim != 2 or relevance.shape != (len(categories), len(users)):
        raise InputError(f"relevance has shape {relevance.shape}; allowed: {(len(categories), len(users))}")
    if not 1 <= consumed <= length:
        raise InputError(f"consumed is {consumed}; allowed: from 1 to {length}, the places of a list")
    if len(balances) < 2 or any(after >= before for before, after in itertools.pairwise(balances)):
        raise InputError(f"balances are {tuple(balances)}; allowed: at least two, falling")
    if not (margin >= 0 and 0 < level < 1 and resamples >= 1):
        raise InputError(
            f"margin {margin}, level {level}, resamples {resamples}; allowed: at least 0, between 0 and 1, at least 1"
        )
