"""Axes that look like the charts of reports: colours from their sheet of styles, marks by kind of strategy."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accordant.errors import InputError
from accordant.naming import plain
from accordant.report.labels import shortened
from accordant.report.page import SHARED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# marks of `accordant.report.charts.svg.SHAPES` as matplotlib calls them, and whether they are filled
MARKERS = {
    "circle": ("o", True), "open-circle": ("o", False), "square": ("s", True), "open-square": ("s", False),
    "diamond": ("D", True), "open-diamond": ("D", False), "triangle": ("^", True), "open-triangle": ("v", False),
    "hexagon": ("h", True), "star": ("*", True), "cross": ("x", False),
}  # fmt: skip
SIZES = {"*": 11.0, "D": 5.4, "x": 6.0}  # points across, where a mark looks smaller or larger than a circle
FACES = ("Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans")
VARIABLE = re.compile(r"--([a-z0-9-]+): (#[0-9a-f]{3,6})")
FAMILY = re.compile(r"\.mark\.of-(\w+) \{ fill: ([^;]+);")
AREA = re.compile(r"\.area\.hatch-\d[^{]*\{ fill: ([^;]+);")
NAME = 42  # letters of a name beside an axis
WIDTH, ROW, REST = 6.8, 0.3, 1.1  # inches: of a figure, of a row, of title and axis


@functools.lru_cache(maxsize=1)
def colours() -> dict[str, str]:
    """Return the colours of light pages, by their names in the sheet; those of kinds of strategies by ``of-KIND``."""
    sheet = (importlib.resources.files(SHARED) / "style.css").read_text(encoding="utf-8")
    named = dict(VARIABLE.findall(sheet[sheet.index(":root") : sheet.index("}")]))
    return named | {f"of-{kind}": _colour(value, named) for kind, value in FAMILY.findall(sheet)}


def _colour(value: str, named: Mapping[str, str]) -> str:
    """Return a colour that may be a variable of the sheet."""
    return named[value.removeprefix("var(--").removesuffix(")")] if value.startswith("var(") else value


@functools.lru_cache(maxsize=1)
def area_colours() -> tuple[str, ...]:
    """Return the fills of areas that are told apart by hatches, paper first."""
    sheet = (importlib.resources.files(SHARED) / "style.css").read_text(encoding="utf-8")
    return (colours()["paper"], *(_colour(value, colours()) for value in AREA.findall(sheet)))


def axes(ax: Axes | None, height: float, width: float = WIDTH) -> Axes:
    """Return axes in the style of reports; new ones where none are given.

    Parameters
    ----------
    ax
        Where to draw; None for a figure of its own.
    height, width
        Inches of that figure.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError("a picture needs matplotlib, which is not installed: pip install 'accordant[plot]'") from None
    shades = colours()
    if ax is None:
        ax = plt.figure(figsize=(width, height), facecolor=shades["paper"], layout="constrained").add_subplot()
    ax.set_facecolor(shades["paper"])
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(shades["quiet"])
    ax.tick_params(length=0, colors=shades["quiet"], labelsize=9)
    ax.grid(visible=True, axis="x", color=shades["faint"], linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def rows(ax: Axes | None, names: Sequence[str], bold: Sequence[bool] = ()) -> tuple[Axes, list[float]]:
    """Return axes with a name for each row, the first one on top, and where the rows are."""
    ax = axes(ax, REST + ROW * len(names))
    places = [float(-k) for k in range(len(names))]
    ax.set_yticks(places, [told(name) for name in names], **face())
    ax.set_ylim(-len(names) + 0.4, 0.6)
    for label, strong in zip(ax.get_yticklabels(), bold or [False] * len(names), strict=True):
        label.set_color(colours()["ink"])
        label.set_fontweight("bold" if strong else "normal")
    return ax, places


def titled(ax: Axes, title: str, across: str = "", up: str = "") -> Axes:
    """Set title and captions, of which each line is cut by itself, and return the axes."""
    shades, across = colours(), "\n".join(told(line, 90) for line in across.split("\n"))
    ax.set_title(told(title, 90), loc="left", fontsize=11, fontweight="bold", color=shades["ink"], **face())
    ax.set_xlabel(across, loc="right", fontsize=9, color=shades["quiet"], **face())
    ax.set_ylabel(told(up, 90), loc="top", fontsize=9, color=shades["quiet"], **face())
    return ax


def told(name: str, longest: int = NAME) -> str:
    """Return a name as drawn: short, with no sign that matplotlib would read as a formula."""
    words = plain(shortened(name))
    words = words if len(words) <= longest else words[: longest - 1] + "…"
    return words.replace("$", r"\$")


@functools.lru_cache(maxsize=1)
def face() -> Mapping[str, Any]:
    """Return the faces of text, those of reports first, as far as they are there: matplotlib warns of others."""
    from matplotlib import font_manager

    known = {font.name for font in font_manager.fontManager.ttflist}
    return {"fontfamily": [name for name in FACES if name in known]}


def mark(ax: Axes, shape: str, x: float, y: float, colour: str, *, label: str = "", gid: str = "") -> None:
    """Draw a mark of reports."""
    marker, filled = MARKERS[shape]
    inside = colour if filled or marker == "x" else colours()["paper"]
    ax.plot(
        [x], [y], marker, color=colour, markerfacecolor=inside, markeredgewidth=1.3,
        markersize=SIZES.get(marker, 6.4), zorder=3, label=label or "_", gid=gid or None,
    )  # fmt: skip


def limits(
    ax: Axes,
    low: float | None,
    high: float | None,
    place: float,
    *,
    upright: bool = False,
    faint: bool = False,
    gid: str = "",
) -> None:
    """Draw an interval with its ends; nothing where there is none."""
    if low is None or high is None:
        return
    ends, level = [low, high], [place, place]
    ax.plot(
        *((level, ends) if upright else (ends, level)), color=colours()["rule" if faint else "quiet"], linewidth=1.2,
        marker="_" if upright else "|", markersize=5, zorder=2, label="_", gid=gid or None,
    )  # fmt: skip


def missing(ax: Axes, y: float, words: str) -> None:
    """Say in a row that there is no value."""
    ax.text(
        0.01, y, words, transform=ax.get_yaxis_transform(), va="center", fontsize=9, fontstyle="italic",
        color=colours()["quiet"], **face(),
    )  # fmt: skip


def key(ax: Axes, title: str = "") -> None:
    """Put the key right of the axes."""
    font = {"family": face()["fontfamily"], "size": 9}
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, prop=font, title=told(title),
        title_fontproperties=font,
        labelcolor=colours()["ink"], alignment="left", borderaxespad=0.0, handlelength=1.6,
    )  # fmt: skip
