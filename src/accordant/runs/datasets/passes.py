"""What the passes of `population` over E cost: how many there are, and how long one takes.

Their number comes from fits to small parts. It grows with the logarithm of the rows, and no longer from `RESOLVED` rows
on: one row in n moves means by 1 / n, and what a mixture of policies loses by it, about its square, is then below what
ends the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from accordant.arrays import Values
from accordant.compute.executor import RETRIES, Executor, Failure, Item, Result, in_order
from accordant.compute.local import Here, Processes, cpu_seconds
from accordant.compute.tasks import Task, Told
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.population import fitted_on, populations_of, rule_of
from accordant.runs.datasets.trials import Trial, spent, start_of
from accordant.runs.folder import Run
from accordant.runs.record.record import peak_memory
from accordant.strategies.column_generation import GAP

RESOLVED = round(GAP**-0.5)
"""Rows from which on more of them need no more passes."""
VARIED = 0.1
"""Relative standard deviation of the number of passes from one dataset to another like it, as found in simulated E."""

Kind = tuple[str, int | None]  # a task, and the number of the group that it reads


@dataclass(frozen=True)
class Passes:
    """What was measured of passes.

    Attributes
    ----------
    counts
        Rows, and how many passes a fit to them took, by rows.
    trials
        Parts of E that were passed over: what one pass takes of them, on the mean of all kinds of passes of a fit.
    start, driver
        Seconds of an executor until the first part of a pass is handed out, and seconds for each part.
    start_cpu
        CPU seconds of the first, of this machine.
    """

    counts: tuple[tuple[int, int], ...]
    trials: tuple[Trial, ...]
    start: float
    driver: float
    start_cpu: float

    def number(self, rows: float) -> float:
        """Return how many passes a fit to so many rows takes: on a line over the logarithm of the rows."""
        sizes, counts = np.array(self.counts, dtype=np.float64).T
        most = min(rows, max(RESOLVED, sizes.max()))
        slope = 0.0
        if len(set(sizes)) > 1:
            slope = max(0.0, float(np.polyfit(np.log(sizes), counts, 1)[0]))
        return max(1.0, float(counts.mean() + slope * (np.log(most) - np.log(sizes).mean())))

    def drawn(self, rows: float, repetitions: int, generator: np.random.Generator) -> Values:
        """Return numbers of passes that the sample does not rule out, shape (repetition,)."""
        return np.maximum(1.0, self.number(rows) * np.exp(VARIED * generator.standard_normal(repetitions)))


def measured_passes(
    run: Run, strategy: str, folder: Path, lines: Mapping[int, Sequence[Told]], together: int,
    cost: tuple[float, float, float],
) -> Passes:  # fmt: skip
    """Fit to parts of up to `RESOLVED` rows, and pass over parts of every size in fresh workers.

    Parameters
    ----------
    run, strategy
        The run, and which of its strategies for the whole policy.
    folder, lines
        Where E of parts stands, and what was written of them, by their rows.
    together
        How many parts are passed over at a time.
    cost
        `Passes.start`, `Passes.driver` and `Passes.start_cpu`.
    """
    rule, job = rule_of(run, strategy), Job(run, "", folder)
    counts, maps = list[tuple[int, int]](), _Maps()
    for rows in sorted(lines):
        if counts and counts[-1][0] >= RESOLVED:
            break
        maps = _Maps()
        fitted_on(rule, populations_of(job, maps, lines[rows][:1], rule))
        counts.append((rows, maps.done.total()))
    first, trials = lines[min(lines)][0], list[Trial]()
    for rows in sorted(lines):
        trials += in_order(Processes(str(together)).run(_Passed(maps.last, maps.done, first), lines[rows]))
    return Passes(tuple(counts), tuple(trials), *cost)


class _Maps:
    """Carries maps out in this process, and knows what they were."""

    workers = 1

    def __init__(self) -> None:
        self.done, self.last = Counter[Kind](), dict[Kind, Task]()

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield results in order; see `Executor.run`."""
        task, item = cast("Task", function), cast("Told", items[0])
        kind = task.name, item["number"]
        self.done[kind] += 1
        self.last[kind] = task
        yield from Here().run(function, items, retries=retries)

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class _Passed:
    """Does what a fit did with a part, each kind of pass once, and says what a pass costs on the mean of all."""

    last: Mapping[Kind, Task]
    done: Mapping[Kind, int]
    first: Told

    def __call__(self, line: Told) -> Trial:
        start = start_of(lambda: self._mean(self.first))
        wall, cpu = self._mean(line)
        return Trial(line["rows"], wall, cpu, peak_memory(), *start, 0)

    def _mean(self, line: Told) -> tuple[float, float]:
        kinds = [kind for kind in self.done if kind[1] is None or kind[1] < len(line["values"])]
        costs = [spent(partial(self.last[kind], {"output": line["output"], "number": kind[1]})) for kind in kinds]
        wall, cpu = np.average(np.array(costs), axis=0, weights=[self.done[kind] for kind in kinds])
        return float(wall), float(cpu)


def pass_cost(executor: Executor, items: tuple[int, int]) -> tuple[float, float, float]:
    """Return the seconds that an executor takes for a map, those more for each part, and the CPU seconds of the first.

    They are those of empty parts.

    Parameters
    ----------
    executor
        Who carries them out.
    items
        How many parts the shorter and the longer map have.
    """
    task = Task("empty", {"line": {}})
    taken = []
    for count in items:
        used = cpu_seconds()  # with workers, which end with the map
        taken.append((spent(partial(list, executor.run(task, [{}] * count)))[0], cpu_seconds() - used))
    few, many = np.array(taken)
    per_part = np.maximum(0.0, many - few) / (items[1] - items[0])
    wall, cpu = np.maximum(0.0, few - per_part * items[0])
    return float(wall), float(per_part[0]), float(cpu)
