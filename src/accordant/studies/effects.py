"""What actions change about a continuous outcome, by group: predicted effects in the untouched rows of one run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accordant.arrays import Mask, Values
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.sections import Part, Section, sections

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class GroupEffects(Part):
    """Predicted effects of one action in one group.

    Attributes
    ----------
    action
        Whose effect: the predicted mean outcome under it minus that under the action it is compared with.
    attributes, group
        Sensitive attributes and their values; none, and ``everybody``, for all rows.
    n
        Rows.
    mean, quantiles
        Of predicted effects over rows, in the unit of the outcome; quantiles by their share, such as ``0.25``.
    true_mean
        Mean of the true effects; None where the truth is not known.
    """

    action: str
    attributes: tuple[str, ...]
    group: str
    n: int
    mean: float
    quantiles: dict[str, float]
    true_mean: float | None


@sections.named("effects")
class Effects(Section):
    """Treatment effects that f predicts for the untouched rows of a run.

    Attributes
    ----------
    against
        The action that others are compared with.
    groups
        Every other action in all rows, and in every group.
    """

    against: str
    groups: tuple[GroupEffects, ...]

    @property
    def words(self) -> str:
        """The means over all rows, in one sentence."""
        means = [f"{row.action} {row.mean:.3f}" for row in self.groups if not row.attributes]
        return f"Predicted mean effects against {self.against}: {', '.join(means)}."


def predicted_effects(evidence: Evidence, groupings: Sequence[Sequence[str]]) -> Effects | None:
    """Return the effects of every action; None for outcomes that are not continuous, and without a prediction.

    Parameters
    ----------
    evidence
        Of untouched rows.
    groupings
        Sensitive attributes whose values make groups.
    """
    if evidence.prediction is None or not evidence.problem.continuous:
        return None
    against = reference_action(evidence.problem)
    actions = evidence.problem.actions
    base = actions.index(against)
    levels, truth = evidence.prediction.levels(), evidence.true_levels
    rows = []
    for position, action in enumerate(actions):
        if action == against:
            continue
        effects = levels[position] - levels[base]
        true = None if truth is None else truth[position] - truth[base]
        everybody = np.ones(evidence.n_contexts, dtype=np.bool_)
        rows.append(_group(action, (), "everybody", everybody, effects, true))
        for attributes in groupings:
            groups = evidence.groups(attributes)
            for code, label in enumerate(groups.labels):
                members = groups.codes == code
                if members.any():
                    rows.append(_group(action, tuple(attributes), label, members, effects, true))
    return Effects(against=against, groups=tuple(rows))


def reference_action(problem: DecisionProblem) -> str:
    """Return the status quo, or else the first action that is not favourable, or else the last one."""
    if problem.status_quo is not None:
        return str(problem.status_quo)
    others = [action for action in problem.actions if action not in problem.favourable_actions]
    return str(others[0] if others else problem.actions[-1])


def _group(
    action: str, attributes: tuple[str, ...], label: str, members: Mask, effects: Values, true: Values | None
) -> GroupEffects:
    inside = effects[members]
    return GroupEffects(
        action=action, attributes=attributes, group=label, n=int(members.sum()), mean=float(inside.mean()),
        quantiles={f"{q:g}": float(value) for q, value in zip(QUANTILES, np.quantile(inside, QUANTILES), strict=True)},
        true_mean=None if true is None else float(true[members].mean()),
    )  # fmt: skip
