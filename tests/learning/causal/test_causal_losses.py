"""The losses against brute-force twins, and their one purpose: to prefer the truth."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.learning.causal import dr_losses, level_losses, pseudo_levels, r_losses


@pytest.fixture
def small():
    """Random levels, regressions, propensities, actions and outcomes: 3 actions, 12 contexts."""
    random = np.random.default_rng(5)
    levels, regressions = random.normal(size=(2, 3, 12))
    return levels, regressions, random.dirichlet(np.ones(3), 12).T, np.arange(12) % 3, random.normal(size=12)


def test_r_loss_twin(small):
    levels, regressions, e, actions, outcomes = small
    mean = (e * regressions).sum(axis=0)
    for t, loss in enumerate(r_losses(levels, mean, e, actions, outcomes)):
        surprise = sum(((actions[t] == a) - e[a, t]) * levels[a, t] for a in range(3))
        assert loss == pytest.approx((outcomes[t] - mean[t] - surprise) ** 2)


def test_r_loss_with_two_actions_is_that_of_nie_and_wager(small):
    levels, regressions, _, _, outcomes = small
    treated = np.arange(12) % 2
    chance = np.linspace(0.2, 0.8, 12)
    mean = regressions[0]
    found = r_losses(levels[:2], mean, np.stack([1 - chance, chance]), treated, outcomes)
    effect = levels[1] - levels[0]
    np.testing.assert_allclose(found, (outcomes - mean - (treated - chance) * effect) ** 2)


def test_r_loss_ignores_what_all_levels_share(small):
    levels, regressions, e, actions, outcomes = small
    shared = np.linspace(-50, 50, 12)
    before = r_losses(levels, regressions[0], e, actions, outcomes)
    np.testing.assert_allclose(r_losses(levels + shared, regressions[0], e, actions, outcomes), before)


def test_pseudo_levels_and_dr_loss_twin(small):
    levels, regressions, e, actions, outcomes = small
    scores = pseudo_levels(regressions, e, actions, outcomes)
    losses = dr_losses(levels, scores, reference=1)
    for t in range(12):
        twin = [regressions[a, t] + (actions[t] == a) * (outcomes[t] - regressions[a, t]) / e[a, t] for a in range(3)]
        np.testing.assert_allclose(scores[:, t], twin)
        gaps = [(twin[a] - twin[1] - levels[a, t] + levels[1, t]) ** 2 for a in (0, 2)]
        assert losses[t] == pytest.approx(np.mean(gaps))


def test_level_loss_gives_every_action_the_same_say(small):
    levels, _, e, actions, outcomes = small
    losses = level_losses(levels, e, actions, outcomes)
    expected = []
    for a in range(3):
        taken = actions == a
        expected.append(np.average((outcomes - levels[a])[taken] ** 2, weights=1 / e[a, taken]))
    assert losses.mean() == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("name", ["two_actions", "three_actions"])
@pytest.mark.parametrize("criterion", ["r", "dr", "level"])
def test_truth_is_preferred_to_wrong_effects(criterion, name, request):
    world = request.getfixturevalue(name)
    mean = (world.propensities * world.levels).sum(axis=0)
    # Deliberately crude outcome regressions: the DR-loss must live with them because propensities are right.
    crude = np.broadcast_to(world.levels.mean(axis=1, keepdims=True), world.levels.shape)
    scores = pseudo_levels(crude, world.propensities, world.actions, world.outcomes)
    logged = (world.actions, world.outcomes)
    loss = {
        "r": lambda levels: r_losses(levels, mean, world.propensities, *logged).mean(),
        "dr": lambda levels: dr_losses(levels, scores).mean(),
        "level": lambda levels: level_losses(levels, world.propensities, *logged).mean(),
    }[criterion]
    no_effect = np.broadcast_to(mean, world.levels.shape)
    constant_effect = mean + world.levels.mean(axis=1, keepdims=True)
    opposite = world.levels[::-1]
    for wrong in (no_effect, constant_effect, opposite):
        assert loss(world.levels) < loss(wrong)


def test_pseudo_levels_are_unbiased_with_wrong_regressions(two_actions):
    zero = np.zeros_like(two_actions.levels)
    scores = pseudo_levels(zero, two_actions.propensities, two_actions.actions, two_actions.outcomes)
    error = scores.std(axis=1) / np.sqrt(scores.shape[1])
    assert (np.abs(scores.mean(axis=1) - two_actions.levels.mean(axis=1)) < 3 * error).all()
