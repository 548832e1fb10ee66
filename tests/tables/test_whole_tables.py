"""The same table is read alike from any kind of file, and no hostile file does harm."""

import datetime as dt
import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import limits
from accordant.errors import DataError, DataNotFoundError, InputError, UnknownNameError
from accordant.tables.databases import VARIABLE, check_query
from accordant.tables.frames import Lines
from accordant.tables.whole_tables import NOT_READ, read_frame
from accordant.tables.workbooks import parted

SUFFIXES = (".csv", ".parquet", ".pq", ".arrow", ".feather", ".xlsx", ".sql")
FRAME = pd.DataFrame({
    "grade": [1.5, np.nan, 3.25], "count": [1, 2, 30], "granted": [True, False, True],
    "school": ["north", "NA", None], "code": ["007", "x", "1,2"], "day": ["2024-01-02", "2024-03-04", "2023-12-31"],
})  # fmt: skip


def write(frame, path, monkeypatch=None):
    """Write a table as its suffix says."""
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".parquet" | ".pq":
            frame.to_parquet(path)
        case ".feather":
            pyarrow.feather.write_feather(frame, path)
        case ".arrow":
            table = pa.Table.from_pandas(frame)
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table, max_chunksize=max(2, len(frame) // 2))
        case ".xlsx":
            frame.to_excel(path, index=False)
        case ".sql":
            database = path.with_suffix(".db")
            engine = sqlalchemy.create_engine(f"sqlite:///{database}")
            frame.to_sql("rows", engine, index=False, if_exists="replace")
            engine.dispose()
            path.write_text("SELECT * FROM rows ORDER BY rowid;")
            monkeypatch.setenv(VARIABLE, f"sqlite:///{database}")
    return path


def plain(frame):
    """Return column to values, None where missing."""
    return {name: [None if pd.isna(each) else each for each in frame[name].tolist()] for name in frame.columns}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_is_the_same_in_every_kind_of_file(tmp_path, monkeypatch, suffix):
    found = plain(read_frame(write(FRAME, tmp_path / f"t{suffix}", monkeypatch)))
    assert list(found) == list(FRAME.columns)
    assert found["grade"] == [1.5, None, 3.25] and found["count"] == [1, 2, 30]
    assert [bool(each) for each in found["granted"]] == [True, False, True]  # SQLite has 1 and 0
    assert found["school"] == ["north", None, None] and found["code"] == ["007", "x", "1,2"]
    assert found["day"] == FRAME["day"].tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_stands_for_a_missing_value_is_missing_everywhere(tmp_path, monkeypatch, suffix):
    path = write(pd.DataFrame({"a": ["?", "x"], "b": ["None", "y"]}), tmp_path / f"t{suffix}", monkeypatch)
    assert plain(read_frame(path, missing=["?"])) == {"a": [None, "x"], "b": ["None", "y"]}


@pytest.mark.parametrize(
    ("suffix", "place"),
    [(".csv", "t.csv, line 3"), (".parquet", "t.parquet, row 2"), (".feather", "t.feather, row 2"),
     (".xlsx", "t.xlsx, sheet 'Sheet1', row 3"), (".sql", "the query, row 2")],
)  # fmt: skip
def test_messages_say_where_a_row_stands(tmp_path, monkeypatch, suffix, place):
    lines = Lines()
    read_frame(write(FRAME, tmp_path / f"t{suffix}", monkeypatch), lines=lines)
    assert lines.place(1) == place


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".xlsx", ".csv"])
def test_a_missing_file_and_one_of_another_kind_are_named(tmp_path, suffix):
    with pytest.raises(DataError, match=f"t{suffix}"):
        read_frame(tmp_path / f"t{suffix}")
    (tmp_path / f"u{suffix}").write_bytes(b"\x00\x01PAR1 nonsense")
    with pytest.raises(DataError, match=f"u{suffix}"):
        read_frame(tmp_path / f"u{suffix}")


