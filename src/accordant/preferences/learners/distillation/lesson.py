"""What is learned before anybody is taught: the pooled reward, specialists, and the controls without a teacher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.distillation.group_assignment import TrainingGroups
from accordant.preferences.learners.distillation.reward import Taught
from accordant.preferences.learners.distillation.specialists import Specialist, right, specialists
from accordant.preferences.learners.distillation.supervision import Supervision
from accordant.preferences.learners.group_robust import GroupRobust
from accordant.preferences.learners.learner import RewardModel
from accordant.preferences.learners.shared import Design
from accordant.preferences.learners.solving.logistic import LogisticProblem
from accordant.preferences.records import Comparisons


@dataclass(frozen=True, eq=False)
class Lesson:
    """What all losses, gates and weights of one data set share; see `ParetoDistillation.lesson`.

    Attributes
    ----------
    comparisons, groups
        The records and their groups.
    design
        How coefficients become margins.
    ridge, tolerance
        Of every fit.
    parameters
        Of the learner that learned the lesson.
    pooled
        Coefficients of the pooled reward, shape (coefficient,).
    pooled_margins
        Of the pooled reward, shape (record,).
    contextless_margins
        Of the pooled reward that specialists start from, if it reads no context while the pooled one does, shape
        (record,); else None.
    specialist_margins
        Of the specialist of each record's group, shape (record,).
    specialists
        By position of the group.
    specialist_rewards
        By name of the group.
    controls
        The pooled, the balanced and the group-robust reward.
    """

    comparisons: Comparisons
    groups: TrainingGroups
    design: Design
    ridge: float
    tolerance: float
    parameters: dict[str, Any]
    pooled: Values
    pooled_margins: Values
    contextless_margins: Values | None
    specialist_margins: Values
    specialists: dict[int, Specialist]
    specialist_rewards: dict[str, RewardModel]
    controls: dict[str, RewardModel]

    def problem(self, supervision: Supervision, teacher: Values, taught: Values) -> LogisticProblem:
        """Return what a reward minimises that learns from a teacher's margins, both arrays of shape (record,)."""
        return supervision.problem(
            self.design, teacher=teacher, pooled=self.pooled_margins,
            plain=self.groups.weights(self.comparisons, "size"), taught=taught, ridge=self.ridge,
        )  # fmt: skip

    def unified(self, supervision: Supervision, teacher: Values, taught: Values) -> RewardModel:
        """Return the reward that learns from a teacher's margins, both arrays of shape (record,)."""
        problem = self.problem(supervision, teacher, taught)
        return self.design.reward(problem.solve(self.pooled, tolerance=self.tolerance).coefficients)

    def taught(self, supervision: Supervision, teacher: Values) -> tuple[Taught, ...]:
        """Return what each group was taught with, given the teacher's margins, shape (record,)."""
        weights, follows = self.comparisons.record_weights, supervision.open_gate(teacher, self.pooled_margins)
        found = []
        for group, each in self.specialists.items():
            rows = np.flatnonzero((self.groups.of_record == group) & (weights > 0))
            shares = weights[rows] / weights[rows].sum()
            found.append(
                Taught(
                    group=self.groups.names[group],
                    users=len(np.unique(self.comparisons.users[rows])),
                    records=len(rows),
                    prior=each.prior,
                    accuracy=float(shares @ right(teacher[rows])),
                    pooled_accuracy=float(shares @ right(self.pooled_margins[rows])),
                    held_out=each.held_out,
                    pooled_held_out=each.pooled_held_out,
                    followed=float(shares @ follows[rows]),
                )
            )
        return tuple(found)


@dataclass(frozen=True)
class DesignedGroupRobust(GroupRobust):
    """`GroupRobust` on a design that is already there."""

    made: Design | None = None

    def design(self, comparisons: Comparisons) -> Design:
        """Return the design that was given."""
        del comparisons
        assert self.made is not None
        return self.made


def learned_lesson(
    comparisons: Comparisons,
    groups: TrainingGroups,
    design: Design,
    *,
    specialist_context: bool,
    ridge: float,
    tolerance: float,
    parameters: dict[str, Any],
) -> Lesson:
    """Learn what is shared.

    Parameters
    ----------
    comparisons, groups, design
        The records, their groups, and how coefficients become margins.
    specialist_context
        Whether specialists read the context of the design.
    ridge, tolerance
        Of every fit.
    parameters
        Of the learner.
    """
    weights = comparisons.record_weights
    problem = design.problem(weights=weights, ridge=ridge)
    pooled = problem.solve(tolerance=tolerance).coefficients
    margins = problem.predictions(pooled)
    own, start, contextless = design, pooled, None
    if not specialist_context and design.contexts is not None:
        own = Design(design.differences, None, None)
        plain = own.problem(weights=weights, ridge=ridge)
        start = plain.solve(tolerance=tolerance).coefficients
        contextless = plain.predictions(start)
    found = specialists(own, comparisons, groups, start, ridge=ridge, tolerance=tolerance)
    taught, reads = margins.copy(), own.problem()
    for group, each in found.items():
        rows = groups.of_record == group
        taught[rows] = reads.predictions(each.coefficients)[rows]
    balanced = design.problem(weights=groups.weights(comparisons, "balanced"), ridge=ridge)
    robust = DesignedGroupRobust(ridge=ridge, tolerance=tolerance, made=design)
    return Lesson(
        comparisons, groups, design, ridge, tolerance, parameters, pooled, margins, contextless, taught, found,
        {groups.names[group]: own.reward(each.coefficients) for group, each in found.items()},
        {
            "pooled": design.reward(pooled),
            "balanced": design.reward(balanced.solve(pooled, tolerance=tolerance).coefficients),
            "group_robust": robust.fit(groups.as_users(comparisons)),
        },
    )  # fmt: skip
