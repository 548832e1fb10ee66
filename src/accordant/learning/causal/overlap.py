"""Overlap diagnostics: the actions of which the logged data say something about all contexts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.propensity import CLIP


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
    """

    counts: tuple[int, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    clipped_shares: tuple[float, ...]
    effective_sample_sizes: tuple[float, ...]
    clip: float


def overlap_diagnostics(propensities: Values, actions: WholeNumbers, clip: float = CLIP) -> OverlapDiagnostics:
    """Diagnose overlap.

    Args:
        propensities: held-out, unclipped propensities, shape (action, context).
        actions: codes of the actions taken, shape (context,).
        clip: smallest propensity used as a divisor, in (0, 1).
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
    )
