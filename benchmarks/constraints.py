"""Decisions under constraints over a batch: the exact algorithms against HiGHS on the whole linear programme.

Peer: `scipy.optimize.linprog` (HiGHS, its own choice of method) on a sparse programme with one variable per context
and action. For parity it has one row per ordered pair of groups, for budgets one row per capped action. The scores,
computed once, are given to both; what is timed is the way from scores to a policy, for the peer including its matrices.
fairlearn's ThresholdOptimizer is no peer: it optimises the accuracy of labels on a grid of thresholds, not a sum of
given scores within ε.

Work: maximin over 3 stakeholders, 3 actions, 3 groups of 70, 25 and 5 per cent whose rates differ.

* parity of one action within 0.01: 10,000, 100,000 and 1,000,000 contexts
* budgets on two of three actions: 10,000 contexts, and 1,000,000 without the peer, whose time grows faster than n;
  optimality is then shown by the duality gap, Σ_t max_a (Φ − price) + Σ price × places − the sum reached

For parity, accordant's own linear programme by cores (sifting, HiGHS on the core, certified by duality) is a second
check, the only one of the optimum where the peer does not end.

A peer that does not end within `--patience` seconds is reported so, with the ratio as a lower bound.

Run: OMP_NUM_THREADS=1 python -m benchmarks.constraints
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import time
from dataclasses import dataclass
from queue import Empty
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron

from accordant import strategies
from accordant.evidence import Groups
from accordant.strategies.constraints.batch import Batch, Plan
from accordant.strategies.constraints.budgets import Budgets
from accordant.strategies.constraints.parity import Parity, within_parity
from accordant.strategies.constraints.programme import solve
from accordant.utilities import ExpectedRewards

ACTIONS = ("Grant", "Grant lower", "Not grant")
WITHIN = 0.01
BUDGETS = {"Grant": 0.2, "Grant lower": 0.25}


@dataclass(frozen=True)
class Work:
    """Scores with what the constraints read."""

    batch: Batch
    groups: Groups

    @property
    def budgets(self) -> dict[int, int]:
        """Places for each capped action."""
        return Budgets(BUDGETS).capacities(ACTIONS, self.batch.n_contexts)


def make(n: int) -> Work:
    """Return maximin scores of a random batch; Grant is worth more in the first group."""
    random = np.random.default_rng(n)
    codes = random.choice(3, size=n, p=(0.7, 0.25, 0.05))
    values = random.random((3, 3, n))
    values[:, 0] *= 1.0 - 0.2 * codes
    expected = ExpectedRewards(values, stakeholders=["Applicant", "Bank", "Regulator"], actions=ACTIONS)
    found = strategies.create("maximin")(expected)
    admissible = np.ones((3, n), dtype=bool)
    batch = Batch(ACTIONS, np.asarray(found.scores), admissible, values.sum(axis=0), found.codes, 1e-12)
    return Work(batch, Groups(("group",), ("f", "m", "x"), codes))


def reached(work: Work, plan: Plan) -> float:
    """Return the expected sum of scores."""
    if plan.policy is None:
        return float(work.batch.scores[plan.codes, np.arange(work.batch.n_contexts)].sum())
    return float((plan.policy * work.batch.scores).sum())


def programme(work: Work, rows: csr_array, limits: NDArray[np.float64]) -> float:
    """Return the optimum of HiGHS; variables are ordered by context, then action."""
    n = work.batch.n_contexts
    found = linprog(
        -work.batch.scores.T.ravel(), A_ub=rows, b_ub=limits, A_eq=kron(eye_array(n), np.ones((1, 3)), format="csr"),
        b_eq=np.ones(n), bounds=(0, None), method="highs",
    )  # fmt: skip
    return -float(found.fun)


def pairwise(work: Work) -> tuple[csr_array, NDArray[np.float64]]:
    """Return one row per ordered pair of groups: rate of Grant in one minus rate in the other, at most ε."""
    codes, rows = work.groups.codes, []
    for g, h in itertools.permutations(range(3), 2):
        rate = (codes == g) / (codes == g).sum() - (codes == h) / (codes == h).sum()
        rows.append(np.column_stack([rate, np.zeros((len(codes), 2))]).ravel())
    return csr_array(np.array(rows)), np.full(len(rows), WITHIN)


def places(work: Work) -> tuple[csr_array, NDArray[np.float64]]:
    """Return one row per capped action."""
    rows = [np.tile(np.arange(3) == a, work.batch.n_contexts).astype(float) for a in work.budgets]
    return csr_array(np.array(rows)), np.array(list(work.budgets.values()), dtype=np.float64)


def _peer(n: int, what: str, answer: Any) -> None:
    work = make(n)
    start = time.perf_counter()
    optimum = programme(work, *(pairwise(work) if what == "parity" else places(work)))
    answer.put((optimum, time.perf_counter() - start))


def peer(n: int, what: str, patience: float) -> tuple[float, float] | None:
    """Return optimum and seconds of the peer in a process of its own, None if it takes too long."""
    answer: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=_peer, args=(n, what, answer))
    process.start()
    try:
        found: tuple[float, float] = answer.get(timeout=patience)
    except Empty:
        return None
    finally:
        process.terminate()
        process.join()
    return found


def own(work: Work, what: str) -> tuple[Plan, float]:
    """Return the plan and the best of three times."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        if what == "parity":
            plan = within_parity(work.batch, work.groups, Parity("group", WITHIN, ("Grant",)))
        else:
            plan = solve(work.batch, work.budgets, None, None)
        seconds.append(time.perf_counter() - start)
    return plan, min(seconds)


def compare(n: int, what: str, patience: float) -> None:
    """Print one line."""
    work = make(n)
    plan, seconds = own(work, what)
    value = reached(work, plan)
    print(f"{what:8} {n:>9,} contexts: accordant {seconds:8.4f} s, sum {value:.9g}", end="; ", flush=True)
    if what == "budgets":
        prices = np.array([plan.per_place.get(action, 0.0) for action in ACTIONS])
        bound = (work.batch.scores - prices[:, None]).max(axis=0).sum()
        bound += sum(prices[a] * k for a, k in work.budgets.items())
        print(f"duality gap {(bound - value) / abs(value):.1e}", end="; ", flush=True)
    else:
        start = time.perf_counter()
        sifted = solve(work.batch, {}, work.groups, Parity("group", WITHIN, ("Grant",)))
        took, difference = time.perf_counter() - start, (value - reached(work, sifted)) / abs(value)
        print(f"sifted {took:.2f} s, relative difference {difference:+.1e}", end="; ", flush=True)
    if patience <= 0:
        print("HiGHS left out")
        return
    found = peer(n, what, patience)
    if found is None:
        print(f"HiGHS not done after {patience:.0f} s, ratio above {patience / seconds:,.0f}")
        return
    optimum, theirs = found
    difference = (value - optimum) / abs(optimum)
    print(f"HiGHS {theirs:8.3f} s, ratio {theirs / seconds:,.0f}, relative difference {difference:+.1e}")


def main() -> None:
    """Read the patience and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patience", type=float, default=120.0, help="seconds that the peer may take")
    asked = parser.parse_args()
    for n, what, patience in (
        (10_000, "parity", asked.patience),
        (100_000, "parity", asked.patience),
        (1_000_000, "parity", asked.patience),
        (10_000, "budgets", asked.patience),
        (1_000_000, "budgets", 0.0),
    ):
        compare(n, what, patience)


if __name__ == "__main__":
    main()
