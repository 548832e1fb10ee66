"""Distance rules: Φ is minus how far stakeholders fall short of their ideal point u*.

compromise_programming  the smallest weighted L_p distance (Zeleny 1973, Yu 1973)
minimax_regret          whoever misses most should miss as little as possible (Savage 1951)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.compiled import compiled
from accordant.errors import InputError
from accordant.strategies.block import Block, weighted_sum
from accordant.strategies.compromise import Compromise, PointCompromise, Scored
from accordant.strategies.reference_points import per_context
from accordant.strategies.strategy import Structure, register

MULTIPLIED = 8  # whole exponents up to here are products of shortfalls, which is faster than powers
NEGLIGIBLE = 1e-30  # stands for a relative shortfall of 0, whose power is slow to take


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
    distance = block.scores()
    if np.isinf(exponent):
        largest_shortfall(block.values, ideal, weights, two_sided, distance)
    elif exponent <= MULTIPLIED and float(exponent).is_integer():
        sum_of_powers(block.values, ideal, weights, two_sided, int(exponent), distance)
        if exponent == 2:
            np.sqrt(distance, out=distance)
        elif exponent > 2:
            np.power(distance, 1.0 / exponent, out=distance)
    else:
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


@compiled
def largest_shortfall(values: Values, ideal: Values, weights: Values, two_sided: bool, largest: Values) -> None:
    """Write max_i w_i |u*[i, t] − E[i, a, t]|, one-sided unless told, shape (action, context).

    In NumPy::

        short = weights[:, None, None] * (ideal[:, None] - values)
        largest[:] = (abs(short) if two_sided else np.maximum(0.0, short)).max(axis=0)
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    excess = 1.0 if two_sided else 0.0
    for a in range(n_actions):
        out = largest[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            best, weight, row = ideal[i], weights[i], values[i, a]
            for t in range(n_contexts):
                short = weight * (best[t] - row[t])
                beyond = -excess * short
                lacking = short if short > beyond else beyond
                reached = out[t]
                out[t] = lacking if lacking > reached else reached


@compiled
def sum_of_powers(
    values: Values, ideal: Values, weights: Values, two_sided: bool, exponent: int, total: Values
) -> None:
    """Write Σ_i w_i |u*[i, t] − E[i, a, t]|^p for a whole p, one-sided unless told, shape (action, context).

    In NumPy::

        short = ideal[:, None] - values
        lacking = abs(short) if two_sided else np.maximum(0.0, short)
        total[:] = np.tensordot(weights, lacking**exponent, axes=1)
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    excess = 1.0 if two_sided else 0.0
    lacking, power = np.empty(n_contexts), np.empty(n_contexts)
    for a in range(n_actions):
        out = total[a]
        out[:] = 0.0
        for i in range(n_stakeholders):
            best, weight, row = ideal[i], weights[i], values[i, a]
            if exponent <= 2:
                square = exponent - 1.0
                for t in range(n_contexts):
                    short = best[t] - row[t]
                    beyond = -excess * short
                    lack = short if short > beyond else beyond
                    out[t] += weight * lack * (square * lack + (1.0 - square))
                continue
            for t in range(n_contexts):
                short = best[t] - row[t]
                beyond = -excess * short
                lacking[t] = short if short > beyond else beyond
                power[t] = lacking[t] * lacking[t]
            for _ in range(exponent - 2):
                for t in range(n_contexts):
                    power[t] *= lacking[t]
            for t in range(n_contexts):
                out[t] += weight * power[t]


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
        found = super().structure(frozen=frozen)
        return "column_peaked" if self.two_sided and found == "column_score" else found

    def peaks(self, block: Block) -> Values:
        """Return where a two-sided score is highest, shape (stakeholder, context) or (stakeholder, 1)."""
        return self.ideal_point(block)

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
    """Minimise max_i w_i (max_b E[i, b, t] − E[i, a, t]); scores are minus the largest regret.

    Made for decisions under ignorance, with stakeholders in the place of states of the world. Chooses as compromise
    programming with p = ∞ and the ideal point of the context. An action that nobody prefers may change the choice.
    """

    def structure(self, *, frozen: bool = False) -> Structure:
        """Return ``column_score`` if the best rewards of the context stay what they were."""
        return "column_score" if frozen else "other"

    def score(self, block: Block, weights: Values) -> Scored:
        """Return minus the largest regrets."""
        regret = block.scores()
        largest_shortfall(block.values, block.reference.highs, weights, False, regret)
        return Scored(np.negative(regret, out=regret), quantities={"ideal": block.reference.highs})
