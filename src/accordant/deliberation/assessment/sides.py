"""Solo, revised and joint allocations side by side, by any list of criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.criteria import Criterion
from accordant.deliberation.assessment.emergence import judged
from accordant.deliberation.assessment.regrets import recorded
from accordant.deliberation.record import Deliberation
from accordant.json_values import finite


@dataclass(frozen=True, eq=False)
class Sides:
    """Every allocation on record by every criterion.

    Attributes
    ----------
    allocations
        ``solo NAME`` and ``revised NAME`` of every agent, and ``joint``.
    criteria
        Labels.
    values
        Measures, shape (allocation, criterion); NaN where one is not defined.
    met
        Whether the criterion is met, shape (allocation, criterion); False where it is not defined.
    """

    allocations: tuple[str, ...]
    criteria: tuple[str, ...]
    values: NDArray[np.float64]
    met: NDArray[np.bool_]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; null where a measure is not defined."""
        return {
            allocation: {
                label: {
                    "value": finite(value),
                    "met": None if np.isnan(value) else bool(met),
                }
                for label, value, met in zip(self.criteria, values, row, strict=True)
            }
            for allocation, values, row in zip(self.allocations, self.values, self.met, strict=True)
        }


def side_by_side(deliberation: Deliberation, criteria: Sequence[Criterion]) -> Sides:
    """Return the measures of every allocation on record."""
    rows = recorded(deliberation)
    values, met = judged(deliberation, criteria, np.array([each.shares for each in rows.values()]))
    return Sides(tuple(rows), tuple(each.label for each in criteria), values.T, met.T)
