"""Rewards per group and per user, between the pooled one and their own."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners


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
    with pytest.raises(InputError, match="prior is 0"):
        learners.create("per_user", {"prior": 0})
