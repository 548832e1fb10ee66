"""The page of a comparison of learners: one self-contained HTML file from its JSON.

    comparison (``preferences --json``) ──► reading ──► templates/ + charts ──► HTML

Like every report, the file needs no network, no script and no fonts, and the same content gives the same bytes.
"""

from __future__ import annotations

from accordant.preferences.page.render import render_comparison, write_comparison

__all__ = ["render_comparison", "write_comparison"]
