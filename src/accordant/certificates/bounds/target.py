"""What a bound is about: from an array, a metric or its name to an expression of sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Floats, Values
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evidence import Evidence
from accordant.metrics.expressions import Expression, mean_of
from accordant.metrics.metric import Metric, expression_of, metrics
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

AGREEMENT = 1e-9  # how far rounding may carry an expression from the metric that it stands for
_MISSING = "E alone does not say what followed in each context: pass evidence="

Measure = Metric | str | Expression | Floats | Sequence[Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """What is bounded.

    Attributes
    ----------
    label
        Its name.
    expression
        How it is made of sums over contexts.
    metric
        The metric, if it is one.
    evidence
        What the metric is computed from.
    """

    label: str
    expression: Expression
    metric: Metric | None = None
    evidence: Evidence | None = None

    def about(self, decisions: Decisions) -> Subject:
        """Return the subject as it is for some decisions: of what was observed if they follow the log."""
        if self.metric is None or self.evidence is None:
            return self
        known = self.evidence.for_decisions(decisions)
        if known is self.evidence:
            return self
        return Subject(self.label, expression_of(self.metric, known), self.metric, known)

    def nominal(self, decisions: Decisions) -> float | None:
        """Return the value for honest decisions.

        Raises
        ------
        InputError
            If the metric computes another value than its expression.
        """
        value = self.expression.value(decisions)
        if self.metric is None or self.evidence is None:
            return value
        computed = self.metric.evaluate(decisions, self.evidence).value
        same = value is None if computed is None else value is not None and _close(value, computed)
        if not same:
            raise InputError(
                f"metric {self.metric.name!r} is {computed} and its expression {value}; both must be the same number"
            )
        return value


def subject_of(measure: Measure, expected: ExpectedRewards, evidence: Evidence | None, label: str = "") -> Subject:
    """Return what a bound is about.

    Parameters
    ----------
    measure
        Contributions θ of actions, shape (action,) or (action, context), averaged over contexts; a metric; its
        registered name; or an expression.
    expected
        E, honestly reported.
    evidence
        What followed on the same contexts; None takes honest expected rewards for it.
    label
        A name; the metric's own by default.

    Raises
    ------
    InputError
        If shapes do not match, or the metric needs evidence that is not there.
    """
    if evidence is not None:
        _check_same(expected, evidence)
    if isinstance(measure, Expression):
        return Subject(label or "expression", measure)
    if not isinstance(measure, Metric | str):
        return Subject(label or "mean of given values", mean_of(_contributions(measure, expected), expected.n_contexts))
    metric = metrics.create(measure) if isinstance(measure, str) else measure
    given = _only_expected(metric, expected) if evidence is None else evidence
    try:
        expression = expression_of(metric, given)
    except UnknownNameError as error:
        if evidence is not None or error.kind in ("stakeholder", "action"):
            raise
        raise InputError(f"metric {metric.name!r}: {error}; {_MISSING}") from None
    except InputError as error:
        raise InputError(f"{error}; {_MISSING}") from None if evidence is None else error
    return Subject(label or metric.name, expression, metric, given)


def _only_expected(metric: Metric, expected: ExpectedRewards) -> Evidence:
    """Return evidence in which the honest expected rewards are what really followed."""
    if expected.n_contexts == 0:
        raise InputError(f"metric {metric.name!r} of 0 contexts is not defined; E has no contexts")
    problem = DecisionProblem(stakeholders=expected.stakeholders, actions=expected.actions, outcomes=("unknown",))
    nothing = np.zeros(expected.n_contexts, dtype=np.intp)
    log = Log(Contexts({"context": np.arange(expected.n_contexts)}), nothing, nothing)
    return Evidence(problem, log, expected, expected.values.astype(np.float64))


def _contributions(measure: Any, expected: ExpectedRewards) -> Values:
    """Return checked contributions, shape (action, context)."""
    shape = (len(expected.actions), expected.n_contexts)
    try:
        theta = np.asarray(measure, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"metric is {type(measure).__name__}; allowed: a metric, its name, or numbers") from None
    if theta.shape == shape[:1]:
        theta = np.broadcast_to(theta[:, None], shape)
    if theta.shape != shape or not np.isfinite(theta).all():
        raise InputError(f"values of shape {theta.shape}; allowed: finite numbers of shape {shape[:1]} or {shape}")
    return theta


def _check_same(expected: ExpectedRewards, evidence: Evidence) -> None:
    other = evidence.expected
    for what, given, needed in (
        ("contexts", other.n_contexts, expected.n_contexts),
        ("stakeholders", other.stakeholders, expected.stakeholders),
        ("actions", other.actions, expected.actions),
    ):
        if given != needed:
            raise InputError(f"the evidence has {what} {given}; E has {needed}")


def _close(value: float, other: float) -> bool:
    return abs(value - other) <= AGREEMENT * max(1.0, abs(other))
