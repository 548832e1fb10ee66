"""Sections that are added to a finished run: a chain that only grows, and everything that breaks it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
from typing import ClassVar

import pytest

from accordant import limits
from accordant.errors import DataError, InputError, RunFolderError
from accordant.limits import Limit
from accordant.runs import chain, read_run
from accordant.runs.chain import add_section, check_addable
from accordant.runs.manifest import Manifest
from accordant.sections import Section, sections
from accordant.tables.output import add_to_run


class Remark(Section):
    """A section that says one thing."""

    name: ClassVar[str] = "remark"
    version: ClassVar[int] = 2

    text: str

    @property
    def words(self):
        return f"Somebody said {self.text}."


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Let the registry know the section for the time of a test."""
    assert "deliberation" in sections
    monkeypatch.setitem(sections._factories, "remark", Remark)


@pytest.fixture
def folder(tmp_path):
    """What the chain needs of a run: a manifest, and a file that it lists."""
    path = tmp_path / "run"
    path.mkdir()
    (path / "run.json").write_text("{}")
    hashes = {"run.json": hashlib.sha256(b"{}").hexdigest()}
    (path / "manifest.json").write_text(json.dumps({"sha256": hashes}))
    return path


def grown(folder, *texts):
    return [add_section(Manifest.of(folder), Remark(text=text)) for text in texts]


def checked(folder):
    manifest = Manifest.of(folder)
    manifest.check()
    return chain.links_of(manifest)


def test_each_section_holds_the_hash_of_what_stands_before_it(folder):
    assert checked(folder) == ()
    links = grown(folder, "one", "two", "three")
    names = [f"sections/000{number}-remark.json" for number in (1, 2, 3)]
    assert [link.file for link in links] == names and list(checked(folder)) == links
    hashes = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("manifest.json", *names)]
    contents = [json.loads((folder / name).read_text()) for name in names]
    assert [each["previous"] for each in contents] == hashes[:-1] and links[-1].sha256 == hashes[-1]
    assert contents[1] == {"section": "remark", "version": 2, "previous": hashes[1], "result": {"text": "two"}}
    assert [link.section() for link in links] == [Remark(text=text) for text in ("one", "two", "three")]
    assert links[0].words == "Somebody said one."
    assert sorted(each.name for each in folder.parent.iterdir()) == ["run"]  # nothing is left beside it


def test_a_finished_run_is_read_with_its_sections(run_folder):
    before = read_run(run_folder)
    link = add_section(before.manifest, Remark(text="later"))
    after = read_run(run_folder)
    assert before.links == () and before.head == before.manifest.sha256
    assert after.links == (link,) and after.head == link.sha256 and after.manifest == before.manifest


def test_an_empty_folder_of_sections_is_what_a_writer_left_that_was_stopped(folder):
    (folder / "sections").mkdir()
    assert checked(folder) == ()
    assert grown(folder, "one")[0].file == "sections/0001-remark.json"


def edited(folder, number, **changes):
    file = folder / f"sections/000{number}-remark.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


TAMPERED = {
    "changed": (lambda run: edited(run, 1, result={"text": "other"}), "0002-remark.json does not follow"),
    "the first is not of this run": (lambda run: edited(run, 1, previous="0" * 64), "0001-remark.json does not follow"),
    "taken out": (lambda run: (run / "sections/0002-remark.json").unlink(), "0003.* where section 0002 is expected"),
    "the first taken out": (lambda run: (run / "sections/0001-remark.json").unlink(), "where section 0001 is expected"),
    "there twice": (
        lambda run: (run / "sections/0002-other.json").write_text("{}"), "0002-other.json cannot be read|is no section"
    ),
    "exchanged": (
        lambda run: [
            (run / "sections/0002-remark.json").rename(run / "kept"),
            (run / "sections/0003-remark.json").rename(run / "sections/0002-remark.json"),
            (run / "kept").rename(run / "sections/0003-remark.json"),
        ],
        "0002-remark.json does not follow",
    ),
    "another name": (
        lambda run: (run / "sections/0003-remark.json").rename(run / "sections/0003-other.json"), "its name says another"
    ),
    "no JSON": (lambda run: (run / "sections/0003-remark.json").write_bytes(b"\xff"), "cannot be read"),
    "nested": (lambda run: (run / "sections/0003-remark.json").write_text("[" * 100_000), "cannot be read"),
    "a list": (lambda run: (run / "sections/0003-remark.json").write_text("[]"), "is no section"),
    "a key too many": (lambda run: edited(run, 3, more=1), "is no section: more"),
    "a version that is none": (lambda run: edited(run, 3, version="2"), "is no section: version"),
    "a file of another kind": (lambda run: (run / "sections/notes.txt").write_text(""), "notes.txt was added"),
    "a folder inside": (lambda run: (run / "sections/more").mkdir(), "sections/more, a folder, was added"),
    "a name with steps": (lambda run: (run / "sections/0004-A.json").write_text(""), "0004-A.json was added"),
    "a link": (
        lambda run: (run / "sections/0004-remark.json").symlink_to("0001-remark.json"), "a symbolic link, was added"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAMPERED)
def test_tampering_is_refused(folder, kind):
    grown(folder, "one", "two", "three")
    spoil, message = TAMPERED[kind]
    spoil(folder)
    with pytest.raises(RunFolderError, match=message):
        checked(folder)
    with pytest.raises(RunFolderError, match=message):
        grown(folder, "four")


def test_sections_behind_a_link_are_refused(folder, tmp_path):
    grown(folder, "one")
    (folder / "sections").rename(tmp_path / "elsewhere")
    (folder / "sections").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunFolderError, match="sections, a symbolic link, was added"):
        checked(folder)


