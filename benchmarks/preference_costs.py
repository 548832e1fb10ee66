"""What it costs to learn rewards: seconds and memory of every learner, by the number of comparisons.

The work: 1,000 users in 100 groups compare items with 384 features, up to 100,000 times. Every fit runs in a process of
its own, on one thread, so that its peak of memory is its own; "above the data" is that peak less what the records take
in memory. There is no peer for most learners; the pooled one has its own benchmark, `bradley_terry`.

    python -m benchmarks.preference_costs [--quick] [--learner NAME …]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

from accordant.preferences.learners.learner import learners
from accordant.preferences.records import Comparisons

USERS, GROUPS, FEATURES, ITEMS = 1000, 100, 384, 20_000
SIZES, QUICK_SIZES = (12_500, 25_000, 50_000, 100_000), (2_500, 5_000)
LIMIT = 600  # seconds for one fit


def records(size: int) -> Comparisons:
    """Return comparisons of users whose tastes are near those of their group."""
    generator = np.random.default_rng(0)
    group = np.arange(USERS) % GROUPS
    centres = generator.normal(size=(GROUPS, FEATURES)) + generator.normal(size=FEATURES)
    tastes = (centres[group] + 0.3 * generator.normal(size=(USERS, FEATURES))) / np.sqrt(FEATURES)
    features = generator.normal(size=(ITEMS, FEATURES))
    one = generator.integers(ITEMS, size=size)
    two = (one + generator.integers(1, ITEMS, size=size)) % ITEMS
    users = generator.integers(USERS, size=size)
    margins = np.concatenate(
        [
            np.einsum("rf,rf->r", features[one[part]] - features[two[part]], tastes[users[part]])
            for part in np.array_split(np.arange(size), max(1, size // 10_000))
        ]
    )
    agrees = generator.random(size) < 1 / (1 + np.exp(-margins))
    chosen, rejected = np.where(agrees, one, two), np.where(agrees, two, one)
    groups = tuple(f"group {each}" for each in group)
    return Comparisons(features, chosen, rejected, users, tuple(map(str, range(USERS))), groups)


def one_fit(name: str, size: int) -> None:
    """Fit once, and print what it took."""
    given = records(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = learners.create(name).fit(given, generator=np.random.default_rng(0))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    accuracy = float((model.margins(given) > 0).mean())
    print(json.dumps({"seconds": seconds, "before": before / 1024, "peak": peak / 1024, "accuracy": accuracy}))


def measured(name: str, size: int) -> dict[str, float] | None:
    """Return what one fit took in a process of its own; None if it took too long."""
    command = [sys.executable, "-m", "benchmarks.preference_costs", "--one", name, str(size)]
    try:
        shown = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, float] = json.loads(shown.stdout)
    return found


def main() -> None:
    """Print a line per learner."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--quick", action="store_true", help="few records")
    asked.add_argument("--learner", action="append", help="only these", default=[])
    asked.add_argument("--one", nargs=2, metavar=("NAME", "SIZE"), help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.one:
        one_fit(options.one[0], int(options.one[1]))
        return
    sizes = QUICK_SIZES if options.quick else SIZES
    print(f"{USERS} users in {GROUPS} groups, {FEATURES} features; one thread")
    header = "".join(f"{f'{size:,}':>12}" for size in sizes)
    print(f"{'learner':<22}{header}   growth per doubling   MiB above the data")
    for name in options.learner or learners.names():
        found = [measured(name, size) for size in sizes]
        shown = "".join(f"{'> limit' if each is None else '{:.1f} s'.format(each['seconds']):>12}" for each in found)
        whole = [each for each in found if each is not None]
        growth = "–"
        if len(whole) > 1:
            growth = f"{(whole[-1]['seconds'] / whole[0]['seconds']) ** (1 / (len(whole) - 1)):.2f}"
        memory = ", ".join(f"{each['peak'] - each['before']:.0f}" for each in whole)
        print(f"{name:<22}{shown}{growth:>22}   {memory}", flush=True)


if __name__ == "__main__":
    main()
