"""Rewards and metrics of the education cases against hand-made numbers and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import metrics
from accordant.cases.education.rewards import VALUED_GRADES, tutoring_rewards
from accordant.cases.files import read_case
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.evidence import Evidence
from accordant.metrics.metric import expression_of
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

HOMES = Contexts({"Home_education": np.array(["low", "higher"])})


# --- rewards of tutoring -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stakeholder", "action", "grade", "wanted"),
    [
        ("Student", "Tutoring", 10.0, (0.475, 0.475)),
        ("Student", "No_tutoring", 10.0, (0.525, 0.525)),
        ("Teacher", "Tutoring", 4.0, (0.0, 0.0)),
        ("Teacher", "No_tutoring", 15.0, (1.0, 1.0)),
        ("Institution", "Tutoring", 10.0, (0.4, 0.4)),
        ("Institution", "No_tutoring", 7.0, (0.2, 0.2)),
        ("Equity_office", "Tutoring", 10.0, (0.6, 0.4)),
        ("Equity_office", "No_tutoring", 10.0, (0.4, 0.6)),
    ],
)
def test_worked_numbers(stakeholder, action, grade, wanted):
    assert tutoring_rewards()[stakeholder](HOMES, action, grade) == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 20), st.floats(0, 20), st.floats(0, 1))
def test_a_better_grade_is_never_worth_less_and_places_cost_what_they_say(first, second, share):
    signals = tutoring_rewards(hours=share, arranging=share, cost=share, access=share)
    for name, signal in signals.items():
        for action in ("Tutoring", "No_tutoring"):
            low, high = (signal(HOMES, action, grade) for grade in sorted((first, second)))
            assert (low <= high + 1e-12).all() and low.min() >= 0 and high.max() <= 1
        change = signal(HOMES, "Tutoring", first) - signal(HOMES, "No_tutoring", first)
        wanted = (share, -share) if name == "Equity_office" else (-share, -share)
        assert change == pytest.approx(wanted, abs=1e-12)


def test_rewards_that_cannot_be():
    with pytest.raises(InputError, match=r"cost is 1.5; allowed: \[0, 1\]"):
        tutoring_rewards(cost=1.5)
    wrong = Contexts({"Home_education": np.array(["low", "middle"])})
    with pytest.raises(DataError, match="'Home_education', row 1: found 'middle'; allowed: low, higher"):
        tutoring_rewards()["Equity_office"](wrong, "Tutoring", 10.0)
    case, _ = read_case("education-tutoring")
    assert set(case.signals()) == set(VALUED_GRADES) == set(case.problem.stakeholder_names)


# --- rewards of modules ------------------------------------------------------------------------------------------


def test_every_table_orders_results_by_what_it_says():
    """Success is best for everybody; only the student and the equity office do not care about the module."""
    case, _ = read_case("education")
    groups = Contexts({"Priority": np.array(["deprived or disabled", "other", "unknown"])})
    modules = case.problem.actions
    for name, signal in case.signals().items():
        table = np.array(
            [[signal(groups, module, result) for result in case.problem.outcome_names] for module in modules]
        )
        assert (table[:, :2].min(axis=1) > table[:, 2:].max(axis=1)).all()
        alike = (table == table[:1]).all()
        assert alike == (name in ("Student", "Equity_office"))


def test_success_counts_most_for_whoever_has_the_worst_start():
    case, _ = read_case("education")
    groups = Contexts({"Priority": np.array(["deprived or disabled", "unknown", "other"])})
    office = case.signals()["Equity_office"]
    gains = office(groups, "BBB", "Pass") - office(groups, "BBB", "Withdrawn")
    assert gains == pytest.approx((1.0, 0.6, 0.3), abs=1e-12)
    with pytest.raises(InputError, match="somebody"):
        office(Contexts({"Priority": np.array(["somebody"])}), "BBB", "Pass")


def test_small_modules_are_dear_and_large_ones_crowded():
    case, _ = read_case("education")
    signals, one = case.signals(), Contexts({"x": [1.0]})
    for result in case.problem.outcome_names:
        teacher = {module: signals["Teacher"](one, module, result)[0] for module in case.problem.actions}
        places = {module: signals["Institution"](one, module, result)[0] for module in case.problem.actions}
        assert teacher["AAA"] > teacher["EEE"] == teacher["GGG"] > teacher["BBB"] == teacher["CCC"]
        assert places["AAA"] <= places["EEE"] == places["GGG"] < places["BBB"] == places["FFF"] == places["DDD"]


# --- metrics -----------------------------------------------------------------------------------------------------

PROBLEM = DecisionProblem(stakeholders=["Student", "School"], actions=["a", "b"], outcomes=["good", "bad"])


def world(groups, seed):
    """Evidence with random realised rewards, and decisions, some of them lotteries."""
    generator = np.random.default_rng(seed)
    n = len(groups)
    log = Log(Contexts({"group": np.array(groups)}), np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp))
    rewards = generator.random((2, 2, n))
    expected = ExpectedRewards(np.full(rewards.shape, 0.5), stakeholders=("Student", "School"), actions=("a", "b"))
    first = generator.choice([0.0, 0.25, 1.0], size=n)
    policy = np.stack([first, 1 - first])
    decisions = Decisions("hand", PROBLEM.actions, policy.argmax(axis=0), np.zeros(n, dtype=bool), policy=policy)
    return Evidence(PROBLEM, log, expected, rewards), decisions


def mean(values):
    return sum(values) / len(values)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["p", "q", "r"]), min_size=1, max_size=12), st.integers(0, 99))
def test_metrics_are_what_a_loop_finds(groups, seed):
    evidence, decisions = world(groups, seed)
    gap = metrics.create("reward_gap", {"stakeholder": "School", "attribute": "group", "protected": "p"})
    share = metrics.create("share_within", {"action": "b", "attribute": "group", "group": "p", "percent": True})
    inside, outside, taken = [], [], []
    for row, group in enumerate(groups):
        odds = decisions.policy[:, row]
        reward = odds[0] * evidence.rewards[1, 0, row] + odds[1] * evidence.rewards[1, 1, row]
        (inside if group == "p" else outside).append(reward)
        if group == "p":
            taken.append(100 * odds[1])
    wanted_gap = mean(inside) - mean(outside) if inside and outside else None
    wanted_share = mean(taken) if taken else None
    for metric, wanted in ((gap, wanted_gap), (share, wanted_share)):
        found = metric.evaluate(decisions, evidence)
        bounded = expression_of(metric, evidence).value(decisions)
        if wanted is None:
            assert found.value is None and bounded is None and "nobody" in found.reason
        else:
            assert found.value == pytest.approx(wanted, abs=1e-9) == bounded


def test_metrics_about_names_that_are_not_there():
    evidence, decisions = world(["p", "q"], 0)
    with pytest.raises(UnknownNameError, match="did you mean 'School'"):
        metrics.create("reward_gap", {"stakeholder": "Schol", "attribute": "group", "protected": "p"}).unsuited(PROBLEM)
    with pytest.raises(UnknownNameError, match="action"):
        metrics.create("share_within", {"action": "c", "attribute": "group", "group": "p"}).unsuited(PROBLEM)
    missing = metrics.create("share_within", {"action": "a", "attribute": "gruop", "group": "p"})
    with pytest.raises(InputError, match="the column 'gruop' is missing"):
        missing.evaluate(decisions, evidence)


def test_groups_of_numbers_are_found_by_their_text():
    evidence, decisions = world([1.0, 0.0, 1.0], 3)
    for group in ("1", 1, 1.0):
        metric = metrics.create("share_within", {"action": "a", "attribute": "group", "group": group})
        assert metric.evaluate(decisions, evidence).value == pytest.approx(decisions.policy[0, [0, 2]].mean())
