"""What holds for every bound: attacks stay inside, bounds grow with the threat, witnesses replay, wrong input is named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.certificates.bounds import bounds
from accordant.certificates.reports import Reports
from accordant.certificates.threat import Threat
from accordant.errors import InputError, UnknownNameError
from accordant.metrics import Goal, SumMetric
from accordant.metrics.expressions import Sum
from accordant.strategies.block import block_of
from accordant.utilities import ExpectedRewards

SEX = {"attributes": ("sex",)}
MEASURES = [
    ("accuracy", {}),
    ("mean_reward", {}),
    ("min_reward", {}),
    ("nash_welfare", {}),
    ("gini_reward", {}),
    ("f1", {}),
    ("positive_predictive_value", {}),
    ("demographic_parity", SEX),
    ("predictive_parity", {**SEX, "protected": "0"}),
    ("equalised_odds", {**SEX, "aggregate": "ratio"}),
]
RULES = ["utilitarian", "maximin", "leximin", "kalai_smorodinsky", "nash_bargaining", "compromise_programming", "borda"]


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_attacks_never_get_past_and_witnesses_replay(name, world, misreported):
    rule, generator = strategies.create(name), np.random.default_rng(len(name))
    for seed in range(4):
        evidence = world(25, seed, coarse=seed % 2 == 1)
        threat = Threat(float(generator.choice([0.02, 0.1])), ("Bank", "Press") if seed % 3 else None)
        chosen = [metrics.create(*measure) for measure in MEASURES]
        arguments = {"delta": threat.delta, "coalition": threat.coalition, "evidence": evidence}
        found = [bounds(rule, evidence.expected, metric, **arguments) for metric in chosen]
        for _ in range(25):
            decisions = rule(misreported(evidence.expected, threat, generator))
            for metric, each in zip(chosen, found, strict=True):
                value = metric.evaluate(decisions, evidence).value
                assert each.may_be_undefined if value is None else each.low - 1e-9 <= value <= each.high + 1e-9
        for metric, each in zip(chosen, found, strict=True):
            assert each.low <= each.attained_low <= each.nominal <= each.attained_high <= each.high
            for witness, attained in (
                (each.witness_low(), each.attained_low),
                (each.witness_high(), each.attained_high),
            ):
                assert np.abs(witness.values - evidence.expected.values).max() <= threat.delta + 1e-12
                outside = ~threat.members(evidence.expected.stakeholders)
                assert (witness.values[outside] == evidence.expected.values[outside]).all()
                assert metric.evaluate(rule(witness), evidence).value == pytest.approx(attained, abs=1e-9)


NEEDED = {
    "constant": {"action": "Deny"},
    "decided": {"column": "taken"},
    "stakeholder": {"stakeholder": "Bank"},
    "constrained": {"rule": "maximin", "floors": {"Bank": 0.3}},
    "population_by_group": {"attribute": "sex"},
}
BUILT_IN = [
    name
    for name in strategies.names()
    if strategies.strategies.factory(name).__module__.startswith("accordant.") and name != "outcome_only"
]


@pytest.mark.few(4)
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_strategy(name, world):
    """Whatever a strategy reads: bounds hold the honest value, and witnesses replay."""
    evidence, metric = world(15, 2), metrics.create("accuracy")
    rule = (
        strategies.create(name, NEEDED.get(name))
        .for_problem(evidence.problem)
        .fit(evidence.expected, evidence.log.contexts)
    )
    found = bounds(rule, evidence.expected, metric, delta=0.05, coalition=["Bank", "Press"], evidence=evidence)
    assert 0 <= found.low <= found.attained_low <= found.nominal <= found.attained_high <= found.high <= 1
    for witness, attained in ((found.witness_low(), found.attained_low), (found.witness_high(), found.attained_high)):
        decisions = rule(witness, log=evidence.log, contexts=evidence.log.contexts)
        assert metric.evaluate(decisions, evidence).value == pytest.approx(attained, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("selection", [{}, {"selection": "softmax", "temperature": 0.05}], ids=str)
def test_frozen_reference_points_replay(world, selection):
    """The threat that leaves reference points alone is exact; whoever decides on its witnesses leaves them alone too."""
    expected, theta = world(60, 0).expected, np.array([1.0, 0.4, 0.0])
    rule, threat = strategies.create("kalai_smorodinsky", selection), Threat(0.1, frozen=True)
    found = bounds(rule, expected, theta, delta=0.1, frozen=True)
    assert found.status == "exact"
    assert found.exact
    assert tuple(found) == (found.low, found.high, "exact")
    assert found.low < found.nominal < found.high
    reports = Reports.of(block_of(expected, slice(0, 60)), threat)
    for witness, end in ((found.witness_low(), found.low), (found.witness_high(), found.high)):
        decided = rule.decide(reports.block(np.ascontiguousarray(witness.values)))
        assert theta @ decided.share() == pytest.approx(end, abs=1e-9)


def test_one_misreport_may_change_every_decision_of_a_batch(world):
    """A budget couples contexts, so that a limit on attacked contexts limits nothing."""
    rule = strategies.create("constrained", {"rule": "utilitarian", "budgets": {"Grant": 3}})
    expected = world(10, 0).expected
    assert rule.whole_batch
    found = bounds(rule, expected, [1.0, 0.0, 0.0], delta=0.1, at_most=1)
    assert (found.low, found.high, found.status) == (0.0, 1.0, "sound")
    assert not found.exact
    assert found.attained_low == found.attained_high == found.nominal
    assert found.at_most is None
    settled = bounds(rule, expected, [1.0, 0.0, 0.0], delta=0.1, at_most=0)
    assert tuple(settled) == (settled.nominal, settled.nominal, "exact")


@pytest.mark.few(3)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_bounds_grow_with_radius_and_coalition(measure, world):
    evidence, rule, metric = world(30, 3), strategies.create("utilitarian"), metrics.create(*measure)

    def found(delta, coalition):
        return bounds(rule, evidence.expected, metric, delta=delta, coalition=coalition, evidence=evidence)

    for wider in (
        [found(delta, None) for delta in (0.0, 0.01, 0.05, 0.2, 1.0)],
        [found(0.1, names) for names in ([], ["Bank"], ["Bank", "Press"], None)],
    ):
        first = wider[0]
        assert tuple(first) == (first.nominal, first.nominal, "exact")
        assert first.attained_low == first.attained_high == first.nominal
        for one, other in zip(wider[:-1], wider[1:], strict=True):
            assert other.low <= one.low + 1e-9
            assert other.high >= one.high - 1e-9


@pytest.mark.long
def test_limited_attacks_grow_with_their_number(world):
    evidence, rule = world(30, 3), strategies.create("maximin")
    for measure in MEASURES:
        found = [
            bounds(rule, evidence.expected, metrics.create(*measure), delta=0.1, evidence=evidence, at_most=at_most)
            for at_most in (0, 1, 3, 10, 30, None)
        ]
        assert tuple(found[0])[:2] == pytest.approx((found[0].nominal,) * 2, abs=1e-12)
        for one, other in zip(found[:-1], found[1:], strict=True):
            assert other.low <= one.low + 1e-9
            assert other.high >= one.high - 1e-9
        assert found[-2].low == pytest.approx(found[-1].low, abs=1e-12)
        changed = np.abs(found[2].witness_low().values - evidence.expected.values).max(axis=(0, 1)) > 0
        assert changed.sum() <= 3


def test_values_of_actions_and_of_contexts(world):
    expected, rule = world(7, 0).expected, strategies.create("utilitarian")
    per_action = bounds(rule, expected, [1.0, 0.5, 0.0], delta=0.1)
    per_context = bounds(rule, expected, np.broadcast_to([[1.0], [0.5], [0.0]], (3, 7)), delta=0.1)
    assert tuple(per_action) == tuple(per_context)
    assert per_action.nominal == pytest.approx(np.array([1.0, 0.5, 0.0])[rule(expected).codes].mean())
    for wrong in ([1.0, 0.0], np.ones((3, 6)), [1.0, np.nan, 0.0]):
        with pytest.raises(InputError, match=r"allowed: finite numbers of shape \(3,\) or \(3, 7\)"):
            bounds(rule, expected, wrong, delta=0.1)
    with pytest.raises(InputError, match="metric is dict; allowed"):
        bounds(rule, expected, {"a": 1}, delta=0.1)


def test_metrics_of_expected_rewards_need_no_evidence(world):
    expected, rule = world(30, 0).expected, strategies.create("utilitarian")
    codes, columns = rule(expected).codes, np.arange(30)
    found = bounds(rule, expected, "mean_reward", delta=0.05, coalition=["Bank"])
    assert found.nominal == pytest.approx(expected.values.mean(axis=0)[codes, columns].mean())
    assert found.high == pytest.approx(found.nominal)  # the rule maximises it
    assert found.low < found.nominal
    for name in ("min_reward", "nash_welfare", "gini_reward", "welfare_regret"):
        assert bounds(rule, expected, name, delta=0.05).low is not None
    share = metrics.create("share_of_action", {"action": "Deny"})
    assert bounds(rule, expected, share, delta=0.0).nominal == pytest.approx((codes == 2).mean())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("accuracy", {}),
        ("true_positive_rate", {"actions": ("Grant",)}),
        ("true_positive_rate", {"actions": ("Grant",), "outcomes": ("Full",)}),
        ("demographic_parity", {**SEX, "actions": ("Grant",)}),
        ("mean_outcome", {}),
        ("total_profit", {}),
    ],
)
def test_metrics_of_what_followed_need_evidence(name, parameters, world):
    metric = metrics.create(name, parameters)
    with pytest.raises(InputError, match="pass evidence="):
        bounds(strategies.create("utilitarian"), world(5, 0).expected, metric, delta=0.1)


def test_unknown_names_are_named(world):
    expected, rule = world(5, 0).expected, strategies.create("utilitarian")
    with pytest.raises(UnknownNameError, match="unknown stakeholder in coalition: 'Banc'; did you mean 'Bank'"):
        bounds(rule, expected, "mean_reward", delta=0.1, coalition=["Banc"])
    with pytest.raises(UnknownNameError, match="unknown metric 'mean_rewrd'"):
        bounds(rule, expected, "mean_rewrd", delta=0.1)
    with pytest.raises(UnknownNameError, match="unknown action 'Denny'"):
        bounds(rule, expected, metrics.create("share_of_action", {"action": "Denny"}), delta=0.1)
    for wrong in (-1, 1.5):
        with pytest.raises(InputError, match=f"at_most is {wrong}"):
            bounds(rule, expected, "mean_reward", delta=0.1, at_most=wrong)


def test_evidence_about_something_else_is_refused(world):
    with pytest.raises(InputError, match="the evidence has contexts 6; E has 5"):
        bounds(strategies.create("utilitarian"), world(5, 0).expected, "accuracy", delta=0.1, evidence=world(6, 0))


@dataclass(frozen=True)
class Lying(SumMetric):
    """A metric whose expression is that of another one."""

    name: ClassVar[str] = "lying"
    goal: ClassVar[Goal] = "max"

    def theta(self, evidence):
        return evidence.rewards[:1]

    def expression(self, evidence):
        return Sum.of(self.theta(evidence)[0])


def test_an_expression_that_is_not_the_metric_is_refused(world):
    evidence = world(5, 0)
    with pytest.raises(InputError, match="both must be the same number"):
        bounds(strategies.create("utilitarian"), evidence.expected, Lying(), delta=0.1, evidence=evidence)


def test_nobody_to_count(world):
    """Nobody at all, a single action, a metric that is never defined."""
    rule = strategies.create("utilitarian")
    nobody = ExpectedRewards(np.empty((2, 3, 0)), stakeholders=["a", "b"], actions=["x", "y", "z"])
    assert tuple(bounds(rule, nobody, [1.0, 0.0, 0.0], delta=0.1)) == (None, None, "exact")
    with pytest.raises(InputError, match="E has no contexts"):
        bounds(rule, nobody, "mean_reward", delta=0.1)
    single = ExpectedRewards([[[0.2, 0.4]]], stakeholders=["a"], actions=["x"])
    assert tuple(bounds(rule, single, "mean_reward", delta=1.0)) == pytest.approx((0.3, 0.3, "exact"))
    evidence = world(4, 0)
    never = metrics.create("demographic_parity", {**SEX, "protected": "9"})
    found = bounds(rule, evidence.expected, never, delta=0.1, evidence=evidence)
    assert (found.low, found.high, found.nominal, found.attained_low) == (None, None, None, None)
    assert found.may_be_undefined
    assert found.witness_low() is evidence.expected


def test_plain_values(world):
    found = bounds(strategies.create("utilitarian"), world(9, 0).expected, "mean_reward", delta=0.1, coalition=["Bank"])
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert shown["low"] == found.low
    assert shown["status"] == "exact"
    assert shown["threat"]["coalition"] == ["Bank"]
    assert shown["rule"] == "utilitarian"
    assert shown["metric"] == "mean_reward"
