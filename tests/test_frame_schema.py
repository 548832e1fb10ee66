"""Columns come back in the library and with the types in which they came."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from accordant.contexts import Contexts
from accordant.errors import DataError
from accordant.frame_schema import FrameSchema

PANDAS = pd.DataFrame(
    {
        "whole": [1, 2, 3],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "category": pd.Categorical(["u", None, "v"], categories=["v", "u", "unused"], ordered=True),
        "codes": pd.Categorical([3, 1, 3]),
        "text": ["x", None, "y"],
        "truth": pd.array([True, None, False], dtype="boolean"),
        "bool": [True, False, True],
        "string": pd.array(["p", None, "q"], dtype="string"),
        "time": pd.to_datetime(["2020-01-01", "2021-02-03", None]),
    }
)
POLARS = pl.DataFrame(
    {"a": [1, 2, None], "b": [1.5, None, 2], "c": ["x", None, "y"], "d": [True, None, False],
     "t": [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)]}
).with_columns(
    pl.col("c").cast(pl.Categorical).alias("category"), pl.col("c").cast(pl.Enum(["x", "y"])).alias("enum")
)  # fmt: skip


def test_pandas_columns_come_back():
    contexts = Contexts.of(PANDAS)
    pd.testing.assert_frame_equal(contexts.frame(list(contexts)), PANDAS)


def test_polars_columns_come_back():
    contexts = Contexts.of(POLARS)
    found = contexts.frame(list(contexts))
    assert found.schema == POLARS.schema
    assert found.equals(POLARS)


def test_pyarrow_comes_back_as_pandas_for_models_and_as_pyarrow_for_results():
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    contexts = Contexts.of(table)
    assert isinstance(contexts.frame(["b", "a"]), pd.DataFrame)
    assert contexts.frame(["a"])["a"].dtype == np.int64
    assert FrameSchema.of_rows(table).table({"E": np.zeros(2)}).equals(pa.table({"E": [0.0, 0.0]}))


def test_the_schema_goes_with_parts_of_contexts():
    contexts = Contexts.of(PANDAS).take(np.array([2, 0])).only(["codes", "whole"])
    found = contexts.frame(["whole", "codes"])
    assert found["whole"].tolist() == [3, 1] and found["whole"].dtype == np.int64
    assert found["codes"].dtype == PANDAS["codes"].dtype


@pytest.mark.parametrize(
    ("column", "value"), [("whole", 2.5), ("whole", np.nan), ("bool", 2.0), ("bool", np.nan), ("nullable", 0.5)]
)
def test_what_a_type_cannot_hold_keeps_its_value(column, value):
    schema = Contexts.of(PANDAS).schema
    found = schema.frame({column: np.array([1.0, value])})[column]
    assert found.dtype == np.float64
    assert found[1] == value or np.isnan(value)


def test_a_text_outside_the_categories_is_missing():
    schema = Contexts.of(PANDAS).schema
    assert schema.frame({"category": np.array(["u", "new"])})["category"].tolist()[0] == "u"
    assert schema.frame({"category": np.array(["u", "new"])})["category"].isna().tolist() == [False, True]
    assert Contexts.of(POLARS).schema.frame({"enum": np.array(["x", "new"])})["enum"].to_list() == ["x", None]


def test_contexts_without_a_frame_make_a_pandas_frame():
    found = Contexts({"a": [1.0, None], "b": ["", "x"]}).frame(["b", "a"])
    assert found["b"].isna().tolist() == [True, False] and found["a"].isna().tolist() == [False, True]


def test_results_keep_the_index_of_a_pandas_frame():
    frame = PANDAS.set_index(pd.Index([7, 3, 5]))
    assert FrameSchema.of_rows(frame).table({"E": np.zeros(3)}).index.tolist() == [7, 3, 5]
    assert FrameSchema.of_rows(POLARS).table({"E": np.zeros(3)}).columns == ["E"]
    assert FrameSchema.of_rows(Contexts.of(POLARS)).library == "polars"


@pytest.mark.parametrize("frame", [PANDAS, POLARS])
def test_further_columns_stand_behind_the_others(frame):
    schema = Contexts.of(frame).schema
    found = schema.with_columns(schema.frame({"x": np.zeros(2)}), {"action": schema.category([1, 0], ["a", "b"])})
    assert list(found.columns) == ["x", "action"]
    assert list(found["action"]) == ["b", "a"]


def test_arrays_have_generated_names_and_other_arrays_are_refused():
    from scipy import sparse

    contexts = Contexts.of([[1, 2], [3, 4], [5, 6]])
    assert list(contexts) == ["x0", "x1"] and contexts["x1"].tolist() == [2, 4, 6]
    for wrong, words in (
        (np.zeros(3), "Reshape your data"), (np.zeros((0, 2)), "0 sample"), (np.zeros((2, 0)), "0 feature"),
        ([[1], [1, 2]], "different length"), (np.zeros((2, 2), complex), "Complex data not supported"),
        (sparse.csr_array(np.eye(2)), "sparse data"), (sparse.dok_array(np.eye(2)), "sparse data"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=words):
            Contexts.of(wrong)
