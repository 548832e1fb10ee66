"""Users' places along a few directions, and the prior that is learned from them."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.effect_prior import EffectPrior, UserEffects, _split, fit_gate, prior_path
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.learners.user_effects import records_along
from accordant.preferences.learners.user_effects import user_directions
from accordant.preferences.learners.user_effects import Places, UserRecords, likeliest_places
from accordant.preferences.synthetic import world


def some_records(n_users=4, counts=(3, 0, 5, 1), size=2, seed=0):
    generator = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), counts)
    return UserRecords(
        generator.normal(size=(len(users), size)), generator.normal(size=len(users)), generator.random(len(users)),
        users, n_users,
    )  # fmt: skip


def test_sums_and_curvatures_are_those_of_a_loop():
    records = some_records()
    bends = np.random.default_rng(1).random(9)
    for user in range(4):
        rows = records.users == user
        outer = sum(
            (b * np.outer(x, x) for b, x in zip(bends[rows], records.columns[rows], strict=True)), np.zeros((2, 2))
        )
        assert records.curvatures(bends)[user] == pytest.approx(outer)
        assert records.sums(records.columns)[user] == pytest.approx(records.columns[rows].sum(axis=0))
    assert records.has_weight.tolist() == [True, False, True, True]


def test_places_are_those_of_one_convex_problem_per_user():
    records = some_records()
    precision, centres = np.diag([0.7, 2.0]), np.random.default_rng(2).normal(size=(4, 2))
    found = likeliest_places(records, centres, precision, tolerance=1e-11)
    for user in (0, 2, 3):
        rows = records.users == user
        total = records.weights[rows].sum()
        alone = LogisticProblem(
            records.columns[rows], weights=records.weights[rows], offsets=records.offsets[rows],
            ridge=np.diag(precision) / total, centre=centres[user],
        )  # fmt: skip
        assert found.modes[user] == pytest.approx(alone.solve(tolerance=1e-12).coefficients, abs=1e-8)
    assert found.modes[1] == pytest.approx(centres[1])
    assert found.log_evidence[1] == pytest.approx(0.0)


def test_the_evidence_is_near_that_of_a_fine_grid():
    records = some_records(n_users=1, counts=(12,), size=1)
    found = likeliest_places(records, np.zeros((1, 1)), np.eye(1))
    grid = np.linspace(-8, 8, 4001)
    logs = -(records.weights[:, None] * log_loss(records.offsets[:, None] + records.columns * grid)).sum(axis=0)
    density = np.exp(logs - grid**2 / 2) / np.sqrt(2 * np.pi)
    assert found.log_evidence[0] == pytest.approx(np.log(density.sum() * (grid[1] - grid[0])), abs=0.02)


def test_extreme_records_do_not_overflow():
    records = UserRecords(np.full((2, 1), 1000.0), np.array([-1000.0, 1000.0]), np.ones(2), np.zeros(2, dtype=int), 1)
    found = likeliest_places(records, np.zeros((1, 1)), np.eye(1))
    assert np.isfinite(found.modes).all()
    assert np.isfinite(found.log_evidence).all()


def test_wrong_shapes_and_orders_are_refused():
    good = some_records()
    for name, wrong in (("offsets", good.offsets[:, None]), ("weights", good.weights[:3])):
        given = {key: getattr(good, key) for key in ("columns", "offsets", "weights", "users", "n_users")}
        with pytest.raises(InputError, match=f"{name} have shape"):
            UserRecords(**{**given, name: wrong})
    with pytest.raises(InputError, match="users fall"):
        UserRecords(good.columns, good.offsets, good.weights, good.users[::-1], 4)
    with pytest.raises(InputError, match="centres have shape"):
        likeliest_places(good, np.zeros((4, 1)), np.eye(2))


def test_directions_are_those_in_which_users_differ():
    drawn = world("antipodal", users=30, features=8, individuality=0.0).drawn(np.random.default_rng(0))
    records = drawn.training
    pooled = pooled_coefficients(records, ridge=1e-4, tolerance=1e-8)
    found = user_directions(records, records.differences(), pooled, 1)
    assert found.shape == (8, 1)
    assert abs(np.corrcoef(found[:, 0], drawn.rewards[0])[0, 1]) > 0.9
    assert (records.differences() @ found).std() == pytest.approx(1.0, abs=0.05)
    assert user_directions(records, records.differences(), pooled, 20).shape == (8, 8)


def test_two_opposed_types_are_found_and_likelihood_rises_with_them():
    drawn = world("antipodal", users=24, features=4, records=20).drawn(np.random.default_rng(1))
    records = drawn.training
    along = records_along(records, np.zeros(4), np.eye(4))
    one, two = prior_path(along, types=2, rounds=25)
    effects = two.effects(along, None)
    members = effects.memberships[:, 0] > 0.5
    group = np.array(records.groups) == "majority"
    assert (members == group).all() or (members != group).all()
    assert effects.log_likelihoods.sum() > one.effects(along, None).log_likelihoods.sum() + 20
    assert np.corrcoef(*two.centres)[0, 1] < -0.8
    assert np.trace(two.spread) < np.trace(one.spread) / 2


def test_users_without_records_have_the_mean_of_the_prior():
    prior = EffectPrior(np.array([[1.0], [-3.0]]), np.eye(1), np.array([0.25, 0.75]))
    effects = prior.effects(some_records(n_users=2, counts=(0, 4), size=1), None)
    assert effects.memberships[0] == pytest.approx([0.25, 0.75])
    assert effects.places[0] == pytest.approx([0.25 - 2.25])
    assert effects.log_likelihoods[0] == pytest.approx(0.0)


def test_fewer_types_than_users_are_tried():
    assert len(prior_path(some_records(), types=5, rounds=3)) == 2
    assert len(prior_path(some_records(n_users=1, counts=(3,)), types=5, rounds=3)) == 1


def test_types_of_users_who_were_asked_nothing_lie_in_one_place():
    """Both items of every record are alike along the directions, so no user is away from the mean."""
    records = UserRecords(np.zeros((4, 2)), np.zeros(4), np.ones(4), np.arange(4), 4)
    one, two = prior_path(records, types=2, rounds=3)
    assert one.centres.tolist() == [[0.0, 0.0]]
    assert two.centres.tolist() == [[0.0, 0.0]] * 2
    assert two.shares == pytest.approx([0.5, 0.5])


def test_a_gate_learns_which_contexts_go_with_which_type():
    contexts = np.stack([np.ones(40), np.repeat([-1.0, 1.0], 20)], axis=1)
    members = np.repeat(np.eye(2), 20, axis=0)
    gate = fit_gate(contexts, members, None)
    prior = EffectPrior(np.zeros((2, 1)), np.eye(1), np.full(2, 0.5), gate)
    assert np.exp(prior.log_shares(40, contexts))[[0, 39], [0, 1]].min() > 0.9
    assert np.exp(prior.log_shares(40, None)) == pytest.approx(np.full((40, 2), 0.5))
    slope = (np.exp(prior.log_shares(40, contexts)) - members).T @ contexts + gate * [1e-3, 1.0]
    assert slope == pytest.approx(np.zeros((2, 2)), abs=1e-2)


@pytest.mark.parametrize("n_directions", [1, 2, 3])
def test_a_type_is_split_along_its_widest_direction(n_directions):
    """Of two types the second has the wider users; they lie along its last direction, 3 to either side."""
    centres = np.arange(2.0)[:, None] * np.ones(n_directions)
    ends = np.array([-1.0, 1.0, -1.0, 1.0])[:, None] * np.eye(n_directions)[-1]
    away = (0.1 * ends, 3.0 * ends)
    places = tuple(Places(centre + each, np.ones((4, n_directions, n_directions)), np.zeros(4))
                   for centre, each in zip(centres, away, strict=True))  # fmt: skip
    effects = UserEffects(places, np.array([[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 2), np.zeros(4))
    found = _split(EffectPrior(centres, np.eye(n_directions), np.array([0.5, 0.5])), effects, np.ones(4, dtype=bool))
    step = 3 * np.eye(n_directions)[-1]
    assert found.centres == pytest.approx(np.array([centres[0], centres[1] + step, centres[1] - step]))
    assert found.shares == pytest.approx([0.5, 0.25, 0.25])
