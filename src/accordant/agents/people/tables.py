"""Plain tables of what a person is shown."""

from __future__ import annotations

from collections.abc import Sequence

from accordant.agents.frameworks.framework import said
from accordant.agents.view import View
from accordant.allocations import Allocation

NOTE = 60  # characters of a text that are shown in a cell


def scenario_table(view: View) -> str:
    """Return who asks, the resources with their capacity, and the patients with the facts that may be seen."""
    scenario = view.scenario
    resources = "; ".join(f"{each.name}: {each.capacity:g} units" for each in scenario.resources)
    rows = [["patient", *scenario.facts, *(f"needs {each.name}" for each in scenario.resources)]]
    for patient, portions in zip(scenario.patients, scenario.demand.tolist(), strict=True):
        needs = [f"{n * each.portion:g}" for n, each in zip(portions, scenario.resources, strict=True)]
        rows.append([patient.id, *(_cell(said(patient.facts[name])) for name in scenario.facts), *needs])
    return f"{view.agent}: {view.phase}, step {view.step}. {resources}\n{_aligned(rows)}"


def standing_table(view: View) -> str:
    """Return the standing proposals, with the disputed patients marked by a star."""
    names = sorted(view.proposals)
    shares = {name: view.proposals[name].allocation.shares for name in names}
    rows = [["patient", *names, "disputed"]]
    for place, patient in enumerate(view.scenario.ids):
        rows.append([patient, *(f"{shares[name][place]:.0%}" for name in names), "*" * (patient in view.disputed)])
    return f"standing proposals, share of the demand that is met\n{_aligned(rows)}"


def candidates_table(view: View) -> str:
    """Return the candidates of a vote, numbered from 1."""
    rows = [[f"{number}", _granted(each)] for number, each in enumerate(view.candidates, start=1)]
    return f"candidates\n{_aligned(rows)}"


def _granted(allocation: Allocation) -> str:
    """Return who gets what in one line."""
    units = allocation.to_json().items()
    return ", ".join(f"{patient} ({' '.join(f'{r}={n:g}' for r, n in each.items())})" for patient, each in units)


def _cell(text: str) -> str:
    """Return a text of unknown origin in one short line without control characters."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return line if len(line) <= NOTE else f"{line[: NOTE - 1]}…"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
