"""Platt's maps are those of scikit-learn, and a selection fits no classifier twice to learn them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from accordant.learning.classification import CalibratedProbabilities
from accordant.learning.classification.brier import class_codes
from accordant.learning.classification.platt import PlattScaling, score_rows
from accordant.learning.classification.shared_fits import SharedFits
from accordant.learning.folds import deal_folds, splits

from .conftest import OUTCOMES, Loans

FOREST = RandomForestClassifier(10, min_samples_leaf=10, random_state=0)
BOOSTING = HistGradientBoostingClassifier(max_iter=8, random_state=0)


@pytest.mark.few(1)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("classifier", [FOREST, BOOSTING], ids=["forest", "boosting"])
def test_it_equals_what_scikit_learn_calibrates(classifier, classes: int, loans: Loans) -> None:  # type: ignore[no-untyped-def]
    codes = class_codes(loans.y, OUTCOMES) if classes == 3 else (loans.y == OUTCOMES[0]).astype(np.intp)
    parts = list(splits(deal_folds(codes, 3, 0)))
    peer = CalibratedClassifierCV(classifier, method="sigmoid", cv=parts, ensemble=False).fit(loans.X, codes)
    method = "decision_function" if hasattr(classifier, "decision_function") else "predict_proba"
    scores = cross_val_predict(classifier, loans.X, codes, cv=parts, method=method).reshape(len(codes), -1)
    p = PlattScaling().fit(scores, codes).probabilities(score_rows(clone(classifier).fit(loans.X, codes), loans.X))
    np.testing.assert_allclose(p, peer.predict_proba(loans.X), rtol=0, atol=1e-7)
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-12


def test_scores_that_say_nothing_give_the_smoothed_share() -> None:
    codes = np.array([1] * 3 + [0] * 7)
    p = PlattScaling().fit(np.full((10, 1), 4.0), codes).probabilities(np.array([[4.0], [9.0]]))
    expected = (3 * (4 / 5) + 7 * (1 / 9)) / 10
    np.testing.assert_allclose(p[:, 1], expected, rtol=1e-12)


def test_scores_that_separate_classes_give_finite_maps() -> None:
    scores = np.r_[np.linspace(-1e6, -1e5, 30), np.linspace(1e5, 1e6, 30)][:, None]
    codes = np.repeat([0, 1], 30)
    scaling = PlattScaling().fit(scores, codes)
    p = scaling.probabilities(scores)
    assert np.isfinite(scaling.slopes_).all()
    assert (p.argmax(axis=1) == codes).all()
    assert 0.9 < p[-1, 1] < 1


def test_no_score_above_zero_in_any_class_gives_equal_probabilities() -> None:
    scaling = PlattScaling()
    scaling.slopes_, scaling.intercepts_ = np.ones(3), np.full(3, -1e4)
    np.testing.assert_array_equal(scaling.probabilities(np.zeros((2, 3))), np.full((2, 3), 1 / 3))


@pytest.mark.long
@pytest.mark.parametrize("classifier", [FOREST, BOOSTING], ids=["forest", "boosting"])
def test_shared_fits_give_what_separate_ones_give(classifier, loans: Loans) -> None:  # type: ignore[no-untyped-def]
    codes = class_codes(loans.y, OUTCOMES)
    folds = deal_folds(codes, 4, 0)
    parts = list(splits(folds))
    shared = SharedFits(loans.X, loans.y, codes, folds, None)
    candidate = CalibratedProbabilities(classifier, method="sigmoid", classes=OUTCOMES)
    final = shared.on_all_rows(candidate)
    peer = CalibratedClassifierCV(classifier, method="sigmoid", cv=parts, ensemble=False).fit(loans.X, codes)
    np.testing.assert_allclose(final.predict_proba(loans.X), peer.predict_proba(loans.X), rtol=0, atol=1e-7)
    scores = np.empty((len(codes), 3))
    for training, fold in parts:
        scores[fold] = score_rows(clone(classifier).fit(loans.X[training], codes[training]), loans.X[fold])
    expected = np.empty((len(codes), 3))
    for training, fold in parts:
        expected[fold] = PlattScaling().fit(scores[training], codes[training]).probabilities(scores[fold])
    np.testing.assert_allclose(shared.held_back(candidate), expected, rtol=0, atol=1e-12)


class Counting(RandomForestClassifier):
    """A forest that counts how often it is fitted."""

    fits = 0

    def fit(self, X, y):  # type: ignore[no-untyped-def]
        Counting.fits += 1
        return super().fit(X, y)


def test_a_calibrated_candidate_costs_no_fit_beside_its_raw_twin(loans: Loans) -> None:
    codes = class_codes(loans.y, OUTCOMES)
    shared = SharedFits(loans.X, loans.y, codes, deal_folds(codes, 5, 0), None)
    Counting.fits = 0
    for method in ("raw", "sigmoid"):
        candidate = CalibratedProbabilities(Counting(5, random_state=0), method=method, classes=OUTCOMES)  # type: ignore[arg-type]
        shared.held_back(candidate)
        shared.on_all_rows(candidate)
    assert Counting.fits == 6


def test_a_class_of_one_row_is_not_calibrated(loans: Loans) -> None:
    keep = np.sort(
        np.r_[np.flatnonzero(loans.y != "Partially Repaid"), np.flatnonzero(loans.y == "Partially Repaid")[:1]]
    )
    X, labels = loans.X[keep], loans.y[keep]
    codes = class_codes(labels, OUTCOMES)
    shared = SharedFits(X, labels, codes, deal_folds(codes, 5, 0), None)
    raw, sigmoid = (CalibratedProbabilities(FOREST, method=method, classes=OUTCOMES) for method in ("raw", "sigmoid"))  # type: ignore[arg-type]
    np.testing.assert_array_equal(shared.held_back(raw), shared.held_back(sigmoid))
    assert shared.on_all_rows(sigmoid).map_ is None


def test_a_classifier_without_probabilities_calibrates_itself(loans: Loans) -> None:
    from sklearn.svm import LinearSVC

    X = (loans.X - loans.X.mean(axis=0)) / loans.X.std(axis=0)
    codes = class_codes(loans.y, OUTCOMES)
    folds = deal_folds(codes, 5, 0)
    candidate = CalibratedProbabilities(LinearSVC(random_state=0), classes=OUTCOMES)
    held_back = SharedFits(X, loans.y, codes, folds, None).held_back(candidate)
    training, fold = next(splits(folds))
    expected = clone(candidate).fit(X[training], loans.y[training]).predict_proba(X[fold])
    np.testing.assert_array_equal(held_back[fold], expected)
