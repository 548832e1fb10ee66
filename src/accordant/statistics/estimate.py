"""`Estimate`: a value with its interval, and why it or its interval is not there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Attributes
    ----------
    value
        The number; None if it is not defined.
    low, high
        Limits of the interval; None if there is no value, nothing was resampled, or the interval is withheld.
    level
        Coverage that the interval is made for, in (0, 1); None if there is none.
    n
        How many units it rests on; None if that was not counted.
    undefined
        Share of resamples without a value, which the interval leaves out; None if nothing was resampled.
    reason
        Why there is no value or no interval; empty if there are both.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: float | None = None
    undefined: float | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "not defined"
        return f"{self.value:.3f}" + ("" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]")

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)
