"""What parts cost, and when the last of many is done: a line with its uncertainty, what befalls workers, a schedule."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from accordant.arrays import Values


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
        durations = durations + lost * (generator.random(len(expected)) * durations + hazards.unnoticed + begin)
    return durations


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
    running = durations[:workers].tolist()
    heapq.heapify(running)
    free = 0.0
    for duration in durations[workers:].tolist():
        free = max(free, running[0]) + driver
        heapq.heapreplace(running, free + duration)
    for end in sorted(running):
        free = max(free, end) + driver
    return free
