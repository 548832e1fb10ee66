"""Whether everything that reports uncertainty is right about it, in simulated worlds of known truth.

    OMP_NUM_THREADS=1 python -m benchmarks.truth [--runs 200] [--jobs 2] [--worlds NAMES] [--json]

In every run a policy is fitted on rows of a world, its leaderboards on held-out folds (validation) and on other rows
(test) are read, and every value in them is compared with the true one. Printed are bias and coverage for every metric,
for the composite score and for the selected rule; errors and power of comparisons; how often D* changes when another
candidate is dropped or a dominated one is added; false and missed flags of overlap; and the regret of the selected rule
beside that of always taking the utilitarian or the maximin rule.

True values are those of the policy as fitted on all training rows. The exit code is 1 if a promise of
`benchmarks.truth.study` is broken. Worlds of other shapes come from the options.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from typing import Any, get_args

from benchmarks.truth.run import Settings
from benchmarks.truth.study import broken, study
from benchmarks.truth.tables import lines
from benchmarks.truth.worlds import WORLDS, Noise

SHAPE = ("stakeholders", "actions", "outcomes", "features", "informative", "train", "test", "seed")


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each world, and return the exit code."""
    chosen = _parser().parse_args(arguments)
    shape: dict[str, Any] = {name: getattr(chosen, name) for name in (*SHAPE, "noise")}
    shape = {name: value for name, value in shape.items() if value is not None}
    settings = Settings(chosen.resamples, population=chosen.population, normalisation=chosen.normalisation)
    start, summaries = time.perf_counter(), []
    for name in chosen.worlds or WORLDS:
        world = dataclasses.replace(WORLDS[name], **shape)
        summaries.append(study(world, chosen.runs, settings, chosen.jobs, chosen.first))
        print(*lines(summaries[-1]), sep="\n", file=sys.stderr if chosen.json else sys.stdout, flush=True)
    failures = broken(summaries, chosen.slack)
    if chosen.json:
        print(json.dumps({"worlds": [each.to_json() for each in summaries], "broken": failures}, indent=1))
    else:
        print(f"\n{len(failures)} promises broken", *failures, sep="\n  ")
        print(f"{time.perf_counter() - start:.0f} s")
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first run; others are other samples")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS))
    parser.add_argument("--json", action="store_true", help="JSON on stdout, tables on stderr")
    parser.add_argument("--resamples", type=int, default=Settings.resamples)
    parser.add_argument("--slack", type=float, default=0.0, help="standard errors by which a threshold may be missed")
    parser.add_argument("--population", type=int, default=Settings.population, help="contexts behind true values")
    parser.add_argument("--normalisation", help="of the composite score; the library's default if not given")
    for name in SHAPE:
        parser.add_argument(f"--{name}", type=int, help="instead of the world's own")
    parser.add_argument("--noise", choices=get_args(Noise), help="distribution of the features")
    return parser


if __name__ == "__main__":
    sys.exit(main())
