"""Parameters of agents, frameworks and concession strategies: what a command line or a case file may have put there."""

from __future__ import annotations

from collections.abc import Sequence

from accordant.errors import InputError


def text(value: object, what: str) -> str:
    """Return a text that is not empty.

    Raises InputError if it is none; the message says what was found.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{what} is {value!r:.60}; allowed: a text")
    return value


def texts(value: object, what: str) -> tuple[str, ...]:
    """Return several texts.

    Raises InputError if it is a single text, or holds anything else.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(part, str) for part in value):
        raise InputError(f"{what} is {value!r:.60}; allowed: a list of texts")
    return tuple(value)


def number(value: object, what: str) -> float:
    """Return a number; true and false are none.

    Raises InputError if it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what} is {value!r:.60}; allowed: a number")
    return value


def truth(value: object, what: str) -> bool:
    """Return true or false.

    Raises InputError if it is neither.
    """
    if not isinstance(value, bool):
        raise InputError(f"{what} is {value!r:.60}; allowed: true or false")
    return value


def count(value: object, what: str, unit: str) -> int:
    """Return a whole number from 1.

    Raises InputError if it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} is {value!r:.60}; allowed: 1 or more {unit}")
    return value
