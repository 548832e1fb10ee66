"""Excerpts of printed output: some of its lines, some columns of its tables, one cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

OMITTED = "…"
PART = re.compile(
    r"(?P<first>\d+)(?:-(?P<last>\d+)|-/(?P<until>(?:[^/\\]|\\.)+)/)?|/(?P<begin>(?:[^/\\]|\\.)+)/(?:\+(?P<more>\d+)|-/(?P<end>(?:[^/\\]|\\.)+)/)?"
)


def tidy(text: str) -> str:
    """Return output without blanks at the ends of lines and without blank lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def chosen_lines(lines: list[str], selection: str) -> set[int]:
    """
    Return the places of the lines that a selection keeps.

    Parameters
    ----------
    lines
        Lines of the output.
    selection
        Parts with commas between them: ``2``, ``1-3`` (from 1), ``1-/pattern/``, ``/pattern/``, ``/pattern/+2`` (and
        the next two), ``/pattern/-/pattern/`` (from one line to another). A part that finds nothing is an error:
        the output changed.
    """
    kept: set[int] = set()
    for part in PART.finditer(selection):
        if part["first"]:
            last = int(part["last"] or part["first"])
            if part["until"]:
                last = next((k + 1 for k, line in enumerate(lines) if re.search(part["until"], line)), 0)
            found = set(range(int(part["first"]) - 1, last))
        else:
            starts = [k for k, line in enumerate(lines) if re.search(part["begin"], line)]
            found = {k + step for k in starts for step in range(int(part["more"] or 0) + 1)}
            if part["end"] and starts:
                ends = [k for k, line in enumerate(lines) if k > starts[0] and re.search(part["end"], line)]
                found = set(range(starts[0], ends[0] + 1)) if ends else set()
        found &= set(range(len(lines)))
        if not found:
            raise LookupError(f"no line for {part[0]!r}")
        kept |= found
    return kept


def with_lines(text: str, selection: str) -> str:
    """Return the lines that a selection keeps; ``…`` stands for each run of others."""
    lines = text.splitlines()
    kept, result = chosen_lines(lines, selection), list[str]()
    for k, line in enumerate(lines):
        if k in kept:
            result.append(line)
        elif (not result or result[-1] != OMITTED) and any(lines[j].strip() for j in range(k, len(lines))):
            result.append(OMITTED)
    return "\n".join(result) + "\n"


@dataclass(frozen=True)
class Table:
    """A table within printed output: its lines, and where its columns begin and end."""

    start: int
    lines: list[str]
    bounds: list[tuple[int, int]]

    def row(self, line: str) -> list[str]:
        """Return the cells of a line, as they are padded."""
        return [line[low:high] for low, high in self.bounds]

    @property
    def titles(self) -> list[str]:
        """Titles of the columns."""
        return [cell.strip() for cell in self.row(self.lines[0])]


def end_of_gap(blanks: set[int]) -> int:
    """Return where the widest run of blanks ends: a cell such as ``0.88 [0.85, 0.90]`` has a blank of its own."""
    starts = [at for at in sorted(blanks) if at - 1 not in blanks]
    ends = [next(at for at in range(start, max(blanks) + 2) if at not in blanks) for start in starts]
    return max(zip(starts, ends, strict=True), key=lambda run: (run[1] - run[0], -run[0]))[1]


def table_with(text: str, titles: list[str]) -> Table:
    """Return the first table whose header has these titles: what follows the header and respects its columns."""
    lines = text.splitlines()
    headers = [[(match[0], *match.span()) for match in re.finditer(r"\S+(?: \S+)*", line)] for line in lines]
    start = next((k for k, words in enumerate(headers) if set(titles) <= {word for word, _, _ in words}), None)
    if start is None:
        raise LookupError(f"no table with the columns {', '.join(titles)}")
    gaps = [set(range(left[2], right[1])) for left, right in pairwise(headers[start])]
    body = [lines[start]]
    for line in lines[start + 1 :]:
        narrower = [{at for at in gap if at >= len(line) or line[at] == " "} for gap in gaps]
        if not line.strip() or not all(narrower):
            break
        gaps = narrower
        body.append(line)
    cuts = [0, *(end_of_gap(gap) for gap in gaps), max(map(len, body))]
    return Table(start, body, list(pairwise(cuts)))


def with_columns(text: str, selection: list[str]) -> str:
    """Return the text with these columns of its table; ``…`` stands for each run of others, ``a = b`` renames a."""
    names = dict((*part.split(" = "), part)[:2] for part in selection)
    table, lines = table_with(text, list(names)), text.splitlines()
    for k, line in enumerate(table.lines):
        shown = list[str]()
        for title, (low, high) in zip(table.titles, table.bounds, strict=True):
            padded = line[low:high].ljust(high - low)
            if title in names:
                if names[title] != title:  # a longer name: the column is as wide
                    padded = (names[title] if k == 0 else padded.strip()).rjust(len(names[title])) + "  "
                shown.append(padded)
            elif not shown or shown[-1].strip() != OMITTED:
                shown.append(f" {OMITTED}  ")
        lines[table.start + k] = "".join(shown).rstrip()
    return "\n".join(lines) + "\n"


def cell(text: str, row: str, column: str) -> str:
    """Return one cell of a table: `row` is what its line begins with, after the mark of a line."""
    table = table_with(text, [column])
    for line in table.lines[1:]:
        cells = [each.strip() for each in table.row(line)]
        if cells[0].lstrip(">*= ") == row:
            return cells[table.titles.index(column)]
    raise LookupError(f"no row {row!r} in the table with the column {column!r}")


def excerpt(text: str, lines: str, columns: str) -> str:
    """Return what a block shows of an output."""
    text = tidy(text)
    if columns:
        text = with_columns(text, [title.strip() for title in columns.split("|")])
    return with_lines(text, lines) if lines else text
