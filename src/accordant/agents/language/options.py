"""Which language model speaks, and what it may cost: bounds, budget, what was spent, and options of commands."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from accordant.declaration import Declared
from accordant.errors import InputError
from accordant.naming import read_names
from accordant.terminal import arguments

FAR = 10  # longest waits: a server that asks for more will not answer in time, whatever is asked until then
BYTES_PER_TOKEN = 4  # what a token is counted as where a server reports no usage


class Limits(Declared):
    """Bounds on one move of one agent.

    A move asks at most 1 + `repairs` questions, and steps down to a weaker mode at most twice; each of these sends at
    most 1 + `retries` requests of at most `timeout` seconds, and waits at most `longest_wait` seconds before each of
    the `retries`. So it takes at most about (3 + repairs) · ((1 + retries) · timeout + retries · longest_wait) seconds.

    Parameters
    ----------
    timeout
        Seconds for one request, from the first byte sent to the last byte received.
    retries
        How often a request is sent again after a time-out, a lost connection, HTTP 429 or 5xx, or an answer that is no
        chat completion.
    backoff
        Seconds before the first retry; doubles each time, times 1 to 2 drawn from the seed.
    longest_wait
        The most seconds before a retry. Where the server asks for more than `FAR` times that, there is no retry.
    repairs
        How often the model is told what is wrong with its answer.
    answer_tokens
        The most tokens of an answer.
    answer_bytes
        The most bytes of a response.
    """

    timeout: Annotated[float, Field(gt=0, le=3600)] = 30.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    backoff: Annotated[float, Field(ge=0, le=60)] = 0.5
    longest_wait: Annotated[float, Field(ge=0, le=600)] = 20.0
    repairs: Annotated[int, Field(ge=0, le=2)] = 2
    answer_tokens: Annotated[int, Field(gt=0)] = 4000
    answer_bytes: Annotated[int, Field(gt=0)] = 200_000

    @property
    def seconds(self) -> float:
        """The longest that a move takes, without the moments between requests."""
        request = (1 + self.retries) * self.timeout + self.retries * self.longest_wait
        return (3 + self.repairs) * request


class Budget:
    """What several agents may spend together; safe to share between threads.

    Calls are never exceeded. Seconds shorten the time-out of a request, and tokens are known only after an answer, so
    that requests under way at the same moment may exceed either: one for each agent.

    Parameters
    ----------
    calls
        Requests, retries among them; None for any number.
    tokens
        Tokens of questions and answers.
    seconds
        Time spent in requests and in waiting for retries, added up over agents.
    """

    def __init__(self, calls: int | None = None, tokens: int | None = None, seconds: float | None = None) -> None:
        for name, value in (("calls", calls), ("tokens", tokens), ("seconds", seconds)):
            if value is not None and not 0 <= value < float("inf"):
                raise InputError(f"budget: {name} is {value}; allowed: 0 or more, or None")
        self.calls, self.tokens, self.seconds = calls, tokens, seconds
        self.spent_calls, self.spent_tokens = 0, 0
        self.spent_seconds = 0.0
        self._lock = threading.Lock()

    def take_call(self) -> str | None:
        """Spend one call, or return why there is none left."""
        with self._lock:
            if self.calls is not None and self.spent_calls >= self.calls:
                return f"the budget of {self.calls} calls is spent"
            if self.tokens is not None and self.spent_tokens >= self.tokens:
                return f"the budget of {self.tokens} tokens is spent"
            if self.seconds is not None and self._left() <= 0:
                return f"the budget of {self.seconds:g} s is spent"
            self.spent_calls += 1
            return None

    @contextmanager
    def time(self, seconds: float) -> Iterator[float]:
        """Yield how many of `seconds` may be used, and spend what was used."""
        with self._lock:
            allowed = seconds if self.seconds is None else max(0.0, min(seconds, self._left()))
        start = time.monotonic()
        try:
            yield allowed
        finally:
            with self._lock:
                self.spent_seconds += time.monotonic() - start

    def spend_tokens(self, tokens: int) -> None:
        """Count tokens."""
        with self._lock:
            self.spent_tokens += tokens

    def _left(self) -> float:
        """Return how many seconds are left."""
        return (self.seconds or 0.0) - self.spent_seconds


class CallLedger:
    """What one agent spent and what failed; safe to read and write from several threads.

    Counts: ``moves``, ``calls``, ``retries``, ``step_downs`` (to a weaker mode), ``repairs``, ``fallbacks``,
    ``given_up`` (requests that a server wanted far later), ``exhausted`` (moves that a budget ended), ``replayed``,
    ``tokens_in``, ``tokens_out``, ``estimated`` (requests whose tokens no server counted), ``seconds``, and
    ``fault NAME`` for each kind of fault.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._seconds = 0.0
        self._lock = threading.Lock()

    def add(self, **counts: int) -> None:
        """Count."""
        with self._lock:
            self._counts.update(counts)

    def add_fault(self, kind: str) -> None:
        """Count one fault."""
        with self._lock:
            self._counts[f"fault {kind}"] += 1

    def add_seconds(self, seconds: float) -> None:
        """Count time."""
        with self._lock:
            self._seconds += seconds

    def __getitem__(self, name: str) -> int:
        with self._lock:
            return self._counts[name]

    @property
    def seconds(self) -> float:
        """Time spent in requests and in waiting."""
        with self._lock:
            return self._seconds

    def to_json(self) -> dict[str, Any]:
        """Return all counts that are not 0, sorted by name, and the seconds."""
        with self._lock:
            counted = {name: count for name, count in sorted(self._counts.items()) if count}
            return {**counted, "seconds": self._seconds}


