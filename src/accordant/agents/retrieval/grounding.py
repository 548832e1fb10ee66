"""Grounding: whether what an agent cites was ever looked up."""

from __future__ import annotations

from collections.abc import Collection

from accordant.errors import InputError


def grounding(cited: Collection[str], retrieved: Collection[str]) -> float | None:
    """Return |cited ∩ retrieved| / |cited|, in [0, 1]; None if nothing is cited.

    It says that passages exist and were looked up, not that they support what is said.

    Parameters
    ----------
    cited, retrieved
        Ids of passages; repetitions count once.

    Raises
    ------
    InputError
        If one id is given in place of several.
    """
    distinct = _ids(cited, "cited")
    return len(distinct & _ids(retrieved, "retrieved")) / len(distinct) if distinct else None


def fabricated(cited: Collection[str], retrieved: Collection[str]) -> tuple[str, ...]:
    """Return the ids that are cited and were never looked up, sorted; a move that cites one is void.

    Raises
    ------
    InputError
        If one id is given in place of several.
    """
    return tuple(sorted(_ids(cited, "cited") - _ids(retrieved, "retrieved")))


def _ids(given: Collection[str], name: str) -> frozenset[str]:
    """Return ids as a set; a single text would fall apart into letters."""
    if isinstance(given, str):
        raise InputError(f"{name} is the text {given!r:.60}; allowed: a collection of ids")
    return frozenset(given)
