"""Reference points: the disagreement point d_i and the ideal point u*_i, and where they come from.

| mode | disagreement point | ideal point |
|---|---|---|
| ``"context"`` | min over actions of E in the context | max over actions of E in the context |
| ``"status_quo"`` | E of a declared action | – |
| ``"global"`` | min over actions and training contexts | max over actions and training contexts |
| numbers | declared: one for everybody, or one per stakeholder | likewise |

``context`` and ``status_quo`` depend on what stakeholders report in this very context, so they can be
manipulated; ``global`` and declared points are fixed when a decision is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError, NotFittedError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.strategies.block import Block
from accordant.utilities import ExpectedRewards

ReferencePoint = str | float | Sequence[float]

INDIFFERENT = 1e-12  # ranges of E this small mean that a stakeholder does not care


@dataclass(frozen=True)
class ReferencePoints:
    """Parameters shared by the rules that measure gains or distances from reference points.

    Parameters
    ----------
    disagreement
        ``"context"``, ``"status_quo"``, ``"global"``, a number, or one number per stakeholder.
    ideal
        ``"context"``, ``"global"``, a number, or one number per stakeholder.
    status_quo
        Action of the mode ``"status_quo"``; filled from the problem if None.
    training_range
        (lows, highs) per stakeholder over training contexts, set by `fit` for the mode ``"global"``.
    """

    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement", "ideal")

    disagreement: ReferencePoint = "context"
    ideal: ReferencePoint = "context"
    status_quo: str | None = None
    training_range: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        allowed = {"disagreement": ("context", "status_quo", "global"), "ideal": ("context", "global")}
        for parameter, modes in allowed.items():
            point = getattr(self, parameter)
            if parameter not in self.uses and point != "context":
                raise InputError(f"this rule has no {parameter} point; {parameter} {point!r} would have no effect")
            if isinstance(point, str):
                if point not in modes:
                    raise UnknownNameError(f"{parameter} mode", point, (*modes, "numbers"))
            else:
                try:
                    array = np.asarray(point, dtype=np.float64)
                except (TypeError, ValueError):
                    array = np.array(np.nan)
                if array.ndim > 1 or not np.isfinite(array).all():
                    raise InputError(f"{parameter} is {point}; allowed: a number or one per stakeholder")
                if array.ndim == 1:
                    object.__setattr__(self, parameter, tuple(float(value) for value in array))

    @property
    def mode(self) -> str:
        """Modes of the points in use as names show them, such as ``"context"`` or ``"declared"``."""
        points = [getattr(self, parameter) for parameter in self.uses]
        modes = [point if isinstance(point, str) else "declared" for point in points]
        if modes == ["status_quo", "context"] or len(set(modes)) == 1:  # a status quo has no ideal point of its own
            return modes[0]
        return ", ".join(modes)

    @property
    def fixed(self) -> bool:
        """Whether the points in use were set before anybody reported anything in a context."""
        return not {"context", "status_quo"} & {str(getattr(self, parameter)) for parameter in self.uses}

    @property
    def fitted(self) -> bool:
        """Whether points that come from training contexts are known."""
        return self.training_range is not None or "global" not in (self.disagreement, self.ideal)

    def fill(self, problem: DecisionProblem) -> Self:
        """Return a copy whose status-quo action comes from the problem if it was left open."""
        if self.disagreement != "status_quo" or self.status_quo is not None:
            return self
        if problem.status_quo is None:
            raise InputError("disagreement 'status_quo' needs an action; the problem declares no status_quo")
        return replace(self, status_quo=problem.status_quo)

    def learn(self, expected: ExpectedRewards) -> Self:
        """Return a copy with the range of E over these training contexts."""
        if "global" not in (self.disagreement, self.ideal):
            return self
        if expected.n_contexts == 0:
            raise InputError("reference points 'global' need at least one training context")
        lows, highs = expected.values.min(axis=(1, 2)), expected.values.max(axis=(1, 2))
        return replace(self, training_range=(tuple(map(float, lows)), tuple(map(float, highs))))

    def disagreement_point(self, block: Block) -> Values:
        """Return d, shape (stakeholder, context) or (stakeholder, 1)."""
        if self.disagreement == "context":
            return block.reference.lows
        if self.disagreement == "status_quo":
            if self.status_quo is None:
                raise InputError("disagreement 'status_quo' needs the parameter status_quo, an action")
            if self.status_quo not in block.actions:
                raise UnknownNameError("action", self.status_quo, block.actions)
            return np.ascontiguousarray(block.reference.values[:, block.actions.index(self.status_quo)])
        return self._fixed(self.disagreement, 0, len(block.stakeholders))

    def ideal_point(self, block: Block) -> Values:
        """Return u*, shape (stakeholder, context) or (stakeholder, 1)."""
        if self.ideal == "context":
            return block.reference.highs
        return self._fixed(self.ideal, 1, len(block.stakeholders))

    def disagreement_of(self, block: Block, has_weight: Mask) -> Values | None:
        """Return d of those who have a say for a `Formula`: None for the lowest reward in the context itself."""
        if self.disagreement == "context" and block.reference is block:
            return None
        return per_context(self.disagreement_point(block), block, has_weight)

    def ideal_of(self, block: Block, has_weight: Mask) -> Values | None:
        """Return u* of those who have a say for a `Formula`: None for the highest reward in the context itself."""
        if self.ideal == "context" and block.reference is block:
            return None
        return per_context(self.ideal_point(block), block, has_weight)

    def _fixed(self, point: ReferencePoint, end: Literal[0, 1], n_stakeholders: int) -> Values:
        if point == "global":
            if self.training_range is None:
                raise NotFittedError("reference points 'global' come from training contexts; call fit(E) first")
            point = self.training_range[end]
        array = np.asarray(point, dtype=np.float64)
        if array.ndim == 1 and array.size != n_stakeholders:
            raise InputError(f"{array.size} reference points were declared for {n_stakeholders} stakeholders")
        return np.array(np.broadcast_to(array, (n_stakeholders,)))[:, None]


def per_context(points: Values, block: Block, has_weight: Mask | None = None) -> Values:
    """Return reference points with a column for every context, of those who have a say only, C-contiguous."""
    kept = points if has_weight is None or has_weight.all() else points[has_weight]
    shape = len(kept), block.n_contexts
    return kept if kept.shape == shape else np.array(np.broadcast_to(kept, shape))  # a read-only view compiles anew
