"""Watching decisions in use in worlds of known truth: false alarms over all time, delays, and confidence sequences.

Peer: what people do by hand, in the same run: every day a Kolmogorov–Smirnov test of each number, a χ² test of each
category and a test of each mean error against the reference, at 5 % each, on all records so far. Where it finds a
change earlier, or a change that we miss, the table says so.

Work: worlds with two numbers, two categories, three actions, a share of unusual rows, three errors of f and three
rewards; 40 decisions a day, a reference of 100 or 1000 rows, drawn anew in each world. Errors of f and E are off by a
constant in every world, null ones too: models are never right, and the reference is all that is known about it.

    python -m benchmarks.monitoring [--worlds N] [--days N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from accordant.arrays import Values
from accordant.monitoring.streams import SHARE, error_watch, level_watch, number_watch, share_watch
from accordant.monitoring.watch import Watch
from accordant.runs.record import ErrorPart
from accordant.runs.record.promise import ALPHAS
from accordant.statistics import RunningMean, betting_limits

ALPHA, A_DAY, AT_ONCE = 0.05, 40, 256
LEVELS, ACTIONS = (0.5, 0.3, 0.15, 0.05), (0.6, 0.3, 0.1)
BIAS = 0.03  # of f and of E, in every world
CHANGE = 1000  # records before a change, where there is one


@dataclass(frozen=True)
class World:
    """What changes after `CHANGE` records, and how many reference rows there are."""

    name: str
    reference: int
    stream: str = ""  # in which the change is
    size: float = 0.0

    @property
    def null(self) -> bool:
        """Whether nothing changes."""
        return not self.stream


WORLDS = (
    World("nothing changes", 100),
    World("nothing changes", 1000),
    World("number + 0.2 deviations", 1000, "age", 0.2),
    World("number + 0.5 deviations", 1000, "age", 0.5),
    World("number + 0.5 deviations", 100, "age", 0.5),
    World("commonest category 50 % → 60 %", 1000, "region", 0.1),
    World("commonest action 60 % → 70 %", 1000, "actions", 0.1),
    World("unusual rows 2 % → 5 %", 1000, "unusual", 0.03),
    World("f too high by 0.1 more", 1000, "f 1", -0.1),
    World("reward 0.1 below its promise", 1000, "reward 1", -0.1),
)


def drawn(stream: str, n: int, generator: np.random.Generator, size: float = 0.0) -> Values:
    """Return values of a stream, changed by some size."""
    if stream == "age":
        return generator.normal(size, 1.0, n)
    if stream == "income":
        return np.exp(generator.normal(size, 1.0, n)).round(1)
    if stream in ("region", "branch"):
        return _codes(LEVELS, n, generator, size)
    if stream == "actions":
        return _codes(ACTIONS, n, generator, size)
    if stream == "unusual":
        return (generator.random(n) < 0.02 + size).astype(float)
    if stream.startswith("f "):
        said = generator.uniform(*((0.0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 0.95))[int(stream[-1])], n)
        return (generator.random(n) < np.clip(said + BIAS + size, 0, 1)) - said
    said = generator.uniform(0.3, 0.6, n)
    return np.clip(generator.beta(2 * (said + BIAS + size), 2 * (1 - said - BIAS - size)), 0, 1) - said


def _codes(shares: tuple[float, ...], n: int, generator: np.random.Generator, size: float) -> Values:
    moved = np.array(shares)
    moved[0], moved[1] = moved[0] + size, moved[1] - size
    return generator.choice(len(moved), size=n, p=moved).astype(float)


NUMBERS, CATEGORIES = ("age", "income"), ("region", "branch", "actions", "unusual")
ERRORS = tuple(f"{kind} {part}" for kind in ("f", "reward") for part in range(3))
STREAMS = (*NUMBERS, *CATEGORIES, *ERRORS)


def watch_of(stream: str, reference: Values, generator: np.random.Generator) -> Watch:
    """Return what watches a stream, with its share of α as in a run."""
    if stream in NUMBERS:
        return number_watch(stream, SHARE / 4, reference, generator)
    if stream == "unusual":
        return share_watch(("usual", "unusual"), SHARE, len(reference), int(reference.sum()), generator)
    if stream in CATEGORIES:
        names = [f"level {k}" for k in range(4)]
        counts = np.bincount(reference.astype(int), minlength=4)
        return level_watch("contexts", stream, SHARE / 4 if stream != "actions" else SHARE, names, counts, generator)
    kind = "reward" if stream.startswith("reward") else "calibration"
    limits = betting_limits(reference, -1.0, 1.0, ALPHAS)
    part = ErrorPart(
        kind=kind, name=stream, part="" if kind == "reward" else "a third of f, %", attribute="", group="", least=-1.0,
        most=1.0, n=len(reference), mean=float(reference.mean()), limits=limits,
    )  # fmt: skip
    return error_watch(part, ALPHAS, SHARE / 3, ALPHA)


def values_of(world: World, stream: str, n: int, generator: np.random.Generator) -> Values:
    """Return all records of a stream in a world."""
    if stream != world.stream:
        return drawn(stream, n, generator)
    return np.concatenate([drawn(stream, CHANGE, generator), drawn(stream, n - CHANGE, generator, world.size)])


def first_alarm(watch: Watch, values: Values) -> int | None:
    """Return the number of the record with which the alarm came, None without one."""
    for start in range(0, len(values), AT_ONCE):
        part = values[start : start + AT_ONCE]
        watch.add(part, ["2026-01-01T00:00:00Z"] * len(part), ALPHA)
        if watch.alarm is not None:
            return watch.alarm.n
    return None


def daily_alarm(stream: str, reference: Values, values: Values) -> int | None:
    """Return the number of records on the first day on which a test at 5 % rejects."""
    test = _smirnov if stream in NUMBERS else _chi_square if stream in CATEGORIES else _means
    return next((n for n in range(A_DAY, len(values) + 1, A_DAY) if test(reference, values[:n])), None)


def _smirnov(reference: Values, seen: Values) -> bool:
    both = np.concatenate([reference, seen])
    shares = [np.searchsorted(np.sort(each), both, side="right") / len(each) for each in (reference, seen)]
    n = len(reference) * len(seen) / len(both)
    return float(np.abs(shares[0] - shares[1]).max()) * n**0.5 > 1.358


def _chi_square(reference: Values, seen: Values) -> bool:
    counts = np.array([np.bincount(each.astype(int), minlength=4) for each in (reference, seen)], dtype=float)
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return False
    return float(stats.chi2_contingency(counts, correction=False).pvalue) < ALPHA


def _means(reference: Values, seen: Values) -> bool:
    spread = (reference.var(ddof=1) / len(reference) + seen.var(ddof=1) / len(seen)) ** 0.5
    return abs(reference.mean() - seen.mean()) > 1.96 * spread


@dataclass(frozen=True)
class Outcome:
    """First alarms in one world: ours, the peer's; of any stream, and of the one that changed."""

    ours: dict[str, int | None]
    peer: dict[str, int | None]


