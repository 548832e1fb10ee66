"""Reports: one self-contained HTML file per run."""

from __future__ import annotations

from typing import Any


def render(content: dict[str, Any]) -> str:
    """Return the report of a run as HTML."""
    raise NotImplementedError
