"""Tables on a terminal of any width: no cell is cut, and no name or number is broken.

A table that is too wide for its lines

1. breaks texts and heads between words, the widest column first;
2. leaves out columns that may be missing, and says which;
3. is laid below itself in parts, each with the first column, if most other columns hold numbers or names; or else is
   turned: a paragraph per row, with a line per column.

Only a word that is longer than a line goes beyond it, so that it can be copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text

from accordant.naming import plain

PROSE = 20  # characters below which a column of text is not broken further, if it is that wide
INDENT = 2


@dataclass(frozen=True)
class _Held:
    """What a column needs: as plain texts, and how narrow it may become.

    Attributes
    ----------
    column
        As rich has it.
    head, cells
        As they are printed.
    whole
        Whether its cells are never broken: names and numbers.
    """

    column: Column
    head: str
    cells: tuple[str, ...]
    whole: bool

    @property
    def natural(self) -> int:
        """Width at which nothing is broken."""
        return max(map(cell_len, (self.head, *self.cells)))

    @property
    def least(self) -> int:
        """The smallest width: no word is broken, and a text keeps some words in a line."""
        words = max((cell_len(word) for text in (self.head, *self.cells) for word in text.split()), default=0)
        if self.whole:
            return max(words, *map(cell_len, self.cells), 1)
        return max(words, min(self.natural, PROSE))


class FittedTable(Table):
    """A table without lines, with its title on the left, that fits its console; see this module.

    Parameters
    ----------
    title
        Above the table; None for none.
    gap
        Blanks between columns.
    show_header
        Whether columns have heads.
    """

    def __init__(self, title: str | None = None, *, gap: int = 2, show_header: bool = True) -> None:
        padding = (0, gap - gap // 2, 0, gap // 2)
        super().__init__(
            title=title, title_justify="left", box=None, pad_edge=False, padding=padding, show_header=show_header,
            caption_justify="left",
        )  # fmt: skip
        self._gap = gap
        self._optional: dict[int, int] = {}

    def add(self, head: str, *, number: bool = False, name: bool = False, optional: int = 0) -> None:
        """Add a column.

        Parameters
        ----------
        head
            Its head, which may be broken between words.
        number, name
            Whether its cells are numbers, on the right, or names; neither is broken. Others are texts.
        optional
            Above 0 if it may be left out where there is no room: the highest first, among equals the last.
        """
        if optional:
            self._optional[len(self.columns)] = optional
        self.add_column(head, justify="right" if number else "left", no_wrap=name)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print the table as wide as there is room for."""
        width = options.max_width
        held = self._held()
        if not held or self._room(held, natural=True) <= width:
            yield from super().__rich_console__(console, options)
            return
        kept, gone = list(held), []
        for place in sorted(self._optional, key=lambda place: (-self._optional[place], -place)):
            if self._room(kept) <= width:
                break
            kept.remove(held[place])
            gone.append(held[place].head)
        yield from self._fitted(kept, width)
        if gone:
            yield from (_uncut(line) for line in broken(f"no room for {', '.join(gone)}", width))

    def _held(self) -> list[_Held]:
        return [
            _Held(
                column, plain(str(column.header)) if self.show_header else "",
                tuple(plain(str(cell)) for cell in column.cells),
                whole=place == 0 or column.no_wrap or column.justify == "right",
            )
            for place, column in enumerate(self.columns)
        ]  # fmt: skip

    def _room(self, held: Sequence[_Held], *, natural: bool = False) -> int:
        """Return how wide columns are side by side, at their widest or narrowest."""
        return sum(column.natural if natural else column.least for column in held) + self._gap * (len(held) - 1)

    def _fitted(self, kept: list[_Held], width: int) -> Iterable[Any]:
        """Yield columns side by side, in parts below each other, or turned."""
        first, *others = kept
        if self._room(kept) <= width:
            parts = [others]
        elif self._separable(first, others, width):
            parts = self._parts(first, others, width)
        else:
            yield from self._turned(kept, width)
            return
        for number, part in enumerate(parts):
            if number:
                yield Text("")
            last = number == len(parts) - 1
            yield self._part([first, *part], width, self.title if not number else None, self.caption if last else None)

    def _separable(self, first: _Held, others: Sequence[_Held], width: int) -> bool:
        """Whether parts below each other are easy to read: mostly numbers and names, no long text, all with room."""
        texts = [column for column in others if not column.whole]
        short = all(column.natural <= width // 2 for column in texts) and 2 * len(texts) < len(others)
        return (not texts or short) and bool(others) and all(self._room([first, column]) <= width for column in others)

    def _parts(self, first: _Held, others: Sequence[_Held], width: int) -> list[list[_Held]]:
        """Return columns in groups that fit beside the first one."""
        parts: list[list[_Held]] = [[]]
        for column in others:
            if parts[-1] and self._room([first, *parts[-1], column]) > width:
                parts.append([])
            parts[-1].append(column)
        return parts

    def _part(self, held: Sequence[_Held], width: int, title: Any, caption: Any) -> Table:
        """Return a table of some columns at widths that fit."""
        table = Table(
            title=title, title_justify="left", box=None, pad_edge=False, padding=self.padding, caption=caption,
            caption_justify="left", show_header=self.show_header,
        )  # fmt: skip
        widths = _widths(held, width - self._gap * (len(held) - 1))
        for column, wide in zip(held, widths, strict=True):
            table.add_column(_whole(_broken(column.head, wide)), justify=column.column.justify, width=wide)
        for row in zip(*(column.cells for column in held), strict=True):
            cells = zip(row, held, widths, strict=True)
            table.add_row(*(_whole(cell if column.whole else _broken(cell, wide)) for cell, column, wide in cells))
        return table

    def _turned(self, held: Sequence[_Held], width: int) -> Iterable[Text]:
        """Yield a paragraph per row: the first column, then a line for each other one that is not blank."""
        yield from (Text(line, style="italic") for line in broken(plain(str(self.title)) if self.title else "", width))
        for row in zip(*(column.cells for column in held), strict=True):
            yield from (_uncut(line) for line in broken(row[0], width))
            for column, cell in zip(held[1:], row[1:], strict=True):
                if cell.strip():
                    head = f"{column.head}: " if column.head else ""
                    for line in broken(f"{head}{cell}", width, INDENT):
                        yield _uncut(line)
        if self.caption:
            yield from (_uncut(line) for line in broken(plain(str(self.caption)), width))


def _whole(text: str) -> Text:
    """Return a text that rich breaks nowhere else; it would count letters where it should count columns."""
    return Text(text, no_wrap=True)


def _uncut(text: str) -> Text:
    """Return a line that may be longer than there is room for."""
    return Text(text, overflow="ignore", no_wrap=True)


def _broken(text: str, width: int) -> str:
    return "\n".join(broken(text, width))


def _widths(held: Sequence[_Held], room: int) -> list[int]:
    """Return a width for each column, in sum at most the room: the widest columns give first, down to their least."""
    widths = [column.natural for column in held]
    while sum(widths) > room:
        able = [place for place, column in enumerate(held) if widths[place] > column.least]
        if not able:  # a single name that is longer than a line
            break
        widest = max(able, key=lambda place: widths[place])
        widths[widest] -= 1
    return widths


def broken(text: str, width: int, indent: int = 0) -> list[str]:
    """Return a text in lines that are broken between words, after blanks: more of them from the second line on."""
    lines: list[str] = []
    line, empty = " " * indent, True
    for word in text.split():
        if not empty and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line, empty = " " * (2 * indent), True
        line, empty = f"{line}{'' if empty else ' '}{word}", False
    return lines if empty else [*lines, line]
