"""Ranges of expressions in difficult corners: signs, single parts, kinds that nobody knows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates.bounds import bounds
from accordant.certificates.bounds.choices import Sets
from accordant.certificates.bounds.composition import _combine, enclose
from accordant.certificates.bounds.duality import _best_between, _lowest_cut, geometric_mean_bound, smallest_together
from accordant.certificates.bounds.atomic_bounds import Enclosure, best_fraction
from accordant.certificates.bounds.choices import Anything, Move, best_draw
from accordant.certificates.bounds.attack_values import _join, slope
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.metrics.expressions import Combination, Defaulted, GeometricMean, Largest, LowToHigh, Magnitude, OfParts
from accordant.metrics.expressions import Smallest, Spread, together
from accordant.metrics.expressions import Expression, Ratio, Sum, Undefined
from accordant.strategies.selection import proportional_policy, softmax_policy
from accordant.utilities import ExpectedRewards

BASE = Decisions("base", ("a", "b"), np.zeros(3, dtype=int), np.zeros(3, dtype=bool))
FREE = Sets(BASE, None, np.ones((2, 3), dtype=bool))


def per_action(a, b):
    return Sum.of(np.broadcast_to(np.array([[a], [b]], dtype=float), (2, 3)))


class Strange(Expression):
    """An expression of another kind."""

    def value(self, decisions):
        return 0.0


class Odd(OfParts):
    """A function of parts of another kind."""

    def of(self, values):
        return sum(values)


def ends(expression, choices=FREE):
    found = enclose(expression, choices)
    return found.low, found.high, found.may_be_undefined


def test_the_largest_ratio_where_most_is_gained_without_any_bottom():
    """Of 1 / 1, 3 / 0, 4 / 2 and 3 / 1 the second gains most over 2 in the first context, and is no ratio alone."""
    base = Decisions("base", ("a", "b", "c", "d"), np.zeros(2, dtype=int), np.zeros(2, dtype=bool))
    top = Sum.of(np.array([[1.0, 3.0, 4.0, 3.0], [0.0] * 4]).T)
    bottom = Sum.of(np.array([[1.0, 0.0, 2.0, 1.0], [0.0] * 4]).T)
    assert ends(Ratio(top, bottom), Sets(base, None, np.ones((4, 2), dtype=bool))) == pytest.approx((1.0, 3.0, True))


def test_nothing_is_known_of_other_kinds():
    assert ends(Strange()) == (-math.inf, math.inf, True)
    assert ends(Odd((per_action(0, 1),))) == (-math.inf, math.inf, True)
    assert slope(Strange(), BASE) is None
    found = bounds(
        strategies.create("utilitarian"), ExpectedRewards([[0.5, 0.5]], stakeholders=["s"], actions=["a", "b"]),
        Strange(), delta=0.1,
    )  # fmt: skip
    assert found.status == "sound"
    assert found.to_json()["low"] is None
    assert found.attained_low == found.nominal == 0.0


def test_smallest_to_largest():
    one, two = per_action(0, 1), per_action(2, 4)
    assert ends(LowToHigh((one, two))) == (0.0, 0.5, False)
    assert ends(LowToHigh((one, one))) == (0.0, 1.0, True)
    assert ends(LowToHigh((one,))) == (0.0, 1.0, True)
    tenths = per_action(0.1, 0.2), per_action(0.2, 0.4)  # above 0, and so always defined, however small
    assert ends(LowToHigh(tenths)) == pytest.approx((0.25, 1.0, False))
    assert ends(LowToHigh((per_action(-1, 1), two))) == (-math.inf, math.inf, True)
    assert ends(LowToHigh((per_action(-2, -1), per_action(-1, -1)))) == (-math.inf, math.inf, True)
    assert enclose(LowToHigh((Sum(), Sum())), FREE).never_defined
    assert enclose(LowToHigh((one, Undefined())), FREE).never_defined


def test_a_single_part_has_no_spread():
    assert ends(Spread((per_action(0, 1),)))[0] == 0.0
    assert ends(Spread((Sum(offset=2.0),)))[:2] == (0.0, 0.0)


def test_geometric_means_that_cannot_be_positive():
    assert ends(GeometricMean((per_action(0, 1), Sum()), (0.5, 0.5)))[:2] == (0.0, 0.0)
    high, _ = geometric_mean_bound(GeometricMean((), (0.5, 0.5)), (per_action(-1, 0), per_action(1, 2)), FREE, 5)
    assert high == math.inf  # the single ends say more


def test_duality_is_exact_on_mixtures():
    """Two sums that pull apart: the smaller one is at most half of what both can share, whatever is decided."""
    one, two = per_action(0, 1), per_action(1, 0)
    high, toward = smallest_together(Sum(offset=0.5), [[one, two]], FREE, 20)
    assert high == pytest.approx(0.5 + 1.5, abs=1e-9)
    assert toward.value(BASE) == pytest.approx(high, abs=1e-9)
    high, _ = geometric_mean_bound(GeometricMean((), (0.5, 0.5)), (one, two), FREE, 50)
    assert high == pytest.approx(1.5, abs=1e-6)


def test_no_bottom_anywhere_but_in_one_context():
    """The best choice without regard to the bottom has none: one context is forced to have it."""
    top = Sum.of(np.array([[0.0, 0.0, 0.0], [-1.0, -4.0, 3.0]]))
    bottom = Sum.of(np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]]))
    assert ends(Ratio(top, bottom)) == (-4.0 / 2, 3 - 1.0, True)
    anything = Anything(BASE, None, np.ones(3, dtype=bool))
    assert ends(Ratio(top, bottom), anything) == (-2.0, math.inf, True)
    shared = Ratio(Sum.of(np.array([[0.0] * 3, [-1.0, -4.0, 0.0]])), bottom)
    assert ends(shared, anything) == (-2.0, -1.0, True)


def test_kernels_do_what_they_say():
    generator = np.random.default_rng(0)
    for _ in range(50):
        top, bottom = generator.integers(-2, 3, (2, 3, 5)).astype(float)
        mask = generator.random((3, 5)) < 0.6
        mask[0] |= ~mask.any(axis=0)
        table = np.where(mask, top - 0.5 * bottom, -np.inf)
        chosen = table.argmax(axis=0), np.arange(5)
        assert best_fraction.python(top, bottom, mask, 0.5) == pytest.approx((top[chosen].sum(), bottom[chosen].sum()))
        lowest = generator.random((3, 5))
        highest = lowest + generator.random((3, 5)) * 0.3
        values, policy, raised = np.empty(5), np.empty((3, 5)), np.empty((3, 5), dtype=bool)
        for temperature in (0.1, 0.0):
            best_draw.python(top, lowest, highest, temperature, 1e-12, values, policy, raised)
            scores = np.where(raised, highest, lowest)
            drawn = softmax_policy(scores, temperature) if temperature else proportional_policy(scores)
            assert policy == pytest.approx(drawn, abs=1e-12)
            assert values == pytest.approx((drawn * top).sum(axis=0), abs=1e-12)
            for corner in itertools.product((False, True), repeat=3):  # no other choice of ends draws more
                scores = np.where(np.array(corner)[:, None], highest, lowest)
                drawn = softmax_policy(scores, temperature) if temperature else proportional_policy(scores)
                assert (values >= (drawn * top).sum(axis=0) - 1e-12).all()


@pytest.mark.parametrize("lowest", [-np.inf, 0.0])
def test_draws_of_nothing(lowest):
    """All scores −∞, or all 0, are drawn uniformly."""
    scores = np.full((2, 1), lowest)
    values, policy, raised = np.empty(1), np.empty((2, 1)), np.empty((2, 1), dtype=bool)
    temperature = 0.5 if np.isinf(lowest) else 0.0
    best_draw.python(np.array([[0.0], [1.0]]), scores, scores, temperature, 0.0, values, policy, raised)
    assert policy.ravel().tolist() == [0.5, 0.5]
    best_draw.python(
        np.array([[0.0], [1.0]]), scores, np.array([[0.2], [0.2]]), temperature, 0.0, values, policy, raised
    )
    assert policy.ravel().tolist() == [0.0, 1.0]


def test_shares_of_negative_scores_are_refused():
    """Honest scores have shares, but reports can make one negative: the rule itself refuses such reports."""
    rule = strategies.create(
        "kalai_smorodinsky", {"selection": "proportional", "disagreement": (0.3, 0.3), "ideal": (1.0, 1.0)}
    )
    expected = ExpectedRewards([[0.35, 0.6], [0.5, 0.4]], stakeholders=["s", "t"], actions=["a", "b"])
    assert bounds(rule, expected, [1.0, 0.0], delta=0.01).status == "exact"
    with pytest.raises(InputError, match="needs scores of at least 0"):
        bounds(rule, expected, [1.0, 0.0], delta=0.2)


def test_weights_of_zero_count_nothing():
    assert ends(together((Strange(), per_action(1, 2)), (0.0, 1.0), 0.5))[:2] == (3.5, 6.5)


def chosen(code):
    """The decisions in which every context has one action."""
    return Decisions("chosen", ("a", "b"), np.full(3, code), np.zeros(3, dtype=bool))


def test_a_weighted_sum_leads_to_the_ends_that_the_signs_of_its_weights_call_for():
    one = Enclosure(-1.0, 2.0, False, per_action(1, 10), per_action(2, 20))
    two = Enclosure(3.0, 5.0, False, per_action(3, 30), per_action(4, 40))
    none = Enclosure(-math.inf, math.inf, True, per_action(100, 100), per_action(100, 100))
    found = _combine(Combination((), (-3.0, 0.5, 0.0), 7.0), (one, two, none))
    assert (found.low, found.high) == (7 - 3 * 2 + 0.5 * 3, 7 - 3 * -1 + 0.5 * 5)
    assert not found.may_be_undefined
    for code, unit in ((0, 1), (1, 10)):
        assert found.toward_low.value(chosen(code)) == pytest.approx(3 * unit * (-3 * 2 + 0.5 * 3))
        assert found.toward_high.value(chosen(code)) == pytest.approx(3 * unit * (-3 * 1 + 0.5 * 4))


def test_the_largest_and_smallest_part_lead_where_their_own_ends_are():
    one = Enclosure(-1.0, 6.0, False, per_action(1, 10), per_action(2, 20))
    two = Enclosure(3.0, 5.0, False, per_action(3, 30), per_action(4, 40))
    for kind, ends, units in ((Largest, (3.0, 6.0), (3, 2)), (Smallest, (-1.0, 5.0), (1, 4))):
        found = _combine(kind(()), (one, two))
        assert (found.low, found.high) == ends
        assert found.toward_low.value(chosen(0)) == 3 * units[0]
        assert found.toward_high.value(chosen(1)) == 30 * units[1]


def test_a_spread_pushes_one_part_up_and_another_down():
    one = Enclosure(-1.0, 6.0, False, per_action(1, 10), per_action(2, 20))
    two = Enclosure(3.0, 5.0, False, per_action(3, 30), per_action(4, 40))
    found = _combine(Spread(()), (one, two))
    assert (found.low, found.high) == (0.0, max(6.0 - 3.0, 5.0 + 1.0))
    assert found.toward_high.value(chosen(0)) == 3 * (4 - 1)
    apart = _combine(Spread(()), (two, Enclosure(-1.0, 2.0, False, per_action(1, 10), per_action(2, 20))))
    assert (apart.low, apart.high) == (3.0 - 2.0, 5.0 + 1.0)
    assert apart.toward_low.value(chosen(0)) == 3 * (3 - 2)


@pytest.mark.parametrize(
    ("low", "high", "ends", "toward"),
    [(1.0, 2.0, (1.0, 2.0), (1, 2)), (-3.0, -1.0, (1.0, 3.0), (-2, -1)), (-3.0, 2.0, (0.0, 3.0), (0, -1)),
     (-2.0, 2.0, (0.0, 2.0), (0, 2)), (0.0, 2.0, (0.0, 2.0), (1, 2)), (-2.0, 0.0, (0.0, 2.0), (-2, -1))],
)  # fmt: skip
def test_the_size_of_a_sum_is_turned_over_where_the_sum_is_below_0(low, high, ends, toward):
    part = Enclosure(low, high, False, per_action(1, 10), per_action(2, 20))
    found = _combine(Magnitude(()), (part,))
    assert (found.low, found.high) == ends
    assert (found.toward_low.value(chosen(0)), found.toward_high.value(chosen(0))) == (3 * toward[0], 3 * toward[1])


def test_a_default_stands_beside_what_is_defined():
    """Undefined where b is taken everywhere; else 1 or 2 in each context with a."""
    ratio = Ratio(per_action(1, 0), per_action(1, 0))
    assert ends(Defaulted(ratio, 0.25)) == (0.25, 1.0, False)
    assert ends(Defaulted(ratio, 3.0)) == (1.0, 3.0, False)
    assert ends(Defaulted(Undefined(), 0.5)) == (0.5, 0.5, False)
    assert ends(Defaulted(per_action(0, 1), 9.0)) == (0.0, 3.0, False)


def test_a_joined_move_follows_one_first_and_then_the_other():
    codes, others = np.array([0, 0, 0]), np.array([1, 1, 1])
    here, there = np.array([True, True, False]), np.array([False, True, True])
    policy, raised = np.array([[0.25] * 3, [0.75] * 3]), np.array([[True] * 3, [False] * 3])
    found = _join(Move(codes, here, policy, raised), Move(others, there, 1 - policy, ~raised), 1)
    assert found.codes.tolist() == [0, 1, 1]
    assert found.changed.tolist() == [True, True, True]
    assert found.policy.tolist() == [[0.25, 0.75, 0.75], [0.75, 0.25, 0.25]]
    assert found.raised.tolist() == [[True, False, False], [False, True, True]]
    for one, other in (((None, raised), (policy, raised)), ((policy, raised), (None, raised))):
        assert _join(Move(codes, here, *one), Move(others, there, *other), 1).policy is None
    for one, other in (((policy, None), (policy, raised)), ((policy, raised), (policy, None))):
        assert _join(Move(codes, here, *one), Move(others, there, *other), 1).raised is None


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(20))
def test_the_best_point_of_a_line_against_a_grid(seed):
    generator = np.random.default_rng(seed)
    one, other = generator.random((2, 3)) + 0.01
    mean = GeometricMean(tuple([Sum()] * 3), tuple(generator.dirichlet(np.ones(3))))
    highest = max(mean.of((one + s * (other - one)).tolist()) for s in np.linspace(0, 1, 2001))
    assert mean.of(_best_between(mean, one, other).tolist()) >= highest - 1e-7  # forty sections


@pytest.mark.parametrize("seed", range(10))
def test_the_lowest_cut_against_a_grid(seed):
    """One term of two pieces: its weights are s and 1 − s."""
    cuts = np.random.default_rng(seed).normal(size=(3, 3))
    weights, least = _lowest_cut(cuts, np.array([0, 0]))
    grid = np.linspace(0, 1, 2001)
    highest = (cuts[:, [0]] + cuts[:, [1]] * grid + cuts[:, [2]] * (1 - grid)).max(axis=0)
    assert least <= highest.min() + 1e-9 and least == pytest.approx(highest.min(), abs=5e-3)
    assert weights.sum() == pytest.approx(1) and (cuts[:, 0] + cuts[:, 1:] @ weights).max() == pytest.approx(least)
