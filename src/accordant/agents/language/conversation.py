"""`converse`: ask, say what is wrong with the answer, and ask again, until nothing is or the repairs are used up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from accordant.agents.language.answers import BadAnswerError
from accordant.agents.language.caller import Caller
from accordant.agents.language.keys import readable
from accordant.agents.language.prompt import SHOWN_ANSWER, repair
from accordant.agents.language.provider import Fault, Message, Mode, Reply, Request

REASON_LENGTH = 600  # characters of the message of an `InvalidMoveError`
BROKEN_PROMISES = 2  # answers in a row that are no JSON; then the form is asked for in words alone

Read = TypeVar("Read")


@dataclass(frozen=True)
class Made(Generic[Read]):
    """What was read from a valid answer, and after how many repairs."""

    content: Read
    repairs: int


@dataclass(frozen=True)
class Unmade:
    """Why there was no valid answer, and after how many repairs."""

    reason: str
    repairs: int


def converse(
    caller: Caller,
    messages: tuple[Message, ...],
    request: Callable[[tuple[Message, ...]], Request],
    read: Callable[[Reply, Mode], Read],
) -> Made[Read] | Unmade:
    """Ask, and say what is wrong until nothing is or the repairs are used up.

    Parameters
    ----------
    caller
        Sends; its limits bound the repairs, its ledger counts them.
    messages
        The first messages.
    request
        From the conversation so far to what is sent.
    read
        From a reply and the mode in which it was asked for to what it says; raises `BadAnswerError`.
    """
    limits, ledger = caller.limits, caller.ledger
    faults: tuple[str, ...] = ()
    not_json = 0
    for repairs in range(1 + limits.repairs):
        ledger.add(repairs=int(repairs > 0))
        in_words = not_json >= BROKEN_PROMISES
        outcome, mode = caller.ask(request(messages), in_words=in_words)
        if isinstance(outcome, Fault):
            ledger.add(exhausted=int(outcome.kind == "budget"))
            return Unmade(outcome.message, repairs)
        try:
            content = read(outcome, mode)
            if in_words:
                caller.keep_to_words()
            return Made(content, repairs)
        except BadAnswerError as error:
            faults = error.faults
            not_json = 0 if error.is_json else not_json + 1
        shown = readable(outcome.text, SHOWN_ANSWER) or "(empty)"
        messages = (*messages, Message("assistant", shown), Message("user", repair(faults)))
    said = readable("; ".join(faults), REASON_LENGTH)
    return Unmade(f"no valid move after {limits.repairs} repairs: {said}", limits.repairs)


def check_whole(reply: Reply, refused: str) -> None:
    """Refuse a reply that was cut off, refused, or is empty.

    Parameters
    ----------
    reply
        What came back.
    refused
        What a model that refused is told.

    Raises
    ------
    BadAnswerError
        If it is no whole answer.
    """
    if reply.finish == "length":
        raise BadAnswerError(["the answer was cut off; give shorter texts"])
    if reply.finish == "refusal":
        raise BadAnswerError([f"the answer was refused; {refused}"])
    if not reply.text.strip():
        raise BadAnswerError(["the answer is empty"])
