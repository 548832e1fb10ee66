"""What all pages have in common: templates that escape everything, and one sheet of styles inside the page."""

from __future__ import annotations

import importlib.resources
import math

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from accordant.report.charts.svg import clean, tag
from accordant.report.scale import number


def environment_of(*packages: str) -> Environment:
    """Return an environment for templates of some packages, the first that has a template giving it.

    Text is escaped and stripped of what no page can show; a name that a template misspells is an error.
    """
    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )


def style_of(*files: tuple[str, str]) -> str:
    """Return the content of style sheets, each given as package and file name, one after the other."""
    return "\n".join((importlib.resources.files(package) / name).read_text(encoding="utf-8") for package, name in files)


def strong(name: str) -> Markup:
    """Return a name set in bold."""
    return tag("strong", {}, name)


def sentence(*parts: str) -> Markup:
    """Return parts in a row; those that are not markup are escaped."""
    return Markup("").join(part if isinstance(part, Markup) else clean(part) for part in parts)


def known(value: float | None) -> float | None:
    """Return a number, or None for one that is none: shares of no contexts are written as NaN."""
    return None if value is None or math.isnan(value) else value


def short(value: float) -> str:
    """Return a number with as many decimals as it needs, three at most."""
    text = number(value, 3)
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun: ``1 pair``, ``2 pairs``."""
    return f"{n} {one if n == 1 else more or one + 's'}"
