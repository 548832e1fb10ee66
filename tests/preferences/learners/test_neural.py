"""Neural learners on worlds with known truth, and what happens at the edges."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.learners.learner import learners
from accordant.preferences.records import Comparisons
from accordant.preferences.synthetic import world

NAMES = ("mlp", "user_encoder", "variational")


def agreement(model, records):
    return (model.margins(records) > 0).mean()


@pytest.fixture(scope="module")
def opposed(extra):
    extra("torch")
    drawn = world("antipodal", users=24, features=3, sharpness=3.0, individuality=0.1).drawn(np.random.default_rng(0))
    learners.create("mlp", {"steps": 1, "hidden": 2}).fit(drawn.training)  # imports most of torch: no test should pay
    return drawn


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_opposed_users_are_told_apart_by_their_answers(name, opposed):
    """The pooled reward is at chance; few-shot users are served too, and the same seed gives the same bytes."""
    learner = learners.create(name, {"steps": 300, "batch": 128, "hidden": 16, "rate": 1e-2})
    model = learner.fit(opposed.training)
    assert agreement(learners.create("pooled").fit(opposed.training), opposed.test) < 0.6
    assert agreement(model, opposed.test) > 0.75
    assert agreement(model.adapted(opposed.first), opposed.later) > 0.7
    again = learner.fit(opposed.training)
    assert again.margins(opposed.test).tobytes() == model.margins(opposed.test).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_margins_are_differences_of_rewards(name, opposed):
    model = learners.create(name, {"steps": 20, "hidden": 8}).fit(opposed.training)
    margins = model.margins(opposed.test)
    for row in (0, 57, 600):
        rewards = model.rewards(opposed.test.features, int(opposed.test.users[row]))
        gap = rewards[opposed.test.chosen[row]] - rewards[opposed.test.rejected[row]]
        assert margins[row] == pytest.approx(gap, abs=1e-5)
    assert model.rewards(opposed.test.features[:5]) == pytest.approx(model.rewards(opposed.test.features[:5], 10_000))
    for wrong in (np.ones((4, 1)), np.ones(3)):
        with pytest.raises(InputError, match=r"allowed: \(item, 3\)"):
            model.rewards(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_users_with_one_record_and_without_any(name, opposed):
    few = opposed.training.take(np.array([0, 30, 31, 32, 60]))
    model = learners.create(name, {"steps": 10, "hidden": 4, "batch": 32}).fit(few)
    assert np.isfinite(model.margins(opposed.test)).all()
    nobody = model.adapted(opposed.first.take(np.arange(0)))
    assert np.isfinite(nobody.rewards(opposed.test.features[:3], 0)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("objective", ["balanced", "group_robust"])
def test_the_minority_gains_from_objectives_that_count_groups(objective, opposed):
    """Without context one reward follows the larger group; balanced and robust ones move towards the smaller."""
    minority = np.array(opposed.training.groups) == "minority"
    kept = ~minority[opposed.training.users] | (np.arange(len(opposed.training)) % 5 == 0)
    skewed, test = opposed.training.take(np.flatnonzero(kept)), opposed.test
    options = {"context": "none", "steps": 150, "hidden": 8, "rate": 1e-2, "held_out": 0.0}
    served = {
        each: agreement(
            learners.create("mlp", options | {"objective": each}).fit(skewed), test.of_users(np.flatnonzero(minority))
        )
        for each in ("pooled", objective)
    }
    assert served[objective] > served["pooled"] + 0.05


@pytest.mark.long
@pytest.mark.parametrize("objective", ["mse", "soft", "offset"])
def test_rewards_of_groups_teach_a_network(objective, opposed):
    """With answers to know users by, a network that is taught serves both groups; groups are not asked for later."""
    learner = learners.create(
        "user_encoder",
        {"objective": objective, "steps": 300, "hidden": 16, "rate": 1e-2, "batch": 128, "held_out": 0.0},
    )
    model = learner.fit(opposed.training)
    nameless = replace(opposed.test, groups=None)
    minority = np.flatnonzero(np.array(opposed.test.groups) == "minority")
    for users in (minority, np.setdiff1d(np.arange(24), minority)):
        assert agreement(model, nameless.of_users(users)) > 0.7


def test_light_records_of_a_group_count_as_a_group(opposed):
    """The loss of a group is a mean by weight: making one group's records light changes nothing for the worst group."""
    minority = np.array(opposed.training.groups)[opposed.training.users] == "minority"
    light = replace(opposed.training, weights=np.where(minority, 0.02, 1.0))
    options = {"objective": "group_robust", "context": "none", "steps": 200, "hidden": 8, "rate": 1e-2}
    found = learners.create("mlp", options | {"held_out": 0.0}).fit(light).margins(opposed.training)
    losses = [np.logaddexp(0, -found[part]).mean() for part in (minority, ~minority)]
    assert losses == pytest.approx([np.log(2)] * 2, abs=0.06)


@pytest.mark.parametrize("held_out", [0.1, 0.4])
def test_no_item_of_a_user_is_on_both_sides(held_out, opposed):
    generator = np.random.default_rng(0)
    items = np.array([(i, j) for i in range(12) for j in range(12) if i != j])
    shared = Comparisons(
        generator.normal(size=(12, 2)), np.tile(items[:, 0], 5), np.tile(items[:, 1], 5), np.repeat(np.arange(5), 132)
    )
    learner = learners.create("mlp", {"held_out": held_out})
    for records in (shared, opposed.training):
        trained, asked = learner._parted(records, generator)
        seen = {(records.users[r], side[r]) for r in trained for side in (records.chosen, records.rejected)}
        held = {(records.users[r], side[r]) for r in asked for side in (records.chosen, records.rejected)}
        assert not seen & held
        assert len(asked) / len(records) == pytest.approx(held_out, abs=0.08)
    assert len(trained) + len(asked) == len(records)  # where no item is shared, no record is lost


def test_a_feature_that_never_changes_is_not_blown_up(opposed):
    """0.1 has no exact binary form, so that its computed spread is not 0."""
    constant = np.full((len(opposed.training.features), 1), 0.1)
    given = replace(opposed.training, features=np.hstack([opposed.training.features, constant]))
    model = learners.create("mlp", {"steps": 5, "hidden": 4}).fit(given)
    item = opposed.test.features[:2]
    near, far = (model.rewards(np.hstack([item, np.full((2, 1), each)])) for each in (0.1, 0.2))
    assert np.abs(near - far).max() < 1


def test_wrong_parameters_and_missing_groups(opposed):
    with pytest.raises(UnknownNameError, match="objective"):
        learners.create("mlp", {"objective": "fast"})
    for name, wrong in (("hidden", 0), ("steps", 1.5), ("rate", 0.0), ("held_out", 0.9)):
        with pytest.raises(InputError):
            learners.create("mlp", {name: wrong})
    for name, wrong in (("latent", 0), ("kl_weight", 0.0)):
        with pytest.raises(InputError, match=name):
            learners.create("variational", {name: wrong})
    with pytest.raises(DataError, match="group"):
        learners.create("mlp", {"objective": "balanced"}).fit(replace(opposed.training, groups=None))
    with pytest.raises(DataError, match="no comparisons"):
        learners.create("variational").fit(opposed.training.take(np.arange(0)))


def test_without_pytorch_the_extra_is_named(monkeypatch):
    sample = world("alike", users=2, features=2, records=2).drawn(np.random.default_rng(0))
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else find(name))
    with pytest.raises(InputError, match=r"accordant\[torch\]"):
        learners.create("mlp").fit(sample.training)
