"""What can be ruled out where profiles are too many to go through: by standing majorities and bounds on points."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Mask, Values
from accordant.certificates.ballots.patterns import Patterns
from accordant.certificates.reports import Reports

ROUNDING = 1e-9  # of all weight: what is ahead by less may be level
MAJORITY = ("plurality", "random_dictatorship", "instant_runoff", "coombs", "bucklin")
CONDORCET = ("copeland", "minimax", "ranked_pairs", "schulze", "kemeny", "maximal_lotteries")


def not_bounded(name: str, weights: Values, reports: Reports, patterns: Patterns | None) -> Mask:
    """Return the actions that simple bounds do not rule out, shape (action, context).

    Whoever is certain to be the first choice of more than half of all weight wins under the rules of `MAJORITY`;
    whoever is certain to beat every other action, under those of `CONDORCET`. Under rules that add points, an action is
    ruled out if another one has more points whatever is reported.

    Parameters
    ----------
    name
        Registered name of a voting rule.
    weights
        Shape (stakeholder,).
    reports
        What may be reported.
    patterns
        All ballots, or None if there are too many.
    """
    left = np.ones((reports.n_actions, reports.n_contexts), dtype=bool)
    if name in MAJORITY + CONDORCET:
        wins = _certain_winners(name, weights, reports)
        left &= wins | ~wins.any(axis=0)
    if patterns is not None:
        points = _points(name, patterns)
        if points is not None:
            left &= ~_find_outscored(points, weights, reports, patterns)
    return left


def _certain_winners(name: str, weights: Values, reports: Reports) -> Mask:
    """Return who has a majority of first places, or beats every other action, whatever is reported."""
    low, high, tolerance = reports.lowest, reports.highest, reports.honest.tolerance
    wins = np.ones((reports.n_actions, reports.n_contexts), dtype=bool)
    for a in range(reports.n_actions):
        above = low[:, [a]] - high > tolerance
        above[:, a] = True
        if name in MAJORITY:
            wins[a] = weights @ above.all(axis=1) > (0.5 + ROUNDING) * weights.sum()
            continue
        still = (low[:, [a]] == high[:, [a]]) & (low == high) & (np.abs(low[:, [a]] - low) <= tolerance)
        margins = np.tensordot(weights, np.where(above, 1.0, np.where(still, 0.0, -1.0)), axes=1)
        wins[a] = (margins > ROUNDING * weights.sum()).all(axis=0)
    return wins


def _points(name: str, patterns: Patterns) -> Values | None:
    """Return what each ballot adds to each action, shape (pattern, action); None if points are not added."""
    ranks = patterns.ranks.astype(np.int64)
    if name == "approval" and patterns.approvals is not None:
        return patterns.approvals.astype(np.float64)
    if name in ("plurality", "random_dictatorship"):
        firsts = ranks == ranks.min(axis=1, keepdims=True)
        return np.asarray(firsts / firsts.sum(axis=1, keepdims=True))
    if name == "anti_plurality":
        lasts = ranks == ranks.max(axis=1, keepdims=True)
        return np.asarray(lasts / -lasts.sum(axis=1, keepdims=True))
    if name == "borda":
        return np.asarray(np.sign(ranks[:, None, :] - ranks[:, :, None]).sum(axis=2) / 2)
    return None


def _find_outscored(points: Values, weights: Values, reports: Reports, patterns: Patterns) -> Mask:
    """Return the actions that have fewer points than some other one whatever is reported, shape (action, context)."""
    leads = np.zeros((reports.n_actions, reports.n_actions, reports.n_contexts))
    tolerance = reports.honest.tolerance
    honest = patterns.of(reports.honest.values, tolerance)
    ahead = points[:, :, None] - points[:, None, :]
    for i in np.flatnonzero(weights > 0):
        if not reports.members[i]:
            leads += weights[i] * np.moveaxis(ahead[honest[i]], 0, -1)
            continue
        allowed = patterns.allowed(reports.lowest[[i]], reports.highest[[i]], tolerance)[0] > 0
        allowed[honest[i], np.arange(reports.n_contexts)] = True
        for a in range(reports.n_actions):
            for b in range(reports.n_actions):
                leads[a, b] += weights[i] * np.where(allowed, ahead[:, a, b, None], -np.inf).max(axis=0)
    return np.asarray((leads < -ROUNDING * weights.sum()).any(axis=1))
