"""What ``reweigh`` takes and prints."""

from __future__ import annotations

from pathlib import Path

from accordant.errors import InputError
from accordant.runs.sections.weight_change_record import Reweighed, ReweighedRow
from accordant.tables.output import write_output
from accordant.tables.text import csv_text
from accordant.terminal import PlainConsole, named_values
from accordant.terminal_table import FittedTable

FORM = "METRIC=WEIGHT, with commas between, such as Accuracy=0.7,Worst_Off=0.3"
WIDTH = 120  # columns of what is piped somewhere
HEADER = (
    "strategy", "kind", "candidate", "place", "place_of_run", "score", "low", "high", "score_of_run", "among_best",
)  # fmt: skip


def metric_weights(given: str) -> dict[str, float]:
    """Return metric to weight, of an option such as ``Accuracy=0.7,Worst_Off=0.3``.

    Raises
    ------
    InputError
        If a part has another form, or a metric is named twice.
    """
    named = named_values("--weights", given.split(","), FORM)
    try:
        return {label: float(weight) for label, weight in named.items()}
    except ValueError:
        raise InputError(f"--weights is {given!r}; allowed: {FORM}") from None


def print_reweighed(reweighed: Reweighed, out: Path | None) -> None:
    """Print who leads, the leaderboard at the other weights beside that of the run, and who rises and falls."""
    console = PlainConsole(width=WIDTH)
    for sentence in reweighed.sentences:
        console.print(f"- {sentence}")
    for word, moved in (("rises", reweighed.risen), ("falls", reweighed.fallen)):
        for row in moved:
            console.print(f"- {row.strategy} {word} from place {row.place_of_run} to {row.place}")
    console.print()
    console.print(reweighed_table(reweighed))
    console.print("> D* of the run, which stays   * no candidate")
    if out is not None:
        console.print(f"\none line per strategy: {out}")


def reweighed_table(reweighed: Reweighed) -> FittedTable:
    """Return the leaderboard at the other weights."""
    title = f"Leaderboard on {reweighed.n} untouched rows at other weights"
    table = FittedTable(title)
    table.add("strategy", name=True)
    for name in ("place", "in the run", "score", f"{reweighed.level:.0%} interval", "in the run", "among best"):
        table.add(name, number=True)
    for row in reweighed.rows:
        mark = ">" if row.strategy == reweighed.selected else " " if row.candidate else "*"
        limits = "" if row.low is None or row.high is None else f"{row.low:.3f}–{row.high:.3f}"
        table.add_row(
            f"{mark} {row.strategy}", _place(row.place), _place(row.place_of_run), _score(row.score), limits,
            _score(row.score_of_run), {True: "yes", False: "no", None: ""}[row.among_best],
        )  # fmt: skip
    return table


def _place(place: int | None) -> str:
    return "" if place is None else str(place)


def _score(score: float | None) -> str:
    return "not defined" if score is None else f"{score:.3f}"


def write_reweighed(reweighed: Reweighed, out: Path) -> None:
    """Write one line per strategy as CSV."""
    write_output(out, csv_text(HEADER, [_cells(row) for row in reweighed.rows]))


def _cells(row: ReweighedRow) -> list[object]:
    values = row.model_dump()
    return [values[name] for name in HEADER]
