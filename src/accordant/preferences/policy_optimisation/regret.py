"""The policy under which the group that gives up most gives up least.

A group's regret is what it would get alone minus what it gets, F_u(π_u*) − F_u(π). The policy

    argmin_π max_u [F_u(π_u*) − F_u(π)]

(after the min–max regret aggregation of Chidambaram, Seetharaman and Syrgkanis 2024, arXiv 2405.15065, here over all
policies on the candidates) does not change if a number is added to one group's rewards. It is the maximin over rewards
r_u − F_u(π_u*), so the same solver and the same proof serve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.preferences.policy_optimisation.checks import checked_beta, checked_rewards
from accordant.preferences.policy_optimisation.maximin import solve_maximin
from accordant.preferences.policy_optimisation.policies import RegularisedPolicy, optima


@dataclass(frozen=True, eq=False)
class EqualRegretPolicy(RegularisedPolicy):
    """The policy with the smallest largest regret, with the proof.

    Attributes
    ----------
    optima
        F_u(π_u*), what each group would get alone, shape (group,).
    group_weights
        λ*, shape (group,), ≥ 0, sum 1; groups with λ*_u > 0 have the same regret.
    largest_regret
        max_u of the regrets, the value that the policy reaches.
    bound
        What no policy goes below.
    gap
        largest_regret − bound ≥ 0.
    iterations
        Newton steps of the solver.
    converged
        As in `MaximinPolicy`.
    """

    optima: Values
    group_weights: Values
    largest_regret: float
    bound: float
    gap: float
    iterations: int
    converged: bool

    @property
    def regrets(self) -> Values:
        """F_u(π_u*) − F_u(π), shape (group,), ≥ 0 up to rounding."""
        return np.asarray(self.optima - self.values)


def equal_regret(rewards: ArrayLike, reference: ArrayLike, beta: float) -> EqualRegretPolicy:
    """Return the policy whose largest regret is smallest.

    Parameters
    ----------
    rewards
        r_u, shape (group, candidate, context), finite. The zero of each group's rewards does not matter; the unit does.
    reference
        π₀, shape (candidate, context).
    beta
        β ≥ 0 or infinite, in units of reward. For infinity the policy is the reference and every regret 0.

    Raises
    ------
    InputError
        If a shape, the reference or beta is wrong.
    """
    array, start = checked_rewards(rewards, reference)
    weight = checked_beta(beta)
    # the zero of each group is put at its mean first, so that a large one takes no digits
    zeros = (array * start).sum(axis=1).mean(axis=1)
    level = array - zeros[:, None, None]
    alone = optima(level, start, weight)
    solved = solve_maximin(level - alone[:, None, None], start, weight)
    return EqualRegretPolicy(
        policy=solved.policy,
        mean_rewards=solved.mean_rewards + alone + zeros,
        charge=solved.charge,
        beta=weight,
        optima=alone + zeros,
        group_weights=solved.group_weights,
        largest_regret=-solved.primal,
        bound=-solved.dual,
        gap=solved.gap,
        iterations=solved.iterations,
        converged=solved.converged,
    )
