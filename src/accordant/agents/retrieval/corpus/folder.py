"""Corpora in folders: the built-in one, and those that users write."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Collection, Iterable
from pathlib import Path

from accordant.agents.moves import CONSIDERATIONS
from accordant.agents.retrieval.corpus.corpus import Corpus
from accordant.agents.retrieval.corpus.markdown import parse
from accordant.agents.retrieval.passage import Passage
from accordant.errors import DataError, DataNotFoundError

SUFFIX = ".md"
NOT_READ = "readme.md"  # a folder may explain itself


@functools.cache
def built_in_corpus() -> Corpus:
    """Return the passages that come with the package: eight frameworks, written for it, each with its limits."""
    root = importlib.resources.files("accordant.agents.retrieval.corpus")
    return _joined((each.name, each.read_bytes()) for each in root.iterdir() if each.name.endswith(SUFFIX))


def read_corpus(folder: str | Path, *, extends: bool = False, codes: Collection[str] = CONSIDERATIONS) -> Corpus:
    """Read the Markdown files of a folder, but not of folders in it; ``README.md`` is left out.

    Parameters
    ----------
    folder
        Holds files of the form that `accordant.agents.retrieval.corpus.markdown` describes.
    extends
        Add to the built-in passages; False to use these passages alone.
    codes
        Codes that passages may support; others than the usual ones serve frameworks of one's own.

    Raises
    ------
    DataNotFoundError
        If there is no such folder, or no Markdown file in it.
    DataError
        If a file cannot be read, is not UTF-8 or not of the form, or an id is used in two files.
    InputError
        If the folder extends the built-in corpus and uses an id of it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        kind = "a file" if folder.exists() else "nothing"
        raise DataNotFoundError(f"corpus {folder.as_posix()}: found {kind}; allowed: a folder of Markdown files")
    try:
        files = sorted(each for each in folder.iterdir() if _read(each.name) and not each.is_dir())
    except OSError as error:
        raise DataError(f"corpus {folder.as_posix()} cannot be read: {error.strerror}") from None
    if not files:
        raise DataNotFoundError(f"corpus {folder.as_posix()}: no Markdown file; allowed: at least one file *{SUFFIX}")
    corpus = _joined(((each.as_posix(), _content(each)) for each in files), codes)
    return built_in_corpus().extended(corpus) if extends else corpus


def _read(name: str) -> bool:
    """Return whether a file of this name belongs to a corpus."""
    folded = name.casefold()
    return folded.endswith(SUFFIX) and folded != NOT_READ and not name.startswith(".")


def _content(file: Path) -> bytes:
    """Return what a file holds; a pipe is not opened, it could keep everybody waiting."""
    if not file.is_file():
        kind = "a link to nothing" if file.is_symlink() else "no regular file"
        raise DataError(f"{file.as_posix()}: found {kind}; allowed: a Markdown file")
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"{file.as_posix()} cannot be read: {error.strerror}") from None


def _joined(files: Iterable[tuple[str, bytes]], codes: Collection[str] = CONSIDERATIONS) -> Corpus:
    """Return the passages of files, given as name and content."""
    passages, taken = list[Passage](), dict[str, str]()
    for where, content in sorted(files):
        passages += parse(_decoded(content, where), where=where, codes=codes, taken=taken)
    return Corpus(passages)


def _decoded(content: bytes, where: str) -> str:
    """Return the text of a file; a byte order mark is left out."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{where}, line {line}: byte {content[error.start]:#04x} is not UTF-8; allowed: UTF-8"
        ) from None
