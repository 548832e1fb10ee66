"""The frame that row charts share: one row per strategy with its name, and an axis below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from accordant.report.charts.svg import line, mark, tag, text, wrapped
from accordant.report.reading import Line
from accordant.report.scale import Scale

WIDTH, NAMES, RIGHT = 360.0, 164.0, 14.0  # a phone draws it at this size, so letters stay above 11 px
TOP, AXIS, GAP = 8.0, 42.0, 10.0
LETTER = 12.0  # font size of names, as in the style sheet
ONE_LINE, TWO_LINES = 21.0, 33.0


@dataclass(frozen=True)
class Panel:
    """Where every row is drawn.

    Attributes
    ----------
    lines
        Strategies, top first; those outside the candidate set come last and are set apart.
    marked
        Whether names carry the mark of their kind; not where marks stand for something else.
    """

    lines: Sequence[Line]
    marked: bool = True

    @cached_property
    def names(self) -> list[list[str]]:
        """Lines of text of each name."""
        return [wrapped(each.name, (NAMES - 26) / LETTER) for each in self.lines]

    @cached_property
    def centres(self) -> list[float]:
        """Vertical centre of each row."""
        found, y = [], TOP
        for position, (each, words) in enumerate(zip(self.lines, self.names, strict=True)):
            if not each.candidate and position and self.lines[position - 1].candidate:
                y += GAP
            height = TWO_LINES if len(words) > 1 else ONE_LINE
            found.append(y + height / 2)
            y += height
        return found

    @property
    def bottom(self) -> float:
        """Where the rows end and the axis begins."""
        return self.centres[-1] + (TWO_LINES if len(self.names[-1]) > 1 else ONE_LINE) / 2

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the drawing."""
        return WIDTH, self.bottom + AXIS

    def labels(self) -> list[Markup]:
        """Return names with their marks; the selected one is set in bold and says so to screen readers."""
        found = []
        for each, words, y in zip(self.lines, self.names, self.centres, strict=True):
            css = "name selected" if each.selected else "name"
            start = y + 4 - 6.5 * (len(words) - 1)
            spans = [text(19 if self.marked else 1, start + 13 * row, part, css) for row, part in enumerate(words)]
            full = tag("title", {}, each.name + (" (selected)" if each.selected else ""))
            marks = [mark(each.mark, 8, y, 4.2, f"of-{each.family}")] if self.marked else []
            found.append(tag("g", {}, full, *marks, *spans))
        return found

    def frame(self, scale: Scale, caption: str) -> list[Markup]:
        """Return grid, axis, its caption, and the rule above the lines that are no candidates."""
        found = []
        for value, label in zip(scale.ticks, scale.labels(), strict=True):
            x = scale(value)
            found.append(line(x, TOP, x, self.bottom, "zero" if value == 0 else "grid"))
            found.append(text(x, self.bottom + 15, label, "tick", "middle"))
        found.append(line(NAMES, self.bottom, WIDTH - RIGHT, self.bottom, "axis"))
        if caption:
            found.append(text((NAMES + WIDTH - RIGHT) / 2, self.bottom + 33, caption, "caption", "middle"))
        for before, after in zip(range(len(self.lines) - 1), range(1, len(self.lines)), strict=True):
            if self.lines[before].candidate and not self.lines[after].candidate:
                y = self.centres[after] - (TWO_LINES if len(self.names[after]) > 1 else ONE_LINE) / 2 - GAP / 2
                found.append(line(0, y, WIDTH - RIGHT, y, "apart"))
        return found
