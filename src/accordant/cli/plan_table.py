"""What ``plan`` prints for people, and its page."""

from __future__ import annotations

from pathlib import Path

from accordant.report.plan import render_plan
from accordant.report.plan.wording import DURATIONS, digits, size, unit_of
from accordant.runs.datasets.plan_record import LEVEL, Plan
from accordant.runs.datasets.plan_tasks import plan_tasks
from accordant.runs.folder import Run
from accordant.runs.pages import write_page
from accordant.statistics import Estimate
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

WIDTH = 100  # columns where the output is piped somewhere
RECORD = "planned.json"  # in a folder, beside the page


def write_plan(plan: Plan, run: Run, out: Path) -> Path:
    """Write the page, or a new folder with page and JSON, and return the path of the page."""
    return write_page(render_plan(plan, run), plan.to_json(), RECORD, out)


def print_plan(plan: Plan) -> None:
    """Print one line for each thing that a job takes, then what limits it."""
    console, seconds = PlainConsole(width=WIDTH), 3600 * plan.worker_hours / plan.workers
    table = FittedTable(f"What it takes to {plan_tasks.create(plan.kind).words}, before it is begun")
    table.add("")
    table.add("about", number=True)
    table.add(f"in {LEVEL:.0%} of such jobs", number=True)
    table.add_row("rows", f"{plan.rows:,}", "")
    table.add_row("parts", f"{plan.parts:,}", f"up to {plan.part_rows:,} rows each")
    table.add_row("workers", f"{plan.workers:,}", f"more than {plan.most_workers:,} hardly help")
    factor, unit = unit_of(seconds, DURATIONS)
    table.add_row(unit, *_numbers(plan.seconds, factor))
    table.add_row("CPU hours", *_numbers(plan.cpu_hours, 1.0))
    table.add_row("hours of workers, paid for", digits(plan.worker_hours), "")
    if plan.cost is not None:
        table.add_row("cost", digits(plan.cost), "")
    table.add_row("memory of a worker", f"{plan.worker_memory:,.0f} MiB", "")
    table.add_row("memory where the command runs", f"{plan.driver_memory:,.0f} MiB", "")
    for name, amount in (("read", plan.input_bytes), ("written", plan.output_bytes)):
        table.add_row(name, size(amount), f"{size(amount / seconds)} a second")
    console.print(table)
    shares = ", ".join(f"{name} {share:.0%}" for name, share in plan.shares.items())
    console.print(f"\nlimited by: {plan.bottleneck}")
    console.print(f"workers: {shares}; the driver is busy {plan.driver:.0%} of the time")
    for note in plan.notes:
        console.print(f"- {note}")


def _numbers(estimate: Estimate, factor: float) -> tuple[str, str]:
    value, low, high = (
        digits(end / factor) for end in (estimate.value, estimate.low, estimate.high) if end is not None
    )
    return value, f"{low}–{high}"
