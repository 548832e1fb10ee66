"""Optimal policies over all contexts together, by column generation (Dantzig and Wolfe 1960).

A policy π gives every context t a distribution over actions. What it gives an object k (a stakeholder, or a stakeholder
in a group) is a mean u_k(π), linear in π, so the vectors u(π) form a polytope whose vertices are deterministic
policies. A concave welfare W(u) is maximised over it by turns:

    master     the best mixture of the policies found so far, and the weights λ at which it is best among them
    pricing    the policy that is best for Σ_k λ_k u_k: in each context the action with the highest weighted sum,
               one pass over E

There are finitely many deterministic policies. The weighted sum of the priced policy, less that of the mixture, bounds
what any policy could add: the gap.

| welfare | master | weights |
|---|---|---|
| min_k u_k, some u_j held at a level | linear programme, HiGHS (Huangfu and Hall 2018) | dual prices |
| Σ_k w_k log(u_k − d_k) | Newton steps inside the simplex (Wright 1997, primal-dual) | w_k / (u_k − d_k) |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.compiled import compiled
from accordant.errors import AccordantError
from accordant.strategies.block import PIECE, Workspace, block_of, block_slices
from accordant.strategies.deciding import BLOCKS_PER_THREAD
from accordant.threads import free_cores, on_threads
from accordant.utilities import ExpectedRewards

GAP = 1e-10  # what a better policy could add at most when the search ends, in units of welfare
MOST_PASSES = 1000  # readings of E after which the search ends with the gap that is left
HELD = 1e-9  # a dual price above this says that a mean cannot rise any further
CHUNK = 1024  # contexts whose best scores stay in the first-level cache
TOLERANCE = 1e-10  # of HiGHS, the sharpest that it takes
SLACKS = tuple(TOLERANCE * 10.0**k for k in range(6))  # what levels may fall by: the first at which HiGHS ends
SAME = 1e-15  # policies whose means differ by less are one


@dataclass(frozen=True, eq=False)
class Part:
    """Contexts that are weighed alike.

    Attributes
    ----------
    expected
        E in these contexts.
    shares
        What Σ_t E[i, a_t, t] adds to the mean of each object, shape (object, stakeholder).
    """

    expected: ExpectedRewards
    shares: Values


@compiled
def take_best(values: Values, weights: Values, codes: Codes, sums: Values) -> None:
    """Write the action with the highest Σ_i w_i E[i, a, t], the first of equals, and what everybody gets of it in sum.

    In NumPy::

        codes[:] = np.tensordot(weights, values, axes=1).argmax(axis=0)
        sums[:] = np.take_along_axis(values, codes[None, None], axis=1).sum(axis=(1, 2))
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    sums[:] = 0.0
    best, score, first, taken = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for start in range(0, n_contexts, CHUNK):
        size = min(CHUNK, n_contexts - start)
        best[:] = -np.inf
        for a in range(n_actions):
            action = float(a)
            score[:] = 0.0
            for i in range(n_stakeholders):
                row, weight = values[i, a, start : start + size], weights[i]
                for k in range(size):
                    score[k] += weight * row[k]
            for k in range(size):
                higher = score[k] > best[k]
                first[k] = action if higher else first[k]
                best[k] = score[k] if higher else best[k]
        chosen = codes[start : start + size]
        for k in range(size):
            chosen[k] = int(first[k])
        for i in range(n_stakeholders):
            taken[:size] = values[i, 0, start : start + size]
            for a in range(1, n_actions):
                row, action = values[i, a, start : start + size], float(a)
                for k in range(size):
                    taken[k] = row[k] if first[k] == action else taken[k]
            total = 0.0
            for k in range(size):
                total += taken[k]
            sums[i] += total


def best_codes(expected: ExpectedRewards, weights: Values) -> Codes:
    """Return the action with the highest weighted sum in each context, as pricing takes it, shape (context,)."""
    codes = np.empty(expected.n_contexts, dtype=np.intp)
    _best_sums(expected, weights, codes)
    return codes


