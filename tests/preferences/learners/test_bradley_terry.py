"""The pooled reward and the balanced one."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import log_loss


def test_the_pooled_reward_follows_the_majority_and_the_loss_says_so(opposed):
    records = opposed()
    model = learners.create("bradley_terry").fit(records)
    margins = model.margins(records)
    group = np.array(records.groups)[records.users]
    accuracy = {name: (margins[group == name] > 0).mean() for name in ("many", "few")}
    assert accuracy["many"] > 0.7
    assert accuracy["few"] < 0.3
    assert log_loss(margins).mean() < np.log(2)
    assert np.array_equal(
        margins, model.rewards(records.features)[records.chosen] - model.rewards(records.features)[records.rejected]
    )


def test_one_reward_serves_opposed_groups_no_better_than_a_coin(opposed):
    records = opposed()
    model = learners.create("balanced").fit(records)
    group = np.array(records.groups)[records.users]
    accuracy = [(model.margins(records)[group == name] > 0).mean() for name in ("many", "few")]
    assert min(accuracy) <= 0.55
    assert abs(model.coefficients[0]) < 0.3 * abs(learners.create("bradley_terry").fit(records).coefficients[0])


def test_as_the_majority_grows_the_minority_loses(opposed):
    worst = []
    for share in (0.5, 0.7, 0.9):
        records = opposed(share)
        group = np.array(records.groups)[records.users]
        margins = learners.create("bradley_terry").fit(records).margins(records)
        worst.append(log_loss(margins)[group == "few"].mean())
    assert worst[0] < worst[1] < worst[2]


def test_learning_twice_gives_the_same_bytes(opposed):
    first, second = (learners.create("pooled").fit(opposed()).coefficients for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_what_cannot_be_learned_is_refused():
    empty = np.empty(0, dtype=int)
    with pytest.raises(DataError, match="no comparisons"):
        learners.create("bradley_terry").fit(Comparisons(np.eye(2), empty, empty, empty))
    with pytest.raises(DataError, match="needs the group"):
        learners.create("balanced").fit(Comparisons(np.eye(2), [0], [1], [0]))
    with pytest.raises(InputError, match="ridge is 0"):
        learners.create("bradley_terry", {"ridge": 0})
