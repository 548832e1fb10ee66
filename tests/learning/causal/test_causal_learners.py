"""What every causal learner must do, whatever it is built on."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from accordant.learning.causal import (
    TRUSTED_TYPES,
    CausalDataError,
    DRLearner,
    LevelLearner,
    SelectedCausalLearner,
    SLearner,
    TLearner,
    TransferLearner,
    XLearner,
)
from accordant.learning.causal.level_learner import action_folds, levels_from_effects

# Each learner with the root mean squared level error it must reach. Arm means reach about 2.4.
TOLERANCES: dict[str, tuple[LevelLearner, float]] = {
    "S, linear with interactions": (SLearner("ridge", interactions=True), 0.12),
    "S, boosting": (SLearner("boosting"), 0.9),
    "T, linear": (TLearner("ridge"), 0.12),
    "T, Gaussian process": (TLearner("gaussian process"), 0.12),
    "T, forest": (TLearner("forest"), 1.4),
    "T, interactions": (TLearner("interactions"), 0.35),
    "X, linear": (XLearner("ridge", "ridge"), 0.2),
    "X, boosting": (XLearner("boosting", "boosting"), 0.7),
    "DR, linear": (DRLearner("ridge", "ridge"), 0.2),
    "Transfer, linear": (TransferLearner("ridge"), 0.15),
    "Selected": (
        SelectedCausalLearner({"T": TLearner("ridge"), "S": SLearner("ridge"), "Transfer": TransferLearner("ridge")}),
        0.12,
    ),
}
LEARNERS = pytest.mark.parametrize(("learner", "tolerance"), TOLERANCES.values(), ids=list(TOLERANCES))


def root_mean_square(gap):
    return float(np.sqrt(np.mean(gap**2)))


def arm_means_error(world):
    means = [world.outcomes[world.actions == action].mean() for action in range(world.levels.shape[0])]
    return root_mean_square(np.array(means)[:, None] - world.levels_new)


@pytest.mark.long
@pytest.mark.parametrize("name", ["two_actions", "three_actions"])
@LEARNERS
def test_recovers_levels_and_beats_arm_means(learner, tolerance, name, request):
    world = request.getfixturevalue(name)
    predicted = clone(learner).fit(world.X, world.actions, world.outcomes).predict_levels(world.X_new)
    assert predicted.shape == world.levels_new.shape
    error = root_mean_square(predicted - world.levels_new)
    assert error < tolerance
    assert error < 0.5 * arm_means_error(world)


@pytest.mark.few(2)
@LEARNERS
def test_one_row_alone_equals_the_batch(learner, tolerance, two_actions):
    fitted = clone(learner).fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    batch = fitted.predict_levels(two_actions.X_new[:5])
    alone = np.hstack([fitted.predict_levels(two_actions.X_new[[row]]) for row in range(5)])
    np.testing.assert_allclose(alone, batch, rtol=1e-9, atol=1e-9)


@pytest.mark.long
@LEARNERS
def test_same_seed_same_bytes(learner, tolerance, two_actions):
    data = (two_actions.X, two_actions.actions, two_actions.outcomes)
    first = clone(learner).fit(*data).predict_levels(two_actions.X_new)
    second = clone(learner).fit(*data).predict_levels(two_actions.X_new)
    assert first.tobytes() == second.tobytes()


@pytest.mark.long
@LEARNERS
def test_survives_skops_with_the_trust_list(learner, tolerance, two_actions):
    import skops.io

    fitted = clone(learner).fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    saved = skops.io.dumps(fitted)
    assert set(skops.io.get_untrusted_types(data=saved)) <= set(TRUSTED_TYPES)
    loaded = skops.io.loads(saved, trusted=TRUSTED_TYPES)
    expected = fitted.predict_levels(two_actions.X_new)
    assert loaded.predict_levels(two_actions.X_new).tobytes() == expected.tobytes()


@pytest.mark.few(3)
@LEARNERS
def test_constructor_only_stores_and_clone_forgets(learner, tolerance, two_actions):
    names = set(inspect.signature(type(learner)).parameters)
    assert set(learner.get_params(deep=False)) == names
    assert not [name for name in vars(learner) if name.endswith("_")]
    fitted = clone(learner).fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    assert not [name for name in vars(clone(fitted)) if name.endswith("_")]


def test_any_scikit_learn_regressor_fits_in(two_actions):
    learner = TLearner(LinearRegression()).fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    for action in (0, 1):
        taken = two_actions.actions == action
        twin = LinearRegression().fit(two_actions.X[taken], two_actions.outcomes[taken])
        low, high = learner.bounds_[:, action]
        expected = np.clip(twin.predict(two_actions.X_new), low, high)
        np.testing.assert_allclose(learner.predict_levels(two_actions.X_new)[action], expected)


def test_levels_stay_within_the_extended_outcome_range(two_actions):
    learner = TLearner("ridge", range_share=0.1).fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    far = learner.predict_levels(1e6 * two_actions.X_new)
    for action in (0, 1):
        outcomes = two_actions.outcomes[two_actions.actions == action]
        margin = 0.1 * np.ptp(outcomes)
        assert far[action].max() == pytest.approx(outcomes.max() + margin)
        assert far[action].min() == pytest.approx(outcomes.min() - margin)


def test_weighted_mean_of_levels_is_the_outcome_regression():
    random = np.random.default_rng(0)
    mean, effects = random.normal(size=6), random.normal(size=(3, 6))
    propensities = random.dirichlet(np.ones(3), size=6).T
    levels = levels_from_effects(mean, effects, propensities)
    np.testing.assert_allclose((propensities * levels).sum(axis=0), mean)
    np.testing.assert_allclose(levels - levels[0], effects - effects[0])


def of_arm(world, action, outcomes):
    """Return least squares on the contexts of one action, as a function of new contexts."""
    taken = world.actions == action
    return LinearRegression().fit(world.X[taken], outcomes[taken]).predict


def expected_levels(learner, world, effect):
    """Return levels from m(x) and effects against the most frequent action, as the head of `EffectLearner` says."""
    e = np.clip(learner.propensity_.predict(world.X_new), 0.02, None)
    e /= e.sum(axis=0)
    regressions = [
        np.clip(of_arm(world, action, world.outcomes)(world.X_new), *learner.bounds_[:, action])
        for action in range(len(e))
    ]
    reference = int(np.bincount(world.actions).argmax())
    effects = np.stack([effect(action, reference, e) for action in range(len(e))])
    assert (effects[reference] == 0).all()
    levels = (e * regressions).sum(axis=0) + effects - (e * effects).sum(axis=0)
    return np.clip(levels, *learner.bounds_[:, :, None])


def test_effects_of_the_x_learner_are_those_of_both_groups_weighted_by_the_other_share(three_actions):
    world = three_actions
    learner = XLearner(LinearRegression(), LinearRegression(), range_share=5.0)
    learner.fit(world.X, world.actions, world.outcomes)

    def effect(action, reference, e):
        if action == reference:
            return np.zeros(len(world.X_new))
        known, usual = (of_arm(world, one, world.outcomes)(world.X) for one in (action, reference))
        from_action = of_arm(world, action, world.outcomes - usual)(world.X_new)
        from_reference = of_arm(world, reference, known - world.outcomes)(world.X_new)
        return (e[action] * from_reference + e[reference] * from_action) / (e[action] + e[reference])

    np.testing.assert_allclose(learner.predict_levels(world.X_new), expected_levels(learner, world, effect))


def test_effects_of_the_dr_learner_are_those_of_pseudo_levels_from_other_folds(three_actions):
    world = three_actions
    learner = DRLearner(LinearRegression(), LinearRegression(), folds=3, range_share=5.0)
    learner.fit(world.X, world.actions, world.outcomes)
    held_out = np.empty((3, 500))
    for train, test in action_folds(world.actions, 3, 0):
        for action in range(3):
            rows = train[world.actions[train] == action]
            outcomes = world.outcomes[rows]
            fitted = LinearRegression().fit(world.X[rows], outcomes)
            held_out[action, test] = np.clip(fitted.predict(world.X[test]), outcomes.min(), outcomes.max())
    e = np.clip(learner.propensity_.held_out_, 0.02, None)
    e /= e.sum(axis=0)
    scores = [
        held_out[action] + np.where(world.actions == action, (world.outcomes - held_out[action]) / e[action], 0.0)
        for action in range(3)
    ]

    def effect(action, reference, e):
        return LinearRegression().fit(world.X, scores[action] - scores[reference]).predict(world.X_new)

    np.testing.assert_allclose(learner.predict_levels(world.X_new), expected_levels(learner, world, effect))


def test_transfer_helps_when_actions_share_one_index():
    """Control exponential, treated linear in the same index, few treated (the idea of Hill's surface B)."""
    random = np.random.default_rng(3)
    X = random.normal(size=(1400, 15))
    index = X @ np.r_[0.4 * np.ones(5), np.zeros(10)]
    levels = np.stack([np.exp(index), 4.0 + index])
    actions = (random.random(1400) < 0.15).astype(int)
    outcomes = levels[actions, np.arange(1400)] + random.normal(size=1400)
    train, test = slice(0, 400), slice(400, None)
    error = {}
    for learner in (TransferLearner("exponential"), TLearner("ridge"), TLearner("exponential")):
        learner.fit(X[train], actions[train], outcomes[train])
        error[str(learner)] = root_mean_square(learner.predict_levels(X[test])[1] - levels[1, test])
    transfer, *others = error.values()
    assert transfer < 0.8 * min(others)


@pytest.mark.parametrize("rows", [0, 3])
@LEARNERS
def test_an_action_with_too_little_data_is_named(learner, tolerance, rows, two_actions):
    actions = two_actions.actions.copy()
    actions[:rows] = 2
    with pytest.raises(CausalDataError, match=f"action code 2 was taken in {rows} contexts"):
        clone(learner).fit(two_actions.X, actions, two_actions.outcomes, n_actions=3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, a, y: (X[:, 0], a, y), "two dimensions"),
        (lambda X, a, y: (X, a[:-1], y), "actions must have shape"),
        (lambda X, a, y: (X, a.astype(float), y), "integer codes"),
        (lambda X, a, y: (X, a - 1, y), "action codes must lie in"),
        (lambda X, a, y: (X, 0 * a, y), "at least 2 actions"),
        (lambda X, a, y: (X, a, np.where(y > y.min(), y, np.nan)), "outcomes hold missing"),
        (lambda X, a, y: (np.where(X > X.min(), X, np.nan), a, y), "X holds missing"),
        (lambda X, a, y: (X[:0], a[:0], y[:0]), "at least 2 actions"),
    ],
)
def test_wrong_input_is_explained(change, message, two_actions):
    with pytest.raises(CausalDataError, match=message):
        TLearner().fit(*change(two_actions.X, two_actions.actions, two_actions.outcomes))


def test_wrong_number_of_features_is_explained(two_actions):
    learner = TLearner().fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    with pytest.raises(CausalDataError, match="4 features as in fit; found 2"):
        learner.predict_levels(two_actions.X_new[:, :2])


def test_unknown_base_regressor_lists_what_is_allowed(two_actions):
    with pytest.raises(ValueError, match=r"'rigde' is unknown; allowed: ridge"):
        TLearner("rigde").fit(two_actions.X, two_actions.actions, two_actions.outcomes)


@pytest.mark.parametrize(
    "X", [csr_array(np.ones((40, 2))), np.ones((40, 2)) * 1j, np.ma.masked_array(np.ones((40, 2)), True)]
)
def test_matrices_that_are_not_dense_and_real_are_refused(X):
    with pytest.raises(CausalDataError, match="X must be a dense array of real numbers; found a"):
        TLearner("ridge").fit(X, np.arange(40) % 2, np.arange(40.0))
    with pytest.raises(CausalDataError, match="outcomes must be a dense array"):
        TLearner("ridge").fit(np.ones((40, 2)), np.arange(40) % 2, np.arange(40) * 1j)
