"""What ``population`` prints."""

from __future__ import annotations

from pathlib import Path

from accordant.naming import counted
from accordant.runs.sections.population import FittedPopulation, PopulationFit
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

ROUNDING = 1e-9


def print_population(fitted: FittedPopulation, out: Path) -> None:
    """Print multipliers and means, here and of the run, for all rows and each group, and how good that is at most."""
    console = PlainConsole()
    console.print(f"strategy: {fitted.strategy}\n")
    for fit in fitted.fits:
        console.print(population_table(fit))
        value = "not defined" if fit.value is None else f"{fit.value:.6f}"
        console.print(f"best policy: {value}; {_gap(fit.gap)}; {counted(fit.passes, 'pass', 'passes')} over E\n")
    console.print(f"E and multipliers: {out}")


def _gap(gap: float | None) -> str:
    """Return what another policy could add, which below `ROUNDING` is that of sums."""
    if gap is None:
        return "how much better another could be is not known"
    return f"any other adds {'less than' if gap < ROUNDING else 'at most'} {max(gap, ROUNDING):.0e}"


def population_table(fit: PopulationFit) -> FittedTable:
    """Return everybody's multiplier and mean expected reward."""
    whose = "all rows" if fit.group is None else fit.group
    table = FittedTable(f"{whose}: {fit.rows:,}")
    table.add("stakeholder", name=True)
    for name in ("counts", "in the run", "mean reward", "in the run", "best policy"):
        table.add(name, number=True)
    for who in fit.stakeholders:
        means = (f"{mean:.4f}" for mean in (who.mean, who.mean_of_run, who.best))
        table.add_row(who.stakeholder, f"{who.multiplier:.4f}", f"{who.multiplier_of_run:.4f}", *means)
    return table
