"""`Scale`: how a metric is put on the scale of a composite score, and composite scores as expressions of sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.metrics.combinations import magnitude, together
from accordant.metrics.expressions import Expression
from accordant.metrics.metric import Goal

EQUAL = 1e-12  # ranges up to this, relative to max(1, |s|), are rounding
FLOOR = 1e-9  # smallest divisor in the official code of the paper


@dataclass(frozen=True)
class Scale:
    """How a metric is put on the scale of a composite score.

    Attributes
    ----------
    goal
        What is better: ``max``, ``min`` or ``zero``.
    low, high
        Smallest and largest value, over the candidates or as declared; of |s| for ``zero``.
    normalisation
        ``relative``: from 0 at the worse end to 1 at the better one, 1 for all if both are equal. ``reference``: as in
        the official code of the paper.
    raw
        Whether the metric stays as it is, as accuracy does with ``reference``.
    """

    goal: Goal
    low: float
    high: float
    normalisation: Literal["relative", "reference"] = "relative"
    raw: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"scale from {self.low} to {self.high}; allowed: low at most high")

    @classmethod
    def over(cls, values: Values, goal: Goal) -> Scale:
        """Return the min–max scale over the values of candidates; values that are not defined do not count."""
        size = np.abs(values) if goal == "zero" else values
        size = size[~np.isnan(size)]
        return cls(goal, float(size.min()), float(size.max())) if len(size) else cls(goal, 0.0, 0.0)

    @property
    def line(self) -> tuple[float, float]:
        """Offset and slope: the normalised value is offset + slope × s, or × |s| if the goal is ``zero``."""
        span = self.high - self.low
        if self.raw:
            return 0.0, 1.0
        if self.normalisation == "reference":
            if self.goal == "zero":
                return 1.0, -1 / max(self.high, FLOOR)
            span = max(span, FLOOR)
        elif span <= EQUAL * max(1.0, abs(self.low), abs(self.high)):
            return 1.0, 0.0
        return (-self.low / span, 1 / span) if self.goal == "max" else (self.high / span, -1 / span)


def composite_expression(
    parts: Mapping[str, Expression], weights: Mapping[str, float], scales: Mapping[str, Scale]
) -> Expression:
    """Return Σ_h w_h × normalised metric h as an expression.

    Parameters
    ----------
    parts, weights
        Metrics and their weights, by label.
    scales
        Scales, by the same labels.

    Raises
    ------
    UnknownNameError
        If a metric with a weight has no scale.
    """
    offset, terms, slopes = 0.0, [], []
    for label, part in parts.items():
        if label not in scales:
            raise UnknownNameError("metric with a scale:", label, tuple(scales))
        start, slope = scales[label].line
        offset += weights[label] * start
        terms.append(magnitude(part) if scales[label].goal == "zero" and not scales[label].raw else part)
        slopes.append(weights[label] * slope)
    return together(terms, slopes, offset)
