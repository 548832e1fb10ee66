"""The average of models is a model: probabilities, columns, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from accordant.learning.classification import Blend, CalibratedProbabilities

from .conftest import OUTCOMES, Loans


def _models(*estimators, classes=OUTCOMES):  # type: ignore[no-untyped-def]
    return [CalibratedProbabilities(each, method="raw", classes=classes) for each in estimators]


def test_the_average_of_probabilities(loans: Loans) -> None:
    models = _models(DummyClassifier(strategy="prior"), DecisionTreeClassifier(max_depth=2))
    blend = Blend(models, [0.25, 0.75]).fit(loans.X, loans.y)
    parts = [clone(each).fit(loans.X, loans.y).predict_proba(loans.X) for each in models]
    p = blend.predict_proba(loans.X)
    np.testing.assert_allclose(p, 0.25 * parts[0] + 0.75 * parts[1], atol=1e-15)
    assert blend.classes_.tolist() == OUTCOMES.tolist()
    assert blend.predict(loans.X).tolist() == OUTCOMES[p.argmax(axis=1)].tolist()
    assert not hasattr(clone(blend), "models_")


def test_sure_models_stay_within_one_and_an_unseen_class_stays_at_zero(loans: Loans) -> None:
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.repeat(["Fully Repaid", "Not Repaid"], 20)
    weights = np.array([0.1] * 7 + [0.3])
    p = Blend(_models(*[DecisionTreeClassifier()] * 8), weights / weights.sum()).fit(X, y).predict_proba(X)
    assert p.max() <= 1.0
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-9
    assert np.all(p[:, 1] == 0)


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.6], [1.0, 0.0], [1.5, -0.5], [np.nan, 1.0]])
def test_weights_that_are_none_are_refused(weights: list[float], loans: Loans) -> None:
    with pytest.raises(ValueError, match="2 positive numbers"):
        Blend(_models(GaussianNB(), GaussianNB()), weights).fit(loans.X, loans.y)


def test_models_of_other_classes_are_refused(loans: Loans) -> None:
    models = [*_models(GaussianNB()), *_models(GaussianNB(), classes=OUTCOMES[::-1])]
    with pytest.raises(ValueError, match="same classes"):
        Blend(models, [0.5, 0.5]).fit(loans.X, loans.y)
