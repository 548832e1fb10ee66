"""What decisions about students mean for groups of them. Source: ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.evidence import Evidence
from accordant.metrics import Goal, Range, RatioMetric, SumMetric, Sums, register
from accordant.metrics.expressions import Expression, columns_of, divided, together
from accordant.naming import position
from accordant.problem import DecisionProblem, value_label


@dataclass(frozen=True)
class _OfGroup(SumMetric):
    """A metric about those who have one value in one column."""

    def members(self, evidence: Evidence, attribute: str, group: str) -> Values:
        """Return 1 for whoever has the value, the same for every action, shape (action, context)."""
        values = evidence.log.contexts[attribute]
        distinct, inverse = np.unique(values, return_inverse=True)
        belongs = np.array([value_label(value) == value_label(group) for value in distinct])[inverse]
        return np.broadcast_to(belongs.astype(np.float64), (len(evidence.problem.actions), len(belongs)))

    def unavailable(self, evidence: Evidence) -> str | None:
        """Say that the column is missing."""
        for name in self.columns:
            if name not in evidence.log.contexts:
                return f"the column {name!r} is missing"
        return self.unsuited(evidence.problem)


@register("reward_gap")
@dataclass(frozen=True)
class RewardGap(_OfGroup):
    """Mean realised reward of a stakeholder over one group minus that over everybody else.

    Parameters
    ----------
    stakeholder
        Its name.
    attribute
        Column whose values make the groups.
    protected
        Value of the group that is compared with everybody else.
    """

    stakeholder: str
    attribute: str
    protected: str

    goal: ClassVar[Goal] = "zero"
    monotone: ClassVar[bool] = False
    span = (-1.0, 1.0)

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return None; an unknown stakeholder is an error."""
        position("stakeholder", self.stakeholder, problem.stakeholder_names)
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def theta(self, evidence: Evidence) -> Values:
        """Return reward and membership of the group, and of everybody else."""
        index = position("stakeholder", self.stakeholder, evidence.problem.stakeholder_names)
        inside, reward = self.members(evidence, self.attribute, self.protected), evidence.rewards[index]
        return np.stack([inside * reward, inside, (1 - inside) * reward, 1 - inside])

    def value(self, sums: Sums) -> Values:
        """Return the difference of means; not defined if one side is nobody."""
        return np.asarray(sums.ratio(0, 1) - sums.ratio(2, 3))

    def expression(self, evidence: Evidence) -> Expression:
        """Return the difference of means."""
        reward, inside, other_reward, others = columns_of(self.checked_theta(evidence))
        return together((divided(reward, inside), divided(other_reward, others)), (1.0, -1.0))

    def reason(self, sums: Sums) -> str:
        """Say that there is nobody to compare."""
        del sums
        return f"{self.attribute} has nobody with {self.protected!r}, or nobody else (n=0)"


@register("share_within")
@dataclass(frozen=True)
class ShareWithin(RatioMetric, _OfGroup):
    """Share of a group for which an action is decided.

    Parameters
    ----------
    action
        Name of the action.
    attribute
        Column whose values make the groups.
    group
        Value of the group.
    percent
        Whether the value is a percentage.
    """

    action: str
    attribute: str
    group: str
    percent: bool = False

    goal: ClassVar[Goal] = "max"

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return None; an unknown action is an error."""
        position("action", self.action, problem.actions)
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def range(self, evidence: Evidence) -> Range:
        """Return [0, 1], or [0, 100] if it is a percentage."""
        del evidence
        return 0.0, 100.0 if self.percent else 1.0

    def size(self, sums: Sums) -> float:
        """Return how many members there are."""
        return float(sums.totals[1])

    def theta(self, evidence: Evidence) -> Values:
        """Return whether a member gets the action, and membership."""
        inside = self.members(evidence, self.attribute, self.group)
        taken = np.zeros_like(inside)
        row = position("action", self.action, evidence.problem.actions)
        taken[row] = (100.0 if self.percent else 1.0) * inside[row]
        return np.stack([taken, inside])

    def reason(self, sums: Sums) -> str:
        """Say that nobody belongs to the group."""
        del sums
        return f"{self.attribute} has nobody with {self.group!r} (n=0)"
