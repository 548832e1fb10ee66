"""Majority and minority: by hand, on simulated users, and where there is nothing to tell apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences import Comparisons, SupportRates, support_rates
from accordant.preferences.groups import majority_minority
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import sigmoid


def rated(of_user):
    """One record per user with these rates."""
    n = len(of_user)
    records = Comparisons(np.eye(2), [0] * n, [1] * n, range(n))
    rates = np.array(of_user, dtype=float)
    return records, SupportRates(rates, np.ones(n, dtype=np.intp), rates, leave_one_out=True)


def opposed(share=0.8, n_users=40, each=15, seed=0):
    """Users who want more of the first feature, and users who want less."""
    generator = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), each)
    features = generator.normal(size=(2 * len(users), 2))
    first, second = np.arange(len(users)), np.arange(len(users), 2 * len(users))
    wants = np.where(np.arange(n_users) < share * n_users, 3.0, -3.0)
    right = generator.random(len(users)) < sigmoid(wants[users] * (features[first] - features[second])[:, 0])
    records = Comparisons(features, np.where(right, first, second), np.where(right, second, first), users)
    return records, np.where(wants > 0, "majority", "minority")


def test_two_supporters_and_a_dissenter():
    groups = majority_minority(Comparisons(np.eye(2), [0, 0, 1], [1, 1, 0], [0, 1, 2], ("ann", "bob", "cem")))
    assert groups.of_user == ("majority", "majority", "minority")
    assert groups.of_record.tolist() == [False, False, True]
    assert groups.sizes == {"majority": 2, "minority": 1, "unknown": 0}
    assert groups.made["rates"] == "counts"
    assert groups.made["threshold"] == groups.made["cut"] == 0.5
    assert not groups.warnings
    assert json.loads(json.dumps(groups.to_json()))["users"] == {
        "ann": "majority",
        "bob": "majority",
        "cem": "minority",
    }


def test_a_rate_at_the_threshold_belongs_to_the_majority():
    records, rates = rated([0.5, 0.1 + 0.2 + 0.2 - 1e-16, 0.49, 1.0])
    assert majority_minority(records, rates).of_user == ("majority", "majority", "minority", "majority")
    third = majority_minority(*rated([1 / 3, 1 - 2 / 3, 0.2]), threshold=1 / 3)
    assert third.of_user == ("majority", "majority", "minority")


def test_a_quantile_keeps_equal_rates_together():
    tens = [k / 10 for k in range(1, 11)]
    groups = majority_minority(*rated(tens), by="quantile", quantile=0.3)
    assert groups.sizes == {"majority": 7, "minority": 3, "unknown": 0}
    assert groups.made["cut"] == 0.4
    hundred = rated([k / 100 for k in range(100)])  # 0.29 · 100 is just below 29 in floating point
    assert majority_minority(*hundred, by="quantile", quantile=0.29).sizes["minority"] == 29
    assert majority_minority(*rated([0.1, 0.1, 0.1, 0.9]), by="quantile").sizes["minority"] == 0
    assert majority_minority(*rated([0.1, 0.9, 0.9, 0.9]), by="quantile", quantile=0.5).sizes["minority"] == 1
    assert majority_minority(*rated([0.1]), by="quantile", quantile=1 - 1e-15).sizes["minority"] == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 20).map(lambda k: k / 20), st.just(float("nan"))), min_size=1, max_size=25),
    st.floats(0.01, 0.99),
)
def test_no_more_than_the_quantile_is_in_the_minority(of_user, quantile):
    groups = majority_minority(*rated(of_user), by="quantile", quantile=quantile)
    known = [rate for rate in of_user if not np.isnan(rate)]
    assert groups.sizes["minority"] <= quantile * len(known) + 1e-9
    assert groups.sizes["unknown"] == len(of_user) - len(known)
    below = [rate for rate, group in zip(of_user, groups.of_user, strict=True) if group == "minority"]
    above = [rate for rate, group in zip(of_user, groups.of_user, strict=True) if group == "majority"]
    assert not below or max(below) < min(above)
    if len(set(known)) == len(known):
        assert groups.sizes["minority"] == int(quantile * len(known) + 1e-9)


def test_users_without_a_rate_are_unknown():
    groups = majority_minority(*rated([0.9, np.nan, 0.2]))
    assert groups.of_user == ("majority", "unknown", "minority")
    assert groups.for_training == ("majority", "majority", "minority")
    assert groups.measured.tolist() == [True, False, True]
    assert groups.known_record.tolist() == [True, False, True]
    assert groups.records == {"majority": 1, "minority": 1, "unknown": 1}
    assert groups.warnings == ("1 of 3 users are in no known group",)


def test_groups_of_records():
    # user 0 is half a dissenter, user 2 is one for most of the weight, user 3 compared something alone
    records = Comparisons(
        np.eye(4), [0, 2, 0, 2, 0, 1, 3, 0], [1, 3, 1, 3, 1, 0, 2, 3], [0, 0, 1, 1, 4, 2, 2, 3],
        weights=np.array([1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0]),
    )  # fmt: skip
    rates = support_rates(records)
    assert rates.of_record == pytest.approx([2 / 3, 0.5, 2 / 3, 0.5, 2 / 3, 0, 0, np.nan], nan_ok=True)
    groups = majority_minority(records, rates, level="record", threshold=0.6)
    assert groups.of_record.tolist() == [False, True, False, True, False, True, True, False]
    assert groups.known_record.tolist() == [True] * 7 + [False]
    assert groups.of_user == ("majority", "majority", "minority", "unknown", "majority")
    assert groups.records == {"majority": 3, "minority": 4, "unknown": 1}
    assert groups.warnings == (
        "the minority has 4 records and the majority 3: it is not the smaller group",
        "1 of 8 records are in no known group",
    )


@pytest.mark.parametrize("how", [{"by": "threshold"}, {"by": "quantile"}, {"by": "clustering"}])
def test_opposed_users_are_told_apart(how):
    records, truth = opposed()
    groups = majority_minority(records, **how)
    assert np.mean(np.array(groups.of_user) == truth) >= 0.95
    assert groups.of_record.tolist() == [groups.of_user[u] == "minority" for u in records.users]
    model = learners.create("per_group").fit(records.with_groups(groups.for_training))
    assert (model.margins(records.with_groups(groups.for_training)) > 0).mean() > 0.8


def test_the_largest_of_three_types_is_the_majority():
    records, _ = opposed(share=0.5, n_users=30)
    wants_second = Comparisons(
        records.features, *np.where(
            (records.features[records.chosen, 1] > records.features[records.rejected, 1]),
            [records.chosen, records.rejected], [records.rejected, records.chosen],
        ), records.users + 30,
    )  # fmt: skip
    both = Comparisons(
        records.features, np.r_[records.chosen, wants_second.chosen], np.r_[records.rejected, wants_second.rejected],
        np.r_[records.users, wants_second.users],
    )  # fmt: skip
    groups = majority_minority(both, by="clustering", types=3)
    assert np.mean(np.array(groups.of_user) == ["minority"] * 30 + ["majority"] * 30) > 0.9
    assert groups.made["users_of_types"][groups.made["largest"]] == groups.sizes["majority"]


def test_everybody_alike_is_one_group():
    records = Comparisons(np.eye(2), [0] * 5, [1] * 5, range(5))
    for how in ({}, {"by": "quantile"}, {"by": "clustering"}):
        groups = majority_minority(records, **how)
        assert groups.sizes == {"majority": 5, "minority": 0, "unknown": 0}
        assert any("nothing to compare" in each for each in groups.warnings)


def test_one_user_and_nobody():
    one = Comparisons(np.eye(2), [0], [1], [0], ("a", "silent"))
    groups = majority_minority(one)
    assert groups.of_user == ("unknown", "unknown")
    assert groups.made["cut"] is None
    assert groups.warnings == ("no group is known of any of the users",)
    assert majority_minority(one, by="clustering").of_user == ("majority", "unknown")
    empty = one.take(slice(0, 0))
    assert majority_minority(empty, level="record").records == {"majority": 0, "minority": 0, "unknown": 0}
    with pytest.raises(DataError, match="no comparisons"):
        majority_minority(empty, by="clustering")


def test_clusters_that_features_do_not_support_are_doubted():
    alike = Comparisons(np.ones((4, 1)), [0, 1, 2] * 8, [1, 2, 3] * 8, np.repeat(np.arange(6), 4))
    groups = majority_minority(alike, by="clustering")
    assert groups.made["unsure"] == 1.0
    assert groups.warnings[0].startswith("6 of 6 users have fewer than 10 comparisons")
    assert groups.warnings[1] == "100% of the users are clearly of no type: the groups may be chance"
    assert majority_minority(opposed()[0], by="clustering").warnings == ()


def test_a_weightless_user_is_in_no_cluster():
    records, _ = opposed(n_users=10)
    weights = np.where(records.users == 3, 0.0, 1.0)
    weighed = Comparisons(records.features, records.chosen, records.rejected, records.users, weights=weights)
    assert majority_minority(weighed, by="clustering").of_user[3] == "unknown"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"by": "size"}, UnknownNameError),
        ({"level": "item"}, UnknownNameError),
        ({"threshold": 0.0}, InputError),
        ({"threshold": float("nan")}, InputError),
        ({"by": "quantile", "quantile": 1.0}, InputError),
        ({"by": "clustering", "types": 1}, InputError),
        ({"by": "clustering", "level": "record"}, InputError),
    ],
)
def test_wrong_parameters_are_refused(wrong, error):
    with pytest.raises(error):
        majority_minority(opposed(n_users=4)[0], **wrong)


def test_rates_of_other_records_are_refused():
    records, rates = rated([0.1, 0.9])
    with pytest.raises(InputError, match="rates are of"):
        majority_minority(records.take([0]), rates)
    with pytest.raises(InputError, match="no rates"):
        majority_minority(records, rates, by="clustering")
