"""Distance rules: Φ is minus how far stakeholders fall short of their ideal point u*.

compromise_programming  the smallest weighted L_p distance (Zeleny 1973, Yu 1973)
minimax_regret          whoever misses most should miss as little as possible (Savage 1951)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, PointCompromise, Scored
from accordant.strategies.fold import Fold, Formula, fold, negative
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.reference_points import per_context
from accordant.strategies.strategy import Structure, register

MULTIPLIED = 8  # whole exponents up to here are products of shortfalls, which is faster than powers
NEGLIGIBLE = 1e-30  # stands for a relative shortfall of 0, whose power is slow to take


@fold(start=0.0, finish=negative)
def largest_shortfall(total: float, reward: float, high: float, weight: float, level: float) -> float:
    """−max_i w_i |u*[i, t] − E[i, a, t]|; one-sided where the level, the weight of what exceeds, is 0 and not 1.

    In NumPy::

        short = weights[:, None, None] * (high[:, None] - values)
        scores[:] = -np.maximum(0.0, np.maximum(short, -levels[:, None, None] * short)).max(axis=0)
    """
    short = weight * (high - reward)
    beyond = -level * short
    lacking = short if short > beyond else beyond
    return lacking if lacking > total else total


@functools.cache
def sum_of_powers(exponent: int) -> Fold:
    """Return −Σ_i w_i |u*[i, t] − E[i, a, t]|^p for a whole p as a fold; one-sided as `largest_shortfall` is."""

    def shortfall(total: float, reward: float, high: float, weight: float, level: float) -> float:
        """−Σ_i w_i |u*[i, t] − E[i, a, t]|^p.

        In NumPy::

            short = high[:, None] - values
            lacking = np.maximum(short, -levels[:, None, None] * short)
            scores[:] = -np.tensordot(weights, lacking**exponent, axes=1)
        """
        short = high - reward
        beyond = -level * short
        lacking = short if short > beyond else beyond
        if exponent == 1:
            return total + weight * lacking
        if exponent == 2:
            return total + weight * lacking * lacking
        power = lacking * lacking
        for _ in range(exponent - 2):
            power *= lacking
        return total + weight * power

    return fold(start=0.0, finish=negative)(shortfall)


def distance_formula(ideal: Values | None, weights: Values, *, exponent: float, two_sided: bool) -> Formula | None:
    """Return minus the distance, or for p of at least 2 minus its p-th power, as a fold; None for broken and high p.

    p-th powers that differ by a thousand tolerances, times the larger of 1 and the power, are roots that differ by more
    than the tolerance, times the larger of 1 and the root: x^p − y^p is at most p x^(p−1) (x − y), and p at most 8.
    """
    levels = np.full(len(weights), float(two_sided))
    if np.isinf(exponent):
        return Formula(largest_shortfall, weights, high=ideal, levels=levels)
    if exponent > MULTIPLIED or not float(exponent).is_integer():
        return None
    powers = sum_of_powers(int(exponent))
    return Formula(powers, weights, high=ideal, levels=levels, filter="" if exponent == 1 else "absolute")


def distance_to_ideal(block: Block, ideal: Values, weights: Values, *, exponent: float, two_sided: bool) -> Values:
    """Return (Σ_i w_i |u*[i, t] − E[i, a, t]|^p)^(1/p), or max_i w_i |…| for p = ∞, shape (action, context).

    Parameters
    ----------
    block
        E.
    ideal
        u*, shape (stakeholder, context).
    weights
        Shape (stakeholder,).
    exponent
        p, at least 1.
    two_sided
        Whether exceeding an ideal (possible with fixed ideal points) counts like falling short of it.
    """
    formula = distance_formula(ideal, weights, exponent=exponent, two_sided=two_sided)
    if formula is not None:
        distance = formula.scores(block)
        np.negative(distance, out=distance)
        if exponent == 2:
            np.sqrt(distance, out=distance)
        elif 2 < exponent < np.inf:
            np.power(distance, 1.0 / exponent, out=distance)
    else:
        distance = block.scores()
        # high powers of small numbers vanish, so shortfalls are taken relative to the largest
        relative = np.subtract(ideal[:, None], block.values, out=block.scratch.take(*block.values.shape))
        if two_sided:
            np.abs(relative, out=relative)
        largest = np.maximum(relative.max(axis=0), 0.0)
        relative /= np.where(largest > 0, largest, 1.0)
        np.power(np.maximum(relative, NEGLIGIBLE, out=relative), exponent, out=relative)
        weighted_sum(relative, weights, distance)
        np.power(distance, 1.0 / exponent, out=distance)
        distance *= largest
    return distance


@register("compromise_programming")
@dataclass(frozen=True)
class CompromiseProgramming(PointCompromise):
    """Minimise the distance to the ideal point; scores are minus the distance.

    Weights multiply shortfalls after the power, as in the framework; with unequal weights the rule for p → ∞
    therefore differs from the one for p = ∞, which compares weighted shortfalls. Exceeding an ideal (possible with
    fixed ideal points) is not punished.

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

    def structure(self, *, frozen: bool = False) -> Structure:
        """As for all rules with reference points; a two-sided distance grows on both sides of the ideal."""
        structure = super().structure(frozen=frozen)
        return "column_peaked" if self.two_sided and structure == "column_score" else structure

    def peaks(self, block: Block) -> Values:
        """Return where a two-sided score is highest, shape (stakeholder, context) or (stakeholder, 1)."""
        return self.ideal_point(block)

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the distance, or a power of it, where that is a fold."""
        has_weight = weights > 0
        points = self.ideal_of(block, has_weight)
        return distance_formula(points, weights[has_weight], exponent=self.exponent, two_sided=self.two_sided)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return minus the distances."""
        ideal = self.ideal_point(block)
        kept, has_weight = block.with_weight(weights), weights > 0
        points = per_context(ideal, block, has_weight)
        distance = distance_to_ideal(
            kept, points, weights[has_weight], exponent=self.exponent, two_sided=self.two_sided
        )
        return Scored(np.negative(distance, out=distance), quantities={"ideal": ideal})


@register("minimax_regret")
@dataclass(frozen=True)
class MinimaxRegret(Compromise):
    """Minimise the largest regret of a stakeholder, max_i w_i (max_b E[i, b, t] − E[i, a, t]); scores are minus it.

    Made for decisions under ignorance, with stakeholders in the place of states of the world. Chooses as compromise
    programming with p = ∞ and the ideal point of the context. An action that nobody prefers may change the choice.
    """

    def structure(self, *, frozen: bool = False) -> Structure:
        """Return ``column_score`` if the best rewards of the context stay what they were."""
        return "column_score" if frozen else "other"

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return minus the largest regret."""
        has_weight = weights > 0
        highs = None if block.reference is block else per_context(block.reference.highs, block, has_weight)
        return Formula(largest_shortfall, weights[has_weight], high=highs, levels=np.zeros(int(has_weight.sum())))

    def score(self, block: Block, weights: Values) -> Scored:
        """Return minus the largest regrets."""
        return replace(super().score(block, weights), quantities={"ideal": block.reference.highs})
