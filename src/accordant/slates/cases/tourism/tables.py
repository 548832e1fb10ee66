"""Attractions and visits in the form of the Flickr tours of Lim et al. (IJCAI 2015) and Chen et al. (CIKM 2016).

Two files stand side by side: ``traj-CITY.csv`` with one row per visit, ``poi-CITY.csv`` with one row per attraction.
Columns are found by name: in the public files longitude comes first in two cities and latitude in the third.

The files hold no capacities and no operators, and about one tour a day. `capacities`, `famous` and `providers` fill
that in by a declared mapping of ours, written down in ``docs/methods/tourism.md``; change it there and here together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import DataError, InputError
from accordant.slates.cases.interactions.past import day_of
from accordant.slates.cases.interactions.tables import (
    LATEST,
    LATITUDE,
    LONGITUDE,
    MOST_UNKNOWN,
    SHARE,
    different,
    renamed_columns,
)
from accordant.tables.cells import Cells, Limits

COLUMNS: Mapping[str, str] = {
    "user": "userID",
    "tour": "trajID",
    "poi": "poiID",
    "start": "startTime",
    "end": "endTime",
    "id": "poiID",
    "category": "poiCat",
    "longitude": "poiLon",
    "latitude": "poiLat",
    "name": "poiName",
    "provider": "poiProvider",
    "capacity": "poiCapacity",
    "price": "poiPrice",
    "safety": "poiSafety",
}
"""What a column is for, and its name in the public files or, for the last five, the name that is looked for.

``poi`` is the attraction of a visit, ``id`` the same in the file of attractions: renamed with it, unless named itself.
"""

OF_VISITS = ("user", "tour", "poi", "start", "end")
OF_PLACES = ("id", "category", "longitude", "latitude", "name", "provider", "capacity", "price", "safety")
OPTIONAL = ("name", "provider", "capacity", "price", "safety")  # not in the public files

AT_LEAST_0 = Limits(0.0, np.inf, "a number of at least 0")
TIME = Limits(-LATEST, LATEST, "seconds since 1970, at most those of the year 2100")
LEAST_CAPACITY = 1.0  # visits a day of an attraction that hardly anybody visited
ROUNDING = 1e-12  # a share that is reached but for rounding is reached
FAMOUS, SMALL = "famous attractions", "small attractions"


@dataclass(frozen=True, eq=False)
class Places:
    """Attractions, by column, shape (item,); see `accordant.slates.catalogue.Catalogue`.

    `ids` are as visits name them, `names` as people do, or the ids. Unknown is None or NaN.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    category: tuple[str | None, ...]
    provider: tuple[str | None, ...]
    latitude: Values
    longitude: Values
    price: Values
    safety: Values
    capacity: Values


@dataclass(frozen=True, eq=False)
class Visits:
    """Visits in the order of time; ties by end, then by attraction and user as declared, never by the order of rows.

    `tours` are the user's id and that of the tour, `items` positions in `Places.ids`, `starts` and `ends` seconds since
    1970, each of shape (visit,). `dropped` says how many rows were left out, by reason; `repaired` how many visits
    ended before they began and now end when they begin.
    """

    users: tuple[str, ...]
    tours: tuple[tuple[str, str], ...]
    items: NDArray[np.intp]
    starts: Values
    ends: Values
    dropped: Mapping[str, int]
    repaired: int

    def __len__(self) -> int:
        return len(self.users)


