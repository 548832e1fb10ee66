"""Cost of all welfare, bargaining and distance rules together, in passes over E.

    python -m benchmarks.rules                  two shapes of 1,000,000 contexts, peers, growth to 10^7 contexts
    python -m benchmarks.rules --largest 1e8    growth to 10^8 contexts, from a file of 7 GB

Work: the decision of every rule in every context and whether it was tied. A pass is the time of ``E.sum()``.
Peers, in the same run: the same rules in plain numpy on whole arrays, with the tie rule; pymcdm (TOPSIS) and
scikit-criteria (TOPSIS) on as many contexts as they manage in ten seconds.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from accordant import strategies
from accordant.strategies import fold
from accordant.strategies.block_decisions import ContextRule, decide, decide_in_blocks
from accordant.utilities import ExpectedRewards

RULES = [
    strategies.create(name, parameters)
    for name, parameters in (
        ("utilitarian", {}), ("relative_utilitarian", {}), ("maximin", {}), ("leximin", {}), ("hurwicz", {}),
        ("nash_social_welfare", {}), ("alpha_fairness", {"alpha": 2.0}), ("atkinson", {"aversion": 0.5}),
        ("generalised_gini", {}), ("sufficientarian", {}), ("nash_bargaining", {}), ("kalai_smorodinsky", {}),
        ("egalitarian_equivalent", {}), ("compromise_programming", {"exponent": 1.0}),
        ("compromise_programming", {"exponent": 2.0}), ("compromise_programming", {"exponent": 3.0}),
        ("compromise_programming", {"exponent": np.inf}), ("minimax_regret", {}),
    )
]  # fmt: skip
CONTEXTS, CONTEXTS_OF_PEERS, SECONDS, REPEATS = 1_000_000, 100_000, 10.0, 5
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rewards(values: np.ndarray) -> ExpectedRewards:
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def fastest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def fastest_processor(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def plain_scores(E: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores of the same rules, each as a user of numpy would write it."""
    low, high = E.min(axis=1)[:, None], E.max(axis=1)[:, None]
    gain, room, regret = E - low, high - low, high - E
    ranked = np.sort(E, axis=0)
    better = [
        [_first_difference(ranked[:, a] - ranked[:, b]) > 0 for b in range(E.shape[1])] for a in range(E.shape[1])
    ]
    order = 2.0 * np.arange(len(E), 0, -1) - 1.0
    with np.errstate(divide="ignore"):
        return {
            "utilitarian": E.mean(axis=0),
            "relative_utilitarian": (gain / room).mean(axis=0),
            "maximin": E.min(axis=0),
            "leximin": np.array(better).sum(axis=1).astype(float),
            "hurwicz": 0.5 * E.max(axis=0) + 0.5 * E.min(axis=0),
            "nash_social_welfare": np.log(np.maximum(E, 1e-6)).sum(axis=0),
            "alpha_fairness": 1.0 / (1.0 / np.maximum(E, 1e-6)).mean(axis=0),
            "atkinson": np.sqrt(E).mean(axis=0) ** 2,
            "generalised_gini": np.tensordot(order / order.sum(), ranked, axes=1),
            "sufficientarian": (E >= 0.5).mean(axis=0),
            "nash_bargaining": np.log(gain).sum(axis=0),
            "kalai_smorodinsky": (gain / room).min(axis=0),
            "egalitarian_equivalent": gain.min(axis=0),
            "L1": -regret.sum(axis=0),
            "L2": -np.sqrt((regret**2).sum(axis=0)),
            "L3": -np.cbrt((regret**3).sum(axis=0)),
            "Linf": -regret.max(axis=0),
            "minimax_regret": -regret.max(axis=0),
        }


def plain_decisions(E: np.ndarray) -> list[np.ndarray]:
    """Return the decisions of the plain version: ties go to the utilitarian sum, then to declared order."""
    totals = E.sum(axis=0)
    found = []
    for scores in plain_scores(E).values():
        best = scores.max(axis=0)
        level = scores >= best - 1e-12 * np.maximum(1.0, np.abs(best))
        sums = np.where(level, totals, -np.inf)
        highest = sums.max(axis=0)
        found.append((sums >= highest - 1e-12 * np.maximum(1.0, np.abs(highest))).argmax(axis=0))
    return found


def _first_difference(difference: np.ndarray) -> np.ndarray:
    first = (difference != 0).argmax(axis=0)
    return np.take_along_axis(difference, first[None], axis=0)[0]


