"""Criteria of the scope card: the selected strategy's value against the threshold that somebody chose."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.reading import GOALS, Json, Line, Reading
from accordant.report.scale import NOT_DEFINED, count, decimals, interval, number


@dataclass(frozen=True)
class Check:
    """A criterion and what was found.

    Attributes
    ----------
    criterion
        As the card has it.
    label, requirement
        The metric in the leaderboard and what the threshold asks of it, in words.
    value, interval
        Of the selected strategy on the test rows.
    finding
        Whether the value meets the threshold, and whether the whole interval does.
    """

    criterion: Json
    label: str
    requirement: str
    value: str
    interval: str
    finding: str


def checks(reading: Reading) -> tuple[Check, ...]:
    """Return every criterion of the card with what the record says about it."""
    card = reading.content["scope"]
    line = reading.find(reading.content["selected"])
    return tuple(_check(reading, line, criterion) for criterion in card["criteria"]) if card else ()


def _check(reading: Reading, line: Line | None, criterion: Json) -> Check:
    column = _column(reading, criterion)
    threshold = criterion["threshold"]
    if column is None:
        return Check(
            criterion,
            criterion["metric"],
            _plain(threshold),
            "–",
            "",
            "not evaluated: no such metric in this run",
        )
    label, goal = column["label"], column["goal"]
    requirement = _requirement(label, goal, threshold)
    if line is None:
        return Check(criterion, label, requirement, "–", "", "not evaluated: no strategy was selected")
    cell = line.row["metrics"][label]
    if cell["value"] is None:
        reason = f"{NOT_DEFINED} (n={count(cell['n'])}: {cell['reason']})"
        return Check(criterion, label, requirement, NOT_DEFINED, "", reason)
    digits = decimals([cell["value"], cell["low"], cell["high"]])
    limits = interval(cell["low"], cell["high"], digits)
    return Check(criterion, label, requirement, number(cell["value"], digits), limits, _finding(cell, goal, threshold))


def _column(reading: Reading, criterion: Json) -> Json | None:
    """Return the metric that a criterion names: by its label, or by its registered name and parameters."""
    declared = reading.content["case"]["metrics"]
    for column in reading.columns:
        if column["label"] == criterion["metric"]:
            return column
    for column in reading.columns:
        about = declared.get(column["label"], {})
        given = about.get("parameters", {})
        wanted = criterion["params"]
        if about.get("metric") == criterion["metric"] and all(given.get(key) == wanted[key] for key in wanted):
            return column
    return None


def _plain(threshold: float | None) -> str:
    return "no threshold given" if threshold is None else f"threshold {threshold:g}"


def _requirement(label: str, goal: str, threshold: float | None) -> str:
    if threshold is None:
        return f"no threshold given; {GOALS[goal]}"
    sides = {
        "zero": f"|{label}| ≤ {threshold:g}",
        "min": f"{label} ≤ {threshold:g}",
        "max": f"{label} ≥ {threshold:g}",
    }
    return sides[goal]


def _finding(cell: Json, goal: str, threshold: float | None) -> str:
    if threshold is None:
        return "no threshold to compare with"
    value_meets = _meets(cell["value"], goal, threshold)
    start = "the value meets the threshold" if value_meets else "the value does not meet the threshold"
    if cell["low"] is None or cell["high"] is None:
        return start
    ends = [_meets(end, goal, threshold) for end in (cell["low"], cell["high"])]
    if value_meets:
        return (
            f"{start}, and so does its whole interval" if all(ends) else f"{start}, but part of its interval does not"
        )
    crosses = any(ends) or (goal == "zero" and cell["low"] <= 0 <= cell["high"])
    return f"{start}, but part of its interval does" if crosses else f"{start}, nor does any of its interval"


def _meets(value: float, goal: str, threshold: float) -> bool:
    return {"zero": abs(value) <= abs(threshold), "min": value <= threshold, "max": value >= threshold}[goal]
