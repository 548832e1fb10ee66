"""What all pages have in common: templates that escape everything, and one sheet of styles inside the page."""

from __future__ import annotations

import importlib.resources

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from accordant.report.charts.svg import clean


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
