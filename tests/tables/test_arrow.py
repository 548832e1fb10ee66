"""Parquet and Arrow files: what comes in is what a CSV file would give; what goes out is written whole or not at all."""

from __future__ import annotations

import datetime as dt
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.contexts import Contexts
from accordant.errors import DataError, InputError
from accordant.tables.arrow import arrow_columns, arrow_format, arrow_frames, arrow_names, arrow_output
from accordant.tables.column_types import typed_contexts
from accordant.tables.frames import read_chunks

TABLE = pa.table({
    "whole": pa.array([1, None, 3, 4, 5], pa.int64()),
    "number": pa.array([0.1, 1e-17, None, float("nan"), -2.5], pa.float64()),
    "short": pa.array([0.1, 0.2, None, 0.4, 0.5], pa.float32()),
    "truth": pa.array([True, False, None, True, False]),
    "text": pa.array(["a", "", None, "NA", "ä, b"]),
    "code": pa.array(["x", "y", None, "x", "x"]).dictionary_encode(),
    "id": pa.array([2**60 + 1, 2, 3, None, 5], pa.int64()),
    "day": pa.array([dt.date(2026, 1, 2)] * 5),
    "money": pa.array([1, 2, 3, 4, 5], pa.decimal128(5, 2)),
    "none": pa.nulls(5),
})  # fmt: skip


def write(path, table=TABLE, **options):
    if arrow_format(path) == "Parquet":
        pq.write_table(table, path, **options)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, **{"max_chunksize": options["row_group_size"]} if options else {})
    return path


@pytest.fixture(params=[".parquet", ".arrow"])
def suffix(request):
    return request.param


def test_columns_are_numbers_or_texts_and_missing_values_are_missing(tmp_path, suffix):
    (columns,) = arrow_columns(write(tmp_path / f"t{suffix}"), texts=["id"])
    nan = np.nan
    expected = {
        "whole": [1, nan, 3, 4, 5], "number": [0.1, 1e-17, nan, nan, -2.5], "truth": [1, 0, nan, 1, 0],
        "short": [*np.array([0.1, 0.2], np.float32).tolist(), nan, *np.array([0.4, 0.5], np.float32).tolist()],
        "text": ["a", "", "", "", "ä, b"], "code": ["x", "y", "", "x", "x"],
        "id": [str(2**60 + 1), "2", "3", "", "5"], "day": ["2026-01-02"] * 5, "money": [1, 2, 3, 4, 5], "none": [""] * 5,
    }  # fmt: skip
    assert list(columns) == list(TABLE.column_names)
    for name, values in expected.items():
        np.testing.assert_array_equal(columns[name], values, err_msg=name)
        assert columns[name].dtype.kind == ("U" if isinstance(values[-1], str) else "f")


def test_what_a_case_declares_as_missing_is_missing_in_texts_and_numbers(tmp_path, suffix):
    (columns,) = arrow_columns(write(tmp_path / f"t{suffix}"), missing=["x", "-2.5"])
    assert columns["code"].tolist() == ["", "y", "", "", ""]
    np.testing.assert_array_equal(columns["number"], [0.1, 1e-17, np.nan, np.nan, np.nan])


@pytest.mark.long
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=4),
            st.integers(-(2**53), 2**53),
        ),
        min_size=1, max_size=12,
    ),
    at_once=st.integers(1, 13),
)  # fmt: skip
def test_contexts_are_those_of_the_same_table_as_csv(tmp_path_factory, rows, at_once):
    folder = tmp_path_factory.mktemp("same")
    frame = pd.DataFrame(rows, columns=["x", "text", "n"]).astype({"x": float, "text": object, "n": int})
    frame.to_csv(folder / "t.csv", index=False)
    write(folder / "t.parquet", pa.Table.from_pandas(frame, schema=pa.schema(
        [("x", pa.float64()), ("text", pa.string()), ("n", pa.int64())]
    ), preserve_index=False), row_group_size=5)  # fmt: skip
    types = {"x": "number", "text": "category", "n": "number"}
    (as_csv,) = (typed_contexts(Contexts.of(all_rows), types) for all_rows in read_chunks(
        folder / "t.csv", sys.maxsize, texts=["text"]
    ))  # fmt: skip
    for read in (arrow_columns, arrow_frames):
        batches = [typed_contexts(Contexts.of(b), types) for b in read(folder / "t.parquet", at_once, texts=["text"])]
        for name in as_csv:
            np.testing.assert_array_equal(np.concatenate([batch[name] for batch in batches]), as_csv[name])


