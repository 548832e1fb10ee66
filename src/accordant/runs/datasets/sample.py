"""What parts cost: the real task on small parts in fresh workers, and empty tasks through an executor."""

from __future__ import annotations

import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from accordant.cases.loaders import simulated_table
from accordant.compute.executor import executors, in_order, open_executor
from accordant.compute.ledger import Ledger
from accordant.compute.local import Processes
from accordant.compute.tasks import Task, Told, tasks
from accordant.errors import DataNotFoundError, InputError, UnknownNameError
from accordant.evaluation.part_sums import BUCKETS
from accordant.evaluation.summed_leaderboard import SMALLEST as SMALLEST_SAMPLE
from accordant.runs.datasets.evaluation import leaderboard_of
from accordant.runs.datasets.parts import Job, opened, part_of, version_of
from accordant.runs.execution import data_file, part_data
from accordant.runs.folder import Run
from accordant.runs.record.record import peak_memory
from accordant.runs.row_batches import row_contexts
from accordant.tables.arrow import arrow_columns, arrow_format, arrow_output, parquet_groups
from accordant.tables.datasets import PART_ROWS, SUFFIXES, Part, dataset_files, dataset_parts, folder_columns
from accordant.tables.output import scratch_folder, write_output
from accordant.tables.text import file_hash
from accordant.threads import free_cores

SMALLEST, GROWTH, LARGEST = 4_000, 4, PART_ROWS  # rows of sampled parts: where time allows as many as parts have
REPEATS = 4  # parts of each size: enough to tell noise, and two for each of two workers
SECONDS = 30.0  # no larger size is begun if it would take the sample beyond
SIMULATED = 50_000  # rows that are simulated at most; more of them are the same again
EMPTY = (20, 220)  # parts without work: what the second two hundred take is what a part costs the driver
ROWS_IN_GROUP = 100_000  # of Parquet that is written for the sample where no dataset says
COALITION_DELTA = 0.05  # of certificates, as by default; their cost hardly depends on it

KINDS: Mapping[str, Callable[[Run], Told]] = {
    "recommend": lambda run: {"strategy": run.policy.selected_, "id": None},
    "certify": lambda run: {
        "strategy": run.policy.selected_, "delta": COALITION_DELTA, "coalition": None, "frozen": False,
    },
    "evaluate": lambda run: {"seed": run.policy.random_state},
}  # fmt: skip
"""Task to its options, as its command takes them by default."""


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


@dataclass(frozen=True)
class Sample:
    """What was measured before a job.

    Attributes
    ----------
    kind
        Name of the task.
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
        MiB that the driver holds for each part.
    reduction
        Seconds of the driver before and after all parts, and seconds more for each: to list it, and to add it up.
    seconds
        How long all of this took.
    """

    kind: str
    trials: tuple[Trial, ...]
    together: int
    reading: float
    writing: float
    input_bytes: float
    workers: int
    start: float
    driver: float
    driver_memory: float
    reduction: tuple[float, float]
    seconds: float = 0.0


