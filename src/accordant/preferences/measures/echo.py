"""Echo chambers: how often people are shown what other groups prefer.

    other        a response that another group prefers, whether or not the viewer's group does too
    opposing     a response that another group prefers and the viewer's group does not
    exposure     each shown response counts 1, split evenly among the groups that prefer it

A choice is a slate with one place: pass ``choices[:, None]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError
from accordant.json_values import finite, json_value
from accordant.preferences.measures.arrays import codes

EMPTY = -1  # fills the places of a slate that is shorter than others


@dataclass(frozen=True, eq=False)
class Exposure:
    """What slates show to members of each group.

    Attributes
    ----------
    other, opposing
        Whether each slate holds such a response, shape (slate,); bootstrap over these for intervals.
    by_viewer
        Share of slates with an opposing response by group of the viewer, shape (group,); NaN without slates.
    shares
        How the exposure of each group of viewers is split among groups, rows sum to 1, shape (viewer, group); NaN if
        nothing was shown that anybody prefers.
    entropy
        Entropy of each row divided by log(number of groups), in [0, 1]: 0 if one group's taste is shown only, 1 if all
        groups' tastes are shown equally, shape (group,).
    overall_entropy
        The same for all viewers together; NaN if nothing was shown that anybody prefers.
    separation
        Share of the overall entropy that knowing the viewer's group removes, in [0, 1]: 0 if all groups are shown the
        same mixture, 1 if each is shown one group's taste only (information index of Theil 1972). NaN if the overall
        entropy is 0: everybody is shown the same group's taste.
    """

    other: Mask
    opposing: Mask
    by_viewer: Values
    shares: Values
    entropy: Values
    overall_entropy: float
    separation: float

    @property
    def share_other(self) -> float:
        """Share of slates with a response that another group prefers."""
        return float(self.other.mean())

    @property
    def share_opposing(self) -> float:
        """Share of slates with a response that another group prefers and the viewer's does not."""
        return float(self.opposing.mean())

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        return {
            "slates": len(self.other),
            "share_other": self.share_other,
            "share_opposing": self.share_opposing,
            "by_viewer": json_value(self.by_viewer),
            "shares": json_value(self.shares),
            "entropy": json_value(self.entropy),
            "overall_entropy": finite(self.overall_entropy),
            "separation": finite(self.separation),
        }


def exposure(slates: Codes, preferred: Mask, viewers: Codes) -> Exposure:
    """Measure which groups' preferred responses are shown to whom.

    Parameters
    ----------
    slates
        Positions of the responses shown, −1 for an empty place, shape (slate, place).
    preferred
        Whether a group prefers a response, by whatever rule the caller states, shape (response, group); at least two
        groups.
    viewers
        Group of the person to whom each slate is shown, shape (slate,).

    Raises
    ------
    InputError
        If shapes do not match, a position is out of range, or there are no slates.
    """
    slates, preferred = np.asarray(slates), np.asarray(preferred)
    if preferred.ndim != 2 or preferred.shape[1] < 2 or preferred.dtype != np.bool_:
        raise InputError(
            f"preferred has shape {preferred.shape} of {preferred.dtype}; allowed: true or false, (response, group), "
            "two groups or more"
        )
    n_responses, n_groups = preferred.shape
    if slates.ndim != 2 or not len(slates) or not np.issubdtype(slates.dtype, np.integer):
        raise InputError(f"slates have shape {slates.shape}; allowed: whole numbers of shape (slate, place)")
    if ((slates < EMPTY) | (slates >= n_responses)).any():
        raise InputError(f"slates go from {slates.min()} to {slates.max()}; allowed: -1 to {n_responses - 1}")
    viewers = codes("viewers", viewers, len(slates), n_groups)
    shown = preferred[slates] & (slates != EMPTY)[..., None]  # (slate, place, group)
    own = np.take_along_axis(shown, viewers[:, None, None], axis=2)[..., 0]
    others = shown.sum(axis=2) > own
    opposing = (others & ~own).any(axis=1)
    sizes = np.bincount(viewers, minlength=n_groups)
    by_viewer = np.divide(
        np.bincount(viewers, opposing, minlength=n_groups), sizes, out=np.full(n_groups, np.nan), where=sizes > 0
    )
    credit = (shown / np.maximum(shown.sum(axis=2, keepdims=True), 1)).sum(axis=1)  # (slate, group)
    table = np.zeros((n_groups, n_groups))
    np.add.at(table, viewers, credit)
    return _exposure(others.any(axis=1), opposing, by_viewer, table)


def _exposure(other: Mask, opposing: Mask, by_viewer: Values, table: Values) -> Exposure:
    """Derive shares and entropies from exposure by viewer and group, shape (viewer, group)."""
    rows = table.sum(axis=1)
    shares = np.divide(table, rows[:, None], out=np.full_like(table, np.nan), where=rows[:, None] > 0)
    entropy = _entropy(shares)
    total = float(rows.sum())
    overall = separation = math.nan
    if total > 0:
        overall = float(_entropy(table.sum(axis=0, keepdims=True) / total)[0])
        within = float(rows[rows > 0] @ entropy[rows > 0]) / total
        separation = min(1.0, max(0.0, 1.0 - within / overall)) if overall > 0 else math.nan
    return Exposure(other, opposing, by_viewer, shares, entropy, overall, separation)


def _entropy(shares: Values) -> Values:
    """Return entropy of each row divided by its largest value; a row of NaN stays NaN."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=1) / math.log(shares.shape[1]) + 0.0)
