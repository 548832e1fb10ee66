"""What a grid leaves out of a continuous action: logged values between its points, and decisions between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.action_grid import ActionGrid
from accordant.arrays import Mask, Values
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.learning.expectation import expected_rewards
from accordant.learning.outcome_models import OutcomeModel
from accordant.learning.reward_models import OutcomeRewardModel
from accordant.naming import listed
from accordant.problem import DecisionProblem

ON_POINT = 1e-9  # share of the range within which a value is a point
NOTICEABLE = 0.01  # expected reward that somebody must gain before a decision between points counts as better


@dataclass(frozen=True)
class MovedValues:
    """Logged values that are no points of the grid.

    Attributes
    ----------
    share
        Share of the rows, in [0, 1].
    mean_distance, largest_distance
        How far these are from the nearest point, in the unit of the grid; 0 without such rows.
    """

    share: float
    mean_distance: float
    largest_distance: float

    @classmethod
    def of(cls, grid: ActionGrid, log: Log) -> MovedValues:
        """Return how far logged values are from the points that stand for them."""
        if log.action_values is None:
            return cls(0.0, 0.0, 0.0)
        distances = np.abs(log.action_values - grid.points[log.actions])
        moved = distances[distances > ON_POINT * (grid.values[-1] - grid.values[0])]
        if not moved.size:
            return cls(0.0, 0.0, 0.0)
        return cls(moved.size / len(log), float(moved.mean()), float(moved.max()))

    def warnings(self, grid: ActionGrid) -> list[str]:
        """Return a sentence for every report, if values were moved."""
        if not self.share:
            return []
        sentence = (
            f"{self.share:.0%} of the logged actions lie between points of the grid. Models learn from their values "
            "as they are; propensities, overlap and the rewards of what was done count each as the nearest point, "
            f"{grid.words(float(f'{self.mean_distance:.3g}'))} away on average and at most "
            f"{grid.words(float(f'{self.largest_distance:.3g}'))}."
        )
        return [sentence]


@dataclass(frozen=True)
class ResolutionGain:
    """What one stakeholder would gain if decisions could also lie midway to a neighbouring point.

    Attributes
    ----------
    stakeholder
        Its name.
    mean, largest
        Rise of its expected reward in [0, 1] by the midway point that is best for it, 0 where both are worse: over
        contexts.
    """

    stakeholder: str
    mean: float
    largest: float


@dataclass(frozen=True)
class GridResolution:
    """How much expected reward the decisions of a strategy may miss between points of the grid.

    The models that made E are asked about the middle between each decision and its neighbours. The figures are theirs:
    what the log holds between the points is all that speaks for them.

    Attributes
    ----------
    grid
        The points.
    strategy
        Whose decisions.
    n
        Number of contexts.
    gains
        One per stakeholder; each is about this stakeholder alone, and others may lose.
    better_for_all
        Share of contexts in which a middle is worse for nobody and better for somebody by more than 0.01.
    """

    grid: ActionGrid
    strategy: str
    n: int
    gains: tuple[ResolutionGain, ...]
    better_for_all: float

    def sentence(self) -> str:
        """Return the figures in words."""
        gains = [f"{gain.stakeholder} {gain.mean:.3f} on average and at most {gain.largest:.3f}" for gain in self.gains]
        named = [f"{name} {value:g}" for name, value in zip(self.grid.names, self.grid.values, strict=True)]
        points = f"{listed(named)} {self.grid.unit}".rstrip()
        return (
            f"Resolution of the grid ({points}): decisions of {self.strategy} midway to a neighbouring "
            f"point would, by the same models on {self.n:,} rows, raise the expected reward of "
            f"{listed(gains)}, each taken alone; in {self.better_for_all:.0%} of the rows such a point would be worse "
            f"for nobody and better for somebody by more than {NOTICEABLE:g}."
        )


def grid_resolution(
    problem: DecisionProblem,
    contexts: Contexts,
    decisions: Decisions,
    outcome_model: OutcomeModel,
    reward_models: Sequence[OutcomeRewardModel],
) -> GridResolution:
    """Return what decisions could gain between the points of the grid of a problem.

    Parameters
    ----------
    problem
        Declares a grid of actions.
    contexts
        Contexts that the models did not see.
    decisions
        What a strategy chose there; of randomised decisions the gains are weighted by their probabilities.
    outcome_model, reward_models
        Those that made E.
    """
    grid, finer = problem.grid, problem.refined()
    assert grid is not None
    assert finer.action_values is not None
    prediction = outcome_model.at(finer.action_values).predict(contexts)
    expected = expected_rewards(contexts, prediction, [model.at(finer) for model in reward_models], finer).values
    gains, better = midway_gains(np.asarray(expected, dtype=np.float64))
    if decisions.policy is None:
        chances = (np.arange(len(problem.actions))[:, None] == decisions.codes).astype(np.float64)
    else:
        chances = decisions.policy.astype(np.float64)
    rises = (gains * chances).sum(axis=1)
    return GridResolution(
        grid,
        decisions.strategy,
        contexts.n_contexts,
        tuple(
            ResolutionGain(name, float(rise.mean()), float(rise.max()))
            for name, rise in zip(problem.stakeholder_names, rises, strict=True)
        ),
        float((better * chances).sum(axis=0).mean()),
    )


def midway_gains(expected: Values) -> tuple[Values, Mask]:
    """Return what each stakeholder gains midway to a neighbour of each point, and where a middle is better for all.

    Parameters
    ----------
    expected
        E on points and middles in rising order, shape (stakeholder, 2 · point − 1, context).

    Returns
    -------
    Gains of shape (stakeholder, point, context), at least 0, and booleans of shape (point, context).
    """
    points, middles = expected[:, ::2], expected[:, 1::2]
    gains, better = np.zeros(points.shape), np.zeros(points.shape[1:], dtype=bool)
    below, above = slice(1, None), slice(None, -1)  # points with a middle below, and above
    for side in (below, above):
        change = middles - points[:, side]
        gains[:, side] = np.maximum(gains[:, side], change)
        better[side] |= (change >= 0).all(axis=0) & (change > NOTICEABLE).any(axis=0)
    return gains, better
