"""The page of a deliberation: transcript, who moved on which patient and why, verdict, and pictures."""

from __future__ import annotations

from accordant.deliberation.page.decision import render_decision, write_decision
from accordant.deliberation.page.dialogue import render_dialogue, write_dialogue
from accordant.deliberation.page.render import render_deliberated, write_deliberated

__all__ = [
    "render_decision", "render_deliberated", "render_dialogue", "write_decision", "write_deliberated", "write_dialogue",
]  # fmt: skip
