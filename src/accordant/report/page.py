"""What all pages have in common: templates that escape everything, one sheet of styles, one script, and words."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.svg import clean, printable, swatch, tag
from accordant.report.scale import count, interval, number, percent
from accordant.report.template_cache import TemplateCache
from accordant.sections import Chapter, PagePart

SHARED = "accordant.report"  # whose templates and styles all pages share
POLICY = (
    "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'"
)


# a name without any break would widen its column: whole words of up to 17 letters, or the first 18 of a longer one
LONG = re.compile(r"(?:\s*\S{1,17}(?!\S)\s*)+|\s*\S{18}|\s+")
BREAK_AFTER = re.compile(r"(?<=[_:/×])|(?<=,)(?!\d)|(?=\[)")  # not within a number


@dataclass(frozen=True, eq=False)
class Page:
    """One kind of page: one self-contained HTML file, without network and fonts.

    It says everything without its script, which sorts and filters tables and tells values in charts. A browser takes no
    style and no script but those whose hashes stand in the policy at the top of the file.

    Attributes
    ----------
    filters, names
        What its templates use beside what all do.
    """

    package: str  # where its templates are; those that it does not have are the ones of the report
    sheet: str  # its sheet of styles, which comes after the one of the report
    filters: Mapping[str, Callable[..., Any]]
    names: Mapping[str, Any]
    script: str = ""  # its script, which comes after the one of all pages

    def render(self, template: str, *, more_style: str = "", **content: Any) -> str:
        """Return a page; text is escaped and stripped of what no page can show, a misspelt name is an error.

        Parameters
        ----------
        more_style
            What parts of the page need beside its own styles.
        """
        style = Markup("\n").join(filter(None, (self._style, Markup(more_style))))  # noqa: S704 - of files beside pages
        policy = POLICY.format(style=_hash(style), script=_hash(self._scripts))
        return self._environment.get_template(template).render(
            style=style, script=self._scripts, policy=policy, **content
        )

    def linked(self, template: str, **content: Any) -> str:
        """Return a page as `render` does, whose styles stand at an address that its template links."""
        return self._environment.get_template(template).render(**content)

    def part(self, chapter: Chapter, title: str, template: str, **content: Any) -> PagePart:
        """Return a part of the page of a run, from a template that has no head and no foot."""
        html = self._environment.get_template(template).render(part=True, **content)
        return PagePart(chapter, title, html, self.own_style)

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(package) for package in dict.fromkeys((self.package, SHARED))]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_finalized,
            optimized=False,
            bytecode_cache=TemplateCache(Path(cache_from_source(__file__)).parent),
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
        shared = _text(SHARED, "style.css")
        return f"{shared}\n{self.own_style}" if self.sheet else shared

    @property
    def _style(self) -> Markup:
        return Markup(self.sheets)  # noqa: S704 - files of this package

    @cached_property
    def own_style(self) -> str:
        """The sheet of its own, without the one of all pages."""
        return _text(self.package, self.sheet) if self.sheet else ""

    @cached_property
    def _scripts(self) -> Markup:
        return _joined(_text(SHARED, "page.js"), _text(self.package, self.script) if self.script else "")


@pass_context  # so that no constant becomes part of what `TemplateCache` keeps
def _finalized(context: Context, value: Any) -> Any:
    """Return what a template writes, texts without what no page can show."""
    del context
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text(package: str, name: str) -> str:
    return (importlib.resources.files(package) / name).read_text(encoding="utf-8")


def _joined(*texts: str) -> Markup:
    return Markup("\n".join(filter(None, texts)))  # noqa: S704 - files of this package


def _hash(text: str) -> str:
    """Return the hash by which a browser knows a style or a script that stands in the page."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _shown(values: Any) -> Any:
    if isinstance(values, str):
        return printable(values)
    if isinstance(values, Mapping):
        return {printable(key): _shown(value) for key, value in values.items()}
    return [_shown(value) for value in values] if isinstance(values, (list, tuple)) else values


def script_data(values: Any) -> Markup:
    """Return JSON values as they may stand in a script element that holds data: nothing in them ends the element.

    Texts lose what no page can show, as they do in templates.
    """
    text = json.dumps(_shown(values), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}))  # noqa: S704


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
