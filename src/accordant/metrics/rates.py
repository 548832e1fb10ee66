"""Rates: shares of contexts, overall and by group. Group criteria compare these rates between groups.

A rate is a ratio of two weighted sums over the cells (action, outcome)::

    rate                        numerator                denominator
    selection_rate              favourable action        everybody
    true_positive_rate          favourable action        favourable outcome
    false_positive_rate         favourable action        other outcome
    true_negative_rate          other action             other outcome
    false_negative_rate         other action             favourable outcome
    positive_predictive_value   favourable outcome       favourable action
    accuracy                    action = mapped action   everybody

"Favourable action" is a set of actions, or a benefit in [0, 1] per action (the graded version).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics.expressions import Expression, Sum, divided
from accordant.metrics.statistics import Cells, Contingency, divide
from accordant.naming import position
from accordant.problem import DecisionProblem

Actions = tuple[str, ...] | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Masks:
    """What counts as favourable, as weights of cells.

    Attributes
    ----------
    action
        Benefit of each action, shape (action, 1): 0 or 1 for a set of favourable actions.
    outcome
        1 for favourable outcomes, else 0, shape (1, outcome).
    correct
        1 where the action is the one mapped from the outcome, shape (action, outcome).
    """

    action: Values
    outcome: Values
    correct: Values

    @classmethod
    def of(cls, problem: DecisionProblem, actions: Actions, outcomes: tuple[str, ...]) -> Masks:
        """Return the masks; empty `actions` or `outcomes` mean those that the problem declares favourable."""
        names = problem.outcome_names or ("",)
        mapped = problem.action_of_outcome()
        correct = np.zeros((len(problem.actions), len(names)))
        if mapped is not None:
            correct[mapped, np.arange(len(names))] = 1.0
        action = benefits(problem, actions)[:, None]
        favourable = outcomes or problem.favourable_outcomes
        outcome = np.zeros((1, len(names)))
        outcome[0, [position("outcome", name, problem.outcome_names) for name in favourable]] = 1.0
        return cls(action, outcome, correct)


def benefits(problem: DecisionProblem, actions: Actions) -> Values:
    """Return the benefit of each action in [0, 1], shape (action,); a set of names means 1 for each."""
    declared = actions or problem.favourable_actions
    graded = dict(declared) if isinstance(declared, Mapping) else dict.fromkeys(declared, 1.0)
    values = np.zeros(len(problem.actions))
    for name, benefit in graded.items():
        if not 0 <= benefit <= 1:
            raise InputError(f"benefit of action {name!r} is {benefit}; allowed: [0, 1]")
        values[position("action", name, problem.actions)] = benefit
    return values


@dataclass(frozen=True, eq=False)
class Rate:
    """A share of contexts.

    Attributes
    ----------
    name
        Name in results.
    cells
        Masks to the weights of cells in numerator and denominator, each broadcasting to (action, outcome).
    who
        Who counts towards it, in words, for reasons.
    needs
        What must be declared: any of ``actions``, ``outcomes``, ``mapping``.
    graded
        Whether a benefit per action makes sense.
    """

    name: str
    cells: Callable[[Masks], tuple[Values, Values]]
    who: str
    needs: frozenset[str]
    graded: bool = True

    def sums(self, table: Contingency, masks: Masks) -> tuple[Values, Values]:
        """Return numerator and denominator in each group, shape (..., group)."""
        shape = table.cells.shape[:2]
        top, bottom = (np.broadcast_to(weights, shape) for weights in self.cells(masks))
        return weighted_cells(table.counts, top), weighted_cells(table.counts, bottom)

    def by_group(self, table: Contingency, masks: Masks) -> tuple[Values, Values]:
        """Return the rate, NaN where nobody counts, and who counts towards it, both (..., group)."""
        top, bottom = self.sums(table, masks)
        return divide(top, bottom), bottom

    def expression(self, evidence: Evidence, masks: Masks, contexts: NDArray[np.intp] | None = None) -> Expression:
        """Return the rate in some contexts, all by default, as an expression of sums."""
        outcomes = outcome_codes(evidence)
        outcomes = outcomes if contexts is None else outcomes[contexts]
        shape = (len(evidence.problem.actions), max(1, len(evidence.problem.outcome_names)))
        top, bottom = (
            Sum.of(np.broadcast_to(weights, shape)[:, outcomes], contexts=contexts) for weights in self.cells(masks)
        )
        return divided(top, bottom)

    def in_groups(self, evidence: Evidence, masks: Masks, cells: Cells) -> tuple[Expression, ...]:
        """Return the rate in each group that occurs, as expressions of sums over contexts that nobody shares."""
        order = np.argsort(cells.groups.codes, kind="stable")
        members = np.split(order, np.cumsum(cells.sizes)[:-1])
        return tuple(self.expression(evidence, masks, group) for group in members if len(group))

    def unsuited(self, problem: DecisionProblem, actions: Actions, outcomes: tuple[str, ...]) -> str | None:
        """Return in plain words what the problem lacks for this rate, or None."""
        if self.needs & {"outcomes", "mapping"} and problem.continuous:
            return f"{self.name} counts outcomes, and the outcome of this problem is a number"
        if "mapping" in self.needs and problem.outcome_to_action is None:
            return "the problem declares no outcome_to_action, so no action is known to be right"
        masks = Masks.of(problem, actions, outcomes)
        if "actions" in self.needs and not masks.action.any():
            return "no favourable action is declared (favourable_actions, or the parameter actions)"
        if "outcomes" in self.needs and not masks.outcome.any():
            return "no favourable outcome is declared (favourable_outcomes, or the parameter outcomes)"
        if isinstance(actions, Mapping) and not self.graded:
            return f"{self.name} needs a set of favourable actions, not a benefit per action"
        return None


def weighted_cells(counts: Values, weights: Values) -> Values:
    """Return Σ_ao weight_ao count_aog, shape (..., group), from counts (..., action, outcome, group).

    Most weights are 0, and resamples are many: cell by cell takes a third of the time of the sum over all.
    """
    total = np.zeros_like(counts[..., 0, 0, :], dtype=np.float64)  # as counts lie in memory
    for action, outcome in zip(*np.nonzero(weights), strict=True):
        total += weights[action, outcome] * counts[..., action, outcome, :]
    return total


def outcome_codes(evidence: Evidence) -> NDArray[np.intp]:
    """Return the observed outcome of every context, shape (context,); a continuous outcome is one outcome."""
    if evidence.problem.continuous:
        return np.zeros(evidence.n_contexts, dtype=np.intp)
    return evidence.log.outcomes.astype(np.intp)


EVERYBODY = np.ones((1, 1))

SELECTION_RATE = Rate("selection_rate", lambda m: (m.action, EVERYBODY), "contexts", frozenset({"actions"}))
TRUE_POSITIVE_RATE = Rate(
    "true_positive_rate",
    lambda m: (m.action * m.outcome, m.outcome),
    "contexts with a favourable outcome",
    frozenset({"actions", "outcomes"}),
)
FALSE_POSITIVE_RATE = Rate(
    "false_positive_rate",
    lambda m: (m.action * (1 - m.outcome), 1 - m.outcome),
    "contexts without a favourable outcome",
    frozenset({"actions", "outcomes"}),
)
TRUE_NEGATIVE_RATE = Rate(
    "true_negative_rate",
    lambda m: ((1 - m.action) * (1 - m.outcome), 1 - m.outcome),
    "contexts without a favourable outcome",
    frozenset({"actions", "outcomes"}),
)
FALSE_NEGATIVE_RATE = Rate(
    "false_negative_rate",
    lambda m: ((1 - m.action) * m.outcome, m.outcome),
    "contexts with a favourable outcome",
    frozenset({"actions", "outcomes"}),
)
POSITIVE_PREDICTIVE_VALUE = Rate(
    "positive_predictive_value",
    lambda m: (m.action * m.outcome, m.action),
    "contexts given a favourable action",
    frozenset({"actions", "outcomes"}),
    graded=False,
)
ACCURACY = Rate("accuracy", lambda m: (m.correct, EVERYBODY), "contexts", frozenset({"mapping"}))
