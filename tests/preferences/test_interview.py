"""Interviews about a case: what is at stake, what is asked, which records answers make, and the file they go to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from accordant.cases.files import read_case
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.learned_rewards.answer_file import COLUMNS, AnswerFile, Cell, Preferred, as_csv
from accordant.preferences.interview import InterviewOptions, begin_interview, cell_prior, cells_of

CASE = """
name: ward
title: Who gets a bed
problem:
  stakeholders: [Patient, Ward]
  actions: [Admit, Wait]
  outcomes: [Well, Unwell]
  sensitive_attributes: [sex]
data: {file: ward.csv, features: [age]}
rewards:
  Patient: {table: {Admit: {Well: 0.8, Unwell: 0.6}, Wait: {Well: 1.0, Unwell: 0.0}}}
  Ward: {table: {Admit: {Well: 0.1, Unwell: 0.7}, Wait: {Well: 0.9, Unwell: 0.3}}}
metrics: {Worst_Off: {metric: min_reward, weight: 1.0}}
"""
TABLE = {"Admit": {"Well": 2.0, "Unwell": 1.0}, "Wait": {"Well": 3.0, "Unwell": -4.0}}


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch, tmp_path):
    """Neither a data folder nor a cache of this machine."""
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def case(tmp_path):
    (tmp_path / "ward.yaml").write_text(CASE, encoding="utf-8")
    return tmp_path / "ward.yaml"


def write_data(case, admitted=(30, 10), waiting=(20, 60)):
    rows = [("Admit", "Well")] * admitted[0] + [("Admit", "Unwell")] * admitted[1]
    rows += [("Wait", "Well")] * waiting[0] + [("Wait", "Unwell")] * waiting[1]
    frame = pd.DataFrame(rows, columns=["Action", "Outcome"]).assign(age=50, sex="f")
    frame.to_csv(case.parent / "ward.csv", index=False)


def held(interview):
    """Answer every question by the table, without doubt."""
    while (cells := interview.question) is not None:
        first, second = (TABLE[cell.action][cell.outcome] for cell in cells)
        interview.answer("first" if first > second else "second")
    return interview


def test_with_data_the_best_action_by_its_own_outcome_frequencies_is_at_stake(case):
    write_data(case)
    interview, file = begin_interview(case, "Patient", InterviewOptions(level=0.8))
    overall = np.array([50, 70]) / 120
    expected = [*(np.array([30, 10]) + overall) / 41, 0, 0]
    assert interview.at_stake.kind == "action"
    assert interview.at_stake.names == ("Admit", "Wait")
    assert interview.at_stake.cells[0] == pytest.approx(expected)
    assert interview.at_stake.cells.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert "ward.csv" in interview.at_stake.basis
    assert file is None
    found = held(interview).to_json()
    # by the table and these frequencies: Admit 1.75, Wait -2.2
    assert found["decision"]["best"] == "Admit"
    assert found["stopped"] == "settled" and found["decision"]["probability"] >= 0.8
    assert found["questions"] == len(found["records"]) >= 1


def test_an_action_that_was_never_taken_shares_the_frequencies_of_all_rows(case):
    write_data(case, waiting=(0, 0))
    interview, _ = begin_interview(case, "Patient", InterviewOptions())
    assert interview.at_stake.cells.tolist() == [[0.75, 0.25, 0, 0], [0, 0, 0.75, 0.25]]
    assert "the same for every action" in interview.at_stake.basis


def test_without_data_the_best_cell_is_at_stake(case):
    interview, _ = begin_interview(case, "Patient", InterviewOptions())
    assert interview.at_stake.kind == "action and outcome"
    assert interview.at_stake.names == (
        "Admit, then Well",
        "Admit, then Unwell",
        "Wait, then Well",
        "Wait, then Unwell",
    )
    found = held(interview).to_json()
    assert found["questions"] <= 6  # all pairs of four cells
    assert found["decision"]["best"] == "Wait, then Well"
    assert found["decision"]["chances"].keys() == set(interview.at_stake.names)


def test_a_level_of_one_asks_on_when_little_is_to_be_lost(case):
    write_data(case)
    sure, all_ = (begin_interview(case, "Ward", InterviewOptions(level=level))[0] for level in (0.7, 1.0))
    assert sure.session.inquiry.stopping.regret > all_.session.inquiry.stopping.regret == 0
    assert held(sure).to_json()["questions"] < held(all_).to_json()["questions"] == 6  # all pairs of four cells
    assert all_.session.stopped == "asked enough"


def test_what_answers_become(case):
    interview, _ = begin_interview(case, "Ward", InterviewOptions(seed=1, level=1.0))
    made = []
    for answer in ("first", "second", "equal", "cannot say"):
        first, second = interview.question
        rows = {"first": [(first, second)], "second": [(second, first)]}
        rows |= {"equal": rows["first"] + rows["second"], "cannot say": []}
        made.append(interview.answer(answer) == [Preferred(*pair) for pair in rows[answer]])
    assert all(made)
    interview.session.stop()
    found = interview.to_json()
    assert (found["questions"], found["equal"], found["cannot_say"], found["stopped"]) == (
        4, 1, 1, "stopped by the person"
    )  # fmt: skip
    assert len(found["records"]) == 4
    assert tuple(found["records"][0]) == COLUMNS
    assert {record["user_id"] for record in found["records"]} == {"Ward"}
    assert [(cell["action"], cell["outcome"]) for cell in found["rewards"]] == [
        (cell.action, cell.outcome) for cell in cells_of(interview.case)
    ]


@pytest.mark.long
def test_the_same_seed_asks_the_same(case):
    found = [held(begin_interview(case, "Ward", InterviewOptions(seed=seed))[0]).to_json() for seed in (3, 3, 4)]
    assert found[0] == found[1] != found[2]


def test_answers_from_before_count_and_are_not_asked_again(case, tmp_path):
    out = tmp_path / "answers.csv"
    first, file = begin_interview(case, "Ward", InterviewOptions(level=1.0, questions=2), out)
    while first.question is not None:
        file.add([each.row("Ward", {}) for each in first.answer("first")])
    again, _ = begin_interview(case, "Ward", InterviewOptions(level=1.0), out)
    assert again.earlier == first.records
    assert again.session.belief.mean == pytest.approx(first.session.belief.mean)
    asked = {frozenset((each.chosen, each.rejected)) for each in first.records}
    while again.question is not None:
        assert frozenset(again.question) not in asked
        asked.add(frozenset(again.question))
        again.answer("cannot say")
    assert begin_interview(case, "Patient", InterviewOptions(), out)[0].earlier == []


def test_a_context_has_columns_of_its_own_and_records_of_its_own(case, tmp_path):
    out, options = tmp_path / "answers.csv", InterviewOptions(context={"age": "70", "sex": "f"})
    interview, file = begin_interview(case, "Ward", options, out)
    file.add([each.row("Ward", interview.context) for each in interview.answer("first")])
    table = pd.read_csv(out)
    assert table.columns.tolist() == [*COLUMNS, "age", "sex"]
    assert table[["age", "sex"]].to_numpy().tolist() == [[70, "f"]]
    for context, count in (({"age": "70.0", "sex": "f"}, 1), ({"age": "71", "sex": "f"}, 0)):
        assert len(begin_interview(case, "Ward", InterviewOptions(context=context), out)[0].earlier) == count


def test_the_prior_of_cells_ties_those_that_share_something():
    covariance = cell_prior(2, 3).covariance / 9.0
    assert covariance[0].tolist() == [3, 1, 1, 1, 0, 0]
    assert np.linalg.eigvalsh(covariance).min() > 0.99


def test_many_cells_are_asked_about_from_a_draw_of_pairs(case):
    names = ", ".join(f"o{k}" for k in range(40))
    text = CASE.replace("[Well, Unwell]", f"[{names}]").replace("[Admit, Wait]", "[Admit, Wait]")
    row = "{" + ", ".join(f"o{k}: 0.5" for k in range(40)) + "}"
    text = text.split("rewards:")[0] + f"rewards:\n  Patient: {{table: {{Admit: {row}, Wait: {row}}}}}\n"
    text += f"  Ward: {{table: {{Admit: {row}, Wait: {row}}}}}\nmetrics: {{W: {{metric: min_reward, weight: 1.0}}}}\n"
    case.write_text(text, encoding="utf-8")
    interview, _ = begin_interview(case, "Ward", InterviewOptions())
    assert len(interview.session.inquiry.pairs) == 2000
    assert interview.question is not None


@pytest.mark.parametrize(
    ("name", "stakeholder", "options", "error", "message"),
    [
        ("ward", "Wrad", {}, UnknownNameError, "unknown stakeholder 'Wrad'; did you mean 'Ward'"),
        (
            "ward",
            "Ward",
            {"context": {"aeg": "1"}},
            UnknownNameError,
            "unknown context feature 'aeg'; did you mean 'age'",
        ),
        ("ward", "Ward", {"context": {"age": "old"}}, InputError, "'age' is 'old'; allowed: a finite number"),
        ("ward", "Ward", {"context": {"age": "nan"}}, InputError, "allowed: a finite number"),
        ("ward", "Ward", {"level": 0.0}, InputError, "level is 0.0"),
        ("ward", "Ward", {"data": "nowhere"}, InputError, "not found at nowhere"),
        ("health", "Parent", {}, InputError, "continuous outcome"),
    ],
)
def test_what_is_refused(case, name, stakeholder, options, error, message):
    with pytest.raises(error, match=message):
        begin_interview(case if name == "ward" else name, stakeholder, InterviewOptions(**options))


HEADER = ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "has the columns a, b; allowed: user_id"),
        (f"{HEADER},age\n", "allowed: user_id"),
        (f"{HEADER}\nWard,Admit,Well\n", "record 1 has 3 values; allowed: 5"),
        (
            f"{HEADER}\nWard,Admit,Well,Wait,Wel\n",
            "record 1: unknown action and outcome 'Wait, then Wel'; did you mean",
        ),
        (f"{HEADER}\nPatient,x,y,z,u\nWard,Admit,Well,Admit,Well\n", "record 2 compares Admit, then Well with itself"),
    ],
)
def test_files_that_are_refused(case, tmp_path, text, message):
    out = tmp_path / "answers.csv"
    out.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        begin_interview(case, "Ward", InterviewOptions(), out)
    assert out.read_text(encoding="utf-8") == text


def test_places_that_cannot_be_written_are_refused_before_the_interview(case, tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        begin_interview(case, "Ward", InterviewOptions(), tmp_path / "no" / "answers.csv")
    with pytest.raises(InputError, match="is a folder"):
        begin_interview(case, "Ward", InterviewOptions(), tmp_path)


def test_a_last_line_that_may_be_torn_is_refused(tmp_path):
    path = tmp_path / "answers.csv"
    text = f"{HEADER}\nWard,Admit,Well,Wait,Well\nWard,Admit,Well,Wait,Un"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="line 3 has no end and may be torn"):
        AnswerFile(path)
    assert path.read_text(encoding="utf-8") == text


def test_names_with_commas(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(f"\ufeff{HEADER}\nWard,Admit,Well,Wait,Well\n", encoding="utf-8")
    odd = Preferred(Cell('Admit, "now"', "Well"), Cell("Wait", "Well"))
    AnswerFile(path).add([odd.row("Ward", {})])
    cells = [Cell("Admit", "Well"), odd.chosen, odd.rejected]
    assert AnswerFile(path).earlier("Ward", {}, cells) == [Preferred(cells[0], cells[2]), odd]
    assert as_csv([odd.row("Ward", {})]) == f'{HEADER}\nWard,"Admit, ""now""",Well,Wait,Well\n'


