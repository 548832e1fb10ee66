"""Preference sources: kinds of entries mix, an entry replaces what a set has, and each says what it is."""

from __future__ import annotations

import copy

import pytest
import yaml

from accordant.cases.files import read_case, read_case_file
from accordant.cases.lending.rewards import LendingReward
from accordant.cases.preference_sources import with_comparisons
from accordant.cases.spec import CaseSpec
from accordant.errors import SpecError
from accordant.rewards import ObservedReward, TableReward

ACTIONS, OUTCOMES = ("Grant", "Grant_lower", "Not_Grant"), ("Fully_Repaid", "Partially_Repaid", "Not_Repaid")
TABLE = {action: dict.fromkeys(OUTCOMES, 0.5) for action in ACTIONS}
CASE = {
    "name": "loans",
    "title": "Loans",
    "problem": {
        "stakeholders": ["Bank", "Applicant", "Regulatory"],
        "actions": list(ACTIONS),
        "outcomes": list(OUTCOMES),
    },
    "data": {"file": "loans.csv", "features": ["Income"]},
    "rewards": {"set": "lending"},
    "metrics": {"Mean": {"metric": "mean_reward", "weight": 1.0}},
}
LEARNED = {"signal": "comparisons", "file": "folder/answers.csv"}


def case_with(rewards):
    """The case with these rewards."""
    return CaseSpec(**(copy.deepcopy(CASE) | {"rewards": rewards}))


def test_an_entry_replaces_what_the_set_has_and_the_others_stay():
    sources = case_with({"set": "lending", "structure": "mild", "Applicant": LEARNED}).sources()
    assert list(sources) == ["Bank", "Applicant", "Regulatory"]
    assert sources["Bank"].signal == LendingReward(0.05, "Bank", "mild", "corrected")
    assert (sources["Bank"].kind, sources["Bank"].words) == ("set", "stated by the reward set 'lending'")
    assert sources["Bank"].replaces == ""
    assert (sources["Applicant"].kind, sources["Applicant"].noun) == ("comparisons", "the comparisons in answers.csv")
    assert sources["Applicant"].replaces == "the reward set 'lending'"


@pytest.mark.parametrize(("entry", "kind", "words"), [
    ({"table": TABLE}, "table", "stated in the case's table"),
    ({"table": {"1": TABLE, "0": TABLE}, "attribute": "Type"}, "table", "stated in the case's tables by Type"),
    ({"column": "said"}, "column", "recorded in the column 'said' of the data"),
    ({"set": "lending", "structure": "strictest"}, "set", "stated by the reward set 'lending'"),
])  # fmt: skip
def test_every_kind_of_entry_mixes_with_every_base(entry, kind, words):
    for base in ({"set": "lending"}, {"Bank": {"set": "lending"}, "Regulatory": {"column": "said"}}):
        sources = case_with(base | {"Applicant": entry}).sources()
        assert (sources["Applicant"].kind, sources["Applicant"].words) == (kind, words)
        assert sources["Applicant"].replaces == ("the reward set 'lending'" if "set" in base else "")
        assert isinstance(sources["Bank"].signal, LendingReward)


def test_signals_are_those_of_the_sources():
    signals = case_with({"set": "lending", "Bank": {"column": "said"}, "Applicant": {"table": TABLE}}).signals()
    assert signals["Bank"] == ObservedReward("said")
    assert isinstance(signals["Applicant"], TableReward)
    assert isinstance(signals["Regulatory"], LendingReward)


@pytest.mark.parametrize(("rewards", "message"), [
    ({"set": "lending", "Aplicant": LEARNED}, "unknown stakeholder in rewards: 'Aplicant'; did you mean 'Applicant'"),
    ({"set": "lending", "nose": 0.1}, "unknown parameter 'nose'; did you mean 'noise'"),
    ({"set": "lending", "Bank": {"tabel": TABLE}}, "unknown kind of reward for 'Bank': 'tabel'; did you mean 'table'"),
    ({"set": "lending", "Bank": {"set": "lendin"}}, "unknown reward set 'lendin'; did you mean 'lending'"),
    ({"set": "lending", "Bank": {"set": "tutoring"}}, "unknown stakeholder in the reward set 'tutoring': 'Bank'; valid: St"),
    ({"set": "lending", "Bank": {"table": {"Grant": {}}}}, "reward table of 'Bank' has no entry for action 'Grant_lower'"),
    ({"set": "lending", "Bank": 0.5}, "rewards of 'Bank' must be a table, a column, a registered signal or set"),
    ({"Bank": {"set": "lending"}, "Applicant": LEARNED}, "rewards of stakeholder 'Regulatory' are missing"),
])  # fmt: skip
def test_entries_that_cannot_be(rewards, message):
    with pytest.raises(SpecError) as raised:
        case_with(rewards)
    assert message in str(raised.value)


def test_a_wrong_entry_beside_a_set_is_refused_with_its_line(tmp_path):
    case = yaml.safe_dump(
        CASE | {"rewards": {"set": "lending", "Bank": {"column": "x", "kolumn": "y"}}}, sort_keys=False
    )
    (tmp_path / "loans.yaml").write_text(case)
    line = case[: case.index("  Bank:")].count("\n") + 1
    with pytest.raises(SpecError, match=f"loans.yaml, line {line}: unknown key in the rewards of 'Bank': 'kolumn'"):
        read_case_file(tmp_path / "loans.yaml")


def test_a_file_of_comparisons_replaces_the_file_of_another_one_and_little_else():
    kept = {"signal": "comparisons", "learner": "per_user", "users": "mean"}
    declared = {"Tutors": {**kept, "file": "old.csv", "only": ["ann"]}, "School": {"table": TABLE}}
    found = with_comparisons(declared, {"Tutors": "new.csv", "School": "said.csv"})
    assert found == {
        "Tutors": {**kept, "file": "new.csv"},
        "School": {"signal": "comparisons", "file": "said.csv"},
    }
    assert with_comparisons({"set": "lending", "noise": 0.0}, {"Bank": "new.csv"}) == {
        "set": "lending", "noise": 0.0, "Bank": {"signal": "comparisons", "file": "new.csv"},
    }  # fmt: skip


def test_a_case_with_replaced_entries_survives_its_record():
    case = read_case("lending")[0]
    changed = case.replace(rewards=with_comparisons(case.rewards, {"Applicant": "answers.csv"}))
    assert CaseSpec(**changed.model_dump(mode="json")).sources() == changed.sources()
