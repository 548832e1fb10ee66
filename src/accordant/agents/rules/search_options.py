"""Options for one agent where all feasible allocations are too many to list."""

from __future__ import annotations

from accordant.agents.view import View
from accordant.allocations import AdditiveUtility, Utility
from accordant.allocations.options import Options

CONSIDERED = 400  # options: twice the weightings that a search tries; what it adds beyond them is random


def searched(view: View, utility: Utility) -> Options:
    """Return allocations to choose from: standing proposals, one's own best, and what lies between them.

    What lies between is found as the best for weightings of the own utility and of the shares that others propose.
    The best by an additive utility is exact, by another what an exchange search finds.
    """
    from accordant.allocations.search import pool

    standing = [each.allocation for _, each in sorted(view.proposals.items())]
    towards = [AdditiveUtility(each.allocation.shares) for _, each in sorted(view.others.items())]
    return pool(view.scenario, [utility, *towards], standing, view.seed, CONSIDERED)
