"""Rules for the whole policy: what a fit costs, and what the worst-off gain over rules that judge each context alone.

    python -m benchmarks.population

Cost: seconds of `fit` on 1,000,000 contexts × 3 stakeholders × 3 actions as a ratio to the utilitarian decision on the
same contexts in the same run, and passes over E (how often pricing read it).
Worth: the mean expected reward of the worst-off stakeholder, for every rule. Rules are fitted on one half of the
contexts of a random world and decide on the other half; differences are means over worlds with their standard errors.
`best other` is the best rule among all others in each world, chosen with knowledge of the held-out half.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from accordant import strategies
from accordant.strategies import Strategy
from accordant.utilities import ExpectedRewards

CONTEXTS, WORLDS, HALF = 1_000_000, 40, 2000
OURS = ("population_maximin", "population_leximin", "population_nash")
OTHERS = (
    "utilitarian", "relative_utilitarian", "maximin", "leximin", "nash_social_welfare", "alpha_fairness",
    "generalised_gini", "nash_bargaining", "kalai_smorodinsky", "egalitarian_equivalent", "compromise_programming",
    "minimax_regret",
)  # fmt: skip
FORMAT = "{:<24}{:>10}{:>10}{:>16}{:>15}"


def rewards(values: np.ndarray) -> ExpectedRewards:
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def independent(generator: np.random.Generator, n: int) -> np.ndarray:
    """Three stakeholders, uniform rewards."""
    return generator.random((3, 3, n))


def unequal(generator: np.random.Generator, n: int) -> np.ndarray:
    """The same, but one stakeholder has little to gain in any context."""
    return generator.random((3, 3, n)) * np.array([0.6, 1.0, 1.0])[:, None, None]


def opposed(generator: np.random.Generator, n: int) -> np.ndarray:
    """Two sides: what is good for the first is bad for the second; how much is at stake differs between contexts."""
    first, stakes = generator.random((3, n)), generator.random((2, n)) ** 2
    third = 0.3 + 0.4 * generator.random((3, n))
    return np.stack([0.5 + stakes[0] * (first - 0.5), 0.45 + stakes[1] * (0.4 - 0.8 * first), third])


def five(generator: np.random.Generator, n: int) -> np.ndarray:
    """Five stakeholders, four actions, levels and tastes of their own."""
    level = generator.uniform(0.2, 0.5, (5, 1, 1))
    return level + 0.5 * generator.random((5, 4, n)) ** generator.uniform(0.5, 3.0, (5, 1, 1))


def coarse(generator: np.random.Generator, n: int) -> np.ndarray:
    """Rewards of 0, ½ and 1 times a factor per stakeholder: many contexts are equal, and ties are everywhere."""
    return generator.integers(0, 3, (3, 3, n)) / 2 * np.array([0.8, 0.9, 1.0])[:, None, None]


KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    each.__name__: each for each in (independent, unequal, opposed, five, coarse)
}


def fastest(work: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def worst_off(rule: Strategy, expected: ExpectedRewards) -> float:
    codes = rule(expected).codes
    return float(np.take_along_axis(expected.values, codes[None, None], axis=1).mean(axis=(1, 2)).min())


def cost() -> None:
    print(f"{CONTEXTS:,} contexts x 3 stakeholders x 3 actions")
    print(FORMAT.format("rule", "passes", "seconds", "ratio", "gap"))
    for kind in (independent, unequal):
        expected = rewards(kind(np.random.default_rng(0), CONTEXTS))
        strategies.utilitarian(expected)
        decision = fastest(lambda: strategies.utilitarian(expected))  # noqa: B023 - called at once
        print(FORMAT.format(f"{kind.__name__}: utilitarian", 1, f"{decision:.3f}", "1.0", ""))
        for name in OURS:
            rule = strategies.create(name)
            seconds = fastest(lambda: rule.fit(expected), 2)  # noqa: B023 - called at once
            found = rule.optimal_policy(expected)  # type: ignore[attr-defined]
            print(FORMAT.format(name, found.passes, f"{seconds:.2f}", f"{seconds / decision:.0f}", f"{found.gap:.1e}"))


def worth() -> None:
    for kind, make in KINDS.items():
        found: dict[str, list[list[float]]] = {name: [] for name in (*OURS, *OTHERS)}
        for seed in range(WORLDS):
            values = make(np.random.default_rng([seed, 7]), 2 * HALF)
            training, held_out = rewards(values[:, :, :HALF]), rewards(values[:, :, HALF:])
            for name, each in found.items():
                rule = strategies.create(name).fit(training)
                each.append([worst_off(rule, training), worst_off(rule, held_out)])
        table(kind, {name: np.array(each) for name, each in found.items()})


def table(kind: str, found: dict[str, np.ndarray]) -> None:
    ours, others = found["population_maximin"], np.array([found[name] for name in OTHERS])
    print(f"\n{kind}: mean of the worst-off, {WORLDS} worlds, {HALF:,} contexts to fit and {HALF:,} held out")
    print(FORMAT.format("rule", "fitted on", "held out", "behind by", "worlds behind"))
    for name, each in sorted(found.items(), key=lambda item: -item[1][:, 1].mean()):
        behind = ours[:, 1] - each[:, 1]
        error = behind.std(ddof=1) / np.sqrt(WORLDS)
        shown = f"{behind.mean():.4f}±{error:.4f}" if name != "population_maximin" else ""
        print(FORMAT.format(name, *(f"{x:.4f}" for x in each.mean(axis=0)), shown, f"{(behind > 0).sum()}/{WORLDS}"))
    lead = ours - others.max(axis=0)
    print(f"best other rule: behind in {(lead[:, 0] > 0).sum()}/{WORLDS} worlds on the half that was fitted on, "
          f"in {(lead[:, 1] > 0).sum()}/{WORLDS} held out, there by {lead[:, 1].mean():.4f} on average")  # fmt: skip


def shortfall() -> None:
    """Print how far decisions without draws stay behind the optimum on the contexts that they were fitted to."""
    print(
        f"\nmean of the worst-off on the {HALF:,} contexts that were fitted on: best policy with draws, and decisions"
    )
    for kind, make in KINDS.items():
        worlds = [rewards(make(np.random.default_rng([seed, 7]), HALF)) for seed in range(WORLDS)]
        rule = strategies.population_maximin
        pairs = np.array([[rule.optimal_policy(E).value, worst_off(rule.fit(E), E)] for E in worlds])
        print(f"{kind:<24}{pairs[:, 0].mean():>10.4f}{pairs[:, 1].mean():>10.4f}")


if __name__ == "__main__":
    cost()
    worth()
    shortfall()
