"""What the columns of a table seem to be, and the case that is written from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.cases.proposal import Proposal, Told, propose
from accordant.cases.proposal_text import Statement, case_text
from accordant.cases.proposed_rewards import favourable_actions, guessed_rewards, outcomes_best_first
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError

ROWS = 120


def table(**more) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    outcome = np.where(generator.random(ROWS) < 0.6, "finished", "left")
    columns = {
        "student_id": np.arange(ROWS),
        "decision": np.where(generator.random(ROWS) < 0.3, "Grant", "Refuse"),
        "income": np.round(generator.normal(1000, 100, ROWS), 2),
        "district": generator.choice(["north", "south"], ROWS),
        "gender": generator.choice(["f", "m"], ROWS),
        "age": generator.integers(18, 70, ROWS),
        "result": outcome,
        "diploma": np.where(outcome == "finished", "yes", "no"),
        "country": "PT",
    }
    return pd.DataFrame(columns | more)


def roles(proposal: Proposal) -> dict[str, str]:
    return {column.name: column.role for column in proposal.columns}


def test_columns_are_taken_for_what_they_are():
    assert roles(propose(table(), Told())) == {
        "student_id": "left out", "decision": "action", "income": "feature", "district": "feature",
        "gender": "sensitive", "age": "left out", "result": "outcome", "diploma": "left out", "country": "left out",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "words"), [
    ("student_id", "names the row"),
    ("age", "sensitive by its name, with .* values"),
    ("diploma", "names the outcome in 100.0% of the rows; was it known before the decision"),
    ("country", "the same in every row"),
])  # fmt: skip
def test_what_is_left_out_says_why(name, words):
    (column,) = [each for each in propose(table(), Told()).columns if each.name == name]
    assert pd.Series([column.why]).str.contains(words).all()


def test_what_somebody_said_goes_before_guesses():
    proposal = propose(table(), Told("district", "income", ("decision",)))
    found = roles(proposal)
    assert (found["district"], found["income"], found["decision"]) == ("action", "outcome", "sensitive")
    assert found["gender"] == "feature", "with sensitive columns named, names are no reason any more"
    assert proposal.bounds == (table()["income"].min(), table()["income"].max())


def test_a_number_that_is_nearly_the_outcome_is_left_out():
    frame = table()
    frame["points"] = frame["income"] * 2 + 1
    (column,) = [each for each in propose(frame, Told(outcome="income")).columns if each.name == "points"]
    assert column.role == "left out"
    assert "correlation with the outcome is 1.000" in column.why


def test_persons_and_times_are_recognised():
    frame = table(patient=np.arange(ROWS) // 2, date=pd.date_range("2020-01-01", periods=ROWS).astype(str))
    found = roles(propose(frame, Told()))
    assert (found["patient"], found["date"]) == ("person", "time")


def test_a_column_of_numbers_with_a_typo_is_left_out_with_the_cell():
    cells = [str(value) for value in range(ROWS)]
    cells[7] = "abc"
    (column,) = [each for each in propose(table(points=cells), Told()).columns if each.name == "points"]
    assert column.role == "left out"
    assert "abc" in column.why


@pytest.mark.parametrize(("told", "message"), [
    (Told(action="decisions"), "did you mean it by 'decision'"),
    (Told(action="income"), "'income' has 120 different values; allowed for an action: at most 12"),
    (Told(outcome="country"), "'country' has 1 different value; allowed for an outcome: at most 12, or numbers"),
    (Told(action="result", outcome="result"), "'result' is named twice"),
    (Told(sensitive=("income",)), "'income' has 120 values; allowed for a sensitive attribute: 2 to 12"),
])  # fmt: skip
def test_wrong_columns_are_refused(told, message):
    with pytest.raises(InputError, match=message):
        propose(table(), told)


def test_a_table_without_an_action_says_which_columns_could_be_one():
    with pytest.raises(InputError, match=r"--action COLUMN \(columns with few values: .*district"):
        propose(table().drop(columns="decision"), Told())


@pytest.mark.few(4)
@pytest.mark.parametrize("frame", [
    table(),
    table(decision=np.where(np.arange(ROWS) % 2, "Grant: a, {lot}", "#no")),
    table(result=np.round(np.linspace(0, 20, ROWS), 2)),
    table(**{"a, b": np.arange(ROWS) % 50 / 7.0, "yes": ["x", "y"] * (ROWS // 2), "sex: [1]": ["1", "2"] * (ROWS // 2)}),
], ids=["plain", "strange actions", "numbers", "strange columns"])  # fmt: skip
@pytest.mark.parametrize("said", [False, True])
def test_the_case_is_valid_as_it_is(frame, said):
    proposal = propose(frame, Told())
    actions = tuple(proposal.action.values)
    statement = Statement("first", "first.csv", favourable=actions[:1], scarce={actions[0]: 0.25}) if said else None
    text = case_text(proposal, statement or Statement("first", "first.csv", ("A, B", "null")))
    case = CaseSpec(**yaml.safe_load(text))
    assert case.problem.actions == actions
    assert set(case.data.features) == {each.name for each in proposal.of("feature")}
    assert case.problem.favourable_actions == (actions[:1] if said else ())
    limited = [each for each in case.strategies if each.name == "constrained"]
    assert len(limited) == (2 if said else 0)
    assert case.problem.continuous == (proposal.bounds is not None)
    assert any(metric.weight == 0.5 for metric in case.metrics.values())


def test_features_that_somebody_named_are_all_there_is():
    found = roles(propose(table(), Told(features=("income", "diploma"))))
    assert [name for name, role in found.items() if role == "feature"] == ["income", "diploma"]
    with pytest.raises(InputError, match="cannot be a feature"):
        propose(table(points=["1"] * (ROWS - 1) + ["abc"]), Told(features=("points",)))


def decided(action=("Grant", "Refuse"), outcome=("finished", "left"), name="result"):
    frame = pd.DataFrame({"decision": np.resize(action, ROWS), name: np.resize(outcome, ROWS), "x": np.arange(ROWS)})
    return propose(frame, Told("decision", name))


@pytest.mark.parametrize(("actions", "expected"), [
    (("Grant", "Refuse"), ("Grant",)), (("no grant", "grant"), ("grant",)), (("0", "1"), ("1",)),
    (("Wait", "Operate"), ("Operate",)), (("A", "B"), ()), (("Trial", "Offer", "Reject"), ("Trial", "Offer")),
])  # fmt: skip
def test_favourable_actions_are_guessed_by_their_names(actions, expected):
    assert set(favourable_actions(decided(action=actions)).names) == set(expected)


@pytest.mark.parametrize(("outcomes", "name", "expected"), [
    (("left", "finished"), "result", ("finished", "left")), (("Dropout", "Graduate"), "target", ("Graduate", "Dropout")),
    (("not_repaid", "repaid"), "status", ("repaid", "not_repaid")), (("0", "1"), "success", ("1", "0")),
    (("0", "1"), "default", ("0", "1")), (tuple(map(str, range(40))), "score", ("39", "0")),
    (tuple(map(str, range(40))), "error", ("0", "39")),
])  # fmt: skip
def test_the_order_of_outcomes_is_guessed(outcomes, name, expected):
    assert outcomes_best_first(decided(outcome=outcomes, name=name)).names == expected


@pytest.mark.parametrize("deciding", [False, True])
@pytest.mark.parametrize("favourable", [(), ("a",), ("a", "b")])
def test_guessed_rewards_follow_their_formula(deciding, favourable):
    found = guessed_rewards(("a", "b"), ("best", "middle", "worst"), favourable, deciding=deciding)
    for action, row in found.items():
        for goodness, value in zip((1, 0.5, 0), row.values(), strict=True):
            good = action in favourable
            by_hand = 0.3 * (not good) + 0.7 * goodness if deciding else 0.2 * good + 0.8 * goodness
            assert value == pytest.approx(by_hand if favourable else goodness) and 0 <= value <= 1
