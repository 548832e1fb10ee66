"""`DistilledReward`: the unified reward, and beside it what it has to be compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from accordant.arrays import Values
from accordant.json_values import json_value
from accordant.preferences.learners.learner import RewardModel
from accordant.preferences.records import Comparisons


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
        found: dict[str, Any] = json_value(asdict(self))
        return found


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
            "taught": [each.to_json() for each in self.taught],
            "controls": list(self.controls),
            "warnings": list(self.warnings),
        }
