"""A made-up city: attractions, and visitors whose true tastes are known. No visitor is a real person.

Every constant is ours. The city stands for no city; it is there because what is true in it is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.cases.tourism.mapping import capacities, providers
from accordant.slates.catalogue import Catalogue

CATEGORIES = ("Cultural", "Historical", "Museum", "Park", "Shopping", "Structure")
WITHOUT_CATEGORY = 0.1  # share of attractions; at least one of two or more
UNPRICED, FREE = 0.1, 0.3  # shares of attractions
PRICES = (5.0, 40.0)  # of the others
SAFETY = (0.6, 1.0)
CENTRE = (48.0, 11.0)  # degrees; a point in the middle latitudes, of no other meaning
SPREAD = 0.02  # standard deviation in degrees, about two kilometres
VISITS = 5000.0  # of past seasons, over all attractions
DECAY = 0.9  # of the power law of popularity: visits ∝ rank^−DECAY

FAME = 0.8  # weight of popularity in taste, against PERSONAL for one's own
PERSONAL = 1.2
ACCIDENT = 0.6  # standard deviation of what neither popularity nor category explains
PAST_VISITS = (3, 12)  # of a user who is known


@dataclass(frozen=True, eq=False)
class Tastes:
    """What users like.

    Attributes
    ----------
    users
        Names.
    true
        In [0, 1], shape (item, user).
    history
        Past visits, shape (item, user); 0 for users of whom nothing is known.
    known
        Whether anything is known of a user, shape (user,).
    """

    users: tuple[str, ...]
    true: Values
    history: Values
    known: NDArray[np.bool_]


def attractions(
    number: int, closed: int, visitors_per_day: int, capacity_share: float, famous_share: float,
    generator: np.random.Generator,
) -> Catalogue:  # fmt: skip
    """Return attractions: popularity by a power law, some without category or price, some closed.

    The closed ones are those of middle popularity: the loss of one is felt, and nobody expects it to be the best.

    Raises
    ------
    InputError
        If there is no attraction, or none is open.
    """
    if not 0 <= closed < number:
        raise InputError(f"{closed} of {number} attractions are closed; allowed: fewer than there are, and at least 0")
    popularity = np.round(VISITS * _power_law(number))[generator.permutation(number)]
    category: list[str | None] = [CATEGORIES[code] for code in generator.integers(0, len(CATEGORIES), number)]
    for place in range(1, number, round(1 / WITHOUT_CATEGORY)):
        category[place] = None
    price = generator.uniform(*PRICES, number).round()
    kind = generator.random(number)
    price[kind < FREE] = 0.0
    price[kind > 1.0 - UNPRICED] = np.nan
    latitude, longitude = (CENTRE[axis] + generator.normal(0.0, SPREAD, number) for axis in (0, 1))
    safety = generator.uniform(*SAFETY, number).round(2)
    capacity = capacities(np.full(number, np.nan), popularity, visitors_per_day, capacity_share)
    middle = np.argsort(-popularity, kind="stable")[(number - closed) // 2 :][:closed]
    capacity[middle] = 0.0
    width = len(str(number))
    return Catalogue(
        tuple(f"poi{place + 1:0{width}d}" for place in range(number)), tuple(category),
        providers([None] * number, popularity, famous_share), popularity, capacity, latitude, longitude, price, safety,
    )  # fmt: skip


def tastes(catalogue: Catalogue, n_users: int, cold_share: float, generator: np.random.Generator) -> Tastes:
    """Return users: taste is a logistic function of fame, of one's own liking of the category, and of accident.

    Parameters
    ----------
    catalogue
        Attractions.
    n_users
        At least 1.
    cold_share
        Share of users of whom nothing is known, in [0, 1], rounded to whole users.
    generator
        To draw from.
    """
    if n_users < 1:
        raise InputError(f"the city has {n_users} users; allowed: at least 1")
    if not 0 <= cold_share <= 1:
        raise InputError(f"cold_share is {cold_share:g}; allowed: from 0 to 1")
    fame = np.log1p(catalogue.popularity)
    fame = (fame - fame.mean()) / max(float(fame.std()), 1e-12)
    own = generator.normal(0.0, 1.0, (len(catalogue.categories) + 1, n_users))
    own[-1] = 0.0  # nobody likes what has no category for its category
    liking = FAME * fame[:, None] + PERSONAL * own[catalogue.category_codes]
    liking += generator.normal(0.0, ACCIDENT, liking.shape)
    known = np.ones(n_users, dtype=bool)
    known[generator.permutation(n_users)[: round(cold_share * n_users)]] = False
    history = np.zeros(liking.shape)
    weights = np.exp(liking)
    for user in np.flatnonzero(known):
        visits = int(generator.integers(*PAST_VISITS, endpoint=True))
        history[:, user] = generator.multinomial(visits, weights[:, user] / weights[:, user].sum())
    width = len(str(n_users))
    names = tuple(f"visitor{user + 1:0{width}d}" for user in range(n_users))
    return Tastes(names, 1.0 / (1.0 + np.exp(-liking)), history, known)


def estimates(found: Tastes, who: NDArray[np.intp], noise: float, generator: np.random.Generator) -> Values:
    """Return what a recommender believes that each request likes, in [0, 1], shape (item, request).

    True taste with normal noise; of a user of whom nothing is known, the mean taste of all users with the same noise.

    Parameters
    ----------
    found
        Users.
    who
        Position of the user of each request, shape (request,).
    noise
        Standard deviation, at least 0.
    generator
        To draw from; as many numbers are drawn whatever the noise.
    """
    if not (noise >= 0 and np.isfinite(noise)):
        raise InputError(f"noise is {noise:g}; allowed: a number of at least 0")
    believed = np.where(found.known, found.true, found.true.mean(axis=1, keepdims=True))
    return np.clip(believed[:, who] + noise * generator.normal(0.0, 1.0, (len(believed), len(who))), 0.0, 1.0)


def _power_law(number: int) -> Values:
    """Return shares by rank, shape (rank,)."""
    shares = np.arange(1, number + 1, dtype=np.float64) ** -DECAY
    return np.asarray(shares / shares.sum())
