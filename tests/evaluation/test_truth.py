"""The instrument itself: its worlds are what they say, its true values are true, and broken promises are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.run import RECORD, Run, Settings, one_run
from benchmarks.truth.study import broken, study, summary
from benchmarks.truth.worlds import WORLDS, drawn

QUICK = Settings(resamples=100, folds=3, population=4096)


@pytest.fixture(scope="module")
def null():
    return one_run(WORLDS["null"], 0, QUICK)


def truths(run, metric):
    return {record[1]: record[6] for record in run.records if record[0] == "test" and record[2] == metric}


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_a_world_has_the_shape_it_declares(world):
    training, test = world.sample(0)
    assert (len(training), len(test)) == (world.train, world.test) == (600, 200)
    assert world.tables.shape == (3, 3, 3)
    assert ((world.tables >= 0) & (world.tables <= 1)).all()
    assert np.bincount(training.actions, minlength=3).min() > 20
    assert np.bincount(training.outcomes, minlength=3).min() > 20


@pytest.mark.long
def test_another_shape_is_another_world_of_the_same_kind():
    world = replace(WORLDS["confounded"], stakeholders=4, actions=2, outcomes=2, train=200, test=80, noise="heavy")
    first = one_run(world, 0, QUICK)
    found = summary(world, [first])
    assert set(found.cells["part"]) == {"validation", "test"}
    assert study(world, 1, QUICK).cells.equals(found.cells)  # a run is the same whenever it is made


def test_true_rewards_are_means_of_what_follows():
    world = replace(WORLDS["wrong_outcome_model"], train=50_000, test=1)
    training, _ = world.sample(0)
    _, expected = world.log(np.random.default_rng(1).random((50_000, 6)), np.random.default_rng(2))
    x = np.column_stack([training.contexts[f"x{j}"] for j in range(5)])
    f = world.outcome_probabilities(x, training.contexts["s"])
    followed = drawn(f[0], np.random.default_rng(3))
    assert world.tables[:, 0, followed].mean(axis=1) == pytest.approx(expected[:, 0].mean(axis=1), abs=0.006)


@pytest.mark.parametrize("metric", ["mean_reward", "min_reward", "nash_welfare"])
def test_in_the_null_world_all_are_worth_the_same_though_they_decide_differently(null, metric):
    found = truths(null, metric)
    assert np.ptp(list(found.values())) < 1e-9
    shares = truths(null, "share_of_a0")
    assert len({round(each, 3) for each in shares.values()}) > 5
    gaps = [gap for strategy, gap in truths(null, "parity").items() if strategy != "logged"]
    assert max(gaps) < 0.03  # nothing but the error of this small population


def test_outcomes_and_actions_follow_the_sensitive_attribute_where_they_should():
    log, expected = WORLDS["confounded_by_sensitive"].population(4096)
    inside = log.contexts["s"] == 1
    assert (log.actions[inside] == 0).mean() - (log.actions[~inside] == 0).mean() > 0.2
    assert np.abs(expected[..., inside].mean(axis=2) - expected[..., ~inside].mean(axis=2)).max() > 0.05


def fabricated(*, low, high, worse):
    rows = [
        (part, strategy, metric, 0.5, low, high, truth, True, strategy == "a", False, worse and strategy == "b",
         not (worse and strategy == "b"), True)
        for part in ("validation", "test")
        for metric in ("composite", "mean_reward")
        for strategy, truth in (("a", 0.5), ("b", 0.45))
    ]  # fmt: skip
    assert len(rows[0]) == len(RECORD)
    return Run(rows, (0, 1), (0, 1), {"selected": 0.0}, {"fit": 1.0})


@pytest.mark.long
def test_intervals_that_miss_the_truth_break_a_promise():
    made = [fabricated(low=0.6, high=0.7, worse=True)] * 100
    sentences = broken([summary(WORLDS["randomised"], made)])
    assert any("coverage of mean_reward (test) is 0.000" in sentence for sentence in sentences)
    assert any("coverage of selected: composite" in sentence for sentence in sentences)


@pytest.mark.long
def test_what_is_withheld_breaks_none():
    made = [fabricated(low=np.nan, high=np.nan, worse=True)] * 100
    found = summary(WORLDS["randomised"], made)
    assert not broken([found])
    assert (found.cells["withheld"] == 1).all()


@pytest.mark.long
def test_power_and_familywise_error_are_told_apart_by_the_truth():
    wide = {"low": 0.0, "high": 1.0}
    assert not broken([summary(WORLDS["clearly_best"], [fabricated(**wide, worse=True)] * 100)])
    silent = broken([summary(WORLDS["clearly_best"], [fabricated(**wide, worse=False)] * 100)])
    assert any("power (test) is 0.000, promised at least 0.95" in sentence for sentence in silent)
    null = summary(WORLDS["null"], [fabricated(**wide, worse=True)] * 100)
    assert any("familywise error (test) is 1.000" in sentence for sentence in broken([null]))


@pytest.mark.long
def test_a_flip_is_seen():
    made = [fabricated(low=0.0, high=1.0, worse=True)] * 99
    flipped = replace(made[0], dropped=(1, 1))
    sentences = broken([summary(WORLDS["randomised"], [*made, flipped])], slack=3.0)
    assert sentences == ["randomised: D* flips on dropping is 0.010, promised at most 0"]
