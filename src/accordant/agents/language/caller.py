"""`Caller`: from a request to an answer, within a budget; `converse`: say what is wrong with it, and ask again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from accordant.agents.language.answers import BadAnswerError
from accordant.agents.language.keys import read_key, readable
from accordant.agents.language.options import BYTES_PER_TOKEN, FAR, Budget, CallLedger, Limits
from accordant.agents.language.prompt import SHOWN_ANSWER, repair
from accordant.agents.language.provider import (
    MODES,
    RETRYABLE,
    Fault,
    FaultKind,
    Message,
    Mode,
    Provider,
    Recorder,
    Replay,
    Reply,
    Request,
)
from accordant.randomness import keyed_uniform

READ: frozenset[FaultKind] = frozenset({"timeout", "malformed", "too_long"})  # a model may have read the question


@dataclass(eq=False)
class Caller:
    """Asks a provider on behalf of one agent.

    Parameters
    ----------
    provider
        Who answers; a `Replay` is asked once and costs nothing.
    base_url
        Where the key would go.
    key_variable
        Name of the environment variable with the key, or None.
    mode
        The strongest mode that is tried; becomes the one that the server took.
    """

    provider: Provider
    base_url: str
    key_variable: str | None
    limits: Limits
    budget: Budget
    ledger: CallLedger
    mode: Mode = "json_schema"
    recorder: Recorder | None = None
    sleep: Callable[[float], None] = time.sleep
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def key(self) -> str | None:
        """Return the key, read now; a replay needs none.

        Raises InputError if what is found cannot be a key.
        """
        return None if isinstance(self.provider, Replay) else read_key(self.key_variable, self.base_url)

    def ask(self, request: Request, *, in_words: bool = False) -> tuple[Reply | Fault, Mode]:
        """Return the answer, or why there is none, and the mode in which it was asked.

        A server that refuses a mode (HTTP 400, 404, 415, 422 and the like) is asked in the next weaker one. The weaker
        mode is remembered once it was answered.

        Parameters
        ----------
        request
            The mode in it does not count.
        in_words
            Ask for the form in words alone, and remember nothing; see `keep_to_words`.
        """
        if in_words:
            return self._recorded(request.asked_as(MODES[-1])), MODES[-1]
        with self._lock:
            first = MODES.index(self.mode)
        outcome: Reply | Fault = Fault("refused", "no mode was tried")
        for mode in MODES[first:]:
            outcome = self._recorded(request.asked_as(mode))
            if not isinstance(outcome, Fault):
                with self._lock:
                    self.mode = MODES[max(MODES.index(mode), MODES.index(self.mode))]
                return outcome, mode
            if outcome.kind != "refused" or mode == MODES[-1]:
                return outcome, mode
            self.ledger.add(step_downs=1)
        return outcome, MODES[-1]

    def keep_to_words(self) -> None:
        """Ask for the form in words alone from now on."""
        with self._lock:
            self.ledger.add(step_downs=int(self.mode != MODES[-1]))
            self.mode = MODES[-1]

    def _recorded(self, request: Request) -> Reply | Fault:
        """Ask through the recording, if there is one."""
        if isinstance(self.provider, Replay):
            self.ledger.add(replayed=1)
            return self.provider.complete(request)
        known = None if self.recorder is None else self.recorder.known(request)
        if known is not None:
            self.ledger.add(replayed=1)
            return known
        outcome = self._retried(request)
        return outcome if self.recorder is None else self.recorder.write(request, outcome)

    def _retried(self, request: Request) -> Reply | Fault:
        """Ask again after what may pass, at most `limits.retries` times, unless the server wants that far later."""
        outcome: Reply | Fault = Fault("budget", "nothing was asked")
        for attempt in range(1 + self.limits.retries):
            if attempt:
                self._wait(request, attempt, outcome)
            refusal = self.budget.take_call()
            if refusal is not None:
                self.ledger.add_fault("budget")
                return Fault("budget", refusal)
            self.ledger.add(retries=int(attempt > 0))
            outcome = self._once(request)
            if isinstance(outcome, Reply):
                return outcome
            self.ledger.add_fault(outcome.kind)
            if outcome.kind not in RETRYABLE:
                return outcome
            if outcome.retry_after is not None and outcome.retry_after > FAR * self.limits.longest_wait:
                self.ledger.add(given_up=1)
                return replace(outcome, message=f"{outcome.message}; it asks to wait {outcome.retry_after:.0f} s")
        return outcome

    def _once(self, request: Request) -> Reply | Fault:
        """Send one request and count what it cost."""
        self.ledger.add(calls=1)
        start = time.monotonic()
        with self.budget.time(self.limits.timeout) as seconds:
            outcome = self.provider.complete(request, self.key(), seconds)
        self.ledger.add_seconds(time.monotonic() - start)
        self._count(request, outcome)
        return outcome

    def _count(self, request: Request, outcome: Reply | Fault) -> None:
        """Count tokens: those that the server counts, otherwise about as many as there were bytes for."""
        if isinstance(outcome, Fault):
            asked, answered, counted = _estimated(request.size), 0, False
            if outcome.kind not in READ:
                return
        elif outcome.tokens_in is not None and outcome.tokens_out is not None:
            asked, answered, counted = outcome.tokens_in, outcome.tokens_out, True
        else:
            answered = _estimated(len(outcome.text.encode("utf-8", "replace")))
            asked, counted = _estimated(request.size), False
        self.ledger.add(tokens_in=asked, tokens_out=answered, estimated=int(not counted))
        self.budget.spend_tokens(asked + answered)

    def _wait(self, request: Request, attempt: int, outcome: Reply | Fault) -> None:
        """Wait backoff · 2^(attempt - 1) · (1 + u) seconds, u in [0, 1) drawn from the seed; longer if asked to."""
        drawn = float(keyed_uniform(request.seed, [f"{request.hash}:{attempt}"])[0])
        asked = outcome.retry_after if isinstance(outcome, Fault) and outcome.retry_after is not None else 0.0
        planned = self.limits.backoff * 2 ** (attempt - 1) * (1 + drawn)
        start = time.monotonic()
        with self.budget.time(min(self.limits.longest_wait, max(asked, planned))) as seconds:
            self.sleep(seconds)
        self.ledger.add_seconds(time.monotonic() - start)


def _estimated(size: int) -> int:
    """Return about how many tokens a number of bytes is."""
    return -(-size // BYTES_PER_TOKEN)


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

    `reply`: what came back; `refused`: what a model that refused is told.

    Raises BadAnswerError if it is no whole answer.
    """
    if reply.finish == "length":
        raise BadAnswerError(["the answer was cut off; give shorter texts"])
    if reply.finish == "refusal":
        raise BadAnswerError([f"the answer was refused; {refused}"])
    if not reply.text.strip():
        raise BadAnswerError(["the answer is empty"])
