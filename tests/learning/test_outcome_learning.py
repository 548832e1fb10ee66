"""Outcome models as their learner makes them: bounds, levels, and what is said where nothing can be fitted."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.errors import InputError
from accordant.learning.causal import TLearner
from accordant.learning.effort import EffortLimits
from accordant.learning.outcome_learning import ContinuousOutcomeLearner
from accordant.problem import DecisionProblem


def learner(low=None, high=None, *, action_aware=True, actions=(0, 1)):
    """Return a learner on forty rows, whose outcomes are 2 and 6, and the rows."""
    limits = {name: value for name, value in (("low", low), ("high", high)) if value is not None}
    problem = DecisionProblem(stakeholders=["P"], actions=["A", "C"], outcomes={"name": "score"} | limits)
    codes = np.resize(actions, 40)
    log = Log(Contexts({"x": np.random.default_rng(0).normal(size=40)}), codes, np.where(codes == 0, 2.0, 6.0))
    made = ContinuousOutcomeLearner(
        TLearner("ridge"), {}, "empirical", 5, action_aware, log, ("x",), problem, 0, EffortLimits()
    )
    return made, np.arange(40)


@pytest.mark.parametrize("bounds", [(None, None), (0.0, None), (None, 9.0), (-1.0, 8.0)])
def test_an_end_that_is_not_declared_is_infinite(bounds):
    made, rows = learner(*bounds)
    [model] = made.candidates(rows, made.points)
    low, high = bounds
    assert model.bounds == (-np.inf if low is None else low, np.inf if high is None else high)


def test_the_loss_is_the_squared_error_of_the_level_of_the_logged_action():
    made, rows = learner()
    [apart] = made.candidates(rows, made.points)
    assert made.losses(apart, rows) == pytest.approx(np.zeros(len(rows)), abs=1e-9)
    together, _ = learner(action_aware=False)
    [mixed] = together.candidates(rows, together.points)
    levels = mixed.predict(together.log.contexts).levels()
    assert levels.shape == (2, 40)
    expected = [
        (levels[code, t] - y) ** 2 for t, (code, y) in enumerate(zip(made.log.actions, made.log.outcomes, strict=True))
    ]
    assert together.losses(mixed, rows) == pytest.approx(np.array(expected))
    assert np.mean(expected) > 3


def test_an_action_that_was_never_taken_is_named():
    made, rows = learner(actions=(0,))
    with pytest.raises(InputError, match="cannot be fitted: .*0 is 'A', 1 is 'C'"):
        made.candidates(rows, made.points)
