"""`ModelParticipant`: what agents and rankers share whose answers are written by a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, TypedDict, TypeVar

from accordant.agents.language.caller import Caller, Made, Read, Unmade, converse
from accordant.agents.language.client import OpenAICompatible
from accordant.agents.language.keys import check_address, check_without_key, read_key, without_key
from accordant.agents.language.options import NO_KEY, Budget, CallLedger, Limits, ModelOptions
from accordant.agents.language.provider import MODES, Message, Mode, Provider, Recorder, Replay, Reply, Request
from accordant.agents.parameters import text
from accordant.errors import InputError, InvalidMoveError, UnknownNameError

LARGEST_SEED = 2**31 - 1  # what every server takes
HOTTEST = 2.0  # the highest temperature of the protocol

Rule = TypeVar("Rule")


class Settings(TypedDict, total=False):
    """How a language model is asked and what it may cost, see `ModelParticipant`."""

    key_variable: str | None
    temperature: float | None
    seed: int | None
    mode: Mode
    limits: Limits | Mapping[str, Any] | None
    budget: Budget | None
    recorder: Recorder | None
    provider: Provider | None


def connect(options: ModelOptions) -> Settings:
    """Return what all participants share through which one model speaks; nothing is sent yet.

    Raises InputError if a key cannot be sent, or a file of conversations cannot be read or begun.
    """
    key_variable = None if options.key_variable == NO_KEY else options.key_variable
    if options.replay is None:
        read_key(key_variable, check_address(options.base_url))
    return {
        "key_variable": key_variable,
        "budget": Budget(options.calls, options.tokens, options.seconds),
        "limits": Limits(timeout=options.timeout),
        "recorder": None if options.record is None else Recorder(options.record),
        "provider": None if options.replay is None else Replay(options.replay),
    }


class ModelParticipant:
    """A participant that a language model speaks for, behind an OpenAI-compatible server.

    Parameters
    ----------
    name
        Unique among participants.
    base_url
        Address of the server, such as ``http://localhost:11434/v1``; without user, query and fragment.
    model
        As the server calls it.
    key_variable
        Name of the environment variable that holds the key; None for a server without keys. If it is not set, a
        placeholder is sent. The key goes to `base_url`, so name another variable for another server.
    temperature
        None to leave it to the server.
    seed
        Sent to the server; None to derive one from the view.
    mode
        The strongest way in which the form of the answer is asked for: ``json_schema``, ``json_object``, ``prompted``.
    limits
        Bounds on one move; a mapping is read as `Limits`.
    budget
        Shared with other agents, or None for no bound.
    recorder
        Writes all requests and what came of them, or None.
    provider
        Who answers in place of `base_url`, such as a `Replay`.

    Attributes
    ----------
    ledger
        What was spent and what failed, over all moves.

    Raises
    ------
    UnknownNameError
        If there is no such mode.
    InputError
        If the address holds more than an address, or a number is out of range.
    """

    kind: ClassVar[str] = "language model"
    role: ClassVar[str]  # what messages call it
    staying: ClassVar[str] = ""  # what a message advises where it would have to travel to another process

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        *,
        key_variable: str | None = "OPENAI_API_KEY",
        temperature: float | None = 0.0,
        seed: int | None = None,
        mode: Mode = "json_schema",
        limits: Limits | Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        recorder: Recorder | None = None,
        provider: Provider | None = None,
    ) -> None:
        self.name, self.model = text(name, "name"), text(model, "model")
        self.base_url = check_address(base_url)
        self.key_variable, self.temperature, self.seed = key_variable, temperature, seed
        self.limits, self.ledger = _limits_of(limits), CallLedger()
        _check_settings(mode, temperature, seed, budget, recorder)
        check_without_key(self.base_url, key_variable)
        if provider is None:  # not `or`: what stands in for a server may have a length of 0
            provider = OpenAICompatible(self.base_url, self.limits.answer_bytes)
        self._caller = Caller(
            provider, self.base_url, key_variable, self.limits, budget or Budget(), self.ledger, mode, recorder
        )

    def __reduce__(self) -> NoReturn:
        """Refuse to travel to another process, where budget, ledger and recording would silently be others."""
        raise InputError(f"{self.role} {self.name!r} cannot be copied or sent to another process{self.staying}")

    @property
    def generated_by(self) -> str:
        """Who writes its texts."""
        return f"model {self.model}"

    def usage(self) -> dict[str, Any]:
        """Return what was spent and what failed, over all moves."""
        return self.ledger.to_json()

    def _ask(
        self, messages: tuple[Message, ...], schema: Mapping[str, Any], seed: int, read: Callable[[Reply, Mode], Read]
    ) -> Made[Read] | Unmade:
        """Ask for one move, and say what is wrong until nothing is or the repairs are used up; see `converse`.

        `seed`: sent where none was set. Requests hold no key, wherever that came from.
        """
        self.ledger.add(moves=1)
        key = self._caller.key()

        def request(said: tuple[Message, ...]) -> Request:
            """Return the request for what was said so far, without the key."""
            return Request(
                self.model, tuple(Message(message.role, without_key(message.text, key)) for message in said), schema,
                "json_schema", self.temperature, seed % LARGEST_SEED if self.seed is None else self.seed,
                self.limits.answer_tokens,
            )  # fmt: skip

        return converse(self._caller, messages, request, read)

    def _stand_in(self, fallback: Rule | None, unmade: Unmade) -> Rule:
        """Return the rule that moves where the model made no valid move; raises InvalidMoveError without one."""
        if fallback is None:
            raise InvalidMoveError(f"model {self.model!r}: {unmade.reason}")
        self.ledger.add(fallbacks=1)
        return fallback


def _check_settings(mode: str, temperature: float | None, seed: int | None, budget: object, recorder: object) -> None:
    """Refuse settings of a language model that cannot work.

    Raises UnknownNameError if there is no such mode; InputError if a number is out of range, or an object of another
    kind.
    """
    if mode not in MODES:
        raise UnknownNameError("mode", mode, MODES)
    if temperature is not None and not 0 <= temperature <= HOTTEST:
        raise InputError(f"temperature is {temperature}; allowed: 0 to {HOTTEST:g}, or None")
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed is {seed}; allowed: 0 to {LARGEST_SEED}, or None")
    for what, given, kind in (("budget", budget, Budget), ("recorder", recorder, Recorder)):
        if given is not None and not isinstance(given, kind):
            raise InputError(f"{what} is {given!r:.60}; allowed: a {kind.__name__}, or None")


def _limits_of(given: Limits | Mapping[str, Any] | None) -> Limits:
    """Return limits, also from a mapping; None for the usual ones.

    Raises InputError if it is neither.
    """
    if isinstance(given, Limits):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"limits is {given!r:.60}; allowed: Limits, or a mapping of them")
    return Limits(**(given or {}))
