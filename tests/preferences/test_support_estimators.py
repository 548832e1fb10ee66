"""Predicted support rates: against truths that the simulation knows, and defined wherever little is known."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.preferences import Comparisons, support_rates
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.learners.logistic import sigmoid
from accordant.preferences.learners.mixture import Mixture
from accordant.preferences.records import user_folds, weight_of_users
from accordant.preferences.support import in_sight, in_sight_of_others

MODELS = ("pooled", "mixture")


def two_tastes(seed=0, n_users=80, each=20, share=0.75, items=60, pairs=None):
    """Users of two tastes in four features, and the true share of the others with each preference.

    With `pairs`, everybody compares the same so many pairs of items; else pairs hardly ever repeat.
    """
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(items, 4))
    tastes = np.array([[2.0, 0.5, 0.0, 0.0], [-2.0, 0.5, 1.0, 0.0]])
    taste = (np.arange(n_users) >= share * n_users).astype(int)
    users = np.repeat(np.arange(n_users), each)
    n = len(users)
    first = generator.integers(0, items, n)
    second = (first + generator.integers(1, items, n)) % items
    if pairs is not None:
        which = generator.integers(0, pairs, n)
        first, second = first[which], second[which]
    likely = sigmoid((features[first] - features[second]) @ tastes.T)
    right = generator.random(n) < likely[np.arange(n), taste[users]]
    others = np.bincount(taste, minlength=2) - np.eye(2)[taste[users]]
    for_first = (others * likely).sum(axis=1) / (n_users - 1)
    records = Comparisons(features, np.where(right, first, second), np.where(right, second, first), users)
    return records, np.where(right, for_first, 1 - for_first), taste


@pytest.mark.parametrize(
    ("estimator", "correlation", "error"), [("counts", 0.95, 0.1), ("pooled", 0.85, 0.15), ("mixture", 0.97, 0.05)]
)
def test_estimates_follow_the_true_shares_where_pairs_repeat(estimator, correlation, error):
    records, truth, _ = two_tastes(pairs=30)
    found = support_rates(records, estimator=estimator)
    assert found.source == estimator
    assert found.known == 1.0
    assert np.corrcoef(found.of_record, truth)[0, 1] > correlation
    assert np.abs(found.of_record - truth).mean() < error
    assert abs((found.of_record - truth).mean()) < 0.02


@pytest.mark.parametrize(("estimator", "correlation", "error"), [("pooled", 0.85, 0.15), ("mixture", 0.95, 0.06)])
@pytest.mark.parametrize("seed", range(3))
def test_models_follow_the_true_shares_where_pairs_do_not_repeat(estimator, correlation, error, seed):
    records, truth, taste = two_tastes(seed, items=500)
    found = support_rates(records, estimator=estimator)
    assert support_rates(records).known < 0.1
    assert np.corrcoef(found.of_record, truth)[0, 1] > correlation
    assert np.abs(found.of_record - truth).mean() < error
    assert abs((found.of_record - truth).mean()) < 0.02
    assert found.of_user[taste == 1].max() < found.of_user[taste == 0].mean()


@pytest.mark.parametrize("estimator", ["counts", *MODELS])
def test_leaving_the_user_in_flatters_everybody(estimator):
    flattery, bias = [], []
    for seed in range(4):
        records, truth, _ = two_tastes(seed, n_users=12, each=12, items=100, pairs=12)
        without, within = (
            support_rates(records, estimator=estimator, leave_one_out=out).of_record for out in (True, False)
        )
        flattery.append(np.nanmean(within - without))
        bias.append(np.nanmean(without - truth))
    assert min(flattery) > 0.005
    assert abs(np.mean(bias)) < 0.05


def test_the_pooled_rate_of_a_user_ignores_the_users_own_records():
    records, _, _ = two_tastes(n_users=6, each=5)
    mine = records.users == 2
    turned = Comparisons(
        records.features, np.where(mine, records.rejected, records.chosen),
        np.where(mine, records.chosen, records.rejected), records.users,
    )  # fmt: skip
    before, after = (support_rates(each, estimator="pooled").of_record for each in (records, turned))
    assert after[mine] == pytest.approx(1 - before[mine])
    assert after[~mine] != pytest.approx(before[~mine])


def test_pooled_rates_equal_a_model_fit_to_each_fold_by_hand():
    records, _, _ = two_tastes(n_users=9, each=7)
    weights = np.random.default_rng(1).integers(1, 4, len(records)).astype(float)
    records = Comparisons(records.features, records.chosen, records.rejected, records.users, weights=weights)
    found = support_rates(records, estimator="pooled", folds=3, generator=np.random.default_rng(4))
    fold = user_folds(weight_of_users(records), 3, np.random.default_rng(4))
    for r in range(len(records)):
        rows = [s for s in range(len(records)) if fold[records.users[s]] != fold[records.users[r]]]
        theirs = [weights[s] / weights[records.users == records.users[s]].sum() for s in rows]
        theta = BradleyTerry().fit(
            Comparisons(records.features, records.chosen[rows], records.rejected[rows], records.users[rows],
                        records.names, weights=np.array(theirs))
        ).coefficients  # fmt: skip
        apart = records.features[records.chosen[r]] - records.features[records.rejected[r]]
        assert found.of_record[r] == pytest.approx(1 / (1 + np.exp(-theta @ apart)), abs=1e-6)


def test_mixture_rates_equal_the_formula_user_by_user():
    records, _, _ = two_tastes(n_users=10, each=12)
    model = Mixture(2).fit(records, generator=np.random.default_rng(3))
    found = support_rates(records, estimator="mixture", generator=np.random.default_rng(3))
    for r in range(len(records)):
        others = [u for u in range(10) if u != records.users[r]]
        shares = [np.mean([model.memberships[u, k] for u in others]) for k in range(2)]
        apart = records.features[records.chosen[r]] - records.features[records.rejected[r]]
        expected = sum(shares[k] / (1 + np.exp(-model.coefficients[k] @ apart)) for k in range(2))
        assert found.of_record[r] == pytest.approx(expected)


@pytest.mark.parametrize("estimator", MODELS)
def test_two_directions_of_a_contradiction_sum_to_one(estimator):
    records, _, _ = two_tastes(n_users=8, each=6)
    both = Comparisons(
        records.features, np.append(records.chosen, records.rejected[0]), np.append(records.rejected, records.chosen[0]),
        np.append(records.users, records.users[0]),
    )  # fmt: skip
    rates = support_rates(both, estimator=estimator).of_record
    assert rates[0] + rates[-1] == pytest.approx(1)


@pytest.mark.parametrize("estimator", MODELS)
def test_users_with_one_record_or_none(estimator):
    records, _, _ = two_tastes(n_users=8, each=10)
    rows = np.r_[0, 10 : len(records)]  # the first user keeps one record
    few = records.take(rows)
    more = Comparisons(few.features, few.chosen, few.rejected, few.users, (*few.names, "silent"))
    found = support_rates(more, estimator=estimator)
    assert found.of_user[0] == found.of_record[0]
    assert np.isnan(found.of_user[-1])
    assert np.isfinite(found.of_record).all()
    assert found.others.tolist() == support_rates(more).others.tolist()


@pytest.mark.parametrize("estimator", ["counts", *MODELS, "auto"])
def test_somebody_alone_has_no_rate_but_their_own(estimator):
    alone = Comparisons(np.eye(3), [0, 1, 0], [1, 2, 2], [1, 1, 1])
    assert np.isnan(support_rates(alone, estimator=estimator).of_record).all()
    assert (support_rates(alone, estimator=estimator, leave_one_out=False).of_record > 0.5).all()


@pytest.mark.parametrize("estimator", ["counts", *MODELS, "auto"])
def test_nobody(estimator):
    empty = np.empty(0, dtype=int)
    found = support_rates(Comparisons(np.eye(2), empty, empty, empty, ("a",)), estimator=estimator)
    assert found.of_record.shape == (0,)
    assert np.isnan(found.of_user).tolist() == [True]


@pytest.mark.parametrize("estimator", MODELS)
def test_a_record_without_weight_is_rated_and_trains_nobody(estimator):
    weighed = Comparisons(np.eye(3), [0, 0, 1, 2], [1, 1, 0, 1], [0, 1, 2, 2], weights=np.array([1.0, 1.0, 0.0, 0.0]))
    found = support_rates(weighed, estimator=estimator)
    assert found.of_record[:3] == pytest.approx([found.of_record[0]] * 2 + [1 - found.of_record[0]], abs=0.02)
    assert found.of_record[0] > 0.9
    assert np.isfinite(found.of_user).tolist() == [True, True, False]
    only = Comparisons(np.eye(3), [0, 1], [1, 0], [0, 1], weights=np.array([1.0, 0.0]))
    rates = support_rates(only, estimator=estimator).of_record
    assert np.isnan(rates[0])
    assert rates[1] < 0.1


@pytest.mark.parametrize("estimator", MODELS)
def test_models_rate_nothing_that_others_say_nothing_about(estimator):
    # one feature per item: nobody else compared items 2 and 3; items 4 and 5 have the same features
    features = np.vstack([np.eye(4), np.zeros((2, 4))])
    records = Comparisons(features, [0, 0, 1, 2, 4], [1, 1, 0, 3, 5], [0, 1, 2, 0, 1])
    rates = support_rates(records, estimator=estimator).of_record
    assert np.isfinite(rates).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("seed", range(3))
def test_sight_equals_looking_at_every_pair_of_records(seed):
    generator = np.random.default_rng(seed)
    n = 12
    chosen = generator.integers(0, 14, n)
    records = Comparisons(
        np.eye(15), chosen, (chosen + 1 + generator.integers(0, 2, n)) % 15, generator.integers(0, 4, n),
        weights=generator.integers(0, 2, n) + np.eye(n)[0],
    )  # fmt: skip
    x = records.differences()
    seen = [s for s in range(n) if records.record_weights[s] > 0]
    assert in_sight(records, x).tolist() == [any(abs(x[s] @ x[r]) > 0 for s in seen) for r in range(n)]
    assert in_sight_of_others(records).tolist() == [
        any(abs(x[s] @ x[r]) > 0 for s in seen if records.users[s] != records.users[r]) for r in range(n)
    ]


def test_auto_counts_where_half_of_the_records_have_another_labeller():
    features = np.random.default_rng(0).normal(size=(8, 2))
    half = Comparisons(features, [0, 1, 2, 4], [1, 0, 3, 5], [0, 1, 0, 1])
    less = Comparisons(features, [0, 1, 2, 4, 6], [1, 0, 3, 5, 7], [0, 1, 0, 1, 1])
    assert support_rates(half, estimator="auto").source == "counts"
    assert support_rates(less, estimator="auto").source == "pooled"


@pytest.mark.parametrize("estimator", MODELS)
def test_the_same_generator_gives_the_same_bytes(estimator):
    records, _, _ = two_tastes(n_users=10, each=5)
    first, second = (
        support_rates(records, estimator=estimator, generator=np.random.default_rng(2)).of_record for _ in range(2)
    )
    assert first.tobytes() == second.tobytes()


def test_the_mixture_says_that_few_records_do_not_identify_types():
    records, _, _ = two_tastes(n_users=10, each=5)
    assert "fewer than 10 comparisons" in support_rates(records, estimator="mixture").warnings[0]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"estimator": "polled"}, UnknownNameError),
        ({"estimator": "pooled", "folds": 1}, InputError),
        ({"estimator": "pooled", "folds": True}, InputError),
        ({"estimator": "pooled", "ridge": 0.0}, InputError),
        ({"estimator": "mixture", "types": 0}, InputError),
    ],
)
def test_wrong_parameters_are_refused(wrong, error):
    records, _, _ = two_tastes(n_users=4, each=3)
    with pytest.raises(error):
        support_rates(records, **wrong)
