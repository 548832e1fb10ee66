"""Who is served by what a rule funds, and who gains if another rule is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.errors import InputError
from accordant.voting.budgets.rule import Funded


@dataclass(frozen=True)
class Reach:
    """How far a list of projects reaches; every mean is over voters by weight.

    Attributes
    ----------
    served
        Share of the voters with at least one funded project that they voted for.
    projects
        Mean number of funded projects that a voter voted for.
    score
        Share of all scores, points or approvals, that went to funded projects; 0 if nobody gave any.
    spent
        Share of the budget; 0 if there is none.
    """

    served: float
    projects: float
    score: float
    spent: float


@dataclass(frozen=True)
class Gain:
    """Shares of voters who get more, less, or the same from another list, by weight.

    Attributes
    ----------
    more, less, same
        By the number of funded projects that a voter voted for; their sum is 1.
    """

    more: float
    less: float
    same: float


def reach(funded: Funded) -> Reach:
    """Return how far a list of projects reaches.

    Projects that cost nothing count as any other.
    """
    election, chosen = funded.election, funded.chosen
    weights, voters = election.weights, election.weights.sum()
    got = election.approvals[:, chosen].sum(axis=1)
    points = weights @ election.scores
    return Reach(
        served=float(weights[got > 0].sum() / voters),
        projects=float(weights @ got / voters),
        score=float(points[chosen].sum() / points.sum()) if points.any() else 0.0,
        spent=float(funded.spent) / election.budget if election.budget else 0.0,
    )


def gain(before: Funded, after: Funded) -> Gain:
    """Return who gets more and who gets less from `after` than from `before`.

    Raises
    ------
    InputError
        If they are about different elections.
    """
    if before.election is not after.election:
        raise InputError(f"{before.rule} and {after.rule} were applied to different elections; allowed: the same one")
    election = before.election
    weights, voters = election.weights, election.weights.sum()
    difference = election.approvals @ (after.chosen.astype(np.int64) - before.chosen.astype(np.int64))
    return Gain(
        more=float(weights[difference > 0].sum() / voters),
        less=float(weights[difference < 0].sum() / voters),
        same=float(weights[difference == 0].sum() / voters),
    )
