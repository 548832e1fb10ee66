"""Corpora that users write: the form, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import re

import pytest

from accordant.agents.moves import CONSIDERATIONS as CODES
from accordant.agents.retrieval import Passage, built_in_corpus, read_corpus
from accordant.agents.retrieval.corpus import parse
from accordant.errors import DataError, DataNotFoundError, InputError

GOOD = """\
# ward

## ward-1

- claim: The ward serves
  the district first.
- implication: Admit neighbours.
- source: Our rules, 2024
- codes: arrival, dependency

## ward-2
- source: Our rules, 2024
- implication: Ask the family.
- claim: Relatives know best.
"""


def refusal(tmp_path, text):
    """Return with what message, which names the file, a file is refused."""
    file = tmp_path / "ward.md"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=re.escape(file.as_posix())) as caught:
        read_corpus(tmp_path)
    return str(caught.value)


def test_a_file_becomes_passages():
    assert parse(GOOD, where="ward.md") == (
        Passage(
            "ward-1", "ward", "The ward serves the district first.", "Admit neighbours.", "Our rules, 2024",
            ("arrival", "dependency"),
        ),
        Passage("ward-2", "ward", "Relatives know best.", "Ask the family.", "Our rules, 2024", ()),
    )  # fmt: skip


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path, end):
    (tmp_path / "ward.md").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", end).encode())
    assert read_corpus(tmp_path).passages == parse(GOOD, where="")


def test_scripts_from_right_to_left_are_text():
    said = "\u062e\u0627\u0646\u0648\u0627\u062f\u0647 \u0645\u06cc\u200c\u062f\u0627\u0646\u062f"
    assert parse(GOOD.replace("Relatives know best.", said), where="")[1].claim == said


def test_what_is_no_file_is_named_and_not_opened(tmp_path):
    (tmp_path / "good.md").write_text(GOOD)
    broken, pipe = tmp_path / "broken.md", tmp_path / "pipe.md"
    broken.symlink_to(tmp_path / "nowhere.md")
    with pytest.raises(DataError, match=r"broken\.md: found a link to nothing; allowed: a Markdown file"):
        read_corpus(tmp_path)
    broken.unlink()
    os.mkfifo(pipe)
    with pytest.raises(DataError, match=r"pipe\.md: found no regular file; allowed: a Markdown file"):
        read_corpus(tmp_path)
    pipe.rename(tmp_path / "pipe.txt")
    assert len(read_corpus(tmp_path)) == 2


@pytest.mark.parametrize("method", ["read_bytes", "iterdir"])
def test_a_file_or_folder_that_cannot_be_read_is_named(method, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "ward.md").write_text(GOOD)
    monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(DataError, match=f"{tmp_path.as_posix()}.* cannot be read: Permission denied"):
        read_corpus(tmp_path)


def test_other_scripts_are_text():
    text = GOOD.replace("# ward", "# fürsorge").replace("Relatives know best.", "家族が最もよく知る。")
    assert parse(text, where="")[1].framework == "fürsorge"
    assert parse(text, where="")[1].claim == "家族が最もよく知る。"


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("# ward\n", "", "line 2: found '## ward-1'; allowed: a file begins with '# FRAMEWORK'"),
        ("# ward\n", "# the ward\n", "line 1: framework 'the ward'; allowed: a letter or digit"),
        ("# ward\n", "# \n", "line 1: framework ''"),
        ("## ward-2", "# ward", "line 11: a second framework, '# ward'; allowed: one per file, 'ward' here"),
        ("## ward-2", "## ward 2", "line 11: id 'ward 2'; allowed"),
        ("## ward-2", "## ward-1", "line 11: id 'ward-1' a second time, first in "),
        ("## ward-2", "### ward-2", "line 11: found '### ward-2'; allowed: '# FRAMEWORK', '## ID'"),
        ("## ward-1\n", "Some words.\n## ward-1\n", "line 3: found 'Some words.' before the first passage; allowed"),
        ("## ward-1\n", "## ward-1\n  words\n", "line 4: found '  words'; allowed"),
        ("- codes: arr", "codes: arr", "line 9: found 'codes: arrival, dependency'; allowed"),
        ("- codes: arr", "  - codes: arr", "line 9: found '  - codes: arrival, dependency'; allowed"),
        ("- codes:", "- code:", "line 9: unknown key 'code'; did you mean 'codes'? valid: claim, implication, source"),
        ("- codes: arrival, dependency", "- source: b", "line 9: 'source' a second time in 'ward-1', first in line 8"),
        ("dependency", "dependancy", "line 9: unknown code 'dependancy' in 'ward-1'; did you mean 'dependency'? valid"),
        ("arrival, dependency", "arrival, arrival", "line 9: code 'arrival' a second time in 'ward-1'; allowed: once"),
        ("arrival, dependency", "arrival,", "line 9: unknown code '' in 'ward-1'"),
        ("arrival, dependency", "", "line 9: 'codes' of 'ward-1' is empty; allowed: some text"),
        ("- claim: Relatives know best.\n", "", "line 11: 'ward-2' has no 'claim'; needed: claim, implication, source"),
        ("- claim: Relatives know best.", "- claim:", "line 14: 'claim' of 'ward-2' is empty"),
        ("Relatives", "\x1b[31mRelatives", "line 14: control character U+001B; allowed: text"),
        ("Relatives", "\u202eRelatives", "line 14: control character U+202E; allowed: text"),
        ("Relatives", "\u2067Relatives", "line 14: control character U+2067; allowed: text"),
        ("Relatives", "Relatives\u2028", "line 14: control character U+2028; allowed: text"),
        ("Relatives", "Relatives\u2029", "line 14: control character U+2029; allowed: text"),
        ("Relatives", "Relatives\x85", "line 14: control character U+0085; allowed: text"),
    ],
)  # fmt: skip
def test_wrong_lines_are_refused(tmp_path, old, new, match):
    assert GOOD.count(old) >= 1
    assert match in refusal(tmp_path, GOOD.replace(old, new, 1))


@pytest.mark.parametrize("text", ["", "\n \n", "# ward\n"])
def test_a_file_without_passages_is_refused(tmp_path, text):
    assert "no passages; allowed: '# FRAMEWORK', '## ID'" in refusal(tmp_path, text)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    message = refusal(tmp_path, b"# ward\n\n## f\xfcr\n")
    assert "line 3: byte 0xfc is not UTF-8; allowed: UTF-8" in message


def test_a_repeated_id_in_another_file_is_refused(tmp_path):
    (tmp_path / "a.md").write_text(GOOD)
    (tmp_path / "b.md").write_text(GOOD.replace("ward-1", "b-1"))
    with pytest.raises(DataError, match=r"b\.md, line 11: id 'ward-2' a second time, first in .*a\.md, line 11"):
        read_corpus(tmp_path)


def test_folders_are_read_without_folders_in_them_and_without_readme(tmp_path):
    (tmp_path / "b.MD").write_text(GOOD.replace("ward-", "b-"))
    (tmp_path / "a.md").write_text(GOOD)
    for name in ("README.md", ".hidden.md", "notes.txt"):
        (tmp_path / name).write_text("Anything.")
    (tmp_path / "deeper.md").mkdir()
    corpus = read_corpus(str(tmp_path))
    assert [each.id for each in corpus.passages] == ["b-1", "b-2", "ward-1", "ward-2"]
    assert corpus.frameworks == ("ward",)


def test_no_folder_and_an_empty_folder_are_named(tmp_path):
    with pytest.raises(DataNotFoundError, match="no Markdown file; allowed: at least one file"):
        read_corpus(tmp_path)
    with pytest.raises(DataNotFoundError, match="found nothing; allowed: a folder of Markdown files"):
        read_corpus(tmp_path / "nowhere")
    (tmp_path / "ward.md").write_text(GOOD)
    with pytest.raises(DataNotFoundError, match="found a file; allowed: a folder"):
        read_corpus(tmp_path / "ward.md")


def test_a_folder_replaces_or_extends_what_is_built_in(tmp_path):
    (tmp_path / "ward.md").write_text(GOOD)
    assert len(read_corpus(tmp_path)) == 2
    extended = read_corpus(tmp_path, extends=True)
    assert len(extended) == len(built_in_corpus()) + 2
    assert extended.hash != built_in_corpus().hash
    (tmp_path / "ward.md").write_text(GOOD.replace("ward-2", "care-2"))
    assert len(read_corpus(tmp_path)) == 2
    with pytest.raises(InputError, match="two passages have the id 'care-2'"):
        read_corpus(tmp_path, extends=True)


def test_codes_of_frameworks_of_ones_own(tmp_path):
    text = GOOD.replace("dependency", "loyalty")
    assert "unknown code 'loyalty'" in refusal(tmp_path, text)
    assert read_corpus(tmp_path, codes=(*CODES, "loyalty")).passage("ward-1").codes == ("arrival", "loyalty")