def measure(run: Run, kind: str, on: str, dataset: str | None, part_rows: int) -> Sample:
    """Carry out small parts as `kind` does, and empty ones where `on` says.

    Parameters
    ----------
    run
        The run.
    kind
        One of `KINDS`.
    on
        Address of an executor. Parts are carried out on this machine, one per core, whatever it says; where it is a
        cluster, only what a part costs beside its work is measured there.
    dataset
        Whose first rows make the parts; None for the case's simulator, or else its file.
    part_rows
        Rows of parts of the job: none of the sample is larger.

    Raises
    ------
    InputError
        If the task, the executor or the dataset is none that can be measured, or there are no rows.
    """
    began = time.perf_counter()
    if kind not in KINDS:
        raise UnknownNameError("task", kind, KINDS)
    executors.factory(on.partition(":")[0])  # refuses a name that is none, before the work
    if on.partition(":")[0] in ("threads", "queue"):
        raise InputError(
            f"--on {on}: nobody can tell what work costs there before it is begun; allowed: here, processes:N, "
            "ray://…, dask://…; for a queue plan processes:1 with --workers N"
        )
    if kind != "evaluate" and run.policy.strategy(run.policy.selected_).whole_batch:
        raise InputError(f"{run.policy.selected_} decides about all rows together, and parts are decided one by one")
    place = {"run": str(run.path.absolute()), "version": version_of(run)}
    opened(place)  # forked workers find it read
    with scratch_folder() as scratch:
        folder = Path(scratch)
        cut = _Cut(place, dataset if dataset is not None else _source(run), folder)
        task = Task(kind, {**place, **KINDS[kind](run), "out": scratch})
        together = 1 if on.partition(":")[0] == "here" else free_cores()
        trials, lines = list[Trial](), list[Told]()
        smallest: Part | None = None
        for part in _growing(cut, part_rows, trials, together, began):
            smallest = smallest or part
            for trial, line in _carried_out(task, smallest, part, together):
                trials.append(trial)
                lines.append(line)
        reading, writing = _apart(task, part, lines[-1], trials[-1].seconds)
        item = part.to_json()
        workers, start, driver = _driver(on, lines[-1], item, folder)
        reduction, each = (0.0, 0.0) if kind != "evaluate" else _reduction(Job(run, part.file, folder), lines)
        listing = _timed(lambda: dataset_parts(part.file, part_rows))
        return Sample(
            kind, tuple(trials), together, reading, writing, Path(part.file).stat().st_size / trials[-1].rows, workers,
            start, driver, _held(lines[-1], item), (reduction, each + listing), time.perf_counter() - began,
        )  # fmt: skip


@tasks.register("empty")
def empty_part(options: Told, item: Told) -> Told:
    """Return the line that is given, without any work: what a part costs beside it."""
    del item
    line: Told = options["line"]
    return line


def _growing(cut: _Cut, part_rows: int, trials: Sequence[Trial], together: int, began: float) -> Iterator[Part]:
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