def test_what_is_taken_off_the_end_shows_in_the_hash_of_the_head_alone(folder):
    links = grown(folder, "one", "two")
    (folder / links[1].file).unlink()
    assert checked(folder) == (links[0],)


def test_a_section_that_nobody_knows_stays_and_says_so(folder, monkeypatch):
    grown(folder, "one")
    monkeypatch.setattr(Remark, "version", 3)
    assert checked(folder)[0].section() is None and "does not read it" in checked(folder)[0].words
    monkeypatch.delitem(sections._factories, "remark")
    assert checked(folder)[0].section() is None


def test_a_known_section_that_holds_something_else_is_refused_when_it_is_read(folder):
    grown(folder, "one")
    edited(folder, 1, result={"text": 5})
    with pytest.raises(RunFolderError, match="is no section 'remark'"):
        checked(folder)[0].section()


def test_a_section_has_a_limit_of_size(folder, monkeypatch):
    grown(folder, "one")
    monkeypatch.setattr(limits, "SECTION_BYTES", Limit(300, "bytes of a section", "a test"))
    with pytest.raises(DataError, match="0002-remark.json: .* bytes of a section; allowed: at most 300"):
        grown(folder, "x" * 300)
    monkeypatch.setattr(limits, "SECTION_BYTES", Limit(20, "bytes of a section", "a test"))
    with pytest.raises(RunFolderError, match="21 bytes of a section; allowed: at most 20"):
        checked(folder)


def test_numbers_end(folder, monkeypatch):
    monkeypatch.setattr(chain, "MOST_SECTIONS", 1)
    with pytest.raises(InputError, match="has 1 sections; allowed: at most 1"):
        grown(folder, "one", "two")


def test_of_two_writers_none_is_lost(folder):
    start, wanted = threading.Barrier(4), 5

    def write(name):
        start.wait()
        grown(folder, *(f"{name} {number}" for number in range(wanted)))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = [link.section().text for link in checked(folder)]
    assert sorted(found) == sorted(f"{name} {number}" for name in "abcd" for number in range(wanted))
    for name in "abcd":
        assert [each for each in found if each.startswith(name)] == [f"{name} {number}" for number in range(wanted)]


def test_a_number_that_was_taken_meanwhile_is_given_up_where_nothing_is_locked(folder, monkeypatch):
    """As on a file system without locks: another writer adds between reading the chain and writing."""
    others = iter([True, False])

    def late(run, name, content):
        if next(others):
            grown_by_others = json.loads(content) | {"result": {"text": "theirs"}}
            add_to_run(run, name, json.dumps(grown_by_others).encode())
        return add_to_run(run, name, content)

    monkeypatch.setattr(chain, "add_to_run", late)
    link = grown(folder, "ours")[0]
    assert link.file == "sections/0002-remark.json"
    assert [each.section().text for each in checked(folder)] == ["theirs", "ours"]


def test_a_run_that_was_changed_gets_no_section(folder):
    (folder / "run.json").write_text("[]")
    with pytest.raises(RunFolderError, match="run.json was changed after the run"):
        grown(folder, "one")
    assert not (folder / "sections").exists()


def test_a_place_that_cannot_be_written_is_refused(folder, monkeypatch):
    check_addable(folder)
    (folder / "sections").mkdir()
    for place, lacking in itertools.product((folder.parent, folder / "sections"), (os.W_OK, os.X_OK)):
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda asked, mode: asked != place or not mode & lacking)  # noqa: B023
            with pytest.raises(InputError, match="no section can be added"):
                check_addable(folder)
    monkeypatch.setattr(os, "access", lambda asked, mode: asked != folder)  # what stands beside sections stays
    check_addable(folder)
