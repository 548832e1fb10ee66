"""What ``accordant strategies --axioms`` and ``--agreement`` work on, and how they print it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from accordant.axioms import AxiomTable, Cell, Finding, arrow, axiom_table, gibbard_satterthwaite, rules_for, sample
from accordant.evaluation.agreement import Agreement, RankReversal, agreement, rank_reversal
from accordant.strategies.strategy import Strategy, strategies
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable
from accordant.utilities import ExpectedRewards

WIDTH = 100  # columns of a page that is piped somewhere
COLUMNS = 8  # axioms side by side
CELL = 8  # characters of a cell
OTHERS = 17  # rules side by side in the table of disagreement
SAMPLED = 1000  # contexts of the seeded sample


@dataclass(frozen=True, eq=False)
class Ground:
    """E to look at rules on.

    Attributes
    ----------
    origin
        Where E comes from, in one sentence.
    expected
        E.
    own
        Fitted strategies of the run by label; empty without a run.
    """

    origin: str
    expected: ExpectedRewards
    own: Mapping[str, Strategy] = field(default_factory=dict)


def ground(run: Path | None, data: str | None, contexts: int | None, seed: int) -> Ground:
    """Return E of a run's untouched rows, or a seeded sample.

    Parameters
    ----------
    run
        Run folder, or None.
    data
        Data file or folder of the run, if it is not in the usual places.
    contexts
        Use at most so many rows of the run, or sample so many contexts.
    seed
        Seed of the sample.

    Raises
    ------
    InputError
        If the run or its data cannot be used.
    """
    if run is not None:
        return _of_run(run, data, contexts, seed)
    expected = sample(contexts or SAMPLED, seed)
    size = f"{len(expected.stakeholders)} stakeholders, {len(expected.actions)} actions, {expected.n_contexts} contexts"
    return Ground(f"SAMPLED E: {size}, drawn at random with seed {seed}; no data were given.", expected)


def findings(on: Ground, rules: str | None, seed: int, *, axioms: bool, agree: bool) -> dict[str, Any]:
    """Return the table of axioms and what rules agree on, as objects, under ``axioms``, ``agreement``, ``reversal``."""
    chosen = rules_for(on.expected, None if rules is None else [name.strip() for name in rules.split(",")], on.own)
    tables: dict[str, Any] = {}
    if axioms:
        tables["axioms"] = axiom_table(chosen, on.expected, seed=seed)
    if agree:
        tables["agreement"] = agreement(chosen, on.expected)
        tables["reversal"] = tuple(rank_reversal(rule, on.expected) for rule in chosen)
    return tables


def as_json(on: Ground, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything as plain values."""
    shown: dict[str, Any] = {"origin": on.origin}
    if "axioms" in tables:
        table = tables["axioms"]
        shown["axioms"] = table.to_json() | {"theorems": [arrow(table), gibbard_satterthwaite(table)]}
    if "agreement" in tables:
        shown["agreement"] = tables["agreement"].to_json()
        shown["rank_reversal"] = [reversal.to_json() for reversal in tables["reversal"]]
    return shown


def show(on: Ground, tables: Mapping[str, Any]) -> None:
    """Print everything for people."""
    console = PlainConsole(width=WIDTH)
    console.print(on.origin)
    if "axioms" in tables:
        _show_axioms(console, tables["axioms"])
    if "agreement" in tables:
        _show_agreement(console, tables["agreement"], tables["reversal"])


def _show_axioms(console: PlainConsole, table: AxiomTable) -> None:
    shown = _short(table.rules)
    for start in range(0, len(table.axioms), COLUMNS):
        some = table.axioms[start : start + COLUMNS]
        grid = FittedTable(gap=1)
        grid.add("rule", name=True)
        for axiom in some:
            grid.add(axiom.head, number=True)
        for rule in table.rules:
            grid.add_row(shown[rule], *(_cell(table.cells[rule, axiom.name]) for axiom in some))
        console.print()
        console.print(grid)
    console.print("\nalways: by theorem    fails: on some E, by counterexample    –: the axiom does not apply")
    console.print("n/N: nothing is claimed; violated in n of the N contexts that put it to the test\n")
    console.print(_lines((axiom.head, f"{axiom.statement} ({axiom.source})") for axiom in table.axioms))
    console.print(f"\n{arrow(table)}")
    console.print(f"\n{gibbard_satterthwaite(table)}")
    heads = {axiom.name: axiom.head for axiom in table.axioms}
    violations = table.violations()
    if violations:
        console.print("\nViolated here, with a witness each (--json gives the matrices):")
    console.print(
        _lines(("-", _violation(violation, shown[violation.rule], heads[violation.axiom])) for violation in violations)
    )