def column_names(given: Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Return the names of all columns, some of which a case renames; None for a column that is not there."""
    return renamed_columns(given, COLUMNS, ("user", "tour", "poi", "start", "id"), "poi")


def read_places(path: Path, columns: Mapping[str, str | None], separator: str = ",") -> Places:
    """Read attractions.

    Raises
    ------
    DataError
        If a column is missing, an id or name is blank or repeats, or a number is out of range; names the row.
    """
    cells = Cells.read(path, {use: columns[use] for use in OF_PLACES}, _may_miss(columns, OF_PLACES), separator)
    ids = different(cells, "id", cells.required("id"))
    names = [name or item for name, item in zip(cells.texts("name"), ids, strict=True)]
    return Places(
        tuple(ids), tuple(different(cells, "name" if cells.columns["name"] else "id", names)),
        tuple(cells.texts("category")), tuple(cells.texts("provider")),
        cells.numbers("latitude", LATITUDE), cells.numbers("longitude", LONGITUDE),
        cells.numbers("price", AT_LEAST_0), cells.numbers("safety", SHARE), cells.numbers("capacity", AT_LEAST_0),
    )  # fmt: skip


def read_visits(
    path: Path, places: Places, columns: Mapping[str, str | None], earliest: float, separator: str = ","
) -> Visits:
    """Read visits; those before `earliest` and those of undeclared attractions are left out and counted.

    Raises `DataError` if a column is missing, a cell cannot be used, no visit is left, or more than a tenth of the
    visits are to attractions that are not declared.
    """
    cells = Cells.read(path, {use: columns[use] for use in OF_VISITS}, _may_miss(columns, OF_VISITS), separator)
    users, tours, named = cells.required("user"), cells.required("tour"), cells.required("poi")
    starts = cells.numbers("start", TIME, blank=None)
    ends = starts if cells.columns["end"] is None else cells.numbers("end", TIME, blank=None)
    position = {item: place for place, item in enumerate(places.ids)}
    items = np.array([position.get(item, -1) for item in named], dtype=np.intp)
    unknown, old = items < 0, starts < earliest
    if unknown.mean() > MOST_UNKNOWN:
        first = int(np.argmax(unknown))
        raise DataError(
            f"{cells.file}: {unknown.sum()} of {len(cells)} visits are to attractions that are not declared, the first "
            f"to {named[first]!r} in row {first}; allowed: {MOST_UNKNOWN:.0%} of them. Do the files belong together?"
        )
    kept = [row for row in range(len(cells)) if not (unknown[row] or old[row])]
    kept.sort(key=lambda row: (starts[row], max(starts[row], ends[row]), items[row], users[row], tours[row]))
    if not kept:
        raise DataError(f"{cells.file}: all {len(cells)} visits began before {day_of(earliest)}")
    return Visits(
        tuple(users[row] for row in kept), tuple((users[row], tours[row]) for row in kept), items[kept],
        starts[kept], np.maximum(starts, ends)[kept],
        {"before": int(old.sum()), "undeclared": int((unknown & ~old).sum())}, int((ends < starts)[kept].sum()),
    )  # fmt: skip


def _may_miss(columns: Mapping[str, str | None], uses: tuple[str, ...]) -> tuple[str, ...]:
    """Return the uses whose column may be missing: optional ones that nobody renamed."""
    return tuple(use for use in uses if use in OPTIONAL and columns[use] == COLUMNS[use])


def capacities(given: Values, popularity: Values, visitors_per_day: int, capacity_share: float) -> Values:
    """Return visits a day at most: max(1, capacity_share · visitors_per_day · share of past visits). Source: ours.

    Parameters
    ----------
    given
        As declared, shape (item,); NaN where nothing is.
    popularity
        Past visits, not all 0, shape (item,).
    visitors_per_day
        Visitors of a service day, each of whom makes one visit.
    capacity_share
        Above 0: at 1.5 an attraction takes half as many more visits as it has on a mean day.

    Raises
    ------
    InputError
        If `capacity_share` is outside its range.
    """
    if not (capacity_share > 0 and np.isfinite(capacity_share)):
        raise InputError(f"capacity_share is {capacity_share:g}; allowed: a number above 0")
    mean = visitors_per_day * popularity / popularity.sum()
    return np.where(np.isnan(given), np.maximum(LEAST_CAPACITY, capacity_share * mean), given)


def famous(popularity: Values, famous_share: float) -> NDArray[np.bool_]:
    """Return the fewest attractions that had at least a share of past visits, shape (item,); ties as declared.

    Parameters
    ----------
    popularity
        Past visits, shape (item,).
    famous_share
        Above 0 and below 1.

    Raises
    ------
    InputError
        If `famous_share` is outside its range.
    """
    if not 0 < famous_share < 1:
        raise InputError(f"famous_share is {famous_share:g}; allowed: above 0 and below 1")
    order = np.argsort(-popularity, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(popularity[order])[:-1]])
    mask = np.zeros(len(popularity), dtype=bool)
    mask[order] = before < (famous_share - ROUNDING) * popularity.sum()
    return mask


def providers(given: Sequence[str | None], popularity: Values, famous_share: float) -> tuple[str | None, ...]:
    """Return providers as declared; if none is, `FAMOUS` and `SMALL` stand for two groups of them. Source: ours."""
    if any(provider is not None for provider in given):
        return tuple(given)
    return tuple(FAMOUS if is_famous else SMALL for is_famous in famous(popularity, famous_share))
