"""What a reader may move on the page of a run: weights of metrics, groups, and two strategies person by person.

The script of the page gets the numbers that are stored in the record, and nothing else. It makes scores of them as
`accordant.runs.record.stored_scores` does, in the same order of summation: the same to the last bit as ``reweigh``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from accordant.json_values import json_value
from accordant.metrics.metric import TOLERANCE
from accordant.report.distribution import Grouping
from accordant.report.overview import Comparison
from accordant.report.page import script_data
from accordant.report.reading import EQUAL, Json, Line, Reading
from accordant.report.scale import number
from accordant.runs.record import Board, Column, PeoplePart

LEAST_PEOPLE = 2  # in a group whose means are shown by themselves


@dataclass(frozen=True)
class Slider:
    """A metric that may carry weight; `weight` as declared."""

    column: Column
    weight: float


@dataclass(frozen=True)
class Exploration:
    """What can be moved.

    Attributes
    ----------
    sliders
        Metrics that may carry weight, those that do first; empty if nothing can be scored anew.
    among
        Groups whose means stand in the first table: its number in the data, and its name.
    people
        Rows that can be looked at one by one; None if the record keeps none.
    pair
        The two strategies that are compared first.
    data
        What the script reads.
    """

    sliders: tuple[Slider, ...]
    among: tuple[tuple[int, str], ...]
    people: PeoplePart | None
    pair: tuple[str, str] | None
    data: Markup


def exploration(reading: Reading, comparison: Comparison | None, groups: Sequence[Grouping]) -> Exploration:
    """Return what can be moved on the page of a run."""
    record = reading.record
    boards = {
        name: _board(reading, board) for name, board in (("test", record.test), ("validation", record.validation))
    }
    weights = {column.label: record.case.metrics[column.label].weight for column in record.test.metrics}
    sliders = tuple(
        Slider(column, weights[column.label])
        for column in sorted(record.test.metrics, key=lambda column: -weights[column.label])
        if record.test.normalisation != "natural" or column.range is not None
    )
    among = [] if comparison is None else _among(reading, comparison, groups)
    pair = _pair(reading, comparison)
    people = record.people if pair and len(record.people.rows if record.people else ()) > 1 else None
    data: Json = {
        "boards": boards,
        "weights": weights,
        "tolerance": TOLERANCE,
        "equal": EQUAL,
        "selected": record.selected,
        "among": [cells for _, cells in among],
        "people": None if people is None else _people(reading, people),
    }
    return Exploration(
        sliders if boards["test"] else (),
        tuple((place, name) for place, (name, _) in enumerate(among)),
        people,
        pair,
        script_data(json_value(data)),
    )


def _board(reading: Reading, board: Board) -> Json | None:
    """Return what scores of a leaderboard are made of; None if it has no candidate, or is not described."""
    record, rows, metrics = reading.record, board.leaderboard, [column.label for column in board.metrics]
    described = {row.strategy for row in rows} <= record.strategies.keys()
    if not described or not any(row.candidate for row in rows) or not any(column.weight for column in board.metrics):
        return None
    return {
        "metrics": metrics,
        "known": [reading.label(metric) for metric in metrics],
        "names": [row.strategy for row in rows],
        "labels": [reading.label(row.strategy) for row in rows],
        "candidates": [row.candidate for row in rows],
        "selectable": [record.strategies[row.strategy].selectable for row in rows],
        "declared": record.declared_order(board),
        "values": [[row.metrics[metric].normalised for metric in metrics] for row in rows],
        "alike": [row.alike for row in rows],
        "limits": [(row.score.low, row.score.high) for row in rows],
    }


def _among(reading: Reading, comparison: Comparison, groups: Sequence[Grouping]) -> list[tuple[str, list[list[str]]]]:
    """Return the first table for every group that is not too small: its name, and texts by stakeholder and strategy."""
    heads = [line.name for line, _ in comparison.heads]
    tables = []
    for grouping in groups:
        if not all(head in grouping.rows for head in heads):
            continue
        for label, name, size in zip(grouping.labels, grouping.names, grouping.sizes, strict=True):
            if size < LEAST_PEOPLE:
                continue
            cells = [
                [number(grouping.rows[head][label].mean_rewards.get(stakeholder.name)) for head in heads]
                for stakeholder in reading.stakeholders
            ]
            tables.append((f"{grouping.title}: {name}, {size} rows", cells))
    return tables


def _pair(reading: Reading, comparison: Comparison | None) -> tuple[str, str] | None:
    """Return the selected strategy, or the first line, and what it is compared with first."""
    lines: list[Line] = [] if comparison is None else [line for line, _ in comparison.heads]
    lines += [line for line in (reading.selected, *reading.lines) if line is not None and line not in lines]
    return (lines[0].name, lines[1].name) if len(lines) > 1 else None


def _people(reading: Reading, people: PeoplePart) -> dict[str, Any]:
    """Return rows with expected rewards and decisions, by the names of strategies."""
    return {
        "rows": people.rows,
        "actions": reading.record.case.problem.actions,
        "expected": people.expected,
        "decisions": {
            line.name: people.decisions[line.name] for line in reading.lines if line.name in people.decisions
        },
    }
