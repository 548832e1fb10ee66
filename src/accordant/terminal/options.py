"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from accordant.errors import InputError

Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON on stdout, and nothing else there.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Out = Annotated[Path | None, typer.Option(help="Where to write the result.")]
CaseName = Annotated[str, typer.Argument(metavar="CASE", help="A built-in case or a path to a YAML file.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder that `accordant run` wrote.")]
Data = Annotated[str | None, typer.Option(help="Data file, or folder that holds it.")]
Llm = Annotated[str | None, typer.Option(metavar="BASE_URL", help="Endpoint that speaks the OpenAI protocol.")]
Model = Annotated[str | None, typer.Option(help="Name of the language model at --llm.")]
KeyVariable = Annotated[
    str | None, typer.Option(help="Environment variable with the key of --llm, or none; OPENAI_API_KEY by default.")
]
Calls = Annotated[int | None, typer.Option(min=1, help="Most requests to the model.")]
Tokens = Annotated[int | None, typer.Option(min=1, help="Most tokens of the model.")]
Seconds = Annotated[float | None, typer.Option(min=0.001, help="Most seconds spent with the model.")]
Timeout = Annotated[float | None, typer.Option(min=0.001, help="Most seconds of one request; 30 by default.")]
Record = Annotated[Path | None, typer.Option(help="File to record the conversations with the model in.")]
Replay = Annotated[Path | None, typer.Option(help="File with recorded conversations: no request is sent.")]


def capacities(given: Sequence[str], form: str) -> dict[str, float]:
    """Return name to number, from options such as ``bed=5``.

    Parameters
    ----------
    given
        What ``--capacity`` was given.
    form
        What is allowed, for messages.

    Raises
    ------
    InputError
        If an option has another form, or a resource is named twice.
    """
    found: dict[str, float] = {}
    for text in given:
        name, equals, units = text.partition("=")
        try:
            amount = float(units)
        except ValueError:
            amount = float("nan")
        if not (name.strip() and equals and 0 <= amount < math.inf):
            raise InputError(f"--capacity is {text!r}; allowed: {form}")
        if name.strip() in found:
            raise InputError(f"--capacity names {name.strip()!r} twice")
        found[name.strip()] = amount
    return found
