"""The smallest change of weights, against a search over the simplex; every find is decided again."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from accordant.explanation import smallest_weight_changes
from accordant.explanation.influence.absence import weighing, with_weights
from accordant.explanation.weights.linear import LINEAR, components, crossing, smallest_shift
from accordant.explanation.weights.smallest import INDIFFERENT_TO_WEIGHTS
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, STAKEHOLDERS, WITH_WEIGHTS, make_expected, make_known, make_rule


def with_share(shares, who, share):
    """One stakeholder gets a share of all weight, the others keep their proportions."""
    rest = 1 - shares[who]
    return np.array([share if i == who else each / rest * (1 - share) for i, each in enumerate(shares)])


def decided(rule, expected, t, shares):
    return with_weights(rule, shares)(expected.take(slice(t, t + 1))).codes[0]


@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_every_find_is_decided_so(name, parameters):
    expected = make_expected(4)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    for t, found in enumerate(smallest_weight_changes(rule, expected, known)):
        json.dumps(found.to_json(), allow_nan=False)
        assert (found.method == "none") == bool(found.reason)
        before = rule(expected, **known.arguments(slice(None))).codes[t]
        for each in found.found:
            assert min(each.shares) >= 0
            assert sum(each.shares) == pytest.approx(1)
            action = decided(rule, expected, t, each.shares)
            assert expected.actions[action] == each.action
            assert action != before
            assert each.moved == pytest.approx(np.abs(np.subtract(each.shares, found.shares)).sum() / 2)
        moved = [each.moved for each in found.found]
        assert moved == sorted(moved)


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_scores_are_linear_in_the_shares(name):
    expected, shares = make_expected(1, seed=4), np.array([0.5, 0.3, 0.2])
    rule = make_rule(name)
    mixed = with_weights(rule, shares)(expected).scores[:, 0]
    np.testing.assert_allclose(shares @ components(rule, expected), mixed, atol=1e-9)


@pytest.mark.parametrize("name", ["utilitarian", "relative_utilitarian", "range"])
@pytest.mark.parametrize("weights", [(1, 1, 1), (3, 1, 0)])
def test_the_shift_is_the_smallest_there_is(name, weights):
    """Against every point of a grid on the simplex."""
    expected, steps = make_expected(12, seed=5), 60
    rule = make_rule(name, {"weights": weights})
    grid = np.array([p for p in product(range(steps + 1), repeat=3) if sum(p) == steps]) / steps
    for t, found in enumerate(smallest_weight_changes(rule, expected)):
        scores = components(rule, expected.take(slice(t, t + 1)))
        chosen = rule(expected).codes[t]
        flipped = (grid @ scores).argmax(axis=1) != chosen
        shifts = [each for each in found.found if each.direction == "shift"]
        nearest = np.abs(grid[flipped] - found.shares).sum(axis=1).min() / 2 if flipped.any() else None
        if nearest is None:
            assert not shifts or shifts[0].moved > 0.9
            continue
        assert shifts[0].moved <= nearest + 1e-5
        assert nearest <= shifts[0].moved + 2 / steps
        inside = found.shares + (np.array(shifts[0].shares) - found.shares) * (1 - 1e-4)
        assert decided(rule, expected, t, inside) == chosen


def test_utilitarian_by_hand():
    """Ann prefers red by 0.6, Ben green by 0.3: red leads by 0.15 at equal weights and falls at one third for Ann."""
    expected = ExpectedRewards([[0.8, 0.2], [0.3, 0.6]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (found,) = smallest_weight_changes(make_rule("utilitarian"), expected)
    assert found.method == "exact"
    assert {each.direction for each in found.found} == {"shift", "more", "less"}
    for each in found.found:
        assert each.shares == pytest.approx((1 / 3, 2 / 3), abs=1e-5)
        assert each.moved == pytest.approx(1 / 6, abs=1e-5)
        assert each.action == "green"


@pytest.mark.parametrize("name", ["nash_social_welfare", "compromise_programming", "kemeny", "utilitarian", "borda"])
def test_single_directions_against_a_finer_grid(name):
    expected = make_expected(6, seed=6)
    rule = make_rule(name)
    for t, found in enumerate(smallest_weight_changes(rule, expected)):
        shares, before = np.array(found.shares), rule(expected).codes[t]
        by_direction = {(each.who, each.direction): each for each in found.found}
        for i, who in enumerate(STAKEHOLDERS):
            for direction, end in (("more", 1.0), ("less", 0.0)):
                fine = np.linspace(shares[i], end, 121)[1:-1]
                flips = [s for s in fine if decided(rule, expected, t, with_share(shares, i, s)) != before]
                each = by_direction.get((who, direction))
                if each is not None:
                    short = each.shares[i] - np.sign(end - shares[i]) * 1e-5
                    if abs(each.shares[i] - shares[i]) > 1e-5:  # else the decision is tied as it is
                        assert decided(rule, expected, t, with_share(shares, i, short)) == before
                    if flips:
                        assert abs(each.shares[i] - shares[i]) <= abs(flips[0] - shares[i]) + 1e-5
                else:
                    assert not flips


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_which_rules_do_not_ask_how_large_a_weight_is(name):
    expected, generator = make_expected(400, seed=7), np.random.default_rng(8)
    rule = make_rule(name)
    changes = any(
        (with_weights(rule, generator.uniform(0.05, 5, 3))(expected).codes != rule(expected).codes).any()
        for _ in range(6)
    )
    assert changes == (name not in INDIFFERENT_TO_WEIGHTS)
    found = smallest_weight_changes(rule, expected.take(slice(0, 1)))[0]
    if name in INDIFFERENT_TO_WEIGHTS:
        assert "how large" in found.reason
    assert weighing(rule) is rule


def test_rules_without_weights_say_so():
    expected = make_expected(1)
    for name in ("stakeholder", "constant"):
        assert smallest_weight_changes(make_rule(name), expected)[0].reason == "the rule has no weights"
    batch = make_rule("constrained", {"rule": "utilitarian", "budgets": {"red": 1}})
    assert "whole batch" in smallest_weight_changes(batch, expected)[0].reason


def test_nothing_would_change_where_everybody_agrees():
    expected = ExpectedRewards([[0.9, 0.1], [0.8, 0.3]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    for name in ("utilitarian", "nash_social_welfare"):
        assert smallest_weight_changes(make_rule(name), expected)[0].found == ()
    one = ExpectedRewards([[0.9, 0.1]], stakeholders=["Ann"], actions=["red", "green"])
    assert smallest_weight_changes(make_rule("utilitarian"), one)[0].found == ()


def test_ties_fall_at_once():
    expected = ExpectedRewards([[0.9, 0.1], [0.1, 0.9]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (found,) = smallest_weight_changes(make_rule("utilitarian"), expected)
    assert found.found[0].moved < 1e-4
    assert found.found[0].action == "green"


def test_formulas():
    shares = np.array([0.5, 0.25, 0.25])
    lead = np.array([0.4, 0.2, -0.2])  # red is ahead by 0.2
    new = smallest_shift(lead, shares, step=0.0)
    assert new @ lead == pytest.approx(0)
    np.testing.assert_allclose(new, [0.5 - 0.2 / 0.6, 0.25, 0.25 + 0.2 / 0.6])
    assert smallest_shift(np.abs(lead), shares) is None
    assert crossing(lead, shares, 2, 1.0) == pytest.approx(0.625)  # 0.625 × −0.2 + 0.375 × 1/3
    assert crossing(lead, shares, 2, 0.0) is None
    assert crossing(lead, np.array([0.0, 0.0, 1.0]), 2, 0.0) is None
    assert crossing(np.full(3, 0.1), shares, 0, 1.0) is None
