"""Plain values of the JSON in words."""

from __future__ import annotations

from collections.abc import Mapping

from accordant.report.scale import count, number


def told(value: object) -> str:
    """Return a number, a truth value, a text, or several of them in words; None and what is empty is ``none``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{str(key).replace('_', ' ')} {told(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list | tuple):
        return "; ".join(map(told, value)) or "none"
    return "none" if value is None else str(value)


def sentence(words: str) -> str:
    """Return words with a capital at the beginning and a full stop at the end."""
    return f"{words[:1].upper()}{words[1:]}{'' if words[-1:] in ('.', '!', '?', '') else '.'}"
