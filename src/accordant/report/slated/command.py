"""The command line that served the slates, from the options in their JSON."""

from __future__ import annotations

import json
import shlex

from accordant.report.reading import Json

USUAL = {"k": None, "requests": None, "resamples": 1000, "data": None}  # options that the command need not name


def command(content: Json) -> str:
    """Return the command in shell quoting; what is as usual is left out, but not the seed."""
    options = content["options"]
    parts = ["accordant", "slate", content["case"]["name"]]
    if options["strategies"]:
        parts += ["--strategies", ",".join(_named(each) for each in options["strategies"])]
    parts += [] if options["floors"] else ["--no-floors"]
    for item, visits in options["capacity"].items():
        parts += ["--capacity", f"{item}={visits:g}"]
    for name, usual in USUAL.items():
        if options[name] != usual:
            parts += [f"--{name}", str(options[name])]
    return shlex.join([*parts, "--seed", str(content["seed"])])


def _named(each: Json) -> str:
    """Return a name with its parameters as the command line takes them."""
    inside = ",".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in each["parameters"].items())
    return f"{each['name']}[{inside}]" if inside else str(each["name"])
