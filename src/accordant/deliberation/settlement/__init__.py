"""Settlement: named rules that fix the joint decision, one rule per file."""

from __future__ import annotations

from accordant.deliberation.settlement.settlement import Settlement, Table, settlements

__all__ = ["Settlement", "Table", "settlements"]
