"""Pooled Bradley–Terry against scikit-learn's logistic regression, to the same gradient.

    python -m benchmarks.bradley_terry            100,000 records × 384 features
    python -m benchmarks.bradley_terry --quick    10,000 × 96
    python -m benchmarks.bradley_terry --profile  where our time goes instead

Work: minimise the mean of −log σ(θ · x) plus ridge / 2 |θ|² over differences x of chosen and rejected items, until the
largest entry of the gradient is at most 10⁻⁸. Peers: scikit-learn's `LogisticRegression` without intercept, solvers
lbfgs and newton-cholesky, with C = 1 / (ridge · records), on the same differences with random signs and the labels that
belong to them, because it wants two classes. A peer's tolerance is tightened tenfold until *its* gradient, computed
here, is small enough, or until that brings it no further; what was reached is printed.

Two spectra: isotropic, and features whose scale falls like 1 / j, as those of principal components do. CPU time of one
thread, best of several repeats that take turns; a ratio below 1 means that accordant is faster.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from accordant.preferences.learners.logistic import ConvexProblem, LogisticProblem

RIDGE, WANTED = 1e-4, 1e-8
SIZE, QUICK = (100_000, 384), (10_000, 96)
MARGIN = 1.5  # standard deviation of true margins: some 77 % of the choices go to the better item
SOLVERS = ("lbfgs", "newton-cholesky")
MOST_STEPS = 20_000  # of a peer
TIGHTENINGS = 4


@dataclass(frozen=True)
class Fit:
    """One fit: seconds of CPU, the largest entry of the gradient, and steps."""

    seconds: float
    gradient: float
    steps: int


def world(n_records: int, n_features: int, spectrum: str) -> np.ndarray:
    """Return differences of chosen less rejected items, shape (record, feature)."""
    generator = np.random.default_rng(0)
    scales = 1.0 / np.arange(1, n_features + 1) if spectrum == "decaying" else np.ones(n_features)
    differences = generator.normal(size=(n_records, n_features)) * scales
    truth = generator.normal(size=n_features)
    truth *= MARGIN / np.linalg.norm(truth * scales)
    chosen = generator.random(n_records) < 1.0 / (1.0 + np.exp(-differences @ truth))
    return differences * np.where(chosen, 1.0, -1.0)[:, None]


def gradient(differences: np.ndarray, coefficients: np.ndarray) -> float:
    """Return the largest entry of the gradient, in absolute value."""
    lost = 1.0 / (1.0 + np.exp(differences @ coefficients))
    return float(np.abs(RIDGE * coefficients - lost @ differences / len(differences)).max())


def timed(work: Callable[[], tuple[np.ndarray, int]], differences: np.ndarray) -> Fit:
    """Return what one fit costs and reaches."""
    start = time.process_time()
    coefficients, steps = work()
    seconds = time.process_time() - start
    return Fit(seconds, gradient(differences, coefficients), steps)


def ours(differences: np.ndarray) -> Fit:
    """Fit with accordant."""

    def work() -> tuple[np.ndarray, int]:
        found = LogisticProblem(differences, ridge=RIDGE).solve(tolerance=WANTED)
        return found.coefficients, found.steps

    return timed(work, differences)


def theirs(differences: np.ndarray, flips: np.ndarray, solver: str, tolerance: float) -> Fit:
    """Fit with scikit-learn; turning signs is not timed."""
    flipped, labels = differences * flips[:, None], (flips > 0).astype(int)
    model = LogisticRegression(
        C=1.0 / (RIDGE * len(differences)), fit_intercept=False, solver=solver, tol=tolerance, max_iter=MOST_STEPS
    )

    def work() -> tuple[np.ndarray, int]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the gradient is printed
            model.fit(flipped, labels)
        return model.coef_[0], int(model.n_iter_[0])

    return timed(work, differences)


def tightened(differences: np.ndarray, flips: np.ndarray, solver: str) -> tuple[float, Fit]:
    """Return the loosest tolerance with which a peer reaches the gradient wanted, or gets furthest, and its fit."""
    tolerance = WANTED
    best = theirs(differences, flips, solver, tolerance)
    for power in range(1, TIGHTENINGS + 1):
        if best.gradient <= WANTED:
            break
        further = theirs(differences, flips, solver, WANTED * 0.1**power)
        if further.gradient >= best.gradient:
            break
        tolerance, best = WANTED * 0.1**power, further
    return tolerance, best


def compare(size: tuple[int, int], spectrum: str, repeats: int) -> None:
    """Print one line for accordant and one for each peer."""
    differences = world(*size, spectrum)
    flips = np.where(np.random.default_rng(1).random(size[0]) < 0.5, 1.0, -1.0)
    peers = {solver: tightened(differences, flips, solver) for solver in SOLVERS}
    own = [ours(differences)]
    fits = {solver: [fit] for solver, (_, fit) in peers.items()}
    for _ in range(repeats - 1):
        own.append(ours(differences))
        for solver, (tolerance, _) in peers.items():
            fits[solver].append(theirs(differences, flips, solver, tolerance))
    here = min(own, key=lambda fit: fit.seconds)
    print(f"{spectrum:11}{'accordant':17}{'':9}{here.seconds:9.2f}{here.steps:7}{here.gradient:11.1e}")
    for solver, (tolerance, _) in peers.items():
        there = min(fits[solver], key=lambda fit: fit.seconds)
        print(
            f"{spectrum:11}{solver:17}{tolerance:9.0e}{there.seconds:9.2f}{there.steps:7}{there.gradient:11.1e}"
            f"{here.seconds / there.seconds:8.2f}",
            flush=True,
        )


class Watched(LogisticProblem):
    """The same problem, which writes down the CPU time of each of its parts, without that of parts they call."""

    def watch(self) -> dict[str, list[float]]:
        """Return seconds of each call by name, filled while the problem is solved."""
        spent: dict[str, list[float]] = defaultdict(list)
        inside: list[float] = []  # seconds of parts called by those that are running, innermost last

        def clocked(name: str, work: Callable[..., object]) -> Callable[..., object]:
            """Return the same function, with its time written down."""

            def run(*arguments: object) -> object:
                inside.append(0.0)
                start = time.process_time()
                found = work(*arguments)
                seconds = time.process_time() - start
                spent[name].append(seconds - inside.pop())
                if inside:
                    inside[-1] += seconds
                return clocked(f"{name} product", found) if callable(found) else found

            return run

        for name in ConvexProblem.__abstractmethods__ - {"start"}:
            object.__setattr__(self, name, clocked(name, getattr(self, name)))
        return spent


def profile(size: tuple[int, int], spectrum: str) -> None:
    """Print where our time goes."""
    problem = Watched(world(*size, spectrum), ridge=RIDGE)
    spent = problem.watch()
    start = time.process_time()
    found = problem.solve(tolerance=WANTED)
    seconds = time.process_time() - start
    print(f"\n{spectrum}: {seconds:.2f} s, {found.steps} steps, gradient {found.gradient:.1e}")
    spent["rest"] = [seconds - sum(map(sum, spent.values()))]
    for name, times in sorted(spent.items(), key=lambda each: -sum(each[1])):
        print(f"  {name:19}{len(times):5} calls{sum(times):8.2f} s{sum(times) / seconds:7.0%}")


def main() -> None:
    """Print one table, or the profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    size = QUICK if given.quick else SIZE
    print(f"{size[0]:,} records × {size[1]} features, ridge {RIDGE:g}, largest gradient entry wanted {WANTED:g}")
    with threadpool_limits(1):
        if not given.profile:
            print(f"{'spectrum':11}{'solver':17}{'tol':>9}{'seconds':>9}{'steps':>7}{'gradient':>11}{'ratio':>8}")
        for spectrum in ("isotropic", "decaying"):
            if given.profile:
                profile(size, spectrum)
            else:
                compare(size, spectrum, given.repeats)


if __name__ == "__main__":
    main()
