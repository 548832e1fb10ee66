"""The Markdown form of passages: a heading for the framework, a heading for each passage, a list of four keys.

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

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field

from accordant.agents.moves import CONSIDERATIONS
from accordant.agents.retrieval.passage import Passage
from accordant.errors import DataError, allowed_names

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
    found = ITEM.fullmatch(line)
    if found is None:
        raise DataError(f"{at}: found {line!r:.80}; {FORM}")
    key = found[1]
    if key not in KEYS:
        raise DataError(f"{at}: unknown key {key!r}; {allowed_names(KEYS, key)}")
    if key in draft.values:
        raise DataError(f"{at}: {key!r} a second time in {draft.id!r}, first in line {draft.lines[key]}; allowed: once")
    draft.values[key], draft.lines[key] = found[2].strip(), number


def _passage(draft: _Draft, framework: str, where: str, codes: Collection[str]) -> Passage:
    """Return the finished passage."""
    for key in NEEDED:
        if key not in draft.values:
            raise DataError(f"{where}, line {draft.line}: {draft.id!r} has no {key!r}; needed: {', '.join(NEEDED)}")
    for key, value in draft.values.items():
        if not value:
            raise DataError(f"{where}, line {draft.lines[key]}: {key!r} of {draft.id!r} is empty; allowed: some text")
    return Passage(
        id=draft.id,
        framework=framework,
        claim=draft.values["claim"],
        implication=draft.values["implication"],
        source=draft.values["source"],
        codes=_supported(draft, where, codes),
    )


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
