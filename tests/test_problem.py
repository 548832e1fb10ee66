"""The declared problem: what is accepted, what is refused, and with which words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from accordant.errors import DataError, InputError, SpecError, UnknownNameError
from accordant.problem import ContinuousOutcome, DecisionProblem, SensitiveAttribute, Stakeholder, value_label

DECLARED = {
    "stakeholders": ["Bank", {"name": "Applicant", "weight": 2}, Stakeholder(name="Regulator", role="providing")],
    "actions": ["Grant", "Grant lower", "Not grant"],
    "outcomes": ["Full", "Part", "None"],
    "favourable_actions": ["Grant", "Grant lower"],
    "favourable_outcomes": ["Full"],
    "outcome_to_action": {"Full": "Grant", "Part": "Grant lower", "None": "Not grant"},
    "status_quo": "Not grant",
    "sensitive_attributes": ["gender", {"name": "type", "labels": {1: "vulnerable", "0": "other"}}],
}


def declare(**changes):
    return DecisionProblem(**(DECLARED | changes))


def test_names_stand_for_declarations():
    problem = declare()
    assert problem.stakeholder_names == ("Bank", "Applicant", "Regulator")
    assert problem.stakeholders[0] == Stakeholder(name="Bank", role="affected", weight=1.0)
    np.testing.assert_array_equal(problem.weights, [1.0, 2.0, 1.0])
    assert problem.outcome_names == ("Full", "Part", "None")
    assert not problem.continuous
    assert problem.sensitive_attribute("gender") == SensitiveAttribute(name="gender")
    attribute = problem.sensitive_attribute("type")
    assert attribute.labels == {"1": "vulnerable", "0": "other"}


def test_codes_follow_the_declared_order():
    problem = declare()
    names = ["Not grant", "Grant", "Grant", "Grant lower"]
    for given in (names, np.array(names), np.array(names, dtype=object), pd.Series(names), pd.Categorical(names)):
        codes = problem.action_codes(given)
        assert codes.tolist() == [2, 0, 0, 1]
        assert codes.dtype == np.intp
    assert problem.outcome_codes(["None", "Full"]).tolist() == [2, 0]
    assert problem.action_of_outcome().tolist() == [0, 1, 2]
    assert problem.action_codes([]).shape == (0,)


@pytest.mark.parametrize("names", [["Grant", "grant", "Deny"], ["Grant", None, "Grant"], ["Grant", np.nan, "x"]])
def test_codes_name_the_row(names):
    with pytest.raises(UnknownNameError, match="unknown action in row [12]:"):
        declare().action_codes(names)


@pytest.mark.parametrize(("changes", "message"), [
    ({"actions": ["Grant", "Grant"]}, "DecisionProblem: action 'Grant' is declared 2 times"),
    ({"stakeholders": ["Bank", "Bank"]}, "stakeholder 'Bank' is declared 2 times"),
    ({"outcomes": ["Full", "Full"]}, "outcome 'Full' is declared 2 times"),
    ({"sensitive_attributes": ["a", "a"]}, "sensitive attribute 'a' is declared 2 times"),
    ({"status_quo": "Not Grant"}, "unknown action 'Not Grant'; did you mean 'Not grant'"),
    ({"favourable_actions": ["Grnat"]}, "unknown action 'Grnat'; did you mean 'Grant'"),
    ({"favourable_outcomes": ["full"]}, "unknown outcome 'full'; did you mean 'Full'"),
    ({"outcome_to_action": {"Full": "Grant", "Part": "Grant"}}, "no action for outcome 'None'"),
    ({"outcome_to_action": {}}, "no action for outcome 'Full'"),
    ({"outcome_to_action": {"Fulll": "Grant"}}, "unknown outcome 'Fulll'; did you mean 'Full'"),
    ({"outcome_to_action": {"Full": "Deny"}}, "unknown action 'Deny'"),
    ({"stakeholders": [{"name": "Bank", "weight": 0}]}, "weights sum to 0"),
    ({"stakeholders": [{"name": "Bank", "weight": -1}]}, "weight: Input should be greater than or equal to 0"),
    ({"stakeholders": [{"name": "Bank", "weight": float("nan")}]}, "weight: Input should be"),
    ({"stakeholders": [{"name": "Bank", "wieght": 1}]}, "unknown key 'wieght'; did you mean 'weight'"),
    ({"stakeholders": [{"name": "Bank", "role": "owner"}]}, "role: Input should be 'affected', 'deciding' or 'providing'"),
    ({"stakeholders": []}, "stakeholders: Tuple should have at least 1 item"),
    ({"stakeholders": [""]}, "name: String should have at least 1 character"),
    ({"stakeholders": "Bank"}, "stakeholders: expected a list, found 'Bank'"),
    ({"stakeholders": {"Bank": {"weight": 2}}}, "stakeholders: expected a list, found {'Bank'"),
    ({"stakeholders": 3}, "stakeholders: expected a list, found 3"),
    ({"actions": "Grant"}, "actions: expected a list, found 'Grant'"),
    ({"actions": []}, "actions: Tuple should have at least 1 item"),
    ({"actions": {"Grant", "Deny"}}, "actions: expected a list, found {"),
    ({"outcomes": frozenset({"Full"})}, "outcomes: expected a list, found frozenset"),
    ({"outcomes": {"nam": "score"}}, "outcomes: unknown key 'nam'; did you mean 'name'"),
    ({"outcomes": {"low": 2, "high": 1}}, "low 2.0 is not below high 1.0"),
    ({"outcomes": {"low": float("nan")}}, "low: Input should be a finite number"),
    ({"stakholders": ["Bank"]}, "unknown key 'stakholders'; did you mean 'stakeholders'"),
    ({"outcome_depends_on_action": "perhaps"}, "outcome_depends_on_action"),
])  # fmt: skip
def test_wrong_declarations(changes, message):
    with pytest.raises(SpecError) as caught:
        declare(**changes)
    assert message in str(caught.value)


def test_a_misspelt_key_comes_before_the_missing_one():
    with pytest.raises(SpecError, match="DecisionProblem: unknown key 'stakholders'; did you mean 'stakeholders'"):
        DecisionProblem(stakholders=["Bank"], actions=["a"], outcomes=["o"])


def test_order_of_lists_is_kept():
    for actions in (["b", "a"], ("b", "a"), iter(["b", "a"]), np.array(["b", "a"]), pd.Index(["b", "a"])):
        assert DecisionProblem(stakeholders=["s"], actions=actions, outcomes=["o"]).actions == ("b", "a")


def test_continuous_outcome():
    problem = DecisionProblem(
        stakeholders=["Parent"], actions=["A", "C"], outcomes={"name": "score", "low": 0, "high": 10}
    )
    assert problem.continuous
    assert problem.outcomes == ContinuousOutcome(name="score", low=0, high=10)
    assert problem.outcome_names == ()
    assert problem.action_of_outcome() is None
    np.testing.assert_array_equal(problem.outcome_values(["1.5", 2]), [1.5, 2.0])
    with pytest.raises(SpecError, match="unknown outcome 'x'; valid: none declared"):
        problem.replace(favourable_outcomes=["x"])


@pytest.mark.parametrize(("values", "message"), [
    ([1.0, np.nan], "outcome in row 1 is nan; allowed: finite"),
    ([np.inf], "outcome in row 0 is inf"),
    ([3.0, 11.0], r"outcome in row 1 is 11.0; allowed: finite, within \[0.0, 10.0\]"),
    ([-0.1], "outcome in row 0 is -0.1"),
    (["high"], "outcomes must be numbers; found"),
    ([[1.0], [2.0]], "one dimension"),
])  # fmt: skip
def test_wrong_continuous_outcomes(values, message):
    problem = DecisionProblem(stakeholders=["s"], actions=["a"], outcomes={"low": 0, "high": 10})
    with pytest.raises(DataError, match=message):
        problem.outcome_values(values)


def test_outcome_values_of_a_discrete_problem():
    with pytest.raises(InputError, match="discrete outcomes"):
        declare().outcome_values([1.0])


def test_replace_validates():
    problem = declare()
    assert problem.replace() == problem
    assert problem.replace(status_quo=None).status_quo is None
    with pytest.raises(SpecError, match="did you mean 'Grant'"):
        problem.replace(status_quo="grant")


def test_unknown_sensitive_attribute():
    with pytest.raises(UnknownNameError, match="did you mean 'gender'"):
        declare().sensitive_attribute("gendre")


@pytest.mark.parametrize(("value", "label"), [
    (1, "1"), (1.0, "1"), (True, "1"), (np.int64(1), "1"), (np.float32(1), "1"), (np.bool_(True), "1"), ("1", "1"),
    (0, "0"), (-0.0, "0"), (False, "0"), (0.5, "0.5"), ("young", "young"), (np.str_("young"), "young"),
    (float("nan"), "nan"), (float("inf"), "inf"),
])  # fmt: skip
def test_value_labels(value, label):
    assert value_label(value) == label
