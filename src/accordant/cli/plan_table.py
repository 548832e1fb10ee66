"""What ``plan`` prints for people."""

from __future__ import annotations

from accordant.runs.datasets.plan import LEVEL, Plan
from accordant.statistics import Estimate
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

WIDTH = 100  # columns where the output is piped somewhere
UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def print_plan(plan: Plan) -> None:
    """Print one line for each thing that a job takes, then what limits it."""
    console, seconds = PlainConsole(width=WIDTH), 3600 * plan.worker_hours / plan.workers
    table = FittedTable(f"What it takes to {plan.kind}, before it is begun")
    table.add("")
    table.add("about", number=True)
    table.add(f"in {LEVEL:.0%} of such jobs", number=True)
    table.add_row("rows", f"{plan.rows:,}", "")
    table.add_row("parts", f"{plan.parts:,}", f"up to {plan.part_rows:,} rows each")
    table.add_row("workers", f"{plan.workers:,}", f"more than {plan.most_workers:,} do not help")
    factor, unit = next(((size, name) for size, name in UNITS if seconds >= size), UNITS[-1])
    table.add_row(unit, *_numbers(plan.seconds, factor))
    table.add_row("CPU hours", *_numbers(plan.cpu_hours, 1.0))
    table.add_row("hours of workers, paid for", _number(plan.worker_hours), "")
    if plan.cost is not None:
        table.add_row("cost", _number(plan.cost), "")
    table.add_row("memory of a worker", f"{plan.worker_memory:,.0f} MiB", "")
    table.add_row("memory for parts, where the command runs", f"{plan.driver_memory:,.0f} MiB", "")
    for name, size in (("read", plan.input_bytes), ("written", plan.output_bytes)):
        table.add_row(name, _bytes(size), f"{_bytes(size / seconds)} a second")
    console.print(table)
    shares = ", ".join(f"{name} {share:.0%}" for name, share in plan.shares.items())
    console.print(f"\nlimited by: {plan.bottleneck}")
    console.print(f"workers: {shares}; the driver is busy {plan.driver:.0%} of the time")
    for note in plan.notes:
        console.print(f"- {note}")


def _numbers(found: Estimate, factor: float) -> tuple[str, str]:
    value, low, high = (_number(each / factor) for each in (found.value, found.low, found.high) if each is not None)
    return value, f"{low}–{high}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # three digits


def _bytes(size: float) -> str:
    factor, unit = next(((least, name) for least, name in SIZES if size >= least), (1.0, "bytes"))
    return f"{_number(size / factor)} {unit}"
