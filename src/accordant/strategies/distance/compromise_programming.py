"""Compromise programming: the smallest weighted L_p distance from the ideal point (Zeleny 1973, Yu 1973)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import PointCompromise, Scored
from accordant.strategies.distance.shortfalls import distance_to_ideal
from accordant.strategies.reference_points import per_context
from accordant.strategies.strategy import Structure, register


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

    def peaks(self, block: Block) -> NDArray[np.float64]:
        """Return where a two-sided score is highest, shape (stakeholder, context) or (stakeholder, 1)."""
        return self.ideal_point(block)

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return minus the distances."""
        ideal = self.ideal_point(block)
        heard, say = block.heard(weights), weights > 0
        points = per_context(ideal, block, say)
        distance = distance_to_ideal(heard, points, weights[say], exponent=self.exponent, two_sided=self.two_sided)
        return Scored(np.negative(distance, out=distance), quantities={"ideal": ideal})
