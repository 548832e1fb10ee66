"""Class probabilities without overhead equal `predict_proba` of each row alone, bit for bit."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from accordant.learning.classification import SelectedClassifier
from accordant.learning.classification.blend import Blend
from accordant.learning.classification.calibration import CalibratedProbabilities
from accordant.learning.classification.candidates import default_candidates
from accordant.learning.classification.candidates import HingeFeatures
from accordant.learning.probabilities import _across, class_probabilities

FOREST = RandomForestClassifier(8, min_samples_leaf=3, random_state=0)
BOOSTING = HistGradientBoostingClassifier(max_iter=6, random_state=0)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
PAIRS = PolynomialFeatures(degree=2, interaction_only=True, include_bias=False)

KNOWN = {
    "forest": FOREST,
    "extra trees": ExtraTreesClassifier(5, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "boosting": BOOSTING,
    "shares": DummyClassifier(strategy="prior"),
    "logistic": LogisticRegression(max_iter=500),
    "scaled": LOGISTIC,
    "scaled without the mean": make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=500)),
    "centred": make_pipeline(StandardScaler(with_std=False), LogisticRegression(max_iter=500)),
    "hinges": make_pipeline(HingeFeatures(3), StandardScaler(), LogisticRegression(max_iter=500)),
    "pairs": make_pipeline(HingeFeatures(1), StandardScaler(), PAIRS, StandardScaler(), LogisticRegression(C=0.1)),
    "scaled forest": make_pipeline(StandardScaler(), FOREST),
    "sigmoid forest": CalibratedClassifierCV(FOREST, method="sigmoid", cv=3, ensemble=False),
    "isotonic forest": CalibratedClassifierCV(FOREST, method="isotonic", cv=3, ensemble=False),
    "several sigmoid forests": CalibratedClassifierCV(FOREST, method="sigmoid", cv=3, ensemble=True),
    "sigmoid boosting": CalibratedClassifierCV(BOOSTING, method="sigmoid", cv=3, ensemble=False),
    "isotonic logistic": CalibratedClassifierCV(LogisticRegression(max_iter=500), method="isotonic", cv=3),
    "declared": CalibratedProbabilities(FOREST, classes=[0, 1, 2, 3], n_folds=2),
    "declared sigmoid boosting": CalibratedProbabilities(BOOSTING, n_folds=2),
    "declared isotonic": CalibratedProbabilities(FOREST, method="isotonic", n_folds=2),
    "raw": CalibratedProbabilities(LOGISTIC, method="raw", classes=[0, 1, 2]),
    "blend": Blend(
        [CalibratedProbabilities(FOREST, n_folds=2), CalibratedProbabilities(LOGISTIC, method="raw")], [0.25, 0.75]
    ),
}
UNKNOWN = {
    "bayes": GaussianNB(),
    "gradient boosting": GradientBoostingClassifier(n_estimators=2),
    "most frequent": DummyClassifier(strategy="most_frequent"),
    "one against the rest": LogisticRegression(solver="newton-cg", max_iter=500),
    "another scaler": make_pipeline(MinMaxScaler(), LogisticRegression()),
    "squares": make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=500)),
    "products of three": make_pipeline(
        PolynomialFeatures(3, interaction_only=True, include_bias=False), LogisticRegression(max_iter=500)
    ),
    "pairs and a constant": make_pipeline(PolynomialFeatures(2, interaction_only=True), LogisticRegression()),
    "temperature": CalibratedClassifierCV(FOREST, method="temperature", cv=3, ensemble=False),
    "sigmoid bayes": CalibratedClassifierCV(GaussianNB(), cv=3),
}


def data(n_classes, n=240):
    generator = np.random.default_rng(0)
    rows = np.round(generator.normal(size=(n, 3)), 1)
    codes = np.digitize(rows[:, 0] + rows[:, 1] * rows[:, 2] + generator.normal(size=n), [0.0, 1.0][: n_classes - 1])
    return rows, codes


def fitted(classifier, n_classes):
    rows, codes = data(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limited iterations and the like are not what is tested
        return classifier.fit(rows, codes)


def alone(classifier, rows):
    """What the classifier says of each row when it is asked about no other: products of many rows round otherwise."""
    return np.vstack([classifier.predict_proba(row[np.newaxis]) for row in rows])


def asked(classifier, monkeypatch):
    """Count how often the classifier's own method is used."""
    calls = []
    original = type(classifier).predict_proba
    monkeypatch.setattr(type(classifier), "predict_proba", lambda *given: calls.append(1) or original(*given))
    return calls


