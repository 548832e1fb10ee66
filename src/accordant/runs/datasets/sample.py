"""What parts cost: the real task on small parts in fresh workers, and empty tasks through an executor."""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from accordant.compute.executor import executors, in_order, open_executor
from accordant.compute.ledger import Ledger
from accordant.compute.local import Processes
from accordant.compute.tasks import Task, Told, tasks
from accordant.errors import InputError
from accordant.runs.datasets.parts import Job, opened, version_of
from accordant.runs.datasets.passes import Passes, measured_passes, pass_cost
from accordant.runs.datasets.plan_tasks import plan_tasks
from accordant.runs.datasets.population import load_kernel
from accordant.runs.datasets.sample_rows import Cut, source_of
from accordant.runs.datasets.trials import REPEATS, Trial, tried
from accordant.runs.folder import Run
from accordant.runs.record.record import peak_memory
from accordant.tables.array_files import write_columns
from accordant.tables.arrow import arrow_columns, arrow_format, arrow_output
from accordant.tables.datasets import PART_ROWS, Part, dataset_parts
from accordant.tables.scratch import ScratchFolder
from accordant.tables.text import file_hash
from accordant.threads import free_cores

SMALLEST, GROWTH, LARGEST = 4_000, 4, PART_ROWS  # rows of sampled parts: where time allows as many as parts have
SECONDS = 30.0  # no larger size is begun if it would take the sample beyond
EMPTY = (20, 220)  # parts without work: what the second two hundred take is what a part costs the driver


@dataclass(frozen=True)
class Sample:
    """What was measured before a job.

    Attributes
    ----------
    kind, strategy
        Name of the task, and of the strategy; None where all are carried out.
    trials
        Parts, of at least two sizes.
    together
        How many were carried out at a time, one per core.
    reading, writing
        Shares of a part's time that went to reading, and to writing what came of it.
    input_bytes
        A row, as it is stored.
    workers
        How many the executor has.
    start
        Seconds until the first worker of the executor answers.
    driver
        Seconds of the driver that each part takes while others are worked on: to hand it over, and for its line.
    driver_memory
        MiB that the driver holds, and more for each part.
    listing
        Seconds of the driver before all parts, for each.
    reduction
        Seconds of the driver after all parts, and seconds more for each: to add it up.
    passes
        What was measured of passes over what parts wrote; None if there are none.
    reduction_cpu
        CPU seconds of all processes for each second of the reduction.
    seconds
        How long all of this took.
    """

    kind: str
    strategy: str | None
    trials: tuple[Trial, ...]
    together: int
    reading: float
    writing: float
    input_bytes: float
    workers: int
    start: float
    driver: float
    driver_memory: tuple[float, float]
    listing: float
    reduction: tuple[float, float]
    passes: Passes | None = None
    reduction_cpu: float = 1.0
    seconds: float = 0.0


def measure(
    run: Run, kind: str, on: str, dataset: str | None, part_rows: int, strategy: str | None = None
) -> Sample:  # fmt: skip
    """Carry out small parts as `kind` does, and empty ones where `on` says.

    Parameters
    ----------
    run
        The run.
    kind
        One of `accordant.runs.datasets.plan_tasks.plan_tasks`.
    on
        Address of an executor. Parts are carried out on this machine, one per core, whatever it says; where it is a
        cluster, only what a part costs beside its work is measured there.
    dataset
        Whose first rows make the parts; None for the case's simulator, or else its file.
    part_rows
        Rows of parts of the job: none of the sample is larger.
    strategy
        Another strategy than the selected one, written as after the option of its command.

    Raises
    ------
    InputError
        If the task, the executor or the dataset is none that can be measured, or there are no rows.
    """
    began = time.perf_counter()
    planned = plan_tasks.create(kind)
    executors.factory(on.partition(":")[0])  # refuses a name that is none, before the work
    if on.partition(":")[0] in ("threads", "queue"):
        raise InputError(
            f"--on {on}: nobody can tell what work costs there before it is begun; allowed: here, processes:N, "
            "ray://…, dask://…; for a queue plan processes:1 with --workers N"
        )
    options = planned.options(run, strategy)
    place = {"run": str(run.path.absolute()), "version": version_of(run)}
    opened(place)  # forked workers find it read
    if kind == "population":
        load_kernel(run)
    held = peak_memory(children=False)
    with ScratchFolder() as scratch:
        folder = Path(scratch)
        cut = Cut(place, dataset if dataset is not None else source_of(run), folder)
        task = Task(kind, {**place, **options, "out": scratch})
        together = 1 if on.partition(":")[0] == "here" else free_cores()
        trials, lines = list[Trial](), dict[int, list[Told]]()
        smallest: Part | None = None
        for part in _growing(cut, part_rows, trials, together, began):
            smallest = smallest or part
            pairs = tried(task, smallest, part, together)
            trials += [trial for trial, _ in pairs]
            lines[trials[-1].rows] = [line for _, line in pairs]
        largest, item = lines[trials[-1].rows], part.to_json()
        reading, writing = _apart(task, part, largest[-1], trials[-1].seconds)
        workers, start, driver, between = _driver(on, largest[-1], item, folder)
        (*reduction, reduction_cpu), passes = (0.0, 0.0, 1.0), None
        if planned.reduction is not None:
            here = f"processes:{min(workers, free_cores())}"
            *reduction, reduction_cpu = planned.reduction(Job(run, part.file, folder, here, part_rows), largest)
            held = peak_memory(children=False)
        if kind == "population":
            passes = measured_passes(run, options["strategy"], folder, lines, together, between)
        listing = _timed(lambda: dataset_parts(part.file, part_rows))
        return Sample(
            kind, planned.label(run, options), tuple(trials), together, reading, writing,
            Path(part.file).stat().st_size / trials[-1].rows, workers, start, driver, (held, _held(largest[-1], item)),
            listing, (reduction[0], reduction[1]), passes, reduction_cpu, time.perf_counter() - began,
        )  # fmt: skip


