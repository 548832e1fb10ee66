"""What one part costs: carried out in fresh workers, as many at a time as there are cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from accordant.compute.executor import in_order
from accordant.compute.local import Processes
from accordant.compute.tasks import Task, Told
from accordant.runs.record.record import peak_memory
from accordant.tables.datasets import Part

REPEATS = 4  # parts of each size: enough to tell noise, and two for each of two workers


@dataclass(frozen=True)
class Trial:
    """One part that was carried out.

    Attributes
    ----------
    rows
        How many it had.
    seconds, cpu
        Wall and CPU seconds.
    memory
        Peak of the worker, MiB.
    start, start_cpu
        Wall and CPU seconds of the smallest part in a worker that did none before, where it is the first; else 0.
    output
        Bytes that it wrote.
    """

    rows: int
    seconds: float
    cpu: float
    memory: float
    start: float
    start_cpu: float
    output: int


def tried(task: Task, smallest: Part, part: Part, together: int) -> list[tuple[Trial, Told]]:
    """Return what came of a part, carried out several times by fresh workers, with its line.

    Parameters
    ----------
    task, part
        What is carried out.
    smallest
        A part that each worker does before.
    together
        How many work at a time.
    """
    count = -(-REPEATS // together) * together
    items = [{**part.to_json(), "number": part.rows * REPEATS + k, "before": None} for k in range(count)]  # type: ignore[operator]
    first = {**smallest.to_json(), "number": 0, "before": None}
    return list(in_order(Processes(str(together)).run(_Tried(task, first), items)))


_warm = set[int]()  # processes that did a part before


def start_of(cost: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """Return the wall and CPU seconds of the first work of this process; 0 where it did some before."""
    if os.getpid() in _warm:
        return 0.0, 0.0
    _warm.add(os.getpid())
    return cost()


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and CPU seconds of some work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


@dataclass(frozen=True)
class _Tried:
    """A task that says what it cost; each worker does a small part before, for what is read and compiled only once."""

    task: Task
    first: Told

    def __call__(self, item: Told) -> tuple[Trial, Told]:
        start, lines = start_of(lambda: spent(lambda: self.task(self.first))), list[Told]()
        cost = spent(lambda: lines.append(self.task(item)))
        output = (Path(self.task.options["out"]) / lines[0]["output"]).stat().st_size
        return Trial(int(item["rows"]), *cost, peak_memory(), *start, output), lines[0]


def nearest(trials: Sequence[Trial], sizes: int) -> list[Trial]:
    """Return the parts of the largest sizes: cost a row grows slowly with size, and those of the job are like them."""
    kept = sorted({trial.rows for trial in trials})[-sizes:]
    return [trial for trial in trials if trial.rows in kept]
