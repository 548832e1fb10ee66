"""Changes of weights where scores are not linear in their shares: a grid of shares, then bisection."""

from __future__ import annotations

import numpy as np

from accordant.explanation.weights.changes import NewWeights
from accordant.explanation.weights.trial import END, STEP, Side, Trial, onwards

GRID = 64  # shares tried in each direction
PRECISION = 1e-9  # of a share, at which bisection stops


def changes_found(trial: Trial) -> list[NewWeights]:
    """Return the first change on a grid for each stakeholder in each direction, made precise by bisection.

    Shares of 0 and 1 are left out: they leave somebody out altogether, which is another question (see `pivotal`).
    """
    inside = [i for i, share in enumerate(trial.shares) if 0 < share < 1]
    found = [_first(trial, i, direction) for i in inside for direction in END]
    return [each for each in found if each is not None]


def _first(trial: Trial, who: int, direction: Side) -> NewWeights | None:
    """Return the first change in one direction; a change that is undone again between grid points is not seen."""
    own, end = float(trial.shares[who]), END[direction]

    def changes(share: float) -> bool:
        """Return whether another decision is taken with a share of one stakeholder."""
        return trial.decided(trial.with_share(who, share)) != trial.chosen

    grid = own + (end - own) * np.append(np.arange(GRID) / GRID, 1.0 - STEP)
    first = next((k for k in range(1, len(grid)) if changes(float(grid[k]))), None)
    if first is None:
        return None
    before, after = float(grid[first - 1]), float(grid[first])
    while abs(after - before) > PRECISION:
        middle = (before + after) / 2
        before, after = (before, middle) if changes(middle) else (middle, after)
    beyond = trial.changed(direction, who, trial.with_share(who, onwards(after, end)))
    return beyond or trial.changed(direction, who, trial.with_share(who, after))
