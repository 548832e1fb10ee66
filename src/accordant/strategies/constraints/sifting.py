"""Large batches: the linear programme of the few contexts that prices leave in doubt (sifting, Bixby et al. 1992).

Given prices of the shared rows, each context takes its best action by score minus prices. Only contexts in which the
second best action comes close can be changed by better prices; they are the core. The programme of the core gives exact
prices. If, at these prices, every other context still takes the best action, the whole is optimal by duality; if not,
the contexts that would change join the core. First prices come from the same method on a sample.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from accordant.arrays import Values
from accordant.errors import AccordantError
from accordant.evidence import Groups
from accordant.strategies.constraints.batch import Batch, Plan
from accordant.strategies.constraints.budgets import Capacities
from accordant.strategies.constraints.coupling import Coupling
from accordant.strategies.constraints.parity import Parity, gap_error
from accordant.strategies.constraints.programme import Optimum, closest, optimum

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
    found = sifted(batch, coupling)
    if found is None:
        raise _no_solution(batch, coupling, groups, parity)
    if parity is None and not np.isin(found.policy, (0.0, 1.0)).all():
        raise AccordantError("the linear programme of budgets ended outside a vertex")
    best = found.policy == found.policy.max(axis=0)
    own = best[batch.codes, np.arange(batch.n_contexts)]
    codes = np.where(own, batch.codes, best.argmax(axis=0).astype(batch.codes.dtype))
    certain = bool((found.policy.max(axis=0) == 1.0).all())
    per_place = dict(zip([batch.actions[a] for a in capacities], found.prices.tolist(), strict=False))
    worth = None if parity is None else float(found.prices[-len(coupling.sizes) :] @ coupling.sizes)
    return Plan(codes, None if certain else found.policy, per_place, worth)


def sifted(batch: Batch, coupling: Coupling) -> Optimum | None:
    """Return what `optimum` returns, without solving for all contexts at once if there are many."""
    n, columns = batch.n_contexts, np.arange(batch.n_contexts)
    if n <= SMALL or np.isneginf(batch.scores[batch.admissible]).any():
        return optimum(batch, coupling)
    rows = np.sort(np.random.default_rng(0).choice(n, n // SAMPLE, replace=False))
    first = sifted(batch.take(rows), coupling.sample(rows))
    if first is None:
        return optimum(batch, coupling)
    priced = _priced(batch, coupling, first.prices)
    codes = priced.argmax(axis=0)
    second = priced.copy()
    second[codes, columns] = -np.inf
    margin = priced[codes, columns] - second.max(axis=0)
    size = max(SMALL, int(CORE * np.sqrt(n)))
    core = margin <= np.partition(margin, size)[size] if size < n else np.ones(n, dtype=bool)
    while True:
        found = optimum(batch.take(np.flatnonzero(core)), coupling.left(codes, core))
        if found is None:
            if core.all():
                return None
            size *= 2
            core |= margin <= np.partition(margin, size)[size] if size < n else True
            continue
        priced = _priced(batch, coupling, found.prices)
        behind = ~core & (priced[codes, columns] < priced.max(axis=0) - BEST)
        if not behind.any():
            policy = np.zeros(batch.scores.shape)
            policy[codes, columns] = 1.0
            policy[:, core] = found.policy
            return replace(found, policy=policy)
        core |= behind


def _priced(batch: Batch, coupling: Coupling, prices: Values) -> Values:
    """Return scores minus prices, −inf where not admissible, shape (action, context)."""
    return np.where(batch.admissible, batch.scores - coupling.charges(prices)[:, coupling.group], -np.inf)


def _no_solution(batch: Batch, coupling: Coupling, groups: Groups | None, parity: Parity | None) -> AccordantError:
    """Return the error that names the smallest gap between groups that budgets allow."""
    found = closest(batch, coupling)
    if found is None or groups is None or parity is None:  # budgets alone can be met, see `check_room`
        return AccordantError("the linear programme of budgets found no solution")
    taken = found.policy[coupling.favourable].sum(axis=0)
    rates = np.bincount(groups.codes, weights=taken, minlength=len(groups.labels)) / coupling.sizes
    high, low = groups.labels[int(rates.argmax())], groups.labels[int(rates.argmin())]
    return gap_error(found.gap, high, low, parity, "budgets and what contexts admit")
