"""Concession strategies: how far below its best an agent goes as time passes, one strategy per file."""

from __future__ import annotations

from accordant.agents.concession.concession import Concession, Progress, concessions

__all__ = ["Concession", "Progress", "concessions"]