def test_every_built_in_case_with_named_outcomes_can_be_asked_about():
    interview, _ = begin_interview("lending", "Applicant", InterviewOptions())
    assert len(interview.cells) == 9 == len(interview.to_json()["rewards"])
    assert interview.question is not None
    assert read_case("lending")[0].problem.actions == interview.at_stake.names


def test_a_file_that_somebody_edited(case, tmp_path):
    """Spaces after commas, and a column of weights: 0 leaves a record out, new records weigh 1."""
    out = tmp_path / "answers.csv"
    spaced = HEADER.replace(",", ", ")
    out.write_text(
        f"{spaced}, weight\nWard, Admit, Well, Wait, Well, 2\n \nWard, Wait, Unwell, Wait, Well, 0\n", encoding="utf-8"
    )
    interview, file = begin_interview(case, "Ward", InterviewOptions(level=1.0), out)
    assert interview.earlier == [Preferred(Cell("Admit", "Well"), Cell("Wait", "Well"))]
    file.add([each.row("Ward", {}) for each in interview.answer("first")])
    assert out.read_text(encoding="utf-8").splitlines()[-1].endswith(",1")
    assert len(begin_interview(case, "Ward", InterviewOptions(), out)[0].earlier) == 2


def test_nothing_but_a_byte_order_mark_is_an_empty_file(case, tmp_path):
    out = tmp_path / "answers.csv"
    out.write_bytes(b"\xef\xbb\xbf")
    assert begin_interview(case, "Ward", InterviewOptions(), out)[0].earlier == []
    assert out.read_text(encoding="utf-8") == HEADER + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\n{'x' * 200_000},a,b,c,d\n", "cannot be read as CSV: field larger than"),
        ("\n", "has the columns none"),
        (f"{HEADER},weight\nWard,Admit,Well,Wait,Well,much\n", "record 1 has weight 'much'; allowed: at least 0"),
        (f"{HEADER},weight\nWard,Admit,Well,Wait,Well,-1\n", "record 1 has weight '-1'"),
        (f"{HEADER},weight,weight\n", "and weight"),
    ],
)
def test_more_files_that_are_refused(case, tmp_path, text, message):
    out = tmp_path / "answers.csv"
    out.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        begin_interview(case, "Ward", InterviewOptions(), out)


def test_compressed_files_are_refused_by_name(case, tmp_path):
    with pytest.raises(InputError, match=r"found answers.csv.gz; allowed: a .csv file"):
        begin_interview(case, "Ward", InterviewOptions(), tmp_path / "answers.csv.gz")
    assert not (tmp_path / "answers.csv.gz").exists()
