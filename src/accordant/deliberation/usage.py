"""What language models were asked for in a deliberation, and how often a rule stood in for them."""

from __future__ import annotations

from collections.abc import Mapping

from accordant.sections import Figure

Usage = Mapping[str, Mapping[str, Figure]]
"""Agent to what its language model spent, by what is counted: moves, fallbacks, calls, tokens; no count is 0."""


def moves(usage: Usage) -> int:
    """Return how many moves language models were asked for."""
    return int(sum(counts.get("moves", 0) for counts in usage.values()))


def fallbacks(usage: Usage) -> int:
    """Return how many moves of language models a rule made."""
    return int(sum(counts.get("fallbacks", 0) for counts in usage.values()))


def silent(usage: Usage) -> bool:
    """Return whether rules made all moves that language models were asked for; False where none was asked for any."""
    return 0 < moves(usage) == fallbacks(usage)


def stood_in(usage: Usage) -> list[str]:
    """Return the warning of how often a rule stood in for a language model; empty if it never did."""
    asked, replaced = moves(usage), fallbacks(usage)
    if silent(usage):
        return [f"NO MOVE CAME FROM THE LANGUAGE MODEL: a rule stood in for all of its {asked} moves"]
    return [f"in {replaced} of {asked} moves a rule stood in for a language model"] if replaced else []
