"""Optimal policies over all contexts together, by column generation (Dantzig and Wolfe 1960).

A policy π gives every context t a distribution over actions. What it gives an object k (a stakeholder, or a stakeholder
in a group) is a mean u_k(π), linear in π, so the vectors u(π) form a polytope whose vertices are deterministic
policies. A concave welfare W(u) is maximised over it by turns:

    master     the best mixture of the policies found so far, and the weights λ at which it is best among them
               (`mixtures`)
    pricing    the policy that is best for Σ_k λ_k u_k: in each context the action with the highest weighted sum,
               one pass over E

There are finitely many deterministic policies. The weighted sum of the priced policy, less that of the mixture, bounds
what any policy could add: the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.kernels import compiled
from accordant.strategies.block import PIECE, Workspace, block_of, block_slices
from accordant.strategies.block_decisions import BLOCKS_PER_THREAD
from accordant.strategies.mixtures import Master, raise_smallest
from accordant.threads import free_cores, on_threads
from accordant.utilities import ExpectedRewards

GAP = 1e-10  # what a better policy could add at most when the search ends, in units of welfare
MOST_PASSES = 1000  # readings of E after which the search ends with the gap that is left
HELD = 1e-9  # a dual price above this says that a mean cannot rise any further
CHUNK = 1024  # contexts whose best scores stay in the first-level cache
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
    best_sums(expected, weights, codes)
    return codes


def best_sums(expected: ExpectedRewards, weights: Values, codes: Codes | None = None) -> Values:
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
    means = [part.shares @ best_sums(part.expected, weights @ part.shares) for part in parts]
    return np.asarray(np.sum(means, axis=0))


@dataclass(eq=False)
class Columns:
    """The deterministic policies found so far.

    Attributes
    ----------
    pricing
        From weights λ, shape (object,), to the means of the policy that is best for Σ_k λ_k u_k, likewise: one pass
        over E, wherever it stands.
    directions
        The weights λ that each policy is best for, a row of shape (object,) each.
    means
        u of each policy, likewise.
    passes
        Readings of E so far.
    """

    pricing: Callable[[Values], Values]
    directions: list[Values] = field(default_factory=list)
    means: list[Values] = field(default_factory=list)
    passes: int = 0

    def price(self, weights: Values) -> Values:
        """Find the policy that is best for some weights, keep it if it is new, and return its means."""
        means = self.pricing(weights)
        self.passes += 1
        if not any(np.abs(means - known).max() <= SAME for known in self.means):
            self.directions.append(weights)
            self.means.append(means)
        return means


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
        solution = master(means)
        better = columns.price(solution.weights)
        gap = max(0.0, float(solution.weights @ better) - solution.reached)
        if gap <= GAP or len(columns.means) == len(means) or columns.passes >= MOST_PASSES:
            used = solution.shares > 0
            directions = np.array(columns.directions[: len(means)])[used]
            return Optimum(
                solution.shares @ means, solution.weights, gap, columns.passes, solution.shares[used], directions
            )


def raise_worst_off(columns: Columns, raised: Mask, base: Values | None = None) -> Optimum:
    """Return the policy with the highest min_k u_k − base_k among `raised`, shape (object,); the base is 0 if None."""
    nothing, nobody = np.zeros(len(raised)), np.full(len(raised), -np.inf)
    return maximise(columns, lambda means: raise_smallest(means, raised, nobody, nothing if base is None else base))


def raise_in_turn(columns: Columns, kept: Mask) -> Optimum:
    """Return the policy with the highest smallest mean among `kept`, then the highest second smallest, and so on.

    Whose mean has a price above 0 cannot have more; it is held there, and the others are raised. The weights are the
    sum of those of all steps, each summing to 1: the result is best at all of them.
    """
    raised, levels, total = kept.copy(), np.full(len(kept), -np.inf), np.zeros(len(kept))
    while True:
        optimum = maximise(columns, _lift(raised, levels))
        total += optimum.weights / optimum.weights.sum()
        held = raised & (optimum.weights > HELD)
        levels[held] = optimum.means[raised].min()
        levels = np.minimum(levels, np.where(np.isfinite(levels), optimum.means, levels))
        raised &= ~held
        if not raised.any() or not held.any():
            break
    total /= total.sum()
    gap = max(0.0, float(total @ columns.price(total)) - float(total @ optimum.means))
    return Optimum(optimum.means, total, gap, columns.passes, optimum.shares, optimum.directions)


def _lift(raised: Mask, levels: Values) -> Callable[[Values], Master]:
    nothing, who, least = np.zeros(len(raised)), raised.copy(), levels.copy()
    return lambda means: raise_smallest(means, who, least, nothing)


def mixture(parts: Sequence[Part], optimum: Optimum) -> list[Values]:
    """Return the probability of each action in the contexts of each part, shape (action, context)."""
    return [_mixture_in(part, optimum) for part in parts]


def _mixture_in(part: Part, optimum: Optimum) -> Values:
    probabilities = np.zeros(part.expected.values.shape[1:])
    contexts = np.arange(part.expected.n_contexts)
    for share, direction in zip(optimum.shares, optimum.directions, strict=True):
        probabilities[best_codes(part.expected, direction @ part.shares), contexts] += share
    return np.asarray(probabilities / probabilities.sum(axis=0))
