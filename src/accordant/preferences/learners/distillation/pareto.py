"""`ParetoDistillation`: specialists of groups teach one reward, and every fit brings its controls.

[abstract] Zhao et al. (arXiv 2606.07988): group-specialised rewards first; then their decision boundaries are distilled
into one unified reward by conditional supervision of margins; groups are read in training only. [ours] Everything else:
how groups are found, what specialists minimise, all losses, gates and weights, and which controls are fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from accordant.errors import InputError, UnknownNameError
from accordant.preferences.groups import Way
from accordant.preferences.learners.distillation.group_assignment import Level, Weighting, training_groups
from accordant.preferences.learners.distillation.lesson import Lesson, learned_lesson
from accordant.preferences.learners.distillation.reward import DistilledReward
from accordant.preferences.learners.distillation.supervision import Gate, Loss, Supervision
from accordant.preferences.learners.learner import checked_records, register
from accordant.preferences.learners.shared import SharedLearner
from accordant.preferences.learners.users.contexts import Source
from accordant.preferences.records import Comparisons

Teacher = Literal["specialists", "pooled"]

IN_TEACHING = ("loss", "gate", "strength", "temperature", "offset", "weighting", "teacher")  # after the lesson


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
        return learned_lesson(
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
            groups={"names": [groups.names[group] for group in groups.heard.tolist()], **groups.made},
            parameters=self.parameters,
            warnings=groups.warnings + self._remarks(),
        )

    def _supervision(self) -> Supervision:
        return Supervision(self.loss, self.gate, self.strength, self.temperature, self.offset)

    def _remarks(self) -> tuple[str, ...]:
        """Return what a reader must know of the choice of parameters."""
        found = []
        if self.teacher == "pooled":
            found.append("the teacher is the pooled reward: this is a control, not a distillation of groups")
        if self.gate == "better":
            found.append(
                "the pooled teacher is never better than the pooled reward: under this gate it teaches nothing"
            )
        return tuple(found)
