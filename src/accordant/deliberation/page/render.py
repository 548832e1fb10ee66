"""From the result of a deliberation to one HTML file, or a folder with both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from accordant.deliberation.assessment import Movement
from accordant.deliberation.page import summary
from accordant.deliberation.page.charts import grid_chart, rate_chart, sample
from accordant.deliberation.page.labels import deliberation_names
from accordant.deliberation.page.reading import (
    MARKS,
    STANDINGS,
    OneReading,
    called,
    granted_otherwise,
    mean,
    rate,
    said,
    share,
    signed,
)
from accordant.deliberation.page.transcript import MANY, SHORT, granted, rounds
from accordant.deliberation.record import DISCLAIMER
from accordant.deliberation.result import DeliberationResult, RepeatedDeliberation, read_result
from accordant.naming import counted
from accordant.report.labels import text_with_names
from accordant.report.page import Page, breakable
from accordant.report.scale import percent
from accordant.runs.pages import write_page

RECORD = "deliberation.json"
SHOWN = 36  # patients that the first drawing holds, and lines of the ledger that stand unfolded
LEVEL = 0.95  # of all intervals, see `accordant.deliberation.repetition`
CRITERION = re.compile(
    r"([^(]+)(\(.*\))? ([≤≥] \S+)", re.DOTALL
)  # as `accordant.allocations.measures.measure` writes a label
SHADES = 5  # of the cells of regrets, from white to dark


def render_deliberated(content: DeliberationResult | RepeatedDeliberation | Mapping[str, Any]) -> str:
    """Return a deliberation, or a table over many, as one HTML document.

    Parameters
    ----------
    content
        The result, or what ``accordant deliberate --json`` prints of it. Nothing else is read, so the same content
        gives the same bytes.

    Raises
    ------
    InputError
        If the content has another format or kind, a key is unknown or missing, or a null hypothesis is missing beside
        a statement on emergence.
    """
    result = read_result(content) if isinstance(content, Mapping) else content
    return _one(result) if isinstance(result, DeliberationResult) else _many(result)


def write_deliberated(result: DeliberationResult | RepeatedDeliberation, out: Path) -> Path:
    """Write a page to a file named ``.html``, or with the JSON to a new folder; return the path of the page.

    The page speaks by names in words.
    """
    return write_page(
        text_with_names(render_deliberated(result), deliberation_names(result)), result.to_json(), RECORD, out
    )


def _one(content: DeliberationResult) -> str:
    """Return the page of one deliberation."""
    reading = OneReading(content)
    return PAGE.render(
        "one.html", content=content, command=content.command_line(), reading=reading, pictures=_grids(reading),
        rounds=rounds(reading), ledger=_ledger(content.ledger),
        sentences=summary.settled(reading), adversarial=reading.adversaries,
    )  # fmt: skip


def _many(content: RepeatedDeliberation) -> str:
    """Return the page of many deliberations."""
    repeated = content.repeated
    chart = rate_chart("rate-chart", "How often all criteria are met", summary.dots(repeated))
    return PAGE.render(
        "many.html", content=content, command=content.command_line(), repeated=repeated, chart=chart,
        adversarial=repeated.adversarial, disclaimer=DISCLAIMER,
    )  # fmt: skip


def _grids(reading: OneReading) -> list[tuple[str, Markup]]:
    """Return drawings with titles: patients treated otherwise by somebody first; the page folds all but the first."""
    apart, alike = reading.ordered
    if len(reading.patients) <= SHOWN:
        return [("Who is granted what", grid_chart("grid-1", "Who is granted what", reading, [*apart, *alike]))]
    parts = [
        (f"{counted(len(apart), 'patient')} whom some allocation treats otherwise", apart[:SHOWN]),
        (f"{len(apart) - SHOWN} more of them", apart[SHOWN:]),
        (f"{counted(len(alike), 'patient')} whom all allocations of agents and the joint one treat alike", alike),
    ]
    if len(apart) > SHOWN:
        parts[0] = (f"The first {SHOWN} of {len(apart)} patients whom some allocation treats otherwise", apart[:SHOWN])
    return [
        (title, grid_chart(f"grid-{place}", title, reading, patients))
        for place, (title, patients) in enumerate(parts, 1)
        if patients
    ]


def _ledger(lines: Sequence[Movement]) -> tuple[Sequence[Movement], Sequence[Movement]]:
    """Return the lines that are shown, those with a move first where there are many, and those that are folded."""
    if len(lines) <= SHOWN:
        return lines, ()
    sorted_lines = sorted(lines, key=lambda line: line.solo == line.joint == line.revised)
    return sorted_lines[:SHOWN], sorted_lines[SHOWN:]


def _shade(regret: float) -> int:
    """Return the step of grey of a regret: 0 for none, then equal parts of [0, 1]."""
    return 0 if regret <= 0 else min(SHADES - 1, 1 + int(regret * (SHADES - 1)))


def stacked(label: str) -> Markup:
    """Return the label of a criterion as the head of a narrow column: its name, its parameters, its threshold."""
    match = CRITERION.fullmatch(label)
    name, *rest = (label,) if match is None else match.groups()
    below = (Markup('<span class="sub">{}</span>').format(breakable(part)) for part in rest if part)
    return breakable(name) + Markup(" ").join(("", *below))


PAGE = Page(
    "accordant.deliberation.page", "deliberated.css",
    filters={
        "share": share, "stacked": stacked, "said": said, "called": called, "rate": rate, "mean": mean,
        "signed": signed, "shade": _shade, "granted_otherwise": granted_otherwise,
    },
    names={
        "MARKS": MARKS, "STANDINGS": STANDINGS, "SHORT": SHORT, "MANY": MANY, "LEVEL": percent(LEVEL),
        "sample": sample, "summary": summary, "granted": granted,
    },
)  # fmt: skip
