"""Cost of certificates, in plain decision passes of the same rule.

    python -m benchmarks.certificates                  every rule with a method, 3 × 3 and 5 × 6
    python -m benchmarks.certificates --contexts 1e5

Work: the actions that a coalition can make win within δ = 0.05, for every coalition (7 of 3 stakeholders; the 25 of at
most 3 of 5), in every context. A pass is the decision of the same rule in every context, without scores. Peer, in the
same run: the exact test written in plain numpy on whole arrays, for the utilitarian rule; both must find the same sets.
Radii are those against everybody.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np

from accordant import strategies
from accordant.certificates import Threat, certify_each, radius
from accordant.certificates.certificate import method_for
from accordant.strategies import decide
from accordant.utilities import ExpectedRewards

DECLARED = {"disagreement": 0.0, "ideal": 1.0}
FIXED = [
    strategies.create(name, parameters)
    for name, parameters in (
        ("utilitarian", {}), ("maximin", {}), ("leximin", {}), ("hurwicz", {}), ("nash_social_welfare", {}),
        ("alpha_fairness", {"alpha": 2.0}), ("atkinson", {"aversion": 0.5}), ("generalised_gini", {}),
        ("sufficientarian", {}), ("nash_bargaining", {"disagreement": 0.0}), ("kalai_smorodinsky", DECLARED),
        ("relative_utilitarian", DECLARED), ("egalitarian_equivalent", {"disagreement": 0.0}),
        ("compromise_programming", {"ideal": 1.0}), ("compromise_programming", {"ideal": 0.7, "two_sided": True}),
    )
]  # fmt: skip
FROM_CONTEXT = [
    strategies.create(name)
    for name in (
        "nash_bargaining", "kalai_smorodinsky", "compromise_programming", "relative_utilitarian",
        "egalitarian_equivalent", "minimax_regret",
    )
]  # fmt: skip
DELTA, REPEATS = 0.05, 3
SHAPES = ((3, 3, 3), (5, 6, 3))  # stakeholders, actions, members of the largest coalition


def fastest(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def world(n_stakeholders: int, n_actions: int, n_contexts: int) -> ExpectedRewards:
    values = np.random.default_rng(0).random((n_stakeholders, n_actions, n_contexts))
    names = [f"i{i}" for i in range(n_stakeholders)]
    return ExpectedRewards(values, stakeholders=names, actions=[f"a{a}" for a in range(n_actions)])


def plain_utilitarian(expected: ExpectedRewards, threats: list[Threat]) -> list[np.ndarray]:
    """The exact test in plain numpy: each action's highest mean against the lowest means of all others."""
    found = []
    for threat in threats:
        members = threat.members(expected.stakeholders)[:, None, None]
        low = np.where(members, np.maximum(expected.values - threat.delta, 0.0), expected.values).mean(axis=0)
        high = np.where(members, np.minimum(expected.values + threat.delta, 1.0), expected.values).mean(axis=0)
        others = np.stack([np.delete(low, a, axis=0).max(axis=0) for a in range(len(low))])
        found.append(high >= others)
    return found


def compare(shape: tuple[int, int, int], n_contexts: int) -> None:
    """Print one line per rule."""
    n_stakeholders, n_actions, largest = shape
    expected = world(n_stakeholders, n_actions, n_contexts)
    names = expected.stakeholders
    threats = [Threat(DELTA, each) for size in range(1, largest + 1) for each in combinations(names, size)]
    print(f"\n{n_stakeholders} stakeholders × {n_actions} actions × {n_contexts:,} contexts, {len(threats)} coalitions")
    print(f"{'rule':44} {'pass':>8} {'all coalitions':>15} {'each':>7} {'radius':>8}  exact  method")
    multiples = []
    for rule in (*FIXED, *FROM_CONTEXT):
        method = method_for(rule, n_actions, frozen=False)
        certify_each(rule, expected.take(slice(0, 1000)), threats)  # compile first
        once = fastest(partial(decide, (rule,), expected, details=False))
        every = fastest(partial(certify_each, rule, expected, threats))
        certificates = certify_each(rule, expected, threats)
        start = time.perf_counter()
        radius(rule, expected)
        far = time.perf_counter() - start
        exact = np.mean([each.exact.mean() for each in certificates])
        if rule in FIXED:
            multiples.append(every / once)
        print(
            f"{rule.label:44} {once * 1e3:5.1f} ms {every / once:9.1f} times {every / once / len(threats):7.2f} "
            f"{far / once:8.1f} {exact:6.1%}  {method.words}"
        )
        if rule.label == "utilitarian":
            peer = fastest(partial(plain_utilitarian, expected, threats))
            found = plain_utilitarian(expected, threats)
            alike = np.mean([np.mean(a.outer == b) for a, b in zip(certificates, found, strict=True)])
            print(f"{'  plain numpy':44} {'':8} {peer / once:9.1f} times; {alike:.6%} of all sets are equal")
    print(f"rules with fixed reference points: {min(multiples):.1f} to {max(multiples):.1f} passes for all coalitions")


def main() -> None:
    """Compare on every shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=float, default=1e6)
    given = parser.parse_args()
    for shape in SHAPES:
        compare(shape, int(given.contexts))


if __name__ == "__main__":
    main()
