"""Simulated loan files of very different kinds, with their true outcome probabilities.

Every file has the four columns of a lending file (income, credit score, loan amount, interest rate; very
different scales) and, unless said otherwise, the three outcomes of one. Because the truth P(o | x) is
known, a model's excess risk  mean_t sum_o (p_o - P_o)^2  can be told apart from noise in the outcomes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from accordant.arrays import Values

OUTCOMES = np.array(["Fully Repaid", "Not Repaid", "Partially Repaid"])


@dataclass(frozen=True)
class LoanFile:
    """X (n, features), labels y (n,), and the true probabilities (n, 3) in the order of `OUTCOMES`."""

    name: str
    X: Values
    y: NDArray[np.str_]
    truth: Values


def loan_features(n: int, rng: np.random.Generator) -> Values:
    """Draw n applicants: income (log-normal), score, amount, rate (falls with the score)."""
    income = np.exp(rng.normal(11.1, 0.5, n))
    score = np.clip(rng.normal(700, 32, n), 610, 845)
    amount = np.clip(np.exp(rng.normal(9.3, 0.6, n)), 500, 35000)
    rate = np.clip(0.125 - 0.0006 * (score - 700) + rng.normal(0, 0.03, n), 0.05, 0.29)
    return np.column_stack([income, score, amount, rate])


def standardised(X: Values) -> Values:
    """Put the columns on one scale with fixed constants, so that the truth does not depend on the draw."""
    scaled: Values = np.column_stack(
        [
            (np.log(X[:, 0]) - 11.1) / 0.5,
            (X[:, 1] - 700) / 32,
            (np.log(X[:, 2]) - 9.3) / 0.6,
            (X[:, 3] - 0.125) / 0.035,
        ]
    )
    return scaled


def smooth(z: Values) -> Values:
    """A weak additive signal, as in real loan files."""
    return np.column_stack([np.full(len(z), 1.7), 0.5 * z[:, 3] - 0.3 * z[:, 0], np.full(len(z), -2.5)])


def nonlinear(z: Values) -> Values:
    """Strong, non-monotone: those at both ends of the rate default, waves along the score."""
    return np.column_stack([1.2 + 0 * z[:, 0], 1.5 * z[:, 3] ** 2 - 1.5, 1.5 * np.sin(3 * z[:, 1]) - 1.0])


def interacting(z: Values) -> Values:
    """Nothing but products of two features: every single-feature effect averages out."""
    return np.column_stack([1.0 + 0 * z[:, 0], 2.0 * z[:, 0] * z[:, 2], 1.5 * z[:, 1] * z[:, 3] - 1.0])


def even(z: Values) -> Values:
    """Two outcomes about as frequent as each other."""
    return np.column_stack([0 * z[:, 0], 0.8 * z[:, 3] - 0.5 * z[:, 1], np.full(len(z), -40.0)])


def noise(z: Values) -> Values:
    """No feature matters."""
    return np.tile([1.7, 0.0, -2.5], (len(z), 1))


def steps(z: Values) -> Values:
    """Hard thresholds, as a credit policy makes them."""
    return np.column_stack(
        [1.0 + 0 * z[:, 0], 3.0 * ((z[:, 3] > 0.5) & (z[:, 1] < 0.3)) - 1.0, 2.0 * (z[:, 2] > 1.0) - 2.0]
    )


def bent(z: Values) -> Values:
    """Kinks, one weak product and one weak threshold: no candidate has quite this form."""
    kinks = 0.9 * np.maximum(0, z[:, 3]) - 0.5 * np.minimum(z[:, 0], 0.3)
    return np.column_stack([np.full(len(z), 1.7), kinks + 0.25 * z[:, 0] * z[:, 2], 0.3 * (z[:, 1] < -0.5) - 2.2])


def draw(name: str, score: Callable[[Values], Values], n: int, seed: int) -> LoanFile:
    """Draw a file of n rows whose outcomes follow softmax(score(standardised features))."""
    rng = np.random.default_rng(seed)
    X = loan_features(n, rng)
    truth: Values = softmax(score(standardised(X)), axis=1)
    codes = (rng.random(n)[:, None] > np.cumsum(truth, axis=1)).sum(axis=1).clip(0, 2)
    return LoanFile(name, X, OUTCOMES[codes], truth)


def rare(n: int, seed: int) -> LoanFile:
    """The smooth file in which exactly five rows are partially repaid."""
    file = draw("rare class of 5", lambda z: smooth(z) - np.array([0, 0, 40.0]), n, seed)
    y = file.y.copy()
    y[np.random.default_rng(seed + 1).choice(n, 5, replace=False)] = OUTCOMES[2]
    rate = 5 / n
    return LoanFile(file.name, file.X, y, np.column_stack([file.truth[:, :2] * (1 - rate), np.full(n, rate)]))


def untidy(n: int, seed: int) -> LoanFile:
    """The smooth file with a constant column, a column times 1e9, and a third of the rows twice."""
    file = draw("untidy", smooth, n - n // 4, seed)
    keep = np.r_[0 : len(file.y), 0 : n // 4]
    X = np.column_stack([file.X, np.full(len(file.y), 3.0), file.X[:, 3] * 1e9])
    return LoanFile(file.name, X[keep], file.y[keep], file.truth[keep])


def wide(n: int, seed: int) -> LoanFile:
    """The smooth file with eight more columns that say nothing."""
    file = draw("wide 1500", smooth, n, seed)
    irrelevant = np.random.default_rng(seed + 7).normal(size=(n, 8))
    return LoanFile(file.name, np.column_stack([file.X, irrelevant]), file.y, file.truth)


SIMULATED: dict[str, Callable[[int], LoanFile]] = {
    "smooth 2100": lambda seed: draw("smooth 2100", smooth, 2100, seed),
    "smooth 400": lambda seed: draw("smooth 400", smooth, 400, seed),
    "nonlinear 2100": lambda seed: draw("nonlinear 2100", nonlinear, 2100, seed),
    "interacting 2100": lambda seed: draw("interacting 2100", interacting, 2100, seed),
    "even 2100": lambda seed: draw("even 2100", even, 2100, seed),
    "steps 2100": lambda seed: draw("steps 2100", steps, 2100, seed),
    "noise 2100": lambda seed: draw("noise 2100", noise, 2100, seed),
    "noise 400": lambda seed: draw("noise 400", noise, 400, seed),
    "rare class of 5": lambda seed: rare(2100, seed),
    "untidy": lambda seed: untidy(2100, seed),
    "nonlinear 400": lambda seed: draw("nonlinear 400", nonlinear, 400, seed),
    "steps 30000": lambda seed: draw("steps 30000", steps, 30_000, seed),
    "bent 2600": lambda seed: draw("bent 2600", bent, 2600, seed),
    "bent 900": lambda seed: draw("bent 900", bent, 900, seed),
    "wide 1500": lambda seed: wide(1500, seed),
}
