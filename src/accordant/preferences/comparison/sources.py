"""What a preference file holds, once it is read: records, what is declared about them, and whose terms they are under.

A source has texts, which an encoder that is fitted later turns into features, or features of its own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import DataError, InputError, UnknownNameError, nearest
from accordant.json_values import read_json_value
from accordant.preferences.comparison.record_split import branch
from accordant.preferences.readers.dsp import read_dsp, users_by_share
from accordant.preferences.readers.movielens import MOVIE_COLUMNS, RATING_COLUMNS, RatingFactors, read_movielens
from accordant.preferences.readers.numbers import CHOSEN, REJECTED, read_numbers
from accordant.preferences.readers.trl import read_hh_rlhf, read_trl
from accordant.preferences.records import Comparisons, Ratings
from accordant.preferences.texts import TextComparisons, is_dialogue
from accordant.tables.text import read_text

Kind = Literal["trl", "hh-rlhf", "dsp", "movielens", "features"]

AUTO = "auto"
SIGNS = {
    "trl": "columns chosen and rejected",
    "hh-rlhf": "JSON lines with two dialogues, chosen and rejected",
    "dsp": "a JSON list of objects with query and responses",
    "movielens": "a folder with ratings.csv and movies.csv, or its ratings.csv",
    "features": "columns user_id, chosen_<name> and rejected_<name>",
}
RATINGS, MOVIES = "ratings.csv", "movies.csv"
LOYALTY = 0.8  # taste of made-up users for their own style
STYLED_RECORDS, RATED_RECORDS = 40, 100  # of a user, where nobody says how many
TERMS = {
    "trl": "The file does not say under which terms its texts may be used.",
    "features": "The file does not say under which terms it may be used.",
    "hh-rlhf": "HH-RLHF (Bai et al. 2022): MIT licence. The texts are meant to be harmful in part.",
    "dsp": "DSP (Cheng et al. 2023): CC BY-NC 4.0, for research; never bundled with anything.",
    "movielens": (
        "MovieLens (cite Harper and Konstan 2015): for research, no commercial use without permission; the small "
        "version is meant for development, not for shared research results; GroupLens endorses nothing here."
    ),
}


def kind_of(path: Path, asked: str = AUTO) -> Kind:
    """Return the kind of a file or folder.

    Parameters
    ----------
    path
        The file, or a folder for MovieLens.
    asked
        A kind, or ``"auto"`` for what the content says.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    DataError
        If there is nothing, nothing can be read, or the content is of no kind; the message says what was found.
    """
    if asked != AUTO and asked not in get_args(Kind):
        raise UnknownNameError("format", asked, (AUTO, *get_args(Kind)))
    if not path.exists():
        beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, beside)
        raise DataError(f"{path} does not exist" + (f"; did you mean {hint!r}?" if hint else ""))
    if asked != AUTO:
        return asked  # type: ignore[return-value]
    if path.is_dir():
        absent = [name for name in (RATINGS, MOVIES) if not (path / name).is_file()]
        if absent:
            raise DataError(f"{path} is a folder without {' and '.join(absent)}; allowed: {SIGNS['movielens']}")
        return "movielens"
    return _of_text(path.name, read_text(path))


def _of_text(name: str, text: str) -> Kind:
    """Return the kind of a text."""
    start = text.lstrip()
    if start.startswith("["):
        return _of_list(name, start)
    if not start.startswith("{"):
        return _of_columns(name, _header(name, start))
    line = start.split("\n", 1)[0]
    try:
        first = read_json_value(line)
    except json.JSONDecodeError:
        raise DataError(f"{name}: its first line is no JSON object by itself; allowed: one object per line") from None
    kind = _of_columns(name, tuple(first))
    dialogues = all(isinstance(first.get(key), str) and is_dialogue(first[key]) for key in ("chosen", "rejected"))
    return "hh-rlhf" if kind == "trl" and set(first) == {"chosen", "rejected"} and dialogues else kind


def _header(name: str, text: str) -> tuple[str, ...]:
    """Return the names of the columns of a table, whatever ends its lines."""
    try:
        return tuple(column.strip() for column in next(csv.reader(io.StringIO(text, newline="")), []))
    except csv.Error as error:
        raise DataError(f"{name} is no table: {error}") from None


def _of_list(name: str, text: str) -> Kind:
    """Return the kind of a JSON list."""
    try:
        content: Any = read_json_value(text)
    except ValueError as error:
        raise DataError(f"{name} is not JSON: {error}") from None
    first = content[0] if content else None
    if isinstance(first, dict) and {"query", "responses"} <= set(first):
        return "dsp"
    keys = ", ".join(map(repr, first)) if isinstance(first, dict) else repr(first)
    raise DataError(
        f"{name} is a JSON list that begins with {keys:.80}; allowed: {SIGNS['dsp']}, or one object per line"
    )


def _of_columns(name: str, columns: Sequence[str]) -> Kind:
    """Return the kind of a table or of JSON lines by their columns."""
    if {"chosen", "rejected"} <= set(columns):
        return "trl"
    if any(column.startswith(CHOSEN) for column in columns) and any(column.startswith(REJECTED) for column in columns):
        return "features"
    if set(RATING_COLUMNS[:3]) <= set(columns):
        return "movielens"
    if set(MOVIE_COLUMNS) <= set(columns):
        raise DataError(f"{name} holds films, not ratings; allowed: {SIGNS['movielens']}")
    hint = next((near for column in columns if (near := nearest(column, ("chosen", "rejected")))), None)
    raise DataError(
        f"{name} has the columns {', '.join(columns)[:200]}; "
        + (f"did you mean {hint!r}? " if hint else "")
        + "allowed: "
        + "; ".join(f"{kind}: {sign}" for kind, sign in SIGNS.items())
    )


@dataclass(frozen=True)
class SourceOptions:
    """How a file is read.

    Parameters
    ----------
    format
        A kind of `kinds.SIGNS`, or ``"auto"``.
    minority
        Share of made-up users whose taste is the second style, in (0, 1); for DSP, which has no users.
    users
        Number of users to make up, at least 2; for DSP.
    records
        Records of each made-up user, or the most of a user of MovieLens; None for 40 and 100.
    styles
        Style of the majority and of the minority; None for the first two of the file.
    ignore
        Columns that are left out, ``"*"`` for all whose meaning is unknown; for TRL and features.
    """

    format: str = AUTO
    minority: float = 0.2
    users: int = 60
    records: int | None = None
    styles: tuple[str, str] | None = None
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.minority < 1:
            raise InputError(f"minority is {self.minority}; allowed: above 0, below 1")
        if self.users < 2:
            raise InputError(f"users is {self.users}; allowed: at least 2")
        if self.records is not None and self.records < 2:
            raise InputError(f"records is {self.records}; allowed: at least 2, one to learn from and one to judge by")


@dataclass(frozen=True, eq=False)
class Source:
    """Records of a file.

    Attributes
    ----------
    name, kind
        Name of the file, and what it is.
    texts, comparisons
        The records as texts, or with features; one of them is None.
    later
        Which records are judged by, where times say so, shape (record,); None where there are no times.
    support
        Support rate of each record where the file says it, NaN where it does not, shape (record,); None for nowhere.
    support_from
        Where those rates come from, in words.
    declared
        What was imposed or left out while reading, in sentences.
    terms
        Under which terms the data may be used.
    """

    name: str
    kind: Kind
    texts: TextComparisons | None
    comparisons: Comparisons | None
    later: Mask | None = None
    support: Values | None = None
    support_from: str = ""
    declared: tuple[str, ...] = ()
    terms: str = ""

    def __len__(self) -> int:
        return len(self.texts if self.texts is not None else self._numbers)

    @property
    def user_names(self) -> tuple[str, ...]:
        """Names of all users."""
        return self.texts.user_names if self.texts is not None else self._numbers.names

    @cached_property
    def users(self) -> Codes:
        """Position of each record's user, shape (record,)."""
        if self.texts is None:
            return self._numbers.users
        code = {name: position for position, name in enumerate(self.texts.user_names)}
        return np.array([code[name] for name in self.texts.record_users], dtype=np.intp)

    @cached_property
    def pairs(self) -> Codes:
        """Number of the pair of items that each record is about, whichever is chosen, shape (record,)."""
        if self.texts is None:
            records = self._numbers
            sides = np.stack(
                [np.minimum(records.chosen, records.rejected), np.maximum(records.chosen, records.rejected)]
            )
            return np.unique(sides, axis=1, return_inverse=True)[1].reshape(len(records)).astype(np.intp)
        given = zip(self.texts.prompts, self.texts.chosen, self.texts.rejected, strict=True)
        number: dict[tuple[str, frozenset[str]], int] = {}
        keys = ((prompt, frozenset((one, other))) for prompt, one, other in given)
        return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)

    @cached_property
    def items(self) -> Codes:
        """Number of the chosen and of the other item, shape (2, record); of texts, an answer to its prompt."""
        if self.texts is None:
            return np.stack([self._numbers.chosen, self._numbers.rejected])
        number: dict[tuple[str, str], int] = {}
        sides = (zip(self.texts.prompts, answers, strict=True) for answers in (self.texts.chosen, self.texts.rejected))
        return np.array([[number.setdefault(key, len(number)) for key in side] for side in sides], dtype=np.intp)

    @property
    def _numbers(self) -> Comparisons:
        assert self.comparisons is not None
        return self.comparisons


