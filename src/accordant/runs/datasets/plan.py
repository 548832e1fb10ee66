"""What a job on a dataset will take, before it is begun: time, processor time, memory, bytes, and what limits it.

A part of n rows costs ``(a + b n) ε``: a and b by least squares of relative errors on the parts of a `Sample`, ε
lognormal with the spread of its residuals. A small discrete simulation hands parts to workers as executors do: whoever
is free gets the next one, and one driver takes results in, one after another. Passes over what parts wrote are as many
more of such maps. It is repeated with a, b, the spread and the number of passes drawn from what is known of them
(normal and inverse chi-square, which repeats Student's t), with stragglers, lost workers, and a machine that is a
little faster or slower than during the sample; quantiles of the repetitions are the interval.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.runs.datasets.bottlenecks import bottleneck, growth_notes, notes_of
from accordant.runs.datasets.plan_record import LEVEL, Model, Plan, StageModel
from accordant.runs.datasets.sample import Sample, measure
from accordant.runs.datasets.schedule import CLUSTER, NONE, Costs, Hazards, Stage, reduced_in_tree
from accordant.runs.datasets.trials import Trial, nearest
from accordant.runs.folder import Run
from accordant.statistics.resampling import percentile_estimate
from accordant.tables.addresses import is_address, size_of
from accordant.tables.datasets import PART_ROWS, Part, dataset_parts
from accordant.threads import free_cores

REPETITIONS, FEWEST, EVENTS = 400, 40, 4_000_000  # of the simulation; fewer where they would hand out more parts
GROWN = (20, 1_000_000)  # the last two of each size of `Plan.growth`
DECADES, GROWN_PARTS = range(5, 12), 200_000  # powers of ten: rows of these sizes, as long as they are so many parts
AWAY = "rows come from {}:// over a network: how long that takes is not measured, and comes on top"
PASSES = 3  # of passes over E, so many are simulated in each repetition and stand for all
MOST_PARTS = 1_000_000  # of one job: beyond, parts are too small, and their list alone fills a driver
SIZES = 3  # of parts, the largest of a sample, that a line is fitted to
HARDLY = 0.05  # share of the time by which it does not matter that a job ends sooner
DRIFT = 0.1
"""Relative standard deviation of a machine's speed between the sample and the job: two idle cores, minutes apart, in
`benchmarks.plan`. What a few parts say of their mean is surer than that, and alone would cover too seldom."""


def plan_dataset(
    run: Run, kind: str, on: str, *, rows: float | None = None, dataset: str | None = None, workers: int | None = None,
    part_rows: int = PART_ROWS, strategy: str | None = None, price: float | None = None, seed: int = 0,
) -> Plan:  # fmt: skip
    """Measure a sample, and return what the whole job will take.

    Parameters
    ----------
    run, kind, on, dataset, strategy
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
    largest = part_rows if parts is None else max(part.rows or part_rows for part in parts)
    sample = measure(run, kind, on, dataset, largest, strategy)
    known = _known(parts, part_rows, sample.input_bytes)
    if rows is not None and _number_of_parts(known, rows) > MOST_PARTS:
        raise InputError(
            f"--rows {rows:g} are more than {MOST_PARTS:,} parts like those of {dataset}, which have "
            f"{known.mean():,.0f} rows; allowed: larger parts"
        )
    where, _, place = on.partition(":")
    local = workers is None and (where in ("here", "processes") or place.removeprefix("//") in ("", "local"))

    def planned(sizes: Values, effort: tuple[int, int] = (FEWEST, EVENTS)) -> Plan:
        """Return the plan for parts of these sizes, with simulated draws and events as `effort` says."""
        return plan_of(
            sample, sizes, workers or sample.workers, hazards=NONE if local else CLUSTER,
            cores=free_cores() if local else None, price=price, seed=seed, effort=effort,
        )  # fmt: skip

    decades = [10.0**power for power in DECADES if _number_of_parts(known, 10.0**power) <= GROWN_PARTS]
    grown = [planned(_sizes(known, n), GROWN) for n in decades]
    plan, growth = planned(_sizes(known, rows)), tuple(point.grown() for point in grown)
    away = (AWAY.format(dataset.partition("://")[0]),) if dataset is not None and is_address(dataset) else ()
    return replace(plan, growth=growth, notes=(*plan.notes, *growth_notes(growth), *away))


