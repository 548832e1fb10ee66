"""What holds for every registered metric: rebuilding, shapes, randomised policies; and own metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from accordant import metrics
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.metrics import Goal, Metric, SumMetric, cell_values

PARAMETERS = {
    "demographic_parity": {"attributes": ("sex",)},
    "equal_opportunity": {"attributes": ("sex",), "aggregate": "ratio"},
    "predictive_equality": {"attributes": ("sex", "age")},
    "equalised_odds": {"attributes": ("sex",), "outcomes": ("Full", "Part")},
    "predictive_parity": {"attributes": ("sex",), "protected": "1"},
    "accuracy_parity": {"attributes": ("age",)},
    "selection_rate": {"attributes": ("age",), "actions": {"Grant": 1.0, "Lower": 0.5}},
    "share_of_action": {"action": "Deny", "percent": True},
    "stakeholder_reward": {"stakeholder": "Bank"},
    "stakeholder_regret": {"stakeholder": "Bank", "total": True},
    "mean_reward": {"weights": (1.0, 2.0, 3.0)},
}
NUMERIC = {"mean_outcome", "policy_value", "outcome_regret", "best_action_share"}
LINEAR = (
    {"accuracy", "selection_rate", "true_positive_rate", "false_positive_rate", "share_of_action", "recall"}
    | {
        "stakeholder_reward",
        "stakeholder_regret",
        "mean_reward",
        "welfare_regret",
    }
    | NUMERIC
)


BUILT_IN = [
    name for name in metrics.names() if metrics.metrics.factory(name).__module__.startswith("accordant.metrics")
]


@pytest.fixture(params=BUILT_IN)
def case(request, world, numeric_world):
    """A registered metric and evidence that suits it."""
    name = request.param
    evidence = (numeric_world if name in NUMERIC else world)(300, 5)
    return metrics.create(name, PARAMETERS.get(name)), evidence


def test_rebuilds_from_name_and_parameters(case):
    metric, _ = case
    assert metrics.create(metric.name, metric.parameters) == metric
    assert metric.goal in ("max", "min", "zero")
    assert metric.gamma in (0, 1)
    line = metric.describe()
    assert line.endswith(".")
    assert "\n" not in line


def test_degenerate_policy_equals_its_decisions(case, decide):
    metric, evidence = case
    plain = decide(evidence, seed=8)
    policy = np.eye(3)[:, plain.codes]
    first, second = (
        metric.evaluate(plain, evidence),
        metric.evaluate(decide(evidence, plain.codes, policy=policy), evidence),
    )
    assert second.value == pytest.approx(first.value, abs=1e-12)
    assert second.n == first.n


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_randomised_policy_is_the_mixture_of_its_parts(name, world, numeric_world, decide):
    """Metrics that are linear in the decisions equal the mixture of their values exactly."""
    metric, evidence = (
        metrics.create(name, PARAMETERS.get(name)),
        (numeric_world if name in NUMERIC else world)(300, 5),
    )
    parts = [decide(evidence, seed=seed) for seed in (1, 2, 3)]
    policy = sum(weight * np.eye(3)[:, part.codes] for weight, part in zip((0.2, 0.3, 0.5), parts, strict=True))
    mixed = metric.evaluate(decide(evidence, parts[0].codes, policy=policy), evidence).value
    values = [metric.evaluate(part, evidence).value for part in parts]
    assert mixed == pytest.approx(np.dot((0.2, 0.3, 0.5), values), abs=1e-10)


def test_no_decisions_leave_the_range(case, decide):
    metric, evidence = case
    span = metric.range(evidence)
    assert span is not None and span[0] < span[1]
    for codes in (*(np.full(300, code) for code in range(3)), None):
        value = metric.evaluate(decide(evidence, codes), evidence).value
        assert value is None or span[0] <= value <= span[1]


def test_decisions_about_something_else_are_refused(case, decide):
    """Pitfall 9: a shape mismatch must never broadcast."""
    metric, evidence = case
    n = evidence.n_contexts
    other = decide(evidence)
    short = Decisions("short", other.action_names, other.codes[:1], other.tied[:1])
    nested = Decisions("nested", other.action_names, other.codes[:, None, None], other.tied)
    renamed = Decisions("renamed", ("Deny", "Lower", "Grant"), other.codes, other.tied)
    policy = Decisions("policy", other.action_names, other.codes, other.tied, policy=np.full((3, n), 0.5))
    for wrong in (short, nested, renamed, policy):
        with pytest.raises(InputError, match=f"decisions of '{wrong.strategy}'"):
            metric.evaluate(wrong, evidence)


@dataclass(frozen=True)
class Profit(SumMetric):
    """Share of possible interest that was earned."""

    name: ClassVar[str] = "profit"
    goal: ClassVar[Goal] = "max"

    def theta(self, evidence):
        interest = evidence.log.contexts.numeric("sex") + 0.5
        earned = cell_values(evidence, {("Grant", "Full"): 1.0, ("Lower", "Part"): 1.0}) * interest
        return np.stack([earned, np.broadcast_to(interest, earned.shape)])

    def value(self, sums):
        return sums.ratio(0, 1)


def test_own_metric_needs_theta_and_value_only(world, decide):
    evidence = world(80)
    decisions = decide(evidence)
    earned = possible = 0.0
    for t in range(80):
        interest = evidence.log.contexts["sex"][t] + 0.5
        cell = (
            evidence.problem.actions[decisions.codes[t]],
            evidence.problem.outcomes[evidence.log.outcomes[t]],
        )
        earned += interest * (cell in {("Grant", "Full"), ("Lower", "Part")})
        possible += interest
    assert Profit().evaluate(decisions, evidence).value == pytest.approx(earned / possible, abs=1e-12)
    assert Profit().describe() == "Share of possible interest that was earned."


def test_own_metric_with_wrong_theta_is_refused(world, decide):
    class Flat(Profit):
        def theta(self, evidence):
            return super().theta(evidence)[0]

    class Missing(Profit):
        def theta(self, evidence):
            values = super().theta(evidence)
            values[0, 1, 7] = np.nan
            return values

    evidence = world(80)
    with pytest.raises(InputError, match="theta has shape"):
        Flat().evaluate(decide(evidence), evidence)
    with pytest.raises(InputError, match="context 7 is not a finite number"):
        Missing().evaluate(decide(evidence), evidence)


def test_cell_values_refuses_unknown_cells(world):
    with pytest.raises(UnknownNameError, match="unknown outcome 'Ful'"):
        cell_values(world(5), {("Grant", "Ful"): 1.0})


def test_abstract_metrics_cannot_be_made():
    with pytest.raises(TypeError):
        Metric()
