"""Tables as text: strategies × metrics, with footnotes for what is not defined; errors of learned rewards; searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.reading import Json, Line, Listing, Reading
from accordant.report.scale import NOT_DEFINED, Cell, count, decimals, interval, number, percent
from accordant.runs.record import Column, Limits, MetricFigures, RewardError

WORTH_SAYING = 0.01  # share of resamples without a value from which a cell mentions it


@dataclass(frozen=True)
class MetricTable:
    """Some metrics of all lines."""

    columns: tuple[Column, ...]  # metrics as in the record
    rows: tuple[tuple[Line, tuple[Cell, ...]], ...]  # one line with one cell per column
    notes: tuple[str, ...]  # footnotes; a cell refers to them by position, counted from 1


def metric_table(reading: Listing, columns: Sequence[Column], *, detailed: bool = False) -> MetricTable:
    """Return a table; `detailed` adds n and the normalised value to every cell."""
    digits = {column.label: metric_decimals(reading, column.label) for column in columns}
    notes: list[str] = []
    rows = []
    for line in reading.lines:
        cells = []
        for column in columns:
            cell = line.row.metrics[column.label]
            details = _details(cell, detailed)
            if cell.value is None:
                sentence = f"{NOT_DEFINED} (n={count(cell.n)}: {cell.reason or 'no reason recorded'})"
                if sentence not in notes:
                    notes.append(sentence)
                cells.append(Cell(NOT_DEFINED, "", details, notes.index(sentence) + 1))
            else:
                places = digits[column.label]
                limits = interval(cell.low, cell.high, places)
                cells.append(Cell(number(cell.value, places), limits, details))
        rows.append((line, tuple(cells)))
    return MetricTable(tuple(columns), tuple(rows), tuple(notes))


def metric_decimals(reading: Listing, label: str) -> int:
    """Return the decimals of a metric, the same in the whole report."""
    return decimals(line.value(label) for line in reading.candidates or reading.lines)


def score_cell(score: Limits) -> Cell:
    """Return a composite score as a cell."""
    if score.value is None:
        return Cell("unranked")
    return Cell(number(score.value), interval(score.low, score.high), _gaps(score))


def in_parts(columns: Sequence[Column], size: int) -> list[Sequence[Column]]:
    """Return columns in parts that fit on a page."""
    return [columns[start : start + size] for start in range(0, len(columns), size)]


def _details(cell: MetricFigures, detailed: bool) -> tuple[str, ...]:
    if not detailed:
        return _gaps(cell)
    normalised = [] if cell.normalised is None else [f"normalised {number(cell.normalised)}"]
    return (f"n {count(cell.n)}", *normalised, *_gaps(cell))


def _gaps(estimate: Limits) -> tuple[str, ...]:
    """Say that resamples are missing from an interval."""
    missing = estimate.undefined or 0.0
    if estimate.value is None or missing <= WORTH_SAYING:
        return ()
    return (f"not defined on {percent(missing)} of resamples",)


@dataclass(frozen=True)
class ErrorTable:
    """Errors of learned rewards: a row per stakeholder and action, a column per outcome."""

    outcomes: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    most: str


@dataclass(frozen=True)
class SearchRow:
    """One grid point of one search: which model, the parameters, the loss, whether it was chosen."""

    model: str
    parameters: str
    loss: str
    chosen: bool


def reward_errors(reading: Reading) -> ErrorTable:
    """Return the errors; a cell that nobody was asked about is a dash."""
    errors = reading.record.learning.reward_errors
    outcomes = tuple(dict.fromkeys(_outcome(error) for error in errors))
    digits = decimals(error.mean_absolute_error for error in errors)
    cells = {(error.stakeholder, error.action, _outcome(error)): error for error in errors}
    rows = []
    for stakeholder, action in dict.fromkeys((error.stakeholder, error.action) for error in errors):
        row = [cells.get((stakeholder, action, outcome)) for outcome in outcomes]
        rows.append((stakeholder, action, tuple(_error(error, digits) for error in row)))
    worst = max(errors, key=lambda error: error.mean_absolute_error, default=None)
    said = worst and f"{number(worst.mean_absolute_error, digits)} ({worst.stakeholder}, {worst.action})"
    return ErrorTable(outcomes, tuple(rows), said or "")


def searches(reading: Reading) -> tuple[SearchRow, ...]:
    """Return every grid point of every search that had a choice."""
    rows = []
    for model, search in reading.record.learning.searches.items():
        if len(search.points) < 2:
            continue
        digits = decimals(point.loss for point in search.points) + 1
        for point in search.points:
            chosen = point.parameters == search.best
            rows.append(SearchRow(model, parameters(point.parameters), number(point.loss, digits), chosen))
    return tuple(rows)


def stand_ins(reading: Reading) -> bool:
    """Return whether points of the default model of rewards were compared by what stands for them."""
    learned = reading.record.learning
    rewards = (search.points for name, search in learned.searches.items() if name != "outcome")
    return learned.effort == "standard" and any(
        len(points) > 1 and all("max_leaf_nodes" in point.parameters for point in points) for points in rewards
    )


def fixed_models(reading: Reading) -> list[str]:
    """Return models without a search."""
    return [name for name, search in reading.record.learning.searches.items() if len(search.points) < 2]


def parameters(given: Json) -> str:
    """Return parameters as ``name = value, …``."""
    return ", ".join(f"{name} = {value}" for name, value in given.items()) or "as declared"


def _outcome(error: RewardError) -> str:
    return "any outcome" if error.outcome is None else str(error.outcome)


def _error(error: RewardError | None, digits: int) -> str:
    if error is None:
        return "–"
    return f"{number(error.mean_absolute_error, digits)} (n {count(error.n)})"
