"""NaN, infinities, odd shapes and layouts, very many stakeholders: right answer or a clear error."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError, RewardError
from accordant.strategies import Strategy
from accordant.strategies.block_decisions import ContextRule, decide
from accordant.utilities import ExpectedRewards

READY = [
    rule
    for name in strategies.names()
    if issubclass(factory := strategies.strategies.factory(name), ContextRule) and name != "stakeholder"
    if (rule := strategies.create(name)).fitted
]
NAMES = {"stakeholders": list("xyz"), "actions": list("abcd")}


def rewards(values):
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def label(rule: Strategy) -> str:
    return rule.label


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -0.1, 1.1])
def test_values_that_are_no_rewards_are_refused(bad):
    values = np.full((3, 4, 5), 0.5)
    values[1, 2, 3] = bad
    with pytest.raises(RewardError, match="stakeholder 'y' for action 'c' in context 3 is .*; allowed: \\[0, 1\\]"):
        ExpectedRewards(values, **NAMES)


def test_nobody_and_nothing_are_refused():
    for shape in ((0, 3, 5), (3, 0, 5)):
        with pytest.raises(InputError, match="need at least one stakeholder and one action"):
            ExpectedRewards(np.zeros(shape), stakeholders=list("xyz")[: shape[0]], actions=list("abc")[: shape[1]])


@pytest.mark.few(40)
@pytest.mark.parametrize("rule", READY, ids=label)
@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 4, 3), (3, 1, 3), (3, 4, 0), (2, 2, 1)])
def test_smallest_shapes(rule, shape):
    values = np.random.default_rng(0).random(shape)
    decided = rule(rewards(values))
    assert decided.codes.shape == decided.tied.shape == (shape[2],)
    if shape[0] == 1 and rule.kind == "compromise" and rule.name != "sufficientarian":
        np.testing.assert_array_equal(decided.codes, values[0].argmax(axis=0))
    if shape[1] == 1:
        assert not decided.tied.any()
        assert not decided.codes.any()


@pytest.mark.parametrize("rule", READY, ids=label)
def test_layout_and_flags_of_the_array_do_not_matter(rule):
    values = np.random.default_rng(1).choice([0.0, 0.2, 0.7, 1.0], size=(3, 4, 600))
    plain = rule(rewards(values))
    read_only = values.copy()
    read_only.flags.writeable = False
    for other in (
        read_only,
        np.asfortranarray(values),
        np.repeat(values, 2, axis=2)[:, :, ::2],
        values[:, :, ::-1][:, :, ::-1],
    ):
        decided = rule(rewards(other))
        np.testing.assert_array_equal(decided.codes, plain.codes)
        np.testing.assert_array_equal(decided.tied, plain.tied)
    assert not read_only.flags.writeable
    np.testing.assert_array_equal(read_only, values)


@pytest.mark.parametrize("rule", READY, ids=label)
def test_rules_leave_their_input_alone(rule):
    values = np.random.default_rng(2).random((3, 4, 200))
    E = rewards(values.copy())
    rule(E)
    np.testing.assert_array_equal(E.values, values)


@pytest.mark.long
def test_blocks_and_threads_change_nothing(monkeypatch):
    values = np.random.default_rng(3).choice([0.0, 0.1, 0.5, 0.9, 1.0], size=(3, 4, 5000))
    E = rewards(values)
    whole = [rule(E) for rule in READY]
    monkeypatch.setattr("accordant.strategies.block.BLOCK_SIZE", 12 * 97)
    for threads in (1, 2, 3):
        for one, other in zip(whole, decide(READY, E, threads=threads), strict=True):
            np.testing.assert_array_equal(one.codes, other.codes, err_msg=one.strategy)
            np.testing.assert_array_equal(one.tied, other.tied, err_msg=one.strategy)
            assert one.flags.keys() == other.flags.keys()
            assert one.quantities.keys() == other.quantities.keys()
            for first, second in [
                (one.scores, other.scores), (one.policy, other.policy),
                *((one.flags[key], other.flags[key]) for key in one.flags),
                *((one.quantities[key], other.quantities[key]) for key in one.quantities),
            ]:  # fmt: skip
                assert (first is None) == (second is None)
                if first is not None:
                    np.testing.assert_array_equal(first, second, err_msg=one.strategy)
        for one, bare in zip(whole, decide(READY, E, details=False, threads=threads), strict=True):
            np.testing.assert_array_equal(one.codes, bare.codes)
            np.testing.assert_array_equal(one.tied, bare.tied)
            assert bare.scores is None


def test_rewards_mapped_from_a_file(tmp_path):
    values = np.random.default_rng(4).random((3, 4, 2000))
    np.save(tmp_path / "E.npy", values)
    mapped = ExpectedRewards(np.load(tmp_path / "E.npy", mmap_mode="r"), **NAMES)
    assert np.shares_memory(mapped.values, mapped.values) and not mapped.values.flags.owndata
    for rule in READY:
        np.testing.assert_array_equal(rule(mapped).codes, rule(rewards(values)).codes)


@pytest.mark.long
def test_a_million_stakeholders_and_two_actions():
    values = np.random.default_rng(5).random((1_000_000, 2, 1))
    values[:, 1] = np.minimum(values[:, 0] + 0.01, 1.0)  # better for everybody
    E, some = rewards(values), rewards(values[:10_000])
    for rule in READY:
        if rule.kind == "compromise" and rule.name not in ("maximin", "leximin", "hurwicz"):
            spoken = rule.name == "debate"  # each stakeholder's turn takes 90 microseconds
            assert rule(some if spoken else E).codes.tolist() == [1], rule.label
    assert strategies.plurality(E).codes.tolist() == [1]


def test_more_actions_than_an_eight_bit_code_holds():
    values = np.random.default_rng(6).random((2, 300, 50))
    decided = strategies.utilitarian(rewards(values))
    np.testing.assert_array_equal(decided.codes, values.sum(axis=0).argmax(axis=0))
    assert decided.codes.max() > 127


@pytest.mark.parametrize("weights", [(1.0, 2.0), (-1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (np.nan, 1.0, 1.0), ("a", 1, 1)])
def test_wrong_weights(weights):
    for rule in ("utilitarian", "generalised_gini", "nash_bargaining", "sufficientarian"):
        with pytest.raises(InputError, match="stakeholder weights .* are wrong"):
            strategies.create(rule, {"weights": weights})(rewards(np.full((3, 2, 1), 0.5)))


@pytest.mark.parametrize(("name", "parameters", "message"), [
    ("alpha_fairness", {"alpha": -1.0}, "alpha is -1.0; allowed: at least 0, or inf"),
    ("atkinson", {"aversion": float("nan")}, "aversion is nan; allowed: at least 0"),
    ("hurwicz", {"optimism": 1.5}, "optimism is 1.5; allowed: \\[0, 1\\]"),
    ("sufficientarian", {"floor": 2.0}, "floor is 2.0; allowed: a number in \\[0, 1\\], or one per stakeholder"),
    ("generalised_gini", {"order_weights": (1.0, -1.0)}, "order_weights are .*; allowed: numbers of at least 0"),
])  # fmt: skip
def test_wrong_parameters(name, parameters, message):
    with pytest.raises(InputError, match=message):
        strategies.create(name, parameters)


def test_as_many_parameters_as_stakeholders():
    E = rewards(np.full((3, 2, 1), 0.5))
    with pytest.raises(InputError, match="2 floors were given for 3 stakeholders"):
        strategies.create("sufficientarian", {"floor": (0.1, 0.2)})(E)
    with pytest.raises(InputError, match="2 order_weights were given for 3 stakeholders with positive weight"):
        strategies.create("generalised_gini", {"order_weights": (0.5, 0.5)})(E)
