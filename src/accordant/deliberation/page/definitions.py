"""What the measures of a deliberation mean, one sentence each, and in which order they stand."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.deliberation.page.reading import Json, OneReading
from accordant.report.scale import NOT_DEFINED, number, percent

WHY_NOT = {
    "moved_towards_others": "it did not move",
    "influence": "nobody moved",
    "contestation": "nothing was disputed",
    "overridden": "it stood firm on nobody",
    "minority_survival": "no wish was held by fewer than half of the agents",
    "grounding": "no passage was cited",
    "fallback_rate": "no move was asked for",
}  # as `accordant.deliberation.assessment.Process` says of None

UNSAID = "the record gives no value"

BY_AGENT = {
    "hamming": ("moved on", "patients", "Patients whose joint share differs from the agent's first wish."),
    "distance": ("distance", "shares", "Sum over patients of how far the joint share is from the agent's first wish."),
    "moved_towards_others": (
        "moved towards others", "share",
        "Its moves that came nearer to another agent's first wish, over all its moves.",
    ),
    "influence": (
        "influence", "share", "Moves of other agents towards this agent's first wish, over all moves of all agents.",
    ),
    "contestation": (
        "contestation", "share",
        "Disputed patients that the agent challenged with a reason that counts, over all disputed patients.",
    ),
    "overridden": (
        "overridden", "share",
        "Disputed patients on whom the agent stood firm and was decided against, over those on whom it stood firm.",
    ),
}  # fmt: skip
ANYBODY = "Disputed patients that some agent challenged with a reason that counts, over all disputed patients."
OVERALL = {
    "minority_survival": (
        "minority survival",
        "Wishes of fewer than half of the agents that became the joint share, over all such wishes.",
    ),
    "grounding": ("grounding", "Citations of passages that had been looked up by then, over all citations."),
    "fallback_rate": (
        "fallback rate",
        "Moves that a rule made for a language model that gave no valid one, over all moves asked for.",
    ),
}  # fmt: skip
SATISFACTION = {
    "solo": (
        "first wish",
        "Utility of its first proposal by its first stated utility; below 1 it says it likes something else better.",
    ),
    "revised": ("last proposal", "Utility of its last proposal by its last stated utility."),
    "joint": ("joint", "Utility of the joint allocation by the utility that the settlement read."),
    "drift": ("drift", "Mean change of its stated utility from first to last over the alternatives."),
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """A measure with its values.

    Attributes
    ----------
    name, definition
        What it is called, and what it means in one sentence.
    values
        As text with a reason where it is not defined: one for each agent, or one for all.
    """

    name: str
    definition: str
    values: tuple[tuple[str, str], ...]


def by_agent(reading: OneReading) -> list[Measured]:
    """Return the measures that each agent has a value of."""
    process = reading.content["process"]
    return [
        Measured(name, definition, tuple(_value(process[key][each.name], unit, key) for each in reading.takers))
        for key, (name, unit, definition) in BY_AGENT.items()
    ]


def overall(reading: OneReading) -> list[Measured]:
    """Return the measures of the deliberation as a whole."""
    process = reading.content["process"]
    anybody = Measured(
        "challenged by anybody", ANYBODY, (_value(process["contestation"]["anybody"], "share", "contestation"),)
    )
    return [anybody] + [
        Measured(name, definition, (_value(process[key], "share", key),)) for key, (name, definition) in OVERALL.items()
    ]


def satisfied(reading: OneReading) -> list[Measured]:
    """Return how well each agent is served by its own standard."""
    found: Json = reading.content["satisfaction"]
    return [
        Measured(name, definition, tuple((number(found[key][each.name]), "") for each in reading.takers))
        for key, (name, definition) in SATISFACTION.items()
    ]


def _value(value: float | None, unit: str, key: str) -> tuple[str, str]:
    if value is None:
        return NOT_DEFINED, WHY_NOT.get(key, UNSAID)
    if unit == "share":
        return percent(value), ""
    return number(value, 0 if float(value).is_integer() else 2), ""
