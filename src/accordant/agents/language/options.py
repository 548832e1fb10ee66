"""Which language model speaks: the options of every command that lets one speak, and the connection that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accordant.agents.language.keys import check_address, read_key
from accordant.agents.language.limits import Budget, Limits
from accordant.agents.language.recording import Recorder, Replay
from accordant.errors import InputError
from accordant.naming import read_names
from accordant.terminal.command_line import arguments

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


@dataclass(frozen=True, eq=False)
class Connection:
    """What all agents share through which one model speaks.

    Attributes
    ----------
    key_variable
        Environment variable that holds the key; None for a server without keys.
    budget, limits
        Of all agents together, and of one request.
    recorder, replay
        Of conversations; None where nothing is recorded, or answers come from the endpoint.
    """

    key_variable: str | None
    budget: Budget
    limits: Limits
    recorder: Recorder | None
    replay: Replay | None


def connect(options: ModelOptions) -> Connection:
    """Return the connection; nothing is sent yet.

    Raises
    ------
    InputError
        If a key cannot be sent, or a file of conversations cannot be read or begun.
    """
    key_variable = None if options.key_variable == NO_KEY else options.key_variable
    if options.replay is None:
        read_key(key_variable, check_address(options.base_url))
    return Connection(
        key_variable,
        Budget(options.calls, options.tokens, options.seconds),
        Limits(timeout=options.timeout),
        None if options.record is None else Recorder(options.record),
        None if options.replay is None else Replay(options.replay),
    )


def model_options(given: Mapping[str, Any]) -> ModelOptions | None:
    """Return which model speaks, or None where neither an endpoint nor a recording is named.

    Parameters
    ----------
    given
        Option to value; ``agents`` are names of agents as `read_names` reads them, or a tuple of names.

    Raises
    ------
    InputError
        If options do not go together.
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
        found = "" if "model" not in said else f"; found {said['model']!r}"
        if "replay" in said:
            raise InputError(f"--replay needs --model, the name of the model whose answers are in the file{found}")
        raise InputError(f"--llm needs --model, the name of the model at that endpoint{found}")
    if isinstance(said.get("agents"), str):
        said["agents"] = tuple(each.name for each in read_names(said["agents"], "--speaks-for"))
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
