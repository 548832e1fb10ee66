"""Approvals: three ways to approve against sorting and exact means, what may be shown, ties, and wrong parameters."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.slates.rules.approval import ApprovalRule, approvals
from accordant.utilities import ExpectedRewards

GRID = 8  # expected rewards are multiples of 1/8, which floats hold exactly


def candidates(values, available=None, weights=None):
    values = np.asarray(values)
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    expected = ExpectedRewards(values, stakeholders=names[0], actions=names[1])
    return Candidates(expected, available, weights)


def twin(values, available, best, threshold):
    """Who approves what, one stakeholder, item and user after the other, in exact fractions."""
    n_stakeholders, n_items, n_users = values.shape
    found = np.zeros(values.shape, dtype=bool)
    for i in range(n_stakeholders):
        for u in range(n_users):
            shown = {c: Fraction(values[i, c, u]) for c in range(n_items) if available[c, u]}
            if not shown:
                continue
            level = sum(shown.values()) / len(shown)
            if best is not None:
                level = sorted(shown.values(), reverse=True)[:best][-1]
            if threshold is not None:
                level = Fraction(threshold)
            for c, value in shown.items():
                found[i, c, u] = value >= level
    return found


@st.composite
def worlds(draw):
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = generator.integers(0, GRID + 1, shape) / GRID
    return values, generator.random(shape[1:]) < draw(st.sampled_from([0.3, 0.8, 1.0]))


@settings(max_examples=150, deadline=None)
@given(
    worlds(),
    st.one_of(
        st.tuples(st.none(), st.none()),
        st.tuples(st.integers(1, 8), st.none()),
        st.tuples(st.none(), st.integers(0, GRID).map(lambda n: n / GRID)),
    ),
)
def test_twin(world, ballots):
    found = approvals(candidates(*world), *ballots)
    np.testing.assert_array_equal(found, twin(*world, *ballots))
    assert found.flags.c_contiguous and found.dtype == np.bool_


def test_all_that_tie_with_the_last_are_approved():
    values = np.array([[0.9, 0.5, 0.5, 0.5, 0.1]])[:, :, None]
    assert approvals(candidates(values), best=2)[0, :, 0].tolist() == [True, True, True, True, False]
    assert approvals(candidates(values), best=1)[0, :, 0].tolist() == [True, False, False, False, False]


@pytest.mark.parametrize("constant", [0.0, 0.1, 1 / 3, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_scores_approve_everything_that_may_be_shown(constant, dtype):
    values = np.full((2, 5_000, 2), constant, dtype=dtype)
    available = np.arange(5_000) % 7 != 0
    values[:, ::7] = 0.77
    found = approvals(candidates(values, available))
    np.testing.assert_array_equal(found, np.broadcast_to(available[None, :, None], found.shape))


def test_rounding_does_not_decide():
    """0.1 + 0.2 is above 0.3, and float32 rounds 0.7 down."""
    assert approvals(candidates([[0.3, 0.1 + 0.2]]), best=1).all()
    assert approvals(candidates(np.array([[0.7, 0.2]], dtype=np.float32)), threshold=0.7)[0, :, 0].tolist() == [
        True,
        False,
    ]
    assert not approvals(candidates([[0.7 - 1e-9, 0.2]]), threshold=0.7).any()


def test_a_user_is_judged_alone():
    values = np.random.default_rng(3).random((3, 40, 30))
    available = np.random.default_rng(4).random((40, 30)) < 0.7
    world = candidates(values, available)
    together = approvals(world)
    for u in range(30):
        np.testing.assert_array_equal(approvals(world.take(slice(u, u + 1)))[:, :, 0], together[:, :, u])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"best": 3, "threshold": 0.5}, "one of them, or neither"),
        ({"best": 0}, "at least 1"),
        ({"best": True}, "at least 1"),
        ({"best": 2.0}, "at least 1"),
        ({"threshold": -0.1}, r"\[0, 1\]"),
        ({"threshold": 1.5}, r"\[0, 1\]"),
        ({"threshold": float("nan")}, r"\[0, 1\]"),
        ({"threshold": "high"}, r"\[0, 1\]"),
    ],
)
def test_wrong_parameters(given, message):
    with pytest.raises(InputError, match=message):
        approvals(candidates([[0.5, 0.2]]), **given)
    with pytest.raises(InputError, match=message):
        rules.create("seq_pav", given)


def test_rules_know_their_kind_and_rebuild_themselves():
    rule = rules.create("seq_pav", {"best": 4})
    assert isinstance(rule, ApprovalRule) and rule.kind == "approval"
    assert rule.label == "seq_pav[best=4]"
    assert rules.create(rule.name, rule.parameters) == rule
