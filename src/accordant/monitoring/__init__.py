"""Decisions in use: do contexts, decisions and promises still hold? Evidence that may be looked at every day.

monitor            a whole log, with outcomes where there are any
monitor_dataset    a dataset of decisions with outcomes, part by part
Monitor            decisions and outcomes one by one
Monitored          what they show
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accordant.monitoring.monitors import Monitor, Outcome
    from accordant.monitoring.parts import monitor_dataset
    from accordant.monitoring.result import Monitored
    from accordant.monitoring.section import monitor, read_outcomes

_PARTS = {
    "Monitor": "monitors",
    "Monitored": "result",
    "Outcome": "monitors",
    "monitor": "section",
    "monitor_dataset": "parts",
    "read_outcomes": "section",
}

__all__ = ["Monitor", "Monitored", "Outcome", "monitor", "monitor_dataset", "read_outcomes"]


def __getattr__(name: str) -> Any:
    """Import a part on first use: the command line imports this room for its options alone."""
    if name in _PARTS:
        return getattr(importlib.import_module(f"accordant.monitoring.{_PARTS[name]}"), name)
    raise AttributeError(f"module 'accordant.monitoring' has no attribute {name!r}")