def _show_agreement(console: PlainConsole, agreement: Agreement, reversals: Sequence[RankReversal]) -> None:
    shown = _short(agreement.rules)
    console.print("\nDisagreement: % of contexts in which two rules choose different actions.")
    console.print("Above the diagonal: of all contexts; below: of those in which neither rule is tied.")
    for start in range(0, len(agreement.rules), OTHERS):
        some = range(start, min(start + OTHERS, len(agreement.rules)))
        grid = FittedTable(gap=1)
        grid.add("rule", name=True)
        for other in some:
            grid.add(str(other + 1), number=True)
        for row, rule in enumerate(agreement.rules):
            grid.add_row(f"{row + 1:2} {shown[rule]}", *(_share(agreement, row, other) for other in some))
        console.print()
        console.print(grid)
    console.print("\nRank reversal: contexts in which the decision changes if an action that was not chosen is taken")
    console.print("away: a dominated one, or any.\n")
    grid = FittedTable(gap=1)
    for head in ("rule", "dominated", "any", "for example"):
        grid.add(head, number=head in {"dominated", "any"})
    for reversal in reversals:
        counts = (f"{part.changed}/{part.tested}" for part in (reversal.dominated, reversal.unchosen))
        grid.add_row(shown[reversal.rule], *counts, _example(reversal))
    console.print(grid)


def _lines(rows: Iterable[tuple[str, str]]) -> FittedTable:
    """Return lines with a hanging indent."""
    grid = FittedTable(gap=1, show_header=False)
    grid.add("", name=True)
    grid.add("")
    for row in rows:
        grid.add_row(*row)
    return grid


def _violation(finding: Finding, rule: str, axiom: str) -> str:
    assert finding.witness is not None
    count = f"{finding.violated} of {finding.judged}"
    return f"{rule}, {axiom}: {count}; context {finding.witness.context}: {finding.witness.sentence}"


def _example(reversal: RankReversal) -> str:
    witness = reversal.dominated.witness or reversal.unchosen.witness
    if witness is None:
        return ""
    return f"context {witness.context}: {witness.chosen}, but {witness.instead} without {witness.removed}"


def _share(agreement: Agreement, row: int, other: int) -> str:
    share = (agreement.disagreement if row < other else agreement.untied)[row, other]
    return "" if row == other else "–" if np.isnan(share) else f"{100 * share:.0f}"


def _cell(cell: Cell) -> str:
    """Return the text of a cell, with a share in place of long counts."""
    if len(cell.text) <= CELL:
        return cell.text
    mark = "!" if cell.contradicted else ""
    return f"{cell.finding.violated / cell.finding.judged:.1%}{mark}"


def _short(labels: Sequence[str]) -> dict[str, str]:
    """Return labels without brackets for rules with default parameters."""
    bare = {label: label.partition("[")[0] for label in labels}
    return {label: name if name != label and _default_label(name) == label else label for label, name in bare.items()}


def _default_label(name: str) -> str:
    return strategies.create(name).label if name in strategies else name


def _of_run(folder: Path, data: str | None, contexts: int | None, seed: int) -> Ground:
    """Return E of a run's untouched rows, through the saved policy."""
    from accordant.runs import read_run
    from accordant.runs.untouched_rows import drawn_rows, untouched_rows

    run = read_run(folder)
    untouched = untouched_rows(run, data)
    expected, origin = run.policy.expected_rewards(untouched.data.log.contexts), f"E of {untouched.origin}"
    drawn = drawn_rows(expected.n_contexts, contexts, seed)
    if drawn is not None:
        expected, origin = expected.take(drawn), f"{origin}, {contexts} of them drawn with seed {seed}"
    return Ground(f"{untouched.notice}{origin}", expected, run.policy.strategies_)
