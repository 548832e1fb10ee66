"""Shares of the best slate beside the limits of the theorems, and what computing them costs.

    python -m benchmarks.consumption

Work: the exact greedy allocation of n items to three types that are wanted with probabilities .6, .3 and .1; γ is
fitted to log shares. No peer: none is known that computes the best slate. The twin that tries every slate stands in the
tests. Time is CPU time of one thread.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from accordant.slates.consumption import (
    Bernoulli,
    BoundedBeta,
    Exponential,
    Pareto,
    RankedChances,
    Uniform,
    ValueDistribution,
    allocate,
    chance_shares,
    homogeneous_shares,
    limit_gamma,
    measure,
)

WANTED = (0.6, 0.3, 0.1)
LONG = 20_000
UNEQUAL = (0.2, 0.5, 0.8)  # chances of theorem 3


@dataclass(frozen=True)
class Case:
    name: str
    values: ValueDistribution | list[ValueDistribution]
    items: int = LONG
    consumed: int | None = 1


CASES = (
    Case("uniform", Uniform()),
    Case("uniform", Uniform(), consumed=5),
    Case("bounded, β = 2", BoundedBeta(2)),
    Case("exponential", Exponential()),
    Case("exponential", Exponential(), consumed=5),
    Case("Pareto, α = 3", Pareto(3)),
    Case("Pareto, α = 3", Pareto(3), consumed=5),
    Case("Bernoulli .3", Bernoulli(0.3), 10),
    Case("Bernoulli .3", Bernoulli(0.3), 200),
    Case("Bernoulli .3", Bernoulli(0.3)),
    Case("Bernoulli .3", Bernoulli(0.3), consumed=5),
    Case("uniform", Uniform(), consumed=None),
    Case("theorem 2, α = .5", RankedChances(0.5, 0.5)),
    Case("theorem 2, α = 1", RankedChances(1, 0.5)),
    Case("theorem 2, α = 2", RankedChances(2, 0.5)),
    Case("theorem 2, α = 2", RankedChances(2, 0.5), consumed=None),
    Case("theorem 3", [Bernoulli(q) for q in UNEQUAL], 150),
    Case("theorem 3", [Bernoulli(q) for q in UNEQUAL]),
    Case("theorem 3", [Bernoulli(q) for q in UNEQUAL], consumed=None),
)


def written(numbers: np.ndarray) -> str:
    return " ".join(f"{number:.4f}" for number in numbers)


def line(case: Case) -> str:
    """Return one row of the table."""
    allocate(WANTED, case.values, 10, case.consumed)  # imports what is needed
    start = time.process_time()
    found = allocate(WANTED, case.values, case.items, case.consumed)
    seconds = time.process_time() - start
    if isinstance(case.values, list):
        limit, gamma = chance_shares(WANTED, UNEQUAL, case.consumed), math.nan
    else:
        gamma = limit_gamma(case.values, case.consumed)
        limit = homogeneous_shares(WANTED, gamma)
    measured = measure(WANTED, case.values, found.counts, case.consumed)
    return (
        f"{case.name:20}{case.consumed or 'all':>4}{case.items:7}  {written(found.shares)}  {written(limit)}  "
        f"{measured.gamma.gamma:6.3f}{gamma:7.3f}{measured.best:12.4f}{measured.mean:9.3g}{1000 * seconds:7.0f}"
    )


def small() -> None:
    """Print slates of five items, by value."""
    print("\nfive items, one consumed\n\nslate      uniform  Bernoulli .3")
    for counts in ((5, 0, 0), (3, 2, 0), (3, 1, 1), (2, 2, 1)):
        uniform, chances = (measure(WANTED, values, counts).best for values in (Uniform(), Bernoulli(0.3)))
        print(f"{counts!s:10}{uniform:8.4f}{chances:14.4f}")
    print("best     ", *(tuple(map(int, allocate(WANTED, each, 5).counts)) for each in (Uniform(), Bernoulli(0.3))))


def main() -> None:
    """Print both tables."""
    heads = f"{'values':20}{'k':>4}{'n':>7}  {'shares':20}  {'limit':20}"
    print(f"{heads}  {'γ':>6}{'limit':>7}{'best k':>12}{'mean':>9}{'ms':>7}")
    for case in CASES:
        print(line(case), flush=True)
    small()


if __name__ == "__main__":
    main()
