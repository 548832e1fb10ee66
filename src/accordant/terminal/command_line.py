"""The command line that made a result, from its options as JSON values: what is as usual is left out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any


def arguments(options: Mapping[str, Any], declared: type, names: tuple[str, ...]) -> list[str]:
    """Return the arguments for those options that differ from the defaults of the class that declares them.

    Parameters
    ----------
    options
        Field to value, as JSON values.
    declared
        The dataclass.
    names
        Which fields, in this order; each is an option of the command with ``-`` for ``_``.
    """
    usual = {each.name: each.default for each in dataclasses.fields(declared)}
    return [
        part
        for name in names
        if options[name] != usual[name]
        for part in (f"--{name.replace('_', '-')}", str(options[name]))
    ]


def named(declared: Mapping[str, Any]) -> str:
    """Return a name with its parameters as the command line takes them, see `accordant.naming.read_named`."""
    inside = ",".join(f"{key}={_value(value)}" for key, value in declared["parameters"].items())
    return f"{declared['name']}[{inside}]" if inside else str(declared["name"])


def _value(value: object) -> str:
    """Return JSON, or a text without quotes where it is not read as anything else."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)
