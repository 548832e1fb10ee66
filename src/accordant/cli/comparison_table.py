"""What ``compare`` reads and prints: two runs, or two versions of a declaration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from accordant.cases.files import read_case
from accordant.naming import listed
from accordant.runs.chain import add_section, check_addable
from accordant.runs.folder import read_run
from accordant.runs.sections.comparison import compare_runs
from accordant.runs.sections.comparison_record import METHODS, MetricDifference, OnlyIn, RunComparison
from accordant.runs.sections.declaration_changes import SCOPE, CaseDifference, Change
from accordant.scope import from_markdown
from accordant.tables.output import is_run
from accordant.tables.text import read_text
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

WIDTH = 120  # columns of what is piped somewhere


def compare_folders(first: Path, second: Path, data: str | None, *, add: bool) -> tuple[RunComparison, str]:
    """Compare two run folders; return what differs, and what is said of the section that was added to the first.

    Raises
    ------
    InputError
        If one is no finished run, nothing can be added, or `data` are not theirs.
    """
    if add:
        check_addable(first, "without --add nothing is added")
    one, other = read_run(first), read_run(second)
    comparison = compare_runs(one, other, data)
    return comparison, add_section(one.manifest, comparison).receipt if add else ""


def compare_declared(first: str, second: str) -> CaseDifference:
    """Compare what two cases, runs or scope cards declare.

    Raises
    ------
    InputError
        If one cannot be read.
    """
    return CaseDifference.of((first, second), _declared(first), _declared(second))


def _declared(name: str) -> dict[str, Any]:
    """Return what is declared, as JSON values; a scope card in Markdown stands for a case with that card alone."""
    if is_run(name):
        return dict(read_run(name).content["case"])
    if Path(name).suffix == ".md":
        return {SCOPE: from_markdown(read_text(name)).model_dump(mode="json")}
    return read_case(name)[0].model_dump(mode="json")


def print_declared(difference: CaseDifference) -> None:
    """Print the keys in which two declarations differ."""
    console = PlainConsole(width=WIDTH)
    console.print(f"{difference.first} → {difference.second}")
    for title, changes in (("case", difference.declaration), ("scope card", difference.card)):
        _changes(console, title, changes)


def print_comparison(comparison: RunComparison) -> None:
    """Print what differs between two runs, D* side by side, and strategies of both."""
    console, first, second = PlainConsole(width=WIDTH), comparison.first, comparison.second
    console.print(
        f"{first.folder} ({first.case}, seed {first.seed}) → {second.folder} ({second.case}, seed {second.seed})"
    )
    for title, changes in (
        ("data and split", comparison.data), ("case", comparison.declared.declaration),
        ("scope card", comparison.declared.card),
    ):  # fmt: skip
        _changes(console, title, changes)
    for run, only in ((first, comparison.only_first), (second, comparison.only_second)):
        words = _only(only)
        if words:
            console.print(f"\nonly in {run.folder}: {words}")
    same = first.selected == second.selected
    console.print(f"\nD*: {first.selected}{' in both' if same else f' → {second.selected}'}")
    console.print(f"{comparison.rows}.")
    for remark in comparison.remarks:
        console.print(f"- {remark}")
    console.print()
    console.print(differences_table(comparison.differences, comparison.level))
    for method in dict.fromkeys(row.method for row in comparison.differences if row.method):
        metrics = [row.metric for row in comparison.differences if row.method == method]
        console.print(
            f"intervals {METHODS[method]}: {'all' if len(metrics) == len(comparison.differences) else listed(metrics)}"
        )
    console.print(comparison.noise)
    console.print()
    console.print(strategies_table(comparison))


def _changes(console: PlainConsole, title: str, changes: Sequence[Change]) -> None:
    console.print(f"\n{title}:" if changes else f"\n{title}: nothing differs")
    for change in changes:
        console.print(f"- {change.words}")


def _only(only: OnlyIn) -> str:
    parts = [f"{word} {listed(names)}" for word, names in (("strategies", only.strategies), ("metrics", only.metrics))
             if names]  # fmt: skip
    return "; ".join(parts)


def differences_table(differences: Sequence[MetricDifference], level: float) -> FittedTable:
    """Return the figures of D* before and after."""
    table = FittedTable("D* on untouched rows")
    table.add("figure", name=True)
    for name in ("before", "after", "difference", f"{level:.0%}, all together"):
        table.add(name, number=True)
    table.add("more than noise?")
    for row in differences:
        limits = "" if row.low is None or row.high is None else f"{row.low:+.3f} to {row.high:+.3f}"
        table.add_row(
            row.metric, _number(row.before), _number(row.after), _number(row.difference, "+"), limits,
            f"{row.verdict}: {row.reason}" if row.reason else row.verdict,
        )  # fmt: skip
    return table


def strategies_table(comparison: RunComparison) -> FittedTable:
    """Return scores of the strategies that are in both; what they say of noise stands with D* alone."""
    title = "Composite scores" + ("" if comparison.same_scale else ", on scales that differ: not comparable")
    table = FittedTable(title)
    table.add("strategy", name=True)
    for name in ("before", "after"):
        table.add(name, number=True)
    for row in comparison.strategies:
        table.add_row(row.strategy, *map(_number, row.score))
    return table


def _number(value: float | None, sign: str = "") -> str:
    return "not defined" if value is None else f"{value:{sign}.3f}"
