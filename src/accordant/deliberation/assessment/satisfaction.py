"""How well each agent is served by its own standard: alone, after contestation, and by the joint decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant.deliberation.assessment.alternatives import Alternatives, alternatives, position, scaled
from accordant.deliberation.record import Deliberation
from accordant.json_values import field_values


@dataclass(frozen=True)
class Satisfaction:
    """Utilities as the agents stated them, each scaled to [0, 1] over the alternatives.

    Attributes
    ----------
    solo, revised
        Agent to the utility that its first and its last proposal has by its own first and last stated utility. What
        is missing to 1 is lack of fidelity: the agent did not propose what it said it likes best.
    joint
        Agent to its utility of the joint decision, by the utility that settlement used.
    drift
        Value drift: agent to the mean of |first − last stated utility| over the alternatives; 0 if it did not
        change its mind about any of them.
    gap
        Decision gap: largest minus smallest of `joint`.
    exact
        Whether all feasible allocations were compared. Otherwise `drift` is over those that a search found, and the
        scales of utilities that do not add up over patients come from a search.
    """

    solo: Mapping[str, float]
    revised: Mapping[str, float]
    joint: Mapping[str, float]
    drift: Mapping[str, float]
    gap: float
    exact: bool

    to_json = field_values


def satisfaction(deliberation: Deliberation, *, among: Alternatives | None = None) -> Satisfaction:
    """Return how well each agent is served by its own standard.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    among
        What utilities are scaled over, if that was already made.
    """
    options = (alternatives(deliberation) if among is None else among).options
    first = {name: scaled(each.utility, options) for name, each in deliberation.solo.items()}
    last = {name: scaled(each.utility, options) for name, each in deliberation.revised.items()}
    joint_at = position(options, deliberation.joint)
    joint = {name: float(scaled(each, options)[joint_at]) for name, each in deliberation.utilities.items()}
    return Satisfaction(
        solo={name: float(first[name][position(options, deliberation.solo[name].allocation)]) for name in first},
        revised={name: float(last[name][position(options, deliberation.revised[name].allocation)]) for name in last},
        joint=joint,
        drift={name: float(np.abs(first[name] - last[name]).mean()) for name in first},
        gap=max(joint.values()) - min(joint.values()),
        exact=options.complete,
    )
