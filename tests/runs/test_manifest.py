"""A run folder holds what its manifest lists and nothing else; what is no regular file is never opened."""

from __future__ import annotations

import hashlib
import json
import os
import socket

import pytest

from accordant.errors import RunFolderError
from accordant.runs import read_run
from accordant.runs.manifest import Manifest


@pytest.fixture
def folder(tmp_path):
    """A folder with a manifest of two files."""
    path = tmp_path / "run"
    (path / "models").mkdir(parents=True)
    (path / "run.json").write_text("{}")
    (path / "models" / "policy.json").write_text("[]")
    hashes = {
        name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in ("run.json", "models/policy.json")
    }
    (path / "manifest.json").write_text(json.dumps({"sha256": hashes}))
    return path


def listing(folder, **files):
    """List other files."""
    hashes = json.loads((folder / "manifest.json").read_text())["sha256"]
    (folder / "manifest.json").write_text(json.dumps({"sha256": hashes | files}))


def test_a_folder_that_is_as_it_was_listed(folder):
    (folder / "manifest.sig").write_bytes(b"")
    manifest = Manifest.of(folder)
    manifest.check()
    assert manifest.read("models/policy.json") == b"[]"
    assert manifest.sha256 == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()


def unix_socket(path):
    os.chdir(path.parent)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


ADDED = {
    "a symbolic link": lambda path: path.symlink_to("run.json"),
    "a pipe": os.mkfifo,
    "a socket": unix_socket,
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", ADDED)
@pytest.mark.parametrize("place", ["extra", "models/extra"])
def test_what_was_added_is_named(folder, kind, place, monkeypatch):
    monkeypatch.chdir(folder)
    ADDED[kind](folder / place)
    with pytest.raises(RunFolderError, match=f"{place}, {kind}, was added"):
        Manifest.of(folder).check()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ADDED)
@pytest.mark.parametrize("name", ["run.json", "manifest.json", "models/policy.json"])
def test_a_listed_file_that_became_something_else_is_not_opened(folder, kind, name, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / name).unlink()
    ADDED[kind](folder / name)
    with pytest.raises(RunFolderError, match=f"{name} is {kind}|{name}, {kind}, was added|{name} is missing"):
        Manifest.of(folder).check()
    with pytest.raises(RunFolderError, match=f"{name} is {kind}"):
        read_run(folder)


def test_a_link_to_the_same_bytes_is_refused_too(folder, tmp_path):
    (folder / "run.json").rename(tmp_path / "elsewhere.json")
    (folder / "run.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(RunFolderError, match="run.json is a symbolic link"):
        Manifest.of(folder).read("run.json")


def test_a_folder_behind_a_link_is_refused(folder, tmp_path):
    (folder / "models").rename(tmp_path / "models")
    (folder / "models").symlink_to(tmp_path / "models")
    with pytest.raises(RunFolderError, match="models, a symbolic link, was added"):
        Manifest.of(folder).check()


def test_the_run_itself_may_be_reached_through_a_link(folder, tmp_path):
    (tmp_path / "latest").symlink_to(folder)
    reached = Manifest.of(tmp_path / "latest")
    reached.check()
    assert reached.hashes == Manifest.of(folder).hashes


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "models/../x", "models//x", "", ".", "./run.json", "a\0b", "a\\b"]
)
def test_a_manifest_lists_files_inside_the_folder_only(folder, name):
    listing(folder, **{name: "0" * 64})
    with pytest.raises(RunFolderError, match="is no file inside it"):
        Manifest.of(folder)


@pytest.mark.parametrize("digest", [None, 5, "", "g" * 64, "0" * 63, ["0" * 64]])
def test_a_hash_is_a_hash(folder, digest):
    listing(folder, **{"run.json": digest})
    with pytest.raises(RunFolderError, match="no SHA-256"):
        Manifest.of(folder)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"sha256": ' + b"9" * 5000 + b"}", b"\xff", b"\0"])
def test_a_manifest_that_is_no_json(folder, content):
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(RunFolderError, match="cannot be read"):
        Manifest.of(folder)


def test_what_is_read_is_what_was_hashed(folder):
    """A file that is exchanged after the check is noticed when it is read."""
    manifest = Manifest.of(folder)
    manifest.check()
    (folder / "run.json").write_text('{"format": 2}')
    with pytest.raises(RunFolderError, match="run.json was changed after the run"):
        manifest.read("run.json")


def test_a_file_that_is_not_listed_is_not_read(folder):
    (folder / "models" / "other.skops").write_text("")
    with pytest.raises(RunFolderError, match="does not list models/other.skops"):
        Manifest.of(folder).read("models/other.skops")
