"""Runs: a case carried out once, written to a folder once, and read by everyone.

Its parts are imported when they are first used: a command that compares preference learners needs no case.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accordant.runs.execution import RunOptions, carry_out
    from accordant.runs.folder import Run, read_run, write_run

_PARTS = {
    "Run": "folder",
    "RunOptions": "execution",
    "carry_out": "execution",
    "read_run": "folder",
    "write_run": "folder",
}

__all__ = ["Run", "RunOptions", "carry_out", "read_run", "write_run"]


def __getattr__(name: str) -> Any:
    """Import a part on first use."""
    if name in _PARTS:
        return getattr(importlib.import_module(f"accordant.runs.{_PARTS[name]}"), name)
    raise AttributeError(f"module 'accordant.runs' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return everything that is public, imported or not."""
    return sorted(__all__)