@pytest.mark.parametrize("suffix", sorted(NOT_READ))
def test_other_kinds_of_tables_say_what_to_do(tmp_path, suffix):
    with pytest.raises(DataError, match="save it as"):
        read_frame(tmp_path / f"t{suffix}")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".xlsx"])
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, suffix, seed):
    folder = tmp_path_factory.mktemp("damaged")
    whole = write(FRAME, folder / f"t{suffix}").read_bytes()
    broken, generator = bytearray(whole), np.random.default_rng(seed)
    for place in generator.integers(len(whole), size=generator.integers(1, 5)):
        broken[place] = generator.integers(256)
    path = folder / f"u{suffix}"
    path.write_bytes(bytes(broken[: generator.integers(len(whole) // 2, len(whole) + 1)]))
    try:
        found = read_frame(path)
    except DataError as error:
        found = str(error)
    assert isinstance(found, pd.DataFrame) or path.name in found


class TestColumnar:
    def test_types_that_csv_has_not(self, tmp_path, caplog):
        table = pa.table({
            "city": pa.array(["b", None, "a"]).dictionary_encode(),
            "euro": pa.array([1, None, 3], pa.decimal128(10, 2)),
            "at": pa.array([dt.datetime(2024, 1, 2, 3), None, None]), "on": pa.array([dt.date(2024, 1, 2)] * 3),
            "none": pa.nulls(3), "vector": [[1.0], [2.0], None], "whole": pa.array([1, None, 3], pa.int64()),
        })  # fmt: skip
        pq.write_table(table, tmp_path / "t.parquet")
        found = plain(read_frame(tmp_path / "t.parquet"))
        assert found == {
            "city": ["b", None, "a"], "euro": [1.0, None, 3.0], "at": ["2024-01-02T03:00:00", None, None],
            "on": ["2024-01-02"] * 3, "none": [None] * 3, "whole": [1.0, None, 3.0],
        }  # fmt: skip
        assert "vector (list<" in caplog.text

    def test_no_rows_and_two_columns_of_one_name(self, tmp_path):
        pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
        with pytest.raises(DataError, match="no rows"):
            read_frame(tmp_path / "t.parquet")
        pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "u.parquet")
        with pytest.raises(DataError, match="2 columns are called 'a'"):
            read_frame(tmp_path / "u.parquet")

    @pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
    def test_absurd_numbers_of_rows_are_refused_before_they_are_read(self, tmp_path, suffix, monkeypatch):
        path = tmp_path / f"t{suffix}"
        write(pd.DataFrame({"a": np.zeros(100_000, dtype=np.int8), "b": 1}), path)
        monkeypatch.setattr(limits, "TABLE_CELLS", limits.Limit(199_999, "cells", ""))
        with pytest.raises(DataError, match="200,000 cells; allowed: at most 199,999"):
            read_frame(path)
        monkeypatch.setattr(limits, "TABLE_CELLS", limits.Limit(200_000, "cells", ""))
        assert len(read_frame(path)) == 100_000

    def test_texts_that_unpack_to_gigabytes_are_refused(self, tmp_path, monkeypatch):
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"a": ["x" * 100_000] * 100}), path, compression="zstd", use_dictionary=False)
        assert path.stat().st_size < 100_000
        monkeypatch.setattr(limits, "TABLE_BYTES", limits.Limit(9_000_000, "bytes", ""))
        with pytest.raises(DataError, match="allowed: at most 9,000,000"):
            read_frame(path)

    def test_offsets_that_lead_outside_are_not_followed(self, tmp_path):
        offsets = pa.py_buffer(np.array([0, 10**6, 2], dtype=np.int32).tobytes())
        array = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
        batch = pa.RecordBatch.from_arrays([array], ["a"])
        with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)
        with pytest.raises(DataError, match=r"t\.arrow"):
            read_frame(tmp_path / "t.arrow")


def workbook(path, rows, title="Grants", more=()):
    """Write a workbook."""
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    for name in more:
        book.create_sheet(name).append(["z"])
    book.save(path)
    return path


class TestWorkbooks:
    def test_a_sheet_is_chosen_by_its_name(self, tmp_path):
        path = workbook(tmp_path / "t.xlsx", [["a"], [1]], more=["2024"])
        assert read_frame(path, sheet="Grants")["a"].tolist() == [1]
        with pytest.raises(DataError, match="2 sheets, and none is named: 'Grants', '2024'"):
            read_frame(path)
        with pytest.raises(UnknownNameError, match="Grants"):
            read_frame(path, sheet="Grant")
        with pytest.raises(DataError, match="has no sheets"):
            read_frame(tmp_path / "t.csv", sheet="x")

    def test_a_name_may_hold_its_sheet(self, tmp_path):
        assert parted("a/t.xlsx#One Two") == ("a/t.xlsx", "One Two")
        assert parted("t.xlsx") == ("t.xlsx", None) and parted("t#1.csv") == ("t#1.csv", None)
        odd = workbook(tmp_path / "t.xlsx#x", [["a"], [1]])
        assert parted(str(odd)) == (str(odd), None)  # there is a file of this name

    def test_rows_keep_their_numbers(self, tmp_path):
        path = workbook(tmp_path / "t.xlsx", [[None], ["a", "b"], [1, "x"], [], [2, "y\nz"], [3, None], [None, None]])
        lines = Lines()
        assert plain(read_frame(path, lines=lines)) == {"a": [1, 2, 3], "b": ["x", "y\nz", None]}
        assert [lines.place(row).split(", ")[-1] for row in range(3)] == ["row 3", "row 5", "row 6"]

    def test_dates_and_truths(self, tmp_path):
        rows = [["day", "at", "yes"], [dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3), True]]
        found = plain(read_frame(workbook(tmp_path / "t.xlsx", rows)))
        assert found == {"day": ["2024-01-02"], "at": ["2024-01-02T03:00:00"], "yes": [True]}

    def test_formulas_and_cells_beyond_the_header_are_named(self, tmp_path):
        with pytest.raises(DataError, match=r"cell B2: found the formula '=A2\+1'"):
            read_frame(workbook(tmp_path / "t.xlsx", [["a", "b"], [1, "=A2+1"]]))
        with pytest.raises(DataError, match="cell C3: found '9'"):
            read_frame(workbook(tmp_path / "u.xlsx", [["a", "b"], [1, 2], [1, 2, 9]]))
        with pytest.raises(DataError, match="2 columns are called 'a'"):
            read_frame(workbook(tmp_path / "v.xlsx", [["a", "a"], [1, 2]]))
        with pytest.raises(DataError, match="is empty"):
            read_frame(workbook(tmp_path / "w.xlsx", []))

    def test_an_archive_that_unpacks_to_too_much_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(limits, "WORKBOOK_BYTES", limits.Limit(10**6, "bytes", ""))
        bomb = repacked(workbook(tmp_path / "t.xlsx", [["a"], [1]]), {"xl/media/x.bin": b"\0" * 10**6})
        assert bomb.stat().st_size < 20_000
        with pytest.raises(DataError, match="allowed: at most 1,000,000"):
            read_frame(bomb)

    @pytest.mark.long
    def test_entities_and_rows_far_away_are_refused(self, tmp_path):
        path = workbook(tmp_path / "t.xlsx", [["a"], [1]])
        sheet = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
        declared = sheet.replace(b"<worksheet", b'<!DOCTYPE x [<!ENTITY y "z">]><worksheet', 1)
        with pytest.raises(DataError, match="declares entities"):
            read_frame(repacked(path, {"xl/worksheets/sheet1.xml": declared}))
        far = sheet.replace(b'r="2"', b'r="99999999"').replace(b'r="A2"', b'r="A99999999"')
        with pytest.raises(DataError, match="more than 1,048,576 rows"):
            read_frame(repacked(path, {"xl/worksheets/sheet1.xml": far}))


