"""Weights for averaging candidates, from the probabilities that they gave to held-back rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.optimize import nnls

from accordant.arrays import Values
from accordant.statistics import standard_error

SHARE_OF_BEST = 0.5
"""What the best candidate keeps for itself; the rest goes to the fitted weights.

Fitted weights have a sampling error of their own, which on few rows can cost more than averaging gains. Half
way is not tuned: on simulated files it lost to the single best candidate half as often as fitted weights did,
and kept most of their gain.
"""

SMALLEST_WEIGHT = 0.05
"""Smaller weights are dropped: such a model hardly moves a probability but takes as long as any other."""

MOST_MODELS = 4
"""At most so many candidates are averaged, those with the largest weights, to keep prediction cheap."""


def blend_weights(
    held_back: Values, codes: NDArray[np.intp], tolerance: float, groups: NDArray[np.intp] | None = None
) -> Values:
    """Return the weight of each candidate in the average, (candidate,), >= 0 and summing to 1.

    1. The best candidate has the smallest mean Brier contribution; the earlier one among equals.
    2. A candidate is tied with it if the mean of the row-wise differences of their contributions is at most
       `tolerance` standard errors of that mean. With 0, the best one has all the weight.
    3. The tied ones get `simplex_weights` (stacking: Wolpert, 1992, "Stacked generalization"; convex, as in
       Breiman, 1996, "Stacked regressions", and van der Laan, Polley and Hubbard, 2007, "Super Learner").
    4. These are moved half way towards the best one (`SHARE_OF_BEST`), so the best one always has the largest
       weight, and thinned out (`SMALLEST_WEIGHT`, `MOST_MODELS`).

    Parameters
    ----------
    held_back
        (candidate, n, k) probabilities from fits that did not see the row.
    codes
        (n,) the class that happened, 0..k-1.
    tolerance
        Standard errors within which candidates count as tied, at least 0.
    groups
        (n,) whose each row is; None if rows are independent.
    """
    residuals = held_back - np.eye(held_back.shape[2])[codes]
    contributions = np.einsum("cto,cto->ct", residuals, residuals)
    means = contributions.mean(axis=1)
    best = int(np.argmin(means))
    weights = np.zeros(len(means))
    weights[best] = 1.0
    if tolerance > 0 and len(codes) > 1:
        errors = np.nan_to_num(standard_error(contributions - contributions[best], groups))
        tied = np.flatnonzero(means - means[best] <= tolerance * errors)
        weights *= SHARE_OF_BEST
        weights[tied] += (1.0 - SHARE_OF_BEST) * simplex_weights(residuals[tied])
    return _thinned(weights)


def simplex_weights(residuals: Values) -> Values:
    """Return w >= 0 with sum 1 that minimises the squared length of sum_c w_c residuals_c, (candidate,).

    Because the weights sum to 1, that is the Brier score of the averaged probabilities. Solved as
    non-negative least squares with the sum as one more equation (Lawson and Hanson, 1974, "Solving Least
    Squares Problems", chapter 23). All other equations have right-hand side 0, so rescaling the solution to
    sum 1 gives the exact minimum, however that equation is weighted.

    Parameters
    ----------
    residuals
        (candidate, n, k) probability minus 1[the class happened].
    """
    flat = residuals.reshape(len(residuals), -1)
    gram = flat @ flat.T
    scale = float(np.trace(gram)) / len(gram) or 1.0
    # The ridge shares the weight of candidates that predict the same evenly; otherwise it is not felt.
    root = cholesky(gram / scale + 1e-9 * np.eye(len(gram)))
    solution, _ = nnls(np.vstack([root, np.ones(len(gram))]), np.append(np.zeros(len(gram)), 1.0))
    weights: Values = solution / solution.sum()
    return weights


def _thinned(weights: Values) -> Values:
    kept = np.argsort(-weights, kind="stable")[:MOST_MODELS]
    kept = kept[weights[kept] >= SMALLEST_WEIGHT]
    thinned = np.zeros(len(weights))
    thinned[kept] = weights[kept] / weights[kept].sum()
    return thinned
