"""The page of a deliberation: transcript, who moved on which patient and why, verdict, and pictures."""

from __future__ import annotations

from accordant.deliberation.page.render import FORMAT, render_deliberated

__all__ = ["FORMAT", "render_deliberated"]