def read_source(path: str | Path, options: SourceOptions, *, test: float, seed: int) -> Source:
    """Read a file of any kind.

    Parameters
    ----------
    path
        File, or the folder of MovieLens.
    options
        How it is read.
    test
        Share of each user's ratings, the latest, that is judged by; for kinds with times.
    seed
        Of what is drawn while reading: made-up users, pairs of ratings, users whose ratings become features.

    Raises
    ------
    InputError
        If the file is of no known kind, holds what it must not, or an option does not fit it.
    """
    file = Path(path)
    kind = kind_of(file, options.format)
    if kind == "dsp":
        return _styled(file, options, seed)
    if kind == "movielens":
        return _rated(file, options, test, seed)
    if kind == "features":
        return Source(file.name, kind, None, read_numbers(file, ignore=options.ignore).comparisons, terms=TERMS[kind])
    texts = read_hh_rlhf(file) if kind == "hh-rlhf" else read_trl(file, ignore=options.ignore)
    said = "the column support_rate of the file" if texts.support is not None else ""
    return Source(file.name, kind, texts, None, support=texts.support, support_from=said, terms=TERMS[kind])


def _styled(file: Path, options: SourceOptions, seed: int) -> Source:
    """Return DSP with made-up users."""
    answers = read_dsp(file)
    styles = options.styles or answers.styles[:2]
    for style in styles:
        if style not in answers.styles:
            raise UnknownNameError("style", style, answers.styles)
    if len(set(styles)) < len(styles):
        raise InputError(f"styles are {' and '.join(styles)}; allowed: two different ones")
    shares = {styles[0]: 1.0 - options.minority, styles[1]: options.minority}
    users = users_by_share(options.users, shares, styles=answers.styles, loyalty=LOYALTY)
    if len(users.shares) < len(styles):
        raise InputError(f"a minority of {options.minority:g} of {options.users} users is nobody; allowed: more users")
    records = options.records or min(STYLED_RECORDS, len(answers))
    texts = answers.of_users(users, records=records, generator=branch(seed, "users"))
    counts = {style: users.groups.count(style) for style in styles}
    declared = (
        f"The data have no users and no majority. {options.users} users were made up: {counts[styles[0]]} with a taste "
        f"of {LOYALTY:g} for the style {styles[0]}, {counts[styles[1]]} for {styles[1]}, the rest of each taste spread "
        f"evenly over the other styles; {records} records each. The imbalance is imposed, not found."
    )
    return Source(
        file.name, "dsp", texts, None, None, texts.support, "the declared tastes of the other made-up users",
        (declared,), TERMS["dsp"],
    )  # fmt: skip


