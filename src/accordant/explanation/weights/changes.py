"""What other weights would have done, typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["shift", "more", "less"]
Found = Literal["exact", "numeric", "none"]


@dataclass(frozen=True)
class NewWeights:
    """Weights that would have led to another decision.

    Attributes
    ----------
    direction
        ``shift``, or ``more`` or ``less`` share for `who`.
    who
        The stakeholder whose share changes; None for a shift.
    moved
        Share of all weight that passes from some to others: half the sum of absolute differences.
    shares
        The new shares of weight, shape (stakeholder,).
    action
        What is decided at these shares.
    """

    direction: Direction
    who: str | None
    moved: float
    shares: tuple[float, ...]
    action: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "direction": self.direction, "who": self.who, "moved": self.moved, "shares": list(self.shares),
            "action": self.action,
        }  # fmt: skip


@dataclass(frozen=True)
class WeightChanges:
    """What other weights would have done.

    Attributes
    ----------
    shares
        The shares of weight as they are, shape (stakeholder,); None if the rule has no weights.
    method
        ``exact`` for scores linear in the shares, ``numeric`` for others, ``none`` if nothing was looked for.
    reason
        Why nothing was looked for; empty otherwise.
    found
        Changes that lead to another decision, smallest first. A direction that is missing leads to none while the same
        stakeholders have weight: to none that is ahead by more than a tie if the method is exact, on the grid if it is
        numeric.
    proven
        Whether no weights above 0 whatever lead to another decision: everybody's scores put the decision at least level
        with every other action. False also if that is not known.
    """

    shares: tuple[float, ...] | None
    method: Found
    reason: str = ""
    found: tuple[NewWeights, ...] = ()
    proven: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "shares": None if self.shares is None else list(self.shares), "method": self.method, "reason": self.reason,
            "found": [each.to_json() for each in self.found], "proven": self.proven,
        }  # fmt: skip
