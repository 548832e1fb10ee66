"""A continuous action in worlds of known dose response: what a grid gains over actions without values, and where not.

An amount between 0 and 200 is logged, more of it to those in need. Decisions are among four amounts, for whom an outcome
is worth 1 and the amount costs up to 0.35; regret is what they miss of that.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from accordant.contexts import Contexts, Log
from accordant.learning.outcome_learning import DiscreteOutcomeLearner
from accordant.problem import DecisionProblem

AMOUNTS = {"none": 0, "low": 50, "medium": 100, "high": 200}
POINTS = np.array(list(AMOUNTS.values()), dtype=float)
COST = 0.35
ROWS, NEW_ROWS, SEEDS = 800, 1500, 16
FEATURES = ("need", "age")
CLASSIFIERS = {
    "logistic": LogisticRegression(max_iter=500),
    "boosting": HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=6, learning_rate=0.06, min_samples_leaf=15, early_stopping=False
    ),
}
RESPONSES = {
    "saturating": lambda need, age, dose: -1.5 + 3.5 * need * (1 - np.exp(-3 * dose)) + 0.8 * age,
    "hump": lambda need, age, dose: -1 + 8 * need * dose * (1.3 - dose) - 1.2 * dose + 0.5 * age,
    "null": lambda need, age, dose: -0.3 + 0.8 * age,  # noqa: ARG005 - nothing follows from the amount
}


def probability(response, need, age, amount):
    return 1 / (1 + np.exp(-(RESPONSES[response](need, age, amount / 200))))


def log_of(response, values, seed):
    """The same rows with values of the amount, or with the nearest of the four as a name."""
    generator = np.random.default_rng(seed)
    need, age = generator.uniform(size=ROWS), generator.normal(size=ROWS)
    amount = 200 * np.clip(generator.beta(1.2, 1.8, ROWS) * 0.7 + 0.3 * need * generator.uniform(size=ROWS), 0, 1)
    outcomes = (generator.uniform(size=ROWS) < probability(response, need, age, amount)).astype(np.intp)
    problem = DecisionProblem(
        stakeholders=["Recipient"], actions=AMOUNTS if values else list(AMOUNTS), outcomes=["no", "yes"]
    )
    nearest = np.abs(amount[:, None] - POINTS).argmin(axis=1)
    codes, kept = problem.logged_actions(amount if values else np.array(list(AMOUNTS))[nearest])
    return problem, Log(Contexts({"need": need, "age": age}), codes, outcomes, action_values=kept)


def figures(response, classifier, values, seed):
    """Return squared error of f at the four amounts, and regret, on new rows of the world."""
    problem, log = log_of(response, values, seed)
    learner = DiscreteOutcomeLearner(CLASSIFIERS[classifier], {}, False, True, log, FEATURES, problem, 0)
    generator = np.random.default_rng(seed + 10**6)
    need, age = generator.uniform(size=NEW_ROWS), generator.normal(size=NEW_ROWS)
    model = learner.fit(np.arange(ROWS), {})
    found = model.predict(Contexts({"need": need, "age": age})).weights[:, 1]
    truth = np.stack([probability(response, need, age, amount) for amount in POINTS])
    costs = COST * POINTS[:, None] / 200
    utility, decisions = truth - costs, (found - costs).argmax(axis=0)
    regret = utility.max(axis=0) - utility[decisions, np.arange(NEW_ROWS)]
    return np.mean((found - truth) ** 2), regret.mean()


def differences(response, classifier):
    """Return figures of the grid less those of actions without values, and their errors, over paired seeds."""
    pairs = np.array([
        np.subtract(figures(response, classifier, True, seed), figures(response, classifier, False, seed))
        for seed in range(SEEDS)
    ])  # fmt: skip
    return pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / np.sqrt(SEEDS)


@pytest.mark.parametrize("response", ["saturating", "hump"])
def test_decisions_of_trees_that_read_the_value_miss_less(response):
    (_, regret), (_, error) = differences(response, "boosting")
    assert regret < -3 * error


def test_a_linear_model_that_reads_the_value_is_nearer_to_a_hump_and_shows_no_loss():
    (squared, regret), (squared_error, regret_error) = differences("hump", "logistic")
    assert squared < -2 * squared_error
    assert regret < 2 * regret_error


def test_where_nothing_follows_from_the_amount_a_linear_model_of_the_value_has_no_larger_error():
    (squared, _), (error, _) = differences("null", "logistic")
    assert squared < 2 * error
