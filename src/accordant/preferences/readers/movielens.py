"""MovieLens: stars for films (Harper and Konstan 2015), as ``ratings.csv`` and ``movies.csv``.

[ours] Films are described by their genres and, on demand, by what *other* users made of them: some users are set aside,
their ratings become factors of the films, and their records are left out, so that nobody's own ratings are features.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError
from accordant.preferences.records import Ratings
from accordant.tables.text import Table, read_table

RATING_COLUMNS = ("userId", "movieId", "rating", "timestamp")
MOVIE_COLUMNS = ("movieId", "title", "genres")
NO_GENRE = "(no genres listed)"
DAMPING = 5.0  # mean of a film with n ratings counts n / (n + 5): few ratings say little


@dataclass(frozen=True)
class RatingFactors:
    """How ratings of other users become features of films.

    A user's ratings less their mean are averaged per film and damped: the feature ``mean``. What is left, with 0 for
    unrated films, is decomposed (truncated singular values): the features ``factor 1``, ``factor 2``, …, each scaled to
    root mean square 1 over the films that these users rated. Films they did not rate have 0 throughout.

    Parameters
    ----------
    n_factors
        Number of factors, at least 0.
    share
        Share of the users that is set aside, in (0, 1).
    seed
        Draws these users, and starts the decomposition.
    """

    n_factors: int = 8
    share: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_factors < 0:
            raise InputError(f"n_factors is {self.n_factors}; allowed: at least 0")
        if not 0 < self.share < 1:
            raise InputError(f"share is {self.share}; allowed: above 0 and below 1")
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; allowed: at least 0")


@dataclass(frozen=True, eq=False)
class MovieRatings:
    """Ratings of films.

    Attributes
    ----------
    ratings
        Records in order of time, ties in the order of the file. Items are all films of ``movies.csv``, in its order.
    feature_names
        Genres in alphabetical order, then ``mean``, ``factor 1``, …
    movies, titles
        Number and title of each item.
    set_aside
        Names of the users whose ratings made the factors; they have no records in `ratings`.
    """

    ratings: Ratings
    feature_names: tuple[str, ...]
    movies: tuple[str, ...]
    titles: tuple[str, ...]
    set_aside: tuple[str, ...]


def read_movielens(folder: str | Path, *, factors: RatingFactors | None = None) -> MovieRatings:
    """Return the ratings in a folder.

    Parameters
    ----------
    folder
        Holds ``ratings.csv`` and ``movies.csv``.
    factors
        How ratings of other users become features; None for genres alone and records of everybody.

    Raises
    ------
    DataError
        If a file is missing, empty or broken, a column is missing, a rating or time is no number, a film is unknown, or
        a user rates a film twice; the message names the line.
    InputError
        If there are too few users or films for the factors.
    """
    films = read_table(Path(folder) / "movies.csv")
    movies, titles, listed = (films.column(name) for name in MOVIE_COLUMNS)
    place = {movie: row for row, movie in enumerate(movies)}
    if len(place) < len(movies):
        raise DataError(f"{films.name}: a movieId occurs twice; allowed: one line per film")
    genres, indicators = _genres(listed)
    table = read_table(Path(folder) / "ratings.csv")
    by_user, by_movie, stars, when = (table.column(name) for name in RATING_COLUMNS)
    for row, movie in enumerate(by_movie):
        if movie not in place:
            raise DataError(f"{table.name} line {table.lines[row]}: movieId {movie!r} is not in {films.name}")
    names = tuple(dict.fromkeys(by_user))
    code = {name: user for user, name in enumerate(names)}
    users = np.array([code[name] for name in by_user], dtype=np.intp)
    items = np.array([place[movie] for movie in by_movie], dtype=np.intp)
    _refuse_repeats(table, users, items)
    times = _numbers(table, "timestamp", when)
    ratings, order = _numbers(table, "rating", stars), np.argsort(times, kind="stable")
    users, items, ratings, times = users[order], items[order], ratings[order], times[order]
    if factors is None:
        known = Ratings(indicators, items, users, ratings, times, names)
        return MovieRatings(known, genres, tuple(movies), tuple(titles), ())
    aside = _set_aside(len(names), factors)
    others = aside[users]
    made = _factors(users[others], items[others], ratings[others], len(movies), factors)
    features = np.hstack([indicators, made])
    kept = np.flatnonzero(~aside)
    new_code = np.cumsum(~aside) - 1
    known = Ratings(
        features, items[~others], new_code[users[~others]], ratings[~others], times[~others],
        tuple(names[user] for user in kept),
    )  # fmt: skip
    added = ("mean", *(f"factor {number}" for number in range(1, factors.n_factors + 1)))
    return MovieRatings(
        known, genres + added, tuple(movies), tuple(titles), tuple(names[user] for user in np.flatnonzero(aside))
    )


def _genres(listed: list[str]) -> tuple[tuple[str, ...], Values]:
    """Return the names of the genres, and 1 where a film has one, shape (film, genre)."""
    sets = [{genre for genre in cell.split("|") if genre and genre != NO_GENRE} for cell in listed]
    names = tuple(sorted(set().union(*sets)))
    return names, np.array([[float(name in genres) for name in names] for genres in sets]).reshape(
        len(listed), len(names)
    )


def _numbers(table: Table, column: str, cells: list[str]) -> Values:
    """Return a column as finite numbers."""
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            numbers[row] = float(cell)
        except ValueError:
            numbers[row] = np.nan
        if not np.isfinite(numbers[row]):
            raise DataError(f"{table.name} line {table.lines[row]}: {column} is {cell!r}; allowed: a number")
    return numbers


def _refuse_repeats(table: Table, users: Codes, items: Codes) -> None:
    """Raise an error if a user rates a film twice."""
    both = np.stack([users, items])
    _, first = np.unique(both, axis=1, return_index=True)
    if len(first) < len(users):
        again = int(np.setdiff1d(np.arange(len(users)), first)[0])
        cells = dict(zip(table.header, table.rows[again], strict=True))
        raise DataError(
            f"{table.name} line {table.lines[again]}: user {cells['userId']!r} rates film {cells['movieId']!r} again; "
            "allowed: once"
        )


def _set_aside(n_users: int, factors: RatingFactors) -> NDArray[np.bool_]:
    """Return which users are set aside, at least one and never all."""
    if n_users < 2:
        raise InputError(f"factors come from other users; found {n_users} user, allowed: at least 2")
    n_aside = min(max(1, round(factors.share * n_users)), n_users - 1)
    aside = np.zeros(n_users, dtype=bool)
    aside[np.random.default_rng(factors.seed).choice(n_users, n_aside, replace=False)] = True
    return aside


def _factors(users: Codes, items: Codes, ratings: Values, n_items: int, factors: RatingFactors) -> Values:
    """Return damped means and factors of films, shape (film, 1 + factor)."""
    from scipy.sparse import csr_array

    _, user = np.unique(users, return_inverse=True)
    counts = np.bincount(user)
    left = ratings - (np.bincount(user, ratings) / counts)[user]
    rated = np.bincount(items, minlength=n_items)
    mean = np.bincount(items, left, minlength=n_items) / (rated + DAMPING)
    if factors.n_factors == 0:
        return mean[:, None]
    films = np.flatnonzero(rated)
    if factors.n_factors >= min(len(counts), len(films)):
        raise InputError(
            f"n_factors is {factors.n_factors}; allowed: fewer than the {len(counts)} users set aside "
            f"and the {len(films)} films they rated"
        )
    column = np.searchsorted(films, items)
    if not np.abs(left - mean[items]).max() > 0:
        raise InputError("the users set aside rate every film alike; allowed: n_factors 0")
    matrix = csr_array((left - mean[items], (user, column)), shape=(len(counts), len(films)))
    made = np.zeros((n_items, 1 + factors.n_factors))
    made[:, 0] = mean
    made[films, 1:] = _directions(matrix, factors)
    return made


def _directions(matrix: object, factors: RatingFactors) -> Values:
    """Return the first right singular vectors at root mean square 1, the strongest first, their largest entry > 0."""
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(factors.seed).standard_normal(min(matrix.shape))  # type: ignore[attr-defined]
    _, strengths, vectors = svds(matrix, k=factors.n_factors, v0=start)
    vectors = vectors[np.argsort(-strengths, kind="stable")]
    largest = np.abs(vectors).argmax(axis=1)
    vectors = vectors * np.sign(vectors[np.arange(len(vectors)), largest])[:, None]
    return np.asarray(vectors.T * np.sqrt(vectors.shape[1]))
