"""How names are written: with parameters (``name[parameter=value,…]``), in a sentence, in a path, on a screen."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from accordant.errors import InputError, UnknownNameError

FORM = "name, or name[parameter=value,…]"
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[(.*)\])?\s*", re.DOTALL)
_FRACTION = re.compile(r"[+-]?\.\d+")  # such as .9, which JSON would write as 0.9
LINES = ("Zl", "Zp")  # categories of the characters, beside control and invisible ones, that begin a line
LONGEST_NAME = 100  # bytes of a name in a path; numbers and endings are added to it, and file systems hold 255
SEPARATING = '/\\:*?"<>|'  # in a path or in a pattern, here or on Windows
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)  # on Windows, whatever follows the dot
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
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parameters(text: str, inside: str, what: str) -> dict[str, Any]:
    """Return the parameters between brackets; commas inside brackets and quotes do not part them."""
    parameters: dict[str, Any] = {}
    for part in re.split(r",(?=\s*\w+\s*=)", inside):
        matched = _ITEM.fullmatch(part)
        if matched is None:
            raise InputError(f"{what} is {text!r}; found {part!r}, allowed: parameter=value with commas between")
        key, value = matched.groups()
        try:
            parameters[key] = json.loads(value)
        except (ValueError, RecursionError):
            parameters[key] = float(value) if _FRACTION.fullmatch(value) else value.strip("'\"")
    return parameters


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names in one phrase: ``a, b and c``; empty for none."""
    return ", ".join(names[:-1]) + f" {word} " + names[-1] if len(names) > 1 else "".join(names)


def counted(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun: ``1 pair``, ``2 pairs``."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def plain(text: str) -> str:
    r"""Return a text whose control, invisible and line-breaking characters are written as escapes such as ``\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) if steers(character) else character for character in text)


def plain_lines(text: str) -> str:
    """Return lines, each as `plain` writes it."""
    return "\n".join(map(plain, text.replace("\r\n", "\n").split("\n")))


def steers(character: str) -> bool:
    """Whether a character is a control, an invisible or a line-breaking one, such as those that turn text round."""
    category = unicodedata.category(character)
    return category.startswith("C") or category in LINES


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def path_name(name: str) -> str:
    """Return a name that becomes part of a path, such as that of a case.

    Raises
    ------
    InputError
        If it is empty or longer than `LONGEST_NAME`, holds what separates parts of a path, a control or an invisible
        character, begins or ends with a dot or a space, or is a device of Windows.
    """
    wrong = next((character for character in name if character in SEPARATING or steers(character)), None)
    length = len(name.encode("utf-8", "replace"))
    if wrong is not None:
        reason = f"it holds {plain(wrong)!r}" if wrong in SEPARATING else f"it holds the character {plain(wrong)}"
    elif not 0 < length <= LONGEST_NAME:
        reason = f"it has {length} bytes"
    elif name != name.strip(". ") or _DEVICE.fullmatch(name):
        reason = "it begins or ends with a dot or a space, or is the name of a device"
    else:
        return name
    raise InputError(
        f"{name!r:.60} cannot be part of a path: {reason}; allowed: 1 to {LONGEST_NAME} bytes without "
        f"{' '.join(SEPARATING)}, control and invisible characters, dots and spaces at the ends"
    )


def position(kind: str, name: str, declared: Sequence[str]) -> int:
    """Return where a name stands among the declared ones, or raise `UnknownNameError`."""
    if name not in declared:
        raise UnknownNameError(kind, name, declared)
    return declared.index(name)
