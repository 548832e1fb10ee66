"""Files of comparisons of cells: what is read, and errors that name file, line and the nearest name."""

from __future__ import annotations

import gzip
import hashlib
import json

import numpy as np
import pytest

from accordant.errors import DataError
from accordant.preferences.learned_rewards import read_answers

ROWS = [
    ("ann", "Offer", "Done", "Trial", "Done"),
    ("bob", "Trial", "Left", "Decline", "Done"),
    ("ann", "Decline", "Done", "Offer", "Left"),
]
COLUMNS = ("user_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome")


def test_csv_is_read(tmp_path, problem, write_rows):
    path = write_rows(
        tmp_path / "answers.csv", [(*row, k, "note") for k, row in enumerate(ROWS)], (*COLUMNS, "income", "why")
    )
    answers = read_answers(path, problem, context=["income"])
    assert len(answers) == 3 and answers.source == "answers.csv"
    assert answers.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    np.testing.assert_array_equal(answers.actions, [[0, 1, 2], [1, 2, 0]])
    np.testing.assert_array_equal(answers.outcomes, [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(answers.contexts, [[0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(answers.users, [0, 1, 0])
    assert answers.user_names == ("ann", "bob") and answers.groups is None and answers.weights is None
    assert answers.unused == ("why",)


@pytest.mark.parametrize("packed", [False, True])
def test_json_lines_say_the_same_as_csv(tmp_path, problem, write_rows, packed):
    columns = (*COLUMNS, "group_id", "weight", "income")
    rows = [
        (*row, "g" + row[0], weight, income)
        for row, weight, income in zip(ROWS, (1, 0.5, 2), (3, "", 5.5), strict=True)
    ]
    table = read_answers(write_rows(tmp_path / "a.csv", rows, columns), problem, context=["income"])
    objects = [dict(zip(columns, row, strict=True)) for row in rows]
    del objects[1]["income"]  # nobody said
    text = "\n".join(map(json.dumps, objects)).encode()
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    path.write_bytes(gzip.compress(text) if packed else text)
    lines = read_answers(path, problem, context=["income"])
    for name in ("actions", "outcomes", "contexts", "users", "weights"):
        np.testing.assert_array_equal(getattr(lines, name), getattr(table, name))
    assert lines.groups == table.groups == ("gann", "gbob")
    assert np.isnan(lines.contexts[1, 0])


def test_without_users_everybody_is_one(tmp_path, problem, write_rows):
    answers = read_answers(write_rows(tmp_path / "a.csv", [row[1:] for row in ROWS], COLUMNS[1:]), problem)
    assert answers.user_names == ("anybody",) and answers.contexts.shape == (3, 0)
    np.testing.assert_array_equal(answers.users, [0, 0, 0])


def test_only_some_users_count(tmp_path, problem, write_rows):
    path = write_rows(tmp_path / "a.csv", ROWS)
    answers = read_answers(path, problem, only=["ann"])
    assert answers.user_names == ("ann",)
    np.testing.assert_array_equal(answers.actions, [[0, 2], [1, 0]])


def test_numbers_name_actions(tmp_path, write_rows):
    from accordant.problem import DecisionProblem

    numbered = DecisionProblem(stakeholders=["A"], actions=["0", "1"], outcomes=["x"])
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps({"chosen_action": 1, "chosen_outcome": "x", "rejected_action": 0.0, "rejected_outcome": "x"})
    )
    np.testing.assert_array_equal(read_answers(path, numbered).actions, [[1], [0]])


def test_continuous_outcomes_are_numbers(tmp_path, visits, write_rows):
    path = write_rows(tmp_path / "a.csv", [("u", "Visit", "7.5", "None", "3")])
    answers = read_answers(path, visits)
    np.testing.assert_array_equal(answers.outcomes, [[7.5], [3.0]])
    assert answers.outcomes.dtype == np.float64


@pytest.mark.parametrize(("row", "message"), [
    (("ann", "Ofer", "Done", "Trial", "Done"), r"bad.csv line 3: unknown chosen_action 'Ofer'; did you mean 'Offer'\? valid"),
    (("ann", "Offer", "Done", "Trial", "Dne"), r"bad.csv line 3: unknown rejected_outcome 'Dne'; did you mean 'Done'\?"),
    (("ann", "", "Done", "Trial", "Done"), "bad.csv line 3: chosen_action is ''; allowed: a name"),
    (("ann", "Offer", "Done", "Offer", "Done"), "bad.csv line 3: chosen and rejected are the same action and outcome"),
    ((" ", "Offer", "Done", "Offer", "Left"), "bad.csv line 3: user_id is ''; allowed: a name"),
    (("ann", "Offer", "Done"), "bad.csv line 3 has 3 cells; allowed: 5"),
])  # fmt: skip
def test_a_wrong_line_is_named(tmp_path, problem, write_rows, row, message):
    with pytest.raises(DataError, match=message):
        read_answers(write_rows(tmp_path / "bad.csv", [ROWS[0], row]), problem)


@pytest.mark.parametrize(("column", "value", "message"), [
    ("income", "high", "bad.csv line 3: income is 'high'; allowed: a number, or nothing"),
    ("income", "inf", "bad.csv line 3: income is 'inf'; allowed: a number"),
    ("weight", "-1", "bad.csv line 3: weight is '-1'; allowed: at least 0"),
    ("weight", "", "bad.csv line 3: weight is ''; allowed: at least 0"),
    ("weight", "nan", "bad.csv line 3: weight is 'nan'"),
    ("group_id", "", "bad.csv line 3: group_id is ''; allowed: a name"),
    ("group_id", "other", "bad.csv line 3: user 'ann' is in group 'other', and in '1' before"),
])  # fmt: skip
def test_a_wrong_value_is_named(tmp_path, problem, write_rows, column, value, message):
    path = write_rows(tmp_path / "bad.csv", [(*ROWS[0], "1"), (*ROWS[2], value)], (*COLUMNS, column))
    with pytest.raises(DataError, match=message):
        read_answers(path, problem, context=["income"] if column == "income" else [])


def test_weights_that_are_all_zero(tmp_path, problem, write_rows):
    path = write_rows(tmp_path / "bad.csv", [(*ROWS[0], "0")], (*COLUMNS, "weight"))
    with pytest.raises(DataError, match="every weight is 0"):
        read_answers(path, problem)


@pytest.mark.parametrize(("value", "message"), [
    ("high", "line 2: chosen_outcome is 'high'; allowed: a number"),
    ("-3", r"line 2: chosen_outcome is -3; allowed: finite, within \[0"),
    ("nan", "line 2: chosen_outcome is 'nan'"),
])  # fmt: skip
def test_a_wrong_number_is_named(tmp_path, visits, write_rows, value, message):
    with pytest.raises(DataError, match=message):
        read_answers(write_rows(tmp_path / "bad.csv", [("u", "Visit", value, "None", "3")]), visits)


@pytest.mark.parametrize(("content", "options", "message"), [
    ("", {}, "bad.csv is empty"),
    (",".join(COLUMNS), {}, "bad.csv has a header but no rows"),
    ("user_id,chosen_acton,chosen_outcome,rejected_action,rejected_outcome\na,b,c,d,e", {},
     "bad.csv: column 'chosen_action' is missing; did you mean it by 'chosen_acton'"),
    (",".join(COLUMNS) + "\nann,Offer,Done,Offer,Left", {"context": ["income"]}, "column 'income' is missing"),
    (",".join(COLUMNS) + "\nann,Offer,Done,Offer,Left", {"only": ["an"]}, "unknown user_id 'an'; did you mean 'ann'"),
    (",".join((*COLUMNS[1:], "group_id")) + "\nOffer,Done,Offer,Left,g", {}, "column 'user_id' is missing"),
])  # fmt: skip
def test_a_wrong_file_is_an_error(tmp_path, problem, content, options, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_answers(path, problem, **options)


def test_json_lines_name_a_missing_key(tmp_path, problem):
    path = tmp_path / "bad.jsonl"
    good = dict(zip(COLUMNS, ROWS[0], strict=True))
    path.write_text(json.dumps(good) + "\n\n" + json.dumps({k: v for k, v in good.items() if k != "user_id"}))
    with pytest.raises(DataError, match="bad.jsonl line 3: key 'user_id' is missing"):
        read_answers(path, problem)


def test_endings_in_capitals(tmp_path, problem):
    line = (
        '{"chosen_action": "Offer", "chosen_outcome": "Done", "rejected_action": "Trial", "rejected_outcome": "Left"}'
    )
    for name in ("answers.JSONL", "answers.NdJson"):
        (tmp_path / name).write_text(line, encoding="utf-8")
        assert len(read_answers(tmp_path / name, problem)) == 1
