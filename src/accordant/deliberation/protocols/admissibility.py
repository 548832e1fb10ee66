"""Which reasons count: none that reads a protected fact, and none that cites what was never looked up.

What does not count is void and logged. Nothing else changes: the allocation proposed with a void reason stands, and a
reply whose reason is void counts as ``maintain``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import get_args

from accordant.agents import Contestation, Proposal, Reason, Reply
from accordant.agents.moves import Answering
from accordant.allocations import Scenario
from accordant.errors import InvalidMoveError, allowed_names

NEEDS_REASON = ("challenge", "justify")
KINDS: tuple[str, ...] = get_args(Answering)


@dataclass(frozen=True)
class Fault:
    """Why a reason does not count.

    Attributes
    ----------
    text
        For the transcript.
    protected
        Whether the reason cites a protected fact.
    """

    text: str
    protected: bool = False


@dataclass(frozen=True)
class Admitted:
    """What counts of a proposal.

    Attributes
    ----------
    proposal
        With the reasons that count.
    faults
        Of the others, in order.
    """

    proposal: Proposal
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class AdmittedReplies:
    """What counts of replies.

    Attributes
    ----------
    replies
        One for each disputed patient, in the order of the patients.
    faults
        Of what does not count, in order.
    """

    replies: tuple[Reply, ...]
    faults: tuple[Fault, ...]


def fault_of(reason: Reason, scenario: Scenario, retrieved: Collection[str]) -> Fault | None:
    """Return why a reason does not count, or None if it does.

    Parameters
    ----------
    reason
        What is judged.
    scenario
        Whose patients and protected facts there are.
    retrieved
        Ids of the passages that were looked up for the agent so far.
    """
    if reason.patient not in scenario.ids:
        return Fault(f"reason on {reason.patient!r}, who is no patient")
    cited = [name for name in reason.facts if name in scenario.protected]
    if cited:
        return Fault(f"reason on {reason.patient!r} cites the protected fact {cited[0]!r}", protected=True)
    invented = [passage for passage in reason.passages if passage not in retrieved]
    if invented:
        return Fault(f"reason on {reason.patient!r} cites the passage {invented[0]!r}, which was not looked up")
    return None


def admitted(proposal: Proposal, scenario: Scenario, retrieved: Collection[str]) -> Admitted:
    """Return a proposal with the reasons that count: the first on each patient that has no fault."""
    kept: dict[str, Reason] = {}
    faults: list[Fault] = []
    for reason in proposal.reasons:
        fault = fault_of(reason, scenario, retrieved)
        if fault is None and reason.patient in kept:
            fault = Fault(f"second reason on {reason.patient!r}")
        if fault is None:
            kept[reason.patient] = reason
        else:
            faults.append(fault)
    return Admitted(replace(proposal, reasons=tuple(kept.values())), tuple(faults))


def admitted_replies(
    move: Contestation, scenario: Scenario, disputed: Iterable[str], retrieved: Collection[str]
) -> AdmittedReplies:
    """Return the replies that count; a disputed patient without one counts as ``maintain``.

    Raises
    ------
    InvalidMoveError
        If a reply is of an unknown kind.
    """
    given: dict[str, Reply] = {}
    faults: list[Fault] = []
    patients = tuple(disputed)
    for reply in move.replies:
        if reply.kind not in KINDS:
            raise InvalidMoveError(
                f"reply on {reply.patient!r} is of the kind {reply.kind!r}; {allowed_names(KINDS, reply.kind)}"
            )
        if reply.patient not in patients:
            faults.append(Fault(f"reply on {reply.patient!r}, who is not disputed"))
        elif reply.patient in given:
            faults.append(Fault(f"second reply on {reply.patient!r}"))
        else:
            fault = _fault_of_reply(reply, scenario, retrieved)
            given[reply.patient] = reply if fault is None else Reply(reply.patient, "maintain")
            faults += [] if fault is None else [fault]
    faults += [Fault(f"no reply on {patient!r}: counts as maintain") for patient in patients if patient not in given]
    return AdmittedReplies(tuple(given.get(each, Reply(each, "maintain")) for each in patients), tuple(faults))


def _fault_of_reply(reply: Reply, scenario: Scenario, retrieved: Collection[str]) -> Fault | None:
    if reply.reason is None:
        needed = reply.kind in NEEDS_REASON
        return Fault(f"{reply.kind} on {reply.patient!r} without a reason") if needed else None
    if reply.reason.patient != reply.patient:
        return Fault(f"reply on {reply.patient!r} with a reason on {reply.reason.patient!r}")
    return fault_of(reply.reason, scenario, retrieved)
