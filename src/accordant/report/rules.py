"""What each rule of a run does, in one sentence, with the rules that decide as it does beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accordant.report.labels import renamed
from accordant.report.reading import Line, Reading
from accordant.strategies import strategies

CODE = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes
    ----------
    line
        Its line of the leaderboard.
    label
        By which commands know it.
    about
        What it does, in one sentence; empty if this version of the program does not know it.
    alike
        Lines that decide as it does in at least 99% of rows.
    """

    line: Line
    label: str
    about: str
    alike: tuple[Line, ...]


def rules(reading: Reading) -> tuple[Rule, ...]:
    """Return every line of the leaderboard with what it does, in the order of the leaderboard."""
    return tuple(
        Rule(line, reading.label(line.name), about(reading, line), reading.alike(line)) for line in reading.lines
    )


def about(reading: Reading, line: Line) -> str:
    """Return what the rule of a line does, in one sentence; empty if nothing registered says it."""
    part = reading.record.strategies.get(line.name)
    if part is None or part.name not in strategies:
        return ""
    names = {label: name for name, label in reading.labels.items()}
    return renamed(_with_values(strategies.about(part.name), part.parameters), names)


def _with_values(words: str, parameters: Mapping[str, Any]) -> str:
    """Return words in which the name of a parameter stands as its value."""
    return CODE.sub(lambda match: str(parameters.get(match[1], match[1])), words)
