"""Comparisons of items described by numbers: what is read, and what is refused with which words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import DataError
from accordant.preferences.readers.numbers import read_numbers

HEADER = "user_id,group_id,weight,margin,chosen_a,rejected_a,chosen_b,rejected_b,user_age"
ROWS = ("ann,x,1,0.5,1,2,0,0,30", "bob,y,2,,2,1,0,0,40", "ann,x,1,1,1,3,0.5,0,30")


def written(tmp_path, *rows, header=HEADER):
    path = tmp_path / "records.csv"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def test_every_distinct_row_of_features_is_one_item(tmp_path):
    found = read_numbers(written(tmp_path, *ROWS))
    records = found.comparisons
    assert found.feature_names == ("a", "b")
    assert found.user_feature_names == ("age",)
    assert records.names == ("ann", "bob")
    assert records.groups == ("x", "y")
    assert records.users.tolist() == [0, 1, 0]
    assert records.features[records.chosen].tolist() == [[1, 0], [2, 0], [1, 0.5]]
    assert records.features[records.rejected].tolist() == [[2, 0], [1, 0], [3, 0]]
    assert (records.chosen[0], records.rejected[0]) == (records.rejected[1], records.chosen[1])
    assert records.weights.tolist() == [1, 2, 1]
    np.testing.assert_array_equal(records.margins, [0.5, np.nan, 1])
    assert records.user_features.tolist() == [[30], [40]]


def test_json_lines_hold_the_same(tmp_path):
    path = tmp_path / "records.jsonl"
    rows = [dict(zip(HEADER.split(","), row.split(","), strict=True)) for row in ROWS]
    numbers = [
        {
            key: value if key in ("user_id", "group_id") else None if value == "" else float(value)
            for key, value in row.items()
        }
        for row in rows
    ]
    path.write_text("\n".join(map(json.dumps, numbers)), encoding="utf-8")
    one, other = read_numbers(path).comparisons, read_numbers(written(tmp_path, *ROWS)).comparisons
    for name in ("features", "chosen", "rejected", "users", "weights", "margins", "user_features"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_only_users_and_features_are_needed(tmp_path):
    records = read_numbers(written(tmp_path, "1,0.5,0.25", header="user_id,chosen_a,rejected_a")).comparisons
    assert (records.groups, records.weights, records.margins, records.user_features) == (None,) * 4


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("user,chosen_a,rejected_a", "1,1,2", "did you mean 'user_id'"),
        ("chosen_a,rejected_a", "1,2", "column 'user_id' is missing"),
        ("user_id,chosen_a,rejected_b", "1,1,2", "column 'rejected_a' is missing; did you mean it by 'rejected_b'"),
        ("user_id,chosen_a,rejected_a,rejected_b", "1,1,2,3", "column 'chosen_b' is missing"),
        ("user_id,margin", "1,1", "has no columns chosen_<name> and rejected_<name>"),
        ("user_id,chosen_a,rejected_a,wieght", "1,1,2,1", "did you mean 'weight'"),
        ("user_id,chosen_a,rejected_a", "1,x,2", "line 2: chosen_a is 'x'; allowed: a number"),
        ("user_id,chosen_a,rejected_a", "1,nan,2", "chosen_a is 'nan'"),
        ("user_id,chosen_a,rejected_a", "1,,2", "chosen_a is ''"),
        ("user_id,chosen_a,rejected_a", "1,2,2", "line 2: chosen and rejected have the same features"),
        ("user_id,chosen_a,rejected_a", ",1,2", "user_id is ''; allowed: a name"),
        ("user_id,chosen_a,rejected_a,weight", "1,1,2,", "weight is ''"),
        ("user_id,chosen_a,rejected_a,weight", "1,1,2,-1", "weights must be finite and at least 0"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, header, row, message):
    with pytest.raises(DataError) as error:
        read_numbers(written(tmp_path, row, header=header))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("ann,y,1,1,1,2,0,0,30", "line 3: user 'ann' stands in group 'x' and in 'y'"),
        ("ann,x,1,1,1,2,0,0,31", "line 3: user_age of user 'ann' changes"),
    ],
)
def test_what_is_known_of_a_user_does_not_change(tmp_path, row, message):
    with pytest.raises(DataError) as error:
        read_numbers(written(tmp_path, ROWS[0], row))
    assert message in str(error.value)


@pytest.mark.parametrize("ignore", [("note", "chosen"), ("*",)])
def test_columns_that_are_left_out(tmp_path, ignore):
    file = tmp_path / "choices.csv"
    file.write_text("user_id,chosen_x,rejected_x,note,chosen\nann,1,0,fine,yes\n", encoding="utf-8")
    with pytest.raises(DataError, match="unknown column 'note'"):
        read_numbers(file)
    found = read_numbers(file, ignore=ignore)
    assert found.feature_names == ("x",)
    assert found.comparisons.differences().tolist() == [[1.0]]
