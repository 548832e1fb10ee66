"""Estimators by the names that case files write down."""

from __future__ import annotations

import sys
import threading

import pytest
from sklearn.ensemble import RandomForestClassifier

from accordant.errors import InputError, UnknownNameError
from accordant.learning.estimators import LEARNERS, UNNEEDED, build_estimator, build_learner, one_walk


def test_a_classifier_with_parameters_and_the_seed():
    found = build_estimator("classifier", "RandomForestClassifier", {"n_estimators": 7}, 3)
    assert isinstance(found, RandomForestClassifier)
    assert (found.n_estimators, found.random_state) == (7, 3)
    assert build_estimator("classifier", "RandomForestClassifier", {"random_state": 9}, 3).random_state == 9
    assert not hasattr(build_estimator("classifier", "KNeighborsClassifier", {}, 3), "random_state")


@pytest.mark.parametrize(
    ("kind", "name", "parameters", "message"),
    [
        ("classifier", "RandomForestRegressor", {}, "did you mean 'RandomForestClassifier'"),
        ("regressor", "Rigde", {}, "did you mean 'Ridge'"),
        ("regressor", "Ridge", {"alhpa": 1}, "did you mean 'alpha'"),
        ("classifier", "VotingClassifier", {}, "cannot be built"),
    ],
)
def test_estimators_that_do_not_exist(kind, name, parameters, message):
    with pytest.raises(InputError, match=message):
        build_estimator(kind, name, parameters, 0)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners(name):
    found = build_learner(name, None if name == "selected" else "Ridge", {}, 4)
    assert found.random_state == 4
    assert name == "selected" or type(found.base).__name__ == "Ridge"


def test_learner_with_nested_parameters():
    found = build_learner("x_learner", "GradientBoostingRegressor", {"base__max_depth": 5, "effect__max_depth": 2}, 1)
    assert (found.base.max_depth, found.effect.max_depth, found.base.random_state) == (5, 2, 1)
    assert found.base is not found.effect


def test_learners_that_do_not_exist():
    with pytest.raises(UnknownNameError, match="did you mean 'x_learner'"):
        build_learner("xlearner", None, {}, 0)
    with pytest.raises(InputError, match="did you mean 'range_share'"):
        build_learner("t_learner", None, {"range_shar": 1}, 0)


def test_one_thread_at_a_time_walks_through_all_modules():
    before = [name for name in UNNEEDED if name in sys.modules]
    built = []
    other = threading.Thread(target=lambda: built.append(build_estimator("classifier", "GaussianNB", {}, 3)))
    with one_walk():
        assert all(name in sys.modules for name in UNNEEDED)
        other.start()
        other.join(0.2)
        assert other.is_alive() and not built
    other.join()
    assert len(built) == 1
    assert [name for name in UNNEEDED if name in sys.modules] == before
