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
        Which lines are chosen, or decide like the one that is, shape (strategy,).
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
        return cls(line, anew, np.asarray(leader == leader[line]))

    def optimism(self, values: Values, drawn: Values) -> float:
        """Return by how much the value of the line is too good on average, at least 0; see `excess`."""
        errors = self._errors(values, drawn)
        return max(0.0, float(errors.mean())) if len(errors) else 0.0

    def excess(self, values: Values, drawn: Values, level: float) -> tuple[float, float]:
        """Return how much farther than the line's own error the error of choosing reaches, each at least 0.

        By so much the lower limit of the line goes down and the upper one up. Both are 0 if no other is ever chosen.

        Parameters
        ----------
        values, drawn
            Scores, or a metric of which more is better or worse, shape (strategy,) and (resample, strategy).
        level
            Coverage.
        """
        chosen, own = self._errors(values, drawn), _finite(drawn[:, self.line] - values[self.line])
        if not len(chosen) or not len(own):
            return 0.0, 0.0
        of_choice, of_line = percentile_interval(chosen, level), percentile_interval(own, level)
        return max(0.0, float(of_choice.high - of_line.high)), max(0.0, float(of_line.low - of_choice.low))

    def _errors(self, values: Values, drawn: Values) -> Values:
        """Return what the line chosen on a resample has there less what it has on all contexts, where defined."""
        every = np.flatnonzero(self.anew >= 0)
        return _finite(drawn[every, self.anew[every]] - values[self.anew[every]])


def first_of(scores: Values, allowed: Mask) -> int | None:
    """Return the position of the highest defined score among those allowed; None if there is none."""
    able = np.where(allowed & ~np.isnan(scores), scores, -np.inf)
    return int(np.argmax(able)) if np.isfinite(able).any() else None


def _finite(errors: Values) -> Values:
    return np.asarray(errors[np.isfinite(errors)])
