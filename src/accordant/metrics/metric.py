"""`Metric`: one number about decisions, computed from sums over contexts; and the registry of metrics.

Every metric is a function of sufficient statistics that add over contexts, which is the raw score
Σ_t Θ(D(x_t), M | x_t, a, o) of the participatory framework (Vineis, Perelli and Tolomei 2025,
Definition 10). Resampling contexts therefore only changes the sums, never the metric:

    CountMetric   a function of counts N[action, outcome, group]   (accuracy, group criteria, shares)
    SumMetric     a function of Σ_t θ(D(x_t), x_t)                 (rewards, profit, regret, outcome levels)
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics.expressions import Expression, Sum, columns_of, divided
from accordant.metrics.statistics import Cells, Contingency, Sums, check_decisions, contingency, expected_contributions
from accordant.problem import DecisionProblem
from accordant.registry import Registry

Goal = Literal["max", "min", "zero"]
Range = tuple[float, float]
SHARE: Range = (0.0, 1.0)

metrics: Registry[Metric] = Registry(
    "metric", group="accordant.metrics", packages=("accordant.metrics", "accordant.cases")
)


@dataclass(frozen=True)
class GroupValue:
    """A rate in one group.

    Attributes
    ----------
    label
        Label of the group, such as ``"1"`` or ``"1 × young"``.
    value
        The rate; None if nobody in the group counts towards it.
    n
        Contexts that count towards the rate; an expected number if decisions are randomised.
    rate
        Which rate, for criteria that compare several.
    """

    label: str
    value: float | None
    n: float
    rate: str = ""


@dataclass(frozen=True)
class MetricResult:
    """What a metric says about one strategy.

    Attributes
    ----------
    value
        The raw score; None if it is not defined.
    n
        Contexts that the value rests on; an expected number if decisions are randomised.
    reason
        Why the value is not defined; empty if it is.
    by_group
        The rates in each group, where the metric has groups.
    """

    value: float | None
    n: float
    reason: str = ""
    by_group: tuple[GroupValue, ...] = ()


@dataclass(frozen=True)
class Metric(ABC):
    """A metric with its parameters. Subclass `CountMetric` or `SumMetric`, not this.

    Class attributes
    ----------------
    name
        Registered name.
    goal
        ``max``, ``min``, or ``zero`` (the nearer to zero, the better).
    gamma
        1 if the metric averages over contexts, 0 if it sums over them.
    span
        The range, where it is the same whatever the evidence is.
    """

    name: ClassVar[str]
    span: ClassVar[Range | None] = None

    @property
    @abstractmethod
    def goal(self) -> Goal:
        """What is better: more, less, or nearer to zero."""

    @property
    def gamma(self) -> Literal[0, 1]:
        """1 for an average over contexts, 0 for a sum (γ of Definition 10)."""
        return 1

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the metric: ``metrics.create(name, parameters)``."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose combinations make the groups; empty if the metric has no groups."""
        return ()

    def describe(self) -> str:
        """Return what the metric measures in one line: the first line of its docstring."""
        return (inspect.getdoc(type(self)) or "").partition("\n")[0]

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return in plain words why the metric cannot serve this problem, or None if it can.

        Raises
        ------
        UnknownNameError
            If a parameter names an action, outcome or stakeholder that is not declared.
        """
        del problem
        return None

    def unavailable(self, evidence: Evidence) -> str | None:
        """Return in plain words what this evidence lacks for the metric, or None if nothing."""
        return self.unsuited(evidence.problem)

    def check(self, evidence: Evidence) -> None:
        """Raise if the metric cannot be computed from this evidence.

        Raises
        ------
        InputError
            With what is missing.
        """
        reason = self.unavailable(evidence)
        if reason is not None:
            raise InputError(f"metric {self.name!r}: {reason}")

    def range(self, evidence: Evidence) -> Range | None:
        """Return the smallest and largest value that the metric could have, or None if it does not say.

        The range is the metric's scale in a composite score, so that a score does not depend on which other strategies
        are compared. It may depend on the problem and on the number of contexts, never on decisions; by default it is
        `span`.
        """
        del evidence
        return self.span

    def counterfactual_stakeholders(self, problem: DecisionProblem) -> tuple[str, ...]:
        """Return the stakeholders whose rewards of actions not taken are read one by one: estimates will not do."""
        del problem
        return ()

    def withheld(self, evidence: Evidence) -> str:
        """Return why no interval can be given on this evidence; empty if one can."""
        del evidence
        return ""

    def expression(self, evidence: Evidence) -> Expression | None:
        """Return how the raw score is made of sums over contexts, or None if the metric does not say.

        Its value for any decisions equals that of `evaluate`. Whoever bounds a metric needs it; see `expression_of`.
        """
        del evidence
        return None

    @abstractmethod
    def evaluate(self, decisions: Decisions, evidence: Evidence) -> MetricResult:
        """Return the raw score of the decisions on this evidence.

        Raises
        ------
        InputError
            If the evidence lacks something, or the decisions are not about its contexts and actions.
        """


class CountMetric(Metric):
    """A metric that depends on counts of (decided action, observed outcome, group) only."""

    @abstractmethod
    def value(self, table: Contingency) -> Values:
        """Return the raw score of each table, shape (...); NaN where it is not defined."""

    def rates(self, table: Contingency) -> dict[str, tuple[Values, Values]]:
        """Return name → (rate, contexts that count towards it), each of shape (..., group)."""
        del table
        return {}

    def limits(self, table: Contingency, level: float, independent: float) -> tuple[float, float] | None:
        """Return an interval of the value of a single table that knows small counts; None if the metric has none.

        Parameters
        ----------
        table
            Counts on all contexts.
        level
            Coverage, in (0, 1).
        independent
            Independent units for each context, in (0, 1]: below 1 where several contexts belong together.
        """
        del table, level, independent
        return None

    def size(self, table: Contingency) -> Values:
        """Return how many contexts the value rests on, shape (...)."""
        return np.asarray(table.counts.sum(axis=(-3, -2, -1)))

    def reason(self, table: Contingency) -> str:
        """Return why the value of a single table is not defined."""
        del table
        return "not defined on these contexts (n=0)"

    def evaluate(self, decisions: Decisions, evidence: Evidence) -> MetricResult:
        """Return the raw score of the decisions on this evidence."""
        self.check(evidence)
        check_decisions(decisions, evidence)
        return self.result(contingency(decisions, Cells.of(evidence, self.columns)))

    def result(self, table: Contingency) -> MetricResult:
        """Return the result for a single table."""
        value = defined(self.value(table))
        groups = tuple(
            GroupValue(label, defined(rate[g]), whole(n[g]), name)
            for name, (rate, n) in self.rates(table).items()
            for g, label in enumerate(table.cells.groups.labels)
        )
        return MetricResult(value, whole(self.size(table)), "" if value is not None else self.reason(table), groups)


class SumMetric(Metric):
    """A metric that depends on sums over contexts of contributions θ of the decided action.

    Class attributes
    ----------------
    monotone
        Whether the value can only rise, or only fall, if every contribution rises with the reward it is made of.
    """

    monotone: ClassVar[bool] = True

    @abstractmethod
    def theta(self, evidence: Evidence) -> Values:
        """Return what each context adds if an action were taken, shape (column, action, context), finite."""

    def value(self, sums: Sums) -> Values:
        """Return the raw score from the sums, shape (...); NaN where it is not defined.

        By default the first column, divided by the number of contexts if `gamma` is 1.
        """
        return sums.totals[..., 0] / float(sums.n) ** self.gamma

    def expression(self, evidence: Evidence) -> Expression | None:
        """Return the first column, as `value` does by default; None if `value` is another one."""
        if type(self).value is not SumMetric.value:
            return None
        return Sum.of(self.checked_theta(evidence)[0], float(evidence.n_contexts) ** -self.gamma)

    def reason(self, sums: Sums) -> str:
        """Return why the value of single sums is not defined."""
        del sums
        return "its denominator is zero (n=0)"

    def evaluate(self, decisions: Decisions, evidence: Evidence) -> MetricResult:
        """Return the raw score of the decisions on this evidence."""
        self.check(evidence)
        check_decisions(decisions, evidence)
        theta = self.checked_theta(evidence.for_decisions(decisions))
        totals = expected_contributions(theta, decisions).sum(axis=1)
        return self.result(Sums(totals, evidence.n_contexts, evidence.problem))

    def least_of(self, sums: Sums) -> Values | None:
        """Return the values, shape (..., part), whose smallest the metric is; None if it is no minimum.

        The smallest of several estimates is too small, so its interval is made from theirs.
        """
        del sums
        return None

    def size(self, sums: Sums) -> float:
        """Return how many contexts the value of single sums rests on."""
        return sums.n

    def result(self, sums: Sums) -> MetricResult:
        """Return the result for single sums."""
        value = defined(self.value(sums))
        return MetricResult(value, whole(self.size(sums)), "" if value is not None else self.reason(sums))

    def checked_theta(self, evidence: Evidence) -> Values:
        """Return `theta`, or raise if it has the wrong shape or is not finite."""
        theta = np.asarray(self.theta(evidence), dtype=np.float64)
        shape = (len(evidence.problem.actions), evidence.n_contexts)
        if theta.ndim != 3 or theta.shape[1:] != shape:
            raise InputError(f"metric {self.name!r}: theta has shape {theta.shape}; needed: (column, *{shape})")
        if not np.isfinite(theta).all():
            context = int(np.argwhere(~np.isfinite(theta))[0, 2])
            raise InputError(f"metric {self.name!r}: its contribution in context {context} is not a finite number")
        return theta


class RatioMetric(SumMetric):
    """The sum of the first column of θ divided by that of the second."""

    def value(self, sums: Sums) -> Values:
        """Return the ratio; NaN where the second sum is 0."""
        return sums.ratio(0, 1)

    def expression(self, evidence: Evidence) -> Expression:
        """Return the ratio."""
        return divided(*columns_of(self.checked_theta(evidence)))


register = metrics.named


def expression_of(metric: Metric, evidence: Evidence) -> Expression:
    """Return how the raw score of a metric is made of sums over contexts.

    Raises
    ------
    InputError
        If the evidence lacks something, or the metric does not say how it is made.
    """
    metric.check(evidence)
    expression = metric.expression(evidence)
    if expression is None:
        raise InputError(
            f"metric {metric.name!r} does not say how it is made of sums, so it cannot be bounded; "
            "give its class a method expression(evidence)"
        )
    return expression


def defined(value: Any) -> float | None:
    """Return a number, or None for NaN: inside, NaN is 'not defined'; outside it is None."""
    number = float(value)
    return None if np.isnan(number) else number


def whole(n: Any) -> float:
    """Return a count as an int if it is whole."""
    number = float(n)
    return int(number) if number.is_integer() else number


TOLERANCE = 1e-9
DEFAULT: Mapping[str, float] = {"mean_reward": 0.5, "min_reward": 0.5}


def weighted_metrics(given: Mapping[Any, Any] | None) -> dict[str, tuple[Metric, float]]:
    """Return label → (metric, weight).

    Parameters
    ----------
    given
        Metric, or name of a registered one, to weight; or label to (metric, weight). None weighs the mean
        realised reward over stakeholders and that of the worst-off stakeholder alike.

    Raises
    ------
    InputError
        If a weight is negative, or the weights do not sum to 1.
    """
    weighted: dict[str, tuple[Metric, float]] = {}
    for key, value in (DEFAULT if given is None else given).items():
        metric, weight = (value[0], value[1]) if isinstance(value, tuple) else (key, value)
        if isinstance(metric, str):
            metric = metrics.create(metric)
        if not isinstance(metric, Metric):
            raise InputError(
                f"metric {key!r} is {type(metric).__name__}; allowed: a metric, its name, or (metric, weight)"
            )
        label = key if isinstance(key, str) else metric.name
        if label in weighted:
            raise InputError(f"two metrics are labelled {label!r}; give them labels: {{label: (metric, weight)}}")
        if not float(weight) >= 0:
            raise InputError(f"weight of metric {label!r} is {weight}; allowed: at least 0")
        weighted[label] = (metric, float(weight))
    total = sum(weight for _, weight in weighted.values())
    if abs(total - 1) > TOLERANCE:
        raise InputError(f"metric weights sum to {total:g}; they divide one whole and must sum to 1")
    return weighted