def compare_with_plain(n_stakeholders: int, n_actions: int) -> None:
    """Print passes over E of our rules and of the plain ones, and whether they decide alike."""
    values = np.random.default_rng(0).random((n_stakeholders, n_actions, CONTEXTS))
    E = rewards(values)
    one_pass = fastest(values.sum, 10)
    found = decide(RULES, E, details=False)
    ours = {threads: fastest(lambda t=threads: decide(RULES, E, details=False, threads=t)) for threads in (1, THREADS)}
    start = time.perf_counter()
    theirs = plain_decisions(values)
    plain = time.perf_counter() - start
    same = np.mean([np.mean(a.codes == b) for a, b in zip(found, theirs, strict=True)])
    print(f"\n{CONTEXTS:,} contexts × {n_stakeholders} stakeholders × {n_actions} actions, {len(RULES)} rules together")
    print(f"one pass (E.sum)       {1e3 * one_pass:8.1f} ms   {values.nbytes / one_pass / 1e9:.0f} GB/s")
    for threads, seconds in ours.items():
        passes = seconds / one_pass
        print(
            f"ours, {threads} thread{'s' * (threads > 1):1}        {1e3 * seconds:8.1f} ms   {passes:5.1f} passes, "
            f"{passes / len(RULES):.2f} a rule   {1e9 * seconds / CONTEXTS / len(RULES):.1f} ns a rule and context"
        )
    print(f"plain numpy            {1e3 * plain:8.1f} ms   {plain / ours[THREADS]:5.1f} times ours")
    print(f"same decisions: {same:.6f} of all")
    print(f"each alone, passes on 1 thread (processor time), {THREADS} threads (wall):")
    used = fastest_processor(values.sum, 10)
    for rule in RULES:
        alone = [lambda t=threads, r=rule: decide([r], E, details=False, threads=t) for threads in (1, THREADS)]
        on_one, on_all = fastest_processor(alone[0]) / used, fastest(alone[1]) / one_pass
        print(f"  {rule.label:40} {on_one:5.2f} {on_all:5.2f}")


def libraries() -> None:
    """Print decisions per second of pymcdm and scikit-criteria, and how many of ours fit into one of theirs."""
    values = np.random.default_rng(1).random((3, 3, CONTEXTS_OF_PEERS))
    E = rewards(values)
    rule = [strategies.create("compromise_programming")]
    ours = CONTEXTS_OF_PEERS / fastest(lambda: decide(rule, E, details=False))
    print("\none distance rule, decisions a second, 3 criteria × 3 alternatives")
    print(f"ours             {ours:14,.0f}")
    for name, decision in (("pymcdm TOPSIS", _pymcdm()), ("scikit-criteria", _scikit_criteria())):
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            decision(values[:, :, done % CONTEXTS_OF_PEERS].T)
            done += 1
        theirs = done / (time.perf_counter() - start)
        print(f"{name:16} {theirs:14,.0f}   ours {ours / theirs:,.0f} times as many")


def _pymcdm() -> Callable[[np.ndarray], object]:
    from pymcdm.methods import TOPSIS

    method, weights, types = TOPSIS(), np.full(3, 1 / 3), np.ones(3)
    return lambda matrix: method(matrix, weights, types, validation=False)


def _scikit_criteria() -> Callable[[np.ndarray], object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import skcriteria
        from skcriteria.agg.topsis import TOPSIS
    importlib.metadata = sys.modules["importlib.metadata"]  # scikit-criteria deletes this attribute
    method, weights = TOPSIS(), np.full(3, 1 / 3)
    return lambda matrix: method.evaluate(skcriteria.mkdm(matrix, [max] * 3, weights=weights))


def growth(largest: int) -> None:
    """Print the cost per context and the memory that is not the mapped file, from 10^4 contexts up."""
    folder = Path(tempfile.mkdtemp(prefix="accordant-bench-"))
    print("\nfrom a mapped file of 3 × 3, actions counted block by block, one thread")
    try:
        for n in (10**k for k in range(4, 10)):
            if n > largest:
                break
            if 72 * n > shutil.disk_usage(folder).free / 2:
                print(f"{n:>12,} contexts   left out: {72 * n / 1e9:.1f} GB do not fit on the disk")
                break
            E = rewards(_mapped(folder / f"{n}.npy", n))
            counts = np.zeros((len(RULES), 3), dtype=np.int64)
            before, start = _anonymous_megabytes(), time.perf_counter()
            most = before
            for _, chosen in decide_in_blocks(RULES, E):
                counts += [np.bincount(each.codes, minlength=3) for each in chosen]
                most = max(most, _anonymous_megabytes())
            seconds = time.perf_counter() - start
            assert (counts.sum(axis=1) == n).all()
            print(
                f"{n:>12,} contexts   {1e9 * seconds / n / len(RULES):6.1f} ns a rule and context   "
                f"memory {most - before:+6.1f} MB"
            )
            del E
            (folder / f"{n}.npy").unlink()
    finally:
        shutil.rmtree(folder)


def _mapped(path: Path, n: int) -> np.ndarray:
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(3, 3, n))
    generator, step = np.random.default_rng(2), 1 << 20
    for row in array.reshape(9, n):
        for first in range(0, n, step):
            row[first : first + step] = generator.random(min(step, n - first))
    array.flush()
    del array
    return np.load(path, mmap_mode="r")


def _anonymous_megabytes() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Print every comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=float, default=1e7, help="number of contexts to grow to")
    arguments = parser.parse_args()
    assert all(isinstance(rule, ContextRule) for rule in RULES)
    fold.PATIENCE = 0.0  # kernels are compiled before they are timed
    compare_with_plain(3, 3)
    compare_with_plain(5, 6)
    libraries()
    growth(int(arguments.largest))


if __name__ == "__main__":
    main()
