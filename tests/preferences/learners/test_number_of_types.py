"""The number of types is found where types are, and one type is chosen where there are none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences import Comparisons, Ratings
from accordant.preferences.learners.number_of_types import TypeScore, choice_by, choose_types
from accordant.preferences.learners.mixture import Mixture
from accordant.preferences.learners.shared_items import SharedItems
from accordant.preferences.records import user_folds, weight_of_users

QUICK = Mixture(restarts=2, rounds=40, change=1e-5)


def by_hand(model, records):
    """Likelihood of each user by products and sums of exponentials."""
    found = []
    for u in range(records.n_users):
        total = 0.0
        for k in range(len(model.shares)):
            product = model.shares[k]
            for r in np.flatnonzero(records.users == u):
                apart = records.features[records.chosen[r]] - records.features[records.rejected[r]]
                product *= (1 / (1 + np.exp(-model.coefficients[k] @ apart))) ** records.record_weights[r]
            total += product
        found.append(np.log(total))
    return found


def test_likelihoods_and_memberships_of_new_users(opposed):
    records, new = opposed(share=0.7, n=1500), opposed(share=0.4, n=800, seed=1)
    model = Mixture(restarts=1).fit(records)
    assert model.log_likelihoods(new) == pytest.approx(by_hand(model, new))
    adapted = model.adapted(new)
    many = adapted.memberships[:, np.argmax(model.coefficients[:, 0])] > 0.5
    assert (many == (np.array(new.groups) == "many")).mean() > 0.9
    assert adapted.coefficients is model.coefficients
    assert adapted.log_likelihood == pytest.approx(sum(by_hand(model, new)))
    assert model.adapted(records).memberships == pytest.approx(model.memberships, abs=0.01)
    assert adapted.log_likelihood > model.log_likelihoods(new).sum() - 1e-9


def test_a_new_user_without_records_gets_the_shares(opposed):
    records = opposed(n=300)
    model = Mixture(restarts=1).fit(records)
    few = Comparisons(records.features, records.chosen, records.rejected, records.users, (*records.names, "silent"))
    assert model.adapted(few).memberships[-1] == pytest.approx(model.shares)
    assert model.log_likelihoods(few)[-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rule", ["one standard error", "best"])
def test_two_opposed_groups_are_two_types(opposed, rule):
    choice = choose_types(opposed(share=0.7, n=1200), most=3, folds=3, learner=QUICK, rule=rule)
    assert choice.chosen >= 2
    assert choice.chosen == (2 if rule == "one standard error" else choice.best)
    first = choice.scores[0]
    assert first.shortfall > 5 * first.standard_error > 0
    assert [score.types for score in choice.scores] == [1, 2, 3]


def test_the_rules_read_the_table():
    table = [TypeScore(1, -0.6, 0.1, 0.02), TypeScore(2, -0.51, 0.01, 0.01), TypeScore(3, -0.5, 0.0, 0.0)]
    assert choice_by("one standard error", table) == 2
    assert choice_by("best", table) == 3
    assert choice_by("best", [TypeScore(1, -0.5, 0.0, 0.0), TypeScore(2, -0.5, 0.0, 0.0)]) == 1


def test_users_who_are_alike_are_one_type(opposed):
    choice = choose_types(opposed(share=1.0, n=1200), most=3, folds=3, learner=QUICK)
    assert choice.chosen == 1


def test_scores_equal_fitting_each_fold_by_hand(opposed):
    drawn = opposed(share=0.6, n=300)
    weights = np.random.default_rng(1).integers(0, 3, len(drawn)).astype(float)
    records = Comparisons(drawn.features, drawn.chosen, drawn.rejected, drawn.users, drawn.names, weights=weights)
    choice = choose_types(records, most=1, folds=3, generator=np.random.default_rng(2))
    fold = user_folds(weight_of_users(records), 3, np.random.default_rng(2))
    total = 0.0
    for k in range(3):
        model = Mixture(1).fit(records.of_users(np.flatnonzero((fold != k) & (fold >= 0))))
        total += np.array(by_hand(model, records))[fold == k].sum()
    assert choice.scores[0].log_likelihood == pytest.approx(total / weights.sum(), abs=1e-6)
    assert choice.scores[0].shortfall == choice.scores[0].standard_error == 0


def test_the_standard_error_is_that_of_resampled_users():
    from accordant.preferences.learners.number_of_types import _scores

    generator = np.random.default_rng(0)
    weights = generator.integers(5, 40, 60).astype(float)
    likelihoods = -weights * np.stack([generator.uniform(0.5, 0.7, 60), generator.uniform(0.4, 0.7, 60)])
    scores = _scores(likelihoods, weights)
    assert scores[1].shortfall == scores[1].standard_error == 0
    drawn = generator.integers(0, 60, size=(4000, 60))
    shortfalls = (likelihoods[1] - likelihoods[0])[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    assert scores[0].standard_error == pytest.approx(shortfalls.std(), rel=0.1)
    assert scores[0].shortfall == pytest.approx(shortfalls.mean(), abs=0.1 * scores[0].standard_error)


def test_what_is_doubtful_is_said(opposed):
    eight = opposed(n=600).of_users(range(8))
    few = choose_types(eight, most=2, folds=2, learner=QUICK)
    assert "fewer than 10 comparisons" in few.warnings[0]
    assert few.n_users == np.count_nonzero(eight.counts) == 8
    assert few.folds == 2
    assert "only 8 users were scored" in few.warnings[-1]
    at_most = choose_types(opposed(share=0.6, n=1200), most=2, folds=2, learner=QUICK)
    assert any("largest number tried" in each for each in at_most.warnings)
    assert json.loads(json.dumps(at_most.to_json()))["chosen"] == 2


def all_pairs_of_ratings():
    generator = np.random.default_rng(0)
    ratings = Ratings(
        generator.normal(size=(300, 3)), np.arange(300), np.repeat(np.arange(20), 15), generator.normal(size=300)
    )
    return ratings.to_comparisons(gap=1e-9)


def test_records_that_share_items_and_weigh_too_much_are_warned_about():
    pairs = all_pairs_of_ratings()
    heavy = choose_types(replace(pairs, weights=None), most=1, folds=2, learner=QUICK)
    assert heavy.warnings == (
        "records of 20 users share items: they weigh 2100 and are worth about 394 independent ones, so that too many "
        "types may be chosen; weigh them less",
    )


def test_pairs_of_ratings_without_meaning_are_one_type():
    choice = choose_types(all_pairs_of_ratings(), most=3, learner=QUICK)
    assert choice.chosen == 1
    assert choice.warnings == ()


def test_independent_records_of_any_weight_are_not_warned_about(opposed):
    records = opposed(n=1200)
    chosen = np.where(np.arange(1200) % 60 == 0, 0, records.chosen)  # a few items meet again
    assert 0 < SharedItems(replace(records, chosen=chosen)).sharing.sum() < 20
    for weights in (None, np.full(len(records), 3.0)):
        assert (
            choose_types(replace(records, chosen=chosen, weights=weights), most=1, folds=2, learner=QUICK).warnings[1:]
            == ()
        )


def test_of_fewer_users_than_folds_every_one_is_a_fold(opposed):
    choice = choose_types(opposed(n=300).of_users([10, 20, 30]), most=1, folds=5, learner=QUICK)
    assert (choice.folds, choice.n_users) == (3, 3)


def test_the_same_generator_gives_the_same_table(opposed):
    records = opposed(n=300)
    one, two = (
        choose_types(records, most=2, folds=2, learner=QUICK, generator=np.random.default_rng(3)) for _ in range(2)
    )
    assert one == two


def test_folds_deal_users_evenly_and_leave_out_the_weightless(opposed):
    drawn = opposed(n=400)
    weights = np.where(drawn.users < 7, 0.0, 1.0)
    records = Comparisons(drawn.features, drawn.chosen, drawn.rejected, drawn.users, drawn.names, weights=weights)
    fold = user_folds(weight_of_users(records), 4, np.random.default_rng(0))
    assert (fold[:7] == -1).all()
    sizes = np.bincount(fold[fold >= 0])
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == np.count_nonzero(records.counts[7:])
    three = records.of_users([10, 20, 30])
    assert sorted(user_folds(weight_of_users(three), 9, np.random.default_rng(0))[[10, 20, 30]]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"most": 0}, InputError),
        ({"most": True}, InputError),
        ({"folds": 1}, InputError),
        ({"rule": "bets"}, UnknownNameError),
    ],
)
def test_wrong_parameters_are_refused(opposed, wrong, error):
    with pytest.raises(error):
        choose_types(opposed(n=100), **wrong)


def test_one_user_has_no_new_users(opposed):
    records = opposed(n=100)
    with pytest.raises(DataError, match="at least 2 users"):
        choose_types(records.of_users([records.users[0]]))
    with pytest.raises(DataError, match="found 0"):
        choose_types(records.take(slice(0, 0)))
