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

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import json_value
from accordant.preferences.learners.bradley_terry import Design
from accordant.preferences.learners.learner import RewardModel
from accordant.preferences.learners.logistic import LogisticProblem, Pull, sigmoid
from accordant.preferences.records import Comparisons

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
        for kind, choice, allowed in (("loss", self.loss, Loss), ("gate", self.gate, Gate)):
            if choice not in get_args(allowed):
                raise UnknownNameError(kind, choice, get_args(allowed))
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


@dataclass(frozen=True)
class Taught:
    """What one group was taught with.

    Attributes
    ----------
    group
        Its name.
    users, records
        Those with weight.
    prior
        Of its specialist, in units of records; infinite if that is the pooled reward.
    accuracy, pooled_accuracy
        Weighted share of training records on which the margin of the teacher, and of the pooled reward, is above 0; a
        margin of 0 counts one half.
    held_out, pooled_held_out
        The same of the specialist, and of the pooled reward that it starts from, on records that neither saw; NaN if
        none could be held out.
    followed
        Weighted share of training records on which the gate is open.
    """

    group: str
    users: int
    records: int
    prior: float
    accuracy: float
    pooled_accuracy: float
    held_out: float
    pooled_held_out: float
    followed: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is infinite or unknown is None."""
        content: dict[str, Any] = json_value(asdict(self))
        return content


@dataclass(frozen=True, eq=False)
class DistilledReward(RewardModel):
    """One reward for everybody, taught by rewards of groups; it never reads a group.

    Attributes
    ----------
    unified
        The reward that answers.
    controls
        ``"pooled"``, ``"balanced"`` and ``"group_robust"``: the same context, no teacher. ``"pooled_teacher"`` and
        ``"pooled_teacher_balanced"``: the same loss, taught by the pooled reward, with groups by size and alike. If
        specialists read no context and the unified reward does, ``"contextless_teacher"`` too: taught by the pooled
        reward that they start from, with the groups weighing as for the unified reward. What a control gains as well is
        no merit of groups.
    specialists
        The rewards of the groups.
    taught
        What each group was taught with.
    groups
        How the groups were found: plain values.
    parameters
        Of the learner.
    warnings
        Sentences that a reader of the result must see.
    """

    unified: RewardModel
    controls: Mapping[str, RewardModel]
    specialists: Mapping[str, RewardModel]
    taught: tuple[Taught, ...]
    groups: Mapping[str, Any]
    parameters: Mapping[str, Any]
    warnings: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("controls", "specialists", "groups", "parameters"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from plain dicts: read-only ones cannot travel between worker processes."""
        return type(self), tuple(
            dict(value) if isinstance(value, MappingProxyType) else value for value in vars(self).values()
        )

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        return self.unified.rewards(features, user)

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins, shape (record,); groups of the records are not read."""
        return self.unified.margins(comparisons)

    def adapted(self, comparisons: Comparisons) -> DistilledReward:
        """Return the model, its controls and its specialists for the users of other records."""
        controls, specialists = (
            {name: model.adapted(comparisons) for name, model in models.items()}
            for models in (self.controls, self.specialists)
        )
        return replace(self, unified=self.unified.adapted(comparisons), controls=controls, specialists=specialists)

    def to_json(self) -> dict[str, Any]:
        """Return plain values: how the model came about, not its coefficients."""
        return {
            "parameters": dict(self.parameters),
            "groups": dict(self.groups),
            "taught": [group.to_json() for group in self.taught],
            "controls": list(self.controls),
            "warnings": list(self.warnings),
        }
