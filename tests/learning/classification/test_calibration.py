"""Probabilities are probabilities, whatever the classifier and however rare the class."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from accordant.learning.classification import CalibratedProbabilities, default_candidates
from accordant.learning.classification.brier import (
    brier_contributions,
    calibration_in_the_large,
    class_codes,
    expected_calibration_error,
)
from accordant.learning.classification.calibration import Method

from .conftest import OUTCOMES, Loans


@pytest.mark.few(2)
@pytest.mark.parametrize("candidate", default_candidates(4), ids=lambda each: each.name)
def test_held_back_class_means_are_within_three_standard_errors(candidate, loans: Loans, fresh_loans: Loans) -> None:  # type: ignore[no-untyped-def]
    model = clone(candidate.estimator).set_params(classes=OUTCOMES).fit(loans.X, loans.y)
    p = model.predict_proba(fresh_loans.X)
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-9
    # The class shares of 600 training rows are uncertain too: their error is added to the held-back one.
    shares = np.bincount(class_codes(loans.y, OUTCOMES), minlength=3) / len(loans.y)
    for each, share in zip(calibration_in_the_large(p, class_codes(fresh_loans.y, OUTCOMES)), shares, strict=True):
        error = np.hypot(each.standard_error, np.sqrt(share * (1 - share) / len(loans.y)))
        assert abs(each.mean_predicted - each.base_rate) <= 3 * error


def test_an_oversampled_forest_fails_the_same_check(loans: Loans, fresh_loans: Loans) -> None:
    codes, rng = class_codes(loans.y, OUTCOMES), np.random.default_rng(0)
    most = np.bincount(codes).max()
    rows = np.concatenate([rng.choice(np.flatnonzero(codes == o), most) for o in range(3)])
    twin = RandomForestClassifier(60, min_samples_leaf=20, random_state=0).fit(loans.X[rows], codes[rows])
    calibrated = calibration_in_the_large(twin.predict_proba(fresh_loans.X), class_codes(fresh_loans.y, OUTCOMES))
    gaps = [
        abs(each.mean_predicted - each.base_rate)
        / np.hypot(each.standard_error, np.sqrt(each.base_rate * (1 - each.base_rate) / len(loans.y)))
        for each in calibrated
    ]
    assert max(gaps) > 3


def test_calibration_repairs_an_overconfident_classifier(loans: Loans, fresh_loans: Loans) -> None:
    # Four copies of each column make naive Bayes count every hint four times.
    X, fresh = np.hstack([loans.X] * 4), np.hstack([fresh_loans.X] * 4)
    codes = class_codes(fresh_loans.y, OUTCOMES)
    scores, errors = {}, {}
    methods: tuple[Method, ...] = ("raw", "sigmoid", "isotonic")
    for method in methods:
        p = CalibratedProbabilities(GaussianNB(), method=method, classes=OUTCOMES).fit(X, loans.y).predict_proba(fresh)
        scores[method], errors[method] = brier_contributions(p, codes).mean(), expected_calibration_error(p, codes)
    assert all(scores[method] < scores["raw"] for method in methods[1:])
    assert all(errors[method] < errors["raw"] for method in methods[1:])


@pytest.mark.parametrize("method", ["raw", "sigmoid", "isotonic"])
def test_a_declared_class_never_seen_gets_a_column_of_zeros(method: Method, loans: Loans) -> None:
    seen = loans.y != "Partially Repaid"
    model = CalibratedProbabilities(RandomForestClassifier(10, random_state=0), method=method, classes=OUTCOMES)
    p = model.fit(loans.X[seen], loans.y[seen]).predict_proba(loans.X)
    assert p.shape == (len(loans.y), 3)
    assert np.all(p[:, 1] == 0)
    assert p[:, 0].mean() > p[:, 2].mean() > 0
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-9
    assert set(model.predict(loans.X)) <= {"Fully Repaid", "Not Repaid"}


@pytest.mark.few(2)
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_a_class_of_very_few_rows(rows: int, method: Method, loans: Loans) -> None:
    keep = np.sort(
        np.r_[
            np.flatnonzero(loans.y != "Partially Repaid"),
            np.flatnonzero(loans.y == "Partially Repaid")[:rows],
        ]
    )
    model = CalibratedProbabilities(
        RandomForestClassifier(20, min_samples_leaf=5, random_state=0), method=method, classes=OUTCOMES
    )
    p = model.fit(loans.X[keep], loans.y[keep]).predict_proba(loans.X)
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-9
    assert p[:, 1].mean() < 0.05
    assert (model.fallback_ is not None) == (rows == 1)
    if rows == 1:
        assert "Partially Repaid" in str(model.fallback_)


def test_a_classifier_without_probabilities(loans: Loans) -> None:
    X = (loans.X - loans.X.mean(axis=0)) / loans.X.std(axis=0)
    p = CalibratedProbabilities(LinearSVC(random_state=0)).fit(X, loans.y).predict_proba(X)
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-9
    with pytest.raises(ValueError, match="no predict_proba"):
        CalibratedProbabilities(LinearSVC(), method="raw").fit(X, loans.y)


@pytest.mark.parametrize(
    ("labels", "method", "message"),
    [
        (["a"] * 4, "raw", "one class only, 'a';"),
        (["a", "a", "b", "z"], "raw", "'z'"),
        (["a", "a", "b", "b"], "platt", "'platt'"),
    ],
)
def test_wrong_input_is_refused(labels: list[str], method: Method, message: str) -> None:
    model: ClassifierMixin = CalibratedProbabilities(GaussianNB(), method=method, classes=["a", "b"])
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(8.0).reshape(4, 2), labels)


@pytest.mark.long
def test_calibration_does_not_turn_probabilities_around_where_features_repeat() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 500, 1100)
    truth = np.where(x % 2, 0.8, 0.2)
    y = (rng.random(1100) < truth).astype(int)
    model = CalibratedProbabilities(RandomForestClassifier(50, random_state=0)).fit(x[:, None], y)
    assert (
        np.corrcoef(model.predict_proba(np.arange(500)[:, None])[:, 1], np.where(np.arange(500) % 2, 0.8, 0.2))[0, 1]
        > 0.3
    )
