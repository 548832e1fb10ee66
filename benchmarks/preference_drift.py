"""Preferences that change: false alarms and delays on made-up answers, then a replay of MovieLens in order of time.

Peers: the pooled reward, and each user's reward learned once from the first part of the user's ratings; both against
rewards that are updated with every two ratings, without and with forgetting. Lines in which forgetting or updating
loses are printed like the others.

Work: 200 streams of 200 answers for each line of the first table; then all ratings of MovieLens by users who begin
after half of the users have, 305 of 610, films described by their genres; then the same with the ratings of 20 of
these users reversed (5.5 − rating) after four fifths of them: a planted change in real data. Then both with films also
described by what another half of the users made of them, at any time: 153 of the remaining 305 are replayed.

    python -m benchmarks.preference_drift DATA

DATA, or a folder below it such as `preferences/movielens-small`, holds `ratings.csv` and `movies.csv`; this is checked
first. Without DATA only the first table is printed.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from accordant.arrays import Values
from accordant.preferences import Ratings
from accordant.preferences.drift import (
    DriftAlarms,
    Prequential,
    Replay,
    ReplaySettings,
    replay_ratings,
    watch_agreement,
    watch_exchangeability,
)
from accordant.preferences.readers import RatingFactors, read_movielens

STREAMS, LENGTH, ALPHA = 200, 200, 0.05
HALF = np.arange(LENGTH) < LENGTH // 2
TURNED, TURN_AT = 20, 0.8
RATINGS, BELOW = "ratings.csv", (Path("preferences/movielens-small"), Path("movielens-small"))


@dataclass(frozen=True)
class World:
    """How answers are made: the slope of each record, and how much its items differ."""

    name: str
    slopes: Values
    sizes: Values
    changes: int | None


def worlds() -> list[World]:
    """Return streams that do not change, streams whose items change, and streams whose answers change."""
    ones = np.ones(LENGTH)
    still = [World(f"constant slope {slope:g}", slope * ones, 2 * ones, None) for slope in (-1.0, 0.0, 0.3, 1.0, 3.0)]
    items = [World("constant slope 1, items differ more from half on", ones, np.where(HALF, 0.4, 8.0), None)]
    changed = [
        World("slope 1, then -1", np.where(HALF, 1.0, -1.0), 2 * ones, LENGTH // 2),
        World("slope 1, then 0", np.where(HALF, 1.0, 0.0), 2 * ones, LENGTH // 2),
        World("slope 1, then 0.3", np.where(HALF, 1.0, 0.3), 2 * ones, LENGTH // 2),
        World("slope from 1 to -1, evenly", np.linspace(1.0, -1.0, LENGTH), 2 * ones, 0),
    ]
    return still + items + changed


def share_and_delay(found: DriftAlarms, changes: int | None) -> str:
    """Return how many streams reach 1/alpha by themselves, how many m/alpha together, and the median delay alone."""
    alone = [np.flatnonzero(trace.log_wealth >= math.log(1 / ALPHA)) for trace in found.traces]
    first = np.array([reached[0] for reached in alone if len(reached)])
    delay = "     -" if changes is None or not len(first) else f"{np.median(first - changes):6.0f}"
    return f"{len(first) / STREAMS:6.3f} {len(found.alarmed) / STREAMS:8.3f} {delay}"


def made_up() -> None:
    """Print the first table."""
    print(f"{STREAMS} streams of {LENGTH} answers, alpha {ALPHA}; standard error of a true share .05: .015")
    print("share of streams that reach 1/alpha (alone), 200/alpha (all together), median records to the first alarm")
    print(f"{'':50} {'agreement':>22}   {'exchangeability':>22}")
    print(f"{'answers':50} {'alone together  delay':>22}   {'alone together  delay':>22}")
    generator = np.random.default_rng(0)
    streams = np.repeat(np.arange(STREAMS), LENGTH)
    for world in worlds():
        size = np.abs(generator.normal(size=(STREAMS, LENGTH))) * world.sizes
        agrees = generator.random(size.shape) < 1 / (1 + np.exp(-world.slopes * size))
        margins = np.where(agrees, size, -size).ravel()
        agreement = watch_agreement(margins, alpha=ALPHA, streams=streams)
        conformal = watch_exchangeability(margins, generator=generator, alpha=ALPHA, streams=streams)
        lines = [share_and_delay(found, world.changes) for found in (agreement, conformal)]
        print(f"{world.name:50} {lines[0]}   {lines[1]}", flush=True)


def show_predictions(title: str, found: Prequential) -> None:
    """Print accuracy and loss of each method, and what the differences are sure of."""
    counts = found.methods["pooled"].counts
    print(f"{title}: {len(counts)} users, {counts.sum()} pairs, median {np.median(counts):.0f} per user")
    print(f"  {'method':24} {'accuracy':>26} {'log-loss':>26}")
    for name in found.methods:
        cells = (found.accuracy.methods[name], found.log_loss.methods[name])
        print(f"  {name:24} " + " ".join(f"{each.value:10.4f} [{each.low:.4f}, {each.high:.4f}]" for each in cells))
    for (one, other), limits in found.log_loss.differences.items():
        verdict = "gains" if limits.high < 0 else "loses" if limits.low > 0 else "not shown"
        span = f"{limits.value:+.4f} [{limits.low:+.4f}, {limits.high:+.4f}]"
        print(f"  loss of {one!r} less {other!r}: {span} {verdict}")


def show_alarms(found: Replay) -> None:
    """Print who is alarmed, and for how many an alarm is possible at all."""
    for alarms, each in ((found.agreement, math.log(2)), (found.exchangeability, math.log(1.5))):
        threshold = alarms.traces[0].log_threshold
        able = sum(len(trace.records) * each >= threshold for trace in alarms.traces)
        largest = max(float(trace.log_wealth.max(initial=0.0)) for trace in alarms.traces)
        print(
            f"  {alarms.detector:16} {len(alarms.alarmed)} alarms; {able} of {len(alarms.traces)} users have records "
            f"enough for one; largest log wealth {largest:.1f}, threshold {threshold:.1f}"
        )


def turned(ratings: Ratings, replay: Replay) -> tuple[Ratings, tuple[str, ...]]:
    """Return ratings in which the replayed users with most pairs reverse theirs, and the names of these users."""
    assert ratings.times is not None
    assert ratings.user_names is not None
    longest = sorted(replay.agreement.traces, key=lambda trace: -len(trace.records))[:TURNED]
    stars = ratings.ratings.copy()
    for name in (trace.name for trace in longest):
        rows = np.flatnonzero(ratings.users == ratings.user_names.index(name))
        rows = rows[np.argsort(ratings.times[rows], kind="stable")]
        late = rows[int(TURN_AT * len(rows)) :]
        stars[late] = 5.5 - stars[late]
    return replace(ratings, ratings=stars), tuple(trace.name for trace in longest)


def real(title: str, ratings: Ratings) -> None:
    """Print the replay, and the one with planted changes."""
    start = time.process_time()
    found = replay_ratings(ratings, generator=np.random.default_rng(0))
    seconds = time.process_time() - start
    print(
        f"\n{title}: {found.start.past_users} users before, {found.start.replayed} replayed, "
        f"{found.start.straddling} left out later; {seconds:.1f} s"
    )
    print(f"chosen on the first halves: variance {found.variance:g}, kept {found.kept:g} per two ratings")
    tried = (f"{what} {value:g}: {loss:.4f}" for (what, value), loss in found.first_losses.items())
    print("losses there:", ", ".join(tried))
    show_predictions("fresh pairs, both ratings new", found.fresh)
    show_predictions("pairs with an earlier rating", found.earlier)
    show_alarms(found)
    reversed_ratings, names = turned(ratings, found)
    planted = replay_ratings(reversed_ratings, generator=np.random.default_rng(0))
    print(f"{len(names)} users reversed after {TURN_AT:.0%} of their ratings: kept {planted.kept:g}")
    for alarms in (planted.agreement, planted.exchangeability):
        right = sum(name in names for name in alarms.alarmed)
        print(f"  {alarms.detector:16} {right} of {len(names)} alarmed, {len(alarms.alarmed) - right} others")


def by_day(ratings: Ratings) -> None:
    """Print what forgetting by days instead of ratings does."""
    days = ReplaySettings(clock="time", kept=(0.5, 0.9, 0.99, 0.999))
    found = replay_ratings(ratings, days, generator=np.random.default_rng(0))
    limits = found.fresh.log_loss.differences["sequential, forgetting", "sequential"]
    print(
        f"forgetting by days: kept {found.kept:g} a day; loss on fresh pairs less that without forgetting "
        f"{limits.value:+.4f} [{limits.low:+.4f}, {limits.high:+.4f}]"
    )


def ratings_below(data: Path) -> Path | None:
    """Return the folder of the ratings; None if there is none."""
    folders = (data, *(data / below for below in BELOW))
    return next((folder for folder in folders if (folder / RATINGS).is_file()), None)


def main() -> None:
    """Read the folder, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="folder of MovieLens")
    asked = parser.parse_args()
    folder = None if asked.data is None else ratings_below(asked.data)
    if asked.data is not None and folder is None:
        parser.error(f"{asked.data} holds no {RATINGS}, nor do {', '.join(map(str, BELOW))} below it")
    made_up()
    if folder is not None:
        genres = read_movielens(folder).ratings
        real("MovieLens, genres", genres)
        by_day(genres)
        real("MovieLens, genres and factors of other users", read_movielens(folder, factors=RatingFactors()).ratings)


if __name__ == "__main__":
    main()