def repacked(path, parts):
    """Return a copy of a workbook in which some parts hold something else."""
    held = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, parts.get(name, old.read(name)))
        for name in set(parts) - set(old.namelist()):
            new.writestr(name, parts[name])
    found = path.with_name(f"re-{path.name}")
    found.write_bytes(held.getvalue())
    return found


class TestDatabases:
    def ask(self, tmp_path, monkeypatch, query):
        write(FRAME, tmp_path / "t.sql", monkeypatch)
        (tmp_path / "t.sql").write_text(query)
        return read_frame(tmp_path / "t.sql")

    def test_a_query_may_compute_and_hold_colons(self, tmp_path, monkeypatch):
        query = "-- a note; with more\nSELECT count * 2 AS twice, ' :x' AS t FROM rows WHERE count > 1 ORDER BY count"
        assert plain(self.ask(tmp_path, monkeypatch, query)) == {"twice": [4, 60], "t": [" :x"] * 2}

    @pytest.mark.parametrize(
        "query",
        ["DELETE FROM rows", "SELECT 1; DROP TABLE rows", "/* SELECT */ UPDATE rows SET a = 1", "", "ATTACH 'x' AS y",
         "SELECT 1 INTO OUTFILE '/tmp/x'"],
    )  # fmt: skip
    def test_what_is_no_single_select_is_refused(self, query):
        with pytest.raises(InputError, match="allowed: one SELECT"):
            check_query(query)

    def test_nothing_changes_even_where_a_query_would(self, tmp_path, monkeypatch):
        with pytest.raises(DataError, match="readonly"):
            self.ask(tmp_path, monkeypatch, "WITH x AS (SELECT 1) DELETE FROM rows")
        assert len(self.ask(tmp_path, monkeypatch, "SELECT * FROM rows ORDER BY 1")) == 3

    def test_a_query_that_fails_or_gives_nothing(self, tmp_path, monkeypatch):
        with pytest.raises(DataError, match=r"\$ACCORDANT_DATABASE says: no such column"):
            self.ask(tmp_path, monkeypatch, "SELECT wages FROM rows")
        with pytest.raises(DataError, match="no rows"):
            self.ask(tmp_path, monkeypatch, "SELECT * FROM rows WHERE count > 99")
        with pytest.raises(DataError, match="row 1: column 'b': found bytes"):
            self.ask(tmp_path, monkeypatch, "SELECT x'00' AS b")

    def test_the_place_of_the_database_is_asked_for_and_never_printed(self, tmp_path, monkeypatch):
        (tmp_path / "q.sql").write_text("SELECT 1 AS a")
        monkeypatch.delenv(VARIABLE, raising=False)
        with pytest.raises(DataNotFoundError, match=r"\$ACCORDANT_DATABASE"):
            read_frame(tmp_path / "q.sql")
        for secret in (
            "top secret",
            "nonsense://top:secret@host/x",
            "sqlite:///secret.db",
            "mssql+pyodbc://secret@x/y",
        ):
            monkeypatch.setenv(VARIABLE, secret)
            with pytest.raises(InputError) as error:
                read_frame(tmp_path / "q.sql")
            assert "ACCORDANT_DATABASE" in str(error.value) and "secret" not in str(error.value)
