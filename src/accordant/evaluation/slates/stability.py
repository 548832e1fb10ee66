"""`drop_one`: how much lists change, and for whom, if one stakeholder is not heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.slates.candidates import Candidates
from accordant.slates.gains import gains_of
from accordant.slates.measures.collective import average
from accordant.slates.measures.measure import ratio
from accordant.slates.rule import SlateRule
from accordant.slates.slates import Slates
from accordant.slates.state import State

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Dropped:
    """What a rule shows without one stakeholder, against what it shows with everybody.

    Attributes
    ----------
    stakeholder
        Who is not heard: its weight is 0.
    overlap
        Mean over requests of items in both lists over items in either (Jaccard 1912), in [0, 1]; 1 is no change at all
        but for the order. None if all lists are empty.
    unchanged
        Share of requests with the same items.
    changes
        Every stakeholder, the dropped one too, to its mean normalised utility without minus with; None where all lists
        are alike for it.
    """

    stakeholder: str
    overlap: float | None
    unchanged: float
    changes: Mapping[str, float | None]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "stakeholder": self.stakeholder,
            "overlap": self.overlap,
            "unchanged": self.unchanged,
            "changes": dict(self.changes),
        }


def drop_one(rule: SlateRule, candidates: Candidates, k: int, state: State | None = None) -> tuple[Dropped, ...]:
    """Leave out every stakeholder with a weight above 0 in turn.

    Parameters
    ----------
    rule
        How lists are chosen.
    candidates
        E and weights, of at least one request.
    k
        Places in a list.
    state
        What happened before, the same with and without.

    Returns
    -------
    One entry for each stakeholder who can be left out; none if only one has a say.
    """
    heard = np.flatnonzero(candidates.weights > 0)
    if len(heard) < 2:
        return ()
    full = rule(candidates, k, state=state)
    attained = gains_of(full, candidates).attained
    found = []
    for i in heard:
        weights = candidates.weights.copy()
        weights[i] = 0.0
        fewer = candidates.but(weights=weights)
        slates = rule(fewer, k, state=state)
        shared = jaccard(full, slates)
        # Only lists of both count: a rule that shows nothing without i would otherwise look like no change.
        change = average((gains_of(slates, candidates).attained - attained).T)
        found.append(
            Dropped(
                candidates.stakeholders[i],
                _mean(shared),
                float(np.where(np.isnan(shared), True, shared == 1.0).mean()),
                {
                    name: None if np.isnan(each) else float(each)
                    for name, each in zip(candidates.stakeholders, change, strict=True)
                },
            )
        )
    return tuple(found)


def jaccard(one: Slates, other: Slates) -> Values:
    """Return items in both lists over items in either, shape (user,); NaN if both are empty."""
    first, second = one.shown(), other.shown()
    return ratio((first & second).sum(axis=0).astype(np.float64), (first | second).sum(axis=0).astype(np.float64))


def _mean(values: Values) -> float | None:
    mean = float(average(values))
    return None if np.isnan(mean) else mean
