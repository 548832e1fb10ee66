"""What ``population`` prints."""

from __future__ import annotations

from pathlib import Path

from accordant.runs.sections.population import FittedPopulation, PopulationFit
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable


def print_population(found: FittedPopulation, out: Path) -> None:
    """Print multipliers and means, here and of the run, for all rows and each group, and how good that is at most."""
    console = PlainConsole()
    console.print(f"strategy: {found.strategy}\n")
    for fit in found.fits:
        console.print(population_table(fit))
        value = "not defined" if fit.value is None else f"{fit.value:.6f}"
        gap = "not known" if fit.gap is None else f"{fit.gap:.1e}"
        console.print(f"best policy: {value}; any other adds at most {gap}; {fit.passes} passes over E\n")
    console.print(f"E and multipliers: {out}")


def population_table(fit: PopulationFit) -> FittedTable:
    """Return everybody's multiplier and mean expected reward."""
    whose = "all rows" if fit.group is None else fit.group
    table = FittedTable(f"{whose}: {fit.rows:,}")
    table.add("stakeholder", name=True)
    for name in ("counts", "in the run", "mean reward", "in the run", "best policy"):
        table.add(name, number=True)
    for each in fit.stakeholders:
        means = (f"{mean:.4f}" for mean in (each.mean, each.mean_of_run, each.best))
        table.add_row(each.stakeholder, f"{each.multiplier:.4f}", f"{each.multiplier_of_run:.4f}", *means)
    return table
