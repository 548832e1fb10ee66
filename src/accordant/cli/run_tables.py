"""What ``run`` and ``evaluate`` print for people."""

from __future__ import annotations

from pathlib import Path

from accordant.report.overview import in_short
from accordant.runs.record import Board, OutcomeModelPart, Record
from accordant.statistics import Estimate
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

SHOWN_METRICS = 5  # weighted metrics that fit beside the score; all of them are in the report


def print_run(record: Record, folder: Path) -> None:
    """Print where the data came from, the leaderboard, what to mind, the answer in words, and where the report is."""
    console, data, test = PlainConsole(), record.data, record.test
    origin = "SIMULATED DATA" if data.simulated else "data"
    console.print(f"{origin}: {data.source}, {data.train} training and {data.test} untouched test rows")
    if record.learning.effort == "quick":
        console.print("A QUICK LOOK: the notes below say what was left out; run without --quick before you rely on it")
    for words, names in _sources(record).items():
        console.print(f"reward of {', '.join(names)}: {words}")
    for split in record.stakeholder_groups:
        console.print(" ".join(split.sentences))
    selection = record.selection
    console.print(f"selected on held-out folds: {record.selected}. {selection.consults}".strip())
    if selection.score is not None:
        console.print(f"its score there, corrected for having been chosen there: {_estimate(selection.score)}")
    console.print()
    console.print(leaderboard_table(test, record.selected))
    console.print("> selected   * no candidate: on the candidates' scale, but never chosen\n")
    budget = record.scrutiny and record.scrutiny.budget
    if budget:
        console.print(leaderboard_table(budget.board, None, f"The same with {budget.words}"))
        console.print()
        console.print(f"- {budget.sentence}")
    if record.scrutiny and record.scrutiny.gains:
        console.print(f"- {record.scrutiny.gains.sentence}")
    notes = [f"{label}: {rule.note}." for label, rule in record.strategies.items() if rule.note]
    hidden = record.scrutiny.sensitivity.sentences if record.scrutiny and record.scrutiny.sensitivity else ()
    grid = [] if record.grid is None else [record.grid.sentence]
    for sentence in [*test.remarks, *hidden, *notes, *grid, *record.warnings]:
        console.print(f"- {sentence}")
    console.print(f"\noutcome model: {_outcome_model(record.outcome_model)}")
    for title, text in in_short(record):  # last, so that it is what stands on the screen
        console.print(f"\n{title}")
        console.print(text)
    console.print(f"\nrun: {folder}")
    console.print(f"report: {folder / 'report.html'}")


def _sources(record: Record) -> dict[str, list[str]]:
    """Return words on where rewards come from, and the stakeholders of whom they are true."""
    stakeholders: dict[str, list[str]] = {}
    for name, source in record.reward_sources.items():
        stakeholders.setdefault(source.sentence_end, []).append(name)
    return stakeholders


def leaderboard_table(test: Board, selected: str | None, title: str = "") -> FittedTable:
    """Return the leaderboard with the metrics that carry weight."""
    weighted = [metric for metric in test.metrics if metric.weight > 0][:SHOWN_METRICS]
    table = FittedTable(title or f"Leaderboard on {test.n} untouched rows")
    table.add("strategy", name=True)
    table.add("score", number=True)
    table.add(f"{test.level:.0%} interval", number=True)
    table.add("among best", number=True, optional=1)
    table.add("tied", number=True, optional=2)
    for metric in weighted:
        table.add(f"{metric.label.replace('_', ' ')} ({metric.weight:g})", number=True, optional=1)
    for row in test.leaderboard:
        mark = ">" if row.strategy == selected else " " if row.candidate else "*"
        score = row.score
        limits = "" if score.low is None else f"{score.low:.3f}–{score.high:.3f}"
        table.add_row(
            f"{mark} {row.strategy}",
            _number(score.value),
            limits,
            {True: "yes", False: "no", None: ""}[row.among_best],
            f"{row.tied:.0%}",
            *(_number(row.metrics[metric.label].value) for metric in weighted),
        )
    return table


def _outcome_model(model: OutcomeModelPart) -> str:
    """Return what f is and how good it is on the test rows; calibration per outcome is left to the report."""
    overall = [measure for measure in model.quality if not measure.name.startswith("mean probability of")]
    return f"{model.name}; " + ", ".join(f"{measure.name} {_number(measure.value)}" for measure in overall)


def _estimate(estimate: Estimate) -> str:
    limits = "" if estimate.low is None else f" [{estimate.low:.3f}, {estimate.high:.3f}]"
    return f"{_number(estimate.value)}{limits}"


def _number(value: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def print_board(found: Board, selected: str | None, out: Path) -> None:
    """Print the leaderboard on a dataset, what to mind, and where its sums stand."""
    console = PlainConsole()
    console.print(leaderboard_table(found, selected, f"Leaderboard on {found.n:,} rows"))
    console.print("> selected by the run   * no candidate: on the candidates' scale, but never chosen\n")
    for sentence in found.remarks:
        console.print(f"- {sentence}")
    console.print(f"\nsums of parts: {out}")
