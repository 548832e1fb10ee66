"""How a teacher's margins m* enter the loss of the unified reward. All of it is ours.

    mse      mean of −log σ(D) + λ Σ_g w_g E_g[open (D − m*)²]
    soft     (1 − λ) mean of −log σ(D) + λ Σ_g w_g E_g[BCE(σ(D), open ? σ(m* / T) : 1)]
    offset   Σ_g w_g E_g[−log σ(D − c open max(m*, 0))]

The mean is over all records, E_g over those of a group; BCE is the cross-entropy of the first by the second. A gate
says where a teacher is followed (open is 1): everywhere, where it is right (m* > 0), or where it is better than the
pooled reward (m* > D_pooled). Each loss with ½ ridge |θ|² is one convex `LogisticProblem`.

Limits: λ = 0, and c = 0 with w_g by size, are the pooled reward; soft with T = 1, λ = 1 and m* = ∞ for every record as
well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.learners.shared import Design
from accordant.preferences.learners.solving.logistic import LogisticProblem, Pull, sigmoid

Loss = Literal["mse", "soft", "offset"]
Gate = Literal["none", "right", "better"]


@dataclass(frozen=True)
class Supervision:
    """A loss and its gate.

    Parameters
    ----------
    loss, gate
        See above.
    strength
        λ: for ``"mse"`` at least 0; for ``"soft"`` in [0, 1]; ``"offset"`` reads c instead.
    temperature
        T, above 0; for ``"soft"``.
    offset
        c, at least 0; for ``"offset"``.
    """

    loss: Loss = "mse"
    gate: Gate = "none"
    strength: float = 1.0
    temperature: float = 1.0
    offset: float = 0.5

    def __post_init__(self) -> None:
        for kind, found, allowed in (("loss", self.loss, Loss), ("gate", self.gate, Gate)):
            if found not in get_args(allowed):
                raise UnknownNameError(kind, found, get_args(allowed))
        for name in ("strength", "offset"):
            if not 0 <= getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: at least 0")
        if self.loss == "soft" and self.strength > 1:
            raise InputError(f"strength is {self.strength}; allowed for the loss 'soft': 0 to 1")
        if not 0 < self.temperature < np.inf:
            raise InputError(f"temperature is {self.temperature}; allowed: above 0")

    def open_gate(self, teacher: Values, pooled: Values) -> Mask:
        """Return where the teacher is followed, shape (record,).

        Parameters
        ----------
        teacher
            m*, shape (record,).
        pooled
            Margins of the pooled reward, shape (record,).
        """
        if np.ndim(teacher) != 1 or np.shape(teacher) != np.shape(pooled):
            raise InputError(f"margins have shapes {np.shape(teacher)} and {np.shape(pooled)}; allowed: (record,) both")
        if self.gate == "none":
            return np.ones(len(teacher), dtype=bool)
        return np.asarray(teacher > (0.0 if self.gate == "right" else pooled))

    def problem(
        self, design: Design, *, teacher: Values, pooled: Values, plain: Values, taught: Values, ridge: float
    ) -> LogisticProblem:
        """Return the convex problem of the unified reward.

        Parameters
        ----------
        design
            How its coefficients become margins.
        teacher, pooled
            See `open_gate`.
        plain, taught
            Weights of the plain mean and of Σ_g w_g E_g, each with the sum 1, shape (record,).
        ridge
            Above 0.
        """
        follows = self.open_gate(teacher, pooled)
        if self.loss == "mse":
            return design.problem(weights=plain, ridge=ridge, pull=Pull(teacher, self.strength * taught * follows))
        if self.loss == "offset":
            return design.problem(weights=taught, ridge=ridge, offsets=-self.offset * follows * np.maximum(teacher, 0))
        # cross-entropy is linear in its target: two targets of a record are one, at their weighted mean
        hard, soft = (1.0 - self.strength) * plain, self.strength * taught
        wanted = np.where(follows, sigmoid(teacher / self.temperature), 1.0)
        both = hard + soft
        targets = np.divide(hard + soft * wanted, both, out=np.ones_like(both), where=both > 0)
        return design.problem(weights=both, targets=targets, ridge=ridge)
