"""The market simulator ``city``: days in a made-up city, attractions, and visitors whose true tastes are known.

Every constant is ours. The city stands for no city and no visitor for a person; it is there because what is true in it
is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.arrays import Values
from accordant.errors import InputError
from accordant.randomness import keyed_uniform
from accordant.slates.cases.tourism.tables import capacities, providers
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.slates import NOTHING, Slates, attention
from accordant.slates.sources import Demand, market_simulators, service_days

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
SMALLEST = 2.0**-53  # keeps logarithms of draws finite
LIKED = 3  # attractions that a visitor would like best are what a list should hold


@dataclass(frozen=True, eq=False)
class Tastes:
    """What users like: true taste in [0, 1] and past visits, shape (item, user), and whether anything is known of each.

    `known` is of shape (user,); past visits are 0 for users of whom nothing is known.
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

    Raises `InputError` if there is no attraction, or none is open.
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

    Raises
    ------
    InputError
        If one of them is outside its range.
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
    As many numbers are drawn whatever the noise, a standard deviation of at least 0; `who` asks, shape (request,).

    Raises `InputError` if the noise is below 0.
    """
    if not (noise >= 0 and np.isfinite(noise)):
        raise InputError(f"noise is {noise:g}; allowed: a number of at least 0")
    believed = np.where(found.known, found.true, found.true.mean(axis=1, keepdims=True))
    return np.clip(believed[:, who] + noise * generator.normal(0.0, 1.0, (len(believed), len(who))), 0.0, 1.0)


def _power_law(number: int) -> Values:
    """Return shares by rank, shape (rank,)."""
    shares = np.arange(1, number + 1, dtype=np.float64) ** -DECAY
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True, eq=False)
class Choice:
    """Every visitor visits one item of the list: the one of highest utility [ours].

        utility = sharpness · taste + position_bias · ln(attention) − crowding_aversion · crowd + shock

    attention is 1 / log2(1 + rank). crowd is the number of earlier visitors of the same batch at the item over the
    item's room. Shocks are standard Gumbel, so each choice is multinomial (McFadden 1974). A shock depends on the seed,
    the request and the item alone: rules that show the same item to the same visitor meet the same mood.

    Parameters
    ----------
    taste
        Of each request, known to nobody else, in [0, 1], shape (item, request).
    column
        Request to its column of `taste`.
    room
        Visitors of one batch that an item takes at ease, above 0, shape (item,).
    sharpness, position_bias, crowding_aversion
        At least 0; at 0 the part has no influence.
    """

    seed: int
    items: tuple[str, ...]
    taste: Values
    column: Mapping[str, int]
    room: Values
    sharpness: float = 6.0
    position_bias: float = 1.0
    crowding_aversion: float = 1.0

    def __call__(self, requests: Requests, slates: Slates) -> Values:
        """Return visits, 0 or 1, shape (item, request): one for each list that holds anything."""
        came = np.zeros(len(self.items))
        visits = np.zeros((len(self.items), requests.n_users))
        prominence = self.position_bias * np.log(attention(slates.k))
        for user, request in enumerate(requests.ids):
            shown = slates.items[user]
            places = np.flatnonzero(shown != NOTHING)
            if not len(places):
                continue
            items = shown[places]
            liking = self.sharpness * self.taste[items, self.column[request]] + prominence[places]
            crowd = self.crowding_aversion * came[items] / self.room[items]
            taken = items[np.argmax(liking - crowd + self.shocks(request, items))]
            visits[taken, user] = 1.0
            came[taken] += 1.0
        return visits

    def shocks(self, request: str, items: NDArray[np.intp]) -> Values:
        """Return standard Gumbel draws, shape (item,)."""
        draws = keyed_uniform(self.seed, (f"mood:{request}:{self.items[item]}" for item in items))
        return np.asarray(-np.log(-np.log(np.clip(draws, SMALLEST, 1.0 - SMALLEST))))


@market_simulators.register("city")
def city(
    seed: int,
    days: int = 6,
    visitors_per_day: int = 40,
    batch: int = 16,
    places: int = 28,
    users: int = 150,
    cold_share: float = 0.4,
    closed: int = 1,
    noise: float = 0.15,
    capacity_share: float = 1.5,
    famous_share: float = 0.5,
    sharpness: float = 6.0,
    position_bias: float = 1.0,
    crowding_aversion: float = 1.0,
) -> Demand:
    """Return days of visitors who choose from what they are shown. Source: ours.

    Parameters
    ----------
    seed
        Of everything drawn.
    days, visitors_per_day, batch
        Service days, requests of each, and how many are served at once; at least 1.
    places, closed
        Attractions, and how many of them have capacity 0.
    users, cold_share
        People, of whom some come several times, and the share of whom nothing is known.
    noise
        Standard deviation of predicted relevance around true taste.
    capacity_share, famous_share
        See `accordant.slates.cases.tourism.tables`.
    sharpness, position_bias, crowding_aversion
        See `accordant.slates.cases.tourism.simulator.Choice`.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    if isinstance(days, bool) or not isinstance(days, int) or days < 1:
        raise InputError(f"days is {days!r}; allowed: a whole number of at least 1")
    for name, number in (
        ("sharpness", sharpness),
        ("position_bias", position_bias),
        ("crowding_aversion", crowding_aversion),
    ):
        if not (number >= 0 and np.isfinite(number)):
            raise InputError(f"{name} is {number:g}; allowed: a number of at least 0")
    parts = list(service_days(days * visitors_per_day, visitors_per_day, batch, "visitors_per_day"))
    world, visitors = randomness.generator(seed, "simulation"), randomness.generator(seed, "visitors")
    catalogue = attractions(places, closed, visitors_per_day, capacity_share, famous_share, world)
    people = tastes(catalogue, users, cold_share, world)
    who = np.concatenate([_of_a_day(users, visitors_per_day, visitors) for _ in range(days)])
    relevance = estimates(people, who, noise, visitors)
    where = [CENTRE[axis] + visitors.normal(0.0, SPREAD, len(who)) for axis in (0, 1)]
    targets = best_liked(people.true, catalogue)
    ids = tuple(f"day{request // visitors_per_day + 1}-{request % visitors_per_day + 1}" for request in range(len(who)))
    batches = tuple(
        Requests(
            ids[part], tuple(people.users[user] for user in who[part]), day, where[0][part], where[1][part],
            relevance[:, part], people.history[:, who[part]], np.ones((places, part.stop - part.start), dtype=bool),
            targets[:, who[part]],
        )
        for day, part in parts
    )  # fmt: skip
    room = np.maximum(1.0, catalogue.capacity * batch / visitors_per_day)
    uptake = Choice(
        seed, catalogue.items, people.true[:, who], {request: place for place, request in enumerate(ids)}, room,
        sharpness, position_bias, crowding_aversion,
    )  # fmt: skip
    return Demand(catalogue, batches, _notes(catalogue, people, who), _facts(catalogue, people, who, days), uptake)


