"""From explanations as plain values to one HTML file."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from accordant.errors import InputError
from accordant.explanation.document import FORMAT
from accordant.naming import listed
from accordant.report.charts.svg import swatch
from accordant.report.explained import pages
from accordant.report.explained.strips import strip_chart
from accordant.report.page import environment_of, style_of
from accordant.report.render import breakable
from accordant.report.scale import count, number

STYLES = (("accordant.report", "style.css"), ("accordant.report.explained", "explained.css"))


def render_explanation(content: dict[str, Any]) -> str:
    """Return explanations of one or more decisions as one HTML document.

    Parameters
    ----------
    content
        From `accordant.explanation.as_document`. Nothing else is read, so the same content gives the same bytes.

    Raises
    ------
    InputError
        If the content has another format.
    """
    if content.get("format") != FORMAT:
        raise InputError(f"explanations have format {content.get('format')!r}; allowed: {FORMAT}")
    explanations = content["explanations"]
    charts = [strip_chart(f"strip-{k}", each) for k, each in enumerate(explanations, 1)]
    return (
        _environment()
        .get_template("explanation.html")
        .render(
            content=content,
            style=Markup(_style()),  # noqa: S704 - files of this package
            explained=list(zip(explanations, charts, strict=True)),
        )
    )


@cache
def _style() -> str:
    return style_of(*STYLES)


@cache
def _environment() -> Environment:
    environment = environment_of("accordant.report.explained", "accordant.report")
    environment.filters |= {
        "number": number, "count": count, "breakable": breakable, "listed": listed, "gain": pages.gain,
        "feature": pages.feature_value, "share": pages.share,
    }  # fmt: skip
    environment.globals |= {"pages": pages, "swatch": swatch}
    return environment