def _rated(file: Path, options: SourceOptions, test: float, seed: int) -> Source:
    """Return MovieLens as pairs of films that a user rated at least a star apart."""
    folder = file if file.is_dir() else file.parent
    if not file.is_dir() and file.name != RATINGS:
        raise DataError(f"{file.name} is not called {RATINGS}; allowed: {RATINGS}, with {MOVIES} beside it")
    films = read_movielens(folder, factors=RatingFactors(seed=seed))
    records = options.records or RATED_RECORDS
    early, late = _parts_by_time(films.ratings, test)
    most = max(1, round(records * (1.0 - test)))
    generator = branch(seed, "users")
    earlier = _pairs(films.ratings, early, most, generator)
    later = _pairs(films.ratings, late, max(1, records - most), generator)
    joined = Comparisons(
        earlier.features, np.concatenate([earlier.chosen, later.chosen]),
        np.concatenate([earlier.rejected, later.rejected]), np.concatenate([earlier.users, later.users]),
        earlier.names, weights=np.concatenate([earlier.record_weights, later.record_weights]),
        margins=None if earlier.margins is None or later.margins is None
        else np.concatenate([earlier.margins, later.margins]),
    )  # fmt: skip
    pairs = (
        "A record is two films that a user rated at least one star apart, both among the earlier or both among the "
        f"later ratings; at most {records} records of a user, drawn at random. Together they weigh one less than the "
        "films in them, which is what as many ratings are worth."
    )
    aside = (
        f"The ratings of {len(films.set_aside)} other users became features of the films; these users take no part in "
        "training or test."
    )
    of_later = np.arange(len(joined)) >= len(earlier)
    return Source(folder.name, "movielens", None, joined, of_later, None, "", (pairs, aside), TERMS["movielens"])


def _parts_by_time(ratings: Ratings, test: float) -> tuple[Mask, Mask]:
    """Return which ratings are the user's earlier and later ones; records stand in order of time."""
    counts = np.bincount(ratings.users)
    order = np.argsort(ratings.users, kind="stable")
    place = np.empty(len(ratings), dtype=np.intp)
    place[order] = np.arange(len(ratings)) - np.repeat(np.cumsum(counts) - counts, counts)
    early = place < np.round((1.0 - test) * counts)[ratings.users]
    return early, ~early


def _pairs(ratings: Ratings, kept: Mask, most: int, generator: np.random.Generator) -> Comparisons:
    some = Ratings(
        ratings.features, ratings.items[kept], ratings.users[kept], ratings.ratings[kept],
        user_names=ratings.user_names,
    )  # fmt: skip
    return some.to_comparisons(most=most, generator=generator)
