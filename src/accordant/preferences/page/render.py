"""From the JSON of a comparison to one HTML file, or a folder with both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.naming import counted
from accordant.preferences.page import reading as words
from accordant.preferences.page.charts import (
    MINORITY,
    MINORITY_HATCH,
    OTHERS,
    OTHERS_HATCH,
    Users,
    highest,
    line_through,
    pareto_chart,
    spread_chart,
    support_chart,
)
from accordant.preferences.page.reading import ComparisonReading, Row
from accordant.preferences.result import FORMAT, LearnerComparison
from accordant.preferences.section import ComparedLearners
from accordant.report.charts.svg import box, hatched, tag
from accordant.report.labels import text_with_names
from accordant.report.page import Page
from accordant.runs.pages import write_page

RECORD = "comparison.json"


def render_comparison(content: LearnerComparison | Mapping[str, Any]) -> str:
    """Return a comparison of learners as one HTML document.

    Parameters
    ----------
    content
        The result, or what ``accordant preferences --json`` prints of it. Nothing else is read, so the same content
        gives the same bytes.

    Raises
    ------
    InputError
        If the content has another format, or a key is unknown or missing.
    """
    if not isinstance(content, LearnerComparison):
        if content.get("result") != FORMAT:
            raise InputError(f"the comparison has format {content.get('result')!r}; allowed: {FORMAT}")
        content = LearnerComparison.read(json_value(dict(content)))
    reading = ComparisonReading(content)
    return PAGE.render(
        "preferred.html",
        content=content,
        reading=reading,
        pareto=_pareto(reading),
        pictures=_pictures(reading),
        verdicts=words.verdicts(reading.rows),
        command=content.command_line(),
    )


def write_comparison(found: ComparedLearners, out: Path) -> Path:
    """Write a page to a file named ``.html``, or with the JSON to a new folder; return the path of the page.

    The page speaks by names in words.
    """
    html = text_with_names(render_comparison(found.section), words.names_in_words(found.section))
    return write_page(html, found.to_json(), RECORD, out)


def _pareto(reading: ComparisonReading) -> Markup | None:
    """Return the drawing of the two groups; None if there are no two groups with values."""
    groups = (reading.content.groups.majority, reading.content.groups.minority)
    if groups[0] == groups[1] or not reading.over_users:
        return None
    if any(reading.pooled.metric(f"accuracy[{group}]").value is None for group in groups):
        return None
    answer = reading.content.answer
    return pareto_chart(
        "pareto-chart", reading.rows, groups, (words.POOLED, answer.looked_at or "", answer.nearest_control or "")
    )


def _pictures(reading: ComparisonReading) -> dict[str, Any] | None:
    """Return drawings of users under the pooled reward and the method that is looked at; None for one user."""
    content = reading.content
    if content.per_user is None:
        return None
    shown: list[Row] = [row for row in (reading.pooled, reading.looked_at) if row is not None]
    users = {row.label: Users.of(content, row.label) for row in shown}
    most = highest(list(users.values()))
    one = len(content.groups.sizes) == 1
    groups = None if one else (content.groups.majority, content.groups.minority)
    supported = any(rate is not None for rate in content.per_user.support)
    return {
        "support": [
            (row, support_chart(f"support-{row.position}", f"Accuracy against support: {row.label}", users[row.label],
                                line_through(users[row.label])))
            for row in shown
        ] if supported else [],
        "spread": [
            (row, spread_chart(f"spread-{row.position}", f"Accuracy over users: {row.label}", users[row.label], most,
                               groups=groups))
            for row in shown
        ],
    }  # fmt: skip


def _sample(css: str) -> Markup:
    """Return a swatch of the bars of one part of the users."""
    hatch = MINORITY_HATCH if css == "few" else OTHERS_HATCH
    inner = hatched(box(1, 1, 13, 13), hatch, "area" if css == "few" else "area others")
    return tag("svg", {"viewBox": "0 0 14 14", "class": "swatch", "aria-hidden": "true", "focusable": "false"}, *inner)


PAGE = Page(
    "accordant.preferences.page", "preferred.css",
    filters={"cell": words.cell, "change": words.change, "power": words.power_of, "counted": counted},
    names={"MARKS": words.MARKS, "heading": words.heading, "sample": _sample, "OTHERS": OTHERS, "MINORITY": MINORITY},
)  # fmt: skip
