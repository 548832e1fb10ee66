"""What agents look passages up with, and what they look for."""

from __future__ import annotations

from typing import Literal

from accordant.agents.retrieval.passage import Retriever
from accordant.agents.retrieval.retrievers import built_in_retriever
from accordant.errors import InputError

Lookup = Retriever | Literal["built_in"] | None
"""A retriever; ``built_in`` for the corpus that comes with the package; None for no passages."""


def check_lookup(given: object) -> None:
    """Refuse what cannot look passages up.

    Raises
    ------
    InputError
        If it is neither a retriever, nor ``built_in``, nor None.
    """
    if given is not None and given != "built_in" and not callable(getattr(given, "search", None)):
        raise InputError(f"retriever is {given!r:.60}; allowed: 'built_in', None, or an object with `search`")


def retriever_of(given: Lookup) -> Retriever | None:
    """Return the retriever that is meant, or None for no passages."""
    return built_in_retriever() if isinstance(given, str) else given


def query_for(code: str, claim: str) -> str:
    """Return what is looked up for the reasons of a code in a framework with a claim."""
    return f"{code.replace('_', ' ')} {claim}"
