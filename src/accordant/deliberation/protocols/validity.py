"""What every move is checked for before anything reads it: types, content, whose claimants, a utility that can be read.

A move that fails is invalid and ends the deliberation. What only does not count is the matter of `admissibility`.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, SupportsIndex, TypeVar, get_args

import numpy as np

from accordant.agents import (
    Acted,
    Agent,
    Answer,
    Ballot,
    Contestation,
    Move,
    Proposal,
    Reason,
    Reply,
    View,
    check_allowed,
)
from accordant.agents.moves import Answering
from accordant.allocations import Allocation, Scenario, Utility
from accordant.allocations.allocation import unlike
from accordant.allocations.scenario import sealed
from accordant.deliberation.protocols.views import Undisclosed
from accordant.errors import InputError, InvalidMoveError, allowed_names

Moved = TypeVar("Moved", bound=Move)

KINDS: tuple[str, ...] = get_args(Answering)
READING = (InputError, ValueError, TypeError, IndexError, AttributeError)
"""What a utility that does not do what `Utility` asks usually raises."""


def valid(acted: object, kind: type[Moved], view: View, scenario: Scenario) -> Moved:
    """Return the move that was made, with its proposals for the claimants with all facts.

    `acted`: what the agent returned; `kind`: which move was asked for; `view`: what the agent was shown; `scenario`:
    with all facts.

    Raises InvalidMoveError if something is of a wrong type, the ranking is none of all candidates, an allocation is for
    other claimants, demands or resources or infeasible, or a utility cannot be read.
    """
    _typed(acted, Acted, "what the agent returned")
    assert isinstance(acted, Acted)
    _typed(acted.generated_by, str, "who wrote the texts")
    _typed(acted.fallback, bool, "whether a rule stood in")
    _typed(acted.repairs, int, "the number of repairs")
    move: Any = acted.move
    if not isinstance(move, kind):
        raise InvalidMoveError(f"the move is a {type(move).__name__}; allowed: a {kind.__name__}")
    made: Any = _checked(move, view, scenario)
    return made  # type: ignore[no-any-return]


def _checked(move: Move, view: View, scenario: Scenario) -> Move:
    if isinstance(move, Proposal):
        return _bound(move, scenario)
    if isinstance(move, Contestation):
        for reply in _tuple(move.replies, Reply, "the replies"):
            _check_reply(reply)
        return replace(move, revised=_bound(move.revised, scenario))
    if isinstance(move, Answer):
        if move.accepts is not None:
            _typed(move.accepts, str, "the agent whose proposal is accepted")
        return replace(move, counter=_bound(move.counter, scenario))
    _check_ranking(move, len(view.candidates))
    return move


def _bound(proposal: object, scenario: Scenario) -> Proposal:
    """Return a proposal for the claimants with all facts, from one for the claimants as its agent saw them."""
    _typed(proposal, Proposal, "the proposal")
    assert isinstance(proposal, Proposal)
    allocation = proposal.allocation
    _typed(allocation, Allocation, "what is proposed")
    differs = unlike(allocation.scenario, scenario)
    if differs is not None:
        raise InvalidMoveError(f"the proposal {differs}")
    for reason in _tuple(proposal.reasons, Reason, "the reasons"):
        _check_reason(reason)
    _tuple(proposal.retrieved, str, "the passages looked up")
    _check_utility(proposal.utility, len(scenario.ids))
    try:
        return replace(proposal, allocation=Allocation(scenario, allocation.granted))
    except InputError as error:
        raise InvalidMoveError(f"the proposal is infeasible: {error}") from None


def _check_utility(utility: Utility, n_claimants: int) -> None:
    """Refuse a utility that is another's, writes what it reads, gives no finite numbers, or cannot be written down."""
    if isinstance(utility, Undisclosed) or not callable(getattr(utility, "of", None)):
        raise InvalidMoveError(f"the proposal has the utility {utility!r:.80}; allowed: the agent's own")
    try:
        numbers = np.asarray(utility.of(sealed(np.eye(n_claimants))), dtype=np.float64)
    except READING as error:
        raise InvalidMoveError(f"its utility cannot be read: {error}") from error
    if numbers.shape != (n_claimants,) or not np.isfinite(numbers).all():
        raise InvalidMoveError(
            f"its utility cannot be read: shape {numbers.shape} for {n_claimants} allocations; "
            "allowed: one finite number for each"
        )
    try:
        json.dumps(utility.to_json(), allow_nan=False)
    except READING as error:
        raise InvalidMoveError(f"its utility cannot be written down as JSON: {error}") from error


