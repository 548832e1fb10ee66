"""Tables of strategies × metrics: cells as text, and footnotes for what is not defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.reading import Json, Line, Reading
from accordant.report.scale import NOT_DEFINED, count, decimals, interval, number, percent

WORTH_SAYING = 0.01  # share of resamples without a value from which a cell mentions it


@dataclass(frozen=True)
class Cell:
    """One number as it is set: value, interval, what else there is to know, and its footnote."""

    value: str
    interval: str = ""
    details: tuple[str, ...] = ()
    note: int | None = None


@dataclass(frozen=True)
class MetricTable:
    """Some metrics of all lines.

    Attributes
    ----------
    columns
        Metrics as in the record.
    rows
        One line with one cell per column.
    notes
        Footnotes; a cell refers to them by position, counted from 1.
    """

    columns: tuple[Json, ...]
    rows: tuple[tuple[Line, tuple[Cell, ...]], ...]
    notes: tuple[str, ...]


def metric_table(reading: Reading, columns: Sequence[Json], *, detailed: bool = False) -> MetricTable:
    """Return a table; `detailed` adds n and the normalised value to every cell."""
    digits = {column["label"]: metric_decimals(reading, column["label"]) for column in columns}
    notes: list[str] = []
    rows = []
    for line in reading.lines:
        cells = []
        for column in columns:
            cell = line.row["metrics"][column["label"]]
            details = _details(cell, detailed)
            if cell["value"] is None:
                sentence = f"{NOT_DEFINED} (n={count(cell['n'])}: {cell['reason'] or 'no reason recorded'})"
                if sentence not in notes:
                    notes.append(sentence)
                cells.append(Cell(NOT_DEFINED, "", details, notes.index(sentence) + 1))
            else:
                places = digits[column["label"]]
                limits = interval(cell["low"], cell["high"], places)
                cells.append(Cell(number(cell["value"], places), limits, details))
        rows.append((line, tuple(cells)))
    return MetricTable(tuple(columns), tuple(rows), tuple(notes))


def metric_decimals(reading: Reading, label: str) -> int:
    """Return the decimals of a metric, the same in the whole report."""
    return decimals(line.value(label) for line in reading.candidates or reading.lines)


def score_cell(score: Json) -> Cell:
    """Return a composite score as a cell."""
    if score["value"] is None:
        return Cell("unranked")
    return Cell(number(score["value"]), interval(score["low"], score["high"]), _gaps(score))


def in_parts(columns: Sequence[Json], size: int) -> list[Sequence[Json]]:
    """Return columns in parts that fit on a page."""
    return [columns[start : start + size] for start in range(0, len(columns), size)]


def _details(cell: Json, detailed: bool) -> tuple[str, ...]:
    if not detailed:
        return _gaps(cell)
    normalised = [] if cell["normalised"] is None else [f"normalised {number(cell['normalised'])}"]
    return (f"n {count(cell['n'])}", *normalised, *_gaps(cell))


def _gaps(estimate: Json) -> tuple[str, ...]:
    """Say that resamples are missing from an interval."""
    missing = estimate["undefined"] or 0.0
    if estimate["value"] is None or missing <= WORTH_SAYING:
        return ()
    return (f"not defined on {percent(missing)} of resamples",)
