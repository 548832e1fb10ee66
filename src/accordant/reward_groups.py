"""`RewardGroups`: the groups that the people behind a stakeholder's reward form, as whoever divides them says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RewardGroup:
    """Some of the people behind a reward.

    Attributes
    ----------
    name
        What tells the group from the others: ``type 1``, or its declared name.
    people
        How many they are.
    entry
        What a case adds to the reward's entry so that it is learned from these people alone.
    """

    name: str
    people: int
    entry: Mapping[str, Any]


@dataclass(frozen=True)
class TypesTried:
    """How well a number of types predicts people who took no part in finding them.

    Attributes
    ----------
    types
        Their number.
    log_likelihood
        Held out, per comparison, in nats; at most 0.
    shortfall, standard_error
        The best number's log-likelihood less this one, at least 0, and its standard error over people.
    """

    types: int
    log_likelihood: float
    shortfall: float
    standard_error: float


@dataclass(frozen=True)
class RewardGroups:
    """The groups that the people behind a reward form; one if they stay together.

    Attributes
    ----------
    groups
        Largest first.
    tried
        Numbers of types that were compared, 1, 2, …; empty for declared groups.
    unsure
        Share of people whose most likely type has a probability below 0.8; None where no types were told apart.
    warnings
        Sentences that a reader of the groups must see.
    """

    groups: tuple[RewardGroup, ...]
    tried: tuple[TypesTried, ...] = ()
    unsure: float | None = None
    warnings: tuple[str, ...] = ()