NO_KEY = "none"  # what a user says in place of the variable with the key
REPLAYED = "http://127.0.0.1/replayed"  # stands for the endpoint where all answers come from a file: it is never asked


@dataclass(frozen=True)
class ModelOptions:
    """Which language model speaks for which agents.

    Parameters
    ----------
    base_url, model
        An endpoint that speaks the OpenAI protocol, and the model's name there.
    agents
        Names of the agents that it speaks for; empty for all that are named.
    key_variable
        Environment variable that holds the key; ``none`` for a server without keys.
    fallback
        Whether a rule agent stands in where the model makes no valid move; counted.
    calls, tokens, seconds
        Budget of all agents together; None for no limit.
    timeout
        Seconds that one request may take.
    record, replay
        File to write conversations to, or to take all answers from.
    """

    base_url: str
    model: str
    agents: tuple[str, ...] = ()
    key_variable: str = "OPENAI_API_KEY"
    fallback: bool = False
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    timeout: float = 30.0
    record: str | None = None
    replay: str | None = None


def model_options(given: Mapping[str, Any]) -> ModelOptions | None:
    """Return which model speaks, or None where neither an endpoint nor a recording is named.

    `given`: option to value; ``agents`` are names of agents as `read_names` reads them, or a tuple of names.

    Raises InputError if options do not go together.
    """
    said: dict[str, Any] = {name: value for name, value in given.items() if value is not None and value is not False}
    if "base_url" not in said and "replay" not in said:
        if said:
            names = {"agents": "speaks-for"}
            idle = ", ".join(f"--{names.get(name, name.replace('_', '-'))}" for name in said)
            raise InputError(f"{idle}: no effect without --llm or --replay")
        return None
    if "record" in said and "replay" in said:
        raise InputError("--record and --replay do not go together: what is replayed is recorded already")
    if not str(said.get("model", "")).strip():
        remark = "" if "model" not in said else f"; found {said['model']!r}"
        if "replay" in said:
            raise InputError(f"--replay needs --model, the name of the model whose answers are in the file{remark}")
        raise InputError(f"--llm needs --model, the name of the model at that endpoint{remark}")
    if isinstance(said.get("agents"), str):
        said["agents"] = tuple(agent.name for agent in read_names(said["agents"], "--speaks-for"))
    said |= {name: str(said[name]) for name in ("record", "replay") if name in said}
    return ModelOptions(**{"base_url": REPLAYED} | said)


def model_arguments(model: Mapping[str, Any] | None) -> list[str]:
    """Return the arguments of a command that say the same, from options as JSON values; none where nobody speaks."""
    if model is None:
        return []
    parts = [] if model["base_url"] == REPLAYED else ["--llm", model["base_url"]]
    parts += ["--model", model["model"]]
    parts += ["--speaks-for", ",".join(model["agents"])] if model["agents"] else []
    parts += ["--fallback"] if model["fallback"] else []
    usual = ("key_variable", "calls", "tokens", "seconds", "timeout", "record", "replay")
    return [*parts, *arguments(model, ModelOptions, usual)]
