"""The selected default: what it compares, what it keeps, and what it never sees."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor

from accordant.learning.causal import (
    TRUSTED_TYPES,
    DRLearner,
    LoggedData,
    SelectedCausalLearner,
    SLearner,
    TLearner,
    TransferLearner,
    XLearner,
    default_candidates,
)
from accordant.learning.causal.propensity import PropensityModel
from accordant.learning.effort import limits_of
from accordant.learning.outcome_learning import ContinuousOutcomeLearner
from accordant.learning.causal.selection import split_by_size
from accordant.learning.causal.selection import CRITERIA, LEAST_RACED, _scores, convex_weights, shortlist_weights

FEW = {"no interactions": SLearner("ridge"), "forest": TLearner("forest"), "linear": TLearner("ridge")}


@pytest.mark.long
@pytest.mark.parametrize("criterion", CRITERIA)
def test_finds_the_model_that_generated_the_data(criterion, two_actions):
    learner = SelectedCausalLearner(FEW, criterion=criterion)
    learner.fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    assert learner.best_ == "linear"
    assert [score.loss for score in learner.candidates_] == sorted(s.loss for s in learner.candidates_)
    assert {score.name for score in learner.candidates_} == set(FEW) - set(learner.dropped_)
    assert sum(learner.weights_.values()) == pytest.approx(1.0)
    assert learner.candidates_[0].gap == 0.0
    assert all(score.standard_error > 0 for score in learner.candidates_)
    assert learner.overlap_.counts == tuple(np.bincount(two_actions.actions))


class Useless(DummyRegressor):
    """A constant far off; counts its fits."""

    fits = 0

    def fit(self, X, y):
        Useless.fits += 1
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) + np.sign(X[:, 0])


def raced(data, n=None, **settings):
    """Return a selection on the first n rows, and how often the useless candidate was fitted."""
    Useless.fits = 0
    table = {"useless": SLearner(Useless()), "linear": TLearner("ridge"), "S": SLearner("ridge")}
    learner = SelectedCausalLearner(table, **settings)
    return learner.fit(data.X[:n], data.actions[:n], data.outcomes[:n]), Useless.fits


def test_what_is_clearly_worse_drops_out_and_the_rest_is_chosen_as_without_a_race(two_actions):
    learner, fits = raced(two_actions)
    everything, all_fits = raced(two_actions, race=False)
    assert learner.dropped_ == ("useless",) or set(learner.dropped_) == {"useless", "S"}
    assert (fits, all_fits) == (2, 5)
    assert everything.dropped_ == () and {score.name for score in everything.candidates_} == {"useless", "linear", "S"}
    assert learner.weights_ == everything.weights_ and learner.best_ == everything.best_
    assert {score.name for score in learner.candidates_} == {"useless", "linear", "S"} - set(learner.dropped_)
    kept = {score.name: score.loss for score in everything.candidates_}
    assert kept["useless"] == max(kept.values())


def test_a_tolerance_beyond_the_race_drops_nothing(two_actions):
    assert raced(two_actions, tolerance=2.5)[0].dropped_ == ()


def test_few_contexts_drop_nothing(two_actions):
    n = 5 * LEAST_RACED // 4  # so a fold holds a quarter of the fewest, and only the last race has enough
    assert raced(two_actions, n)[1] == 4
    assert raced(two_actions, n - 30)[1] == 5


def test_a_thorough_run_compares_all_candidates_on_all_folds(visits):
    for effort, race in (("standard", True), ("thorough", False)):
        learner = ContinuousOutcomeLearner(
            None, {}, "empirical", 5, True, visits.log, ("x1",), visits.problem, 0, limits_of(effort)
        )
        assert learner._unfitted().race is race


def test_only_features_actions_and_outcomes_go_in():
    parameters = set(inspect.signature(SelectedCausalLearner.fit).parameters)
    assert parameters == {"self", "X", "actions", "outcomes", "n_actions", "groups"}


@pytest.mark.long
def test_choice_follows_the_outcomes(two_actions):
    """With outcomes that do not depend on the action, the model without varying effects is as good."""
    same = 2.0 + two_actions.X[:, 0] + 0.5 * np.random.default_rng(0).normal(size=two_actions.X.shape[0])
    learner = SelectedCausalLearner(FEW, tolerance=0).fit(two_actions.X, two_actions.actions, same)
    assert list(learner.weights_) == [learner.best_] == ["no interactions"]


@pytest.mark.long
def test_single_best_predicts_as_that_learner_alone(two_actions):
    data = (two_actions.X, two_actions.actions, two_actions.outcomes)
    learner = SelectedCausalLearner(FEW, tolerance=0).fit(*data)
    alone = TLearner("ridge").fit(*data).predict_levels(two_actions.X_new)
    np.testing.assert_array_equal(learner.predict_levels(two_actions.X_new), alone)


@pytest.mark.long
def test_learners_share_what_they_fit_and_predict_as_alone(two_actions, monkeypatch):
    fits, fit = [], PropensityModel.fit
    monkeypatch.setattr(PropensityModel, "fit", lambda *args: fits.append(len(args[1])) or fit(*args))
    learners = {
        "x": XLearner("ridge", "ridge"), "dr": DRLearner("ridge", "ridge"), "t": TLearner("ridge"),
        "transfer": TransferLearner("ridge"),
    }  # fmt: skip
    data = LoggedData(two_actions.X, two_actions.actions, two_actions.outcomes, 2)
    together = [clone(learner).fit_part(data).predict_levels(two_actions.X_new) for learner in learners.values()]
    assert fits == [len(data.X)]
    for learner, levels in zip(learners.values(), together, strict=True):
        alone = learner.fit(data.X, data.actions, data.outcomes)
        np.testing.assert_array_equal(alone.predict_levels(two_actions.X_new), levels)
    fits.clear()
    SelectedCausalLearner(learners, folds=3, tolerance=0).fit(data.X, data.actions, data.outcomes)
    assert fits.count(len(data.X)) == 1 and max(fits) == len(data.X)
    assert len(fits) == 4  # on each fold's other rows, and on all


def test_convex_weights_twin():
    """Every weighting on a grid with steps of 1/40 is no better, and the best of them is close by."""
    random = np.random.default_rng(4)
    predictions = random.normal(size=(3, 50))
    outcomes = np.array([0.6, 0.4, 0.0]) @ predictions + 0.3 * random.normal(size=50) + 10.0
    grid = [np.array([i, j, 40 - i - j]) / 40 for i, j in itertools.product(range(41), repeat=2) if i + j <= 40]
    errors = [np.mean((outcomes - w @ predictions) ** 2) for w in grid]
    found = convex_weights(predictions, outcomes)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    assert np.mean((outcomes - found @ predictions) ** 2) <= min(errors) + 1e-9
    assert np.abs(found - grid[int(np.argmin(errors))]).max() < 1 / 40


def test_convex_weights_of_constant_outcomes_are_still_weights():
    assert convex_weights(np.array([[1.0, 2.0], [1.0, 1.0]]), np.ones(2)) == pytest.approx([0.0, 1.0])


def test_shortlist_keeps_ties_and_drops_the_clearly_worse():
    random = np.random.default_rng(6)
    outcomes = random.normal(size=300)
    data = LoggedData(np.zeros((300, 1)), np.arange(300) % 2, outcomes, 2)
    twins = outcomes + 0.5 * random.normal(size=(2, 300))
    held_out = np.stack([np.stack([row, row]) for row in (*twins, np.zeros(300))])
    losses = (held_out[:, 0] - outcomes) ** 2
    weights = shortlist_weights(losses, held_out, data, tolerance=3.0)
    assert weights[:2].min() > 0.3
    assert weights[2] == 0.0
    assert sorted(shortlist_weights(losses, held_out, data, tolerance=0)) == [0.0, 0.0, 1.0]


def test_default_table_drops_what_does_not_suit_the_size():
    kept, skipped = split_by_size(default_candidates(), rows=20_000, features=40)
    assert set(kept) | set(skipped) == set(default_candidates())
    assert "T Gaussian process" in skipped
    assert "T interactions" in skipped
    assert "T deep boosting" in kept
    small, _ = split_by_size(default_candidates(), rows=600, features=25)
    assert "T Gaussian process" in small
    assert "T deep boosting" not in small


@pytest.mark.long
def test_trust_list_is_exact(two_actions):
    """Every type the default table can save is trusted, and nothing else is."""
    import skops.io

    untrusted = set()
    data = (two_actions.X[:200], two_actions.actions[:200], two_actions.outcomes[:200])
    selected = SelectedCausalLearner(FEW)
    for learner in [*default_candidates().values(), selected]:
        saved = skops.io.dumps(learner.fit(*data))
        untrusted |= set(skops.io.get_untrusted_types(data=saved))
    assert untrusted == set(TRUSTED_TYPES)


def test_unknown_criterion_lists_what_is_allowed(two_actions):
    with pytest.raises(ValueError, match="'tau' is unknown; allowed: r, dr, level"):
        SelectedCausalLearner(FEW, criterion="tau").fit(two_actions.X, two_actions.actions, two_actions.outcomes)


@pytest.mark.long
def test_seed_and_bounds_reach_the_candidates(two_actions):
    learner = SelectedCausalLearner({"x": XLearner("ridge")}, range_share=0.05, random_state=9)
    learner.fit(two_actions.X, two_actions.actions, two_actions.outcomes)
    parameters = learner.learners_["x"].get_params()
    assert (parameters["range_share"], parameters["random_state"]) == (0.05, 9)


def awkward(kind):
    """Small data with one thing wrong, shape and type still right."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    actions = np.arange(80) % 2
    outcomes = X[:, 0] + actions * X[:, 1] + random.normal(size=80)
    change = {
        "one feature": lambda: (X[:, :1], actions, outcomes),
        "constant features": lambda: (np.ones((80, 2)), actions, outcomes),
        "repeated features": lambda: (np.hstack([X, X]), actions, outcomes),
        "more features than contexts": lambda: (random.normal(size=(80, 120)), actions, outcomes),
        "constant outcomes": lambda: (X, actions, np.full(80, 3.0)),
        "constant zero": lambda: (X, actions, np.zeros(80)),
        "one constant action": lambda: (X, actions, np.where(actions == 1, 3.0, outcomes)),
        "two-valued outcomes": lambda: (X, actions, (outcomes > 0).astype(float)),
        "far below zero": lambda: (X, actions, outcomes - 1000.0),
        "an outlier": lambda: (X, actions, np.where(np.arange(80) == 3, 1e6, outcomes)),
        "ten contexts of one action": lambda: (X, (np.arange(80) < 10).astype(int), outcomes),
        "no overlap": lambda: (X, (X[:, 0] > 0).astype(int), outcomes),
    }
    return change[kind]()


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    [
        "one feature",
        "constant features",
        "repeated features",
        "more features than contexts",
        "constant outcomes",
        "constant zero",
        "one constant action",
        "two-valued outcomes",
        "far below zero",
        "an outlier",
        "ten contexts of one action",
        "no overlap",
    ],
)
def test_awkward_data_gives_levels_within_bounds(kind):
    table = {"ridge": TLearner("ridge"), "exponential": TransferLearner("exponential"), "DR": DRLearner()}
    X, actions, outcomes = awkward(kind)
    learner = SelectedCausalLearner({**table, "process": SLearner("gaussian process")})
    levels = learner.fit(X, actions, outcomes).predict_levels(X)
    assert np.isfinite(levels).all()
    assert (levels >= learner.bounds_[0][:, None]).all()
    assert (levels <= learner.bounds_[1][:, None]).all()


