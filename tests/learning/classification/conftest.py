"""Small loan files for the tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import softmax

OUTCOMES = np.array(["Fully Repaid", "Partially Repaid", "Not Repaid"])
"""The declared order; on purpose not the sorted one."""


@dataclass(frozen=True)
class Loans:
    X: NDArray[np.float64]
    y: NDArray[np.str_]


def draw_loans(n: int, seed: int, *, signal: float = 1.0) -> Loans:
    """Income, score, amount, rate in their own units; default rises with the rate and falls with income."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 4))
    scores = np.column_stack([np.full(n, 1.5), np.full(n, -1.5), signal * (z[:, 3] - 0.6 * z[:, 0])])
    codes = (rng.random(n)[:, None] > softmax(scores, axis=1).cumsum(axis=1)).sum(axis=1).clip(0, 2)
    X = np.column_stack(
        [np.exp(11 + 0.5 * z[:, 0]), 700 + 30 * z[:, 1], 1e4 * np.exp(0.5 * z[:, 2]), 0.12 + 0.03 * z[:, 3]]
    )
    return Loans(X, OUTCOMES[codes])


@pytest.fixture(scope="session")
def loans() -> Loans:
    return draw_loans(600, 1)


@pytest.fixture(scope="session")
def fresh_loans() -> Loans:
    return draw_loans(3000, 2)
