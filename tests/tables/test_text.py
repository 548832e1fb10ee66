"""Files of text: what has no end or is too large is refused, and says how much is allowed."""

from __future__ import annotations

import gzip
import os

import pytest

from accordant.errors import DataError
from accordant.limits import Limit
from accordant.tables.text import csv_text, read_cell, read_json, read_table, read_text, written_cell

FEW = Limit(1000, "bytes", "of a test")


def test_a_pipe_and_a_device_are_refused_before_they_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zeros.csv"):
        with pytest.raises(DataError, match=f"{name} is no regular file"):
            read_text(tmp_path / name)


def test_what_a_shell_has_opened_is_read():
    read_end, write_end = os.pipe()
    os.write(write_end, b"a,b\n1,2\n")
    os.close(write_end)
    assert read_text(f"/dev/fd/{read_end}") == "a,b\n1,2\n"
    os.close(read_end)


@pytest.mark.parametrize("content", [b"x" * 1001, gzip.compress(b"x" * 1001, mtime=0)])
def test_more_than_is_allowed_is_refused_packed_or_not(content, tmp_path):
    path = tmp_path / "large.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match="large.txt: more than 1,000 bytes"):
        read_text(path, FEW)


def test_as_much_as_is_allowed_is_read(tmp_path):
    (tmp_path / "all.txt").write_text("x" * 1000)
    assert len(read_text(tmp_path / "all.txt", FEW)) == 1000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "from line 1: JSON: more than 64 levels of nesting"),
        (b"[" * 65 + b"]" * 65, "levels of nesting; allowed: at most 64"),
        (b'{"a": ' * 66 + b"1" + b"}" * 66, "levels of nesting; allowed: at most 64"),
        (b"9" * 5_000, "5,000 digits of a whole number; allowed: at most 300"),
        ("a".encode("utf-16"), "byte 0xff is not UTF-8"),
        ("é".encode("latin-1"), "byte 0xe9 is not UTF-8"),
    ],
)
def test_json_beyond_the_limits_is_refused(content, message, tmp_path):
    (tmp_path / "values.json").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_json(tmp_path / "values.json")


def test_a_header_of_a_million_columns_is_refused(tmp_path):
    (tmp_path / "wide.csv").write_text(",".join(f"c{n}" for n in range(100_000)) + "\n1\n")
    with pytest.raises(DataError, match=r"wide.csv: 100,000 columns; allowed: at most 10,000"):
        read_table(tmp_path / "wide.csv")


@pytest.mark.parametrize(
    "name", ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-x", "'-0.5"]
)
def test_no_cell_starts_a_formula_and_names_come_back(name):
    cell = written_cell(name)
    assert cell == f"'{name}"
    assert read_cell(cell) == name
    assert csv_text([name], [[name]]).replace('"', "").startswith("'")


@pytest.mark.parametrize("value", [-0.5, -3, "-0.5", "+2", "-1e5", "-inf", "a=b", "'quoted'", "'", "", None, True])
def test_numbers_and_other_text_stay(value):
    assert written_cell(value) is value
    assert not isinstance(value, str) or read_cell(value) == value
