"""What a stakeholder alone can gain by misreporting: by hand, by enumeration, and against the axiom's finite search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.axioms.incentives import reports
from accordant.certificates.manipulation import NEGLIGIBLE, manipulability
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import strategies as registry

NAMES, ACTIONS = ("P", "Q", "R"), ("a", "b", "c")
RULES = [
    name for name in registry
    if issubclass(registry.factory(name), ContextRule) and name not in ("stakeholder", "alpha_fairness", "atkinson")
]  # fmt: skip


def world(values):
    values = np.asarray(values, dtype=float)
    return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])


def test_an_election_by_hand():
    # one first place each; the sums 1.3, 1.7 and 0.6 choose b. P makes it 1.2 by giving b nothing, and gets a; R cannot
    # lower b below 1.3 or raise c above 1.1
    expected = world([[1.0, 0.5, 0.0], [0.0, 0.8, 0.1], [0.3, 0.4, 0.5]])
    rule = strategies.plurality
    assert rule(expected).codes[0] == 1
    found = manipulability(rule, expected)
    assert found.gain_low[:, 0].tolist() == pytest.approx([0.5, 0.0, 0.0])
    assert found.action[:, 0].tolist() == [0, 1, 1]
    assert found.exact.all()
    assert found.manipulable[:, 0].tolist() == [True, False, False]
    reported = found.witness("P")
    assert rule(reported).codes[0] == 0
    assert np.array_equal(reported.values[1:], expected.values[1:])


def test_a_change_against_the_own_interest_is_no_manipulation():
    expected = world([[0.9, 0.1], [0.5, 0.5]])  # P can bring about b, and does not want it
    found = manipulability(strategies.utilitarian, expected)
    assert found.certificates[0].inner[:, 0].all()
    assert found.gain_low[0, 0] == 0
    assert found.gain_high[0, 0] == 0
    assert found.action[0, 0] == 0
    assert found.proof.all()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["utilitarian", "maximin", "kalai_smorodinsky", "plurality", "borda", "approval"])
def test_gains_are_at_least_those_of_a_grid_of_reports(name):
    generator, rule = np.random.default_rng(1), strategies.create(name)
    for _ in range(12):
        values = generator.random((3, 3)).round(1)
        found = manipulability(rule, world(values))
        decided = rule(world(values)).codes[0]
        for i in range(3):
            points = np.array(list(itertools.product(np.linspace(0, 1, 7), repeat=3))).T
            reported = np.repeat(values[:, :, None], points.shape[1], axis=2)
            reported[i] = points
            best = (values[i, rule(world(reported)).codes] - values[i, decided]).max()
            assert found.gain_high[i, 0] >= best - 1e-12
            if found.exact[i, 0]:
                assert found.gain_low[i, 0] >= best - 1e-12
            one = world(values)
            chosen = rule(found.witness(NAMES[i])).codes[0]
            assert found.gain_low[i, 0] == pytest.approx(one.values[i, chosen, 0] - one.values[i, decided, 0])


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RULES)
def test_the_finite_search_of_the_axiom_never_gains_more(name):
    generator = np.random.default_rng(2)
    values = generator.random((3, 3, 60))
    expected, columns = world(values), np.arange(60)
    rule = strategies.create(name).fit(expected)
    found, decided = manipulability(rule, expected), rule(expected).codes
    assert (found.gain_low <= found.gain_high).all()
    assert (found.gain_low >= 0).all()
    for i in range(3):
        gains = np.zeros(60)
        for report in reports(values[i], decided, np.random.default_rng(0)):
            changed = values.copy()
            changed[i] = report
            after = rule(world(changed)).codes
            gains = np.maximum(gains, values[i, after, columns] - values[i, decided, columns])
        assert (gains <= found.gain_high[i] + 1e-12).all()
        known = found.exact[i]
        assert (gains[known] <= found.gain_low[i][known] + 1e-12).all()
        assert (gains > NEGLIGIBLE).mean() <= found.shares[1][i]


def test_dictators_and_constants_leave_nothing_to_gain():
    expected = world(np.random.default_rng(3).random((3, 3, 40)))
    for rule in (
        strategies.create("stakeholder", {"stakeholder": "Q"}),
        strategies.create("constant", {"action": "c"}),
    ):
        found = manipulability(rule, expected)
        assert found.proof.all()
        assert found.shares[1].tolist() == [0.0, 0.0, 0.0]


def test_small_misreports_gain_less():
    expected = world(np.random.default_rng(4).random((3, 3, 100)))
    previous = np.zeros((3, 100))
    for delta in (0.0, 0.05, 0.2, 1.0):
        found = manipulability(strategies.utilitarian, expected, delta=delta)
        assert (found.gain_low >= previous).all()
        previous = found.gain_low
    assert previous.any()
    assert not manipulability(strategies.utilitarian, expected, delta=0.0).manipulable.any()


def test_bounds_of_unknown_rules_hold_both_ways():
    rule = strategies.create("constrained", {"rule": "utilitarian", "budgets": {"a": 2}})
    expected = world(np.random.default_rng(5).random((3, 3, 6)))
    found = manipulability(rule, expected)
    assert (found.gain_low == 0).all()
    assert np.allclose(
        found.gain_high, expected.values.max(axis=1) - expected.values[:, rule(expected).codes, np.arange(6)]
    )


def test_plain_values_and_edges():
    expected = world(np.random.default_rng(6).random((3, 3, 50)))
    found = manipulability(strategies.borda, expected)
    shown = found.to_json()
    assert shown["contexts"] == 50
    assert [row["stakeholder"] for row in shown["stakeholders"]] == list(NAMES)
    for i, row in enumerate(shown["stakeholders"]):
        assert row["manipulable"]["low"] == found.manipulable[i].mean() <= row["manipulable"]["high"]
        assert row["mean_gain"]["low"] == pytest.approx(found.gain_low[i].mean())
    nobody = manipulability(strategies.borda, world(np.empty((3, 3, 0)))).to_json()
    assert nobody["stakeholders"][0]["mean_gain"]["low"] is None
    assert manipulability(strategies.borda, world([[0.3], [0.4]])).proof.all()
    with pytest.raises(UnknownNameError, match="stakeholder"):
        found.witness("nobody")
    with pytest.raises(InputError, match="delta is -1"):
        manipulability(strategies.borda, expected, delta=-1)
