"""Contexts that are decided differently, typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Value = float | str


@dataclass(frozen=True)
class Difference:
    """One feature of a context and what it is elsewhere; a missing number is None."""

    feature: str
    here: Value | None
    there: Value | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"feature": self.feature, "here": self.here, "there": self.there}


@dataclass(frozen=True)
class Neighbour:
    """A context that is decided differently.

    Attributes
    ----------
    action
        What is decided there.
    distance
        Mean over features of their distances, see `Distances`.
    differences
        Features in which it differs, the most distant first.
    row
        Position among the observed contexts; None if no such context was observed as a whole.
    """

    action: str
    distance: float
    differences: tuple[Difference, ...]
    row: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "action": self.action, "distance": self.distance, "row": self.row,
            "differences": [each.to_json() for each in self.differences],
        }  # fmt: skip


@dataclass(frozen=True)
class ContextChanges:
    """What other contexts would have led to another decision.

    Attributes
    ----------
    observed
        How many contexts were looked through.
    differently
        How many of them are decided differently.
    nearest
        The nearest of these; None if there is none.
    single
        The nearest observed value of each single feature with which this context would be decided differently, nearest
        first; features with none are missing.
    features
        Features that were changed.
    thinned
        Features with more than 200 observed values, of which evenly spaced ones were tried.
    reason
        Why nothing was looked for; empty otherwise.
    """

    observed: int
    differently: int
    nearest: Neighbour | None
    single: tuple[Neighbour, ...]
    features: tuple[str, ...]
    thinned: tuple[str, ...] = ()
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "observed": self.observed, "differently": self.differently,
            "nearest": None if self.nearest is None else self.nearest.to_json(),
            "single": [each.to_json() for each in self.single],
            "features": list(self.features), "thinned": list(self.thinned), "reason": self.reason,
        }  # fmt: skip


def plain(value: Any) -> Value | None:
    """Return a value of a feature for JSON: a missing number is None."""
    if isinstance(value, str):
        return str(value)
    return None if np.isnan(value) else float(value)