@tasks.register("empty")
def empty_part(options: Told, item: Told) -> Told:
    """Return the line that is given, without any work: what a part costs beside it."""
    del item
    line: Told = options["line"]
    return line


def _growing(cut: Cut, part_rows: int, trials: Sequence[Trial], together: int, began: float) -> Iterator[Part]:
    """Yield parts of growing size: two at least, and no more once the next would take too long."""
    largest = min(part_rows, LARGEST)
    sizes = [max(1, largest // GROWTH**k) for k in range(4, -1, -1)]
    sizes = [size for size in dict.fromkeys(sizes) if size >= min(SMALLEST, largest // GROWTH)]
    for number, size in enumerate(sizes):
        spent = time.perf_counter() - began
        if number > 1 and spent + GROWTH * REPEATS * trials[-1].seconds / together > SECONDS:
            return
        (file,) = in_order(Processes("1").run(cut, [size]))
        yield replace(dataset_parts(file, sys.maxsize)[0], rows=size, folders=cut.folders)


def _apart(task: Task, part: Part, line: Told, seconds: float) -> tuple[float, float]:
    """Return which shares of a part's time reading its rows and writing its output take, each done alone."""
    (taken,) = in_order(Processes("1").run(_Apart(task, line["output"]), [part.to_json()]))
    share = np.array(taken) / max(seconds, *taken, sum(taken))
    return float(share[0]), float(share[1])


@dataclass(frozen=True)
class _Apart:
    """Reads a part and writes its output, without what stands between, and returns the seconds of both."""

    task: Task
    output: str

    def __call__(self, item: Told) -> tuple[float, float]:
        part, run = Part.of(item), opened(self.task.options)
        read = plan_tasks.create(self.task.name).read
        read(run, part)  # what is imported at first
        reading = _timed(part.fingerprint) + _timed(lambda: read(run, part))
        path = Path(self.task.options["out"]) / self.output
        again = path.with_name(f"again-{path.name}")
        if path.suffix == ".npy":
            array = np.load(path)
            return reading, _timed(lambda: (write_columns(again, len(array), [array]), file_hash(again)))
        if arrow_format(path) is None:  # sums, which are few
            return reading, _timed(lambda: file_hash(path))
        columns = next(arrow_columns(path, sys.maxsize))

        def write() -> None:
            """Write the output again, and hash it as a task does."""
            with arrow_output(again) as rows:
                rows(columns)
            file_hash(again)

        return reading, _timed(write)


def _driver(on: str, line: Told, item: Told, folder: Path) -> tuple[int, float, float, tuple[float, float, float]]:
    """Return how many workers an executor has, how long they take to come, and what parts cost the driver.

    Of parts that a ledger lists the seconds for each; of maps without one what `pass_cost` returns.
    """
    began = time.perf_counter()
    executor = open_executor(on)
    try:
        task, taken = Task("empty", {"line": line}), list[float]()
        for count in (1, *EMPTY):
            ledger = Ledger.of(folder / f"empty-{count}", task, [item] * count)
            taken.append(
                _timed(lambda: ledger.carry_out(executor, doing="handing over empty parts", places={}))  # noqa: B023
            )
            if count == 1:
                taken[0] = time.perf_counter() - began
        per_part = max(0.0, taken[2] - taken[1]) / (EMPTY[1] - EMPTY[0])
        return executor.workers, taken[0], per_part, pass_cost(executor, EMPTY)
    finally:
        executor.close()


def _held(line: Told, item: Told, count: int = 100) -> float:
    """Return the MiB of what the driver keeps for a part: its place, and its line before and after it is written."""
    texts = json.dumps(line), json.dumps(item)
    tracemalloc.start()
    kept = [(json.loads(texts[0]), json.loads(texts[1]), json.loads(texts[1]), texts[1] + " ") for _ in range(count)]
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held / len(kept) / 2**20


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
