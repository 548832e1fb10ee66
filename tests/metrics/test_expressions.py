"""Every metric says how it is made of sums: what it says is what it computes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics import CountMetric, Goal, SumMetric
from accordant.metrics.expressions import (
    Defaulted,
    Farthest,
    Fraction,
    GeometricMean,
    Largest,
    LowToHigh,
    Magnitude,
    Smallest,
    Spread,
    magnitude,
    together,
)
from accordant.metrics.expressions import Part, Ratio, Sum, Undefined, columns_of, divided, mean_of, weighed
from accordant.metrics.metric import expression_of
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

LOANS = {
    "stakeholders": [{"name": "Bank", "weight": 2.0}, "Applicant", "Regulatory"],
    "actions": ["Grant", "Grant_lower", "Not_Grant"],
    "outcomes": ["Fully_Repaid", "Partially_Repaid", "Not_Repaid"],
    "favourable_actions": ["Grant", "Grant_lower"],
    "favourable_outcomes": ["Fully_Repaid"],
    "outcome_to_action": {
        "Fully_Repaid": "Grant", "Partially_Repaid": "Grant_lower", "Not_Repaid": "Not_Grant"
    },
}  # fmt: skip
CARE = {"stakeholders": ["Patient", "Payer"], "actions": ["A", "C"], "outcomes": {"name": "score"}}

GROUPS = ("demographic_parity", "equal_opportunity", "predictive_equality", "equalised_odds", "predictive_parity")
LOAN_METRICS = [
    ("reward_gap", {"stakeholder": "Bank", "attribute": "sex", "protected": "1"}),
    ("share_within", {"action": "Grant", "attribute": "age", "group": "young", "percent": True}),
    *((name, {}) for name in ("accuracy", "selection_rate", "true_positive_rate", "false_positive_rate")),
    *((name, {}) for name in ("positive_predictive_value", "precision", "recall", "f1")),
    *((name, {}) for name in ("true_negative_rate", "false_negative_rate")),
    *(
        ("equalised_odds", {"attributes": ("sex",), "aggregate": each, "combined": "mean"})
        for each in ("difference", "ratio")
    ),
    ("selection_rate", {"attributes": ("age",), "actions": {"Grant": 1.0, "Grant_lower": 0.5}}),
    *(
        (name, {"attributes": attributes, "aggregate": aggregate})
        for name in (*GROUPS, "accuracy_parity")
        for attributes in (("sex",), ("sex", "age"))
        for aggregate in ("difference", "ratio")
    ),
    *((name, {"attributes": ("sex",), "protected": "1"}) for name in (*GROUPS, "accuracy_parity")),
    ("demographic_parity", {"attributes": ("sex",), "protected": "7"}),
    ("share_of_action", {"action": "Grant", "percent": True}),
    ("stakeholder_reward", {"stakeholder": "Bank"}),
    ("stakeholder_regret", {"stakeholder": "Bank", "total": True}),
    *((name, {}) for name in ("mean_reward", "min_reward", "nash_welfare", "gini_reward", "welfare_regret")),
    ("gini_reward", {"weights": (1.0, 0.0, 3.0)}),
    ("min_reward", {"weights": (1.0, 0.0, 3.0)}),
    *((name, {}) for name in ("total_profit", "unexploited_profit", "total_loss", "full_profit", "full_loss")),
    ("table_payoff", {"stakeholder": "Bank"}),
]
CARE_METRICS = [
    *((name, {}) for name in ("mean_outcome", "policy_value", "outcome_regret", "best_action_share")),
    ("mean_outcome", {"total": True, "levels": "robust"}),
    *((name, {}) for name in ("cost_effectiveness", "matched_cost_effectiveness", "score_difference")),
    *(("mean_score_of", {"action": action}) for action in ("A", "C")),
    ("selection_rate", {"actions": ("A",)}),
]


def loans(n, seed, *, negative=False):
    generator = np.random.default_rng(seed)
    problem = DecisionProblem(**LOANS)
    columns = {
        "sex": generator.integers(0, 2, n).astype(float),
        "age": np.array(["old", "young"])[generator.integers(0, 2, n)],
        "Loan_Amount": generator.integers(1, 9, n) * 1000.0,
        "Interest_Rate": generator.integers(5, 20, n) / 100,
        "Recoveries": generator.integers(0, 9, n) * 100.0,
        "Applicant_Type": generator.integers(0, 2, n).astype(float),
    }
    log = Log(Contexts(columns), generator.integers(0, 3, n), generator.integers(0, 3, n))
    expected = ExpectedRewards(
        generator.random((3, 3, n)), stakeholders=problem.stakeholder_names, actions=problem.actions
    )
    return Evidence(problem, log, expected, generator.random((3, 3, n)) - (0.4 if negative else 0.0))


def care(n, seed):
    generator = np.random.default_rng(seed)
    problem = DecisionProblem(**CARE)
    log = Log(Contexts({"sex": np.zeros(n)}), generator.integers(0, 2, n), generator.normal(size=n))
    expected = ExpectedRewards(
        generator.random((2, 2, n)), stakeholders=problem.stakeholder_names, actions=problem.actions
    )
    levels = generator.normal(size=(3, 2, n)).round(1)
    return Evidence(problem, log, expected, generator.random((2, 2, n)), None, *levels)


def decisions_of(evidence, generator, *, drawn=False, only=None):
    n, actions = evidence.n_contexts, evidence.problem.actions
    codes = generator.integers(0, len(actions), n) if only is None else np.full(n, only)
    policy = generator.dirichlet(np.ones(len(actions)), n).T if drawn else None
    return Decisions("test", actions, codes, np.zeros(n, dtype=bool), policy=policy)


def assert_agree(metric, evidence, decisions):
    said, computed = expression_of(metric, evidence).value(decisions), metric.evaluate(decisions, evidence).value
    assert (said is None) == (computed is None), (metric, said, computed)
    if computed is not None:
        assert said == pytest.approx(computed, abs=1e-12, rel=1e-12), metric


@pytest.mark.parametrize(("name", "parameters"), LOAN_METRICS + CARE_METRICS)
def test_what_a_metric_says_is_what_it_computes(name, parameters):
    metric = metrics.create(name, parameters)
    world = loans if (name, parameters) in LOAN_METRICS else care
    for seed, n in enumerate((1, 2, 3, 5, 8, 40, 200)):
        evidence, generator = world(n, seed), np.random.default_rng(seed)
        for drawn in (False, True):
            assert_agree(metric, evidence, decisions_of(evidence, generator, drawn=drawn))
        for only in range(len(evidence.problem.actions)):
            assert_agree(metric, evidence, decisions_of(evidence, generator, only=only))


def test_every_metric_is_tried():
    assert {name for name, _ in LOAN_METRICS + CARE_METRICS} == set(metrics.names())


@pytest.mark.parametrize("name", ["mean_reward", "min_reward", "nash_welfare", "gini_reward"])
def test_rewards_below_zero(name):
    """Doubly robust rewards leave [0, 1]."""
    for seed in range(20):
        evidence = loans(6, seed, negative=True)
        assert_agree(metrics.create(name), evidence, decisions_of(evidence, np.random.default_rng(seed)))


def test_inequality_of_many():
    """More stakeholders than orders are tried of."""
    generator = np.random.default_rng(0)
    names = [f"s{i}" for i in range(6)]
    problem = DecisionProblem(stakeholders=names, actions=["a", "b"], outcomes=["o"])
    log = Log(Contexts({"x": np.zeros(9)}), np.zeros(9, dtype=int), np.zeros(9, dtype=int))
    expected = ExpectedRewards(generator.random((6, 2, 9)), stakeholders=names, actions=["a", "b"])
    evidence = Evidence(problem, log, expected, expected.values)
    assert_agree(metrics.create("gini_reward"), evidence, decisions_of(evidence, generator))
    nothing = replace(evidence, rewards=np.zeros((6, 2, 9)))
    assert_agree(metrics.create("gini_reward"), nothing, decisions_of(evidence, generator))


@dataclass(frozen=True)
class Plain(SumMetric):
    """The first column, as by default."""

    name: ClassVar[str] = "plain"
    goal: ClassVar[Goal] = "max"

    def theta(self, evidence):
        return evidence.rewards[:2]


@dataclass(frozen=True)
class Squared(Plain):
    """Not what the default says."""

    name: ClassVar[str] = "squared"

    def value(self, sums):
        return sums.totals[..., 0] ** 2


@dataclass(frozen=True)
class Counted(CountMetric):
    """Counts, in some way of its own."""

    name: ClassVar[str] = "counted"
    goal: ClassVar[Goal] = "max"

    def value(self, table):
        return table.counts.sum(axis=(-3, -2, -1))


def test_own_metrics():
    evidence = loans(12, 0)
    assert_agree(Plain(), evidence, decisions_of(evidence, np.random.default_rng(1)))
    for metric in (Squared(), Counted()):
        assert metric.expression(evidence) is None
        with pytest.raises(InputError, match=f"metric '{metric.name}' does not say how it is made of sums"):
            expression_of(metric, evidence)


def test_missing_evidence_is_refused():
    with pytest.raises(InputError, match="it needs a continuous outcome"):
        expression_of(metrics.create("mean_outcome"), loans(5, 0))


def _decided(codes, n_actions=2):
    return Decisions("test", tuple("abc"[:n_actions]), np.array(codes), np.zeros(len(codes), dtype=bool))


def test_sums_by_hand():
    theta = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    some = np.array([2, 0])
    total = Sum((Part(0.5, theta), Part(2.0, theta[:, [2, 0]], some)), 7.0)
    assert total.value(_decided([0, 1, 1])) == 7 + 0.5 * (1 + 20 + 30) + 2 * (30 + 1)
    assert total.scaled(-2.0).value(_decided([0, 1, 1])) == -2 * total.value(_decided([0, 1, 1]))
    assert total.minus(total).value(_decided([1, 0, 1])) == 0
    assert total.table(2, 3).tolist() == [[2.5, 1.0, 7.5], [25.0, 10.0, 75.0]]
    assert total.contexts is None
    assert Sum.of(theta[:, [2, 0]], contexts=some).contexts is some
    assert Sum.of(theta[:, [2, 0]], contexts=some).table(2, 3, some).tolist() == [[3.0, 1.0], [30.0, 10.0]]
    assert weighed(columns_of(np.stack([theta, -theta])), (1.0, 1.0)).value(_decided([0, 0, 0])) == 0


def test_division():
    theta = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert isinstance(divided(Sum.of(theta), Sum.of(theta)), Ratio)
    halved = divided(Sum.of(theta), Sum(offset=2.0))
    assert isinstance(halved, Sum)
    assert halved.value(_decided([1, 0])) == 2.5
    assert isinstance(divided(Sum.of(theta), Sum.of(0 * theta)), Undefined)
    assert Ratio(Sum.of(theta), Sum.of(np.array([[0.0, 0.0], [1.0, 1.0]]))).value(_decided([0, 0])) is None
    assert mean_of(np.empty((2, 0)), 0).value(_decided([])) is None


def test_combinations_by_hand():
    one, two, minus = (Sum(offset=value) for value in (1.0, 2.0, -3.0))
    nobody = _decided([])
    for made, value in (
        (together((one, two), (2.0, -1.0), 0.5), 0.5),
        (Largest((one, two)), 2.0),
        (Smallest((one, two)), 1.0),
        (Spread((one, minus)), 4.0),
        (LowToHigh((one, two)), 0.5),
        (LowToHigh((Sum(), Sum())), None),
        (Magnitude((minus,)), 3.0),
        (Farthest((two, minus)), -3.0),
        (Fraction((one, two)), 0.5),
        (Fraction((one, Sum())), None),
        (GeometricMean((two, Sum(offset=8.0)), (0.5, 0.5)), 4.0),
        (GeometricMean((two, Sum()), (0.5, 0.5)), 0.0),
        (GeometricMean((two, minus), (0.5, 0.5)), 0.0),
        (Defaulted(Undefined(), 7.0), 7.0),
        (Defaulted(one, 7.0), 1.0),
        (Largest((one, Undefined())), None),
    ):
        assert made.value(nobody) == (value if value is None else pytest.approx(value, abs=1e-15)), made
    assert magnitude(Spread((one, two))).value(nobody) == 1.0
    assert isinstance(magnitude(one), Magnitude)
