"""`Plan`: what a job on a dataset will take, and the model that says so, typed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from accordant.runs.datasets.schedule import Hazards
from accordant.statistics import Estimate

LEVEL = 0.9
"""Share of such jobs that end within the interval, on machines as busy as this one was during the sample."""


@dataclass(frozen=True)
class StageModel:
    """Constants of one map over all parts, as they were measured.

    Attributes
    ----------
    fixed, per_row, spread
        Seconds of a part, whatever its rows, and for each of them; standard deviation of the relative error.
    ready, start, driver
        Seconds of a worker before its first part; of the driver before all, and for each part.
    parts
        Of the sample: rows, seconds that their median took, and those that the line says.
    """

    fixed: float
    per_row: float
    spread: float
    ready: float
    start: float
    driver: float
    parts: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class Model:
    """What a plan was made of.

    Attributes
    ----------
    first, again
        The map that reads rows; a pass over what it wrote, None if there are none.
    passes, counts
        How many passes there will be, about; rows of the sample, and passes over them.
    crowd
        How many times as long a part takes because workers share cores.
    listing, reduction
        Seconds of the driver for each part before all of them; after them, whatever their number, and for each.
    tree
        Seconds in which all workers would add up results in a tree.
    memory
        MiB of the driver, and for each part.
    hazards
        What is assumed of workers.
    drift
        Relative standard deviation of the machine's speed between sample and job.
    """

    first: StageModel
    again: StageModel | None
    passes: float
    counts: tuple[tuple[int, int], ...]
    crowd: float
    listing: float
    reduction: tuple[float, float]
    tree: float
    memory: tuple[float, float]
    hazards: Hazards
    drift: float


@dataclass(frozen=True)
class Growth:
    """The same job on another number of rows.

    Attributes
    ----------
    rows, parts
        How many.
    seconds
        As in `Plan`.
    ideal
        Seconds if the work were shared evenly and nobody waited.
    driver
        Seconds in which the driver is busy.
    driver_memory
        Its peak, MiB.
    bottleneck
        What limits it.
    """

    rows: int
    parts: int
    seconds: Estimate
    ideal: float
    driver: float
    driver_memory: float
    bottleneck: str


@dataclass(frozen=True)
class Plan:
    """What a job will take.

    Attributes
    ----------
    kind, strategy, rows, parts, part_rows, workers
        The job: its task, whose decisions (None for those of all strategies), rows in all, parts, rows of the largest,
        how many work side by side.
    seconds, cpu_hours
        Of the whole job: the median, and between what limits it lies with probability `LEVEL`.
    worker_hours, cost
        What is paid for: workers, whether they work or wait; and that at a price per hour, if there is one.
    worker_memory, driver_memory
        Peaks, MiB.
    input_bytes, output_bytes
        What is read, and what is written.
    shares
        Where the time of all workers goes: reading, deciding, writing, passing over E, waiting.
    driver
        Share of the time in which the driver is busy.
    bottleneck
        What limits the job.
    most_workers
        More than so many hardly end it sooner.
    notes
        Where growth is not linear, and what was assumed.
    model
        The constants behind it.
    growth
        The same job on other numbers of rows.
    """

    kind: str
    strategy: str | None
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
    model: Model
    growth: tuple[Growth, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def grown(self) -> Growth:
        """Return what `growth` says of a job of this size."""
        seconds = self.seconds.value or 0.0
        return Growth(
            self.rows, self.parts, self.seconds, seconds * (1 - self.shares["waiting"]), seconds * self.driver,
            self.driver_memory, self.bottleneck,
        )  # fmt: skip
