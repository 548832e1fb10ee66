"""What is asked of a language model, what comes back, and what can go wrong on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, Self

Role = Literal["system", "user", "assistant"]
Mode = Literal["json_schema", "json_object", "prompted"]
Finish = Literal["stop", "length", "refusal"]
FaultKind = Literal[
    "timeout",
    "connection",
    "limited",
    "server",
    "malformed",
    "refused",
    "credentials",
    "redirect",
    "too_long",
    "budget",
]

MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompted")  # from the strictest to the weakest
RETRYABLE: frozenset[FaultKind] = frozenset({"timeout", "connection", "limited", "server", "malformed"})
SCHEMA_NAME = "move"


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True)
class Request:
    """One question to a language model; two requests with the same content are the same request.

    Parameters
    ----------
    model
        As the server calls it.
    messages
        The conversation so far.
    schema
        JSON schema of the answer.
    mode
        How the schema is asked for: ``json_schema`` and ``json_object`` are features of servers, ``prompted`` is words.
    temperature
        None to leave it to the server.
    seed
        Sent along; few servers honour it.
    answer_tokens
        The most tokens of an answer.
    """

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    mode: Mode
    temperature: float | None
    seed: int
    answer_tokens: int

    @property
    def response_format(self) -> dict[str, Any] | None:
        """What the server is told of the form of the answer, or None if it is told in words alone."""
        if self.mode == "prompted":
            return None
        if self.mode == "json_object":
            return {"type": "json_object"}
        shape = {"name": SCHEMA_NAME, "schema": dict(self.schema), "strict": True}
        return {"type": "json_schema", "json_schema": shape}

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "model": self.model,
            "messages": [{"role": each.role, "text": each.text} for each in self.messages],
            "schema": dict(self.schema),
            "mode": self.mode,
            "temperature": self.temperature,
            "seed": self.seed,
            "answer_tokens": self.answer_tokens,
        }

    @cached_property
    def hash(self) -> str:
        """Hash of model, parameters, messages and schema (sha256, hexadecimal)."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @property
    def size(self) -> int:
        """Length of all messages in bytes."""
        return sum(len(each.text.encode("utf-8", "replace")) for each in self.messages)

    def asked_as(self, mode: Mode) -> Self:
        """Return the same question in another mode."""
        return replace(self, mode=mode)


@dataclass(frozen=True)
class Reply:
    """What a language model answered; nothing in it has been checked.

    Attributes
    ----------
    text
        The answer without what a model marks as its thinking.
    finish
        ``stop``; ``length`` if the answer was cut off; ``refusal`` if the model or a filter refused.
    tokens_in, tokens_out
        As the server counts them, or None if it does not.
    id
        The server's name for the answer.
    """

    text: str
    finish: Finish = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None
    id: str = ""


@dataclass(frozen=True)
class Fault:
    """Why there is no answer.

    Attributes
    ----------
    kind
        ``timeout``, ``connection``, ``limited`` (429), ``server`` (5xx) and ``malformed`` (no chat completion) may pass
        and are tried again; ``refused`` (another 4xx), ``credentials`` (401, 403), ``redirect``, ``too_long`` and
        ``budget`` are not.
    message
        For people; holds no key.
    retry_after
        Seconds that the server asks to wait, or None.
    """

    kind: FaultKind
    message: str
    retry_after: float | None = None


class Provider(Protocol):
    """Anything that answers requests."""

    def complete(self, request: Request, key: str | None, seconds: float) -> Reply | Fault:
        """Return the answer, or why there is none, within about `seconds`; raises nothing for what a server does."""
        ...
