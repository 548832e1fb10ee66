"""`survey`: how far the decisions of a rule can be trusted against every coalition, over a whole batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.certificates.certificate import method_for
from accordant.certificates.radius import radius
from accordant.certificates.reports import Known
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.errors import InputError
from accordant.faces import Displayed, drawn
from accordant.progress import steps
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STAKEHOLDERS = 10  # so many have a thousand coalitions
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, eq=False)
class Survey(Displayed):
    """Radii of a batch of decisions against many coalitions.

    Attributes
    ----------
    rule
        Label of the rule.
    coalitions
        Names of the members, smaller coalitions first.
    radii
        Radius up to which each coalition cannot change each decision, shape (coalition, context); inf for never.
    exact
        Whether radii are the largest such ones, or certified ones that may be smaller.
    method
        How they were found, in words.
    box, frozen
        See `Threat`.
    """

    rule: str
    coalitions: tuple[tuple[str, ...], ...]
    radii: Values
    exact: bool
    method: str
    box: tuple[float, float] = UNIT
    frozen: bool = False

    def plot(self, *, deltas: Sequence[float] | None = None, ax: Axes | None = None) -> Axes:
        """Draw the share of decisions that no misreport changes, by its size δ; needs the extra ``plot``.

        Parameters
        ----------
        deltas
            Radii, each at least 0, in rising order; None for 0 to 0.25.
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed, or there is nothing to draw.
        """
        return drawn("certificate_curve", self, ax, deltas=deltas)

    def of(self, coalition: Sequence[str] | None) -> Values:
        """Return the radii against one coalition, None for everybody, shape (context,)."""
        wanted = checked_coalition(coalition) or max(self.coalitions, key=len)
        for members, radii in zip(self.coalitions, self.radii, strict=True):
            if set(members) == set(wanted):
                return np.asarray(radii)
        raise InputError(f"the coalition {', '.join(wanted)} was not surveyed")

    def certified(self, delta: float) -> Values:
        """Return the share of contexts whose decision no misreport within δ changes, shape (coalition,)."""
        delta = Threat(delta).delta
        beyond = self.radii >= delta if delta == 0 else self.radii > delta
        return np.asarray(beyond.mean(axis=1)) if self.radii.shape[1] else np.full(len(self.coalitions), np.nan)

    def quantiles(self, levels: Sequence[float] = QUANTILES) -> Values:
        """Return quantiles of the radius over contexts, without interpolation, shape (coalition, level)."""
        if not self.radii.shape[1]:
            return np.full((len(self.coalitions), len(levels)), np.nan)
        return np.asarray(np.quantile(self.radii, levels, axis=1, method="lower").T)

    def smallest_coalition(self, delta: float) -> Codes:
        """Return how many must collude to change each decision within δ, 0 where none surveyed can, shape (context,).

        Where radii are certified and not exact, fewer than this cannot, and so many perhaps can.
        """
        delta, size = Threat(delta).delta, np.zeros(self.radii.shape[1], dtype=np.intp)
        for members, radii in reversed(list(zip(self.coalitions, self.radii, strict=True))):
            size[(radii <= delta) & (delta > 0)] = len(members)
        return size

    def to_json(self, deltas: Sequence[float]) -> dict[str, Any]:
        """Return plain values: per coalition the certified share at every δ and quantiles of the radius."""
        shares = np.array([self.certified(delta) for delta in deltas]).reshape(len(deltas), -1).T
        quantiles = self.quantiles()
        sizes = [self.smallest_coalition(delta) for delta in deltas]
        return {
            "rule": self.rule,
            "exact": self.exact,
            "method": self.method,
            "box": list(self.box),
            "frozen": self.frozen,
            "contexts": self.radii.shape[1],
            "deltas": list(deltas),
            "coalitions": [
                {
                    "members": list(members),
                    "certified": [_plain(share) for share in shares[k]],
                    "never": float(np.isinf(self.radii[k]).mean()) if self.radii.shape[1] else None,
                    "quantiles": {f"{level:g}": _plain(value) for level, value in zip(QUANTILES, row, strict=True)},
                }
                for k, (members, row) in enumerate(zip(self.coalitions, quantiles, strict=True))
            ],
            "smallest_coalition": [
                {str(size): int((smallest == size).sum()) for size in sorted(set(smallest.tolist()))}
                for smallest in sizes
            ],
        }


def survey(
    rule: Strategy, expected: ExpectedRewards, *, largest: int | None = None, box: tuple[float, float] = UNIT,
    frozen: bool = False, known: Known | None = None,
) -> Survey:  # fmt: skip
    """Return the radius of every decision against every coalition up to a size, and against everybody together.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E, with at most 10 stakeholders unless `largest` keeps coalitions few.
    largest
        Most members of a coalition beside that of everybody; None for all coalitions.
    box, frozen
        See `Threat`.
    known
        What the rule reads beside E.

    Raises
    ------
    InputError
        If there would be more than a thousand coalitions.
    """
    names = expected.stakeholders
    if largest is not None and (isinstance(largest, bool) or not isinstance(largest, int) or largest < 1):
        raise InputError(f"largest is {largest!r}; allowed: a whole number from 1, or None for all coalitions")
    sizes = range(1, len(names) if largest is None else min(largest, len(names) - 1) + 1)
    if sum(math.comb(len(names), size) for size in sizes) > 2**MOST_STAKEHOLDERS:
        raise InputError(f"{len(names)} stakeholders have too many coalitions; limit their size (largest)")
    coalitions = tuple(members for size in sizes for members in combinations(names, size))
    coalitions += () if names in coalitions else (names,)
    radii = np.empty((len(coalitions), expected.n_contexts))
    with steps("surveying coalitions", len(coalitions)) as advance:
        for k, members in enumerate(coalitions):
            radii[k] = radius(rule, expected, coalition=members, box=box, frozen=frozen, known=known)
            advance()
    method = method_for(rule, len(expected.actions), frozen=frozen)
    exact = method.exact(rule, len(expected.actions))
    return Survey(rule.label, coalitions, radii, exact, method.words, box, frozen)


def _plain(value: float) -> float | str | None:
    return None if np.isnan(value) else "inf" if np.isinf(value) else float(value)
