"""Maximal lotteries: the draw that no other draw beats by expected margin (Kreweras 1965, Fishburn 1984)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.strategies.strategy import register
from accordant.voting.rules.rule import LotteryRule, MarginRule
from accordant.voting.rules.tally import condorcet_winners

MOST_BY_SUPPORT = 8  # alternatives up to which supports are tried one after the other
NEGLIGIBLE = 1e-10  # a probability below this is rounding
UNBEATEN = 1e-9  # an alternative that beats the lottery by less, relative to the largest margin, does so by rounding


def maximal_lotteries_probabilities(margins: Values) -> Values:
    """Return a maximal lottery, shape (alternative, context).

    A lottery p is maximal if Σ_a p_a margin(a, b) ≥ 0 for every b: it is an optimal strategy of the symmetric zero-sum
    game of the margins. A Condorcet winner has probability 1. Where several lotteries are maximal, which needs a margin
    of 0 or other coincidences, this is the one with the least Σ_a p_a², the closest to drawing uniformly: it is unique,
    and treats alternatives alike that the margins treat alike.
    """
    probabilities = condorcet_winners(margins).astype(np.float64)
    rest = np.flatnonzero(probabilities.sum(axis=0) == 0)
    if not len(rest):
        return probabilities
    above = np.triu_indices(len(margins), 1)
    _, kept, where = np.unique(margins[above][:, rest], axis=1, return_index=True, return_inverse=True)
    distinct = np.ascontiguousarray(margins[:, :, rest[kept]])
    lotteries, certain = _by_support(distinct)
    for game in np.flatnonzero(~certain):
        lotteries[:, game] = _closest_to_uniform(distinct[:, :, game])
    probabilities[:, rest] = lotteries[:, where.reshape(-1)]
    return probabilities


def _by_support(margins: Values) -> tuple[Values, Mask]:
    """Return lotteries, shape (alternative, game), and which of them are maximal for certain, and the only ones.

    The one solution of Σ_a p_a margin(a, b) = 0 on a support of odd size is a vector of Pfaffians of the margins
    (Kaplansky 1995). If all are positive, and the lottery beats whatever is outside, it is the only maximal one. With
    odd margins there always is such a support (Laffond, Laslier and Le Breton 1997).
    """
    n_alternatives, _, n_games = margins.shape
    lotteries, certain = np.zeros((n_alternatives, n_games)), np.zeros(n_games, dtype=bool)
    if n_alternatives > MOST_BY_SUPPORT:
        return lotteries, certain
    pfaffians = {0: np.ones(n_games)}
    for subset in range(1, 1 << n_alternatives):
        members = [a for a in range(n_alternatives) if subset >> a & 1]
        if len(members) % 2 == 0:
            first = members[0]
            pfaffians[subset] = np.sum(
                [
                    (-1) ** k * margins[first, other] * pfaffians[subset ^ 1 << first ^ 1 << other]
                    for k, other in enumerate(members[1:])
                ],
                axis=0,
            )
        else:
            candidate = np.zeros((n_alternatives, n_games))
            for k, a in enumerate(members):
                candidate[a] = (-1) ** k * pfaffians[subset ^ 1 << a]
            candidate *= np.sign(candidate[members[0]])
            outside = [b for b in range(n_alternatives) if b not in members]
            gains = np.einsum("ag,abg->bg", candidate, margins[:, outside])
            sure = ~certain & (candidate[members] > 0).all(axis=0) & (gains > 0).all(axis=0)
            lotteries[:, sure] = candidate[:, sure] / candidate[:, sure].sum(axis=0)
            certain |= sure
    return lotteries, certain


def _closest_to_uniform(margins: Values) -> Values:
    """Return the maximal lottery with the least sum of squares, shape (alternative,).

    Least distance programming, min |p| subject to G p ≥ h, by non-negative least squares (Lawson and Hanson 1974,
    chapter 23). The constraints p ≥ 0 and p' margins ≥ 0 are a cone, so Σ p ≥ 1 is as good as Σ p = 1. Solvers fail on
    some degenerate games without a word, so a lottery is only believed if no alternative beats it; the last resort is
    any maximal lottery.
    """
    from scipy.optimize import lsq_linear, nnls

    n = len(margins)
    margins = margins / max(1.0, np.abs(margins).max())
    constraints = np.vstack([np.eye(n), margins.T, np.ones(n)])
    bounds = np.append(np.zeros(2 * n), 1.0)
    system, target = np.vstack([constraints.T, bounds]), np.append(np.zeros(n), 1.0)
    solvers: tuple[Callable[[], Values], ...] = (
        lambda: nnls(system, target, maxiter=100 * len(bounds))[0],
        lambda: lsq_linear(system, target, bounds=(0, np.inf), method="bvls", tol=1e-15).x,
    )
    for solver in solvers:
        with np.errstate(divide="ignore", invalid="ignore"):
            residual = system @ solver() - target
            lottery = _normalise(-residual[:n] / residual[n])
        if (lottery @ margins >= -UNBEATEN).all():
            return lottery
    return _any_maximal(margins)


def _any_maximal(margins: Values) -> Values:
    """Return a maximal lottery by linear programming: maximise v subject to p' margins ≥ v (von Neumann 1928)."""
    from scipy.optimize import linprog

    n = len(margins)
    solution = linprog(
        np.append(np.zeros(n), -1.0), np.hstack([-margins.T, np.ones((n, 1))]), np.zeros(n),
        np.append(np.ones(n), 0.0)[None], [1.0], [*[(0.0, None)] * n, (None, None)],
    )  # fmt: skip
    return _normalise(solution.x[:n])


def _normalise(lottery: Values) -> Values:
    kept = np.where(lottery < NEGLIGIBLE, 0.0, lottery)
    return np.asarray(kept / kept.sum())


@register("maximal_lotteries")
@dataclass(frozen=True)
class MaximalLotteries(LotteryRule, MarginRule):
    """Draw from the lottery that no other lottery beats by expected margin. Scores are probabilities."""

    formula = staticmethod(maximal_lotteries_probabilities)
