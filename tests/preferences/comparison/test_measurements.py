"""Metrics on many resamples at once agree with the measures of single samples, and with their bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.preferences.comparison.measurements import measure
from accordant.preferences.comparison.record_split import branch
from accordant.preferences.comparison.measurements import GOALS, Sample, statistics
from accordant.preferences.measures import (
    atkinson,
    bootstrap_users,
    corrected_spread,
    gini,
    group_gap,
    jain,
    per_user,
    support_relation,
    theil,
    worst_mean,
)

NAMES = ("a", "b", "c")


def slowly(accuracy, noise, support, group):
    """Return every metric of one sample by the measures."""
    found = {
        "accuracy": accuracy.mean(), "worst_10": worst_mean(accuracy, 0.1), "min": accuracy.min(), "gini": gini(accuracy),
        "jain": jain(accuracy), "theil": theil(accuracy), "atkinson": atkinson(accuracy, 0.5), "std": accuracy.std(),
    }  # fmt: skip
    for code, name in enumerate(NAMES):
        members = accuracy[group == code]
        found[f"accuracy[{name}]"] = members.mean() if len(members) else math.nan
    known = group >= 0
    several = len(set(group[known])) > 1
    found["gap"] = group_gap(accuracy[known], group[known]) if several else math.nan
    found["corrected_std"] = math.nan if np.isnan(noise).all() else corrected_spread(accuracy, noise).std
    relation = None if np.isnan(support).all() else support_relation(accuracy, support)
    parts = {"support_correlation": "pearson", "support_rank_correlation": "spearman", "support_slope": "slope"}
    for name, part in parts.items():
        value = None if relation is None else getattr(relation, part)
        found[name] = math.nan if value is None else value
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.0, 0.3, 1.0]), st.booleans())
def test_every_metric_is_that_of_the_measures(seed, n, unknown, coarse):
    generator = np.random.default_rng(seed)

    def row(gaps: bool):
        """Return numbers in [0, 1], with ties if they are coarse, and with gaps."""
        values = generator.integers(0, 3, n) / 2 if coarse else generator.random(n)
        return np.where(generator.random(n) < unknown, np.nan, values) if gaps else values

    rows = [(row(False), row(True), row(True), generator.integers(-1, 3, n)) for _ in range(3)]
    accuracy, noise, support, group = (np.stack(each) for each in zip(*rows, strict=True))
    found = statistics(NAMES)
    sample = Sample(accuracy, accuracy, noise, support, group)
    for place, each in enumerate(rows):
        for name, value in slowly(*each).items():
            assert found[name](sample)[place] == pytest.approx(value, abs=1e-12, nan_ok=True), name
    assert found["log_loss"](sample) == pytest.approx(accuracy.mean(axis=1))


def judged(seed=0, users=30, methods=("pooled", "other", "third")):
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(users), 6)
    return {name: per_user(generator.normal(0.3 + k, 1, len(who)), who) for k, name in enumerate(methods)}


def measured(found, groups, support, **changes):
    options = {"seed": 3, "resamples": 50, "level": 0.9} | changes
    return measure(found, groups, ("big", "small"), support, **options)


def test_intervals_are_those_of_the_bootstrap_over_users():
    found, groups = judged(), (np.arange(30) > 21).astype(np.intp)
    support = np.linspace(0.1, 0.9, 30)
    table = measured(found, groups, support)
    columns = {name: np.column_stack([each.accuracy, groups, support]) for name, each in found.items()}
    twins = {
        "accuracy": lambda users: users[:, 0].mean(),
        "accuracy[small]": lambda users: users[users[:, 1] == 1, 0].mean() if (users[:, 1] == 1).any() else None,
        "gini": lambda users: gini(users[:, 0]),
        "support_rank_correlation": lambda users: support_relation(users[:, 0], users[:, 2]).spearman,
    }
    for metric, statistic in twins.items():
        twin = bootstrap_users(columns, statistic, generator=branch(3, "resamples"), resamples=50, level=0.9)
        for name, limits in twin.methods.items():
            one = table.metrics[name][metric].limits
            assert one.value == pytest.approx(limits.value)
            if metric == "accuracy[small]":  # wider: it rests on the group's 8 users, not on all
                assert one.n == 8 and one.low is not None
                assert limits.low is None or (one.low < limits.low and one.high > limits.high)
                continue
            assert (one.low, one.high) == pytest.approx((limits.low, limits.high)), metric
        for (one, other), limits in twin.differences.items():
            here = table.difference(one, other, metric)
            assert here is not None
            if metric == "accuracy[small]":
                continue
            assert (here.value, here.low, here.high) == pytest.approx((limits.value, limits.low, limits.high))
            turned = table.difference(other, one, metric)
            assert (turned.low, turned.high) == (-here.high, -here.low)
    assert table.difference("pooled", "nobody", "gini") is None
    assert set(GOALS) | {"accuracy[big]", "accuracy[small]"} == set(table.metrics["pooled"])


def test_tests_are_against_the_first_method_and_leave_unknown_groups_out():
    found, groups = judged(), np.array([0] * 20 + [1] * 7 + [-1] * 3)
    table = measured(found, groups, np.full(30, np.nan))
    assert list(table.pareto) == ["other", "third"]
    test = table.pareto["third"]
    assert [each.n_users for each in test.groups] == [20, 7]
    assert test.groups[0].reference == pytest.approx(found["pooled"].accuracy[:20].mean())
    assert table.metrics["other"]["gap"].n == 27
    assert table.metrics["other"]["support_slope"].to_json() == {"value": None, "low": None, "high": None, "n": 0}


def test_a_group_of_one_has_no_interval_and_one_of_nobody_no_value():
    table = measured(judged(), np.array([0] * 29 + [1]), np.full(30, 0.5))
    alone = table.metrics["pooled"]["accuracy[small]"]
    assert alone.n == 1 and alone.limits.value is not None and alone.limits.low is None
    empty = measured(judged(), np.zeros(30, dtype=np.intp), np.full(30, 0.5))
    assert empty.metrics["pooled"]["accuracy[small]"].limits.value is None
    assert empty.metrics["pooled"]["support_correlation"].limits.value is None  # support does not vary


def test_records_in_place_of_users_have_accuracy_and_loss_alone():
    table = measured(judged(), np.zeros(30, dtype=np.intp), np.full(30, np.nan), units="records")
    defined = {name for name, each in table.metrics["pooled"].items() if each.limits.value is not None}
    assert defined == {"accuracy", "log_loss"}
    assert not table.pareto


def test_blocks_of_resamples_change_nothing(monkeypatch):
    found, groups, support = judged(), np.zeros(30, dtype=np.intp), np.linspace(0, 1, 30)
    whole = measured(found, groups, support)
    monkeypatch.setattr("accordant.preferences.comparison.measurements.BLOCK", 200)
    for name, metrics in measured(found, groups, support).metrics.items():
        for metric, each in metrics.items():
            expected = whole.metrics[name][metric].limits  # sums of blocks are rounded differently
            assert each.limits.value == expected.value
            assert (each.limits.low, each.limits.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_group_without_users_is_named_and_the_others_are_tested():
    found = judged()
    support, nobody = np.full(30, np.nan), np.zeros(30, dtype=np.intp)
    test = measured(found, nobody, support).pareto["other"]
    assert [each.group for each in test.groups] == ["big"]
    assert test.reason.endswith("; not tested, as nobody of them is measured: small")
    alone = measure(found, nobody, ("big",), support, seed=3, resamples=50, level=0.9).pareto["other"]
    assert (test.verdict, test.groups) == (alone.verdict, alone.groups)
