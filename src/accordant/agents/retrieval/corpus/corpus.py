"""`Corpus`: passages that agents may cite, each under an id of its own, in folders of Markdown files.

In the Markdown form, the framework has a heading, each passage has one, and under it stands a list of four keys.

::

    # rawlsian

    ## rawlsian-1

    - claim: An inequality needs this excuse: those at the bottom fare better with it than they would without it.
    - implication: Choose the allocation in which the worst-off patient fares as well as possible.
    - source: John Rawls, A Theory of Justice, 1971
    - codes: worst_off, severity

A value goes on in the next line if that line begins with two spaces. Empty lines are free. Nothing else is allowed:
a line that is not understood would otherwise be lost in silence. A passage is data; nothing in it is ever carried out.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from accordant import limits
from accordant.agents.moves import CONSIDERATIONS
from accordant.agents.retrieval.passage import Passage
from accordant.errors import DataError, DataNotFoundError, InputError, UnknownNameError, allowed_names


@dataclass(frozen=True)
class Corpus:
    """Passages, kept sorted by id, so that nothing depends on the order of files or lists.

    Parameters
    ----------
    passages
        May be empty: then nothing is found and nothing can be cited.

    Raises
    ------
    InputError
        If two passages have the same id, or one has no id, framework or claim.
    """

    passages: tuple[Passage, ...] = ()

    def __init__(self, passages: Iterable[Passage] = ()) -> None:
        object.__setattr__(self, "passages", tuple(sorted(passages, key=lambda passage: passage.id)))
        for passage in self.passages:
            for name in ("id", "framework", "claim"):
                if not getattr(passage, name).strip():
                    raise InputError(f"passage {passage.id!r} has no {name}; allowed: some text")
        for first, second in zip(self.passages, self.passages[1:], strict=False):
            if first.id == second.id:
                raise InputError(
                    f"two passages have the id {first.id!r}: {first.claim!r:.60} and {second.claim!r:.60}; "
                    "allowed: each id once"
                )

    def __len__(self) -> int:
        return len(self.passages)

    @cached_property
    def frameworks(self) -> tuple[str, ...]:
        """Names of the frameworks that have passages, sorted."""
        return tuple(sorted({passage.framework for passage in self.passages}))

    @cached_property
    def hash(self) -> str:
        """Content hash (sha256, hexadecimal) of all passages; does not depend on the order of files."""
        content = json.dumps([asdict(passage) for passage in self.passages], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def of(self, framework: str) -> tuple[Passage, ...]:
        """Return the passages of one framework, sorted by id; empty if it has none."""
        return tuple(passage for passage in self.passages if passage.framework == framework)

    def passage(self, id: str) -> Passage:  # noqa: A002 - passages are known by their id
        """Return one passage.

        Raises
        ------
        UnknownNameError
            If no passage has that id.
        """
        for passage in self.passages:
            if passage.id == id:
                return passage
        raise UnknownNameError("passage", id, [passage.id for passage in self.passages])

    def extended(self, other: Corpus) -> Corpus:
        """Return a corpus with the passages of both.

        Raises
        ------
        InputError
            If an id occurs in both: a citation must name one passage.
        """
        return Corpus((*self.passages, *other.passages))


KEYS = ("claim", "implication", "source", "codes")
NEEDED = ("claim", "implication", "source")
NAME = re.compile(r"[^\W_][\w.-]*")
ITEM = re.compile(r"- (\w+):(.*)")
INDENT = "  "
STEERING = ("Cc", "Zl", "Zp")  # control characters, and separators that some programs take for line ends
EMBEDDING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")  # reorder what stands after them
FORM = "allowed: '# FRAMEWORK', '## ID', '- KEY: VALUE', and a value going on after two spaces"


@dataclass
class _Draft:
    """A passage while its lines are read: its words, and in which line each key began."""

    id: str
    line: int
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def parse(
    text: str, *, where: str, codes: Collection[str] = CONSIDERATIONS, taken: dict[str, str] | None = None
) -> tuple[Passage, ...]:
    """Return the passages of one file, in the order of its lines.

    Parameters
    ----------
    text
        Content of the file.
    where
        What messages call it.
    codes
        Codes that passages may support.
    taken
        Ids of earlier files and where they stand; those of this file are added.

    Raises
    ------
    DataError
        If a line is not of the form, a key is unknown, missing or repeated, a code is unknown, an id is taken, or
        there are no passages. The message names file, line, what was found and what is allowed.
    """
    framework, drafts, taken = "", list[_Draft](), {} if taken is None else taken
    for number, line in enumerate(re.split("\r\n|\r|\n", text), start=1):
        at = f"{where}, line {number}"
        _check_characters(line, at)
        if not line.strip():
            continue
        if line.startswith("# "):
            if framework:
                raise DataError(f"{at}: a second framework, {line!r:.80}; allowed: one per file, {framework!r} here")
            framework = _name(line[2:], "framework", at)
        elif not framework:
            raise DataError(f"{at}: found {line!r:.80}; allowed: a file begins with '# FRAMEWORK'")
        elif line.startswith("## "):
            drafts.append(_Draft(_name(line[3:], "id", at), number))
            _take_id(drafts[-1].id, at, taken)
        elif not drafts:
            raise DataError(f"{at}: found {line!r:.80} before the first passage; allowed: '## ID'")
        else:
            _take_line(line, number, drafts[-1], at)
    if not drafts:
        raise DataError(f"{where}: no passages; {FORM}")
    return tuple(_passage(draft, framework, where, codes) for draft in drafts)


def _check_characters(line: str, at: str) -> None:
    """Refuse characters that could steer a terminal, or show a passage in another order than it is written in."""
    for character in line:
        steers = unicodedata.category(character) in STEERING or unicodedata.bidirectional(character) in EMBEDDING
        if steers and character != "\t":
            raise DataError(f"{at}: control character U+{ord(character):04X}; allowed: text")


def _name(words: str, kind: str, at: str) -> str:
    """Return a name that can be cited within a sentence."""
    name = words.strip()
    if not NAME.fullmatch(name):
        raise DataError(f"{at}: {kind} {name!r:.60}; allowed: a letter or digit, then also '-', '_' and '.'")
    return name


def _take_id(id: str, at: str, taken: dict[str, str]) -> None:  # noqa: A002 - passages are known by their id
    """Note where an id stands."""
    if id in taken:
        raise DataError(f"{at}: id {id!r} a second time, first in {taken[id]}; allowed: each id once")
    taken[id] = at


def _take_line(line: str, number: int, draft: _Draft, at: str) -> None:
    """Add a line to a passage."""
    if line.startswith(INDENT) and draft.values and not ITEM.fullmatch(line.strip()):
        last = next(reversed(draft.values))
        draft.values[last] = f"{draft.values[last]} {line.strip()}".strip()
        return
    match = ITEM.fullmatch(line)
    if match is None:
        raise DataError(f"{at}: found {line!r:.80}; {FORM}")
    key = match[1]
    if key not in KEYS:
        raise DataError(f"{at}: unknown key {key!r}; {allowed_names(KEYS, key)}")
    if key in draft.values:
        raise DataError(f"{at}: {key!r} a second time in {draft.id!r}, first in line {draft.lines[key]}; allowed: once")
    draft.values[key], draft.lines[key] = match[2].strip(), number


def _passage(draft: _Draft, framework: str, where: str, codes: Collection[str]) -> Passage:
    """Return the finished passage."""
    for key in NEEDED:
        if key not in draft.values:
            raise DataError(f"{where}, line {draft.line}: {draft.id!r} has no {key!r}; needed: {', '.join(NEEDED)}")
    for key, value in draft.values.items():
        if not value:
            raise DataError(f"{where}, line {draft.lines[key]}: {key!r} of {draft.id!r} is empty; allowed: some text")
    said = {key: draft.values[key] for key in NEEDED}
    return Passage(id=draft.id, framework=framework, codes=_supported(draft, where, codes), **said)


def _supported(draft: _Draft, where: str, codes: Collection[str]) -> tuple[str, ...]:
    """Return the codes of a passage; none stands for any."""
    if "codes" not in draft.values:
        return ()
    at = f"{where}, line {draft.lines['codes']}"
    supported = tuple(code.strip() for code in draft.values["codes"].split(","))
    for position, code in enumerate(supported):
        if code not in codes:
            raise DataError(f"{at}: unknown code {code!r} in {draft.id!r}; {allowed_names(codes, code)}")
        if code in supported[:position]:
            raise DataError(f"{at}: code {code!r} a second time in {draft.id!r}; allowed: once")
    return supported


SUFFIX = ".md"
NOT_READ = "readme.md"  # a folder may explain itself


@functools.cache
def built_in_corpus() -> Corpus:
    """Return the passages that come with the package: eight frameworks, written for it, each with its limits."""
    root = importlib.resources.files("accordant.agents.retrieval.corpus")
    return _joined((file.name, file.read_bytes()) for file in root.iterdir() if file.name.endswith(SUFFIX))


def read_corpus(folder: str | Path, *, extends: bool = False, codes: Collection[str] = CONSIDERATIONS) -> Corpus:
    """Read the Markdown files of a folder, but not of folders in it; ``README.md`` is left out.

    Parameters
    ----------
    folder
        Holds files of the form that `accordant.agents.retrieval.corpus.corpus` describes.
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
        files = sorted(file for file in folder.iterdir() if _read(file.name) and not file.is_dir())
    except OSError as error:
        raise DataError(f"corpus {folder.as_posix()} cannot be read: {error.strerror}") from None
    if not files:
        raise DataNotFoundError(f"corpus {folder.as_posix()}: no Markdown file; allowed: at least one file *{SUFFIX}")
    corpus = _joined(((file.as_posix(), _content(file)) for file in files), codes)
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
        limits.TEXT_BYTES.check(file.stat().st_size, file.as_posix())
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