def try_world(world: World, seed: int, n: int, *, peer: bool = True) -> Outcome:
    """Draw a reference and a stream of everything, and let both look."""
    generator = np.random.default_rng(seed)
    ours, theirs = {}, {}
    for stream in STREAMS:
        reference = drawn(stream, world.reference, generator)
        values = values_of(world, stream, n, generator)
        ours[stream] = first_alarm(watch_of(stream, reference, generator), values)
        theirs[stream] = daily_alarm(stream, reference, values) if peer else None
    return Outcome(ours, theirs)


def false_alarms(world: World, outcomes: list[Outcome], of: Callable[[Outcome], dict[str, int | None]]) -> float:
    """Return the share of worlds with an alarm where nothing changed: in another stream, or before the change."""
    return float(np.mean([
        any(n is not None and (stream != world.stream or n <= CHANGE) for stream, n in of(each).items())
        for each in outcomes
    ]))  # fmt: skip


def delays(world: World, outcomes: list[Outcome]) -> tuple[float, float]:
    """Return in what share of worlds the change is found, and the median number of records from it to the alarm."""
    found = [n - CHANGE for each in outcomes if (n := each.ours[world.stream]) is not None and n > CHANGE]
    return len(found) / len(outcomes), float(np.median(found)) if found else float("nan")


def uncovered(worlds: int, n: int, *, moving: bool) -> tuple[float, float]:
    """Return how often a 95 % confidence sequence ever misses, and its last half-width over that of a normal interval.

    Where means move, it is the mean of all that was expected so far that must be covered.
    """
    missed, ratios = 0, []
    for seed in range(worlds):
        generator, mean, inside = np.random.default_rng(seed), RunningMean(), True
        said = generator.uniform(0.2, 0.7, n)
        error = 0.1 * np.sin(np.arange(n) / 200) if moving else np.full(n, BIAS)
        values = (generator.random(n) < said + error).astype(float)
        target = np.cumsum(error) / np.arange(1, n + 1)
        for start in range(0, n, 5):
            mean.add(values[start : start + 5], said[start : start + 5])
            _, low, high = mean.interval(0.95)
            inside &= low <= target[mean.n - 1] <= high
        missed += not inside
        ratios.append((high - low) / 2 / (1.96 * float((values - said).std()) / n**0.5))
    return missed / worlds, float(np.mean(ratios))


def main() -> None:
    """Print what both find in every world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--days", type=int, default=125)
    given = parser.parse_args()
    n = given.days * A_DAY
    print(f"{given.worlds} worlds a line, {n} decisions each, {A_DAY} a day; false alarms are allowed in {ALPHA:.0%}")
    print(f"{'world':36}{'reference':>10}{'false alarms':>14}{'daily tests':>13}{'found':>8}{'records to alarm':>18}")
    begun = time.process_time()
    for world in WORLDS:
        seen = [try_world(world, seed, n) for seed in range(given.worlds)]
        ours, theirs = (false_alarms(world, seen, of) for of in (lambda each: each.ours, lambda each: each.peer))
        share, delay = (float("nan"), float("nan")) if world.null else delays(world, seen)
        told = f"{'':26}" if world.null else f"{share:>8.0%}{delay:>18.0f}"
        print(f"{world.name:36}{world.reference:>10}{ours:>14.1%}{theirs:>13.1%}{told}", flush=True)
    for moving in (False, True):
        missed, ratio = uncovered(given.worlds, 2000, moving=moving)
        print(
            f"confidence sequences of 2000 outcomes whose mean {'moves' if moving else 'stays'}: ever missed in "
            f"{missed:.1%}, at the end {ratio:.2f} times as wide as a normal interval that is right for one look"
        )
    print(f"{time.process_time() - begun:.0f} CPU seconds")


if __name__ == "__main__":
    main()
