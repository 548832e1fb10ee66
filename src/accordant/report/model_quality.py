"""How good the models are: reward errors as a compact table, and what the searches chose."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.reading import Json, Reading
from accordant.report.scale import count, decimals, number


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
    errors = reading.content["learning"]["reward_errors"]
    outcomes = tuple(dict.fromkeys(_outcome(error) for error in errors))
    digits = decimals(error["mean_absolute_error"] for error in errors)
    cells = {(error["stakeholder"], error["action"], _outcome(error)): error for error in errors}
    rows = []
    for stakeholder, action in dict.fromkeys((error["stakeholder"], error["action"]) for error in errors):
        found = [cells.get((stakeholder, action, outcome)) for outcome in outcomes]
        rows.append((stakeholder, action, tuple(_error(error, digits) for error in found)))
    worst = max(errors, key=lambda error: error["mean_absolute_error"], default=None)
    most = (
        ""
        if worst is None
        else f"{number(worst['mean_absolute_error'], digits)} ({worst['stakeholder']}, {worst['action']})"
    )
    return ErrorTable(outcomes, tuple(rows), most)


def searches(reading: Reading) -> tuple[SearchRow, ...]:
    """Return every grid point of every search that had a choice."""
    found = []
    for model, search in reading.content["learning"]["searches"].items():
        if len(search["points"]) < 2:
            continue
        digits = decimals(point["loss"] for point in search["points"]) + 1
        for point in search["points"]:
            chosen = point["parameters"] == search["best"]
            found.append(SearchRow(model, parameters(point["parameters"]), number(point["loss"], digits), chosen))
    return tuple(found)


def fixed_models(reading: Reading) -> list[str]:
    """Return models without a search."""
    return [name for name, search in reading.content["learning"]["searches"].items() if len(search["points"]) < 2]


def parameters(given: Json) -> str:
    """Return parameters as ``name = value, …``."""
    return ", ".join(f"{name} = {value}" for name, value in given.items()) or "as declared"


def _outcome(error: Json) -> str:
    return "any outcome" if error["outcome"] is None else str(error["outcome"])


def _error(error: Json | None, digits: int) -> str:
    if error is None:
        return "–"
    return f"{number(error['mean_absolute_error'], digits)} (n {count(error['n'])})"
