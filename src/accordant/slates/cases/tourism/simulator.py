"""The market simulator ``city``: days of visitors with known tastes in a made-up city."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.cases.tourism.choice import Choice
from accordant.slates.cases.tourism.city import CENTRE, SPREAD, Tastes, attractions, estimates, tastes
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.days import service_days
from accordant.slates.sources import Demand, market_simulators

LIKED = 3  # attractions that a visitor would like best are what a list should hold


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
        See `accordant.slates.cases.tourism.mapping`.
    sharpness, position_bias, crowding_aversion
        See `accordant.slates.cases.tourism.choice.Choice`.

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
        seed, catalogue.items, people.true[:, who], {each: place for place, each in enumerate(ids)}, room,
        sharpness, position_bias, crowding_aversion,
    )  # fmt: skip
    return Demand(catalogue, batches, _notes(catalogue, people, who), _facts(catalogue, people, who, days), uptake)


def best_liked(taste: Values, catalogue: Catalogue) -> NDArray[np.bool_]:
    """Return the open attractions that each user truly likes best, at most `LIKED`, shape (item, user)."""
    order = np.argsort(-np.where(catalogue.open[:, None], taste, -np.inf), axis=0, kind="stable")
    found = np.zeros(taste.shape, dtype=bool)
    np.put_along_axis(found, order[: min(LIKED, int(catalogue.open.sum()))], True, axis=0)
    return found


def _of_a_day(users: int, visitors: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return who comes on a day: nobody twice, unless there are fewer users than visitors."""
    return np.asarray(generator.choice(users, size=visitors, replace=visitors > users), dtype=np.intp)


def _notes(catalogue: Catalogue, people: Tastes, who: NDArray[np.intp]) -> tuple[str, ...]:
    return (
        "The city, its visitors and their tastes are made up; no figure says anything about a real city.",
        f"{int((~people.known[who]).sum())} of {len(who)} requests are by users of whom nothing is known.",
        (
            f"{int((~catalogue.open).sum())} of {catalogue.n_items} attractions are closed, "
            f"{sum(each is None for each in catalogue.category)} have no category."
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
