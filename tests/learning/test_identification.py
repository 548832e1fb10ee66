"""What a log can say about f(o | x, a)."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.errors import InputError
from accordant.learning.diagnostics import FEW, ProxyCheck, identify, proxy_checks
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


def test_an_attribute_is_recognised_from_its_copy_and_not_from_noise():
    generator = np.random.default_rng(0)
    sex, noise = generator.integers(0, 2, 90), generator.random(90)
    names = np.array(["f", "m"])[sex]
    columns = {"sex": names, "three": generator.choice(["a", "b", "c"], 90), "copy": sex.astype(float), "noise": noise}
    problem = DecisionProblem(
        stakeholders=["s"],
        actions=["Grant", "Deny"],
        outcomes=["yes", "no"],
        sensitive_attributes=["sex", "three"],
    )
    log = Log(Contexts(columns), generator.integers(0, 2, 90), generator.integers(0, 2, 90))
    sex_check, three_check = proxy_checks(problem, log, ("copy", "noise"), 0)
    assert (sex_check.chance, three_check.chance) == (1 / 2, pytest.approx(1 / 3))
    assert sex_check.balanced_accuracy == 1.0 and not sex_check.is_feature
    assert abs(three_check.balanced_accuracy - 1 / 3) < 0.25


@pytest.mark.parametrize(
    ("sex", "features"), [(["f"] * 30, ("noise",)), (["f", "m"] * 15, ()), (["f", "m"] * 15, ("sex",))]
)
def test_an_attribute_that_does_not_vary_or_stands_alone_is_not_recognised(sex, features):
    problem = DecisionProblem(
        stakeholders=["s"], actions=["Grant", "Deny"], outcomes=["yes", "no"], sensitive_attributes=["sex"]
    )
    columns = {"sex": np.array(sex), "noise": np.random.default_rng(0).random(30)}
    (check,) = proxy_checks(problem, Log(Contexts(columns), np.arange(30) % 2, np.zeros(30, dtype=int)), features, 0)
    assert check.balanced_accuracy is None and check.chance == 1 / len(set(sex)) and check.warning() is None
    assert check.is_feature == ("sex" in features)


@pytest.mark.parametrize(
    ("accuracy", "is_feature", "said"), [(0.91, False, True), (0.55, False, False), (0.91, True, False)]
)
def test_an_attribute_that_is_left_out_in_name_only_is_told(accuracy, is_feature, said):
    warning = ProxyCheck("sex", is_feature, accuracy, 0.5).warning()
    assert (warning is not None) == said
    assert (
        not said or "'sex' is no feature, but the features tell it with balanced accuracy 0.91 (chance 0.50)" in warning
    )
