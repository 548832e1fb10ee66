"""Explanation pages: one self-contained HTML file from explanations as plain values.

    accordant.explanation.as_document(…) ──► pages.py ──► templates/ + render.py ──► HTML

Like every report, the file needs no network, no script and no fonts, and the same content gives the same bytes.
"""

from __future__ import annotations

from accordant.report.explanation.letters import letter_part, letter_text, render_letters
from accordant.report.explanation.render import explanation_part, render_explanation

__all__ = ["explanation_part", "letter_part", "letter_text", "render_explanation", "render_letters"]
