"""Fronts, concessions, lotteries, contributions and hindsight, each against a plain twin."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from accordant import metrics
from accordant.decisions import Decisions
from accordant.evaluation.conflict.totals import Additive, additive, signed
from accordant.evaluation.conflict.attainable import probes, reweighed, weight_grid
from accordant.evaluation.conflict.fronts import DIRECTIONS, Hindsight, _directions, farthest
from accordant.evaluation.conflict.fronts import concession, front, kendall, oriented
from accordant.evaluation.conflict.attainable import linear, pool_of
from accordant.evaluation.conflict.totals import Totals

MANY = {
    "Accuracy": metrics.create("accuracy"),
    "Precision": metrics.create("precision"),
    "Recall": metrics.create("recall"),
    "Parity": metrics.create("demographic_parity", {"attributes": ["sex"], "protected": "1"}),
    "Ages": metrics.create("demographic_parity", {"attributes": ["age"]}),
    "Opportunity": metrics.create("equal_opportunity", {"attributes": ["sex"], "protected": "1"}),
    "Predictive": metrics.create("predictive_parity", {"attributes": ["sex"], "protected": "1"}),
    "Share": metrics.create("share_of_action", {"action": "Deny", "goal": "min", "percent": True}),
    "Mean": metrics.create("mean_reward"),
    "Least": metrics.create("min_reward"),
    "Nash": metrics.create("nash_welfare"),
    "Gini": metrics.create("gini_reward"),
    "Regret": metrics.create("stakeholder_regret", {"stakeholder": "Bank"}),
    "Total": metrics.create("stakeholder_reward", {"stakeholder": "Applicant", "total": True}),
}
GOALS = tuple(metric.goal for metric in MANY.values())
ADDITIVE = {"Accuracy", "Recall", "Parity", "Opportunity", "Share", "Mean", "Regret", "Total"}


@settings(max_examples=200, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(0, 9), st.just(2)), elements=st.sampled_from([0, 0.5, 1, 2, 3, np.nan]))
)
def test_front_against_all_pairs(points):
    expected = [
        not np.isnan(point).any() and not any((other >= point).all() and (other > point).any() for other in points)
        for point in points
    ]
    assert front(points).tolist() == expected


def test_goals_turn_values():
    assert oriented(np.array([[1.0, 2.0, -3.0]]), ("max", "min", "zero")).tolist() == [[1.0, -2.0, -3.0]]


def test_concession_written_out():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.4], [np.nan, 5.0]])
    assert concession(points, np.ones(2), np.ones(2)) == pytest.approx(0.6)
    assert concession(points, np.ones(2), np.array([1.0, 2.0])) == pytest.approx(0.3)
    assert concession(points[3:], np.ones(2), np.ones(2)) is None


@pytest.mark.parametrize("seed", range(5))
def test_kendall_against_scipy(seed):
    points = np.random.default_rng(seed).integers(0, 5, (12, 2)).astype(float)
    assert kendall(points) == pytest.approx(kendalltau(points[:, 0], points[:, 1]).statistic)
    assert kendall(np.array([[1.0, 2.0], [1.0, 3.0]])) is None


def test_lotteries_are_what_the_metrics_say_of_mixed_policies(world, strategies):
    """A mixture of sums is the metric of decisions with mixed probabilities, for ratios and gaps too."""
    evidence = world(n=90, seed=3)
    lines = {name: each for name, each in strategies(evidence).items() if name in ("good", "poor", "constant:Grant")}
    pool = pool_of(Totals.on(lines, evidence, MANY), dict.fromkeys(lines, "strategy"), GOALS)
    assert len(pool.policies) >= 3 + 3 * 19
    for policy, values in zip(pool.policies, pool.values, strict=True):
        mixture = sum(share * lines[name].probabilities() for name, share in policy.parts.items())
        decisions = Decisions(
            "mixture", evidence.problem.actions, mixture.argmax(axis=0), np.zeros(90, bool), policy=mixture
        )
        for m, metric in enumerate(MANY.values()):
            value = metric.evaluate(decisions, evidence).value
            assert values[m] == pytest.approx(np.nan if value is None else value, nan_ok=True, abs=1e-12)


def test_points_say_which_policies_a_lottery_mixes(world, strategies):
    evidence = world(n=90, seed=3)
    lines = {name: line for name, line in strategies(evidence).items() if name in ("good", "poor")}
    pool = pool_of(Totals.on(lines, evidence, MANY), dict.fromkeys(lines, "strategy"), GOALS)
    columns = (list(MANY).index("Mean"), list(MANY).index("Share"))
    for row, policy in enumerate(pool.policies):
        point = pool.point(row, columns)
        assert point.values == tuple(pool.values[row, list(columns)])
        assert point.parts == (policy.parts if policy.name not in lines else {})
        assert set(policy.parts) == ({"good", "poor"} if policy.name not in lines else {policy.name})


def test_a_lottery_in_which_a_gap_vanishes(world, decided):
    evidence = world(n=90, seed=3)
    group = evidence.log.contexts["sex"] == 1
    lines = {
        "for": decided(evidence, "for", np.where(group, 0, 2)),  # gap 1
        "against": decided(evidence, "against", np.where(group & (np.arange(90) % 3 > 0), 2, 0)),
    }
    parity = {"Parity": MANY["Parity"]}
    pool = pool_of(Totals.on(lines, evidence, parity), dict.fromkeys(lines, "strategy"), ("zero",))
    gaps = pool.values[:2, 0]
    assert gaps[0] == 1
    assert -1 < gaps[1] < 0
    added = pool.policies[-1]
    assert len(pool.policies) == 2 + 19 + 1
    assert added.parts["for"] == pytest.approx(gaps[1] / (gaps[1] - 1))
    assert pool.values[-1, 0] == pytest.approx(0, abs=1e-12)
    assert np.abs(pool.values[:-1]).min() > 1e-9


def test_which_metrics_are_linear_in_lotteries(world, strategies):
    evidence = world(n=90, seed=3)
    lines = strategies(evidence)
    pool = pool_of(Totals.on(lines, evidence, MANY), dict.fromkeys(lines, "strategy"), GOALS)
    found = dict(zip(MANY, linear(pool), strict=True))
    assert all(found[name] for name in ADDITIVE)
    assert not any(found[name] for name in ("Precision", "Predictive", "Nash", "Gini", "Ages"))


def test_sums_on_a_part_are_those_of_the_part(world, strategies):
    """Means and rates on half of the contexts, against evidence that holds only this half."""
    evidence = world(n=80, seed=5)
    lines = {name: each for name, each in strategies(evidence).items() if name in ("good", "fair")}
    names = ("Accuracy", "Mean", "Parity", "Gini")
    part = np.arange(0, 80, 2)
    found = Totals.among(lines, evidence, {name: MANY[name] for name in names}, part).values()[:, 0]
    for row, each in zip(found, lines.values(), strict=True):
        right = (each.codes == evidence.log.outcomes)[part].mean()
        rewards = np.array([evidence.rewards[i, each.codes, np.arange(80)][part].mean() for i in range(2)])
        favourable, sex = (each.codes < 2)[part], evidence.log.contexts["sex"][part]
        gap = favourable[sex == 1].mean() - favourable[sex == 0].mean()
        gini = abs(rewards[0] - rewards[1]) / (2 * rewards.sum())
        assert row == pytest.approx([right, rewards.mean(), gap, gini])


@pytest.mark.parametrize("name", MANY)
def test_contributions_add_up_to_the_metric(world, name):
    evidence = world(n=70, seed=6)
    metric = MANY[name]
    found = additive(metric, evidence)
    assert (found is not None) == (name in ADDITIVE)
    if found is None:
        return
    generator = np.random.default_rng(1)
    for _ in range(5):
        codes = generator.integers(0, 3, 70)
        decisions = Decisions("any", evidence.problem.actions, codes, np.zeros(70, dtype=bool))
        total = found.constant + found.contributions[codes, np.arange(70)].sum()
        assert total == pytest.approx(metric.evaluate(decisions, evidence).value)


def test_a_gap_of_two_groups_gets_a_sign(world):
    evidence = world(n=70, seed=6)
    plain = metrics.create("demographic_parity", {"attributes": ["sex"]})
    with_sign = signed(plain, evidence)
    codes = np.where(evidence.log.contexts["sex"] == 1, 0, 2)
    decisions = Decisions("split", evidence.problem.actions, codes, np.zeros(70, dtype=bool))
    assert with_sign.evaluate(decisions, evidence).value == -1
    assert plain.evaluate(decisions, evidence).value == 1
    assert additive(with_sign, evidence) is not None
    assert signed(MANY["Ages"], evidence) is MANY["Ages"]  # three groups have no sign
    odds = metrics.create("equalised_odds", {"attributes": ["sex"]})
    assert signed(odds, evidence) is odds


PAIRS = [("Mean", "Accuracy"), ("Mean", "Share"), ("Accuracy", "Parity"), ("Parity", "Opportunity")]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_hindsight_against_every_policy(world, pair):
    """Brute-force twin: all 3^7 deterministic policies on seven contexts."""
    evidence = world(n=7, seed=11)
    goals = tuple(MANY[name].goal for name in pair)
    parts = [additive(MANY[name], evidence) for name in pair]
    found = Hindsight.of(*parts, goals)
    codes = np.array(list(product(range(3), repeat=7)))
    every = np.column_stack([part.constant + part.contributions[codes, np.arange(7)].sum(axis=1) for part in parts])
    best = (every @ found.directions.T).max(axis=0)
    np.testing.assert_allclose(found.supports, best, atol=1e-9)
    better = oriented(every, goals)
    reached = oriented(found.corners, goals)
    assert all((np.abs(better - point).max(axis=1) < 1e-9).any() for point in reached)
    # no policy concedes less than the lower bound; some lottery concedes no more than the upper one
    ideal, span = np.array([0.8, 0.9]) * better.max(axis=0) + 0.1, np.array([0.5, 0.25])
    low, high = found.concession(ideal, span)
    assert low <= high + 1e-12
    corners = np.unique(found.corners.round(12), axis=0)
    first, second = np.triu_indices(len(corners))
    mixtures = np.concatenate([s * corners[first] + (1 - s) * corners[second] for s in np.linspace(0, 1, 201)])
    by_grid = concession(oriented(np.concatenate([every, mixtures]), goals), ideal, span)
    assert low - 1e-9 <= by_grid
    assert by_grid - 0.02 <= high <= by_grid + 1e-9


@pytest.mark.parametrize("sign", [1, -1])
def test_a_gap_counts_on_both_sides(sign):
    corners = np.array([[1.0, 0.5 * sign], [1.0, 0.8 * sign]])
    found = Hindsight(corners, np.eye(2), corners.max(axis=0), ("max", "zero"))
    assert found.concession(np.array([1.0, -0.1]), np.ones(2))[1] == pytest.approx(0.4)


def test_no_policy_makes_a_gap_smaller_than_nothing(world):
    evidence = world(n=40, seed=2)
    found = Hindsight.of(additive(MANY["Accuracy"], evidence), additive(MANY["Parity"], evidence), ("max", "zero"))
    low, high = found.concession(np.array([0.5, 0.0]), np.array([0.1, 0.1]))
    assert (low, high) == (pytest.approx(0), pytest.approx(0))  # not below: the ideal gap is zero already
    below = found.concession(np.array([0.5, -0.05]), np.array([0.1, 0.1]))
    assert below == pytest.approx((-0.5, -0.5))


def test_ends_of_the_front_prefer_the_other_metric(world):
    """Contexts in which the first metric does not care go to the second."""
    evidence = world(n=7, seed=11)
    first, second = (additive(MANY[name], evidence) for name in ("Share", "Mean"))
    found = Hindsight.of(first, second, ("min", "max"))
    codes = np.array(list(product(range(3), repeat=7)))
    every = np.column_stack(
        [each.constant + each.contributions[codes, np.arange(7)].sum(axis=1) for each in (first, second)]
    )
    least = every[every[:, 0] <= 1e-12]
    assert len(least) > 2
    end = found.corners[(found.directions == (-1, 0)).all(axis=1)]
    assert end[0] == pytest.approx([0, least[:, 1].max()])
    points = found.front()
    assert (np.diff(points[:, 0]) >= 0).all()
    assert (np.diff(points[:, 1]) >= 0).all()


def test_grid_of_stakeholder_weights():
    assert weight_grid(1) == [(1.0,)]
    for n, most in ((2, 100), (3, 100), (5, 100)):
        weights = weight_grid(n)
        assert n < len(weights) <= most
        assert len(set(weights)) == len(weights)
        assert all(sum(each) == pytest.approx(1) for each in weights)
        assert {tuple(row) for row in np.eye(n)} <= set(weights)


def test_reweighed_rules_maximise_the_weighted_sum(world):
    evidence = world(n=20, seed=1)
    for name, decisions in reweighed(evidence.expected).items():
        weights = np.array([float(text) for text in name[len("utilitarian(") : -1].split(",")])
        scores = np.tensordot(weights, evidence.expected.values, axes=1)
        chosen = scores[decisions.codes, np.arange(20)]
        np.testing.assert_allclose(chosen, scores.max(axis=0), atol=2e-3)  # names are rounded


def test_probes_differ_and_repeat(world):
    evidence = world(n=50, seed=1)
    first, second = (probes(evidence.expected, np.random.default_rng(0)) for _ in range(2))
    assert all((first[name].codes == second[name].codes).all() for name in first)
    assert len({tuple(each.codes) for each in first.values()}) > 30


def test_neighbouring_corners_with_gaps_of_opposed_signs_are_mixed_until_there_is_none():
    """A square on its side, in order; gaps change their sign between the second and third, and the last and first."""
    corners = np.array([[4.0, 1.0], [3.0, 2.0], [1.0, -2.0], [2.0, -2.0]])
    found = Hindsight(corners, np.eye(2), np.zeros(2), ("max", "zero"))._crossings(1)
    assert sorted(found.tolist()) == [[2.0, 0.0], [pytest.approx(2 + 2 * 2 / 3), 0.0]]
    other = Hindsight(corners[:, ::-1], np.eye(2), np.zeros(2), ("zero", "max"))
    assert sorted(other._crossings(0)[:, ::-1].tolist()) == sorted(found.tolist())
    assert other._crossings(1).shape == (0, 2)
    assert other.front().tolist() == [[0.0, pytest.approx(2 + 2 * 2 / 3)], [1.0, 4.0]]


@pytest.mark.parametrize("goals", [("max", "max"), ("max", "min"), ("min", "max"), ("min", "min")], ids="-".join)
def test_a_front_begins_with_the_best_in_the_first_metric(goals):
    signs = np.array([1.0 if goal == "max" else -1.0 for goal in goals])
    corners = signs * np.array([[1.0, 4.0], [3.0, 2.0], [2.0, 3.0], [1.0, 1.0]])
    found = Hindsight(corners, np.eye(2), np.zeros(2), goals).front()
    assert found.tolist() == (signs * [[3.0, 2.0], [2.0, 3.0], [1.0, 4.0]]).tolist()


@pytest.mark.parametrize(
    ("goals", "signs"),
    [(("max", "max"), (1, 1)), (("min", "max"), (-1, 1)), (("max", "min"), (1, -1)), (("min", "min"), (-1, -1)),
     (("zero", "max"), (1, 1)), (("zero", "max"), (-1, 1)), (("max", "zero"), (1, -1))],
)  # fmt: skip
def test_what_a_mixture_of_two_corners_gives_up(goals, signs):
    """One corner has the best of one metric and nothing of the other: a mixture of both gives up half of the spans."""
    ends = np.array([[0.0 if goal == "zero" else 1.0, 0.0] for goal in goals])  # best and worst of each
    ends += [[0.0, 1.0] if goal == "zero" else [0.0, 0.0] for goal in goals]
    corners = np.array([[ends[0, 0], ends[1, 1]], [ends[0, 1], ends[1, 0]]]) * [4.0, 2.0] * signs
    corners += [{"max": -8.0, "min": 8.0, "zero": 0.0}[goal] for goal in goals]
    better = oriented(corners, goals)
    ideal, span = better.max(axis=0), np.ptp(better, axis=0)
    direction = np.array([[sign if goal != "zero" else -sign for goal, sign in zip(goals, signs, strict=True)]]) / span
    support = (corners @ direction.T).max(axis=0)
    found = Hindsight(corners, direction, support, goals).concession(ideal, span)
    assert found == pytest.approx((0.5, 0.5))


def test_corners_without_a_gap_need_no_mixture():
    corners = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, -1.0], [2.0, -1.0]])
    found = Hindsight(corners, np.eye(2), np.zeros(2), ("max", "zero"))
    assert found._crossings(1).tolist() == []
    assert found.front().tolist() == [[3.0, 0.0]]


@pytest.mark.parametrize(
    "goals", [("max", "max"), ("min", "max"), ("zero", "max"), ("min", "zero"), ("zero", "zero")], ids="-".join
)
def test_directions_are_those_in_which_some_goal_lies_in_order_round_the_circle(goals):
    step = 90 / (DIRECTIONS - 1)
    turns = np.radians(np.arange(-180 + step, 180.001, step))
    every = [(round(np.cos(turn), 12), round(np.sin(turn), 12), turn) for turn in turns]
    fits = {"max": lambda part: part >= 0, "min": lambda part: part <= 0, "zero": lambda part: True}
    angles = [angle for first, second, angle in every if fits[goals[0]](first) and fits[goals[1]](second)]
    found = _directions(goals)
    assert np.arctan2(found[:, 1], found[:, 0]) == pytest.approx(angles)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)
    near = np.abs(found) < 1e-9
    assert near.any(axis=0).all()
    assert (found[near] == 0).all()  # ends of the sweep are exact
    assert (np.abs(found[near[:, ::-1]]) == 1).all()


@pytest.mark.parametrize(("goal", "code"), [("max", 1), ("min", 2), ("zero", 0)])
def test_what_is_level_in_one_metric_is_decided_by_the_other_but_not_by_a_gap(goal, code):
    level, other = (Additive(np.array(rows)[:, None], 0.0) for rows in ([0.5, 0.5, 0.5, 0.2], [0.2, 0.7, 0.1, 0.9]))
    found = farthest((level, other), np.array([[1.0, 0.0]]), ("max", goal))
    assert found.tolist() == [[code]]
    mirrored = farthest((other, level), np.array([[0.0, 1.0]]), (goal, "max"))
    assert mirrored.tolist() == [[code]]


@pytest.mark.parametrize(("slope", "code"), [((0.5, -0.5), 0), ((-0.5, 0.5), 0), ((0.5, 0.5), 2)])
def test_between_the_ends_what_is_level_stays_with_the_first_whatever_its_metrics(slope, code):
    first, second = (Additive(np.array(rows)[:, None], 0.0) for rows in ([0.25, 0.75, 1.0], [0.25, 0.75, 1.0]))
    assert farthest((first, second), np.array([slope]), ("max", "max")).tolist() == [[code]]