def test_batches_and_columns_are_as_asked(tmp_path, suffix):
    path = write(tmp_path / f"t{suffix}", row_group_size=2)
    assert arrow_names(path) == TABLE.column_names
    batches = list(arrow_columns(path, 1, {"whole", "absent"}))
    assert [list(batch) for batch in batches] == [["whole"]] * 5
    (whole,) = arrow_columns(path, sys.maxsize)
    assert len(whole["whole"]) == 5
    frames = list(arrow_frames(path, 2))
    assert [index for frame in frames for index in frame.index] == [0, 1, 2, 3, 4]
    assert sum(len(batch["text"]) for batch in arrow_columns(path, 3)) == 5


def test_what_cannot_be_read_is_named(tmp_path, suffix):
    kind = {".parquet": "Parquet", ".arrow": "Arrow"}[suffix]
    (tmp_path / f"broken{suffix}").write_text("a,b\n1,2\n")
    nested = write(tmp_path / f"nested{suffix}", pa.table({"xs": [[1], [2]]}))
    empty = write(tmp_path / f"empty{suffix}", TABLE.slice(0, 0))
    twice = write(tmp_path / f"twice{suffix}", pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]))
    for name, message in (
        (tmp_path / f"broken{suffix}", f"broken{suffix} is not a readable {kind} file"),
        (tmp_path / f"none{suffix}", "there is no such file"), (tmp_path, None),
        (nested, "column 'xs' holds list<.*>; allowed: numbers, texts, truth values, dates"),
        (empty, "has columns but no rows"), (twice, "2 columns are called 'a'"),
    ):  # fmt: skip
        if message is None:
            assert arrow_format(name) is None
            continue
        with pytest.raises(DataError, match=message):
            list(arrow_columns(name))


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch, suffix):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for work in (
        lambda: list(arrow_columns(tmp_path / f"t{suffix}")),
        lambda: arrow_output(tmp_path / f"t{suffix}").__enter__(),
    ):
        with pytest.raises(InputError, match=r"pip install 'accordant\[arrow\]'"):
            work()


def test_rows_are_written_in_batches_and_read_again(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    with arrow_output(path) as rows:
        for start in (0, 2):
            rows({
                "row": np.arange(start, start + 2), "action": np.array(["yes", ""]), "margin": np.array([0.1, np.nan]),
                "tied": np.array([True, False]), "unusual": np.array(["=1", ""], dtype=object),
            })  # fmt: skip
        assert not path.exists()
    table = pd.read_parquet(path) if suffix == ".parquet" else pa.ipc.open_file(str(path)).read_pandas()
    assert table["row"].tolist() == [0, 1, 2, 3] and table["tied"].tolist() == [True, False] * 2
    assert table["action"].tolist() == ["yes", ""] * 2 and table["unusual"].tolist() == ["=1", ""] * 2
    assert table["margin"].isna().tolist() == [False, True] * 2


def test_what_fails_leaves_what_was_there(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    path.write_text("before")
    with pytest.raises(KeyError), arrow_output(path) as rows:
        rows({"row": np.arange(3)})
        raise KeyError
    assert path.read_text() == "before" and [each.name for each in tmp_path.iterdir()] == [path.name]
    with pytest.raises(InputError, match="is an input of this command"):
        arrow_output(path, [path]).__enter__()
