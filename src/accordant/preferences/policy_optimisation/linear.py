"""The maximin over groups without a divergence (β = 0): a linear program.

max v subject to E_x Σ_y π(y | x) r_u(x, y) ≥ v for every group, π(· | x) a distribution on the candidates that the
reference allows. Its dual is min_λ E_x max_y Σ_u λ_u r_u(x, y). The best policy need not be the only one.
"""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values


def solve_linear(rewards: Values, reference: Values) -> tuple[Values, Values]:
    """Return one best policy, shape (candidate, context), and the groups' weights λ, shape (group,).

    Parameters
    ----------
    rewards
        Shape (group, candidate, context), of scale 1.
    reference
        Shape (candidate, context); only whether it is 0 matters.

    Raises
    ------
    RuntimeError
        If the solver stops without an optimum; bounded finite programs always have one.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    groups, _, contexts = rewards.shape
    candidates, columns = np.nonzero(reference > 0)
    count = len(candidates)
    gains = rewards[:, candidates, columns] / contexts
    belongs = csr_array((np.ones(count), (columns, np.arange(count))), shape=(contexts, count + 1))
    found = linprog(
        c=np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([-gains, np.ones(groups)]),
        b_ub=np.zeros(groups),
        A_eq=belongs,
        b_eq=np.ones(contexts),
        bounds=[(0, None)] * count + [(None, None)],
        method="highs-ds",
    )
    if not found.success:
        raise RuntimeError(f"the linear program of the maximin was not solved: {found.message}")
    policy = np.zeros_like(reference)
    policy[candidates, columns] = np.maximum(found.x[:-1], 0.0)
    weights = np.maximum(-found.ineqlin.marginals, 0.0)
    return policy / policy.sum(axis=0), np.asarray(weights / weights.sum())
