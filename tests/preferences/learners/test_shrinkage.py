"""Rewards per group and per user, between the pooled one and their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import LogisticProblem


def accuracy(model, records, name):
    margins = model.margins(records)
    group = np.array(records.groups)[records.users]
    return (margins[group == name] > 0).mean()


def test_specialists_serve_both_groups(opposed):
    records = opposed()
    model = learners.create("per_group").fit(records)
    assert min(accuracy(model, records, name) for name in ("many", "few")) > 0.7


def test_a_strong_prior_gives_the_pooled_reward_and_a_weak_one_the_users_own(opposed):
    records = opposed()
    pooled = learners.create("bradley_terry").fit(records)
    strong = learners.create("per_user", {"prior": 1e9}).fit(records)
    weak = learners.create("per_user", {"prior": 1e-3}).fit(records)
    assert strong.margins(records) == pytest.approx(pooled.margins(records), abs=1e-5)
    assert accuracy(weak, records, "few") > accuracy(strong, records, "few") + 0.3


def test_unknown_users_and_users_without_records_get_the_pooled_reward(opposed):
    records = opposed()
    known = Comparisons(
        records.features, records.chosen, records.rejected, records.users,
        user_names=(*records.names, "silent"), groups=(*records.groups, "few"),
    )  # fmt: skip
    model = learners.create("per_user").fit(known)
    pooled = learners.create("bradley_terry").fit(known)
    for user in (known.n_users - 1, None, 10_000):
        assert np.array_equal(model.rewards(known.features, user), pooled.rewards(known.features))
    stranger = Comparisons(records.features, [0], [1], [500], user_names=tuple(map(str, range(501))))
    assert model.margins(stranger) == pytest.approx(pooled.margins(stranger))


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(DataError, match="needs the group"):
        learners.create("per_group").fit(Comparisons(np.eye(2), [0], [1], [0]))
    for name in ("prior", "ridge", "tolerance"):
        for learner in ("per_user", "per_group"):
            with pytest.raises(InputError, match=f"{name} is 0"):
                learners.create(learner, {name: 0})


def test_other_users_are_fitted_near_the_pooled_reward(opposed):
    records, others = opposed(), opposed(seed=1)
    model = learners.create("per_user").fit(records)
    adapted = model.adapted(others)
    assert np.array_equal(adapted.common, model.common)
    alone = LogisticProblem(
        others.differences(np.flatnonzero(others.users == 95)),
        ridge=10.0 / (others.users == 95).sum(), centre=model.common,
    )  # fmt: skip
    assert adapted.of_user(95) == pytest.approx(alone.solve().coefficients, abs=1e-7)
    assert accuracy(adapted, others, "few") > accuracy(learners.create("pooled").fit(records), others, "few") + 0.3
    silent = model.adapted(others.of_users([3]))
    assert np.array_equal(silent.of_user(4), model.common)
    assert np.array_equal(model.adapted(records).coefficients, model.coefficients)


def test_other_users_get_the_reward_of_their_group_or_the_common_one(opposed):
    records = opposed()
    model = learners.create("per_group").fit(records)
    others = Comparisons(records.features, [0], [1], [0], user_names=("a", "b", "c"), groups=("few", "many", "new"))
    adapted = model.adapted(others)
    assert np.array_equal(adapted.of_user(0), model.of_user(99))
    assert np.array_equal(adapted.of_user(1), model.of_user(0))
    assert np.array_equal(adapted.of_user(2), model.common)
    nameless = model.adapted(Comparisons(records.features, [0], [1], [0]))
    assert np.array_equal(nameless.of_user(0), model.common)


def test_without_a_prior_other_users_get_the_common_reward(opposed):
    model = replace(learners.create("per_user").fit(opposed()), prior=None)
    assert np.array_equal(model.adapted(opposed()).of_user(0), model.common)
