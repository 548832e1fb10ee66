"""Declared constraints as plain values that can be hashed, compared, and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from accordant.errors import InputError, allowed_names
from accordant.strategies.strategy import Strategy, strategies


class FrozenMapping(dict[str, Any]):
    """A mapping of plain values that nobody changes any more, so that it may be hashed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def declared(value: Any) -> Any:
    """Return mappings as `FrozenMapping` with text keys, sequences and arrays as tuples, numpy numbers as Python's."""
    if isinstance(value, Mapping):
        return FrozenMapping({str(key): declared(member) for key, member in value.items()})
    if isinstance(value, np.ndarray | np.generic):
        return declared(value.tolist())
    return tuple(map(declared, value)) if isinstance(value, list | tuple) else value


def only_keys(what: str, given: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Return `given` if it is a mapping with the required keys and no others than the optional ones."""
    allowed = (*required, *optional)
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}; allowed: a mapping with the keys {', '.join(allowed)}")
    for key in given:
        if key not in allowed:
            raise InputError(f"{what}: unknown key {key!r}; {allowed_names(allowed, key)}")
    for key in required:
        if key not in given:
            raise InputError(f"{what}: key {key!r} is missing")
    return given


def strategy_of(what: str, given: Any) -> Strategy:
    """Return the strategy that a name, a mapping of name and parameters, or a strategy stands for."""
    if isinstance(given, Strategy):
        return given
    if isinstance(given, str):
        return strategies.create(given)
    read = only_keys(what, given, ("name",), ("parameters",))
    return strategies.create(read["name"], read.get("parameters"))


def names_of(what: str, given: Any) -> tuple[str, ...]:
    """Return a bare name or a list of names as a tuple of at least one name."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(name, str) for name in listed):
        raise InputError(f"{what} is {given!r}; allowed: a name, or a list of at least one")
    return tuple(listed)


def is_share(value: Any) -> bool:
    """Whether a value is a number in [0, 1]; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
