"""Texts of others on a terminal: ids, names and what models wrote may hold characters that steer it."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

LINES = ("Zl", "Zp")  # categories of the characters, beside control and invisible ones, that begin a line


def plain(text: str) -> str:
    r"""Return a text whose control, invisible and line-breaking characters are written as escapes such as ``\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(each) if _steers(each) else each for each in text)


def _steers(character: str) -> bool:
    category = unicodedata.category(character)
    return category.startswith("C") or category in LINES


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


class PlainConsole(Console):
    """A console on which every text, in a line or in a cell of a table, is printed as `plain` writes it.

    Parameters
    ----------
    stream
        Where to.
    width
        Columns where the stream is no terminal.
    soft_wrap
        Whether lines are left as long as they are.
    """

    def __init__(self, stream: TextIO | None = None, *, width: int, soft_wrap: bool = False) -> None:
        stream = sys.stdout if stream is None else stream
        super().__init__(
            file=stream, width=None if stream.isatty() else width, markup=False, highlight=False, emoji=False,
            soft_wrap=soft_wrap,
        )  # fmt: skip

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text for printing; whatever is printed as a string comes through here."""
        return super().render_str(plain(text), **options)
