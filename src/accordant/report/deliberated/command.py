"""The command line that made a deliberation, from the options in its JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from accordant.report.deliberated.reading import Json

REPLAYED = "http://127.0.0.1/replayed"  # stands in the JSON where answers came from a file and no endpoint was named


def command(content: Json) -> str:
    """Return the command in shell quoting; what is as usual is left out, but not the seed."""
    options = content["options"]
    parts = ["accordant", "deliberate", content["case"]["name"]]
    if options["agents"]:
        parts += ["--agents", ",".join(named(each) for each in options["agents"])]
    parts += _given(options, {"protocol": "debate", "settle": None, "guard": "log", "repeat": 1, "patients": None})
    for resource, units in options["capacity"].items():
        parts += ["--capacity", f"{resource}={units:g}"]
    parts += _given(options, {"data": None, "corpus": None})
    parts += [] if options["model"] is None else _model(options["model"])
    return shlex.join([*parts, "--seed", str(options["seed"])])


def named(agent: Mapping[str, Any]) -> str:
    """Return a name with its parameters as the command line takes them."""
    inside = ",".join(f"{key}={_value(value)}" for key, value in agent["parameters"].items())
    return f"{agent['name']}[{inside}]" if inside else str(agent["name"])


def _value(value: object) -> str:
    """Return JSON, or a text without quotes where it is not read as anything else."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)


def _given(options: Mapping[str, Any], usual: Mapping[str, object]) -> list[str]:
    """Return the options that are not as usual."""
    return [
        part
        for name, value in usual.items()
        if options[name] != value
        for part in (f"--{name.replace('_', '-')}", str(options[name]))
    ]


def _model(model: Json) -> list[str]:
    parts = [] if model["base_url"] == REPLAYED else ["--llm", model["base_url"]]
    parts += ["--model", model["model"]]
    if model["agents"]:
        parts += ["--speaks-for", ",".join(model["agents"])]
    usual = {"key_variable": "OPENAI_API_KEY", "calls": None, "tokens": None, "seconds": None, "timeout": 30.0,
             "record": None, "replay": None}  # fmt: skip
    return [*parts, *(["--fallback"] if model["fallback"] else []), *_given(model, usual)]