@pytest.mark.few(1)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KNOWN)
def test_bit_for_bit(kind, n_classes, monkeypatch):
    model = fitted(KNOWN[kind], n_classes)
    rows = np.vstack([data(n_classes)[0][:40], np.random.default_rng(1).normal(size=(20, 3)) * 5])
    parts = [rows, rows[:1], rows[-1:], rows[7:29]]
    expected = [alone(model, part) for part in parts]
    probabilities = class_probabilities(model)
    calls = asked(model, monkeypatch)
    for part, wanted in zip(parts, expected, strict=True):
        assert np.array_equal(probabilities(part), wanted)
    assert not calls


@pytest.mark.parametrize("kind", UNKNOWN)
def test_what_is_not_known_is_asked(kind, monkeypatch):
    model = fitted(UNKNOWN[kind], 3)
    calls = asked(model, monkeypatch)
    found = class_probabilities(model)(data(3)[0])
    assert calls == [1]
    assert np.array_equal(found, model.predict_proba(data(3)[0]))


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", [
    pytest.param(each.name, marks=[pytest.mark.long] if each.name.endswith("-sigmoid") else [])
    for each in default_candidates(3)
])  # fmt: skip
def test_the_default_candidates_are_known(kind, monkeypatch):
    model = next(each.estimator for each in default_candidates(3) if each.name == kind)
    model = fitted(model.set_params(classes=[0, 1, 2]), 3)
    rows = data(3)[0]
    expected = alone(model, rows)
    probabilities = class_probabilities(model)
    calls = asked(model, monkeypatch)
    assert np.array_equal(probabilities(rows), expected)
    assert not calls


def test_the_default_classifier(monkeypatch):
    model = fitted(SelectedClassifier(default_candidates(3)[:2] + default_candidates(3)[7:8], n_folds=2), 3)
    rows = data(3)[0]
    expected = alone(model, rows)
    probabilities = class_probabilities(model)
    calls = asked(model, monkeypatch)
    assert np.array_equal(probabilities(rows), expected)
    assert not calls


def test_a_blend_asks_only_those_it_does_not_know():
    parts = [CalibratedProbabilities(FOREST, n_folds=2), CalibratedProbabilities(GaussianNB(), n_folds=2)]
    model = fitted(Blend(parts, [0.5, 0.5]), 3)
    rows = data(3)[0]
    assert np.array_equal(class_probabilities(model)(rows), model.predict_proba(rows))


def test_a_subclass_is_asked():
    class Own(RandomForestClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]

    model = fitted(Own(3, random_state=0), 2)
    rows = data(2)[0]
    assert np.array_equal(class_probabilities(model)(rows), model.predict_proba(rows))


@pytest.mark.few(4)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("kind", ["forest", "boosting", "scaled", "blend"])
def test_unusual_values_are_left_to_the_classifier(kind, value):
    """The same probabilities, or the same complaint: forests refuse what overflows float32, boosting does not."""
    model = fitted(KNOWN[kind], 3)
    rows = data(3)[0].copy()
    rows[4, 1] = value

    def said(ask):
        with np.errstate(over="ignore"):
            try:
                return ask(rows).tolist()
            except ValueError as error:
                return str(error)

    theirs = partial(alone, model) if np.isfinite(value) else model.predict_proba
    assert str(said(class_probabilities(model))) == str(said(theirs))


def test_the_wrong_number_of_columns_is_the_classifiers_error():
    model = fitted(KNOWN["forest"], 3)
    with pytest.raises(ValueError, match="features"):
        class_probabilities(model)(np.zeros((2, 5)))


def test_a_damaged_tree_is_refused():
    model = fitted(HistGradientBoostingClassifier(max_iter=2), 3)
    model._predictors[0][0].nodes["left"][0] = 0
    with pytest.raises(ValueError, match="damaged or forged"):
        class_probabilities(model)


@pytest.mark.parametrize("operation", [np.add, np.maximum])
@pytest.mark.parametrize("n_columns", range(1, 20))
def test_columns_taken_one_after_another_give_the_bits_of_numpy(n_columns, operation):
    values = np.random.default_rng(n_columns).normal(size=(200, n_columns)) * 10.0 ** np.arange(n_columns)
    assert np.array_equal(_across(operation, values), operation.reduce(values, axis=1, keepdims=True))
