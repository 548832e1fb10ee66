"""`SlateStakeholder`: values mapped to objectives, each with direction, weight, floor and the reason of the mapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from accordant.arrays import Values
from accordant.declaration import Declared
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, objectives
from accordant.slates.slates import NOTHING, Slates, State
from accordant.utilities import ExpectedRewards

UNKNOWN = 0.5  # what nothing at all is known of counts as neither good nor bad
ROUNDING = 1e-9  # how far rounding may carry an objective outside [0, 1]


class StatedObjective(Declared):
    """An objective of a stakeholder.

    Attributes
    ----------
    direction
        Whether more of it is good, ``max``, or bad, ``min``.
    weight
        Above 0; shares of the stakeholder's utility are weights over their sum.
    floor
        The mean over a list, after the direction is taken into account, that the stakeholder wants at least, in [0, 1];
        None for no such wish. Attainment is reported against it.
    because
        Why this objective stands for the value, and who said so.
    """

    metric: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    direction: Literal["max", "min"] = "max"
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    floor: float | None = Field(default=None, ge=0, le=1)
    because: str = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ = self.objective  # raises for an unknown one
        return self

    @cached_property
    def objective(self) -> Objective:
        """The objective. Raises `UnknownNameError` if it is not registered."""
        return objectives.create(self.metric, self.parameters)

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> Values:
        """Return how well each item does, in [0, 1], shape (item, user); 1 is best.

        What is not known of an item counts as the mean over the items of which it is known, for the same user; what is
        known of no item counts as `UNKNOWN` for all.

        Raises
        ------
        InputError
            If the objective gives another shape, or a number outside [0, 1].
        """
        scores = self._checked(self.objective.scores(catalogue, requests, state), catalogue, requests)
        missing = np.isnan(scores)
        if missing.any():
            counts = (~missing).sum(axis=0)
            sums = np.where(missing, 0.0, scores).sum(axis=0)
            scores = np.where(missing, np.where(counts > 0, sums / np.maximum(counts, 1), UNKNOWN), scores)
        better = scores if self.direction == "max" else 1.0 - scores
        return np.broadcast_to(better, (catalogue.n_items, requests.n_users))

    def _checked(self, scores: Values, catalogue: Catalogue, requests: Requests) -> Values:
        """Return what the objective found, if it is an objective."""
        n_items, n_users = catalogue.n_items, requests.n_users
        if scores.shape not in {(n_items, n_users), (n_items, 1)}:
            raise InputError(f"objective {self.metric!r} has shape {scores.shape}; allowed: {(n_items, n_users)}")
        outside = (scores < -ROUNDING) | (scores > 1 + ROUNDING)
        if outside.any():
            raise InputError(
                f"objective {self.metric!r} gives {scores[outside][0]}; allowed: numbers in [0, 1], or NaN"
            )
        return scores


class StatedValue(Declared):
    """Something that matters to a stakeholder, and the objectives that make it measurable."""

    value: str = Field(min_length=1)
    objectives: tuple[StatedObjective, ...] = Field(min_length=1)


class SlateStakeholder(Declared):
    """Whoever is touched by what is shown.

    Attributes
    ----------
    legitimacy
        Why this party has a say.
    values
        What matters to it.
    weight
        Its weight in rules that know weights, at least 0.
    floor
        The normalised utility that no list may go below, in [0, 1]; None for no such right.
    provenance
        Where values and weights come from: ``authors of the case``, ``interviews of 2026-05``.
    """

    name: str = Field(min_length=1)
    role: Literal["affected", "deciding", "providing"]
    legitimacy: str = ""
    values: tuple[StatedValue, ...] = Field(min_length=1)
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    floor: float | None = Field(default=None, ge=0, le=1)
    provenance: str = Field(min_length=1)

    @property
    def objectives(self) -> tuple[StatedObjective, ...]:
        """All objectives in declared order."""
        return tuple(objective for value in self.values for objective in value.objectives)

    def utilities(self, catalogue: Catalogue, requests: Requests, state: State) -> Values:
        """Return Σ_j w_j s_j / Σ_j w_j over objectives, in [0, 1], shape (item, user)."""
        total = sum(objective.weight for objective in self.objectives)
        summed = np.zeros((catalogue.n_items, requests.n_users))
        for objective in self.objectives:
            summed += objective.weight / total * objective.scores(catalogue, requests, state)
        return summed


def expected_utilities(
    stakeholders: Sequence[SlateStakeholder], catalogue: Catalogue, requests: Requests, state: State
) -> ExpectedRewards:
    """Return E with items as actions and requests as contexts.

    Raises
    ------
    InputError
        If there is no stakeholder, or two have one name.
    """
    if not stakeholders:
        raise InputError("nobody has a say: a case of slates needs at least one stakeholder")
    values = np.stack([stakeholder.utilities(catalogue, requests, state) for stakeholder in stakeholders])
    return ExpectedRewards(
        np.clip(values, 0.0, 1.0),
        stakeholders=[stakeholder.name for stakeholder in stakeholders],
        actions=catalogue.items,
    )


@dataclass(frozen=True, eq=False)
class Attainments:
    """Objectives of one stakeholder, in declared order, against their floors.

    Attributes
    ----------
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
    floors = [np.nan if objective.floor is None else objective.floor for objective in stakeholder.objectives]
    return Attainments(
        stakeholder.name,
        tuple(objective.metric for objective in stakeholder.objectives),
        means,
        np.array(floors, dtype=float),
    )