def _check_reply(reply: Reply) -> None:
    _typed(reply.patient, str, "the patient of a reply")
    if not isinstance(reply.kind, str) or reply.kind not in KINDS:
        raise InvalidMoveError(
            f"reply on {reply.patient!r:.80} is of the kind {reply.kind!r:.80}; {allowed_names(KINDS, reply.kind)}"
        )
    if reply.reason is not None:
        _typed(reply.reason, Reason, f"the reason of the reply on {reply.patient!r:.80}")
        _check_reason(reply.reason)


def _check_reason(reason: Reason) -> None:
    _typed(reason.patient, str, "the patient of a reason")
    on = f"of the reason on {reason.patient!r:.80}"
    _typed(reason.code, str, f"the code {on}")
    _typed(reason.text, str, f"the text {on}")
    _tuple(reason.facts, str, f"the facts {on}")
    _tuple(reason.passages, str, f"the passages {on}")


def _check_ranking(ballot: Ballot, n_candidates: int) -> None:
    ranking: object = ballot.ranking
    whole = isinstance(ranking, tuple) and all(type(candidate) is int for candidate in ranking)
    if not whole or sorted(ballot.ranking) != list(range(n_candidates)):
        raise InvalidMoveError(
            f"the ranking is {ranking!r:.80}; allowed: every candidate from 0 to {n_candidates - 1} once"
        )


def _tuple(parts: Any, kind: type, what: str) -> Any:
    """Return what is a tuple of one type, or refuse it."""
    _typed(parts, tuple, what)
    for part in parts:
        if not isinstance(part, kind):
            raise InvalidMoveError(f"{what}: found {part!r:.80} among them; allowed: a tuple of {kind.__name__}")
    return parts


def _typed(value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise InvalidMoveError(f"{what}: found {value!r:.80}; allowed: {kind.__name__}")


def checked_agents(agents: Iterable[Agent], *, allow_adversarial: bool) -> tuple[Agent, ...]:
    """Return the agents as a tuple.

    Raises InputError if there is none, a name is no text, two share a name, or one is adversarial without leave.
    """
    taking_part = tuple(agents)
    if not taking_part:
        raise InputError("a deliberation needs at least one agent")
    names = [agent.name for agent in taking_part]
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"an agent is called {name!r}; allowed: a text")
        if names.count(name) > 1:
            raise InputError(f"two agents are called {name!r}; allowed: a name of its own for each")
    for agent in taking_part:
        check_allowed(agent, allow_adversarial=allow_adversarial)
    return taking_part


def checked_disagreement(given: Allocation, scenario: Scenario) -> Allocation:
    """Return the same grants to the claimants with all facts.

    Raises InputError if it is for other claimants, demands or resources, or infeasible here.
    """
    differs = unlike(given.scenario, scenario)
    if differs is not None:
        raise InputError(f"the disagreement allocation {differs}")
    return Allocation(scenario, given.granted)


def whole(number: int, what: str) -> int:
    """Return a whole number as Python's own, whatever its type: records and hashes know no other.

    Raises InputError if it is none; a truth value is none either.
    """
    if isinstance(number, bool) or not isinstance(number, SupportsIndex):
        raise InputError(f"{what} is {number!r}; allowed: a whole number")
    return operator.index(number)
