"""The page of dialogues on a run's decision: who understands, what was said turn by turn, what would change it."""

from __future__ import annotations

from pathlib import Path

from accordant.deliberation.decision.dialogue_result import DIALOGUE_DISCLAIMER, DecisionDialogue
from accordant.deliberation.page.labels import decision_names
from accordant.deliberation.page.render import PAGE
from accordant.report.labels import text_with_names
from accordant.runs.pages import write_page
from accordant.sections import PagePart, page_parts

RECORD = "decision_dialogue.json"


def render_dialogue(content: DecisionDialogue) -> str:
    """Return dialogues on a run's decision as one HTML document; the same content gives the same bytes."""
    return PAGE.render("dialogue.html", content=content, disclaimer=DIALOGUE_DISCLAIMER)


@page_parts.register("decision_dialogue")
def dialogue_part(content: DecisionDialogue) -> PagePart:
    """Return dialogues as a part of the page of their run."""
    title = f"{content.subject}: why {content.row.settled}"
    return PAGE.part("talks", title, "dialogue_part.html", content=content, disclaimer=DIALOGUE_DISCLAIMER)


def write_dialogue(result: DecisionDialogue, out: Path) -> Path:
    """Write a page to a file named ``.html``, or with the JSON to a new folder; return the path of the page."""
    return write_page(text_with_names(render_dialogue(result), decision_names(result)), result.to_json(), RECORD, out)
