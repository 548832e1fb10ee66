"""Places of candidates on validation rows, where selection happened, and on test rows."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.reading import EQUAL, Json, Line, Reading


@dataclass(frozen=True)
class Places:
    """Place of every ranked candidate, 1 best; equal scores share a place.

    Attributes
    ----------
    validation, test
        Strategy to place.
    order
        Candidates in order of their validation score, unranked ones last.
    """

    validation: dict[str, int]
    test: dict[str, int]
    order: tuple[Line, ...]


def compare(reading: Reading) -> Places:
    """Return both orders of a run."""
    validation = _places(reading.content["validation"]["leaderboard"])
    test = _places(reading.content["test"]["leaderboard"])
    last = len(reading.lines) + 1
    order = sorted(reading.candidates, key=lambda line: validation.get(line.name, last))
    return Places(validation, test, tuple(order))


def _places(rows: list[Json]) -> dict[str, int]:
    scores = {
        row["strategy"]: row["score"]["value"] for row in rows if row["candidate"] and row["score"]["value"] is not None
    }
    return {name: 1 + sum(other > score + EQUAL for other in scores.values()) for name, score in scores.items()}
