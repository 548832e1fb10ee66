"""The general linear programme, for budgets on several actions, or budgets and parity; and how large ones are solved.

    maximise    Σ_t Σ_a Φ[a, t] x[a, t]
    subject to  Σ_a x[a, t] = 1                             every context gets one action
                Σ_t x[a, t] ≤ k_a                           for each capped action a
                n_g s ≤ Σ_{t in g} Σ_{favourable a} x[a, t] ≤ n_g (s + ε)    for each group g
                x ≥ 0, and x[a, t] = 0 where a is not admissible

A vertex is integral if there is no parity: the matrix is then that of a bipartite graph and totally unimodular (Hoffman
and Kruskal 1956), and the simplex method of HiGHS (Huangfu and Hall 2018) ends in a vertex. Scores of −inf are counted
first: a first programme makes their expected number as small as possible, a second one maximises the finite scores
among all optimal solutions of the first, which are those that satisfy complementary slackness with its prices.

Large batches are solved by the linear programme of the few contexts that prices leave in doubt (`sift`; sifting, Bixby
et al. 1992). Given prices of the shared rows, each context takes its best action by score minus prices. Only contexts
in which the second best action comes close can be changed by better prices; they are the core. The programme of the
core gives exact prices. If, at these prices, every other context still takes the best action, the whole is optimal by
duality; if not, the contexts that would change join the core. First prices come from the same method on a sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from accordant.arrays import Codes, Integers, Mask, Values
from accordant.errors import AccordantError
from accordant.evidence import Groups
from accordant.strategies.constraints.batch import Batch, Plan
from accordant.strategies.constraints.budgets import Capacities
from accordant.strategies.constraints.parity import Parity, gap_error


@dataclass(frozen=True, eq=False)
class Coupling:
    """The rows of the linear programme that several contexts share: budgets and parity.

    Attributes
    ----------
    capped
        Codes of the capped actions, shape (budget,).
    places
        How many contexts may get each of them, shape (budget,).
    favourable
        Which actions are favourable, shape (action,).
    within
        ε.
    group
        Group of each context, shape (context,).
    sizes
        Contexts of each group, those outside the programme included, shape (group,). Without parity there is no group.
    fixed
        Favourable contexts of each group that are outside the programme, shape (group,).
    """

    capped: Codes
    places: Values
    favourable: Mask
    within: float
    group: Codes
    sizes: Values
    fixed: Values

    @classmethod
    def of(cls, batch: Batch, capacities: Capacities, groups: Groups | None, parity: Parity | None) -> Self:
        """Collect what budgets and parity demand of a batch."""
        capped = np.array(list(capacities), dtype=np.intp)
        places = np.array(list(capacities.values()), dtype=np.float64)
        if groups is None or parity is None:
            none, nobody = np.zeros(len(batch.actions), dtype=bool), np.zeros(0)
            return cls(capped, places, none, 0.0, np.zeros(batch.n_contexts, dtype=np.intp), nobody, nobody)
        sizes = np.bincount(groups.codes, minlength=len(groups.labels)).astype(np.float64)
        mask = parity.mask(batch.actions)
        return cls(capped, places, mask, parity.within, groups.codes, sizes, np.zeros(len(sizes)))

    @property
    def n_rows(self) -> int:
        """Number of shared rows: budgets, lower and upper ends of the window for each group."""
        return len(self.capped) + 2 * len(self.sizes)

    def sample(self, rows: Codes) -> Coupling:
        """Return what some contexts would owe if they were the whole batch, in proportion."""
        group, share = self.group[rows], len(rows) / max(1, len(self.group))
        sizes = np.bincount(group, minlength=len(self.sizes)).astype(np.float64)[: len(self.sizes)]
        return replace(self, places=self.places * share, group=group, sizes=sizes, fixed=np.zeros(len(sizes)))

    def left(self, codes: Integers, core: Mask) -> Coupling:
        """Return what is left for the contexts in `core` if all others get the action in `codes`."""
        used = np.bincount(codes[~core], minlength=len(self.favourable))
        taken = self.favourable[codes] & ~core
        fixed = np.bincount(self.group[taken], minlength=len(self.sizes))[: len(self.sizes)]
        return replace(self, places=self.places - used[self.capped], group=self.group[core], fixed=self.fixed + fixed)

    def charges(self, prices: Values) -> Values:
        """Return what each action pays in each group for the shared rows it uses, shape (action, group or 1)."""
        n_budgets, n_groups = len(self.capped), len(self.sizes)
        charges = np.zeros((len(self.favourable), max(1, n_groups)))
        charges[self.capped] += prices[:n_budgets, None]
        if n_groups:
            charges[self.favourable] += prices[n_budgets + n_groups :] - prices[n_budgets : n_budgets + n_groups]
        return charges


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
    solution = programme.minimise(programme.losses(batch))
    if solution is None:
        return None
    prices = np.full(coupling.n_rows, np.inf)
    if not spared.all():
        prices[~spared] = np.maximum(0.0, -solution.ineqlin.marginals)
    return Optimum(programme.policy(solution.x), prices)


def closest(batch: Batch, coupling: Coupling) -> Optimum | None:
    """Return a policy with the smallest difference of rates that the budgets allow."""
    programme = Programme.of(batch, replace(coupling, within=0.0), find_gap=True)
    best = programme.minimise(np.concatenate([np.zeros(len(programme.bounds) - 1), [1.0]]))
    return None if best is None else Optimum(programme.policy(best.x), np.zeros(coupling.n_rows), float(best.fun))


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

    action: Codes
    context: Codes
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
        per_context = csr_array((np.ones(len(pairs)), (context, pairs)), shape=(batch.n_contexts, len(pairs)))
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
            (csr_array(hstack([per_context, csr_array((batch.n_contexts, extra))])), np.ones(batch.n_contexts)),
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
        solution = linprog(
            costs, A_ub=above if above.shape[0] else None, b_ub=limits if above.shape[0] else None,
            A_eq=equal, b_eq=ones, bounds=self.bounds, method="highs-ds",
            options={"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY},
        )  # fmt: skip
        if solution.status == 2:
            return None
        if solution.status != 0:
            raise AccordantError(f"the linear programme was not solved: {solution.message}")
        return solution

    def restricted_to_optimum(self, solution: Any, tight: Mask) -> Self:
        """Return the programme over the optimal solutions of another objective.

        Parameters
        ----------
        solution
            One of them, with its reduced costs.
        tight
            Inequalities that have a price there, shape (row,).
        """
        from scipy.sparse import csr_array, vstack

        bounds = self.bounds.copy()
        for end, marginals in ((0, solution.lower.marginals), (1, solution.upper.marginals)):
            stuck = np.abs(marginals) > PRICED
            bounds[stuck, 1 - end] = bounds[stuck, end]
        (equal, ones), (above, limits) = self.equal, self.above
        return replace(
            self,
            equal=(csr_array(vstack([equal, above[np.flatnonzero(tight)]])), np.concatenate([ones, limits[tight]])),
            above=(above[np.flatnonzero(~tight)], limits[~tight]),
            bounds=bounds,
        )

    def policy(self, solution: Values) -> Values:
        """Return the solution as probabilities, shape (action, context), free of rounding."""
        policy = np.zeros(self.shape)
        policy[self.action, self.context] = solution[: len(self.action)]
        policy[policy < WHOLE] = 0.0
        whole = (policy > 1 - WHOLE).any(axis=0)
        policy[:, whole] = np.rint(policy[:, whole])
        return np.asarray(policy / policy.sum(axis=0))


SMALL = 4000  # contexts that HiGHS solves at once in a fraction of a second
SAMPLE = 16  # first prices come from every 16th context
CORE = 16.0  # size of the core in units of the square root of the batch, by which prices of a sample err
BEST = 1e-9  # how far rounding may put an action behind the best one


def solve(batch: Batch, capacities: Capacities, groups: Groups | None, parity: Parity | None) -> Plan:
    """Return the best decisions within budgets, or the best policy if there is parity too.

    Capacities must suffice for what contexts admit, see `check_room`. With parity, budgets hold for expected numbers.

    Raises
    ------
    InputError
        If budgets keep two groups further apart than ε; names them and the smallest gap.
    """
    coupling = Coupling.of(batch, capacities, groups, parity)
    optimal = sift(batch, coupling)
    if optimal is None:
        raise _no_solution(batch, coupling, groups, parity)
    if parity is None and not np.isin(optimal.policy, (0.0, 1.0)).all():
        raise AccordantError("the linear programme of budgets ended outside a vertex")
    best = optimal.policy == optimal.policy.max(axis=0)
    own = best[batch.codes, np.arange(batch.n_contexts)]
    codes = np.where(own, batch.codes, best.argmax(axis=0).astype(batch.codes.dtype))
    certain = bool((optimal.policy.max(axis=0) == 1.0).all())
    per_place = dict(zip([batch.actions[a] for a in capacities], optimal.prices.tolist(), strict=False))
    worth = None if parity is None else float(optimal.prices[-len(coupling.sizes) :] @ coupling.sizes)
    return Plan(codes, None if certain else optimal.policy, per_place, worth)


def sift(batch: Batch, coupling: Coupling) -> Optimum | None:
    """Return what `optimum` returns, without solving for all contexts at once if there are many."""
    n, columns = batch.n_contexts, np.arange(batch.n_contexts)
    if n <= SMALL or np.isneginf(batch.scores[batch.admissible]).any():
        return optimum(batch, coupling)
    rows = np.sort(np.random.default_rng(0).choice(n, n // SAMPLE, replace=False))
    first = sift(batch.take(rows), coupling.sample(rows))
    if first is None:
        return optimum(batch, coupling)
    priced = _price_out(batch, coupling, first.prices)
    codes = priced.argmax(axis=0)
    second = priced.copy()
    second[codes, columns] = -np.inf
    margin = priced[codes, columns] - second.max(axis=0)
    size = max(SMALL, int(CORE * np.sqrt(n)))
    core = margin <= np.partition(margin, size)[size] if size < n else np.ones(n, dtype=bool)
    while True:
        optimal = optimum(batch.take(np.flatnonzero(core)), coupling.left(codes, core))
        if optimal is None:
            if core.all():
                return None
            size *= 2
            core |= margin <= np.partition(margin, size)[size] if size < n else True
            continue
        priced = _price_out(batch, coupling, optimal.prices)
        behind = ~core & (priced[codes, columns] < priced.max(axis=0) - BEST)
        if not behind.any():
            policy = np.zeros(batch.scores.shape)
            policy[codes, columns] = 1.0
            policy[:, core] = optimal.policy
            return replace(optimal, policy=policy)
        core |= behind


def _price_out(batch: Batch, coupling: Coupling, prices: Values) -> Values:
    """Return scores minus prices, −inf where not admissible, shape (action, context)."""
    return np.where(batch.admissible, batch.scores - coupling.charges(prices)[:, coupling.group], -np.inf)


def _no_solution(batch: Batch, coupling: Coupling, groups: Groups | None, parity: Parity | None) -> AccordantError:
    """Return the error that names the smallest gap between groups that budgets allow."""
    nearest = closest(batch, coupling)
    if nearest is None or groups is None or parity is None:  # budgets alone can be met, see `check_room`
        return AccordantError("the linear programme of budgets found no solution")
    taken = nearest.policy[coupling.favourable].sum(axis=0)
    rates = np.bincount(groups.codes, weights=taken, minlength=len(groups.labels)) / coupling.sizes
    high, low = groups.labels[int(rates.argmax())], groups.labels[int(rates.argmin())]
    return gap_error(nearest.gap, high, low, parity, "budgets and what contexts admit")
