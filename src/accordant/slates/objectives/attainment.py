"""`attainments`: what lists give to each objective of a stakeholder, beside the floors that it declared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.stakeholder import SlateStakeholder
from accordant.slates.slates import NOTHING, Slates
from accordant.slates.state import State

ROUNDING = 1e-9  # a mean that is short of a floor by less reaches it


@dataclass(frozen=True, eq=False)
class Attainments:
    """Objectives of one stakeholder, in declared order, against their floors.

    Attributes
    ----------
    stakeholder
        Whose objectives.
    metrics
        Registered objectives, shape (objective,); one may stand for several values.
    means
        Mean over the list of each user, after the direction is taken into account, in [0, 1], shape (objective, user);
        1 is best, NaN for an empty list.
    floors
        Shape (objective,); NaN where none is declared.
    """

    stakeholder: str
    metrics: tuple[str, ...]
    means: Values
    floors: Values

    @property
    def shortfall(self) -> Values:
        """max(0, floor − mean), shape (objective, user); NaN without a floor or for an empty list."""
        return np.maximum(0.0, self.floors[:, None] - self.means)

    @property
    def met(self) -> Values:
        """Share of lists that are not empty which reach the floor, shape (objective,); NaN without a floor or list."""
        short = self.shortfall
        known = (~np.isnan(short)).sum(axis=1)
        reached = (short <= ROUNDING).sum(axis=1)
        return np.asarray(np.divide(reached, known, out=np.full(len(known), np.nan), where=known > 0))


def attainments(
    stakeholder: SlateStakeholder, catalogue: Catalogue, requests: Requests, state: State, slates: Slates
) -> Attainments:
    """Return what lists give to each objective of a stakeholder.

    Parameters
    ----------
    stakeholder
        Whose objectives.
    catalogue, requests, state
        As they were when the lists were chosen: the state is the one before them.
    slates
        One list for each request.

    Raises
    ------
    InputError
        If there are not as many lists as requests.
    """
    if slates.n_users != requests.n_users:
        raise InputError(f"there are {slates.n_users} lists; allowed: {requests.n_users}, one per request")
    users, lengths = np.arange(slates.n_users)[:, None], slates.lengths
    means = np.full((len(stakeholder.objectives), slates.n_users), np.nan)
    for row, stated in zip(means, stakeholder.objectives, strict=True):
        scores = stated.scores(catalogue, requests, state)
        taken = np.where(slates.items != NOTHING, scores[np.maximum(slates.items, 0), users], 0.0)
        np.divide(taken.sum(axis=1), lengths, out=row, where=lengths > 0)
    floors = [np.nan if each.floor is None else each.floor for each in stakeholder.objectives]
    return Attainments(
        stakeholder.name, tuple(each.metric for each in stakeholder.objectives), means, np.array(floors, dtype=float)
    )
