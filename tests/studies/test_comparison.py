"""Means over seeds and paired differences, against SciPy's own; and what is read together in a null world."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from accordant.statistics import Estimate
from accordant.studies.comparison import (
    against_baseline,
    against_strategies,
    differences,
    group_shares,
    leaderboard,
    selections,
    value,
    verdict,
)


def drawn(generator, n, strategies=("maximin", "constant:yes")):
    return [{name: tuple(generator.uniform(0.3, 0.9, 4)) for name in strategies} for _ in range(n)]


def test_means_are_student_intervals_of_each_mean_alone(made_up):
    generator = np.random.default_rng(0)
    seeds = drawn(generator, 5)
    found = {each.strategy: each for each in leaderboard(made_up.runs_of({"base": seeds}), "base")}
    for name in ("maximin", "constant:yes"):
        scores = [each[name][0] for each in seeds]
        low, high = stats.ttest_1samp(scores, 0).confidence_interval(0.95)
        assert found[name].score.value == pytest.approx(np.mean(scores))
        assert (found[name].score.low, found[name].score.high) == pytest.approx((max(low, 0), min(high, 1)))
        losses = [each[name][2] for each in seeds]
        assert found[name].metrics["Loss"].value == pytest.approx(np.mean(losses))
        assert found[name].metrics["Loss"].n == 5


def test_differences_from_the_baseline_are_paired_and_read_together(made_up):
    generator = np.random.default_rng(1)
    world = {"base": drawn(generator, 4), "other": drawn(generator, 4), "third": drawn(generator, 4)}
    found = against_baseline(made_up.runs_of(world), "base", ("maximin", "selected"), ("score", "Loss", "Gap"))
    assert len(found) == 2 * 2 * 3
    place = {"score": 0, "Loss": 2, "Gap": 3}
    for each in found:
        k = place[each.metric]
        one = [seed["maximin"][k] for seed in world[each.condition]]
        two = [seed["maximin"][k] for seed in world["base"]]
        limits = stats.ttest_rel(one, two).confidence_interval(1 - 0.05 / 12)
        assert each.difference.value == pytest.approx(np.mean(one) - np.mean(two))
        ends = np.clip([limits.low, limits.high], -1, 1) if each.metric == "score" else [limits.low, limits.high]
        assert [each.difference.low, each.difference.high] == pytest.approx(list(ends))


def test_a_seed_that_one_side_lacks_is_left_out(made_up):
    world = made_up.runs_of({"base": drawn(np.random.default_rng(2), 4), "other": drawn(np.random.default_rng(3), 3)})
    (found,) = against_baseline(world, "base", ("maximin",), ("score",))
    assert found.difference.n == 3


def test_a_gap_counts_by_its_distance_from_zero():
    assert differences({1: -0.3, 2: 0.2}, {1: 0.1, 2: -0.4}, "zero") == pytest.approx([0.2, -0.2])
    assert differences({1: -0.3}, {1: 0.1}, "max") == pytest.approx([-0.4])
    assert differences({1: 1.0}, {2: 1.0}, "max") == []


@pytest.mark.parametrize(
    ("low", "high", "goal", "expected"),
    [(0.1, 0.2, "max", "better"), (0.1, 0.2, "min", "worse"), (0.1, 0.2, "zero", "worse"), (-0.2, -0.1, "max", "worse"),
     (-0.2, -0.1, "min", "better"), (-0.1, 0.2, "max", "no difference shown"), (0.0, 0.2, "max", "no difference shown")],
)  # fmt: skip
def test_words_follow_the_interval_and_the_goal(low, high, goal, expected):
    assert verdict(Estimate((low + high) / 2, low, high, 0.95, 4), goal) == expected


def test_without_an_interval_nothing_is_told_but_that_nothing_ever_differs():
    assert verdict(Estimate(0.1, n=1), "max") == "cannot be told"
    assert verdict(Estimate(0.0, n=4), "max") == "no difference shown"
    assert verdict(Estimate(0.1, n=4), "max") == "cannot be told"
    assert verdict(Estimate(None, n=0), "max") == "cannot be told"


def test_the_chosen_strategy_is_compared_with_every_baseline_that_may_win(made_up):
    seeds = drawn(np.random.default_rng(4), 3, ("maximin", "constant:yes", "stakeholder:Bank", "oracle"))
    found = against_strategies(made_up.runs_of({"base": seeds, "other": seeds}))
    assert [(each.condition, each.other) for each in found] == [
        ("base", "constant:yes"), ("base", "stakeholder:Bank"), ("other", "constant:yes"), ("other", "stakeholder:Bank")
    ]  # fmt: skip
    gaps = [each["maximin"][0] - each["constant:yes"][0] for each in seeds]
    limits = stats.ttest_1samp(gaps, 0).confidence_interval(1 - 0.05 / 4)
    assert (found[0].difference.low, found[0].difference.high) == pytest.approx((limits.low, limits.high))


def test_what_is_not_defined_is_none_and_never_first(made_up):
    world = made_up.runs_of({"base": [{"maximin": (None, 0.5, 0.1, None), "constant:yes": (0.1, 0.5, 0.1, 0.2)}] * 3})
    first, second = leaderboard(world, "base")
    assert first.strategy == "constant:yes"
    assert second.score.value is None
    assert second.metrics["Gap"].reason


def test_candidates_stand_before_references(made_up):
    seeds = [
        {"maximin": (0.4, 0, 0, 0), "oracle": (0.9, 0, 0, 0)},
        {"maximin": (0.5, 0, 0, 0), "oracle": (0.8, 0, 0, 0)},
    ]
    assert [each.strategy for each in leaderboard(made_up.runs_of({"base": seeds}), "base")] == ["maximin", "oracle"]


def test_how_often_each_is_chosen(made_up):
    rows = [made_up.row("maximin", 0.5, {})]
    chosen = ["maximin", "constant:yes", None, "maximin"]
    assert list(selections(made_up.record(rows, each) for each in chosen).items()) == [
        ("maximin", 2),
        ("constant:yes", 1),
    ]


def test_a_strategy_that_a_run_does_not_list_has_no_value(made_up):
    found = made_up.record([made_up.row("maximin", 0.5, {"Accuracy": 0.7}, tied=0.2)])
    assert value(found, "nobody", "score") is None
    assert value(found, "maximin", "Nothing") is None
    assert (value(found, "selected", "tied"), value(found, "maximin", "Accuracy")) == (0.2, 0.7)


@pytest.mark.long
@pytest.mark.parametrize("n", [3, 4, 8])
def test_in_a_null_world_hardly_any_study_shows_a_difference(made_up, n):
    generator, shown, repetitions = np.random.default_rng(5), 0, 600
    for _ in range(repetitions):
        split = generator.normal(0, 0.05, n)  # rows that all conditions of a seed share
        world = {
            label: [{"maximin": (0.6 + split[seed] + generator.normal(0, 0.03), 0, 0, 0)} for seed in range(n)]
            for label in ("base", "a", "b", "c", "d", "e")
        }
        found = against_baseline(made_up.runs_of(world), "base", ("selected",), ("score",))
        shown += any(each.verdict != "no difference shown" for each in found)
    assert shown / repetitions < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)


@pytest.mark.long
def test_a_difference_that_is_there_is_shown(made_up):
    generator, shown = np.random.default_rng(6), 0
    for _ in range(100):
        world = {
            label: [{"maximin": (0.5 + gain + generator.normal(0, 0.01), 0, 0, 0)} for _ in range(6)]
            for label, gain in (("base", 0.0), ("better", 0.1))
        }
        (found,) = against_baseline(made_up.runs_of(world), "base", ("selected",), ("score",))
        shown += found.verdict == "better"
    assert shown > 95


def test_groups_are_told_by_what_the_selected_strategy_of_each_run_does(made_up):
    def table(attributes, *rows):
        lines = [
            SimpleNamespace(strategy=strategy, group=group, favourable_share=share, mean_rewards=rewards)
            for strategy, group, share, rewards in rows
        ]
        return SimpleNamespace(attributes=attributes, rows=lines)

    runs = made_up.runs_of({"base": drawn(np.random.default_rng(4), 3)})
    for record, selected, share in zip(
        runs.records["base"].values(), ("maximin", "maximin", "constant:yes"), (0.2, 0.4, 0.9), strict=True
    ):
        record.selected = selected
        record.groups = (
            table(("sex",), ("maximin", "f", share, {"Bank": share / 2}), ("maximin", "m", None, {}),
                  ("constant:yes", "f", 0.6, {"Bank": 0.5})),
            table(("sex", "age"), ("constant:yes", "f × old", 0.1, {"Bank": 0.3})),
        )  # fmt: skip
    told = {(share.attributes, share.group): share for share in group_shares(runs, "base")}
    assert list(told) == [(("sex",), "f"), (("sex",), "m"), (("sex", "age"), "f × old")]
    women, men, old = told.values()
    assert women.condition == "base"
    assert women.favourable.value == pytest.approx((0.2 + 0.4 + 0.6) / 3)
    assert women.rewards["Bank"].value == pytest.approx((0.1 + 0.2 + 0.5) / 3)
    assert 0 <= women.favourable.low < women.favourable.high <= 1
    assert men.favourable.value is None and men.rewards == {}
    assert old.favourable.value == pytest.approx(0.1) and old.favourable.low is None
