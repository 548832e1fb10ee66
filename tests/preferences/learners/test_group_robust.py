"""The worst group's loss, against a search over the only coefficient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.bradley_terry import GroupRobust, reweight
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import LogisticProblem, log_loss, sigmoid
from accordant.preferences.synthetic import world


def test_one_step_of_the_published_example():
    assert reweight(np.array([0.5, 0.5]), np.array([0.3, 0.7]), 0.01) == pytest.approx([0.499, 0.501], abs=1e-6)


def test_weights_move_to_the_worse_group():
    shares = reweight(np.array([0.5, 0.5]), np.array([0.2, 0.9]), 1.0)
    assert shares[1] > shares[0]


@pytest.mark.long
def test_the_worst_group_is_served_as_well_as_any_coefficient_can(opposed):
    records = opposed(share=0.8)
    group = np.array(records.groups)[records.users]
    differences = records.differences()[:, 0]

    def worst(theta):
        loss = log_loss(theta * differences)
        return max(loss[group == name].mean() for name in ("many", "few")) + 0.5e-4 * theta**2

    model = learners.create("group_robust").fit(records)
    best = min(worst(theta) for theta in np.linspace(-3, 3, 6001))
    assert worst(model.coefficients[0]) == pytest.approx(best, abs=2e-5)
    pooled = learners.create("bradley_terry").fit(records)
    assert worst(model.coefficients[0]) < worst(pooled.coefficients[0]) - 0.1


def two_groups(sizes, slopes, cosine, seed, features=3):
    """Two groups, each of one user, with their own numbers of records, lengths of coefficients, and angle between."""
    generator = np.random.default_rng(seed)
    users = np.repeat([0, 1], sizes)
    own = np.zeros((2, features))
    own[0, 0], own[1, :2] = slopes[0], slopes[1] * np.array([cosine, np.sqrt(1 - cosine**2)])
    items = generator.normal(size=(2 * len(users), features))
    first, second = np.arange(len(users)), np.arange(len(users), 2 * len(users))
    margins = ((items[first] - items[second]) * own[users]).sum(axis=1)
    right = generator.random(len(users)) < sigmoid(margins)
    return Comparisons(
        items, np.where(right, first, second), np.where(right, second, first), users, groups=("a", "b")
    )  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "world",
    [
        ((200, 60), (2.0, 2.0), -0.5), ((200, 60), (4.0, 0.3), 0.0), ((200, 60), (3.0, 1.0), 0.9),
        ((300, 20), (2.0, 2.0), -1.0), ((60, 200), (0.3, 5.0), -0.8), ((100, 100), (1.0, 1.0), 1.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_the_gap_bounds_the_distance_from_a_fine_grid(world, gap):
    records = two_groups(*world, seed=7)
    learner = GroupRobust(gap=gap)
    found = learner.solved(records, learner.design(records))
    shares = np.bincount(records.users)
    grid = []
    for q in np.linspace(0, 1, 201):
        weights = np.array([q, 1 - q])[records.users] / shares[records.users]
        grid.append(LogisticProblem(records.differences(), weights=weights, ridge=1e-4).solve().loss)
    assert found.gap <= gap
    assert max(grid) <= found.worst + 1e-9  # weak duality: no weights of groups reach more
    assert found.worst <= max(grid) + gap + 1e-4  # the grid is coarse: its best is a little below the true one
    losses = log_loss(records.differences() @ found.coefficients)
    by_group = np.bincount(records.users, losses) / shares
    assert found.worst == pytest.approx(by_group.max() + 0.5e-4 * found.coefficients @ found.coefficients)
    model = learner.fit(records)
    assert model.warnings == ()
    assert model.gap == found.gap


def test_what_is_unfinished_is_said():
    records = two_groups((200, 60), (4.0, 0.3), 0.0, seed=7)
    model = GroupRobust(rounds=2).fit(records)
    assert "after 2 rounds the worst group's loss may be" in model.warnings[0]
    assert "allowed: 1e-06" in model.warnings[0]
    solution = GroupRobust(rounds=2).solved(records, GroupRobust().design(records))
    assert solution.rounds == 2
    assert solution.gap > 1e-5


def test_the_gap_is_kept_where_the_reward_reads_contexts():
    sample = world("90:10", users=20, features=4, records=10).drawn(np.random.default_rng(0))
    model = GroupRobust(context="given").fit(sample.training)
    assert 0 <= model.gap <= 1e-6
    assert model.adapted(sample.first).gap == model.gap
    unfinished = GroupRobust(context="given", rounds=1).fit(sample.training)
    assert unfinished.gap > 1e-5
    assert unfinished.adapted(sample.first).warnings == unfinished.warnings != ()


def test_groups_without_weight_do_not_count():
    records = two_groups((200, 60), (2.0, 2.0), -0.5, seed=8)
    alone = replace(records, weights=np.where(records.users == 0, 1.0, 0.0))
    model, pooled = GroupRobust().fit(alone), learners.create("pooled").fit(alone)
    assert model.coefficients == pytest.approx(pooled.coefficients, abs=1e-7)


@pytest.mark.parametrize(
    "wrong",
    [{"rate": 0.0}, {"rounds": 0}, {"rounds": 2.5}, {"rounds": True}, {"ridge": -1.0}, {"gap": 0.0}, {"gap": np.nan}],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        learners.create("group_robust", wrong)
