"""What a reward may know of a user: given features, and summaries of the user's other records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences import Comparisons, Ratings
from accordant.preferences.learners.user_contexts import GivenContexts, HistoryContexts, user_contexts
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.learners.shared_items import SharedItems
from accordant.preferences.synthetic import world


def drawn(name="uninformative", seed=0, **changes):
    return world(name, users=30, records=15, features=5, **changes).drawn(np.random.default_rng(seed)).training


def known(n_users=6, n_features=3, silent=(), seed=0):
    generator = np.random.default_rng(seed)
    users = np.array([user for user in range(n_users) if user not in silent]).repeat(3)
    items = np.arange(2 * len(users)).reshape(-1, 2)
    return Comparisons(
        generator.normal(size=(items.size, 2)), items[:, 0], items[:, 1], users,
        user_names=tuple(map(str, range(n_users))), user_features=generator.normal(3.0, 2.0, (n_users, n_features)),
    )  # fmt: skip


def test_given_features_are_standardised_over_users_with_records():
    records = known(silent=(5,))
    records.user_features[5] = 1000.0
    contexts = GivenContexts.learned(records)
    rows = contexts.of_users(records)
    assert rows[:, 0].tolist() == [1.0] * 6
    assert rows[:5, 1:].mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert rows[:5, 1:].std(axis=0) == pytest.approx([1, 1, 1])
    assert (rows[5, 1:] > 100).all()
    assert np.array_equal(contexts.of_training_records(records), rows[records.users])


def test_a_feature_that_does_not_vary_is_zero():
    records = known()
    records.user_features[:, 1] = 4.0
    assert GivenContexts.learned(records).known[:, 2].tolist() == [0.0] * 6


def test_a_constant_that_binary_cannot_hold_does_not_vary():
    records = replace(known(), user_features=np.full((6, 2), [0.1, 1e9 / 3]))
    assert np.full(3, 0.1).std() > 0  # by rounding alone
    contexts = GivenContexts.learned(records)
    assert contexts.known[:, 1:].tolist() == [[0.0, 0.0]] * 6
    new = contexts.adapted(replace(records, user_features=np.full((6, 2), [0.2, 1e9 / 3])))
    assert new.known[0] == pytest.approx([1.0, 0.1, 0.0])


def test_a_feature_that_varies_a_little_around_a_large_mean_varies():
    records = replace(known(), user_features=1e6 + np.arange(6.0)[:, None] * 1e-4)
    assert GivenContexts.learned(records).known[:, 1].std() == pytest.approx(1.0)


def test_somebody_unknown_is_the_average_user():
    contexts = GivenContexts.learned(known())
    for user in (None, -1, 6, 99):
        assert contexts.of_user(user).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert contexts.of_user(2).tolist() == contexts.known[2].tolist()


def test_without_features_users_are_known_by_position():
    records = known()
    contexts = GivenContexts.learned(records)
    bare = replace(records, user_features=None, user_names=tuple(map(str, range(8))))
    assert np.array_equal(contexts.of_users(bare)[:6], contexts.known)
    assert contexts.of_users(bare)[6:].tolist() == [[1.0, 0.0, 0.0, 0.0]] * 2


def test_other_users_are_standardised_as_in_training():
    records, others = known(), known(seed=1)
    contexts = GivenContexts.learned(records)
    adapted = contexts.adapted(others)
    wanted = (others.user_features - records.user_features.mean(axis=0)) / records.user_features.std(axis=0)
    assert adapted.of_user(0)[1:] == pytest.approx(wanted[0])
    assert np.array_equal(adapted.mean, contexts.mean)


def test_features_that_are_missing_or_of_another_width_are_refused():
    contexts = GivenContexts.learned(known())
    with pytest.raises(DataError, match="users have 4 features; allowed: 3"):
        contexts.of_users(known(n_features=4))
    with pytest.raises(DataError, match="no user_features"):
        user_contexts("given", replace(known(), user_features=None), directions=2)
    with pytest.raises(UnknownNameError, match="context"):
        user_contexts("group", known(), directions=2)
    assert user_contexts("none", known(), directions=2) is None


@pytest.mark.parametrize("weighted", [False, True])
def test_a_training_record_sees_exactly_the_other_records_of_its_user(weighted):
    records = drawn("antipodal", individuality=0.0)
    if weighted:
        weights = np.random.default_rng(5).integers(0, 3, len(records)).astype(float)
        records = replace(records, weights=weights)
    contexts = HistoryContexts.learned(records, 8)
    assert len(contexts.signal) >= 1
    rows = contexts.of_training_records(records)
    for record in range(0, len(records), 17):
        others = [r for r in range(len(records)) if records.users[r] == records.users[record] and r != record]
        weights = records.record_weights[others]
        along = (records.features[records.chosen] - records.features[records.rejected])[others] @ contexts.directions
        mean, counted = weights @ along / weights.sum(), weights.sum() ** 2 / (weights**2).sum()
        shrunk = (mean - contexts.centre) * contexts.signal / (contexts.signal + 1.0 / counted)
        assert rows[record] == pytest.approx([1.0, *(shrunk / np.sqrt(contexts.signal))])
        left_out = contexts.adapted(records.take(np.array(others))).of_user(int(records.users[record]))
        assert rows[record] == pytest.approx(left_out)


def rated(seed, n_users=40, n_items=15, n_features=6):
    """All pairs of ratings that have nothing to do with features."""
    generator = np.random.default_rng(seed)
    n_ratings = n_users * n_items
    return Ratings(
        generator.normal(size=(n_ratings, n_features)), np.arange(n_ratings), np.arange(n_ratings) // n_items,
        generator.normal(size=n_ratings),
    ).to_comparisons(gap=1e-9)  # fmt: skip


def test_records_that_share_an_item_are_left_out_together():
    records = rated(0, n_users=5, n_items=6)
    contexts = HistoryContexts(
        np.eye(6)[:, :2], np.array([0.1, -0.2]), np.array([0.5, 2.0]), SharedItems(records).of_users(np.zeros((75, 2)))
    )
    rows = contexts.of_training_records(records)
    for record in range(0, len(records), 4):
        pair = [records.chosen[record], records.rejected[record]]
        touching = np.isin(records.chosen, pair) | np.isin(records.rejected, pair)
        apart = np.flatnonzero((records.users == records.users[record]) & ~touching)
        assert len(apart) == 6  # pairs of the other four items
        left_out = contexts.adapted(records.take(apart)).of_user(int(records.users[record]))
        assert rows[record] == pytest.approx(left_out)


def duplicated(seed):
    """Independent records of users without taste, each four times."""
    generator, n_records = np.random.default_rng(seed), 400
    items = np.arange(2 * n_records).reshape(-1, 2)
    once = Comparisons(
        generator.normal(size=(2 * n_records, 6)), items[:, 0], items[:, 1], np.repeat(np.arange(40), 10)
    )
    return once.take(np.repeat(np.arange(n_records), 4))


@pytest.mark.few(2)
@pytest.mark.parametrize("records_of", [rated, duplicated])
@pytest.mark.parametrize("weighing", ["as given", "one each"])
def test_records_without_meaning_tell_nobody_apart(records_of, weighing):
    kept = []
    for seed in range(5):
        records = records_of(seed)
        records = replace(records, weights=None) if weighing == "one each" else records
        kept.append(len(HistoryContexts.learned(records, 8).signal))
        model = learners.create("bradley_terry", {"context": "history"})
        design = model.design(records)
        margins = design.problem().predictions(model.fit(records).coefficients.ravel())
        assert log_loss(margins).mean() > 0.675  # 0.693 is chance; six coefficients fit a little noise
    assert np.mean(np.array(kept) > 0) <= 0.2


@pytest.mark.parametrize("scale", [0.01, 4.0, 100.0])
def test_the_scale_of_weights_changes_nothing(scale):
    records = drawn("antipodal", individuality=0.0)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(records))
    one, other = (
        HistoryContexts.learned(each, 8)
        for each in (replace(records, weights=weights), replace(records, weights=scale * weights))
    )
    assert len(one.signal) >= 1
    assert np.abs(other.of_users(records)) == pytest.approx(np.abs(one.of_users(records)))


def test_zero_weights_in_step_with_the_sample_change_nothing(monkeypatch):
    monkeypatch.setattr("accordant.preferences.learners.user_contexts.WHITENED", 200)
    records = drawn("antipodal", individuality=0.0)
    for turn in (0, 1):
        weights = (np.arange(len(records)) % 2 == turn).astype(float)
        contexts = HistoryContexts.learned(replace(records, weights=weights), 8)
        alone = HistoryContexts.learned(records.take(np.flatnonzero(weights)), 8)
        assert len(contexts.signal) >= 1
        assert np.abs(contexts.of_users(records)) == pytest.approx(np.abs(alone.of_users(records)))


def test_the_answer_of_a_record_does_not_change_what_the_record_knows():
    records = drawn()
    contexts = HistoryContexts.learned(records, 8)
    chosen, rejected = records.chosen.copy(), records.rejected.copy()
    chosen[7], rejected[7] = rejected[7], chosen[7]
    turned = replace(records, chosen=chosen, rejected=rejected)
    before, after = contexts.of_training_records(records), contexts.adapted(turned).of_training_records(turned)
    assert after[7] == pytest.approx(before[7], abs=1e-12)
    same_user = (records.users == records.users[7]) & (np.arange(len(records)) != 7)
    assert (np.abs(after - before)[same_user].max(axis=1) > 1e-6).all()
    elsewhere = records.users != records.users[7]
    assert after[elsewhere] == pytest.approx(before[elsewhere], abs=1e-12)
    coefficients = np.random.default_rng(1).normal(size=(before.shape[1], records.features.shape[1]))
    margins = [each.differences()[7] @ (rows[7] @ coefficients) for each, rows in ((records, before), (turned, after))]
    assert margins[1] == pytest.approx(-margins[0])


def test_users_who_are_alike_are_rarely_told_apart():
    kept = [
        len(HistoryContexts.learned(drawn("alike", seed, individuality=0.0), 8).signal) for seed in range(40)
    ]  # fmt: skip
    assert np.mean(np.array(kept) > 0) <= 0.15
    apart = [len(HistoryContexts.learned(drawn("antipodal", seed), 8).signal) for seed in range(10)]
    assert min(apart) >= 1


def test_without_directions_a_context_is_a_constant():
    records = drawn("alike", individuality=0.0)
    contexts = HistoryContexts.learned(records, 8)
    assert len(contexts.signal) == 0
    assert contexts.of_training_records(records).tolist() == [[1.0]] * len(records)
    assert contexts.of_user(3).tolist() == [1.0]


def test_directions_are_at_most_those_asked_for():
    records = drawn("informative", individuality=1.0, sharpness=4.0)
    every = HistoryContexts.learned(records, 8)
    assert len(every.signal) > 1
    first = HistoryContexts.learned(records, 1)
    assert first.directions == pytest.approx(every.directions[:, :1])
    assert every.signal.tolist() == sorted(every.signal, reverse=True)
    with pytest.raises(InputError, match="directions is 0"):
        learners.create("bradley_terry", {"directions": 0})


def test_new_users_are_known_by_their_first_records():
    sample = world("antipodal", individuality=0.0, users=40, first_records=30).drawn(np.random.default_rng(2))
    contexts = HistoryContexts.learned(sample.training, 8)
    adapted = contexts.adapted(sample.first)
    first = adapted.of_users(sample.first)[:, 1]
    minority = np.array(sample.first.groups) == "minority"
    trained = contexts.of_users(sample.training)[:, 1]
    sign = np.sign(trained[np.array(sample.training.groups) == "minority"].mean())
    assert (np.sign(first[minority]) == sign).mean() > 0.9
    assert (np.sign(first[~minority]) == -sign).mean() > 0.9
    nobody = sample.first.take(np.empty(0, dtype=int))
    assert not contexts.adapted(nobody).of_users(nobody)[:, 1:].any()


def test_more_records_are_shrunk_less():
    records = drawn("antipodal", individuality=0.0)
    contexts = HistoryContexts.learned(records, 1)
    own = records.of_users([0])
    few, many = (contexts.adapted(own.take(np.arange(n))) for n in (2, 15))
    for found, n in ((few, 2), (many, 15)):
        mean = (own.take(np.arange(n)).differences() @ contexts.directions).mean(axis=0) - contexts.centre
        shrunk = found.of_user(0)[1:] / np.sqrt(1 / contexts.signal)
        assert shrunk == pytest.approx(mean * contexts.signal / (contexts.signal + 1 / n))


def test_a_contextual_reward_is_the_same_by_items_and_by_records():
    sample = world("informative", users=20, records=10, features=4).drawn(np.random.default_rng(0))
    for context in ("given", "history"):
        model = learners.create("bradley_terry", {"context": context}).fit(sample.training)
        margins = model.margins(sample.test)
        for record in range(0, len(sample.test), 101):
            user, pair = int(sample.test.users[record]), [sample.test.chosen[record], sample.test.rejected[record]]
            better, worse = model.rewards(sample.test.features[pair], user)
            assert margins[record] == pytest.approx(better - worse)


def test_new_users_without_features_are_nobody_who_was_trained_on():
    records = known()
    adapted = GivenContexts.learned(records).adapted(replace(records, user_features=None))
    assert not adapted.of_users(replace(records, user_features=None))[:, 1:].any()
    assert adapted.of_user(0).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_only_users_with_records_count_for_directions_and_signal():
    records = drawn("antipodal", individuality=0.0)
    few = records.take(np.flatnonzero((records.users > 4) | (np.r_[0, np.diff(records.users)] != 0)))
    assert 1 in few.counts[few.counts > 0]  # somebody has a single record
    silent = replace(few, user_names=tuple(map(str, range(few.n_users + 50))), user_features=None, groups=None)
    one, other = (HistoryContexts.learned(each, 8) for each in (few, silent))
    assert len(one.signal) >= 1
    assert other.signal == pytest.approx(one.signal, rel=1e-12)
    assert np.abs(other.directions) == pytest.approx(np.abs(one.directions), rel=1e-9)
    assert not other.of_users(silent)[few.n_users :, 1:].any()


def test_signal_is_what_the_spread_of_means_has_beyond_noise():
    records = drawn("antipodal", individuality=0.0)
    few = records.take(np.flatnonzero((records.users > 4) | (np.r_[0, np.diff(records.users)] != 0)))
    contexts = HistoryContexts.learned(few, 8)
    along = few.differences() @ contexts.directions
    has_weight = [user for user in range(few.n_users) if few.counts[user]]
    means = np.array([along[few.users == user].mean(axis=0) for user in has_weight])
    counted = few.counts[has_weight]
    assert contexts.centre == pytest.approx(along.mean(axis=0))
    spread = (counted[:, None] * (means - along.mean(axis=0)) ** 2).sum(axis=0)
    assert contexts.signal == pytest.approx((spread - len(has_weight)) / counted.sum())
