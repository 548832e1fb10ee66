"""Compromise programming: the smallest weighted L_p distance from the ideal point (Zeleny 1973, Yu 1973)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.strategies.compromise.rule import PointCompromise, Scored
from accordant.strategies.strategy import Scores, register
from accordant.utilities import ExpectedRewards


def distance_to_ideal(
    values: NDArray[np.floating],
    ideal: NDArray[np.floating],
    weights: NDArray[np.float64],
    *,
    exponent: float,
    two_sided: bool,
) -> Scores:
    """Return (Σ_i w_i |u*[i, t] − E[i, a, t]|^p)^(1/p), or max_i w_i |…| for p = ∞, shape (action, context).

    One-sided by default: exceeding an ideal (possible with fixed ideal points) is never punished.
    """
    shortfall = ideal[:, None] - values
    shortfall = np.abs(shortfall) if two_sided else np.maximum(0.0, shortfall)
    if np.isinf(exponent):
        return np.asarray((weights[:, None, None] * shortfall).max(axis=0))
    if exponent <= 2:
        return np.asarray(np.tensordot(weights, shortfall**exponent, axes=1) ** (1.0 / exponent))
    largest = shortfall.max(axis=0)  # high powers of small numbers vanish, so they are taken relative to it
    relative = shortfall / np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * np.tensordot(weights, relative**exponent, axes=1) ** (1.0 / exponent))


@register("compromise_programming")
@dataclass(frozen=True)
class CompromiseProgramming(PointCompromise):
    """Minimise the distance to the ideal point; scores are minus the distance.

    Weights multiply shortfalls after the power, as in the framework; with unequal weights the rule for p → ∞
    therefore differs from the one for p = ∞, which compares weighted shortfalls.

    Parameters
    ----------
    exponent
        p of the L_p distance, at least 1; ``inf`` for the largest shortfall.
    two_sided
        Punish exceeding an ideal like falling short of it (the literal formula).
    """

    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("ideal",)

    exponent: float = 2.0
    two_sided: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.exponent >= 1:
            raise InputError(f"exponent is {self.exponent}; allowed: at least 1, or inf")

    @property
    def label(self) -> str:
        """Name with the mode of the ideal point, the exponent if it is not 2, and whether it is two-sided."""
        exponent = "" if self.exponent == 2 else f"[L{self.exponent:g}]"
        return super().label + exponent + ("[two-sided]" if self.two_sided else "")

    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return minus the distances."""
        ideal = self.ideal_point(expected)
        distance = distance_to_ideal(expected.values, ideal, weights, exponent=self.exponent, two_sided=self.two_sided)
        return Scored(-distance, quantities={"ideal": ideal})
