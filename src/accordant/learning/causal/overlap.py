"""Overlap diagnostics: the actions of which the logged data say something about all contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from accordant.learning.causal.propensity import CLIP
from accordant.learning.causal.training_data import FloatArray, IntArray

MAX_CLIPPED_SHARE = 0.05
"""Above this share of contexts with a propensity below the clip, an action's level is extrapolated."""

MIN_EFFECTIVE_SHARE = 0.3
"""Below this ratio of effective to actual sample size, a few contexts carry an action's estimate."""

MIN_EFFECTIVE_SIZE = 30.0
"""Below this effective sample size, an action's average outcome is known to no better than 0.18 sd."""


@dataclass(frozen=True)
class OverlapDiagnostics:
    """How well each action is represented across contexts. All sequences have one entry per action.

    Attributes:
        counts: contexts in which the action was taken.
        lowest, highest: range of its propensity over all contexts, in [0, 1].
        clipped_shares: share of all contexts in which its propensity lies below `clip`.
        effective_sample_sizes: (sum w)^2 / sum w^2 with w = 1 / propensity over the contexts in which
            the action was taken (Kish 1965).
        clip: the smallest propensity used as a divisor.
        warnings: what to mind, in plain words; empty if nothing stands out.
    """

    counts: tuple[int, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    clipped_shares: tuple[float, ...]
    effective_sample_sizes: tuple[float, ...]
    clip: float
    warnings: list[str] = field(default_factory=list)


def overlap_diagnostics(
    propensities: FloatArray, actions: IntArray, clip: float = CLIP, names: Sequence[str] | None = None
) -> OverlapDiagnostics:
    """Diagnose overlap.

    Args:
        propensities: held-out, unclipped propensities, shape (action, context).
        actions: codes of the actions taken, shape (context,).
        clip: smallest propensity used as a divisor, in (0, 1).
        names: names of the actions in warnings; by default their codes.
    """
    counts, sizes = [], []
    for action in range(propensities.shape[0]):
        weights = 1.0 / np.maximum(propensities[action, actions == action], clip)
        counts.append(int(weights.size))
        sizes.append(float(weights.sum() ** 2 / np.sum(weights**2)) if weights.size else 0.0)
    shares = [float(share) for share in np.mean(propensities < clip, axis=1)]
    return OverlapDiagnostics(
        counts=tuple(counts),
        lowest=tuple(float(value) for value in propensities.min(axis=1)),
        highest=tuple(float(value) for value in propensities.max(axis=1)),
        clipped_shares=tuple(shares),
        effective_sample_sizes=tuple(sizes),
        clip=clip,
        warnings=_warnings(counts, shares, sizes, clip, names or [str(code) for code in range(len(counts))]),
    )


def _warnings(
    counts: list[int], shares: list[float], sizes: list[float], clip: float, names: Sequence[str]
) -> list[str]:
    found = []
    for action, count, share, size in zip(names, counts, shares, sizes, strict=True):
        if share > MAX_CLIPPED_SHARE:
            found.append(
                f"Action {action} was almost never taken (propensity below {clip:g}) in {share:.0%} of "
                "contexts; its level there is extrapolated."
            )
        if size < MIN_EFFECTIVE_SHARE * count:
            found.append(
                f"Action {action}: its {count} contexts weigh as much as {size:.0f} once reweighted to "
                "everybody; a few contexts carry its estimate."
            )
        if size < MIN_EFFECTIVE_SIZE:
            found.append(f"Action {action}: effective sample size {size:.0f}; its level is known only roughly.")
    return found