def _carried_out(task: Task, smallest: Part, part: Part, together: int) -> list[tuple[Trial, Told]]:
    """Return what came of a part, carried out several times by fresh workers."""
    count = -(-REPEATS // together) * together
    items = [{**part.to_json(), "number": part.rows * REPEATS + k, "before": None} for k in range(count)]  # type: ignore[operator]
    first = {**smallest.to_json(), "number": 0, "before": None}
    return list(in_order(Processes(str(together)).run(_Measured(task, first), items)))


_warm = set[int]()  # processes that did a part before


@dataclass(frozen=True)
class _Measured:
    """A task that says what it cost; each worker does a small part before, for what is read and compiled only once."""

    task: Task
    first: Told

    def __call__(self, item: Told) -> tuple[Trial, Told]:
        start = 0.0, 0.0
        if os.getpid() not in _warm:
            began = time.perf_counter(), time.process_time()
            self.task(self.first)
            start = time.perf_counter() - began[0], time.process_time() - began[1]
            _warm.add(os.getpid())
        wall, cpu = time.perf_counter(), time.process_time()
        line = self.task(item)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        output = (Path(self.task.options["out"]) / line["output"]).stat().st_size
        return Trial(int(item["rows"]), wall, cpu, peak_memory(), *start, output), line


@dataclass(frozen=True)
class _Cut:
    """Writes a file with as many rows as asked, the first of a dataset or of a simulator, again if there are fewer."""

    place: Mapping[str, str]
    dataset: str | None
    folder: Path

    @property
    def folders(self) -> dict[str, str]:
        """What folders say of the first file, for all rows: as many columns as there will be."""
        return {} if self.dataset is None else folder_columns(dataset_files(self.dataset)[0], self.dataset)

    def __call__(self, size: int) -> str:
        files = [] if self.dataset is None else dataset_files(self.dataset)
        if files and arrow_format(files[0]) is None:
            return self._lines(files[0], size)
        import pyarrow as pa
        import pyarrow.parquet as pq

        group = ROWS_IN_GROUP
        if files:
            table = _head(files, size)
            group = parquet_groups(files[0])[0][0] if arrow_format(files[0]) == "Parquet" else group
        else:
            run = opened(self.place)
            simulated = simulated_table(run.case, run.policy.random_state, min(size, SIMULATED))
            table = pa.Table.from_pandas(simulated, preserve_index=False)
        if not table.num_rows:
            raise InputError(f"{self.dataset} has columns but no rows")
        table = pa.concat_tables([table] * -(-size // table.num_rows)).slice(0, size)
        path = self.folder / f"rows-{size}.parquet"
        pq.write_table(table, path, row_group_size=max(1, group))
        return str(path)

    def _lines(self, file: str, size: int) -> str:
        path = self.folder / f"rows-{size}.csv"
        with Path(file).open(encoding="utf-8", errors="surrogateescape", newline="") as source:
            header, rows = source.readline(), list[str]()
            for line in source:
                if rows and rows[-1].count('"') % 2:  # a cell that holds a line break
                    rows[-1] += line
                elif len(rows) < size:
                    rows.append(line if line.endswith("\n") else line + "\n")
                else:
                    break
        if not rows:
            raise InputError(f"{file} has columns but no rows")
        rows = (rows * -(-size // len(rows)))[:size]
        write_output(path, (header + "".join(rows)).encode("utf-8", "surrogateescape"))
        return str(path)


def _head(files: Sequence[str], size: int) -> Any:
    """Return the first rows of files that hold columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held, rows = list[Any](), 0
    for file in files:
        if arrow_format(file) == "Parquet":
            batches = pq.ParquetFile(file).iter_batches()
        else:
            stored = pa.ipc.open_file(file)
            batches = map(stored.get_batch, range(stored.num_record_batches))
        for batch in batches:
            held.append(batch)
            rows += batch.num_rows
            if rows >= size:
                return pa.Table.from_batches(held).slice(0, size)
    return pa.Table.from_batches(held)


def _source(run: Run) -> str | None:
    """Return the file of a case that has no simulator."""
    if run.case.simulator is not None:
        return None
    file = None
    with suppress(DataNotFoundError):
        file = data_file(run.case, None, None)
    if file is None or file.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"the case {run.case.name!r} has no simulator, and no table of its rows is here: name a DATASET"
        )
    return str(file)


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
        part, run = part_of(item), opened(self.task.options)
        read: Callable[[], object] = lambda: row_contexts(run, part)  # noqa: E731
        if self.task.name == "evaluate":
            read = lambda: part_data(run.case, part, run.policy.types_)  # noqa: E731
        read()  # what is imported at first
        reading = _timed(part.fingerprint) + _timed(read)
        path = Path(self.task.options["out"]) / self.output
        if arrow_format(path) is None:  # sums, which are few
            return reading, _timed(lambda: file_hash(path))
        columns = next(arrow_columns(path, sys.maxsize))
        again = path.with_name(f"again-{path.name}")

        def write() -> None:
            """Write the output again, and hash it as a task does."""
            with arrow_output(again) as rows:
                rows(columns)
            file_hash(again)

        return reading, _timed(write)


def _driver(on: str, line: Told, item: Told, folder: Path) -> tuple[int, float, float]:
    """Return how many workers an executor has, how long they take to come, and what each part costs the driver."""
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
        return executor.workers, taken[0], max(0.0, taken[2] - taken[1]) / (EMPTY[1] - EMPTY[0])
    finally:
        executor.close()


def _reduction(job: Job, lines: Sequence[Told]) -> tuple[float, float]:
    """Return the seconds of a leaderboard of sums, and those more for each part; parts are taken again and again."""
    enough = -(-SMALLEST_SAMPLE * BUCKETS // sum(line["rows"] for line in lines[-REPEATS:]))
    few = list(lines[-REPEATS:]) * enough
    many = few * 10
    leaderboard_of(job, few)
    first, second = _timed(lambda: leaderboard_of(job, few)), _timed(lambda: leaderboard_of(job, many))
    each = max(0.0, second - first) / (len(many) - len(few))
    return max(0.0, first - each * len(few)), each


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
