"""The smallest change of weights, against a search over the simplex; every find is decided again."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from accordant.explanation import explain, smallest_weight_changes
from accordant.explanation.influence.absence import weighing, with_weights
from accordant.explanation.weights import LINEAR, components, crossing, smallest_shift
from accordant.explanation.weights import INDIFFERENT_TO_WEIGHTS
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, STAKEHOLDERS, WITH_WEIGHTS, make_expected, make_known, make_rule


def with_share(shares, who, share):
    """One stakeholder gets a share of all weight, the others keep their proportions."""
    rest = 1 - shares[who]
    return np.array([share if i == who else each / rest * (1 - share) for i, each in enumerate(shares)])


def decided(rule, expected, t, shares):
    return with_weights(rule, shares)(expected.take(slice(t, t + 1))).codes[0]


@pytest.mark.long
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_every_find_is_decided_so(name, parameters):
    expected = make_expected(4)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    for t, found in enumerate(smallest_weight_changes(rule, expected, known)):
        json.dumps(asdict(found), allow_nan=False)
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


@pytest.mark.few(3)
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


@pytest.mark.long
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


@pytest.mark.few(4)
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


def least_shift(lead, shares):
    """The least share that must change hands for the lead to vanish, by linear programming over (given, taken)."""
    n = len(shares)
    found = linprog(
        np.repeat([1.0, 0.0], n), A_ub=[np.append(-lead, lead)], b_ub=[-(lead @ shares)],
        A_eq=[np.repeat([1.0, -1.0], n)], b_eq=[0], bounds=[(0, each) for each in shares] + [(0, None)] * n,
    )  # fmt: skip
    assert found.success
    return found.fun


def test_residues_of_rounding_move_no_weight():
    """Two stakeholders like the rival alike but for the last bit of 0.5 − 0.7; 0.16 must not pass between them."""
    expected = ExpectedRewards([[0.7, 0.1], [0.0, 0.2], [0.8, 0.3], [0.5, 0.7]], stakeholders="abcd", actions="xy")
    rule = make_rule("utilitarian", {"weights": (0.17, 0.12, 0.55, 0.16)})
    (found,) = smallest_weight_changes(rule, expected)
    (shift,) = (each for each in found.found if each.direction == "shift")
    assert shift.moved == pytest.approx(0.4342857, abs=2e-6)


def test_the_shift_is_the_optimum_of_the_linear_programme():
    generator, compared = np.random.default_rng(11), 0
    for _ in range(300):
        n = int(generator.integers(2, 6))
        lead = np.subtract(*np.round(generator.random((2, n)), 1))
        shares = np.round(generator.dirichlet(np.ones(n)), 2) + 0.01
        shares /= shares.sum()
        new = smallest_shift(lead, shares)
        if lead.min() >= 0:
            assert new is None
            continue
        if lead @ shares <= 1e-9:
            continue
        compared += 1
        assert new.min() >= 0
        assert np.abs(new - shares).sum() / 2 == pytest.approx(least_shift(lead, shares), abs=1e-9)
        beyond = smallest_shift(lead, shares, ahead=1e-9)
        assert beyond is None or beyond @ lead < -1e-10
    assert compared > 100


def test_more_weight_is_not_all_weight():
    """Only without i and k would b be decided, and to leave somebody out is another question."""
    values = [[0.778, 0.096, 0.967], [0.563, 0.957, 0.815], [0.588, 0.243, 0.902]]
    expected = ExpectedRewards(values, stakeholders=["i", "j", "k"], actions=["a", "b", "c"])
    (found,) = smallest_weight_changes(make_rule("anti_plurality"), expected)
    assert found.found == ()
    assert found.proven


@pytest.mark.few(4)
@pytest.mark.parametrize("name", sorted(LINEAR))
def test_nobody_is_left_out_by_more_or_less_weight(name):
    """Every find holds with a trace of weight for everybody too."""
    expected = make_expected(40, seed=12)
    rule = make_rule(name)
    for t, found in enumerate(smallest_weight_changes(rule, expected)):
        for each in found.found:
            assert each.direction == "shift" or 0 < min(each.shares) <= max(each.shares) < 1
            mixed = np.array(each.shares) * (1 - 1e-9) + 1e-9 / 3
            assert expected.actions[decided(rule, expected, t, mixed)] == each.action


@pytest.mark.parametrize("scale", [1e-4, 1e-5, 1e-6])
def test_small_differences_are_not_taken_for_ties(scale):
    values = [[0.5 + 0.03 * scale, 0.5], [0.5, 0.5 + 0.01 * scale]]
    expected = ExpectedRewards(values, stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (found,) = smallest_weight_changes(make_rule("utilitarian"), expected)
    assert {each.direction for each in found.found} == {"shift", "more", "less"}
    for each in found.found:
        assert each.moved == pytest.approx(0.25, abs=2e-4)  # as far as ties reach at this scale
        assert each.action == "green"


def test_ties_of_single_precision_reach_further():
    values = np.array([[0.5003, 0.5], [0.5, 0.5001]], dtype=np.float32)
    expected = ExpectedRewards(values, stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (found,) = smallest_weight_changes(make_rule("utilitarian"), expected)
    assert len(found.found) == 3
    assert all(each.moved == pytest.approx(0.25, abs=0.02) for each in found.found)


def test_what_is_proven():
    def of(name, ben):
        expected = ExpectedRewards([[0.9, 0.1], [0.5, ben]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
        (explained,) = explain(make_rule(name), expected)
        return explained.weights, " ".join(explained.sentences())

    weights, text = of("utilitarian", 0.5)
    assert weights.proven
    assert "No other weights above 0 for the same stakeholders would lead" in text
    weights, text = of("utilitarian", 0.5 + 3e-12)
    assert not weights.found
    assert not weights.proven
    assert "No other weights were found" in text
    weights, _ = of("utilitarian", 0.6)
    assert weights.found
    assert not weights.proven
    weights, text = of("nash_social_welfare", 0.4)
    assert not weights.proven
    assert "On a grid of shares, no weights were found" in text


def test_formulas():
    shares = np.array([0.5, 0.25, 0.25])
    lead = np.array([0.4, 0.2, -0.2])  # red is ahead by 0.2
    new = smallest_shift(lead, shares)
    assert new @ lead == pytest.approx(0)
    np.testing.assert_allclose(new, [0.5 - 0.2 / 0.6, 0.25, 0.25 + 0.2 / 0.6])
    assert smallest_shift(np.abs(lead), shares) is None
    assert crossing(lead, shares, 2, 1.0) == pytest.approx(0.625)  # 0.625 × −0.2 + 0.375 × 1/3
    assert crossing(lead, shares, 2, 0.0) is None
    assert crossing(lead, np.array([0.0, 0.0, 1.0]), 2, 0.0) is None
    assert crossing(np.full(3, 0.1), shares, 0, 1.0) is None
