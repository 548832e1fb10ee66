"""Which reasons count: none that cites a protected or unseen fact, or a passage that was not looked up.

What does not count is void and logged. Nothing else changes: the allocation proposed with a void reason stands, and a
reply whose reason is void counts as ``maintain``. Every part of a move is judged here, once, and everything that is
wrong with it is noted: a citation of a protected fact is found in a part that is void for another reason, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from accordant.agents import Fault, Proposal, Reason, Reply
from accordant.agents.moves import WITH_REASON

SHOWN = 80  # characters of an agent's own words in a fault


@dataclass(frozen=True)
class Known:
    """What reasons are judged against.

    `patients`: ids; `facts`: names of the facts that the agent was shown; `protected`: names of the facts that no
    reason may cite; `retrieved`: ids of the passages that were looked up for the agent so far.
    """

    claimants: Collection[str]
    facts: Collection[str]
    protected: Collection[str]
    retrieved: Collection[str]


@dataclass(frozen=True)
class Admitted:
    """What counts of a proposal.

    `proposal`: with the reasons that count; `faults`: of the others, in order.
    """

    proposal: Proposal
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class AdmittedReplies:
    """What counts of replies.

    `replies`: one for each disputed claimant, in the order of the claimants; `faults`: of what does not count, in
    order.
    """

    replies: tuple[Reply, ...]
    faults: tuple[Fault, ...]


def faults_of(reason: Reason, known: Known) -> tuple[Fault, ...]:
    """Return everything that is wrong with a reason taken alone; nothing if it counts."""
    on = f"reason on {quoted(reason.patient)}"
    protected = tuple(name for name in reason.facts if name in known.protected)
    unseen = tuple(name for name in reason.facts if name not in known.facts and name not in known.protected)
    invented = tuple(name for name in reason.passages if name not in known.retrieved)
    faults: list[Fault] = []
    if protected:
        faults.append(Fault(f"{on} cites the protected fact {listed(protected)}", "protected_fact", names=protected))
    if unseen:
        text = f"{on} cites the fact {listed(unseen)}, which the agent was not shown"
        faults.append(Fault(text, "unseen_fact", names=unseen))
    if reason.patient not in known.claimants:
        faults.append(Fault(f"{on}, who is no patient", "no_patient"))
    if invented:
        text = f"{on} cites the passage {listed(invented)}, which was not looked up"
        faults.append(Fault(text, "not_looked_up", names=invented))
    return tuple(faults)


def admit(proposal: Proposal, known: Known) -> Admitted:
    """Return a proposal with the reasons that count: the first on each claimant that has no fault."""
    kept: dict[str, Reason] = {}
    faults: list[Fault] = []
    for place, reason in enumerate(proposal.reasons):
        own = list(faults_of(reason, known))
        if reason.patient in kept:
            own.append(Fault(f"second reason on {quoted(reason.patient)}", "second"))
        if not own:
            kept[reason.patient] = reason
        faults += [replace(fault, part="reason", place=place) for fault in own]
    return Admitted(replace(proposal, reasons=tuple(kept.values())), tuple(faults))


def admit_replies(replies: Iterable[Reply], disputed: Iterable[str], known: Known) -> AdmittedReplies:
    """Return the replies that count; a disputed claimant without one counts as ``maintain``."""
    given: dict[str, Reply] = {}
    faults: list[Fault] = []
    claimants = tuple(disputed)
    for place, reply in enumerate(replies):
        own = list(_faults_of_reply(reply, known))
        if reply.patient not in claimants:
            own.append(Fault(f"reply on {quoted(reply.patient)}, who is not disputed", "not_disputed"))
        elif reply.patient in given:
            own.append(Fault(f"second reply on {quoted(reply.patient)}", "second"))
        else:
            given[reply.patient] = Reply(reply.patient, "maintain") if own else reply
        faults += [replace(fault, part="reply", place=place) for fault in own]
    missing = [claimant for claimant in claimants if claimant not in given]
    faults += [Fault(f"no reply on {quoted(claimant)}: counts as maintain", "no_reply") for claimant in missing]
    return AdmittedReplies(
        tuple(given.get(claimant, Reply(claimant, "maintain")) for claimant in claimants), tuple(faults)
    )


def counted(proposal: Proposal, faults: Iterable[Fault]) -> Proposal:
    """Return a proposal with the reasons that count, by the faults that were found."""
    wrong = places(faults, "reason")
    return replace(proposal, reasons=tuple(reason for at, reason in enumerate(proposal.reasons) if at not in wrong))


def places(faults: Iterable[Fault], part: str) -> frozenset[int]:
    """Return the positions of the parts of one kind that have a fault."""
    return frozenset(fault.place for fault in faults if fault.part == part and fault.place is not None)


def cites_protected(faults: Iterable[Fault]) -> bool:
    """Return whether a protected fact was cited."""
    return any(fault.why == "protected_fact" for fault in faults)


def quoted(name: str) -> str:
    """Return an agent's own word in quotes, cut where it is long."""
    return repr(name if len(name) <= SHOWN else f"{name[: SHOWN - 1]}…")


def listed(names: Iterable[str]) -> str:
    """Return agents' own words in quotes, each once."""
    return ", ".join(map(quoted, dict.fromkeys(names)))


def _faults_of_reply(reply: Reply, known: Known) -> tuple[Fault, ...]:
    on = f"on {quoted(reply.patient)}"
    if reply.reason is None:
        needed = reply.kind in WITH_REASON
        return (Fault(f"{reply.kind} {on} without a reason", "no_reason"),) if needed else ()
    faults = faults_of(reply.reason, known)
    if reply.reason.patient != reply.patient:
        text = f"reply {on} with a reason on {quoted(reply.reason.patient)}"
        return (*faults, Fault(text, "other_patient"))
    return faults
