"""Datasets: which files they have, parts that cover every row once, and hashes of exactly what is read."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import DataError, InputError
from accordant.tables.arrow import arrow_columns
from accordant.tables.datasets import Part, dataset_files, dataset_parts, is_dataset


def write(path, rows, group=3, first=0, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"x": np.arange(first, first + rows, dtype=float), **columns})
    pq.write_table(table, path, row_group_size=group)
    return path


def names(found, folder):
    return [str(Path(each).relative_to(folder)) for each in found]


def rows_of(part):
    """Return what is read of a part."""
    batches = arrow_columns(part.file, groups=part.wanted)
    return np.concatenate([batch["x"] for batch in batches]).tolist()


@pytest.fixture
def folder(tmp_path):
    """A dataset as engines write it, in folders that are named by what all their rows have."""
    write(tmp_path / "d" / "year=2025" / "part-1.parquet", 4)
    write(tmp_path / "d" / "year=2025" / "part-0.parquet", 4)
    write(tmp_path / "d" / "year=2026" / "part-0.pq", 4)
    (tmp_path / "d" / "late.csv").write_text("x\n1\n2\n")
    for hidden in ("_SUCCESS", ".part.crc", "year=2026/_part.parquet", "_old/part-0.parquet", ".trash/part-0.parquet"):
        (tmp_path / "d" / hidden).parent.mkdir(exist_ok=True)
        (tmp_path / "d" / hidden).write_text("no rows")
    return tmp_path / "d"


def test_a_folder_holds_what_is_below_it_in_the_order_of_names(folder):
    found = ["late.csv", "year=2025/part-0.parquet", "year=2025/part-1.parquet", "year=2026/part-0.pq"]
    assert names(dataset_files(folder), folder) == names(dataset_files(str(folder)), folder) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("year=*/*.parquet", ["year=2025/part-0.parquet", "year=2025/part-1.parquet"]),
        ("**/*.p*q*", ["year=2025/part-0.parquet", "year=2025/part-1.parquet", "year=2026/part-0.pq"]),
        ("year=202[67]/*", ["year=2026/part-0.pq"]),
        ("l?te.csv", ["late.csv"]),
        ("_old/*.parquet", ["_old/part-0.parquet"]),  # it is named
    ],
)
def test_a_pattern_holds_what_it_matches(folder, monkeypatch, pattern, found):
    assert names(dataset_files(f"{folder}/{pattern}"), folder) == found
    monkeypatch.chdir(folder)
    assert dataset_files(pattern) == [str(folder / each) for each in found]


@pytest.mark.parametrize("above", ["_staging", ".cache"])
def test_where_a_dataset_lies_does_not_hide_it(tmp_path, above):
    write(tmp_path / above / "day=1" / "a.parquet", 2)
    for source in (tmp_path / above, f"{tmp_path / above}/day=*/*.parquet"):
        assert names(dataset_files(source), tmp_path / above) == ["day=1/a.parquet"]


def test_letters_of_patterns_above_a_relative_pattern_do_not_hide_it(tmp_path, monkeypatch):
    place = tmp_path / "[old]" / ".cache" / "day=1"
    place.mkdir(parents=True)
    write(place / "a.parquet", 3)
    monkeypatch.chdir(place.parent)
    assert dataset_files("day=*/*.parquet") == [str(place / "a.parquet")]


def test_files_of_parts_are_told_for_workers_in_other_folders(tmp_path, monkeypatch):
    write(tmp_path / "[1]" / "d" / "a.parquet", 2)
    monkeypatch.chdir(tmp_path / "[1]")
    for source in ("d", "d/*.parquet", "d/a.parquet"):
        assert [part.file for part in dataset_parts(source)] == [str(tmp_path / "[1]" / "d" / "a.parquet")]


def test_one_file_is_a_dataset_of_one_whatever_it_is_called(tmp_path, folder):
    odd = tmp_path / "rows[1]*.txt"
    odd.write_text("x\n1\n")
    assert dataset_files(odd) == [str(odd)] and not is_dataset(odd)
    assert is_dataset(folder) and is_dataset(f"{folder}/*.csv")
    assert not is_dataset(folder / "late.csv") and not is_dataset("nowhere.csv")


@pytest.mark.parametrize("source", ["nowhere.csv", "*.parquet", "empty"])
def test_nothing_is_no_dataset(tmp_path, source):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="there is no file there"):
        dataset_files(tmp_path / source)


def test_files_of_kinds_that_cannot_be_read_are_refused(folder):
    (folder / "year=2025" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes.txt: allowed in a dataset: files that end in \.parquet, .*\.csv$"):
        dataset_files(folder)


def test_parts_are_row_groups_of_parquet_and_other_files_whole(folder):
    found = dataset_parts(folder, 3)
    shown = [(part.number, Path(part.file).name, part.groups, part.start, part.rows) for part in found]
    assert shown == [
        (0, "late.csv", None, 0, None),
        (1, "part-0.parquet", (0, 1), 0, 3), (2, "part-0.parquet", (1, 2), 3, 1),
        (3, "part-1.parquet", (0, 1), 0, 3), (4, "part-1.parquet", (1, 2), 3, 1),
        (5, "part-0.pq", (0, 1), 0, 3), (6, "part-0.pq", (1, 2), 3, 1),
    ]  # fmt: skip
    assert found[0].wanted is None and list(found[2].wanted) == [1]
    assert [Part.of(part.to_json()) for part in found] == found
    assert all(isinstance(part.to_json()["groups"], list) for part in found[1:])


def test_files_with_a_header_only_have_no_part(tmp_path):
    for number, text in enumerate(("a,b\n1,2\n", "a,b\n", "a,b\n\n", "a,b\n3,4\n", "a,b")):
        (tmp_path / f"{number}.csv").write_text(text)
    parts = dataset_parts(tmp_path)
    assert [(part.number, part.name, part.file_number) for part in parts] == [(0, "0.csv", 0), (1, "3.csv", 3)]
    with pytest.raises(DataError, match="has columns but no rows"):
        dataset_parts(tmp_path / "1.csv")


@settings(max_examples=25)
@given(
    files=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=3),
    part_rows=st.integers(1, 12),
)
def test_parts_hold_every_row_once_in_order_and_end_where_they_should(files, part_rows):
    with tempfile.TemporaryDirectory() as place:
        first = 0
        for number, (rows, group) in enumerate(files):
            write(Path(place) / f"{number}.parquet", rows, group, first)
            first += rows
        if first == 0:
            with pytest.raises(DataError, match="has columns but no rows"):
                dataset_parts(place, part_rows)
            return
        parts = dataset_parts(place, part_rows)
        held = [rows_of(part) for part in parts]
        assert [row for part in held for row in part] == list(range(first))
        assert [part.number for part in parts] == list(range(len(parts)))
        assert [len(rows) for rows in held] == [part.rows for part in parts]
        before = np.cumsum([0, *(rows for rows, _ in files)])
        for part, rows in zip(parts, held, strict=True):
            number = int(Path(part.file).stem)
            assert rows[0] == before[number] + part.start
            last = rows[-1] + 1 == before[number + 1]
            assert last or part_rows <= len(rows) < part_rows + files[number][1]


@pytest.mark.parametrize("rows", [0, -3])
def test_a_part_has_a_row(folder, rows):
    with pytest.raises(InputError, match=f"rows of a part: found {rows}; allowed: 1 or more"):
        dataset_parts(folder, rows)


def test_a_file_that_is_none_is_named(tmp_path):
    (tmp_path / "a.parquet").write_text("x\n1\n")
    with pytest.raises(DataError, match=r"a\.parquet is not a readable Parquet file"):
        dataset_parts(tmp_path)


def test_the_hash_of_a_part_changes_with_what_is_read_of_it_and_only_then(tmp_path):
    file = write(tmp_path / "a.parquet", 9, y=np.arange(9) % 2)
    before = [part.fingerprint() for part in dataset_parts(file, 3)]
    assert len(set(before)) == 3

    def again(**columns):
        write(file, 9, **columns)
        return [part.fingerprint() for part in dataset_parts(file, 3)]

    assert again(y=np.arange(9) % 2) == before
    changed = again(y=np.array([0, 1, 0, 1, 0, 1, 1, 1, 0]))
    assert changed[:2] == before[:2] and changed[2] != before[2]
    file.rename(tmp_path / "b.parquet")
    moved = dataset_parts(tmp_path / "b.parquet", 3)
    assert [part.fingerprint() for part in moved] == changed
    longer = write(tmp_path / "c.parquet", 12, y=np.array([0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1]))
    assert [part.fingerprint() for part in dataset_parts(longer, 3)][:3] == changed


def test_folders_say_columns_and_their_text_belongs_to_the_hash(tmp_path, monkeypatch):
    place = tmp_path / "data" / "year=2026" / "old" / "region=S%C3%BCd%2FOst" / "code=007" / "note=NA"
    place.mkdir(parents=True)
    write(place / "a.parquet", 3)
    (part,) = dataset_parts(tmp_path / "data")
    assert part.folders == {"year": "2026", "region": "Süd/Ost", "code": "007", "note": "NA"}
    assert Part.of(json.loads(json.dumps(part.to_json()))) == part
    assert part.constants({"code"}) == {
        "year": 2026.0,
        "region": "Süd/Ost",
        "code": "007",
        "note": pytest.approx(np.nan, nan_ok=True),
    }
    (inner,) = dataset_parts(place)
    (matched,) = dataset_parts(tmp_path / "data" / "year=2026" / "old" / "*" / "code=007" / "*" / "*.parquet")
    (file,) = dataset_parts(place / "a.parquet")
    assert inner.folders == matched.folders == part.folders and file.folders == {}
    assert file.fingerprint() != part.fingerprint() == matched.fingerprint()
    assert part.name == "year=2026/old/region=S%C3%BCd%2FOst/code=007/note=NA/a.parquet" and file.name == "a.parquet"
    monkeypatch.chdir(tmp_path / "data" / "year=2026")
    (here,) = dataset_parts("old/*/code=007/*/*")
    assert set(here.folders) == {"region", "code", "note"}


@pytest.mark.parametrize("text", ["2_025", " 7", "\uff10\uff17", "inf", "x7"])
def test_folders_say_no_numbers_that_files_do_not(text):
    assert Part(0, "a", None, 0, 1, 0, {"year": text}).constants(()) == {"year": text}


def test_the_hash_of_a_part_changes_with_what_its_columns_are_called_and_hold(tmp_path):
    """Names and types stand at the end of a file, away from the rows."""
    values = pa.array([1, 2, 3, 4], pa.int64())
    found = set()
    for number, columns in enumerate((
        {"x": values, "y": values}, {"x": values, "z": values}, {"y": values, "x": values},
        {"x": values, "y": values.cast(pa.timestamp("ns"))},
    )):  # fmt: skip
        file = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table(columns), file)
        found.add(dataset_parts(file)[0].fingerprint())
    assert len(found) == 4


def test_the_hash_of_another_file_is_that_of_all_its_bytes(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x\n1\n2\n")
    (part,) = dataset_parts(file)
    before = part.fingerprint()
    assert part.fingerprint() == before
    file.write_text("x\n1\n3\n")
    assert part.fingerprint() != before


def test_a_file_that_is_gone_or_has_other_row_groups_is_told(tmp_path):
    file = write(tmp_path / "a.parquet", 9)
    parts = dataset_parts(file, 3)
    write(file, 6)
    assert parts[0].fingerprint() and parts[1].fingerprint()
    with pytest.raises(DataError, match="has fewer row groups than before: it was changed"):
        parts[2].fingerprint()
    file.unlink()
    with pytest.raises(DataError, match="there is no such file, or it is empty"):
        parts[0].fingerprint()
    file.touch()
    with pytest.raises(DataError, match="there is no such file, or it is empty"):
        parts[0].fingerprint()
