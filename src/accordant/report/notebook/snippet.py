"""What a cell of a notebook shows: a title, sentences, tables that say how much they leave out."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from accordant.report.charts.panels import score_axis, score_strip
from accordant.report.labels import shortened
from accordant.report.notebook.scoped_style import dark_rules, scoped
from accordant.report.page import Page, breakable
from accordant.report.reading import GOALS, MARKS, Line
from accordant.report.scale import Cell, count, number
from accordant.report.tables import score_cell

MOST_ROWS, MOST_COLUMNS = 12, 8
# where a notebook says that it is dark: JupyterLab, VS Code, Colab; others follow the system, as most pages do
DARK_HOSTS = '[data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast, [theme="dark"]'
HOSTS = f'{DARK_HOSTS}, [data-jp-theme-light="true"], .vscode-light, [theme="light"]'


@dataclass(frozen=True)
class Mark:
    """A text in a table that may be a number, and may be what was chosen; `detail` stands below it."""

    words: str
    detail: str = ""
    number: bool = False
    chosen: bool = False


Rows = tuple[tuple[str | Mark | Cell, ...], ...]
"""The name of each row, then a text, a `Mark` or a `Cell` for each further column."""


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes
    ----------
    head
        Of all columns.
    rows
        In their order.
    caption
        What it holds; empty if the title of the snippet says so.
    more
        What it leaves out; empty if nothing.
    numbers
        Whether all columns but the first hold numbers.
    """

    head: tuple[str, ...]
    rows: Rows
    caption: str = ""
    more: str = ""
    numbers: bool = True


@dataclass(frozen=True)
class Shown:
    """What a cell shows.

    Attributes
    ----------
    title, lead
        What it is, and sentences about it.
    tables
        In their order.
    said
        Topic to sentences below the tables; a topic may be empty.
    """

    title: str
    lead: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    said: tuple[tuple[str, tuple[str, ...]], ...] = ()


def snippet(shown: Shown) -> str:
    """Return the HTML of a result."""
    return block("notebook/result.html", shown=shown)


def block(template: str, **content: Any) -> str:
    """Return one block of HTML with the styles that it uses; nothing in it reaches the rest of the page."""
    html = PAGE.render(template, **content)
    room = importlib.resources.files("accordant.report") / "notebook"
    sheet = PAGE.sheets + (room / "notebook.css").read_text(encoding="utf-8")
    light, dark = scoped(sheet, html), scoped(dark_rules(sheet), html)
    return f'<div class="accordant"><style>\n{light}\n{_in_the_dark(dark)}\n</style>\n{html}</div>'


def _in_the_dark(rules: str) -> str:
    """Return rules for notebooks that are dark, and for a dark system where the notebook says nothing."""
    lines = rules.splitlines()
    told = [f":is({DARK_HOSTS}) {line}" for line in lines]
    untold = " ".join(f":root:not(:has({HOSTS})):not(:is({HOSTS})) {line}" for line in lines)
    return "\n".join([*told, f"@media (prefers-color-scheme: dark) {{ {untold} }}"])


def left_out(*parts: tuple[str, int, int]) -> str:
    """Return how many there are beyond those shown, of each noun with the numbers shown and in all; empty if none."""
    return " ".join(
        f"… and {count(total - shown)} more {words} of {count(total)}."
        for words, shown, total in parts
        if shown < total
    )


def cut(names: Sequence[str], most: int = MOST_ROWS) -> tuple[str, ...]:
    """Return the first names, each no longer than can be read."""
    return tuple(shortened(name) for name in names[:most])


def figure(value: float | None, digits: int = 3, *, chosen: bool = False, detail: str = "") -> Mark:
    """Return a number for a table; what is not finite is a dash."""
    finite = value is not None and abs(value) < float("inf")
    return Mark(number(value, digits) if finite else "–", detail, number=True, chosen=chosen)


def standing(line: Line) -> str:
    """Return how a line stands against the best, in words."""
    if not line.candidate:
        words = "cannot win"
    elif line.row.score.value is None:
        words = "unranked"
    elif line.row.among_best is None:
        words = "not compared"
    else:
        words = "among the best" if line.row.among_best else "worse"
    return Markup("{}{}").format(words, Markup('<span class="detail">decides as {}</span>').format(
        breakable(line.row.alike)) if line.row.alike else "")  # fmt: skip


PAGE = Page(
    "accordant.report", "", filters={"score": score_cell, "standing": standing},
    names={"MARKS": MARKS, "GOALS": GOALS, "score_axis": score_axis, "score_strip": score_strip},
)  # fmt: skip
