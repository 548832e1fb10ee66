"""Worlds with known truth: two groups of users who want different things, and records of what they chose.

A user's reward is a direction of fixed length near that of the group; answers follow Bradley and Terry (1952). What is
known of a user beside the records is the mean of a few extra answers, or noise. [ours]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.records import Comparisons

GROUPS = ("majority", "minority")
USUAL = 12  # extra answers by which a user is known
LEAST = {"known": 0, "records": 1, "users": 2, "features": 2, "test_records": 1, "first_records": 1}  # of counts


@dataclass(frozen=True, eq=False)
class WorldSample:
    """One draw of a world.

    Attributes
    ----------
    training, test
        Records of the same users, on different items, with the true groups.
    first, later
        Records of new users: few, to get to know them, and others to be judged by.
    rewards, new_rewards
        True coefficients of users and of new users, shape (user, feature).
    """

    training: Comparisons
    test: Comparisons
    first: Comparisons
    later: Comparisons
    rewards: Values
    new_rewards: Values


@dataclass(frozen=True)
class World:
    """How users, items and answers come about.

    Parameters
    ----------
    name
        What it is called in tables.
    minority
        Share of users in the minority, above 0 and below 1; at least one user is in each group.
    similarity
        Cosine of the groups' directions, in [-1, 1].
    known
        Extra answers of each user whose mean is the user's features, at least 0; 0 for noise instead, of the variance
        that the mean of 12 answers without any preference has.
    records
        Training records of each user, at least 1.
    users, features
        Numbers of users, at least 2, and of item features, at least 2.
    individuality
        Length of what is the user's own in the direction, relative to the group's part, at least 0.
    sharpness
        Length of coefficients, above 0: how surely people choose what they like better; features are standard normal.
    test_records, first_records
        Test records of each user, and records by which new users are known; both at least 1.

    Raises
    ------
    InputError
        If a number is outside its range.
    """

    name: str
    minority: float = 0.25
    similarity: float = 0.0
    known: int = USUAL
    records: int = 30
    users: int = 60
    features: int = 12
    individuality: float = 0.3
    sharpness: float = 2.0
    test_records: int = 50
    first_records: int = 8

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise InputError(f"{name} is {number}; allowed: a whole number of at least {least}")
        if not 0 < self.minority < 1:
            raise InputError(f"minority is {self.minority}; allowed: above 0 and below 1")
        if not -1 <= self.similarity <= 1:
            raise InputError(f"similarity is {self.similarity}; allowed: -1 to 1")
        if not 0 <= self.individuality < np.inf:
            raise InputError(f"individuality is {self.individuality}; allowed: at least 0")
        if not 0 < self.sharpness < np.inf:
            raise InputError(f"sharpness is {self.sharpness}; allowed: above 0")

    def drawn(self, generator: np.random.Generator) -> WorldSample:
        """Return users and their records; the same state of the generator gives the same sample."""
        centres = _directions(self.features, self.similarity, generator)
        rewards, groups = self._people(centres, generator)
        new_rewards, new_groups = self._people(centres, generator)
        known, new_known = (self._known(coefficients, generator) for coefficients in (rewards, new_rewards))
        training, test = (
            _answers(rewards, groups, known, count, generator) for count in (self.records, self.test_records)
        )
        first, later = (
            _answers(new_rewards, new_groups, new_known, count, generator)
            for count in (self.first_records, self.test_records)
        )
        return WorldSample(training, test, first, later, rewards, new_rewards)

    def _people(self, centres: Values, generator: np.random.Generator) -> tuple[Values, tuple[str, ...]]:
        """Return coefficients, shape (user, feature), and groups; at least one user in each."""
        few = min(max(1, round(self.minority * self.users)), self.users - 1)
        group = np.arange(self.users) >= self.users - few
        own = generator.normal(size=(self.users, self.features)) / np.sqrt(self.features)
        rewards = centres[group.astype(int)] + self.individuality * own
        rewards *= self.sharpness / np.linalg.norm(rewards, axis=1, keepdims=True)
        return rewards, tuple(GROUPS[int(code)] for code in group)

    def _known(self, rewards: Values, generator: np.random.Generator) -> Values:
        """Return what is known of users beside their records, shape (user, feature)."""
        if not self.known:
            return np.asarray(generator.normal(size=rewards.shape) * np.sqrt(2.0 / USUAL))
        shown = generator.normal(size=(len(rewards), self.known, self.features)) * np.sqrt(2.0)
        return np.asarray((_oriented(shown, rewards, generator)).mean(axis=1))


WORLDS = (
    World("antipodal", minority=0.5, similarity=-1.0, known=0),
    World("90:10", minority=0.1, similarity=-0.5),
    World("informative", known=20),
    World("uninformative", known=0),
    World("scarce", minority=0.15, similarity=-0.9, known=3, records=6),
    World("alike", similarity=1.0),
)
"""Worlds in which methods are compared; in the last one there is no disagreement, and knowing groups cannot help."""


def world(name: str, **changes: float) -> World:
    """Return a world of `WORLDS` with some of its numbers changed.

    Raises `InputError` if there is no such world.
    """
    worlds = {preset.name: preset for preset in WORLDS}
    if name not in worlds:
        raise InputError(f"world is {name!r}; allowed: {', '.join(worlds)}")
    return replace(worlds[name], **changes)  # type: ignore[arg-type]


def _directions(n_features: int, similarity: float, generator: np.random.Generator) -> Values:
    """Return two unit vectors with a given cosine, shape (2, feature)."""
    basis, _ = np.linalg.qr(generator.normal(size=(n_features, 2)))
    other = similarity * basis[:, 0] + np.sqrt(1.0 - similarity**2) * basis[:, 1]
    return np.stack([basis[:, 0], other])


def _oriented(differences: Values, rewards: Values, generator: np.random.Generator) -> Values:
    """Return differences turned to the side that each user chose, shape (user, record, feature)."""
    margins = np.einsum("urf,uf->ur", differences, rewards)
    agrees = generator.random(margins.shape) < 1.0 / (1.0 + np.exp(-margins))
    return np.asarray(np.where(agrees, 1.0, -1.0)[:, :, None] * differences)


def _answers(
    rewards: Values, groups: tuple[str, ...], known: Values, count: int, generator: np.random.Generator
) -> Comparisons:
    """Return `count` comparisons of each user, each of two new items."""
    n_users, n_features = rewards.shape
    items = generator.normal(size=(n_users, count, 2, n_features))
    chosen = _oriented(items[:, :, 0] - items[:, :, 1], rewards, generator)
    first = np.einsum("urf,urf->ur", chosen, items[:, :, 0] - items[:, :, 1]) > 0
    position = np.arange(n_users * count * 2).reshape(n_users * count, 2)
    first = first.ravel()
    return Comparisons(
        items.reshape(-1, n_features),
        np.where(first, position[:, 0], position[:, 1]),
        np.where(first, position[:, 1], position[:, 0]),
        np.repeat(np.arange(n_users), count),
        groups=groups,
        user_features=known,
    )
