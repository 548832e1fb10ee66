"""Revision: take formulas into a base and give up as little as possible of what it held.

[ours] The formulas given up are a hitting set of all conflicts with the smallest sum of entrenchment weights. The
search is the hitting-set tree of Reiter (1987), cheapest first, so the first consistent base is an optimum; equal costs
go to the set that comes first in text order. Sums are exact decimals. The tree can be exponential: after a stated
number of nodes the cheapest member of each remaining conflict goes, and the revision says that it is not exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accordant.deliberation.dialogue.knowledge import Formula, KnowledgeBase, conflict, in_order, is_consistent
from accordant.errors import InputError

MOST_NODES = 5_000  # of the hitting-set tree: conflicts of a dozen rules are solved exactly, and no call takes minutes


@dataclass(frozen=True)
class Revision:
    """What a base took in and what it gave up for that.

    Attributes
    ----------
    base
        The revised base; consistent.
    added, dropped
        Formulas in text order.
    cost
        Sum of the weights of what was dropped.
    exact
        Whether no cheaper set would do; False if the search stopped at its limit.
    """

    base: KnowledgeBase
    added: tuple[Formula, ...]
    dropped: tuple[Formula, ...]
    cost: float
    exact: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return what changed, without the base."""
        return {
            "added": [str(formula) for formula in self.added],
            "dropped": [str(formula) for formula in self.dropped],
            "cost": self.cost,
            "exact": self.exact,
        }


def revised(
    base: KnowledgeBase, added: Iterable[Formula] = (), *, kept: Iterable[Formula] = (), most_nodes: int = MOST_NODES
) -> Revision:
    """Add formulas to a base and drop the cheapest set of others that makes it consistent.

    Parameters
    ----------
    base
        Before; it may be inconsistent, so that adding nothing repairs it.
    added
        Formulas to take in; they are not dropped.
    kept
        Formulas of the base that are not dropped either.
    most_nodes
        Nodes of the search after which it goes on greedily, at least 0.

    Raises
    ------
    InputError
        If what must stay is inconsistent by itself.
    """
    added = in_order(added)
    firm = frozenset(added) | (frozenset(kept) & base.held)
    if not is_consistent(in_order(firm)):
        raise InputError(f"{', '.join(map(str, in_order(firm)))} are inconsistent together, so that none can stay")
    dropped, exact = _cheapest(base, in_order((*base.formulas, *added)), firm, most_nodes)
    return Revision(
        base.changed(added, dropped),
        tuple(formula for formula in added if formula not in base.held),
        dropped,
        float(_cost(base, dropped)),
        exact,
    )


def _cost(base: KnowledgeBase, formulas: Iterable[Formula]) -> Fraction:
    """Return the sum of weights as an exact decimal, so that 0.1 + 0.2 is as much as 0.3."""
    return sum((Fraction(repr(base.weight(formula))) for formula in formulas), Fraction(0))


def _cheapest(
    base: KnowledgeBase, everything: tuple[Formula, ...], firm: frozenset[Formula], most_nodes: int
) -> tuple[tuple[Formula, ...], bool]:
    """Return the cheapest formulas to drop, in text order, and whether the search was complete."""
    by_text = {str(formula): formula for formula in everything}
    frontier: list[tuple[Fraction, tuple[str, ...]]] = [(Fraction(0), ())]
    seen: set[tuple[str, ...]] = {()}
    nodes = 0
    while True:
        cost, names = heapq.heappop(frontier)
        dropped = frozenset(by_text[name] for name in names)
        clash = conflict(formula for formula in everything if formula not in dropped)
        if clash is None:
            return in_order(dropped), True
        if nodes >= most_nodes:
            return _greedy(base, everything, firm, dropped), False
        nodes += 1
        for formula in in_order(clash - firm):
            grown = tuple(sorted((*names, str(formula))))
            if grown not in seen:
                seen.add(grown)
                heapq.heappush(frontier, (cost + _cost(base, (formula,)), grown))


def _greedy(
    base: KnowledgeBase, everything: tuple[Formula, ...], firm: frozenset[Formula], dropped: frozenset[Formula]
) -> tuple[Formula, ...]:
    """Drop the cheapest member of each conflict that is left, the first by text among equals."""
    while clash := conflict(formula for formula in everything if formula not in dropped):
        dropped |= {min(in_order(clash - firm), key=base.weight)}
    return in_order(dropped)
