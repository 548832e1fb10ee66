"""The best mixture of a few policies, and the weights at which it is best: masters of column generation.

| welfare of the means u | method | weights |
|---|---|---|
| min_k u_k, some u_j held at a level | linear programme, HiGHS (Huangfu and Hall 2018) | dual prices |
| Σ_k w_k log(u_k − d_k) | primal-dual interior point method (Wright 1997) | w_k / (u_k − d_k) |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import AccordantError

TOLERANCE = 1e-10  # of HiGHS, the sharpest that it takes
SLACKS = tuple(TOLERANCE * 10.0**k for k in range(6))  # what levels may fall by: the first at which HiGHS ends


class Master(NamedTuple):
    """The best mixture of known policies.

    Attributes
    ----------
    shares
        Share of each policy, shape (policy,), summing to 1.
    weights
        λ, shape (object,), at which no known policy is better than the mixture.
    reached
        What Σ_k λ_k u_k must exceed for a policy to be better: the rest is the gap.
    """

    shares: Values
    weights: Values
    reached: float


def raise_smallest(means: Values, raised: Mask, levels: Values, base: Values) -> Master:
    """Return the mixture whose smallest mean above the base among `raised` is highest, while others keep their levels.

        maximise v    subject to  Σ_j p_j u_jk ≥ v + base_k for k raised,  Σ_j p_j u_jk ≥ level_k,  Σ_j p_j = 1,  p ≥ 0

    Parameters
    ----------
    means
        u of known policies, shape (policy, object).
    raised
        Whose smallest mean counts, shape (object,).
    levels
        The least that others get, shape (object,); −inf for who is not held at one.
    base
        From where means are measured, shape (object,).
    """
    bound = raised | np.isfinite(levels)
    rows = np.column_stack([-means.T[bound], raised[bound].astype(np.float64)])
    for slack in SLACKS:
        least = np.where(raised, base, levels - slack)[bound]
        done = _linear_programme(rows, -least)
        if done.x is not None:
            break
    else:
        raise AccordantError(f"the linear programme of {len(means)} policies was not solved: {done.message}")
    shares, weights = np.clip(done.x[:-1], 0.0, None), np.zeros(means.shape[1])
    shares /= shares.sum()
    weights[bound] = np.clip(-done.ineqlin.marginals, 0.0, None)
    weights /= weights[raised].sum()
    reached = (shares @ means - base)[raised].min() + weights[bound] @ least
    return Master(shares, weights, float(reached))


def _linear_programme(rows: Values, least: Values) -> Any:
    """Return what HiGHS finds; `x` is None where it ends without a solution."""
    from scipy.optimize import linprog

    n_policies = rows.shape[1] - 1
    return linprog(
        np.append(np.zeros(n_policies), -1.0), A_ub=rows, b_ub=least,
        A_eq=np.append(np.ones(n_policies), 0.0)[None], b_eq=[1.0], bounds=[(0, None)] * n_policies + [(None, None)],
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )  # fmt: skip


SHRINK = 0.1  # of complementarity that a Newton step aims at
STAY = 0.99  # of the way to the boundary that a step may take
STEPS = 100  # Newton steps; about twenty are needed
UNUSED = 1e-12  # shares of at most this are 0
CENTRED = 1e-15  # complementarity at which the master ends


def maximise_product(means: Values, weights: Values, disagreement: Values) -> Master:
    """Return the mixture with the highest Σ_k w_k log(u_k − d_k), by a primal-dual interior point method.

        −∇Σ_k w_k log(c_k) + y 1 − s = 0,  c = Uᵀp − d,  Σ_j p_j = 1,  p_j s_j = μ → 0

    Parameters
    ----------
    means
        u of known policies, shape (policy, object); some mixture is above d wherever w is above 0.
    weights
        w, shape (object,).
    disagreement
        d, shape (object,).
    """
    counted = weights > 0
    gains, w = means[:, counted] - disagreement[counted], weights[counted]
    n_policies = len(means)
    shares, slack = _inside(means, counted, disagreement), np.ones(n_policies)
    price = float(w.sum())
    for _ in range(STEPS):
        gain = shares @ gains
        centred = float(shares @ slack) / n_policies
        residual = -gains @ (w / gain) + price - slack
        if centred <= CENTRED * max(1.0, price) and np.abs(residual).max() <= 1e-12 * max(1.0, price):
            break
        hessian = (gains * (w / gain**2)) @ gains.T + np.diag(slack / shares)
        system = np.block([[hessian, np.ones((n_policies, 1))], [np.ones((1, n_policies)), np.zeros((1, 1))]])
        aim = SHRINK * centred / shares - slack
        step = np.linalg.solve(system, np.append(aim - residual, 1.0 - shares.sum()))
        move, turn = step[:-1], aim - slack / shares * step[:-1]
        lengths = _room(shares, move), _room(slack, turn), _room(gain, move @ gains)
        length = min(1.0, STAY * min(lengths))
        shares, slack, price = shares + length * move, slack + length * turn, price + length * float(step[-1])
    shares = np.where(shares > UNUSED, shares, 0.0)
    shares /= shares.sum()
    lasting = np.zeros(len(weights))
    lasting[counted] = w / (shares @ gains)
    return Master(shares, lasting, float(lasting @ (shares @ means)))


def _inside(means: Values, counted: Mask, disagreement: Values) -> Values:
    """Return shares above 0 at which everybody who counts gains at least half of what the worst-off can gain."""
    nobody, even = np.full(len(counted), -np.inf), np.full(len(means), 1.0 / len(means))
    best = raise_smallest(means, counted, nobody, disagreement).shares
    gains = means[:, counted] - disagreement[counted]
    blend = 0.5
    while (((1 - blend) * best + blend * even) @ gains).min() < 0.5 * (best @ gains).min():
        blend /= 2
    return np.asarray((1 - blend) * best + blend * even)


def _room(at: Values, move: Values) -> float:
    """Return how often a step can be taken before an entry reaches 0."""
    falling = move < 0
    return float((-at[falling] / move[falling]).min(initial=np.inf))
