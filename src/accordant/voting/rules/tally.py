"""`Tally`: the ballots of some contexts, with the reductions that voting rules share, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.kernels import Compiled, compiled
from accordant.strategies.block import Block, Workspace
from accordant.voting import Profile
from accordant.voting.ballots import rank_type
from accordant.voting.rules.sums import in_whole_units, settle, whole

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MANY_CONTEXTS = 32  # from here on kernels over contexts are faster than numpy over voters, and worth loading
MANY_ALTERNATIVES = 32  # from here on a kernel is worth loading for a single context


def suited(
    kernel: Compiled[Parameters, Result], n_contexts: int, n_alternatives: int = 1
) -> Callable[Parameters, Result]:
    """Return a kernel, or for little work the same function in Python, which need not be compiled or loaded."""
    return kernel if n_contexts >= MANY_CONTEXTS or n_alternatives >= MANY_ALTERNATIVES else kernel.python


def ranks_by_reward(rewards: Values, tolerance: float) -> Integers:
    """Return how many actions each stakeholder rewards more, by more than the tolerance.

    Being level within a tolerance is not transitive, these numbers are: a ≈ b ≈ c with a above c gives a and b rank 0
    and c rank 1.

    Parameters
    ----------
    rewards
        E, shape (stakeholder, action, context).
    tolerance
        Rewards this close are level.

    Returns
    -------
    Shape (stakeholder, action, context), the smallest integers that hold them.
    """
    n_stakeholders, n_actions, n_contexts = rewards.shape
    ranks: Integers = np.zeros((n_stakeholders, n_actions, n_contexts), dtype=rank_type(n_actions))
    if n_contexts >= MANY_CONTEXTS:
        count_better(rewards, tolerance, ranks)
        return ranks
    for a in range(n_actions - 1):
        difference = rewards[:, a : a + 1] - rewards[:, a + 1 :]
        ranks[:, a + 1 :] += difference > tolerance
        ranks[:, a] += (difference < -tolerance).sum(axis=1, dtype=ranks.dtype)
    return ranks


@compiled
def count_better(rewards: Values, tolerance: float, ranks: Integers) -> None:
    """Add to `ranks` how many actions each stakeholder rewards more.

    In NumPy::

        better = rewards[:, None] - rewards[:, :, None] > tolerance  # (voter, action, other action, context)
        ranks += better.sum(axis=2).astype(ranks.dtype)
    """
    n_stakeholders, n_actions, n_contexts = rewards.shape
    for i in range(n_stakeholders):
        for a in range(n_actions):
            first, rank_of_first = rewards[i, a], ranks[i, a]
            for b in range(a + 1, n_actions):
                second, rank_of_second = rewards[i, b], ranks[i, b]
                for t in range(n_contexts):
                    difference = first[t] - second[t]
                    rank_of_second[t] += difference > tolerance
                    rank_of_first[t] += difference < -tolerance


def weighted_margins(ranks: Integers, weights: Values, margins: Values) -> None:
    """Write Σ_i w_i ([i ranks a above b] − [i ranks b above a]), shape (a, b, context).

    Parameters
    ----------
    ranks
        Smaller is better, shape (voter, alternative, context).
    weights
        Shape (voter,).
    margins
        Where the result goes; free of rounding noise, so that equal margins are equal numbers.
    """
    _, n_alternatives, n_contexts = ranks.shape
    if n_contexts >= MANY_CONTEXTS:
        sum_margins(np.ascontiguousarray(ranks), weights, margins)
    else:
        by_alternative = np.ascontiguousarray(ranks.transpose(1, 0, 2))
        for a in range(n_alternatives):
            margins[a, a] = 0.0
            margins[a, a + 1 :] = weights @ np.sign(by_alternative[a + 1 :] - by_alternative[a]).astype(np.float64)
            margins[a + 1 :, a] = -margins[a, a + 1 :]
    if not whole(weights):
        settle(margins, weights)


def condorcet_winners(margins: Values) -> Mask:
    """Return whether each alternative beats every other one, shape (alternative, context)."""
    return np.asarray((margins > 0).sum(axis=1) == len(margins) - 1)


@compiled
def sum_margins(ranks: Integers, weights: Values, margins: Values) -> None:
    """Write the margins, whole rows of contexts at a time.

    In NumPy::

        above = ranks[:, :, None] < ranks[:, None]
        margins[:] = np.tensordot(weights, above * 1.0 - above.swapaxes(1, 2), axes=1)
    """
    n_voters, n_alternatives, n_contexts = ranks.shape
    for a in range(n_alternatives):
        margins[a, a, :] = 0.0
        for b in range(a + 1, n_alternatives):
            margin, reverse = margins[a, b], margins[b, a]
            margin[:] = 0.0
            for i in range(n_voters):
                first, second, weight = ranks[i, a], ranks[i, b], weights[i]
                for t in range(n_contexts):
                    margin[t] += (weight if first[t] < second[t] else 0.0) - (weight if first[t] > second[t] else 0.0)
            for t in range(n_contexts):
                reverse[t] = -margin[t]


@dataclass(frozen=True, eq=False)
class Tally:
    """Ballots in some contexts.

    Attributes
    ----------
    ranks
        How many alternatives each voter puts above each, shape (voter, alternative, context).
    weights
        Shape (voter,); whole numbers if they have a common unit.
    unit
        Weight per unit of `weights`: what scores that are sums of weights are multiplied by.
    grades
        Higher is better, shape (voter, alternative, context); None if ballots carry none.
    approvals
        Which alternatives voters said they approve, same shape; None if they did not say.
    rewards
        Whether the grades are expected rewards, a continuous scale from 0 to 1.
    tolerance
        Grades this close are equal.
    workspace
        Gives the array of the margins.
    """

    ranks: Integers
    weights: Values
    unit: float = 1.0
    grades: Values | None = None
    approvals: Mask | None = None
    rewards: bool = False
    tolerance: float = 0.0
    workspace: Workspace = field(default_factory=Workspace, repr=False)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def margins(self) -> Values:
        """Weight that prefers a to b minus weight that prefers b to a, shape (a, b, context)."""
        _, n_alternatives, n_contexts = self.ranks.shape
        margins = self.workspace.take(n_alternatives, n_alternatives, n_contexts)
        weighted_margins(self.ranks, self.weights, margins)
        return margins

    @cached_property
    def condorcet(self) -> Mask:
        """Whether an alternative beats every other one, shape (alternative, context)."""
        return condorcet_winners(self.margins)

    @property
    def condorcet_flag(self) -> dict[str, Mask]:
        """Whether there is an alternative that beats every other one, shape (context,), as a flag of decisions."""
        return {"condorcet_winner_exists": np.asarray(self.condorcet.any(axis=0))}


def tally_of_profile(profile: Profile) -> Tally:
    """Return the tally of ballots that came in directly."""
    weights, unit = in_whole_units(profile.weights)
    return Tally(profile.ranks, weights, unit, profile.grades, profile.approvals)


def tally_of_block(block: Block, weights: Values) -> Tally:
    """Return the tally of the ballots that E induces, the same one for every rule that weighs stakeholders alike."""
    known = _TALLIES.setdefault(block, {})
    key = weights.tobytes()
    if key not in known:
        ranks = next(iter(known.values())).ranks if known else ranks_by_reward(block.values, block.tolerance)
        numbers, unit = in_whole_units(weights)
        known[key] = Tally(
            ranks,
            numbers,
            unit / min(1.0, weights.sum()),  # scores near 0 tie by an absolute tolerance: no tiny weights
            block.values,
            rewards=True,
            tolerance=block.tolerance,
            workspace=block.shared,
        )
    return known[key]


_TALLIES: WeakKeyDictionary[Block, dict[bytes, Tally]] = WeakKeyDictionary()


def first_places(ranks: Integers, weights: Values, remaining: Mask | None = None, *, shared: bool) -> Values:
    """Return the weight of the voters who put each alternative first among those that remain.

    Parameters
    ----------
    ranks
        Smaller is better, shape (voter, alternative, context).
    weights
        Shape (voter,).
    remaining
        Which alternatives count, shape (alternative, context), at least one per context; None means all.
    shared
        Whether a voter with k alternatives tied for the first place gives each 1/k of the weight; otherwise each gets
        all of it.

    Returns
    -------
    Shape (alternative, context), 0 for those that do not remain; equal sums are equal numbers.
    """
    _, n_alternatives, n_contexts = ranks.shape
    if n_contexts < MANY_CONTEXTS:
        first = _first(ranks, remaining)
        sizes = first.sum(axis=1, keepdims=True) if shared else np.ones(1)
        parts = (first / sizes).reshape(len(ranks), -1)
        return settle((weights @ parts).reshape(n_alternatives, n_contexts), weights)
    sums = np.empty((n_alternatives, n_contexts))
    kept = np.ones((n_alternatives, n_contexts), dtype=bool) if remaining is None else remaining
    sum_first_places(np.ascontiguousarray(ranks), weights, kept, shared, np.iinfo(ranks.dtype).max, sums)
    return sums if whole(weights) and not shared else settle(sums, weights)


def last_places(ranks: Integers, weights: Values, remaining: Mask | None = None, *, shared: bool) -> Values:
    """Return the weight of the voters who put each alternative last among those that remain; see `first_places`."""
    return first_places(np.negative(ranks), weights, remaining, shared=shared)


def _first(ranks: Integers, remaining: Mask | None) -> Mask:
    """Return which alternatives each voter puts first, shape (voter, alternative, context)."""
    if remaining is None:
        return np.asarray(ranks == ranks.min(axis=1, keepdims=True))
    kept = np.where(remaining, ranks, np.iinfo(ranks.dtype).max)
    return np.asarray((kept == kept.min(axis=1, keepdims=True)) & remaining)


@compiled
def sum_first_places(
    ranks: Integers, weights: Values, remaining: Mask, shared: bool, worse_than_any: int, sums: Values
) -> None:
    """Write the weight of first places, whole rows of contexts at a time.

    In NumPy::

        kept = np.where(remaining, ranks, worse_than_any)
        first = (kept == kept.min(axis=1, keepdims=True)) & remaining
        sums[:] = np.tensordot(weights, first / (first.sum(axis=1, keepdims=True) if shared else 1.0), axes=1)
    """
    n_voters, n_alternatives, n_contexts = ranks.shape
    best, parts = np.empty(n_contexts, dtype=ranks.dtype), np.empty(n_contexts)
    sums[:] = 0.0
    for i in range(n_voters):
        weight = weights[i]
        best[:] = worse_than_any
        for a in range(n_alternatives):
            rank, kept = ranks[i, a], remaining[a]
            for t in range(n_contexts):
                best[t] = rank[t] if kept[t] and rank[t] < best[t] else best[t]
        parts[:] = weight
        if shared:
            parts[:] = 0.0
            for a in range(n_alternatives):
                rank, kept = ranks[i, a], remaining[a]
                for t in range(n_contexts):
                    parts[t] += 1.0 if kept[t] and rank[t] == best[t] else 0.0
            for t in range(n_contexts):
                parts[t] = weight / parts[t]
        for a in range(n_alternatives):
            rank, kept, total = ranks[i, a], remaining[a], sums[a]
            for t in range(n_contexts):
                total[t] += parts[t] if kept[t] and rank[t] == best[t] else 0.0
