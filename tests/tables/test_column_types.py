"""Types of columns: one cell never turns a column of numbers into categories, and categories stay what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from accordant.contexts import Contexts
from accordant.errors import DataError, MissingColumnError
from accordant.tables.column_types import typed_column, typed_contexts

NUMBERS = [str(k % 31 / 2) for k in range(120)]


def column(values):
    return Contexts({"grade": values})["grade"]


@pytest.mark.parametrize("quoted", [True, False])
@pytest.mark.parametrize(
    "cell", ["abc", "2,5", "50%", "#DIV", "2024-05-31", "1e5x", "1,234", "1 234", "inf", "1e999", "9" * 400, "True"]
)
def test_one_damaged_cell_is_refused_with_its_place(cell, quoted):
    values = column([*NUMBERS[:60], cell, *NUMBERS[60:]])
    with pytest.raises(DataError, match=r"^line 62: column 'grade': found '.*grade: category$") as caught:
        typed_column("grade", values, None, lambda row: f"line {row + 2}", quoted=quoted)
    assert repr(cell) in str(caught.value) and "31 of the 32 different values" in str(caught.value)
    with pytest.raises(DataError, match="row 60: .* the column holds numbers"):
        typed_column("grade", values, "number")
    assert typed_column("grade", values, "category") is values


@pytest.mark.parametrize("cell", ["", "NA", " NaN ", " 12 ", "#N/A", "99999999999999999999"])
def test_missing_cells_and_odd_numbers_leave_a_file_a_column_of_numbers(cell):
    found = typed_column("grade", column([*NUMBERS, cell]), None, quoted=False)
    assert found.dtype == np.float64 and found[:3].tolist() == [0.0, 0.5, 1.0]
    assert np.isnan(found[-1]) or found[-1] in (12.0, 1e20)


def test_damage_in_many_cells_is_refused_though_most_texts_are_different_words():
    values = column([*NUMBERS * 3, *(f"about {k}" for k in range(100))])
    with pytest.raises(DataError, match="found 'about 0'.*31 of the 131 different values"):
        typed_column("grade", values, None)


@pytest.mark.parametrize(
    "values",
    [
        ["A1", "10a", "7", "B2"],
        ["10115", "SW1A", "EC1", "W2"],
        ["0-10%", "20-Oct", "90-100%"],
        ["18-25", "26-35", "55<="],
        ["yes", "no", ""],
        ["31.05.2024", "1.06.2024"],
        ["", ""],
    ],
)
def test_categories_are_categories(values):
    raw = column(values)
    assert typed_column("grade", raw, None) is raw and typed_column("grade", raw, None, quoted=False) is raw


@pytest.mark.parametrize("values", [["2,5", "3,5"], ["10%", "50%"], ["K", "1", "2"], ["True", "False", "maybe"]])
def test_what_may_be_numbers_must_be_declared(values):
    with pytest.raises(DataError, match="Mend the cell, or declare the type: grade: category"):
        typed_column("grade", column(values), None)
    assert typed_column("grade", column(values), "category").tolist() == values


def test_digits_in_quotes_are_names_but_in_files_they_are_numbers():
    codes = column(["01", "2", "007"])
    assert typed_column("grade", codes, None) is codes
    assert typed_column("grade", codes, None, quoted=False).tolist() == [1.0, 2.0, 7.0]


def test_declared_categories_of_numbers_are_their_names():
    assert typed_column("grade", column([1, np.nan, 2.5]), "category").tolist() == ["1", "", "2.5"]


@pytest.mark.parametrize("cell", ["#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
@pytest.mark.parametrize("declared", [None, "category", "number"])
def test_errors_of_spreadsheets_are_no_categories(cell, declared):
    with pytest.raises(DataError, match="row 2: column 'grade': found '#.*a spreadsheet writes this for an error"):
        typed_column("grade", column(["GP", "#1", cell]), declared)
    if declared != "number":
        assert typed_column("grade", column(["GP", "#1", "#N/A"]), declared).tolist() == ["GP", "#1", "#N/A"]


def test_infinite_numbers_are_refused():
    with pytest.raises(DataError, match="row 1: column 'grade': found 'inf'; allowed: a finite number"):
        typed_column("grade", column([1.0, np.inf]), None)


@pytest.mark.parametrize("mixed", [pd.DataFrame({"grade": [*range(40), "abc"]}), {"grade": [*range(40), "abc"]}])
def test_a_frame_that_mixes_numbers_and_texts_is_refused(mixed):
    with pytest.raises(DataError, match="row 40: column 'grade': found 'abc'"):
        typed_contexts(Contexts.of(mixed), {"grade": None})


def test_contexts_stay_the_same_object_where_nothing_changes():
    contexts = Contexts({"grade": [1.0, 2.0], "school": ["a", "b"]})
    assert typed_contexts(contexts, {"grade": "number", "school": "category"}) is contexts
    typed = typed_contexts(contexts, {"grade": "category", "school": None})
    assert typed["grade"].tolist() == ["1", "2"] and typed["school"].tolist() == ["a", "b"]
    with pytest.raises(MissingColumnError, match="column 'scool' is missing; did you mean it by 'school'"):
        typed_contexts(contexts, {"scool": None})
