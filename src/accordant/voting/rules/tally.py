"""`Tally`: the ballots of some contexts, with the reductions that voting rules share, each computed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Values
from accordant.strategies.block import Block, Workspace
from accordant.voting import Profile
from accordant.voting.rules.margins import condorcet_winners, weighted_margins
from accordant.voting.rules.ranks import ranks_by_reward
from accordant.voting.rules.sums import in_whole_units


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
    approvals: NDArray[np.bool_] | None = None
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
    def condorcet(self) -> NDArray[np.bool_]:
        """Whether an alternative beats every other one, shape (alternative, context)."""
        return condorcet_winners(self.margins)

    @property
    def condorcet_flag(self) -> dict[str, NDArray[np.bool_]]:
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
