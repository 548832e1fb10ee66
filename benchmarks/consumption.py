"""Shares of the best slate beside the limits of the theorems, and what computing them costs.

    python -m benchmarks.consumption             exact shares, limits, time
    python -m benchmarks.consumption simulated   the same table from drawn values, without any closed form
    python -m benchmarks.consumption tradeoff    the check for an artefact, in worlds where the answer is known

Work: the exact greedy allocation of n items to three types that are wanted with probabilities .6, .3 and .1; γ is
fitted to log shares. No peer: none is known that computes the best slate. The twin that tries every slate stands in the
tests. Time is CPU time of one thread.
"""

from __future__ import annotations

import math
import sys
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
    fitted_gamma,
    greedy_counts,
    homogeneous_shares,
    limit_gamma,
    measure,
)
from accordant.slates.tradeoff.check import check_tradeoff
from accordant.slates.tradeoff.verdicts import LoggedOutcomes
from benchmarks.simulated_gains import Sampler, drawn_gains, split_gains

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


def trials(chance: float) -> Sampler:
    """Return a sampler of successes and failures."""
    return lambda generator, shape: (generator.random(shape) < chance).astype(float)


SAMPLERS: dict[str, tuple[Sampler, ValueDistribution, int]] = {
    "uniform": (lambda generator, shape: generator.random(shape), Uniform(), 1000),
    "bounded, β = 2": (
        lambda generator, shape: np.minimum(generator.random(shape), generator.random(shape)),
        BoundedBeta(2),
        1000,
    ),
    "exponential": (lambda generator, shape: generator.standard_exponential(shape), Exponential(), 1000),
    "Pareto, α = 3": (lambda generator, shape: 1.0 + generator.pareto(3.0, shape), Pareto(3), 1000),
}
SEEDS = 5


def simulated() -> None:
    """Print the shares of the best slates of simulated gains, beside the exact ones and the limit."""
    heads = f"{'values':20}{'k':>4}{'n':>6}  {'simulated':20}  {'exact':20}  {'limit':20}"
    print(f"{heads}  {'γ':>6}{'spread':>8}{'limit':>7}")
    for name, (sampler, values, items) in SAMPLERS.items():
        gains = [drawn_gains(sampler, 1, items, np.random.default_rng(seed), rows=4000) for seed in range(SEEDS)]
        exact = allocate(WANTED, values, items).shares
        simulated_row(name, 1, items, [[each] * 3 for each in gains], exact, limit_gamma(values))
    uniform = SAMPLERS["uniform"][0]
    linear = [[drawn_gains(uniform, 100, 100, np.random.default_rng(seed))] * 3 for seed in range(SEEDS)]
    simulated_row("uniform", None, 100, linear, allocate(WANTED, Uniform(), 100, None).shares, math.inf)
    for items, rows in ((10, 1_000_000), (200, 4000)):
        split = [[split_gains(trials(0.3), items, np.random.default_rng(seed), rows=rows)] * 3 for seed in range(SEEDS)]
        simulated_row("Bernoulli .3", 1, items, split, allocate(WANTED, Bernoulli(0.3), items).shares, 0.0)
    typed = [
        [split_gains(trials(q), 150, np.random.default_rng([seed, t]), rows=4000) for t, q in enumerate(UNEQUAL)]
        for seed in range(SEEDS)
    ]
    exact = allocate(WANTED, [Bernoulli(q) for q in UNEQUAL], 150).shares
    simulated_row("theorem 3", 1, 150, typed, exact, math.nan)


def simulated_row(
    name: str, consumed: int | None, items: int, gains: list[list[np.ndarray]], exact: np.ndarray, gamma: float
) -> None:
    """Print the mean shares over seeds, and the mean and the range of the fitted γ."""
    counts = [
        greedy_counts([np.log(p) + each for p, each in zip(WANTED, of_type, strict=True)], items) for of_type in gains
    ]
    slopes = [fitted_gamma(WANTED, each).gamma for each in counts]
    limit = chance_shares(WANTED, UNEQUAL) if math.isnan(gamma) else homogeneous_shares(WANTED, gamma)
    shares = np.mean(counts, axis=0) / items
    print(
        f"{name:20}{consumed or 'all':>4}{items:6}  {written(shares)}  {written(exact)}  {written(limit)}  "
        f"{np.mean(slopes):6.3f}{np.max(slopes) - np.min(slopes):8.3f}{gamma:7.3f}",
        flush=True,
    )


def worlds() -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Return relevance, targets and items consumed, for 24 items in four categories and 3,000 requests."""
    generator, n = np.random.default_rng(0), 3000
    category = np.repeat(np.arange(4), 6)
    wanted = generator.dirichlet([4, 3, 2, 1], n).T
    types = np.array([generator.choice(4, p=column) for column in wanted.T])
    noise = generator.uniform(0.9, 1.0, (24, n))
    one = (category[:, None] == types) & (generator.random((24, n)) < 0.5 * noise)
    favourite = np.where(category[:, None] == generator.integers(0, 4, n), 0.8, 0.05) * noise
    alike = 0.4 + 0.01 * np.eye(4)[:, generator.integers(0, 4, n)][category]
    return {
        "one type is wanted": (wanted[category] * 0.5 * noise, one, 1),
        "the same, all consumed": (wanted[category] * 0.5 * noise, one, 6),
        "one good category": (favourite, generator.random((24, n)) < favourite, 3),
        "all items alike": (alike, generator.random((24, n)) < 0.4, 2),
    }


def tradeoff() -> None:
    """Print the verdict in each world, with margin .05."""
    for name, (relevance, targets, consumed) in worlds().items():
        found = check_tradeoff(
            relevance, np.repeat(np.arange(4), 6), LoggedOutcomes(targets), [str(i) for i in range(3000)],
            length=6, consumed=consumed, margin=0.05,
        )  # fmt: skip
        print(f"\n{name}, {consumed} of 6 consumed: {found.verdict}\n  {found.reason}\n")
        print("  balance  categories     all    best  γ      left out")
        for point in found.points[:: len(found.points) // 4]:
            print(
                f"  {point.balance:7.2f}{point.categories:12.2f}{point.all_consumed:8.3f}{point.best_consumed:8.3f}"
                f"{point.gamma.gamma:7.2f}{point.gamma.left_out:10.2f}"
            )


def main() -> None:
    """Print the tables that are asked for."""
    parts = {"simulated": simulated, "tradeoff": tradeoff, "exact": exact_tables}
    for part in sys.argv[1:] or ["exact"]:
        if part not in parts:
            sys.exit(f"unknown part {part!r}; valid: {', '.join(parts)}")
        parts[part]()


def exact_tables() -> None:
    """Print exact shares beside limits, and slates of five items."""
    heads = f"{'values':20}{'k':>4}{'n':>7}  {'shares':20}  {'limit':20}"
    print(f"{heads}  {'γ':>6}{'limit':>7}{'best k':>12}{'mean':>9}{'ms':>7}")
    for case in CASES:
        print(line(case), flush=True)
    small()


if __name__ == "__main__":
    main()
