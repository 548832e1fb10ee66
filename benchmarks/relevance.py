"""How well recommenders find the rest of a tour from its first place, on real tours of three cities.

    python -m benchmarks.relevance FOLDER            FOLDER holds tourism/; without it $ACCORDANT_DATA is read
    python -m benchmarks.relevance FOLDER --validate   the last part of the training tours in place of the test tours

Work: tours of Flickr users (Lim et al. 2015; Chen, Ong and Xie 2016). Of tours with at least two places, the first 80 %
by time are learned from, with all shorter tours before them; a request is the first place of a later tour, its targets
are the other places of that tour. The first place itself is not recommended. Recall and NDCG at 5 are means over
requests, with 95 % intervals from resampled users; "less popular" is the difference from popularity on the same
resamples. Visits start from the place before in their tour, or, where the label says so, from the first place of it.
Defaults of the recommenders were chosen with --validate, which does not see the test tours.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accordant.preferences.measures.intervals import bootstrap_users
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance import NOBODY, Interactions, Recommender, create
from accordant.slates.slates import attention

CITIES = ("Edin", "Glas", "Melb")
YEAR_2000 = 946_684_800  # Flickr is younger: earlier times are wrong
TRAINED, K, RESAMPLES, SEED = 0.8, 5, 1000, 0
METHODS = (  # recommender, parameters, and the item of its tour that a visit starts from
    ("popular", {}, "previous"),
    ("transitions", {}, "first"),
    ("transitions", {}, "previous"),
    ("neighbours", {}, "previous"),
    ("factorisation", {}, "previous"),
    ("ranker", {}, "previous"),
    ("ranker", {"estimator": "logistic"}, "previous"),
)


@dataclass(frozen=True, eq=False)
class Tours:
    """Visits of a city in the order of time; a tour is known by user and number."""

    users: np.ndarray
    tours: np.ndarray
    items: np.ndarray
    times: np.ndarray
    catalogue: Catalogue
    dropped: int


@dataclass(frozen=True, eq=False)
class Split:
    """What is learned from, sessions of its rows, and requests with what they want, shape (item, request)."""

    trained: Interactions
    sessions: np.ndarray
    users: np.ndarray
    starts: np.ndarray
    wanted: np.ndarray
    who: np.ndarray


def read(folder: Path, city: str) -> Tours:
    """Read a city by the names of columns: their order differs between cities."""
    with (folder / f"poi-{city}.csv").open(encoding="utf-8") as file:
        places = list(csv.DictReader(file))
    with (folder / f"traj-{city}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = sorted(
        (row for row in rows if int(row["startTime"]) >= YEAR_2000),
        key=lambda row: (int(row["startTime"]), row["userID"]),
    )
    position = {place["poiID"]: at for at, place in enumerate(places)}
    n, unknown = len(places), np.full(len(places), np.nan)
    catalogue = Catalogue(
        tuple(place["poiID"] for place in places), tuple(place["poiCat"] for place in places), (None,) * n,
        np.zeros(n), np.full(n, np.inf), np.array([float(place["poiLat"]) for place in places]),
        np.array([float(place["poiLon"]) for place in places]), unknown, unknown,
    )  # fmt: skip
    return Tours(
        np.unique([row["userID"] for row in kept], return_inverse=True)[1],
        np.unique([f"{row['userID']} {row['trajID']}" for row in kept], return_inverse=True)[1],
        np.array([position[row["poiID"]] for row in kept]),
        np.array([float(row["startTime"]) for row in kept]), catalogue, len(rows) - len(kept),
    )  # fmt: skip


def split(read_tours: Tours, low: float, high: float) -> Split:
    """Return what lies before a share of tours as trained, and tours from there to another share as requests."""
    tours, n_items = read_tours.tours, read_tours.catalogue.n_items
    lengths = np.bincount(tours)
    _, opening = np.unique(tours, return_index=True)  # rows are in the order of time
    begins = read_tours.times[opening]
    long_enough = np.flatnonzero(lengths >= 2)
    ordered = long_enough[np.argsort(begins[long_enough], kind="stable")]
    chosen = ordered[int(low * len(ordered)) : int(high * len(ordered))]
    before = begins[tours] < begins[chosen[0]]
    interactions = Interactions.of(
        int(read_tours.users.max()) + 1, n_items, read_tours.users[before], read_tours.items[before],
        times=read_tours.times[before],
    )  # fmt: skip
    wanted = np.zeros((n_items, len(chosen)), dtype=bool)
    for request, tour in enumerate(chosen):
        wanted[read_tours.items[tours == tour], request] = True
    starts, who = read_tours.items[opening[chosen]], read_tours.users[opening[chosen]]
    wanted[starts, np.arange(len(chosen))] = False
    some = wanted.any(axis=0)
    known = np.isin(who, interactions.users)
    return Split(
        interactions, tours[before], np.where(known, who, NOBODY)[some], starts[some], wanted[:, some], who[some]
    )


def judged(recommender: Recommender, start: str, case: Split, catalogue: Catalogue) -> np.ndarray:
    """Return recall and NDCG at K of each request, shape (2, request); ties go to the item declared first."""
    fitted = recommender.fit(case.trained.within(case.sessions, start), catalogue)
    scores = np.array(fitted.relevance(case.users, case.starts))
    scores[case.starts, np.arange(len(case.starts))] = -1.0
    best = np.argsort(-scores, axis=0, kind="stable")[:K]
    hits = np.take_along_axis(case.wanted, best, axis=0)
    sizes, seen = case.wanted.sum(axis=0), attention(K)
    ideal = np.concatenate([[0.0], np.cumsum(seen)])[np.minimum(sizes, K)]
    return np.stack([hits.sum(axis=0) / sizes, seen @ hits / ideal])


def by_user(values: np.ndarray, who: np.ndarray) -> np.ndarray:
    """Return the sum of each user and the number of its requests, shape (user, 2)."""
    _, codes = np.unique(who, return_inverse=True)
    return np.stack([np.bincount(codes, values), np.bincount(codes)], axis=1)


def table(city: str, tours: Tours, case: Split) -> dict[str, dict[str, bool]]:
    """Print one city; return for each measure which methods are above popularity, interval included."""
    found, seconds = {}, {}
    for name, parameters, start in METHODS:
        label = " ".join([name, *map(str, parameters.values()), *(["(first)"] if start == "first" else [])])
        begin = time.process_time()
        found[label] = judged(create(name, parameters), start, case, tours.catalogue)
        seconds[label] = time.process_time() - begin
    cold = (case.users == NOBODY).mean()
    print(
        f"\n{city}: {tours.dropped} visits before 2000 dropped; learned from {len(case.trained.items)} visits; "
        f"{len(case.who)} requests of {len(np.unique(case.who))} users, {cold:.0%} of requests by users never seen; "
        f"{tours.catalogue.n_items} places, {case.wanted.sum(axis=0).mean():.2f} wanted on average"
    )
    print(f"{'':20}{'recall@5':23}{'less popular':24}{'NDCG@5':23}{'less popular':24}{'s':>5}")
    limits = [
        bootstrap_users(
            {label: by_user(values[m], case.who) for label, values in found.items()},
            lambda sums: sums[:, 0].sum() / sums[:, 1].sum(),
            generator=np.random.default_rng(SEED), resamples=RESAMPLES,
        )
        for m in (0, 1)
    ]  # fmt: skip
    above: dict[str, dict[str, bool]] = {"recall@5": {}, "NDCG@5": {}}
    for label in found:
        cells = [f"{label:20}"]
        for measure, each in zip(above, limits, strict=True):
            own, less = each.methods[label], each.differences.get((label, "popular"))
            cells.append(f"{f'{own.value:.3f} [{own.low:.3f}, {own.high:.3f}]':23}")
            cells.append(f"{'' if less is None else f'{less.value:+.3f} [{less.low:+.3f}, {less.high:+.3f}]':24}")
            above[measure][label] = less is not None and less.low > 0
        print(*cells, f"{seconds[label]:5.1f}", sep="")
    for measure, each in zip(above, limits, strict=True):
        less = each.differences["ranker", "transitions"]
        print(f"{measure}: ranker less transitions {less.value:+.3f} [{less.low:+.3f}, {less.high:+.3f}]")
    return above


def main() -> None:
    """Print a table for each city, and whether anything beats popularity."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("ACCORDANT_DATA"))
    parser.add_argument("--validate", action="store_true")
    arguments = parser.parse_args()
    if arguments.folder is None:
        sys.exit("name the folder that holds tourism/, or set $ACCORDANT_DATA")
    above = {}
    for city in CITIES:
        tours = read(Path(arguments.folder) / "tourism", city)
        shares = (TRAINED**2, TRAINED) if arguments.validate else (TRAINED, 1.0)
        above[city] = table(city, tours, split(tours, *shares))
    print("\nabove popularity, with the whole interval above 0 (each interval by itself):")
    for city, measures in above.items():
        for measure, methods in measures.items():
            beating = [label for label, beats in methods.items() if beats]
            print(f"  {city} {measure:9} {', '.join(beating) if beating else 'NOTHING beats popularity'}")


if __name__ == "__main__":
    main()