def _known(parts: Sequence[Part] | None, part_rows: int, row_bytes: float) -> Values:
    """Return the rows of each part that is known."""
    if parts is None:
        return np.array([float(part_rows)])
    return np.array([float(part.rows or max(1.0, size_of(part.file) // row_bytes)) for part in parts])


def _number_of_parts(known: Values, rows: float) -> int:
    return math.ceil(rows / float(known.sum())) * len(known)


def _sizes(known: Values, rows: float | None) -> Values:
    """Return the rows of each part; those that are known again and again, until there are as many as asked."""
    if rows is None:
        return known
    whole = math.ceil(rows)
    sizes = np.tile(known, math.ceil(whole / known.sum()))
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), whole)) + 1]
    sizes[-1] -= sizes.sum() - whole
    return sizes


def plan_of(
    sample: Sample, rows: Values, workers: int, *, hazards: Hazards = NONE, cores: int | None = None,
    price: float | None = None, seed: int = 0, effort: tuple[int, int] = (FEWEST, EVENTS),
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
    effort
        How often it is repeated at least, and how many parts it hands out at most beyond that.
    """
    parts, whole, largest = len(rows), float(rows.sum()), float(rows.max())
    crowd = max(1.0, min(workers, parts) / (cores or workers))
    stages = _stages(sample)
    done = _simulated(sample, stages, rows, workers, hazards, crowd, effort, np.random.default_rng(seed))
    seconds, passes, output = (
        float(np.median(done.seconds)),
        float(np.median(done.passes)),
        _output(sample.trials, rows),
    )
    taken = workers * seconds
    first, again = (min(1.0, float(np.median(draws)) / taken) for draws in (done.first, done.again))
    shares = {
        "reading": sample.reading * first, "deciding": (1 - sample.reading - sample.writing) * first,
        "writing": sample.writing * first, **({} if sample.passes is None else {"passing over E": again}),
        "waiting": max(0.0, 1 - first - again),
    }  # fmt: skip
    driver = min(1.0, float(np.median(done.driver)) / seconds)
    most = _useful([(stage, times) for stage, times in zip(stages, (1.0, passes), strict=False)], parts, largest, crowd)
    memory = max(_memory(trials, largest) for trials, _ in _trials(sample))
    plan = Plan(
        sample.kind, sample.strategy, int(whole), parts, int(largest), workers,
        percentile_estimate(seconds, done.seconds, LEVEL),
        percentile_estimate(float(np.median(done.cpu)) / 3600, done.cpu / 3600, LEVEL), taken / 3600,
        None if price is None else price * taken / 3600, memory,
        sample.driver_memory[0] + sample.driver_memory[1] * parts, sample.input_bytes * whole + passes * output, output,
        shares, driver, bottleneck(shares, driver, parts, workers, most), most, (),
        _model(sample, stages, parts, workers, passes, crowd, hazards),
    )  # fmt: skip
    return replace(plan, notes=tuple(notes_of(plan, nearest(sample.trials, SIZES))))


@dataclass(frozen=True)
class _Simulated:
    """Repetitions of a job, each of shape (repetition,).

    Attributes
    ----------
    seconds, cpu
        Wall and CPU seconds.
    first, again
        Seconds in which workers work: on the map that reads rows, and on passes.
    driver
        Seconds in which the driver does.
    passes
        How many there are.
    """

    seconds: Values
    cpu: Values
    first: Values
    again: Values
    driver: Values
    passes: Values


def _simulated(
    sample: Sample, stages: Sequence[Stage], rows: Values, workers: int, hazards: Hazards, crowd: float,
    effort: tuple[int, int], generator: np.random.Generator,
) -> _Simulated:  # fmt: skip
    parts = len(rows)
    repetitions = max(effort[0], min(REPETITIONS, effort[1] // parts))
    drifts = np.exp(DRIFT * generator.standard_normal(repetitions))
    reducing = sample.reduction[0] + sample.reduction[1] * parts
    alone = sample.listing * parts + reducing
    ends, first = stages[0].simulated(rows, workers, crowd, hazards, (repetitions, 1), generator)
    driver = np.full(repetitions, alone + stages[0].driver * parts)
    cpu = (
        sample.listing * parts + sample.reduction_cpu * reducing + stages[0].cpu(rows, workers, repetitions, generator)
    )
    again = passes = np.zeros(repetitions)
    if sample.passes is not None:
        passes = sample.passes.drawn(float(rows.sum()), repetitions, generator)
        rounds = max(1, min(PASSES, effort[1] // (parts * repetitions)))
        one_pass, again = stages[1].simulated(rows, workers, crowd, hazards, (repetitions, rounds), generator)
        ends, again = ends + passes * one_pass, passes * again
        driver = driver + passes * (stages[1].start + stages[1].driver * parts)
        cpu = cpu + passes * (sample.passes.start_cpu + stages[1].cpu(rows, workers, repetitions, generator))
    return _Simulated(drifts * (alone + ends), drifts * cpu, first, again, driver, passes)


def _trials(sample: Sample) -> list[tuple[tuple[Trial, ...], tuple[float, float]]]:
    """Return the parts of each stage that were tried, and the seconds of the driver before all and for each."""
    stages = [(sample.trials, (sample.start, sample.driver))]
    if sample.passes is not None:
        stages.append((sample.passes.trials, (sample.passes.start, sample.passes.driver)))
    return stages


def _stages(sample: Sample) -> list[Stage]:
    """Return the map that reads rows and, if there are passes over what it writes, one of them."""
    stages = []
    for trials, (start, driver) in _trials(sample):
        rows, seconds, cpu = np.array([(trial.rows, trial.seconds, trial.cpu) for trial in nearest(trials, SIZES)]).T
        stages.append(Stage(Costs.of(rows, seconds), Costs.of(rows, cpu), _start(trials), start, driver))
    return stages


def _start(trials: Sequence[Trial]) -> tuple[float, float]:
    """Return the seconds, wall and CPU, that a first part takes more than others; the median, for compiling is rare."""
    smallest = [trial for trial in trials if trial.rows == min(trial.rows for trial in trials)]
    first = np.median([(trial.start, trial.start_cpu) for trial in trials if trial.start > 0], axis=0)
    wall, cpu = np.maximum(0.0, first - np.median([(trial.seconds, trial.cpu) for trial in smallest], axis=0))
    return float(wall), float(cpu)


def _useful(stages: Sequence[tuple[Stage, float]], parts: int, rows: float, crowd: float) -> int:
    """Return the fewest workers that end stages, each so many times, as soon as any number does, but for `HARDLY`."""

    def seconds(workers: int) -> float:
        waves = math.ceil(parts / workers)
        return sum(times * max(waves * stage.wall.at(rows) * crowd, stage.driver * parts) for stage, times in stages)

    enough = (1 + HARDLY) * seconds(parts)
    return 1 + bisect_left(range(1, parts + 1), x=True, key=lambda workers: seconds(workers) <= enough)


def _memory(trials: Sequence[Trial], rows: float) -> float:
    """Return the peak of a worker in MiB: on the line through the two largest sizes, which may be flat."""
    peaks = dict[int, float]()
    for trial in trials:
        peaks[trial.rows] = max(peaks.get(trial.rows, 0.0), trial.memory)
    (n, first), (m, second) = sorted([(0, 0.0), *peaks.items()])[-2:]
    return second if n == 0 else max(second, second + (second - first) / (m - n) * (rows - m))


def _output(trials: Sequence[Trial], rows: Values) -> float:
    line = Costs.of(
        np.array([float(trial.rows) for trial in trials]), np.array([float(trial.output) for trial in trials])
    )
    return float(line.mean[0] * len(rows) + line.mean[1] * rows.sum())


def _model(
    sample: Sample, stages: Sequence[Stage], parts: int, workers: int, passes: float, crowd: float, hazards: Hazards
) -> Model:
    first, *again = map(_constants, stages, [trials for trials, _ in _trials(sample)])
    return Model(
        first, again[0] if again else None, passes, sample.passes.counts if sample.passes else (), crowd,
        sample.listing, sample.reduction, reduced_in_tree(parts, workers, sample.reduction[1]), sample.driver_memory,
        hazards, DRIFT,
    )  # fmt: skip


def _constants(stage: Stage, trials: Sequence[Trial]) -> StageModel:
    tried = [
        (rows, float(np.median([trial.seconds for trial in trials if trial.rows == rows])), stage.wall.at(rows))
        for rows in sorted({trial.rows for trial in trials})
    ]
    fixed, per_row = map(float, stage.wall.mean)
    return StageModel(fixed, per_row, stage.wall.spread, stage.ready[0], stage.start, stage.driver, tuple(tried))
