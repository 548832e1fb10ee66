"""Contexts and logs: whatever frame they came in, numbers are float64, everything else is text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from accordant.contexts import Contexts, Log
from accordant.errors import DataError, MissingColumnError

COLUMNS = {"income": [10, 20, 30], "rate": [0.1, None, 0.3], "urban": [True, False, True], "job": ["a", None, "c"],
           "zip": ["01", "2", "007"]}  # fmt: skip
FRAMES = {
    "dict": lambda: COLUMNS,
    "arrays": lambda: {name: np.array(values, dtype=object) for name, values in COLUMNS.items()},
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas, reordered index": lambda: pd.DataFrame(COLUMNS, index=[2, 0, 1]),
    "pandas, nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, object": lambda: pd.DataFrame(COLUMNS).astype(object),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, series": lambda: {name: pl.Series(values) for name, values in COLUMNS.items()},
    "contexts": lambda: Contexts(COLUMNS),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_every_frame_gives_the_same_columns(frame):
    contexts = Contexts.of(FRAMES[frame]())
    assert list(contexts) == list(COLUMNS)
    assert contexts.n_contexts == 3
    np.testing.assert_array_equal(contexts["income"], [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(contexts["rate"], [0.1, np.nan, 0.3])
    np.testing.assert_array_equal(contexts["urban"], [1.0, 0.0, 1.0])
    assert contexts["job"].tolist() == ["a", "", "c"]
    assert contexts["zip"].tolist() == ["01", "2", "007"]  # digits in quotes are names, not numbers
    assert {name: column.dtype.kind for name, column in contexts.items()} == {
        "income": "f", "rate": "f", "urban": "f", "job": "U", "zip": "U",
    }  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_a_single_context_reads_as_in_the_batch(frame):
    """Pitfall 22: a row alone must be read as it was in the table."""
    batch = Contexts.of(FRAMES[frame]())
    alone = batch.take(np.array([2]))
    for name in batch:
        assert alone[name].dtype.kind == batch[name].dtype.kind
        np.testing.assert_array_equal(alone[name], batch[name][2:])


@pytest.mark.parametrize(("values", "expected"), [
    (["x", float("nan")], ["x", ""]),
    ([None, "x"], ["", "x"]),
    ([1, "a"], ["1", "a"]),
    (["1", "2"], ["1", "2"]),
    (["nan", "inf"], ["nan", "inf"]),
    (np.array(["x", "y"]), ["x", "y"]),
    (pd.Series(["x", pd.NA], dtype="string"), ["x", ""]),
    (pd.Series(["x", pd.NA], dtype=object), ["x", ""]),
    (pd.Categorical(["x", None]), ["x", ""]),
    (pl.Series(["x", None], dtype=pl.Categorical), ["x", ""]),
    ([dt.date(2025, 3, 1), None], ["2025-03-01", ""]),
])  # fmt: skip
def test_text_columns(values, expected):
    column = Contexts({"c": values})["c"]
    assert column.dtype.kind == "U"
    assert column.tolist() == expected


@pytest.mark.parametrize(("values", "expected"), [
    ([1, None], [1.0, np.nan]),
    ([True, None], [1.0, np.nan]),
    ([None, None], [np.nan, np.nan]),
    ([np.bool_(True), np.int8(3)], [1.0, 3.0]),
    ([Decimal("0.5"), 1], [0.5, 1.0]),
    (np.array([1, 2], dtype=np.uint8), [1.0, 2.0]),
    (np.array([0.5, 2], dtype=np.float32), [0.5, 2.0]),
    (pd.Series([1, pd.NA], dtype="Int64"), [1.0, np.nan]),
    (pd.Series([True, pd.NA], dtype="boolean"), [1.0, np.nan]),
    (pl.Series([1, None]), [1.0, np.nan]),
    ([], []),
])  # fmt: skip
def test_numeric_columns(values, expected):
    column = Contexts({"c": values}).numeric("c")
    np.testing.assert_array_equal(column, expected)


def test_pandas_columns_that_are_numbers():
    contexts = Contexts.of(pd.DataFrame({0: [1, 2], 1: [3, 4]}))
    assert list(contexts) == ["0", "1"]
    np.testing.assert_array_equal(contexts["1"], [3.0, 4.0])


@pytest.mark.parametrize(("frame", "message"), [
    ({"a": [1, 2], "b": [1]}, r"columns differ in length: \{'a': 2, 'b': 1\}"),
    ({"a": [[1], [2]]}, r"column 'a' must have one dimension; found shape \(2, 1\)"),
    ({"a": [[1], [2, 3]]}, "rows of different length"),
    ({"a": 3}, r"one dimension; found shape \(\)"),
    (np.zeros(2), r"array of two dimensions; found shape \(2,\)"),
    (pd.Series([1]), "found Series"),
    (pl.LazyFrame({"a": [1]}), "found LazyFrame"),
    (None, "found NoneType"),
    ("file.csv", "found str"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "unique column names"),
])  # fmt: skip
def test_what_is_not_contexts(frame, message):
    with pytest.raises(DataError, match=message):
        Contexts.of(frame)


def test_missing_column_names_the_nearest():
    with pytest.raises(
        MissingColumnError, match="column 'incme' is missing; did you mean it by 'income'. found: income, job"
    ):
        Contexts({"income": [1], "job": ["x"]})["incme"]


@pytest.mark.parametrize("values", [["x", "y"], np.array([], dtype=str)])
def test_text_is_not_a_number(values):
    with pytest.raises(DataError, match="column 'job' must be numeric"):
        Contexts({"job": values}).numeric("job")


def test_columns_are_copies_and_read_only():
    source = np.array([1.0, 2.0])
    contexts = Contexts({"a": source, "b": np.array(["x", "y"])})
    source[0] = 9
    assert contexts["a"][0] == 1.0
    for name in contexts:
        with pytest.raises(ValueError, match="read-only"):
            contexts[name][0] = contexts[name][1]


def test_take_and_only():
    contexts = Contexts(COLUMNS)
    taken = contexts.take(np.array([2, 0])).only(["job", "income"])
    assert list(taken) == ["job", "income"]
    assert taken["job"].tolist() == ["c", "a"]
    assert taken.n_contexts == 2
    assert contexts.take(slice(0, 0)).n_contexts == 0
    with pytest.raises(MissingColumnError, match="did you mean it by 'income'"):
        contexts.only(["incom"])


def test_empty():
    assert Contexts({}).n_contexts == 0
    assert Contexts.of(pd.DataFrame({"a": []})).n_contexts == 0


def log(**changes):
    given = {"contexts": Contexts({"x": [1, 2, 3]}), "actions": np.array([0, 1, 0]), "outcomes": np.array([0.5, 1, 2]),
             "rewards": {"Bank": np.array([0.1, 0.2, 0.3])}}  # fmt: skip
    return Log(**(given | changes))


def test_log_take():
    part = log().take(np.array([2, 1]))
    assert len(part) == 2
    assert part.actions.tolist() == [0, 1]
    assert part.rewards["Bank"].tolist() == [0.3, 0.2]
    assert part.contexts["x"].tolist() == [3.0, 2.0]


@pytest.mark.parametrize(("changes", "message"), [
    ({"actions": np.array([0])}, "numbers of rows differ: contexts 3, actions 1, outcomes 3, rewards of Bank 3"),
    ({"rewards": {"Bank": np.array([0.1])}}, "rewards of Bank 1"),
])  # fmt: skip
def test_log_lengths(changes, message):
    with pytest.raises(DataError, match=message):
        log(**changes)


def test_log_needs_rows():
    with pytest.raises(DataError, match="no rows"):
        log().take(np.array([], dtype=int))


def test_logs_compare_by_identity():
    """Comparing arrays element by element has no single truth value; identity never fails."""
    one = log()
    assert one == one  # noqa: PLR0124
    assert one != log()
    assert len({one, log()}) == 2


def test_keys_of_rows_tell_values_apart_and_count_equal_ones():
    contexts = Contexts({"x": [1.0, 2.0, 1.0, np.nan, np.nan], "kind": ["a", "a", "a", "b", "b"]})
    keys = list(contexts.row_keys())
    assert len(set(keys)) == 5
    assert keys[0] == "0 (1.0, 'a')" and keys[2] == "1 (1.0, 'a')" and keys[4].startswith("1 ")
    moved = list(contexts.take(np.array([3, 1, 0])).row_keys())
    assert moved == [keys[3], keys[1], keys[0]]
