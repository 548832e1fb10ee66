"""What a search may have missed: bounds over all feasible allocations, for utilities that add up over claimants.

Utilities are scaled to [0, 1], u_k(x) = floors_k + Σ_i values_ki x_i. Let C be the convex hull of the utility vectors
of all feasible allocations. For weights λ ≥ 0 the support function h(λ) = max_{u ∈ C} λ·u is attained at a feasible
allocation and found exactly by serving claimants by weighted value per portion (`accordant.allocations.enumeration`).
Both bounds hold for every λ that is tried, so they are certified whether or not the search for a good λ has converged.

Product. For λ > 0 and u ∈ C, u ≥ 0, the inequality of arithmetic and geometric means gives

    Π_k λ_k u_k ≤ (λ·u / K)^K ≤ (h(λ) / K)^K,    so    Π_k u_k ≤ (h(λ) / K)^K / Π_k λ_k.

Maximising Σ_k log u_k over C by Frank and Wolfe (1956) tries λ = 1/u at every point u: the linear maximiser gives the
gap g = h(λ) − K ≥ 0, and the bound is Π u_k · (1 + g/K)^K ≤ Π u_k · exp(g). At the maximum over C the gap is 0.
The fully corrective variant is used: after each step the weights of all vectors found so far are improved by
λ_j ← λ_j · mean_k (U_jk / u_k), which never lowers the objective (Cover 1984, log-optimal portfolios).

Time. At time t every agent must get u_k ≥ 1 − t^{e_k}. By weak duality no allocation does if for some w ≥ 0

    h(w) < Σ_k w_k (1 − t^{e_k}).

The right side falls with t, so such a w rules out all times up to its crossing. From t = 0 on, w is found by the matrix
game max_{u ∈ C} min_k (u_k − 1 + t^{e_k}), solved over the vectors known so far by linear programming (Kelley 1960),
each w asking `best_of_each` for another vector; t then moves to the crossing, until C has a vector with all bands at t.

Both are relaxations: C also holds mixtures of allocations. What they leave open is reported as a gap, never closed by
assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from accordant.allocations.allocation import band, shares_of
from accordant.allocations.enumeration import best_of_each, worst
from accordant.allocations.scenario import Scenario
from accordant.arrays import Values
from accordant.errors import InputError

ROUNDING = 1e-9  # in utility; a lower utility is forgiven by this much, so that rounding never breaks a bound
CLOSE = 1e-10  # gap at which the product bound is good enough
STEPS = 80  # vectors that are looked for at most
INNER = 100  # improvements of their weights in each step
HALVINGS = 60


def product_bound(scenario: Scenario, values: Any, floors: Any) -> float:
    """Return an upper bound of max Π_k u_k over all feasible allocations.

    Parameters
    ----------
    scenario
        Whose feasible allocations are compared.
    values, floors
        Shapes (agent, claimant) and (agent,), with utilities of at least 0 for every feasible allocation.

    Raises
    ------
    InputError
        If shapes do not fit, numbers are not finite, or a utility can be negative.
    """
    support = _Support(scenario, values, floors)
    if (support.lowest() < -ROUNDING).any():
        raise InputError(f"a utility is as low as {support.lowest().min():.6g}; allowed: at least 0")
    known = np.maximum(support.vectors(np.eye(support.n_agents)), 0.0)
    if (known.max(axis=0) <= 0).any():
        return 0.0
    weights, bound = np.full(len(known), 1 / len(known)), np.inf
    for _ in range(STEPS):
        for _ in range(INNER):
            weights = weights * (known / (weights @ known)).mean(axis=1)
        u = weights @ known
        vectors = support.vectors((1 / u)[None])
        gap = max(0.0, float((vectors[0] / u).sum()) - support.n_agents)
        bound = min(bound, float(u.prod()) * (1 + gap / support.n_agents) ** support.n_agents)
        if gap <= CLOSE:
            break
        if not (known == vectors).all(axis=1).any():  # otherwise only the weights can be improved
            known = np.concatenate([known, np.maximum(vectors, 0.0)])
            weights = np.append(weights * (1 - 1 / len(known)), 1 / len(known))
    return bound * (1 + ROUNDING)


def earliest_bound(scenario: Scenario, values: Any, floors: Any, exponents: Sequence[float]) -> float:
    """Return a lower bound of the earliest time at which one allocation gives every agent u_k ≥ 1 − t^{e_k}.

    Parameters
    ----------
    scenario
        Whose feasible allocations are compared.
    values, floors
        Shapes (agent, claimant) and (agent,), with utilities in [0, 1].
    exponents
        e_k > 0 of each agent; infinity for one who asks for 1 at all times.

    Returns
    -------
    In [0, 1]; infinity if it is certain that there is no such time. Utilities that miss a band by up to 1e-9 count as
    within it, so the bound also holds for rules that forgive rounding.

    Raises
    ------
    InputError
        If shapes do not fit, numbers are not finite, or an exponent is not above 0.
    """
    support = _Support(scenario, values, floors)
    powers = np.asarray(exponents, dtype=np.float64)
    if powers.shape != (support.n_agents,) or not (powers > 0).all():
        raise InputError(f"exponents are {list(exponents)}; allowed: one above 0 for each of {support.n_agents} agents")
    known, time = support.vectors(np.eye(support.n_agents)), 0.0
    for _ in range(STEPS):
        asked = bands(time, powers) - ROUNDING
        weights, value = _game(known - asked)
        vectors = support.vectors(weights[None])
        height = float(vectors[0] @ weights)
        if height < float(asked @ weights):
            time = _crossing(weights, height, powers)
            if time == np.inf:
                return time
        elif height - float(asked @ weights) <= value + ROUNDING:
            break  # a mixture of known vectors meets all bands: nothing later can be ruled out
        known = np.concatenate([known, vectors])
    return time


def bands(time: float, exponents: Values) -> Values:
    """Return 1 − t^e for each exponent, shape (agent,); 1 at all times for an infinite one."""
    return np.array([band(exponent, time) for exponent in exponents.tolist()])


def _crossing(weights: Values, height: float, exponents: Values) -> float:
    """Return the largest time known to be ruled out by weights, found by halving; infinity if all times are."""
    if height < float(weights @ (bands(1.0, exponents) - ROUNDING)):
        return float(np.inf)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if height < float(weights @ (bands(middle, exponents) - ROUNDING)):
            low = middle
        else:
            high = middle
    return low


def _game(payoffs: Values) -> tuple[Values, float]:
    """Return weights w ≥ 0, Σ w = 1, that minimise max_j w·payoffs_j, shape (agent,), and that value."""
    n_agents = payoffs.shape[1]
    if n_agents == 1:
        return np.ones(1), float(payoffs.max())
    from scipy.optimize import linprog

    solved = linprog(
        np.append(np.zeros(n_agents), 1.0),
        A_ub=np.column_stack([payoffs, -np.ones(len(payoffs))]), b_ub=np.zeros(len(payoffs)),
        A_eq=[[1.0] * n_agents + [0.0]], b_eq=[1.0], bounds=[(0, None)] * n_agents + [(None, None)],
    )  # fmt: skip
    weights = np.maximum(solved.x[:n_agents], 0.0)
    return weights / weights.sum(), float(solved.fun)


class _Support:
    """Utility vectors of the feasible allocations that are best for weights of the agents."""

    def __init__(self, scenario: Scenario, values: Any, floors: Any) -> None:
        self.scenario = scenario
        self.values, self.floors = np.asarray(values, dtype=np.float64), np.asarray(floors, dtype=np.float64)
        wanted = (len(self.values), len(scenario.ids))
        if not len(self.values) or self.values.shape != wanted or self.floors.shape != wanted[:1]:
            raise InputError(
                f"values and floors have shapes {self.values.shape} and {self.floors.shape}; allowed: (agent, patient) "
                f"for {wanted[1]} patients, and (agent,)"
            )
        if not (np.isfinite(self.values).all() and np.isfinite(self.floors).all()):
            raise InputError("values and floors must be finite numbers")
        self.n_agents = len(self.values)

    def vectors(self, weights: Values) -> Values:
        """Return utilities, shape (vector, agent), of the best allocation for each row of weights (vector, agent)."""
        granted = best_of_each(self.scenario, weights @ self.values)
        return np.asarray(self.floors + shares_of(self.scenario, granted) @ self.values.T)

    def lowest(self) -> Values:
        """Return the lowest utility of each agent, shape (agent,)."""
        granted = np.stack([worst(self.scenario, row) for row in self.values])
        return np.asarray(self.floors + (shares_of(self.scenario, granted) * self.values).sum(axis=1))
