"""How names are written: one with parameters, ``name[parameter=value,…]``, and several in a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from accordant.errors import InputError

FORM = "name, or name[parameter=value,…]"
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[(.*)\])?\s*", re.DOTALL)
_FRACTION = re.compile(r"[+-]?\.\d+")  # such as .9, which JSON would write as 0.9
_ITEM = re.compile(r"\s*(\w+)\s*=\s*(.+?)\s*")


@dataclass(frozen=True)
class Named:
    """A name and the parameters between its brackets; values are JSON, or texts where they are no JSON."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)


def read_named(text: str, what: str) -> Named:
    """Read one name with parameters.

    Parameters
    ----------
    text
        Such as ``biased[strength=0.3]``.
    what
        Where it was written, for messages: ``--agents``.

    Raises
    ------
    InputError
        If the text has another form.
    """
    matched = _NAMED.fullmatch(text)
    if matched is None:
        raise InputError(f"{what} is {text!r}; allowed: {FORM}")
    name, inside = matched.groups()
    return Named(name, _parameters(text, inside, what) if inside else {})


def read_names(text: str, what: str) -> tuple[Named, ...]:
    """Read names with commas between; commas inside brackets do not part them.

    Raises
    ------
    InputError
        If nothing is named, nothing stands between two commas, or a name has another form.
    """
    parts = _parts(text)
    if not all(part.strip() for part in parts):
        missing = "" if not text.strip(" ,") else ": a name is missing beside a comma"
        raise InputError(f"{what} is {text!r}{missing}; allowed: {FORM}, with commas between several")
    return tuple(read_named(part, what) for part in parts)


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are outside all brackets."""
    found, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += character
    return found


def _parameters(text: str, inside: str, what: str) -> dict[str, Any]:
    """Return the parameters between brackets; commas inside brackets and quotes do not part them."""
    found: dict[str, Any] = {}
    for part in re.split(r",(?=\s*\w+\s*=)", inside):
        matched = _ITEM.fullmatch(part)
        if matched is None:
            raise InputError(f"{what} is {text!r}; found {part!r}, allowed: parameter=value with commas between")
        key, value = matched.groups()
        try:
            found[key] = json.loads(value)
        except (ValueError, RecursionError):
            found[key] = float(value) if _FRACTION.fullmatch(value) else value.strip("'\"")
    return found


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names in one phrase: ``a, b and c``; empty for none."""
    return ", ".join(names[:-1]) + f" {word} " + names[-1] if len(names) > 1 else "".join(names)
