"""Tasks on datasets that can be planned: each with its options, as its command takes them by default, and its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accordant.compute.tasks import Told
from accordant.errors import InputError
from accordant.registry import Registry
from accordant.runs.datasets.parts import Job
from accordant.runs.folder import Run
from accordant.runs.row_batches import row_contexts
from accordant.tables.datasets import Part


def _strategy(run: Run, options: Told) -> str | None:
    del run
    return options.get("strategy")


def without_strategy(strategy: str | None, task: str, why: str) -> None:
    """Refuse a strategy where a task has none of its own.

    Raises
    ------
    InputError
        If there is one.
    """
    if strategy is not None:
        raise InputError(f"--strategy has no effect on {task}, which {why}; leave it out")


@dataclass(frozen=True)
class PlanTask:
    """A task that can be planned.

    Attributes
    ----------
    options
        Returns what all parts have in common, for a run and the strategy that was asked; None for the run's.
    words
        What is done: ``recommend``.
    title
        The same before a number of rows: ``Recommend for``.
    each
        What is done with one part: ``recommend for each part``.
    label
        Returns which strategy decides, for a run and the options; None where all of them do.
    read
        Reads the rows of a part as the task does, and nothing more.
    reduction
        Returns the seconds in which the driver puts together what parts wrote: whatever their number, and more for each
        part of a job; and the CPU seconds of all processes for each of them. It is given parts of a sample, which may
        be smaller. None where only their lines are added up.
    in_order
        Whether that can only be done part after part.
    together
        What that is: ``add up all parts``.
    """

    options: Callable[[Run, str | None], Told]
    words: str
    title: str
    each: str
    label: Callable[[Run, Told], str | None] = _strategy
    read: Callable[[Run, Part], object] = row_contexts
    reduction: Callable[[Job, Sequence[Told]], tuple[float, float, float]] | None = None
    in_order: bool = False
    together: str = "add up all parts"


plan_tasks: Registry[PlanTask] = Registry(
    "planned task",
    group="accordant.plan_tasks",
    packages=("accordant.runs.datasets", "accordant.slates", "accordant.monitoring"),
)
"""Name of a task of `accordant.compute.tasks.tasks` to what makes its `PlanTask`."""
