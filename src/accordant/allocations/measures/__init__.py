"""Measures of allocations, one per file: access of groups, need, benefit, outcomes, envy."""

from __future__ import annotations

from accordant.allocations.measures.measure import Goal, Measure, measures

__all__ = ["Goal", "Measure", "measures"]
