"""What ``accordant study`` prints for people."""

from __future__ import annotations

from pathlib import Path

from accordant.naming import counted
from accordant.statistics import Estimate
from accordant.studies.folder import PAGE, TABLE
from accordant.studies.result import StudyResult
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

SHOWN = 2  # strategies that are D* most often


def print_study(result: StudyResult, folder: Path) -> None:
    """Print conditions with D* and differences from the baseline, statements, failures, and where the page is."""
    console = PlainConsole()
    done = sum(cell.finished for cell in result.cells)
    console.print(f"{'SIMULATED DATA' if result.simulated else 'data'}: {', '.join(result.sources) or 'none read'}")
    console.print(f"{done} of {counted(len(result.cells), 'run')} finished; means are over seeds\n")
    console.print(_conditions(result))
    console.print(
        f"> baseline. Each {result.level:.0%} interval of a mean is for that mean alone; those of the "
        f"{counted(len(result.against_baseline), 'difference')} hold together.\n"
    )
    if result.statements:
        console.print(_statements(result))
    for failure in result.failures:
        console.print(f"- failed: {failure.cell}: {failure.message}")
    console.print(f"\ntable: {folder / TABLE}")
    console.print(f"page: {folder / PAGE}")


def _conditions(result: StudyResult) -> FittedTable:
    table = FittedTable("Composite score of D*")
    table.add("condition", name=True)
    table.add("runs", number=True)
    table.add("D* how often")
    for name in ("mean", "from the baseline"):
        table.add(name, number=True)
    table.add("in words")
    main = {
        difference.condition: difference
        for difference in result.against_baseline
        if (difference.strategy, difference.metric) == ("selected", "score")
    }
    for condition in result.conditions:
        names = [f"{name} {times}×" for name, times in list(condition.selected.items())[:SHOWN]]
        more = len(condition.selected) - SHOWN
        difference = main.get(condition.label)
        table.add_row(
            f"{'>' if condition.baseline else ' '} {condition.label}",
            str(condition.runs),
            ", ".join(names) + (f" and {more} more" if more > 0 else ""),
            str(condition.score),
            "" if difference is None else _signed(difference.difference),
            "" if difference is None else difference.verdict,
        )
    return table


def _statements(result: StudyResult) -> FittedTable:
    table = FittedTable("Published statements")
    for name in ("statement", "condition", "published", "here", "verdict"):
        table.add(name)
    for statement in result.statements:
        table.add_row(statement.says, statement.condition, statement.published, statement.computed, statement.verdict)
    return table


def _signed(estimate: Estimate) -> str:
    if estimate.value is None:
        return ""
    limits = "" if estimate.low is None else f" [{estimate.low:+.3f}, {estimate.high:+.3f}]"
    return f"{estimate.value:+.3f}{limits}"