@pytest.mark.long
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_the_outcome_does_not_matter(factor, two_actions):
    learner = SelectedCausalLearner({**FEW, "transfer": TransferLearner("exponential")})
    X, actions, outcomes = two_actions.X, two_actions.actions, two_actions.outcomes
    plain = learner.fit(X, actions, outcomes).predict_levels(two_actions.X_new)
    scaled = learner.fit(X, actions, factor * outcomes).predict_levels(two_actions.X_new)
    np.testing.assert_allclose(scaled / factor, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("groups", [None, np.array([0, 0, 1, 1])])
def test_candidates_are_scored_against_the_best_of_them(groups):
    data = LoggedData(np.zeros((4, 1)), np.array([0, 1, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0]), 2, groups)
    losses = np.array([[4.0, 2.0, 6.0, 4.0], [1.0, 2.0, 3.0, 6.0]])
    held_out = np.array([[[0.0, 9.0, 3.0, 9.0], [9.0, 2.0, 9.0, 7.0]], [[1.0, 9.0, 3.0, 9.0], [9.0, 2.0, 9.0, 3.0]]])
    best, other = _scores(["other", "best"], losses, held_out, data, np.array([0.25, 0.75]))

    def error(values):
        deviations = np.asarray(values) - np.mean(values)
        if groups is None:
            return np.sqrt((deviations**2).mean() / 4)
        return np.sqrt(2 * (deviations[:2].sum() ** 2 + deviations[2:].sum() ** 2)) / 4

    assert (best.name, best.loss, best.gap, best.gap_standard_error, best.weight) == ("best", 3.0, 0.0, 0.0, 0.75)
    assert (other.name, other.loss, other.gap, other.weight) == ("other", 4.0, 1.0, 0.25)
    assert best.standard_error == pytest.approx(error([1, 2, 3, 6]))
    assert other.standard_error == pytest.approx(error([4, 2, 6, 4]))
    assert other.gap_standard_error == pytest.approx(error([3, 0, 3, -2]))
    assert (best.outcome_error, other.outcome_error) == (1 / 4, (1 + 9) / 4)  # of the actions taken
