"""What parts cost, and when the last of many is done: a line with its uncertainty, what befalls workers, a schedule."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from accordant.arrays import Values
from accordant.kernels import light

FAN_IN = 16  # results that a step of a tree makes one of


@dataclass(frozen=True)
class Costs:
    """Seconds of a part: ``fixed + per_row * rows``, and how sure that is.

    Attributes
    ----------
    mean, root
        Of (fixed, per_row): estimate, and a root of its covariance for a spread of 1.
    spread
        Standard deviation of the relative error of one part.
    freedom
        Parts beyond the two that a line needs.
    """

    mean: Values
    root: Values
    spread: float
    freedom: int

    @classmethod
    def of(cls, rows: Values, seconds: Values) -> Self:
        """Fit a line to parts, each weighted by what it is expected to cost; neither number is negative."""
        design = np.column_stack([np.ones_like(rows), rows])
        expected = np.maximum(seconds, 1e-9)
        for _ in range(3):  # weights follow the line: those by measured seconds would prefer what was quick by chance
            weighted = design / expected[:, None]
            mean = np.linalg.lstsq(weighted, seconds / expected, rcond=None)[0]
            if mean.min() < 0:
                only = int(np.argmax(mean))
                mean = np.zeros(2)
                mean[only] = (weighted[:, only] @ (seconds / expected)) / (weighted[:, only] @ weighted[:, only])
            expected = np.maximum(design @ mean, 1e-9)
        freedom = max(1, len(rows) - 2)
        spread = math.sqrt(float(((seconds / expected - 1) ** 2).sum()) / freedom)
        used = design / expected[:, None]
        vectors, sizes, _ = np.linalg.svd(np.linalg.pinv(used.T @ used))
        return cls(mean, vectors * np.sqrt(sizes), spread, freedom)

    def drawn(self, repetitions: int, generator: np.random.Generator) -> tuple[Values, Values]:
        """Return lines, shape (repetition, 2), and spreads that the sample does not rule out."""
        spread = self.spread * np.sqrt(self.freedom / generator.chisquare(self.freedom, repetitions))
        lines = self.mean + spread[:, None] * (generator.standard_normal((repetitions, 2)) @ self.root.T)
        return np.maximum(lines, 0.0), spread

    def at(self, rows: float) -> float:
        """Return the seconds of a part of so many rows that are expected."""
        return float(self.mean @ (1.0, rows))


@dataclass(frozen=True)
class Hazards:
    """What befalls workers of a cluster. Assumed, not measured: a sample is too short for it.

    Attributes
    ----------
    slow, times
        Share of the parts that take so many times as long.
    losses
        Workers that are lost, per hour and worker.
    unnoticed
        Seconds until the work of a lost one is done anew.
    """

    slow: float = 0.0
    times: float = 1.0
    losses: float = 0.0
    unnoticed: float = 0.0


NONE = Hazards()
CLUSTER = Hazards(slow=0.01, times=3.0, losses=0.001, unnoticed=20.0)  # Ray notices after 10 to 20 s


def durations_of(
    expected: Values, spread: float, hazards: Hazards, begin: float, generator: np.random.Generator
) -> Values:
    """Return seconds of each part as they may turn out, with what is done again for a worker that was lost."""
    sigma = math.sqrt(math.log1p(spread**2))  # of a lognormal with mean 1 and this spread
    durations = expected * generator.lognormal(-(sigma**2) / 2, sigma, len(expected))
    if hazards.slow:
        durations = np.where(generator.random(len(expected)) < hazards.slow, hazards.times, 1.0) * durations
    if hazards.losses:
        survives = np.exp(-hazards.losses * durations / 3600)
        lost = generator.geometric(np.maximum(survives, 1e-6)) - 1
        # exponential, below the duration: mean of all is (e^λd − 1) (1/λ + unnoticed + begin), as of any restart
        vain = -np.log1p(-generator.random(len(expected)) * (1 - survives)) / hazards.losses * 3600
        durations = durations + lost * (vain + hazards.unnoticed + begin)
    return durations


def reduced_in_tree(parts: int, workers: int, per_part: float, fan_in: int = FAN_IN) -> float:
    """Return the seconds in which workers add up parts in a tree, level by level; a driver takes parts × per_part.

    Parameters
    ----------
    parts, workers
        How many there are.
    per_part
        Seconds to read one result and add it.
    fan_in
        How many results become one.
    """
    seconds = 0.0
    while parts > 1:
        sizes = np.full(-(-parts // fan_in), float(fan_in))
        sizes[-1] = parts - fan_in * (len(sizes) - 1)
        seconds += makespan(per_part * sizes, workers, 0.0)
        parts = len(sizes)
    return seconds


def makespan(durations: Values, workers: int, driver: float) -> float:
    """Return when the last part is done, if whoever is free gets the next one.

    Parameters
    ----------
    durations
        Seconds of each part, in the order in which they are handed out.
    workers
        How many there are.
    driver
        Seconds in which the driver takes a result in and hands the next part out; results wait for each other.
    """
    return float(_last_end(np.asarray(durations, dtype=np.float64), workers, driver))


@light
def _last_end(durations: Values, workers: int, driver: float) -> float:
    running = list(durations[:workers])
    heapq.heapify(running)
    free = 0.0
    for duration in durations[workers:]:
        free = max(free, running[0]) + driver
        heapq.heapreplace(running, free + duration)
    while running:
        free = max(free, heapq.heappop(running)) + driver
    return free


@dataclass(frozen=True)
class Stage:
    """A map over parts, which ends when the last of them is done.

    Attributes
    ----------
    wall, used
        What a part costs: seconds, and CPU seconds.
    ready
        Seconds, wall and CPU, that a worker takes before its first part.
    start, driver
        Seconds of the driver until the first part is handed out, and for each part.
    """

    wall: Costs
    used: Costs
    ready: tuple[float, float]
    start: float
    driver: float

    def simulated(
        self, rows: Values, workers: int, crowd: float, hazards: Hazards, times: tuple[int, int],
        generator: np.random.Generator,
    ) -> tuple[Values, Values]:  # fmt: skip
        """Return how long the stage takes and its workers work, seconds, shape (repetition,).

        Parameters
        ----------
        rows
            Of each part.
        workers
            How many there are.
        crowd
            How many times as long a part takes because of how many there are.
        hazards
            What may befall them.
        times
            Repetitions with costs of their own, and in each so many schedules, of which the mean is taken.
        generator
            Of everything random.
        """
        begin = self.start + self.ready[0] * crowd
        ends, works = np.zeros(times[0]), np.zeros(times[0])
        for k, (line, spread) in enumerate(zip(*self.wall.drawn(times[0], generator), strict=True)):
            for _ in range(times[1]):
                durations = durations_of((line[0] + line[1] * rows) * crowd, float(spread), hazards, begin, generator)
                works[k] += durations.sum() / times[1]
                ends[k] += (begin + makespan(durations, workers, self.driver)) / times[1]
        return ends, works

    def cpu(self, rows: Values, workers: int, repetitions: int, generator: np.random.Generator) -> Values:
        """Return CPU seconds of workers and driver, shape (repetition,)."""
        lines, _ = self.used.drawn(repetitions, generator)
        parts = len(rows)
        beside = min(workers, parts) * self.ready[1] + self.driver * parts
        return np.asarray(lines[:, 0] * parts + lines[:, 1] * rows.sum() + beside)
