"""What ``explain`` prints for people: explanations row by row, and letters for the persons concerned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from accordant.errors import InputError
from accordant.explanation import PersonExplanation
from accordant.languages import SOURCE, language
from accordant.report.explanation import letter_text
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

WIDTH = 100  # columns of a page that is piped somewhere
HEADINGS = {  # of explanations, by topic
    "decides": "The decision",
    "person": "The person, and what is likely to follow",
    "traded": "What it traded off",
    "change": "What would have changed it",
    "sure": "How sure it is",
}


def check_language(code: str | None, *, for_person: bool) -> str:
    """Return the language of letters.

    Raises
    ------
    InputError
        If none of this code is shipped, or nothing is written for persons.
    """
    if code is not None and not for_person:
        raise InputError(f"--language {code} has no effect without --for-person")
    return language(code or SOURCE).code


def print_explanations(document: Mapping[str, Any], out: Path | None) -> None:
    """Print E as a small table and the sentences, row by row."""
    console = PlainConsole(width=WIDTH)
    console.print(document["source"])
    for sentence in document["rests_on"]:
        console.print(f"- {sentence}")
    for explanation in document["explanations"]:
        console.print()
        console.print(rewards_table(explanation))
        for topic, sentences in explanation["sentences"].items():
            console.print(f"\n{HEADINGS[topic]}")
            for sentence in sentences:
                console.print(f"- {sentence}")
    if out is not None:
        console.print(f"\npage: {out}")


def rewards_table(explanation: Mapping[str, Any]) -> FittedTable:
    """Return expected rewards by stakeholder and action."""
    title = f"Row {explanation['row']}: {explanation['choice']['action']}, by {explanation['rule']}"
    table = FittedTable(title)
    table.add("expected reward", name=True)
    for action in explanation["actions"]:
        table.add(action, number=True)
    for name, rewards in zip(explanation["stakeholders"], explanation["expected"], strict=True):
        table.add_row(name, *(f"{reward:.3f}" for reward in rewards))
    return table


def print_letters(letters: Sequence[PersonExplanation], out: Path | None) -> None:
    """Print letters one after the other."""
    console = PlainConsole(width=WIDTH)
    for number, letter in enumerate(letters):
        if number:
            console.print()
        for line in letter_text(letter):
            console.print(line)
    if out is not None:
        console.print(f"\npage: {out}")