def _best_sums(expected: ExpectedRewards, weights: Values, codes: Codes | None = None) -> Values:
    """Return what everybody gets in sum of the best actions, shape (stakeholder,); write these into `codes`."""
    parts = block_slices(expected)
    sums = np.zeros((len(parts), len(weights)))

    def work(numbers: range) -> None:
        """Price some of the blocks."""
        shared, room = Workspace(PIECE), np.empty(parts[0].stop, dtype=np.intp)
        for number in numbers:
            part = parts[number]
            block = block_of(expected, part, shared)
            taken = room[: block.n_contexts] if codes is None else codes[part]
            take_best(block.values, weights, taken, sums[number])
            shared.reclaim()

    n_threads = max(1, min(free_cores(), len(parts) // BLOCKS_PER_THREAD))
    on_threads(work, [range(k, len(parts), n_threads) for k in range(n_threads)], n_threads)
    return np.asarray(sums.sum(axis=0))


def best_means(parts: Sequence[Part], weights: Values) -> Values:
    """Return the means of the policy that is best for Σ_k λ_k u_k, shape (object,): one pass over E."""
    means = [part.shares @ _best_sums(part.expected, weights @ part.shares) for part in parts]
    return np.asarray(np.sum(means, axis=0))


@dataclass(eq=False)
class Columns:
    """The deterministic policies found so far.

    Attributes
    ----------
    parts
        All contexts.
    directions
        The weights λ that each policy is best for, a row of shape (object,) each.
    means
        u of each policy, likewise.
    passes
        Readings of E so far.
    """

    parts: Sequence[Part]
    directions: list[Values] = field(default_factory=list)
    means: list[Values] = field(default_factory=list)
    passes: int = 0

    def price(self, weights: Values) -> Values:
        """Find the policy that is best for some weights, keep it if it is new, and return its means."""
        means = best_means(self.parts, weights)
        self.passes += 1
        if not any(np.abs(means - known).max() <= SAME for known in self.means):
            self.directions.append(weights)
            self.means.append(means)
        return means


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


class Optimum(NamedTuple):
    """The best policy as a mixture of deterministic ones.

    Attributes
    ----------
    means
        u, shape (object,).
    weights
        λ, shape (object,), at least 0.
    gap
        What another policy could add at most.
    passes
        Readings of E.
    shares, directions
        Share of each deterministic policy, shape (policy,), and the weights that it is best for, (policy, object).
    """

    means: Values
    weights: Values
    gap: float
    passes: int
    shares: Values
    directions: Values


def maximise(columns: Columns, master: Callable[[Values], Master]) -> Optimum:
    """Return the best mixture of all deterministic policies.

    Parameters
    ----------
    columns
        Known policies, at least one; new ones are added.
    master
        From means of known policies, shape (policy, object), to their best mixture.
    """
    while True:
        means = np.array(columns.means)
        found = master(means)
        better = columns.price(found.weights)
        gap = max(0.0, float(found.weights @ better) - found.reached)
        if gap <= GAP or len(columns.means) == len(means) or columns.passes >= MOST_PASSES:
            used = found.shares > 0
            directions = np.array(columns.directions[: len(means)])[used]
            return Optimum(found.shares @ means, found.weights, gap, columns.passes, found.shares[used], directions)


def raise_worst_off(columns: Columns, raised: Mask, base: Values | None = None) -> Optimum:
    """Return the policy with the highest min_k u_k − base_k among `raised`, shape (object,); the base is 0 if None."""
    nothing, nobody = np.zeros(len(raised)), np.full(len(raised), -np.inf)
    return maximise(columns, lambda means: raise_smallest(means, raised, nobody, nothing if base is None else base))


def raise_in_turn(columns: Columns, heard: Mask) -> Optimum:
    """Return the policy with the highest smallest mean among `heard`, then the highest second smallest, and so on.

    Whose mean has a price above 0 cannot have more; it is held there, and the others are raised. The weights are the
    sum of those of all steps, each summing to 1: the result is best at all of them.
    """
    raised, levels, total = heard.copy(), np.full(len(heard), -np.inf), np.zeros(len(heard))
    while True:
        found = maximise(columns, _lift(raised, levels))
        total += found.weights / found.weights.sum()
        held = raised & (found.weights > HELD)
        levels[held] = found.means[raised].min()
        levels = np.minimum(levels, np.where(np.isfinite(levels), found.means, levels))
        raised &= ~held
        if not raised.any() or not held.any():
            break
    total /= total.sum()
    gap = max(0.0, float(total @ columns.price(total)) - float(total @ found.means))
    return Optimum(found.means, total, gap, columns.passes, found.shares, found.directions)


def _lift(raised: Mask, levels: Values) -> Callable[[Values], Master]:
    nothing, who, least = np.zeros(len(raised)), raised.copy(), levels.copy()
    return lambda means: raise_smallest(means, who, least, nothing)


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


def mixture(parts: Sequence[Part], found: Optimum) -> list[Values]:
    """Return the probability of each action in the contexts of each part, shape (action, context)."""
    return [_mixture_in(part, found) for part in parts]


def _mixture_in(part: Part, found: Optimum) -> Values:
    probabilities = np.zeros(part.expected.values.shape[1:])
    contexts = np.arange(part.expected.n_contexts)
    for share, direction in zip(found.shares, found.directions, strict=True):
        probabilities[best_codes(part.expected, direction @ part.shares), contexts] += share
    return np.asarray(probabilities / probabilities.sum(axis=0))
