"""The command line that served the slates, from the options in their JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from accordant.report.deliberated.command import REPLAYED, named
from accordant.report.reading import Json

# options that the command need not name
USUAL = {"k": None, "requests": None, "resamples": 1000, "data": None, "rankings": None, "threshold": 0.5,
         "instead": "declared"}  # fmt: skip
USUAL_MODEL = {"key_variable": "OPENAI_API_KEY", "calls": None, "tokens": None, "seconds": None, "timeout": 30.0,
               "record": None, "replay": None}  # fmt: skip


def command(content: Json) -> str:
    """Return the command in shell quoting; what is as usual is left out, but not the seed."""
    options = content["options"]
    parts = ["accordant", "slate", content["case"]["name"]]
    if options["strategies"]:
        parts += ["--strategies", ",".join(named(each) for each in options["strategies"])]
    parts += [] if options["floors"] else ["--no-floors"]
    for item, visits in options["capacity"].items():
        parts += ["--capacity", f"{item}={visits:g}"]
    parts += _given(options, USUAL)
    parts += [] if options["model"] is None else _model(options["model"])
    return shlex.join([*parts, "--seed", str(content["seed"])])


def _given(options: Json, usual: Mapping[str, object]) -> list[str]:
    """Return the options that are not as usual."""
    return [
        part
        for name, value in usual.items()
        if options[name] != value
        for part in (f"--{name.replace('_', '-')}", str(options[name]))
    ]


def _model(model: Json) -> list[str]:
    """Return the options of a language model."""
    parts = [] if model["base_url"] == REPLAYED else ["--llm", model["base_url"]]
    parts += ["--model", model["model"]]
    parts += ["--speaks-for", ",".join(model["agents"])] if model["agents"] else []
    return [*parts, *(["--fallback"] if model["fallback"] else []), *_given(model, USUAL_MODEL)]
