"""Concession strategies: how far below its best an agent goes as time passes, one strategy per file."""

from __future__ import annotations

from accordant.agents.concession.concession import Concession, Progress, concession_of, concessions
from accordant.allocations.band import band

__all__ = ["Concession", "Progress", "band", "concession_of", "concessions"]
