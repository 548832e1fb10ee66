"""What a job on a dataset will take, before it is begun: time, processor time, memory, bytes, and what limits it.

A part of n rows costs ``(a + b n) ε``: a and b by least squares of relative errors on the parts of a `Sample`, ε
lognormal with the spread of its residuals. A small discrete simulation hands parts to workers as executors do: whoever
is free gets the next one, and one driver takes results in, one after another. It is repeated with a, b and the spread
drawn from what is known of them (normal and inverse chi-square, which repeats Student's t), with stragglers, lost
workers, and a machine that is a little faster or slower than during the sample; quantiles of the repetitions are the
interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.runs.datasets.sample import Sample, Trial, measure
from accordant.runs.datasets.schedule import CLUSTER, NONE, Costs, Hazards, durations_of, makespan
from accordant.runs.folder import Run
from accordant.statistics import Estimate
from accordant.statistics.resampling import percentile_estimate
from accordant.tables.datasets import PART_ROWS, Part, dataset_parts
from accordant.threads import free_cores

LEVEL = 0.9
"""Share of such jobs that end within the interval, on machines as busy as this one was during the sample."""
REPETITIONS, FEWEST, EVENTS = 400, 40, 4_000_000  # of the simulation; fewer where they would hand out more parts
MOST_PARTS = 1_000_000  # of one job: beyond, parts are too small, and their list alone fills a driver
SIZES = 3  # of parts, the largest of a sample, that a line is fitted to
DRIFT = 0.1
"""Relative standard deviation of a machine's speed between the sample and the job: two idle cores, minutes apart, in
`benchmarks.plan`. What a few parts say of their mean is surer than that, and alone would cover too seldom."""
BUSY = 0.7  # share of the time from which a driver is what limits a job
WAITING = 0.3  # share of the workers' time from which waiting is
BENT = 1.25  # a part that costs so many times what smaller ones let expect does not grow with its rows alone
SERIOUS = 0.01  # probability of a part that is never done from which it is told


@dataclass(frozen=True)
class Plan:
    """What a job will take.

    Attributes
    ----------
    kind, rows, parts, part_rows, workers
        The job: its task, rows in all, parts, rows of the largest, how many work side by side.
    seconds, cpu_hours
        Of the whole job: the median, and between what limits it lies with probability `LEVEL`.
    worker_hours, cost
        What is paid for: workers, whether they work or wait; and that at a price per hour, if there is one.
    worker_memory, driver_memory
        Peaks, MiB.
    input_bytes, output_bytes
        What is read, and what is written.
    shares
        Where the time of all workers goes: reading, deciding, writing, waiting.
    driver
        Share of the time in which the driver is busy.
    bottleneck
        What limits the job.
    most_workers
        More than so many do not end it sooner.
    notes
        Where growth is not linear, and what was assumed.
    """

    kind: str
    rows: int
    parts: int
    part_rows: int
    workers: int
    seconds: Estimate
    cpu_hours: Estimate
    worker_hours: float
    cost: float | None
    worker_memory: float
    driver_memory: float
    input_bytes: float
    output_bytes: float
    shares: dict[str, float]
    driver: float
    bottleneck: str
    most_workers: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"notes": list(self.notes)}


def plan_dataset(
    run: Run, kind: str, on: str, *, rows: float | None = None, dataset: str | None = None, workers: int | None = None,
    part_rows: int = PART_ROWS, price: float | None = None, seed: int = 0,
) -> Plan:  # fmt: skip
    """Measure a sample, and return what the whole job will take.

    Parameters
    ----------
    run, kind, on, dataset
        See `accordant.runs.datasets.sample.measure`.
    rows
        In all; those of the dataset if None. More than it has are as many more parts like its own.
    workers
        Cores of a cluster of machines like this one; as many as there are at `on` if None.
    part_rows
        See `accordant.tables.datasets.dataset_parts`.
    price, seed
        See `plan_of`.

    Raises
    ------
    InputError
        If there are no rows, too many parts, or a price below 0; and see `measure`.
    """
    if rows is None and dataset is None:
        raise InputError("nothing says how many rows there are; allowed: --rows N, or a DATASET")
    if rows is not None and not (1 <= rows <= part_rows * MOST_PARTS):
        raise InputError(
            f"--rows is {rows:g}; allowed: 1 to {part_rows * MOST_PARTS:g}, which are {MOST_PARTS:,} parts of "
            f"{part_rows:,} rows"
        )
    if price is not None and not 0 <= price < math.inf:
        raise InputError(f"--price is {price:g}; allowed: 0 or more")
    parts = None if dataset is None else dataset_parts(dataset, part_rows)
    largest = part_rows if parts is None else max(each.rows or part_rows for each in parts)
    sample = measure(run, kind, on, dataset, largest)
    where, _, place = on.partition(":")
    local = workers is None and (where in ("here", "processes") or place.removeprefix("//") in ("", "local"))
    return plan_of(
        sample, _sizes(parts, rows, part_rows, sample.input_bytes), workers or sample.workers,
        hazards=NONE if local else CLUSTER, cores=free_cores() if local else None, price=price, seed=seed,
    )  # fmt: skip


def _sizes(parts: Sequence[Part] | None, rows: float | None, part_rows: int, row_bytes: float) -> Values:
    """Return the rows of each part; those of a dataset again and again, until there are as many as asked."""
    known = np.array([float(part_rows)])
    if parts is not None:
        known = np.array([float(each.rows or max(1.0, Path(each.file).stat().st_size // row_bytes)) for each in parts])
    if rows is None:
        return known
    whole = math.ceil(rows)
    sizes = np.tile(known, math.ceil(whole / known.sum()))
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), whole)) + 1]
    sizes[-1] -= sizes.sum() - whole
    return sizes


def plan_of(
    sample: Sample, rows: Values, workers: int, *, hazards: Hazards = NONE, cores: int | None = None,
    price: float | None = None, seed: int = 0,
) -> Plan:  # fmt: skip
    """Return what a job will take.

    Parameters
    ----------
    sample
        From `accordant.runs.datasets.sample.measure`.
    rows
        Of each part, in order.
    workers
        How many work side by side.
    hazards
        What may befall them.
    cores
        How many of them find a core of their own; None for all.
    price
        Of an hour of a worker.
    seed
        Of the simulation.
    """
    parts = len(rows)
    generator = np.random.default_rng(seed)
    trials = _nearest(sample.trials)
    sizes = np.array([each.rows for each in trials], dtype=np.float64)
    wall = Costs.of(sizes, np.array([each.seconds for each in trials]))
    used = Costs.of(sizes, np.array([each.cpu for each in trials]))
    crowd = max(1.0, min(workers, parts) / (cores or workers))
    ready, ready_cpu = _start(sample.trials)
    begin = sample.start + ready * crowd
    repetitions = max(FEWEST, min(REPETITIONS, EVENTS // parts))
    drifts = np.exp(DRIFT * generator.standard_normal(repetitions))
    ends, works = np.empty(repetitions), np.empty(repetitions)
    for k, (line, spread) in enumerate(zip(*wall.drawn(repetitions, generator), strict=True)):
        durations = durations_of((line[0] + line[1] * rows) * crowd, float(spread), hazards, begin, generator)
        works[k] = durations.sum()
        ends[k] = makespan(durations, workers, sample.driver)
    reduction = sample.reduction[0] + sample.reduction[1] * parts
    ended = drifts * (begin + ends + reduction)
    seconds = float(np.median(ended))
    lines, _ = used.drawn(repetitions, generator)
    beside = min(workers, parts) * ready_cpu + sample.driver * parts + reduction
    cpu = drifts * (lines[:, 0] * parts + lines[:, 1] * rows.sum() + beside) / 3600
    busy = min(1.0, float(np.median(works)) / (workers * seconds))
    shares = {
        "reading": sample.reading * busy, "deciding": (1 - sample.reading - sample.writing) * busy,
        "writing": sample.writing * busy, "waiting": 1 - busy,
    }  # fmt: skip
    driver = min(1.0, (sample.driver * parts + reduction) / seconds)
    part = float(wall.mean @ (1, rows.max())) * crowd
    most = max(1, min(parts, int(part / sample.driver) if sample.driver else parts))
    hours, whole = workers * seconds / 3600, int(rows.sum())
    return Plan(
        sample.kind, whole, parts, int(rows.max()), workers,
        percentile_estimate(seconds, ended, LEVEL), percentile_estimate(float(np.median(cpu)), cpu, LEVEL), hours,
        None if price is None else price * hours, _memory(sample.trials, float(rows.max())),
        sample.driver_memory * parts, sample.input_bytes * whole, _output(sample.trials, rows), shares, driver,
        _bottleneck(shares, driver, parts, workers, most), most,
        tuple(_notes(sample, wall, parts, workers, part, crowd, begin / seconds, most, hazards)),
    )  # fmt: skip


def _nearest(trials: Sequence[Trial]) -> list[Trial]:
    """Return the parts of the largest sizes: cost a row grows slowly with size, and those of the job are like them."""
    sizes = sorted({each.rows for each in trials})[-SIZES:]
    return [each for each in trials if each.rows in sizes]


def _start(trials: Sequence[Trial]) -> tuple[float, float]:
    """Return the seconds, wall and CPU, that a first part takes more than others; the median, for compiling is rare."""
    smallest = [each for each in trials if each.rows == min(each.rows for each in trials)]
    first = np.median([(each.start, each.start_cpu) for each in trials if each.start > 0], axis=0)
    wall, cpu = np.maximum(0.0, first - np.median([(each.seconds, each.cpu) for each in smallest], axis=0))
    return float(wall), float(cpu)


def _memory(trials: Sequence[Trial], rows: float) -> float:
    """Return the peak of a worker in MiB: on the line through the two largest sizes, which may be flat."""
    peaks = dict[int, float]()
    for each in trials:
        peaks[each.rows] = max(peaks.get(each.rows, 0.0), each.memory)
    (n, first), (m, second) = sorted([(0, 0.0), *peaks.items()])[-2:]
    return second if n == 0 else max(second, second + (second - first) / (m - n) * (rows - m))


def _output(trials: Sequence[Trial], rows: Values) -> float:
    line = Costs.of(np.array([float(each.rows) for each in trials]), np.array([float(each.output) for each in trials]))
    return float(line.mean[0] * len(rows) + line.mean[1] * rows.sum())


def _bottleneck(shares: dict[str, float], driver: float, parts: int, workers: int, most: int) -> str:
    if driver > BUSY or workers > most < parts:
        return "the driver, which takes in one result after another"
    if shares["waiting"] > WAITING:
        return "too few parts for so many workers" if parts < workers else "the last parts, for which workers wait"
    return max(("reading", "deciding", "writing"), key=shares.__getitem__)


def _notes(
    sample: Sample, wall: Costs, parts: int, workers: int, part: float, crowd: float, begun: float, most: int,
    hazards: Hazards,
) -> list[str]:  # fmt: skip
    """Return where twice as much of one thing is not twice as much of another, and what was assumed."""
    notes = list[str]()
    if workers > most:
        why = f"there are {parts:,} parts" if most == parts else "the driver is busy with them"
        notes.append(f"more than {most:,} workers do not end it sooner: {why}")
    waves = parts / workers
    if 1 < waves < 10 and math.ceil(waves) / waves > 1.05:
        notes.append(f"parts come in {waves:.1f} waves: the last one leaves workers idle; smaller parts would not")
    if crowd > 1:
        notes.append(f"{workers} workers share fewer cores: each part takes {crowd:.3g} times as long as alone")
    if begun > 0.2:
        notes.append(f"{begun:.0%} of the time goes before the first part: it does not shrink with more workers")
    if sample.reduction[1] * parts > part:
        notes.append(
            "before and after, parts are listed and added up by the driver alone: that grows with their number"
        )
    trials = _nearest(sample.trials)
    sizes, seconds = np.array([(float(each.rows), each.seconds) for each in trials]).T
    largest = sizes == sizes.max()
    if len(set(sizes)) > 2:
        smaller = Costs.of(sizes[~largest], seconds[~largest])
        ratio = float(np.median(seconds[largest])) / float(smaller.mean @ (1, sizes.max()))
        margin = 1 + 3 * wall.spread
        if ratio > max(BENT, margin):
            notes.append(f"the largest part took {ratio:.2f} times what smaller ones let expect: take smaller parts")
    if hazards.losses:
        notes.append(
            f"assumed: {hazards.slow:.0%} of the parts take {hazards.times:g} times as long, and of 1,000 workers "
            f"{1000 * hazards.losses:g} an hour is lost, noticed after {hazards.unnoticed:g} s"
        )
        if parts * (hazards.losses * part / 3600) ** 3 > SERIOUS:
            notes.append("some part may lose its worker three times: the same command again carries on")
    return notes
