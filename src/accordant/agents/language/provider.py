"""What is asked of a language model, what comes back or goes wrong, and recordings of it.

Record what a language model answered, and replay it without a network.

A recording is a file of JSON lines. Each holds a request, its key (the hash of model, parameters, messages and schema),
what came of it after all retries (the answer, or why there was none), and a hash of key and outcome. One key has one
outcome, on one line. Hashes find what was changed by accident or by hand; they are no signature.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import Field

from accordant.declaration import Declared
from accordant.errors import DataError, DataNotFoundError, InputError
from accordant.json_values import field_values, read_json_value
from accordant.tables.output import append_lines, is_standard_output, write_output
from accordant.tables.text import read_text

Role = Literal["system", "user", "assistant"]
Mode = Literal["json_schema", "json_object", "prompted"]
Finish = Literal["stop", "length", "refusal"]
FaultKind = Literal[
    "timeout", "connection", "limited", "server", "malformed", "refused", "credentials", "redirect", "too_long",
    "budget",
]  # fmt: skip

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
        return field_values(self)

    @cached_property
    def hash(self) -> str:
        """Hash of model, parameters, messages and schema (sha256, hexadecimal)."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @property
    def size(self) -> int:
        """Length of all messages in bytes."""
        return sum(len(message.text.encode("utf-8", "replace")) for message in self.messages)

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


class Answered(Declared):
    """An answer as it stands in a recording."""

    text: str
    finish: Finish
    tokens_in: Annotated[int, Field(ge=0)] | None
    tokens_out: Annotated[int, Field(ge=0)] | None
    id: str


class Failed(Declared):
    """Why there was no answer, as it stands in a recording."""

    kind: FaultKind
    message: str


class Recorder:
    """Writes a recording; one may serve several agents and threads.

    A request that was already made while recording is not made again: its outcome is taken from the recording.

    Parameters
    ----------
    path
        A new file; its folder exists.

    Raises
    ------
    InputError
        If the file is there already: a recording belongs to one run.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._outcomes: dict[str, Reply | Fault] = {}
        self._lock = threading.Lock()
        if is_standard_output(path):
            raise InputError(f"a recording cannot be written to standard output; found {path}, allowed: a new file")
        if os.path.lexists(self.path):
            raise InputError(f"{self.path} is there already; a recording needs a new file")
        write_output(path, "")

    def known(self, request: Request) -> Reply | Fault | None:
        """Return what came of a request that was recorded, or None."""
        with self._lock:
            return self._outcomes.get(request.hash)

    def write(self, request: Request, outcome: Reply | Fault) -> Reply | Fault:
        """Add a request with its outcome, and return the outcome that stands for it."""
        with self._lock:
            if request.hash in self._outcomes:  # another agent asked the same at the same time and came first
                return self._outcomes[request.hash]
            line = {"key": request.hash, "request": request.to_json(), **_written(outcome)}
            line["hash"] = hash_of_outcome(request.hash, line)
            append_lines(self.path, json.dumps(line, sort_keys=True, allow_nan=False) + "\n")
            self._outcomes[request.hash] = outcome
            return outcome


class Replay:
    """Answers requests from a recording; touches no network and needs neither a key nor the client library.

    Parameters
    ----------
    path
        What a `Recorder` wrote.

    Raises
    ------
    DataNotFoundError
        If there is no such file.
    DataError
        If it is empty, or a line is not what a recorder writes, was changed, or has the key of an earlier one.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise DataNotFoundError(f"there is no recording {self.path}")
        try:
            text = read_text(self.path, empty=True)
        except DataError as error:
            raise DataError(f"recording {error}") from None
        if not text.strip():
            raise DataError(f"recording {self.path} is empty; allowed: at least one answer")
        self._outcomes: dict[str, Reply | Fault] = {}
        lines: dict[str, int] = {}
        for number, line in enumerate(text.splitlines(), 1):
            where = f"{self.path}, line {number}"
            if number > text.count("\n") and not _is_json(line):
                raise DataError(
                    f"{where}: the recording broke off in this line; take it away to replay those before it"
                )
            key, outcome = _read_outcome(line, where)
            if key in lines:
                raise DataError(
                    f"{self.path}, line {number}: the request of line {lines[key]} once more; allowed: once"
                )
            lines[key], self._outcomes[key] = number, outcome

    def __len__(self) -> int:
        return len(self._outcomes)

    def complete(self, request: Request, key: str | None = None, seconds: float = 0.0) -> Reply | Fault:
        """Return the recorded outcome.

        Raises
        ------
        DataError
            If the request was not recorded; the message names its key.
        """
        del key, seconds
        try:
            return self._outcomes[request.hash]
        except KeyError:
            raise DataError(
                f"the recording {self.path} has no answer for the request {request.hash}: model, parameters, "
                "messages or schema differ from what was recorded"
            ) from None


def _written(outcome: Reply | Fault) -> dict[str, Any]:
    """Return an outcome as JSON values."""
    if isinstance(outcome, Reply):
        return {"reply": asdict(outcome)}
    return {"fault": {"kind": outcome.kind, "message": outcome.message}}


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_outcome(line: str, where: str) -> tuple[str, Reply | Fault]:
    """Return the key and the outcome on one line."""
    try:
        content = read_json_value(line)
    except json.JSONDecodeError:
        raise DataError(f"{where}: not JSON") from None
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    kind: Literal["reply", "fault"] = "reply" if isinstance(content, Mapping) and "reply" in content else "fault"
    if not isinstance(content, Mapping) or content.keys() != {"key", "request", "hash", kind}:
        raise DataError(f"{where}: not what a recorder writes; allowed: key, request, hash, and reply or fault")
    if hash_of(content["request"]) != content["key"]:
        raise DataError(f"{where}: the request does not match its key; the recording was changed")
    if hash_of_outcome(content["key"], content) != content["hash"]:
        raise DataError(f"{where}: the outcome does not match its hash; the recording was changed")
    try:
        values = dict(content[kind])
        outcome = (
            Reply(**Answered(**values).model_dump()) if kind == "reply" else Fault(**Failed(**values).model_dump())
        )
    except (InputError, TypeError, ValueError) as error:
        raise DataError(f"{where}: {kind} is not what a recorder writes: {error}") from None
    return content["key"], outcome


def hash_of_outcome(key: str, line: Mapping[str, Any]) -> str:
    """Return the hash of a key with the outcome on its line (sha256, hexadecimal)."""
    outcome = {kind: line[kind] for kind in ("reply", "fault") if kind in line}
    return hashlib.sha256(json.dumps([key, outcome], sort_keys=True).encode()).hexdigest()


def hash_of(request: Any) -> str | None:
    """Return the hash of a request that was written as JSON, or None if it is no request."""
    try:
        given = dict(request)
        messages = tuple(Message(**message) for message in given.pop("messages"))
        return Request(messages=messages, **given).hash
    except (TypeError, KeyError, ValueError):
        return None
