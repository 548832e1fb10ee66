"""Who gets the say: the worked example of every mechanism, ties, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.rules.dynamic import weight_allocations
from accordant.slates.rules.dynamic.rule import _decided

NAMES = ("one", "two")
M, C, ONES = np.array([0.4, 0.9]), np.array([0.5, 1.0]), np.ones(2)


@pytest.mark.parametrize(
    ("name", "parameters", "shares"),
    [
        ("random", {}, (0.5, 0.5)),
        ("product", {}, (0.75, 0.25)),
        ("weighted_product", {"fairness_exponent": 2.0, "compatibility_exponent": 1.0}, (0.9474, 0.0526)),
        ("fairness_lottery", {}, (0.8571, 0.1429)),
        ("least_fair", {}, (1.0, 0.0)),
        ("most_compatible", {}, (0.0, 1.0)),
        ("static_lottery", {"chances": {"two": 0.3}}, (0.0, 0.3)),
        ("static_lottery", {"chances": {"one": 1.0, "two": 3.0}}, (0.25, 0.75)),
    ],
)
def test_worked_example(name, parameters, shares):
    """m = (.4, .9), c = (.5, 1)."""
    found = weight_allocations.create(name, parameters).shares(NAMES, M, C, ONES)
    np.testing.assert_allclose(found, shares, atol=5e-5)


def test_every_mechanism_is_tested():
    assert set(weight_allocations) == {
        "random",
        "product",
        "weighted_product",
        "fairness_lottery",
        "least_fair",
        "most_compatible",
        "static_lottery",
    }


@pytest.mark.parametrize("name", ["product", "weighted_product", "fairness_lottery"])
def test_nobody_is_served_if_nobody_is_behind(name):
    assert weight_allocations.create(name).shares(NAMES, ONES, C, ONES).tolist() == [0.0, 0.0]


def test_ties_go_to_the_first_and_weights_multiply():
    assert weight_allocations.create("least_fair").shares(NAMES, np.full(2, 0.3), C, ONES).tolist() == [1.0, 0.0]
    assert weight_allocations.create("most_compatible").shares(NAMES, M, np.full(2, 0.3), ONES).tolist() == [1.0, 0.0]
    rounded = np.array([0.1 + 0.2, 0.3])
    assert weight_allocations.create("least_fair").shares(NAMES, rounded, C, ONES).tolist() == [1.0, 0.0]
    weights = np.array([1.0, 3.0])
    assert weight_allocations.create("random").shares(NAMES, M, C, weights).tolist() == [0.25, 0.75]
    np.testing.assert_allclose(weight_allocations.create("product").shares(NAMES, M, C, weights), [0.5, 0.5])


def test_exponents_of_zero_leave_a_factor_out():
    shares = weight_allocations.create("weighted_product", {"fairness_exponent": 1, "compatibility_exponent": 0})
    lottery = weight_allocations.create("fairness_lottery")
    np.testing.assert_allclose(shares.shares(NAMES, M, C, ONES), lottery.shares(NAMES, M, C, ONES))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 5)), min_size=1, max_size=6),
    st.floats(0, 0.999),
)
def test_shares_are_shares_and_the_lot_falls_on_one_of_them(who, draw):
    m, c, w = np.array(who).T
    names = [f"s{i}" for i in range(len(m))]
    for name in weight_allocations:
        parameters = {"chances": {"s0": 0.4}} if name == "static_lottery" else {}
        shares = weight_allocations.create(name, parameters).shares(names, m, c, w)
        assert (shares >= 0).all()
        assert shares.sum() <= 1 + 1e-9
        say = _decided("lottery", shares, draw)
        assert sorted(set(say.tolist())) in ([0.0], [1.0], [0.0, 1.0])
        assert say.sum() <= 1
        assert (shares[say > 0] > 0).all()
        if shares.sum() > 1 - 1e-12:
            assert say.sum() == 1


def test_the_lot_by_hand():
    shares = np.array([0.2, 0.0, 0.5])
    for draw, winner in ((0.0, 0), (0.199, 0), (0.2, 2), (0.699, 2), (0.7, None), (0.99, None)):
        say = _decided("lottery", shares, draw)
        assert (int(say.argmax()) if say.any() else None) == winner
    assert _decided("top", shares, 0.0).tolist() == [0, 0, 1]
    assert _decided("top", np.zeros(2), 0.0).tolist() == [0, 0]
    assert _decided("mixture", shares, 0.0) is shares
    # ten tenths sum to less than 1: the gap is rounding, not nobody's
    assert _decided("lottery", np.full(10, 0.1), 1 - 2**-53).tolist() == [0] * 9 + [1]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("weighted_product", {"fairness_exponent": -1}, "fairness_exponent is -1; allowed: a finite number"),
        ("weighted_product", {"compatibility_exponent": float("inf")}, "compatibility_exponent is inf"),
        ("static_lottery", {"chances": {}}, "chances are {}"),
        ("static_lottery", {"chances": {"a": -0.1}}, "chances are {'a': -0.1}"),
        ("static_lottery", {}, "parameter 'chances' is missing"),
        ("prodct", {}, "did you mean 'product'"),
    ],
)
def test_wrong_parameters(name, parameters, message):
    with pytest.raises(InputError, match=message):
        weight_allocations.create(name, parameters)


def test_chances_for_nobody():
    lottery = weight_allocations.create("static_lottery", {"chances": {"tow": 1.0}})
    with pytest.raises(UnknownNameError, match="did you mean 'two'"):
        lottery.check(NAMES)
    weight_allocations.create("product").check(NAMES)
