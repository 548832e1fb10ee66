"""The perturbation set of the schema: what a coalition may do to E inside the tube [μ, 1 − μ]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from accordant.arrays import Codes, Values
from accordant.certificates.threat import checked_coalition
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.power_means import FLOOR
from accordant.utilities import ExpectedRewards

Region = Literal["tube", "box"]
REGIONS: tuple[Region, ...] = ("tube", "box")

DEFAULT_MU = 0.01  # wide enough to leave nearly every E alone, and 1/μ still a number to work with
SLACK = 1e-9  # leads up to this, relative to max(1, |Φ|), may be ties of the rule itself, whose tolerance is 1e-12
SINGLE_PRECISION_SLACK = 1e-5  # the same for float32, where the tolerance of rules is 1e-6


@dataclass(frozen=True, eq=False)
class PerturbationSet:
    """E + U(δ) of Vineis, Perelli and Tolomei 2025, Definition 15: a box inside the tube [μ, 1 − μ].

    Attributes
    ----------
    centre
        E clipped into [μ, 1 − μ], float64, shape (stakeholder, action, context).
    low, high
        Ends of the box, of the same shape; both equal the centre outside the coalition.
    members
        Positions of the coalition's members, shape (member,).
    coalition
        Their names, in the order of the stakeholders.
    delta, mu
        Radius δ and margin μ of the tube.
    n_clipped
        How many entries of E were outside the tube. A certificate speaks about E after clipping.
    slack
        Leads of scores up to this, relative to max(1, |Φ|), count as none: the rule may see a tie there.
    """

    centre: Values
    low: Values
    high: Values
    members: Codes
    coalition: tuple[str, ...]
    delta: float
    mu: float
    n_clipped: int
    slack: float

    @property
    def room(self) -> float:
        """Distance of the coalition's entries from the edge of the tube; inf for nobody."""
        reported = self.centre[self.members]
        return float(np.minimum(reported - self.mu, 1 - self.mu - reported).min(initial=np.inf))

    @property
    def meets_definition(self) -> bool:
        """Whether δ < room, as Definition 15 also asks; the bounds here do not need it.

        Where it fails, the set is the ball cut off at the tube. All a proof uses is that the set is convex, lies in
        the tube, and is nowhere farther than δ from its centre: true either way.
        """
        return self.delta < self.room

    def extent(self, region: Region) -> tuple[Values, Values]:
        """Return lower and upper ends of the region over which slopes are bounded: of the tube, or of the set."""
        if region == "box":
            return self.low, self.high
        shape = (*self.centre.shape[:2], 1)
        return np.full(shape, self.mu), np.full(shape, 1 - self.mu)


def perturbation_set(
    expected: ExpectedRewards, *, delta: float, coalition: Iterable[str] | None, mu: float = DEFAULT_MU
) -> PerturbationSet:
    """Return the set of Definition 15 around E.

    Parameters
    ----------
    expected
        E, at least one context.
    delta
        Radius δ, at least 0, in units of reward.
    coalition
        Names of the stakeholders who may misreport; may be empty. None for everybody.
    mu
        μ, from 1e-6 (where rewards are floored anyway) to below 1/2.

    Raises
    ------
    InputError
        If δ or μ is out of range, or there is no context.
    UnknownNameError
        If somebody in the coalition is no stakeholder.
    """
    if not 0 <= delta < np.inf:
        raise InputError(f"delta is {delta}; allowed: a number of at least 0")
    if not FLOOR <= mu < 0.5:
        raise InputError(f"mu is {mu}; allowed: from {FLOOR:g} to below 0.5")
    if expected.n_contexts == 0:
        raise InputError("expected rewards have no context; a certificate needs at least one")
    members = _members(coalition, expected.stakeholders)
    values = np.asarray(expected.values, dtype=np.float64)
    centre = np.clip(values, mu, 1 - mu)
    low, high = centre.copy(), centre.copy()
    low[members] = np.maximum(centre[members] - delta, mu)
    high[members] = np.minimum(centre[members] + delta, 1 - mu)
    single = expected.values.dtype == np.float32
    return PerturbationSet(
        centre, low, high, members, tuple(expected.stakeholders[i] for i in members), float(delta), float(mu),
        int((centre != values).sum()), SINGLE_PRECISION_SLACK if single else SLACK,
    )  # fmt: skip


def _members(coalition: Iterable[str] | None, stakeholders: tuple[str, ...]) -> Codes:
    """Return the positions of the members, ascending."""
    names = checked_coalition(coalition)
    names = stakeholders if names is None else names
    for name in names:
        if name not in stakeholders:
            raise UnknownNameError("stakeholder in the coalition", name, stakeholders)
    return np.array(sorted(stakeholders.index(name) for name in names), dtype=np.intp)
