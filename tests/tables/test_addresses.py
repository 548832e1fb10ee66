"""Datasets at addresses: the parts, bytes and hashes of the same files here; what is asked for, and what is refused."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from accordant.errors import DataError, InputError
from accordant.tables.addresses import Copy, copy_of, is_address, open_binary, refuse_address, size_of
from accordant.tables.arrow import arrow_columns
from accordant.tables.datasets import dataset_files, dataset_parts, folder_columns, is_dataset
from accordant.tables.output import check_output, check_output_folder

ROWS, GROUP = 9, 3


@pytest.fixture
def folder(tmp_path):
    """A dataset of several kinds of files, in folders that say columns."""
    top = tmp_path / "d"
    for number, year in enumerate(("year=2025", "year=2026")):
        (top / year / "region=S%C3%BCd").mkdir(parents=True)
        table = pa.table({"x": np.arange(ROWS) + float(number), "y": np.arange(ROWS) % 2})
        pq.write_table(table, top / year / "region=S%C3%BCd" / "a.parquet", row_group_size=GROUP)
    (top / "late.csv").write_text("x\n1\n2\n")
    (top / "empty.csv").write_text("x\n")
    feather.write_feather(pa.table({"x": np.arange(4.0)}), top / "rows.arrow")
    for hidden in ("_SUCCESS", "year=2026/.part.crc", "_old/a.parquet"):
        (top / hidden).parent.mkdir(exist_ok=True)
        (top / hidden).write_text("no rows")
    return top


@pytest.fixture
def memory(folder):
    """The same dataset in the file system that fsspec keeps in memory."""
    system = fsspec.filesystem("memory")
    for file in filter(Path.is_file, folder.rglob("*")):
        system.pipe_file(f"/d/{file.relative_to(folder)}", file.read_bytes())
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def told(parts):
    """Return what is told of parts, but for where they stand."""
    return [part.to_json() | {"file": Path(part.file).name} for part in parts]


def hashes(parts):
    found = []
    for part in parts:
        with part.at_hand() as here:
            assert here.name == part.name
            found.append(here.fingerprint())
    return found


def values(part):
    with part.at_hand() as here:
        return np.concatenate([batch["x"] for batch in arrow_columns(here.file, groups=here.wanted)]).tolist()


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "within", ["", "/*.csv", "/year=*/*/*.parquet", "/**/*.p*q*", "/year=202[67]/*/*", "/l?te.csv", "/late.csv",
               "/year=2025/region=S%C3%BCd/a.parquet", "/year=2025"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["memory://d", "file://"])
def test_parts_and_hashes_are_those_of_the_same_files_here(folder, memory, where, within):
    address = f"file://{folder}{within}" if where == "file://" else where + within
    here, there = dataset_parts(f"{folder}{within}", 5), dataset_parts(address, 5)
    assert told(there) == told(here)
    assert hashes(there) == hashes(here)
    assert all(is_address(part.file) for part in there)
    assert [values(part) for part in there if part.groups] == [values(part) for part in here if part.groups]


def test_an_address_begins_with_what_no_path_does():
    for text in ("s3://bucket/folder", "memory://d", "file:///d/a.csv", "https://host/a.parquet", "abfs+x://a"):
        assert is_address(text) and is_dataset(text)
    for other in ("d/a.csv", "C:\\d\\a.csv", "C:/d", "c://d", "s3:/bucket", "year=*/a", "a b://c", Path("s3://b"), 7):
        assert not is_address(other)


def test_folders_of_a_file_that_is_named_itself_say_nothing():
    file = "s3://bucket/year=2026/region=S%C3%BCd/a.parquet"
    assert folder_columns(file, file) == {}
    assert folder_columns(file, "s3://bucket") == {"year": "2026", "region": "Süd"}


@pytest.fixture
def asked(monkeypatch):
    """Which bytes are asked for, as they are."""
    found, opened = [], MemoryFileSystem._open

    def noting(self, path, mode="rb", **options):
        source = opened(self, path, mode, **options)
        if mode == "rb":
            read = type(source).read

            def noted(size=-1):
                first = source.tell()
                block = read(source, size)
                found.append((first, first + len(block)))
                return block

            source.read = noted
        return source

    monkeypatch.setattr(MemoryFileSystem, "_open", noting)
    return found


def test_nothing_is_asked_for_but_the_footer_and_the_row_groups_of_a_part(tmp_path, memory, asked, monkeypatch):
    table = pa.table({"x": np.random.default_rng(0).normal(size=90_000)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=30_000, use_dictionary=False)
    content = (tmp_path / "a.parquet").read_bytes()
    memory.pipe_file("/a.parquet", content)
    monkeypatch.setattr("accordant.tables.datasets.TAIL", 64)  # the footer is longer
    parts = dataset_parts("memory://a.parquet", 30_000)
    assert len(parts) == 3 and sum(last - first for first, last in asked) < 2_000
    asked.clear()
    assert values(parts[1]) == table["x"].to_pylist()[30_000:60_000]
    asked.sort()
    assert all(last <= first for (_, last), (first, _) in zip(asked, asked[1:]))  # no byte twice
    assert sum(last - first for first, last in asked) < len(content) / 3 + 2_000


def test_a_file_that_is_gone_empty_or_was_changed_is_told(memory, tmp_path):
    parts = dataset_parts("memory://d/year=2025/*/*.parquet", 3)
    pq.write_table(pa.table({"x": np.arange(4.0)}), tmp_path / "a.parquet", row_group_size=3)
    name = "/d/year=2025/region=S%C3%BCd/a.parquet"
    memory.pipe_file(name, (tmp_path / "a.parquet").read_bytes())
    with pytest.raises(DataError, match=r"^memory:///d/.* has fewer row groups than before: it was changed"):
        hashes(parts[2:])
    memory.pipe_file(name, b"")
    with pytest.raises(DataError, match=r"^memory:///d/.*: there is no such file, or it is empty"):
        hashes(parts)
    memory.rm_file(name)
    with pytest.raises(DataError, match=r"^memory:///d/.*: there is no such file"):
        hashes(parts)
    memory.pipe_file("/d/b.parquet", b"x\n1\n")
    with pytest.raises(DataError, match=r"b\.parquet is not a readable Parquet file"):
        dataset_parts("memory://d/b.parquet")


@pytest.mark.parametrize("address", ["memory://nowhere", "memory://d/*.pq", "file:///nowhere/a.csv"])
def test_nothing_is_no_dataset(memory, address):
    with pytest.raises(DataError, match="there is no file there"):
        dataset_files(address)


def test_files_of_kinds_that_cannot_be_read_are_refused(memory):
    memory.pipe_file("/d/notes.txt", b"mine")
    with pytest.raises(InputError, match=r"notes.txt: allowed in a dataset: files that end in"):
        dataset_files("memory://d")
    assert dataset_files("memory://d/notes.txt") == ["memory://d/notes.txt"]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sqlite:///rows.db", "nothing reads sqlite:// as files; allowed: s3://, gs://, https://"),
        ("postgresql://host/rows", "nothing reads postgresql:// as files"),
        ("https://host/a.parquet?key=secret", "https://host/a.parquet: allowed in an address: no '::', no"),
        ("memory://d/../a.csv", "no '..'"),
        ("zip://a.csv::memory://a.zip", "no '::'"),
        ("ftp://me:secret@host/a.csv", "an address holds no password"),
    ],
)
def test_addresses_that_are_none_or_say_too_much_are_refused(address, words):
    with pytest.raises(InputError) as refused:
        dataset_files(address)
    assert words in str(refused.value) and "secret" not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("scheme", "driver"), [("s3", "s3fs"), ("gs", "gcsfs"), ("https", "aiohttp")])
def test_what_must_be_installed_is_said(monkeypatch, scheme, driver):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match=rf"^{scheme}://b/a.csv: .* not installed: pip install fsspec {driver}$"):
        dataset_files(f"{scheme}://b/a.csv")
    monkeypatch.undo()

    def missing(scheme):
        raise ImportError(f"Install {driver} to access {scheme}")

    monkeypatch.setattr("fsspec.get_filesystem_class", missing)
    with pytest.raises(InputError, match=rf"^{scheme}://b/a.csv: .* not installed: pip install fsspec {driver}$"):
        dataset_files(f"{scheme}://b/a.csv")
    with pytest.raises(InputError, match="not installed: Install"):
        dataset_files("odd://b/a.csv")


def test_what_a_library_says_is_one_line_of_bounded_length(monkeypatch):
    def broken(self, path):
        raise RuntimeError("refused\n" * 500)

    monkeypatch.setattr(MemoryFileSystem, "isfile", broken)
    with pytest.raises(DataError, match=r"^memory://d cannot be read: refused refused") as error:
        dataset_files("memory://d")
    assert len(str(error.value)) < 400 and "\n" not in str(error.value)


class Stream:
    """What can be read from its beginning only."""

    def __init__(self, content):
        self.content, self.place = content, 0

    def seek(self, place, whence=0):
        if whence or place != self.place:
            raise ValueError("cannot seek")

    def read(self, size):
        self.place += size
        return self.content[self.place - size : self.place]


def test_a_stream_is_copied_whole_and_never_taken_for_more_than_it_is():
    file = io.BytesIO()
    assert Copy("https://h/a.csv", file, None, Stream(b"x\n12345678\n")).take(0, None) == b"2345678\n"
    assert file.getvalue() == b"x\n12345678\n"
    with pytest.raises(DataError, match=r"https://h/a.csv ends before it should: it was changed"):
        Copy("https://h/a.csv", file, 99, Stream(b"x\n1\n")).take(0, 99)


def test_sizes_and_bytes_are_told_of_files_here_and_there(memory, folder):
    for file in (str(folder / "late.csv"), "memory://d/late.csv"):
        assert size_of(file) == 6
        with open_binary(file) as opened:
            assert list(opened) == [b"x\n", b"1\n", b"2\n"]
    with pytest.raises(DataError, match="there is no such file"), copy_of("memory://d/none.csv", io.BytesIO()):
        pass


@pytest.mark.parametrize("target", ["s3://bucket/out", "file:///out", "memory://out.csv"])
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("check", [check_output, check_output_folder])
def test_results_stand_on_this_machine(target, kind, check):
    with pytest.raises(InputError, match="is an address; allowed for results: a place on this machine"):
        check(kind(target))
    refuse_address("C:/out")
