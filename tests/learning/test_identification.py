"""What a log can say about f(o | x, a)."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.errors import InputError
from accordant.learning.diagnostics import FEW, identify
from accordant.problem import DecisionProblem


def found(actions, *, declared="auto", names=("Grant", "Lower", "Deny")):
    problem = DecisionProblem(
        stakeholders=["s"], actions=names, outcomes=["yes", "no"], outcome_depends_on_action=declared
    )
    codes = np.asarray(actions)
    log = Log(Contexts({"x": np.zeros(len(codes))}), codes, np.arange(len(codes)) % 2)
    return identify(log, problem)


def test_one_logged_action():
    result = found([0] * 40)
    assert not result.action_aware and result.counts == (40, 0, 0)
    (warning,) = result.warnings
    assert "only 'Grant' was ever taken" in warning and "cannot test" in warning


def test_several_logged_actions():
    result = found([0] * 40 + [1] * 30 + [2] * FEW)
    assert result.action_aware and result.warnings == ()


def test_few_rows_of_an_action_are_counted_aloud():
    result = found([0] * 40 + [1] * (FEW - 1))
    assert result.action_aware
    assert [line for line in result.warnings if f"'Lower' was taken in {FEW - 1}" in line]
    assert [line for line in result.warnings if "'Deny' was taken in 0" in line]


def test_declared_false_is_an_assumption_that_is_said():
    result = found([0, 1] * 40, declared=False)
    assert not result.action_aware
    assert "the problem declares so" in result.warnings[0]


def test_declared_true_with_one_action_is_an_error():
    with pytest.raises(InputError, match="only the action 'Lower'.*not identified"):
        found([1] * 40, declared=True)


def test_declared_true_with_several():
    assert found([0, 1] * 40, declared=True).action_aware


def test_a_problem_with_a_single_action_assumes_nothing():
    for declared in ("auto", True, False):
        result = found([0] * 40, declared=declared, names=("Grant",))
        assert not [line for line in result.warnings if "assumed" in line]
