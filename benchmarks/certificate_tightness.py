"""How often certificates of rules with reference points of the context are exact, and what they cost.

    python -m benchmarks.certificate_tightness                     50,000 random contexts per line
    python -m benchmarks.certificate_tightness --contexts 5000   a tenth of them

Work: the reachable actions of three stakeholders, all of whom may misreport, at δ = 0.05 and 0.1; E is uniform.
*Exact* is the share of contexts in which every action that was not ruled out is attained by an attack; *left* and
*attained* are mean numbers of actions; *cost* is the time in units of one decision on the same E, on one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from accordant import strategies
from accordant.certificates import Threat, certify
from accordant.strategies.block_decisions import ContextRule, decide
from accordant.utilities import ExpectedRewards

STATUS_QUO = {"disagreement": "status_quo", "status_quo": "a1"}
RULES = [
    strategies.create(name, parameters)
    for name, parameters in (
        ("compromise_programming", {}), ("compromise_programming", {"exponent": 1.0}),
        ("compromise_programming", {"exponent": 3.0}), ("minimax_regret", {}), ("kalai_smorodinsky", {}),
        ("nash_bargaining", {}), ("egalitarian_equivalent", {}), ("relative_utilitarian", {}),
        ("range", {"normalised": True}), ("kalai_smorodinsky", STATUS_QUO), ("nash_bargaining", STATUS_QUO),
        ("egalitarian_equivalent", STATUS_QUO), ("relative_utilitarian", STATUS_QUO),
        ("kalai_smorodinsky", {"disagreement": 0.25}), ("kalai_smorodinsky", {"ideal": 0.75}),
        ("relative_utilitarian", {"disagreement": 0.25}), ("relative_utilitarian", {"ideal": 0.75}),
    )
]  # fmt: skip
REPEATS = 3


def world(n_actions: int, n_contexts: int, seed: int) -> ExpectedRewards:
    values = np.random.default_rng(seed).random((3, n_actions, n_contexts))
    return ExpectedRewards(values, stakeholders=["P", "Q", "R"], actions=[f"a{a + 1}" for a in range(n_actions)])


def fastest(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def line(rule: ContextRule, expected: ExpectedRewards, delta: float) -> str:
    """Return one line of the table."""
    found = certify(rule, expected, Threat(delta))
    once = fastest(lambda: decide((rule,), expected, details=False, threads=1))
    cost = fastest(lambda: certify(rule, expected, Threat(delta))) / once
    left, attained = found.outer.sum(axis=0).mean(), found.inner.sum(axis=0).mean()
    return (
        f"{rule.label:42s} {len(expected.actions):7d} {delta:5g} {found.exact.mean():7.1%} "
        f"{left:5.2f} {attained:9.2f} {cost:5.0f}"
    )


def main() -> None:
    """Print one line per rule, number of actions and radius."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=50_000)
    parser.add_argument("--actions", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--deltas", type=float, nargs="+", default=[0.05, 0.1])
    options = parser.parse_args()
    print(f"{'rule':42s} actions     δ   exact  left  attained  cost")
    for rule in RULES:
        for n_actions in options.actions:
            expected = world(n_actions, options.contexts, seed=n_actions)
            for delta in options.deltas:
                print(line(rule, expected, delta), flush=True)


if __name__ == "__main__":
    main()
