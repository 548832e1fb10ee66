"""The general linear programme: budgets on several actions, or budgets and parity together.

    maximise    Σ_t Σ_a Φ[a, t] x[a, t]
    subject to  Σ_a x[a, t] = 1                             every context gets one action
                Σ_t x[a, t] ≤ k_a                           for each capped action a
                n_g s ≤ Σ_{t in g} Σ_{favourable a} x[a, t] ≤ n_g (s + ε)    for each group g
                x ≥ 0, and x[a, t] = 0 where a is not admissible

A vertex is integral if there is no parity: the matrix is then that of a bipartite graph and totally unimodular (Hoffman
and Kruskal 1956), and the simplex method of HiGHS (Huangfu and Hall 2018) ends in a vertex. Scores of −inf are counted
first: a first programme makes their expected number as small as possible, a second one maximises the finite scores
among all optimal solutions of the first, which are those that satisfy complementary slackness with its prices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import AccordantError
from accordant.strategies.constraints.batch import Batch
from accordant.strategies.constraints.coupling import Coupling

FEASIBILITY = 1e-10  # the smallest tolerance that HiGHS takes
PRICED = 1e-9  # a price above this is not rounding
WHOLE = 1e-6  # a probability this close to 0 or 1 is rounding


@dataclass(frozen=True, eq=False)
class Optimum:
    """An optimal solution.

    Attributes
    ----------
    policy
        Probability of each action, shape (action, context).
    prices
        Price of each shared row, at least 0, shape (row,); inf if a looser row would spare scores of −inf.
    gap
        The smallest difference of rates, if that was looked for.
    """

    policy: Values
    prices: Values
    gap: float = 0.0


def optimum(batch: Batch, coupling: Coupling) -> Optimum | None:
    """Return the best policy, or None if no policy meets the shared rows."""
    programme = Programme.of(batch, coupling)
    hopeless = np.isneginf(batch.scores[programme.action, programme.context])
    spared = np.zeros(coupling.n_rows, dtype=bool)
    if hopeless.any():
        first = programme.minimise(programme.padded(hopeless.astype(np.float64)))
        if first is None:
            return None
        spared = np.abs(first.ineqlin.marginals) > PRICED
        programme = programme.restricted_to_optimum(first, spared)
    found = programme.minimise(programme.losses(batch))
    if found is None:
        return None
    prices = np.full(coupling.n_rows, np.inf)
    if not spared.all():
        prices[~spared] = np.maximum(0.0, -found.ineqlin.marginals)
    return Optimum(programme.policy(found.x), prices)


def closest(batch: Batch, coupling: Coupling) -> Optimum | None:
    """Return a policy with the smallest difference of rates that the budgets allow."""
    programme = Programme.of(batch, replace(coupling, within=0.0), find_gap=True)
    found = programme.minimise(np.concatenate([np.zeros(len(programme.bounds) - 1), [1.0]]))
    return None if found is None else Optimum(programme.policy(found.x), np.zeros(coupling.n_rows), float(found.fun))


@dataclass(frozen=True, eq=False)
class Programme:
    """Sparse matrices of the programme; variables are the admissible pairs, then s, then ε if it is to be found.

    Attributes
    ----------
    action, context
        Pair of each of the first variables.
    shape
        Number of actions and of contexts.
    equal, above
        (matrix, right-hand side) of equations and of inequalities ≤.
    bounds
        Lower and upper bound of each variable, shape (variable, 2).
    """

    action: NDArray[np.intp]
    context: NDArray[np.intp]
    shape: tuple[int, int]
    equal: tuple[Any, Values]
    above: tuple[Any, Values]
    bounds: Values

    @classmethod
    def of(cls, batch: Batch, coupling: Coupling, *, find_gap: bool = False) -> Self:
        """Write the programme; with `find_gap`, the bound on differences of rates is a variable."""
        from scipy.sparse import csr_array, hstack, vstack

        context, action = np.nonzero(batch.admissible.T)
        pairs, sizes = np.arange(len(context)), coupling.sizes
        each = csr_array((np.ones(len(pairs)), (context, pairs)), shape=(batch.n_contexts, len(pairs)))
        uses = csr_array((action == coupling.capped[:, None]).astype(np.float64))
        extra = 0 if not len(sizes) else 1 + find_gap
        counted = np.flatnonzero(coupling.favourable[action]) if len(sizes) else pairs[:0]
        rates = csr_array(
            (np.ones(len(counted)), (coupling.group[context[counted]], counted)), shape=(len(sizes), len(pairs))
        )
        ends = np.column_stack([sizes, np.zeros(len(sizes))])[:, :extra], np.column_stack([-sizes, -sizes])[:, :extra]
        blocks = [
            hstack([uses, csr_array((len(coupling.capped), extra))]),
            hstack([-rates, csr_array(ends[0])]),
            hstack([rates, csr_array(ends[1])]),
        ]
        limits = [coupling.places, coupling.fixed, sizes * coupling.within - coupling.fixed]
        return cls(
            action, context, (len(batch.actions), batch.n_contexts),
            (csr_array(hstack([each, csr_array((batch.n_contexts, extra))])), np.ones(batch.n_contexts)),
            (csr_array(vstack(blocks)), np.concatenate(limits)),
            np.vstack([np.tile([0.0, np.inf], (len(pairs), 1)), np.tile([-1.0, 1.0], (extra, 1))]),
        )  # fmt: skip

    def padded(self, costs: Values) -> Values:
        """Return costs of pairs with zeros for the other variables."""
        return np.concatenate([costs, np.zeros(len(self.bounds) - len(costs))])

    def losses(self, batch: Batch) -> Values:
        """Return what each pair loses of the context's best finite score; a score of −inf counts as 0."""
        finite = np.where(batch.admissible & ~np.isneginf(batch.scores), batch.scores, -np.inf).max(axis=0)
        scores = batch.scores[self.action, self.context]
        best = np.where(np.isneginf(finite), 0.0, finite)[self.context]
        return self.padded(best - np.where(np.isneginf(scores), 0.0, scores))

    def minimise(self, costs: Values) -> Any | None:
        """Return what HiGHS finds, or None if the programme has no solution."""
        from scipy.optimize import linprog

        (equal, ones), (above, limits) = self.equal, self.above
        found = linprog(
            costs, A_ub=above if above.shape[0] else None, b_ub=limits if above.shape[0] else None,
            A_eq=equal, b_eq=ones, bounds=self.bounds, method="highs-ds",
            options={"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY},
        )  # fmt: skip
        if found.status == 2:
            return None
        if found.status != 0:
            raise AccordantError(f"the linear programme was not solved: {found.message}")
        return found

    def restricted_to_optimum(self, found: Any, tight: NDArray[np.bool_]) -> Self:
        """Return the programme over the optimal solutions of another objective.

        Parameters
        ----------
        found
            One of them, with its reduced costs.
        tight
            Inequalities that have a price there, shape (row,).
        """
        from scipy.sparse import csr_array, vstack

        bounds = self.bounds.copy()
        for end, marginals in ((0, found.lower.marginals), (1, found.upper.marginals)):
            stuck = np.abs(marginals) > PRICED
            bounds[stuck, 1 - end] = bounds[stuck, end]
        (equal, ones), (above, limits) = self.equal, self.above
        return replace(
            self,
            equal=(csr_array(vstack([equal, above[np.flatnonzero(tight)]])), np.concatenate([ones, limits[tight]])),
            above=(above[np.flatnonzero(~tight)], limits[~tight]),
            bounds=bounds,
        )

    def policy(self, found: Values) -> Values:
        """Return the solution as probabilities, shape (action, context), free of rounding."""
        policy = np.zeros(self.shape)
        policy[self.action, self.context] = found[: len(self.action)]
        policy[policy < WHOLE] = 0.0
        whole = (policy > 1 - WHOLE).any(axis=0)
        policy[:, whole] = np.rint(policy[:, whole])
        return np.asarray(policy / policy.sum(axis=0))
