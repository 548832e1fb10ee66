"""What all pages have in common: templates that escape everything, one sheet of styles, and words."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.svg import clean, swatch, tag
from accordant.report.scale import count, interval, number, percent
from accordant.sections import Chapter, PagePart

SHARED = "accordant.report"  # whose templates and styles all pages share


# a name without any break would widen its column: whole words of up to 17 letters, or the first 18 of a longer one
LONG = re.compile(r"(?:\s*\S{1,17}(?!\S)\s*)+|\s*\S{18}|\s+")
BREAK_AFTER = re.compile(r"(?<=[_:/×,])|(?=\[)")


@dataclass(frozen=True, eq=False)
class Page:
    """One kind of page: one self-contained HTML file, without network, scripts and fonts.

    Attributes
    ----------
    filters, names
        What its templates use beside what all do.
    """

    package: str  # where its templates are; those that it does not have are the ones of the report
    sheet: str  # its sheet of styles, which comes after the one of the report
    filters: Mapping[str, Callable[..., Any]]
    names: Mapping[str, Any]

    def render(self, template: str, **content: Any) -> str:
        """Return a page; text is escaped and stripped of what no page can show, a misspelt name is an error."""
        return self._environment.get_template(template).render(style=self._style, **content)

    def part(self, chapter: Chapter, title: str, template: str, **content: Any) -> PagePart:
        """Return a part of the page of a run, from a template that has no head and no foot."""
        html = self._environment.get_template(template).render(part=True, **content)
        return PagePart(chapter, title, html, self._own_style)

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(package) for package in dict.fromkeys((self.package, SHARED))]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=lambda value: clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        )
        environment.filters |= {
            "number": number, "percent": percent, "count": count, "interval": interval, "listed": listed,
            "breakable": breakable, "short": short, **self.filters,
        }  # fmt: skip
        environment.globals |= {"swatch": swatch, **self.names}
        return environment

    @cached_property
    def sheets(self) -> str:
        """The sheet of all pages, with its own after it."""
        shared = (importlib.resources.files(SHARED) / "style.css").read_text(encoding="utf-8")
        return f"{shared}\n{self._own_style}" if self.sheet else shared

    @property
    def _style(self) -> Markup:
        return Markup(self.sheets)  # noqa: S704 - files of this package

    @cached_property
    def _own_style(self) -> str:
        return (importlib.resources.files(self.package) / self.sheet).read_text(encoding="utf-8") if self.sheet else ""


def breakable(words: object) -> Markup:
    """Return text that may break after underscores and before brackets, escaped."""
    parts = [part for piece in BREAK_AFTER.split(str(words)) for part in LONG.findall(piece)]
    return Markup("<wbr>").join(clean(part) for part in parts)


def strong(name: str) -> Markup:
    """Return a name set in bold."""
    return tag("strong", {}, name)


def sentence(*parts: str) -> Markup:
    """Return parts in a row; those that are not markup are escaped."""
    return Markup("").join(part if isinstance(part, Markup) else clean(part) for part in parts)


def short(value: float) -> str:
    """Return a number with as many decimals as it needs, three at most."""
    text = number(value, 3)
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun: ``1 pair``, ``2 pairs``."""
    return f"{n} {one if n == 1 else more or one + 's'}"