def best_liked(taste: Values, catalogue: Catalogue) -> NDArray[np.bool_]:
    """Return the open attractions that each user truly likes best, at most `LIKED`, shape (item, user)."""
    order = np.argsort(-np.where(catalogue.open[:, None], taste, -np.inf), axis=0, kind="stable")
    targets = np.zeros(taste.shape, dtype=bool)
    np.put_along_axis(targets, order[: min(LIKED, int(catalogue.open.sum()))], True, axis=0)
    return targets


def _of_a_day(users: int, visitors: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return who comes on a day: nobody twice, unless there are fewer users than visitors."""
    return np.asarray(generator.choice(users, size=visitors, replace=visitors > users), dtype=np.intp)


def _notes(catalogue: Catalogue, people: Tastes, who: NDArray[np.intp]) -> tuple[str, ...]:
    return (
        "The city, its visitors and their tastes are made up; no figure says anything about a real city.",
        f"{int((~people.known[who]).sum())} of {len(who)} requests are by users of whom nothing is known.",
        (
            f"{int((~catalogue.open).sum())} of {catalogue.n_items} attractions are closed, "
            f"{sum(category is None for category in catalogue.category)} have no category."
        ),
        f"Targets are the {LIKED} open attractions that a visitor truly likes best.",
    )


def _facts(catalogue: Catalogue, people: Tastes, who: NDArray[np.intp], days: int) -> dict[str, int | float]:
    return {
        "requests": len(who),
        "users": len(set(who.tolist())),
        "cold_share": float((~people.known[who]).mean()),
        "items": catalogue.n_items,
        "days": days,
    }
