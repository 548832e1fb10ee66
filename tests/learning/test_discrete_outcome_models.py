"""f(o | x, a) of discrete outcomes: what the classifier says, per action where it reads the action."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from accordant.learning.encoding import ContextEncoder
from accordant.learning.outcome_models import DiscreteOutcomeModel, action_design

CLASSIFIERS = {
    "forest": RandomForestClassifier(5, max_depth=4, random_state=0),
    "logistic": LogisticRegression(max_iter=500),
    "bayes": GaussianNB(),
}


def fitted(loans, kind, *, aware):
    encoder = ContextEncoder.fit(loans.contexts, ("income", "amount", "region"))
    rows, log = encoder(loans.contexts), loans.log
    columns = action_design(rows, log.actions, 3) if aware else rows
    return DiscreteOutcomeModel(encoder, CLASSIFIERS[kind].fit(columns, log.outcomes), 3, aware)


@pytest.mark.few(3)
@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_classifiers_probabilities_bit_for_bit(kind, aware, loans):
    model = fitted(loans, kind, aware=aware)
    rows = model.encoder(loans.contexts)
    found = model.predict(loans.contexts)
    assert found.nodes is None and found.weights.shape == (3, 3, len(rows))
    for action in range(3):
        columns = action_design(rows, np.full(len(rows), action), 3) if aware else rows
        alone = [model.classifier.predict_proba(row[np.newaxis])[0] for row in columns]  # many round otherwise
        assert np.array_equal(found.weights[action].T, alone)


def test_what_can_be_made_again_is_not_saved(loans):
    model = fitted(loans, "forest", aware=True)
    before = len(pickle.dumps(model))
    found = model.predict(loans.contexts)
    again = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(model)) == before
    assert np.array_equal(again.predict(loans.contexts).weights, found.weights)
