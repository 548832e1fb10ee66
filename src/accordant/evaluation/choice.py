"""What choosing the best of several lines on the same contexts adds to its values: it is best partly by luck.

The choice is made anew in every resample, and what is chosen there is compared with its value on all contexts (Efron
1983, for a choice among fixed rules).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.statistics import percentile_interval


@dataclass(frozen=True, eq=False)
class Choice:
    """A line that is chosen for its score.

    Attributes
    ----------
    line
        Its position.
    anew
        The line that is chosen on each resample, −1 if none, shape (resample,).
    concerns
        Which lines are chosen, or decide like the one that is; none if there is no other to choose, shape (strategy,).
    """

    line: int
    anew: Codes
    concerns: Mask

    @classmethod
    def of(cls, scores: Values, drawn: Values, selectable: Mask, leader: Codes) -> Self | None:
        """Return the choice of the highest score; None if no selectable line has one.

        Parameters
        ----------
        scores, drawn
            Scores on all contexts and on resamples, shape (strategy,) and (resample, strategy).
        selectable
            Which lines can be chosen, shape (strategy,).
        leader
            The line that stands for each, itself or one that decides alike, shape (strategy,).
        """
        line = first_of(scores, selectable)
        if line is None:
            return None
        defined = selectable & ~np.isnan(scores) & ~np.isnan(drawn)
        anew = np.where(defined.any(axis=1), np.where(defined, drawn, -np.inf).argmax(axis=1), -1)
        several = len(np.unique(leader[selectable])) > 1
        return cls(line, anew, np.asarray(several & (leader == leader[line])))

    def errors(self, values: Values, drawn: Values) -> Values:
        """Return what the line chosen on a resample has there less what it has on all contexts, shape (some,).

        Resamples without a value are left out; 0 if all are.

        Parameters
        ----------
        values, drawn
            Scores or a metric, shape (strategy,) and (resample, strategy).
        """
        every = np.flatnonzero(self.anew >= 0)
        found = drawn[every, self.anew[every]] - values[self.anew[every]]
        found = found[np.isfinite(found)]
        return np.asarray(found) if len(found) else np.zeros(1)


def limits_of_choice(
    value: float, errors: Values, single: tuple[float | None, float | None], level: float, half: float = 0.0
) -> tuple[float, float]:
    """Return limits that hold the interval of a line by itself, and what choosing it makes likely.

    Parameters
    ----------
    value
        Of the line, on all contexts.
    errors
        Of choosing, from `Choice.errors`.
    single
        Limits of the line by itself; None is left out.
    level
        Coverage.
    half
        Half-width of what refitting the models adds, independent of the choice.
    """
    limits = percentile_interval(errors, level)
    below, above = max(float(limits.high), 0.0), max(float(-limits.low), 0.0)
    ends = [value - float(np.hypot(below, half)), value + float(np.hypot(above, half))]
    ends += [end for end in single if end is not None]
    return min(ends), max(ends)


def first_of(scores: Values, allowed: Mask) -> int | None:
    """Return the position of the highest defined score among those allowed; None if there is none."""
    able = np.where(allowed & ~np.isnan(scores), scores, -np.inf)
    return int(np.argmax(able)) if np.isfinite(able).any() else None
