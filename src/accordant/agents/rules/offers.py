"""Offers so far, as a view shows them."""

from __future__ import annotations

from collections.abc import Iterator

from accordant.agents.moves import Answer, Contestation, Move, Proposal
from accordant.agents.view import View
from accordant.allocations import Allocation


def offered(move: Move) -> Proposal | None:
    """Return the proposal that a move makes, or None for a ballot."""
    if isinstance(move, Proposal):
        return move
    if isinstance(move, Contestation):
        return move.revised
    return move.counter if isinstance(move, Answer) else None


def offers(view: View) -> Iterator[tuple[str, Allocation]]:
    """Yield agents with what they offered, oldest first: the history, then standing proposals that it does not hold."""
    last: dict[str, Allocation] = {}
    for turn in view.history:
        proposal = offered(turn.move)
        if proposal is not None:
            last[turn.agent] = proposal.allocation
            yield turn.agent, proposal.allocation
    for name in sorted(view.proposals):
        standing = view.proposals[name].allocation
        if last.get(name) != standing:
            yield name, standing


def offers_by_agent(view: View) -> dict[str, tuple[Allocation, ...]]:
    """Return what each agent offered, oldest first; agents by name."""
    made: dict[str, list[Allocation]] = {}
    for name, allocation in offers(view):
        made.setdefault(name, []).append(allocation)
    return {name: tuple(made[name]) for name in sorted(made)}
