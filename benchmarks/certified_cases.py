"""The exact certificate beside the paper's, on the untouched rows of `lending` and `health`.

    python -m benchmarks.certified_cases DATA

For every compromise rule that has constants for the paper's schema: the smallest mean reward of each stakeholder (the
realised reward of the action taken, over the untouched rows) that misreports of this stakeholder can bring about.
Printed are the value under honest reports, the exact bound, the paper's bound at the best temperature, its bound with
our sharper constants, and the trivial bound; then how many times as much the paper's certificate gives up as the exact
one (inf: the exact one gives up nothing). Both certificates are about the same box [μ, 1 − μ].
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from accordant import strategies
from accordant.certificates import bounds
from accordant.certificates.schema import paper_bound
from accordant.evidence import Evidence
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.untouched_rows import untouched_rows
from accordant.utilities import ExpectedRewards

MU, DELTAS = 0.01, (0.01, 0.05)
RULES = (
    ("utilitarian", {}),
    ("nash_social_welfare", {}),
    ("nash_bargaining", {"disagreement": 0.0}),
    ("compromise_programming", {"ideal": 1.0}),
)


def evidence_of(case: str, data: str, folder: Path) -> Evidence:
    """Carry out a case and return what is known about its untouched rows."""
    write_run(carry_out(case, RunOptions(data=data, folds=3, resamples=100)), folder)
    return untouched_rows(read_run(folder), data).evidence()


def compare(evidence: Evidence) -> None:
    """Print one line per rule, coalition and radius."""
    values = np.clip(evidence.expected.values, MU, 1 - MU)
    expected = ExpectedRewards(values, stakeholders=evidence.expected.stakeholders, actions=evidence.expected.actions)
    print(f"{'rule':32} {'misreports':>12} δ    {'honest':>8} {'exact':>8} {'paper':>8} {'sharper':>8} {'trivial':>8}")
    ratios = []
    for (name, parameters), (k, member), delta in (
        (rule, each, delta) for rule in RULES for each in enumerate(expected.stakeholders) for delta in DELTAS
    ):
        rule = strategies.create(name, parameters).for_problem(evidence.problem)
        theta = evidence.rewards[k]
        exact = bounds(rule, expected, theta, delta=delta, coalition=[member], box=(MU, 1 - MU))
        paper = paper_bound(rule, expected, theta, delta=delta, coalition=[member], mu=MU)
        sharper = paper_bound(
            rule, expected, theta, delta=delta, coalition=[member], mu=MU, tau="per_context", region="box"
        )
        lost, lost_by_paper = exact.nominal - exact.low, exact.nominal - paper.value
        ratio = lost_by_paper / lost if lost > 0 else np.inf
        ratios.append(ratio)
        print(
            f"{rule.label:32} {member:>12} {delta:.2f} {exact.nominal:8.4f} {exact.low:8.4f} {paper.value:8.4f} "
            f"{sharper.value:8.4f} {paper.trivial:8.4f}   {ratio:8.1f} times"
        )
        assert sharper.value <= exact.low + 1e-9
        assert paper.value <= exact.low + 1e-9
    finite = [ratio for ratio in ratios if np.isfinite(ratio)]
    print(f"the paper's certificate gives up {np.median(finite):.1f} times as much as the exact one (median)")


def main() -> None:
    """Compare on both cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder with the real data")
    parser.add_argument("--runs", type=Path, default=None, help="where run folders go; a temporary folder by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for case in ("lending", "health"):
            start = time.perf_counter()
            evidence = evidence_of(case, given.data, (given.runs or Path(scratch)) / case)
            seconds = time.perf_counter() - start
            print(f"\n{case}: {evidence.n_contexts} untouched rows (carried out in {seconds:.0f} s)")
            compare(evidence)


if __name__ == "__main__":
    main()
