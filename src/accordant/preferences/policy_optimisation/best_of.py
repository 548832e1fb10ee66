"""The best of n draws from a reference policy, exactly.

If n candidates are drawn independently from π₀ and one with the highest reward is taken, equal ones with equal chance,
then with F(v) = Σ_{r(y) ≤ v} π₀(y) and F⁻ = F without the candidates at v itself

    P(y) = π₀(y) / (F − F⁻) · (Fⁿ − (F⁻)ⁿ),     v = r(y).

Its divergence from π₀ is at most log n − (n − 1) / n, with equality only without ties and atoms (Beirami et al. 2024,
arXiv 2401.01879).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.policy_optimisation.checks import checked_reference, finite_array


def best_of_n(reward: ArrayLike, reference: ArrayLike, draws: int) -> Values:
    """Return the distribution of the best of n draws, shape (candidate, context).

    Parameters
    ----------
    reward
        Shape (candidate, context), finite; only its order and its ties matter.
    reference
        π₀, shape (candidate, context).
    draws
        n ≥ 1; 1 returns the reference.

    Raises
    ------
    InputError
        If a shape, the reference or the number of draws is wrong.
    """
    array = finite_array("reward", reward, ("candidate", "context"))
    start = checked_reference(reference, array.shape)
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise InputError(f"draws is {draws!r}; allowed: a whole number ≥ 1")
    order = array.argsort(axis=0, kind="stable")
    ranked = np.take_along_axis(array, order, axis=0)
    mass = np.take_along_axis(start, order, axis=0)
    reached = np.minimum(mass.cumsum(axis=0), 1.0)
    before = np.concatenate([np.zeros((1, mass.shape[1])), reached[:-1]])
    below, upto = _tied_ends(ranked, before, reached)
    tied = upto - below
    # Fⁿ − (F⁻)ⁿ = Fⁿ (1 − (1 − tied / F)ⁿ), which keeps its digits where F and F⁻ are close
    share = np.divide(tied, upto, out=np.zeros_like(tied), where=upto > 0)
    with np.errstate(divide="ignore"):
        gained = upto**draws * -np.expm1(draws * np.log1p(-share))
    ranked_policy = np.divide(mass * gained, tied, out=np.zeros_like(mass), where=tied > 0)
    policy = np.empty_like(ranked_policy)
    np.put_along_axis(policy, order, ranked_policy, axis=0)
    return np.asarray(policy / policy.sum(axis=0))


def _tied_ends(ranked: Values, before: Values, reached: Values) -> tuple[Values, Values]:
    """Return F⁻ and F of the set of equal rewards that each ranked candidate belongs to, shape (candidate, context)."""
    new = np.ones(ranked.shape, dtype=np.bool_)
    new[1:] = ranked[1:] > ranked[:-1]
    last = np.ones(ranked.shape, dtype=np.bool_)
    last[:-1] = new[1:]
    below = np.maximum.accumulate(np.where(new, before, 0.0), axis=0)
    upto = np.minimum.accumulate(np.where(last, reached, 1.0)[::-1], axis=0)[::-1]
    return below, upto
