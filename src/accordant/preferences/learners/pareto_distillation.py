"""`ParetoDistillation`: specialists of groups teach one reward, and every fit brings its controls.

`learn_lesson` gives what is known before anybody is taught: the pooled reward, the specialists, and the control without
a teacher.

[abstract] Zhao et al. (arXiv 2606.07988): group-specialised rewards first; then their decision boundaries are distilled
into one unified reward by conditional supervision of margins; groups are read in training only. [ours] Everything else:
how groups are found, what specialists minimise, all losses, gates and weights, and which controls are fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.groups import Way
from accordant.preferences.learners.bradley_terry import Design, GroupRobust, SharedLearner
from accordant.preferences.learners.learner import RewardModel, checked_records, register
from accordant.preferences.learners.logistic import LogisticProblem, right
from accordant.preferences.learners.specialists import (
    Level,
    Specialist,
    TrainingGroups,
    Weighting,
    specialists,
    training_groups,
)
from accordant.preferences.learners.supervision import DistilledReward, Gate, Loss, Supervision, Taught
from accordant.preferences.learners.user_contexts import Source
from accordant.preferences.records import Comparisons

Teacher = Literal["specialists", "pooled"]
IN_TEACHING = ("loss", "gate", "strength", "temperature", "offset", "weighting", "teacher")  # after the lesson


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
        of_groups = []
        for group, specialist in self.specialists.items():
            rows = np.flatnonzero((self.groups.of_record == group) & (weights > 0))
            shares = weights[rows] / weights[rows].sum()
            of_groups.append(
                Taught(
                    group=self.groups.names[group],
                    users=len(np.unique(self.comparisons.users[rows])),
                    records=len(rows),
                    prior=specialist.prior,
                    accuracy=float(shares @ right(teacher[rows])),
                    pooled_accuracy=float(shares @ right(self.pooled_margins[rows])),
                    held_out=specialist.held_out,
                    pooled_held_out=specialist.pooled_held_out,
                    followed=float(shares @ follows[rows]),
                )
            )
        return tuple(of_groups)


@dataclass(frozen=True)
class DesignedGroupRobust(GroupRobust):
    """`GroupRobust` on a design that is already there."""

    made: Design | None = None

    def design(self, comparisons: Comparisons) -> Design:
        """Return the design that was given."""
        del comparisons
        assert self.made is not None
        return self.made


def learn_lesson(
    comparisons: Comparisons,
    groups: TrainingGroups,
    design: Design,
    *,
    specialist_context: bool,
    ridge: float,
    tolerance: float,
    parameters: dict[str, Any],
) -> Lesson:
    """Learn what is shared, see `Lesson`; `specialist_context` says if specialists read the context of the design."""
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
    by_group = specialists(own, comparisons, groups, start, ridge=ridge, tolerance=tolerance)
    taught, reads = margins.copy(), own.problem()
    for group, specialist in by_group.items():
        rows = groups.of_record == group
        taught[rows] = reads.predictions(specialist.coefficients)[rows]
    balanced = design.problem(weights=groups.weights(comparisons, "balanced"), ridge=ridge)
    robust = DesignedGroupRobust(ridge=ridge, tolerance=tolerance, made=design)
    return Lesson(
        comparisons, groups, design, ridge, tolerance, parameters, pooled, margins, contextless, taught, by_group,
        {groups.names[group]: own.reward(specialist.coefficients) for group, specialist in by_group.items()},
        {
            "pooled": design.reward(pooled),
            "balanced": design.reward(balanced.solve(pooled, tolerance=tolerance).coefficients),
            "group_robust": robust.fit(groups.as_users(comparisons)),
        },
    )  # fmt: skip


@register("pareto_distillation", aliases=("pafo_style",))
@dataclass(frozen=True)
class ParetoDistillation(SharedLearner):
    """Teach one reward that reads the user's context by rewards of groups.

    Without context it is one reward for everybody: of two opposed groups the worse one is then at most at ½ but for
    noise, whatever the teachers know.

    Parameters
    ----------
    ridge, tolerance, context, directions
        See `SharedLearner`; of the unified reward and of the pooled one.
    loss, gate, strength, temperature, offset
        How margins are taught, see `Supervision`.
    grouping
        ``"user"``: by the groups of the records if they have any, else majority and minority by the users' support.
        ``"record"``: each record by its own support.
    by, threshold, quantile
        How majority and minority are told apart, see `majority_minority`; not read where groups are given.
    weighting
        w_g of the supervision: ``"balanced"``, or by ``"size"``.
    teacher
        ``"specialists"``, or ``"pooled"``, which makes the control the model.
    specialist_context
        Whether specialists read the same context as the unified reward. If not, a specialist is one direction for its
        group, which is learned more surely, and there is one control more.
    """

    context: Source = "history"
    loss: Loss = "mse"
    gate: Gate = "none"
    strength: float = 1.0
    temperature: float = 1.0
    offset: float = 0.5
    grouping: Level = "user"
    by: Way = "threshold"
    threshold: float = 0.5
    quantile: float = 0.2
    weighting: Weighting = "balanced"
    teacher: Teacher = "specialists"
    specialist_context: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._supervision()
        for kind, allowed in (("grouping", Level), ("by", Way), ("weighting", Weighting), ("teacher", Teacher)):
            if getattr(self, kind) not in get_args(allowed):
                raise UnknownNameError(kind, getattr(self, kind), get_args(allowed))
        if self.grouping == "record" and self.by == "clustering":
            raise InputError("by is 'clustering', which groups users; allowed for records: 'threshold', 'quantile'")

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> DistilledReward:
        """Learn the unified reward, its specialists and its controls.

        Parameters
        ----------
        comparisons
            At least one record with weight; groups are optional.
        generator
            Source of the folds or starts by which support is estimated; None seeds one with 0. Nothing else is random.
        """
        return self.distilled(self.lesson(comparisons, generator=generator))

    def lesson(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> Lesson:
        """Learn what does not depend on loss, gate, weighting or teacher; parameters are those of `fit`."""
        checked_records(comparisons)
        groups = training_groups(
            comparisons, grouping=self.grouping, by=self.by, threshold=self.threshold, quantile=self.quantile,
            generator=np.random.default_rng(0) if generator is None else generator,
        )  # fmt: skip
        return learn_lesson(
            comparisons, groups, self.design(comparisons), specialist_context=self.specialist_context,
            ridge=self.ridge, tolerance=self.tolerance, parameters=self.parameters,
        )  # fmt: skip

    def distilled(self, lesson: Lesson) -> DistilledReward:
        """Teach the unified reward and the controls with a pooled teacher.

        Learners that differ in nothing but loss, gate, strength, temperature, offset, weighting and teacher may share a
        lesson.

        Raises
        ------
        InputError
            If the lesson was learned with other parameters than these.
        """
        for name, value in lesson.parameters.items():
            if name not in IN_TEACHING and getattr(self, name) != value:
                raise InputError(f"{name} is {getattr(self, name)!r}; allowed with this lesson: {value!r}")
        supervision, groups = self._supervision(), lesson.groups
        teacher = lesson.specialist_margins if self.teacher == "specialists" else lesson.pooled_margins
        by_size, alike = groups.weights(lesson.comparisons, "size"), groups.weights(lesson.comparisons, "balanced")
        own = alike if self.weighting == "balanced" else by_size
        controls = lesson.controls | {
            "pooled_teacher": lesson.unified(supervision, lesson.pooled_margins, by_size),
            "pooled_teacher_balanced": lesson.unified(supervision, lesson.pooled_margins, alike),
        }
        if lesson.contextless_margins is not None:
            controls["contextless_teacher"] = lesson.unified(supervision, lesson.contextless_margins, own)
        return DistilledReward(
            unified=lesson.unified(supervision, teacher, own),
            controls=controls,
            specialists=lesson.specialist_rewards,
            taught=lesson.taught(supervision, teacher),
            groups={"names": [groups.names[group] for group in groups.has_weight.tolist()], **groups.made},
            parameters=self.parameters,
            warnings=groups.warnings + self._remarks(),
        )

    def _supervision(self) -> Supervision:
        return Supervision(self.loss, self.gate, self.strength, self.temperature, self.offset)

    def _remarks(self) -> tuple[str, ...]:
        """Return what a reader must know of the choice of parameters."""
        remarks = []
        if self.teacher == "pooled":
            remarks.append("the teacher is the pooled reward: this is a control, not a distillation of groups")
        if self.gate == "better":
            remarks.append(
                "the pooled teacher is never better than the pooled reward: under this gate it teaches nothing"
            )
        return tuple(remarks)
