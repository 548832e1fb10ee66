"""No group is in two folds, wherever rows are dealt out; sizes and strata stay even."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from accordant.errors import DataError
from accordant.learning.causal import CausalDataError, PropensityModel, SelectedCausalLearner, TLearner, XLearner
from accordant.learning.causal.base_learners import fitted_regressor
from accordant.learning.causal.level_learner import action_folds
from accordant.learning.causal.meta_learners import TransferLearner
from accordant.learning.classification import CalibratedProbabilities, SelectedClassifier
from accordant.learning.classification.brier import brier_contributions
from accordant.learning.classification.candidates import Candidate
from accordant.learning.folds import ALWAYS_TRAINING, deal_folds
from accordant.learning.folds import deal_groups, make_folds
from accordant.learning.residuals import held_out_residuals


def whole(groups, folds):
    """Whether all rows of each group have the same fold."""
    return all(len(np.unique(folds[groups == each])) == 1 for each in np.unique(groups))


@pytest.mark.parametrize("seed", range(15))
def test_groups_are_whole_and_folds_even(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(60, 500))
    groups, strata = generator.integers(0, n // 3, n), generator.integers(0, 4, n)
    folds = deal_groups(groups, 5, np.random.default_rng(seed), strata)
    assert whole(groups, folds)
    sizes = np.bincount(folds, minlength=5)
    assert np.ptp(sizes) <= np.bincount(groups).max()
    for stratum in range(4):
        assert np.ptp(np.bincount(folds[strata == stratum], minlength=5)) <= 0.1 * n
    made = make_folds(n, 5, np.random.default_rng(seed), strata, groups)
    assert np.sort(np.concatenate(made)).tolist() == list(range(n))
    assert [set(groups[each]) & set(groups[other]) for each in made for other in made if each is not other] == [
        set()
    ] * 20


def test_single_rows_are_dealt_as_evenly_as_rows_without_groups():
    strata = np.random.default_rng(0).choice(4, 503, p=[0.6, 0.3, 0.09, 0.01])
    folds = deal_groups(np.arange(503), 5, np.random.default_rng(1), strata)
    assert np.ptp(np.bincount(folds)) <= 1
    assert all(np.ptp(np.bincount(folds[strata == each], minlength=5)) <= 1 for each in range(4))


def test_too_few_groups_for_the_folds():
    with pytest.raises(DataError, match="12 training rows of 3 groups"):
        make_folds(12, 5, np.random.default_rng(0), None, np.repeat(np.arange(3), 4))


@pytest.mark.parametrize("seed", range(8))
def test_every_training_part_holds_every_class(seed):
    generator = np.random.default_rng(seed)
    groups = generator.integers(0, 30, 120)
    codes = generator.choice(3, 120, p=[0.7, 0.27, 0.03])
    folds = deal_folds(codes, 4, seed, groups=groups)
    assert whole(groups, folds)
    for fold in range(4):
        assert set(codes[folds != fold]) == set(codes)


def test_a_class_of_one_group_is_always_learned_from_and_never_calibrated():
    groups = np.repeat(np.arange(20), 3)
    codes = np.tile([0, 1, 0], 20)
    codes[:3] = 2
    folds = deal_folds(codes, 3, 0, groups=groups)
    assert (folds[:3] == ALWAYS_TRAINING).all() and (folds[3:] != ALWAYS_TRAINING).all()
    X = np.random.default_rng(0).normal(size=(60, 2))
    fitted = CalibratedProbabilities(LogisticRegression()).fit(X, codes, groups)
    assert fitted.fallback_ == "not calibrated: one group only of [2]"


def test_an_action_of_one_group_is_refused_by_name():
    actions = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    with pytest.raises(CausalDataError, match="action code 1 was taken by 1 groups only"):
        action_folds(actions, 3, 0, np.array([0, 1, 2, 3, 4, 5, 6, 6]))


class Spy(DummyRegressor):
    """A regressor that notes on which persons it was fitted; the person is the first feature."""

    seen: list[set[int]] = []  # noqa: RUF012 - shared by clones on purpose

    def fit(self, X, y):
        """Note the persons."""
        self.persons_ = set(X[:, 0].astype(int).tolist())
        return super().fit(X, y)

    def predict(self, X):
        """Note whether somebody is predicted who was learned from."""
        Spy.seen.append(self.persons_ & set(X[:, 0].astype(int).tolist()))
        return super().predict(X)


@pytest.fixture
def logged():
    generator = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 4)
    X = np.column_stack([groups, generator.normal(size=160)])
    return X, generator.integers(0, 2, 160), generator.normal(size=160), groups


@pytest.mark.parametrize("learner", [XLearner(Spy(), Spy()), TransferLearner(Spy(), "ridge")], ids=["x", "transfer"])
def test_learners_that_need_levels_out_of_sample_cross_fit_by_groups(learner, logged):
    X, actions, outcomes, groups = logged
    Spy.seen.clear()
    learner.fit(X, actions, outcomes, groups=groups)
    leaks = [each for each in Spy.seen if each]
    assert len(Spy.seen) > len(leaks)
    # the transfer learner predicts its own source rows too, as a plain feature of their own regression
    assert isinstance(learner, TransferLearner) or not leaks


def test_held_out_means_without_the_person(logged):
    X, actions, outcomes, groups = logged
    Spy.seen.clear()
    learner = SelectedCausalLearner({"spy": TLearner(Spy())}).fit(X, actions, outcomes, groups=groups)
    assert Spy.seen and not any(Spy.seen) and learner.held_out_residuals_.shape == outcomes.shape
    Spy.seen.clear()
    held_out_residuals(TLearner(Spy()), X, actions, outcomes, 2, 0, groups)
    assert Spy.seen and not any(Spy.seen)


@pytest.mark.few(1)
@pytest.mark.parametrize("base", ["ridge", "ridge, scaled", "exponential"])
def test_penalties_are_chosen_on_other_persons_and_no_row_numbers_are_kept(base):
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 8)
    facts = np.repeat(generator.normal(size=(40, 30)), 8, axis=0)  # facts of persons, who differ for other reasons
    y = np.repeat(generator.normal(size=40), 8) + 0.1 * generator.normal(size=320)
    own, plain = (fitted_regressor(base, 0, facts, y, each) for each in (groups, None))
    assert not any(own.get_params()[name] for name in own.get_params() if name.split("__")[-1] == "cv")
    assert np.var(own.predict(facts)) < 0.9 * np.var(plain.predict(facts))


def test_propensities_of_copies_are_held_out_together(logged):
    X, _, _, groups = logged
    copies, actions = np.repeat(X[::4], 4, axis=0), np.repeat(np.random.default_rng(0).integers(0, 2, 40), 4)
    plain, grouped = (PropensityModel().fit(copies, actions, each) for each in (None, groups))
    assert min(grouped.log_losses_.values()) > 0.6 and plain.log_losses_["boosting"] < grouped.log_losses_["boosting"]


def test_without_groups_copies_make_a_learner_by_heart_look_good():
    generator = np.random.default_rng(5)
    groups = np.repeat(np.arange(150), 4)
    X = np.repeat(generator.normal(size=(150, 3)), 4, axis=0) + 1e-3 * generator.normal(size=(600, 3))
    y = np.repeat(generator.integers(0, 2, 150), 4)  # a person's own, and nothing to do with X
    tried = [Candidate("by heart", KNeighborsClassifier(3))]
    plain, grouped = (SelectedClassifier(tried).fit(X, y, each) for each in (None, groups))
    new = np.random.default_rng(6).normal(size=(2000, 3))
    honest = brier_contributions(plain.predict_proba(new), np.random.default_rng(7).integers(0, 2, 2000)).mean()
    assert plain.best_name_ == "by heart" and plain.candidates_[0].brier < 0.1 and honest > 0.55
    assert grouped.best_name_ == "prior" and not grouped.beats_prior_
