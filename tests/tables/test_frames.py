"""Tables without end or of too many columns are refused before they fill the memory."""

from __future__ import annotations

import io
import os
import sys

import pytest

from accordant import limits
from accordant.errors import DataError
from accordant.limits import Limit
from accordant.tables.frames import read_chunks
from accordant.tables.whole_tables import read_frame

ROWS = "a,b\n" + "1,2\n" * 50


class Endless(io.StringIO):
    """A stream whose rows never end; how much was read of it is known."""

    read_so_far = 0

    def readline(self, size=-1):
        line = "a,b\n" if not self.read_so_far else "1,2\n"
        self.read_so_far += len(line)
        return line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",".join(f"c{n}" for n in range(100_000)) + "\n1\n", "t.csv: 100,000 columns; allowed: at most 10,000"),
        ("x" * 9_000_000, "t.csv: 8,388,609 characters in one line; allowed: at most 8,388,608"),
        ("a,b\n" + "x" * 9_000_000, "characters in one line"),
    ],
)
def test_what_is_too_wide_is_refused(text, message, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_frame(tmp_path / "t.csv")


def test_a_stream_that_is_held_whole_ends_at_the_limit(monkeypatch):
    monkeypatch.setattr(limits, "STREAM_CHARACTERS", Limit(10_000, "characters", "a test"))
    endless = Endless()
    with pytest.raises(DataError, match="standard input: more than 10,000 characters"):
        list(read_chunks(endless, at_once=sys.maxsize))
    assert endless.read_so_far < 20_000


def test_batches_go_on_as_long_as_rows_come(monkeypatch):
    monkeypatch.setattr(limits, "STREAM_CHARACTERS", Limit(10_000, "characters", "a test"))
    batches = read_chunks(Endless(), at_once=1000)
    assert [len(next(batches)) for _ in range(20)] == [1000] * 20


def test_a_table_that_is_held_whole_ends_at_the_limit(monkeypatch, tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    assert len(read_frame(tmp_path / "t.csv")) == 50
    monkeypatch.setattr(limits, "TABLE_CHARACTERS", Limit(100, "characters", "a test"))
    with pytest.raises(DataError, match="t.csv: more than 100 characters"):
        read_frame(tmp_path / "t.csv")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00"])
def test_a_broken_archive_is_refused(suffix, content, tmp_path):
    (tmp_path / f"t.csv{suffix}").write_bytes(content)
    with pytest.raises(DataError, match="t.csv"):
        read_frame(tmp_path / f"t.csv{suffix}")


def test_a_pipe_is_refused_and_utf_16_without_its_mark_too(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="pipe.csv is no regular file"):
        read_frame(tmp_path / "pipe.csv")
    (tmp_path / "t.csv").write_bytes(ROWS.encode())
    with pytest.raises(DataError, match="t.csv is not a readable CSV file"):
        read_frame(tmp_path / "t.csv", encoding="utf-16")


def test_a_column_of_a_long_file_has_one_type(tmp_path):
    """Parsers that look at pieces of a file take numbers for numbers until the first text."""
    path, width = tmp_path / "wide.csv", 2000  # the more columns, the fewer rows to a piece
    head, row = ",".join(f"c{column}" for column in range(width)), ",1" * (width - 1) + "\n"
    path.write_text(head + "\n" + f"1{row}" * 520 + f"last{row}")
    frame = read_frame(path)
    assert frame.shape == (521, width)
    assert (frame.c0.iloc[0], frame.c0.iloc[-1]) == ("1", "last")
    assert frame.c1.sum() == 521


def test_what_stands_for_missing_is_that_of_the_documentation_and_texts_stay_texts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;y;z\n01;None;-\n;NA;7\n2;nan;8\n")
    frame = read_frame(path, ";", texts=["x"], missing=["-"])
    assert frame.x.tolist()[::2] == ["01", "2"]
    assert frame.isna().to_numpy().tolist() == [[False, False, True], [True, True, False], [False, True, False]]
    assert frame.y[0] == "None"
    assert read_frame(path, ";").z.tolist() == ["-", "7", "8"]


def test_batches_have_the_rows_that_were_asked_for_and_a_file_without_any_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    assert [len(chunk) for chunk in read_chunks(path, 20)] == [20, 20, 10]
    assert [len(chunk) for chunk in read_chunks(str(path), 50)] == [50]
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="t.csv has a header but no rows"):
        list(read_chunks(path))
    path.write_text("")
    with pytest.raises(DataError, match="t.csv is empty"):
        list(read_chunks(path))
    path.write_text("a;b\n1;2\n")
    assert list(read_frame(path, ";").columns) == ["a", "b"]
    assert list(read_frame(path, "|").columns) == ["a;b"]  # no bar in the header: commas


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "t.csv, line 3: 1 field; allowed: 2, as in the header$"),
        ("a,b\n1,2\n,,\n", "t.csv, line 3: 3 fields; allowed: 2, as in the header; the row ends with a separator, "),
        ("a,b,c\n ,\n", "t.csv, line 2: 2 fields; allowed: 3, as in the header$"),
        (
            'a,b,c\n1,"2\n3,4\n',
            "t.csv, line 3: 2 fields; allowed: 3, as in the header; a quotation mark is not closed$",
        ),
    ],
)
def test_rows_of_another_length_are_refused_unless_nothing_stands_in_their_line(text, message, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_frame(tmp_path / "t.csv")


def test_lines_without_anything_are_passed_over(tmp_path):
    (tmp_path / "t.csv").write_text("\n \na,b\n1,2\n\n  \n,\n3,4\n")
    frame = read_frame(tmp_path / "t.csv")
    assert list(frame.columns) == ["a", "b"]
    assert frame.fillna(0).to_numpy().tolist() == [[1, 2], [0, 0], [3, 4]]


@pytest.mark.parametrize("limit", [10, 11])
def test_a_held_table_may_have_as_many_characters_as_the_limit_says(limit, monkeypatch, tmp_path):
    """Eleven characters with their ends of lines."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4")
    monkeypatch.setattr(limits, "TABLE_CHARACTERS", Limit(limit, "characters", "a test"))
    if limit < 11:
        with pytest.raises(DataError, match="t.csv"):
            read_frame(path)
        assert sum(map(len, read_chunks(path, 1))) == 2  # in batches nothing is held
    else:
        assert len(read_frame(path)) == 2
