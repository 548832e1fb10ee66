"""The page of a debate of a run's decision: what was settled, what strategies decide, who gets what, the transcript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from accordant.deliberation.decision.result import DISCLAIMER, DebatedRow, DecisionDebate
from accordant.deliberation.page.labels import decision_names
from accordant.deliberation.page.reading import RecordReading
from accordant.deliberation.page.render import PAGE
from accordant.deliberation.page.transcript import rounds
from accordant.report.labels import text_with_names
from accordant.runs.pages import write_page
from accordant.sections import PagePart, page_parts

RECORD = "decision_debate.json"


def render_decision(content: DecisionDebate) -> str:
    """Return the debate of a run's decision as one HTML document; the same content gives the same bytes."""
    return PAGE.render("decision.html", **_told(content))


@page_parts.register("decision_debate")
def decision_part(content: DecisionDebate) -> PagePart:
    """Return the debate as a part of the page of its run."""
    return PAGE.part("talks", f"{content.subject}, debated", "decision_part.html", **_told(content))


def write_decision(result: DecisionDebate, out: Path) -> Path:
    """Write a page to a file named ``.html``, or with the JSON to a new folder; return the path of the page."""
    return write_page(text_with_names(render_decision(result), decision_names(result)), result.to_json(), RECORD, out)


def _told(content: DecisionDebate) -> dict[str, Any]:
    """Return what the templates read."""
    reading = RecordReading(content)
    return {
        "content": content, "reading": reading, "record": content.deliberation, "rounds": rounds(reading),
        "deciders": _deciders, "adversarial": reading.adversaries, "disclaimer": DISCLAIMER,
    }  # fmt: skip


def _deciders(row: DebatedRow, action: str) -> list[str]:
    """Return the strategies that decide for an action."""
    return [label for label, decision in row.decisions.items() if decision.action == action]
