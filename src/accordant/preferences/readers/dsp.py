"""DSP: one query answered in five styles (Cheng et al. 2023, arXiv 2309.03126), as one JSON list.

Each record is ``{"query": text, "responses": {style: text}}`` with the same styles in every record. [paper] For a
domain, its response is preferred to that of every other style. The data set has neither users nor a majority; [ours]
`StyledAnswers.of_users` makes users up, with tastes and shares that the caller declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.texts import TextComparisons
from accordant.tables.text import as_entry, read_json, refuse_unknown

ROUNDING = 1e-9  # by how much shares of users and of tastes may miss 1
KEYS = ("query", "responses")


@dataclass(frozen=True, eq=False)
class StyleUsers:
    """Users and how much each likes every style.

    Parameters
    ----------
    styles
        Names of the styles.
    tastes
        At least 0, each row with the sum 1, shape (user, style). A user prefers style d to style s with probability
        taste d / (taste d + taste s): Bradley and Terry's model with strengths of tastes.
    groups
        Group of each user.

    Raises
    ------
    DataError
        If shapes or numbers are wrong.
    """

    styles: tuple[str, ...]
    tastes: Values
    groups: tuple[str, ...]

    def __post_init__(self) -> None:
        tastes = np.asarray(self.tastes, dtype=np.float64)
        if tastes.shape != (len(self.groups), len(self.styles)):
            raise DataError(f"tastes have shape {tastes.shape}; allowed: {(len(self.groups), len(self.styles))}")
        if not (tastes >= 0).all() or (np.abs(tastes.sum(axis=1) - 1) > ROUNDING).any():
            raise DataError("tastes must be at least 0, and those of a user must have the sum 1")
        if len(set(self.styles)) < len(self.styles):
            raise DataError(f"styles are {', '.join(self.styles)}; allowed: different names")
        if not self.groups:
            raise DataError("there are no users; allowed: at least one")
        object.__setattr__(self, "tastes", tastes)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def shares(self) -> dict[str, float]:
        """Share of the users in each group, in the order in which groups first occur."""
        return {group: self.groups.count(group) / len(self) for group in dict.fromkeys(self.groups)}

    def support(self) -> Values:
        """Return the expected share of *other* users who prefer one style to another, shape (user, style, style).

        Entry (u, d, s) is the mean over users v ≠ u of taste d / (taste d + taste s) of v. Who likes neither style is
        not asked; NaN where nobody is left, and for a style against itself.
        """
        one, two = self.tastes[:, :, None], self.tastes[:, None, :]
        asked = (one + two) > 0
        agree = np.divide(one, one + two, out=np.zeros(asked.shape), where=asked)
        others = asked.sum(axis=0) - asked
        agreeing = agree.sum(axis=0) - agree
        share = np.divide(agreeing, others, out=np.full(asked.shape, np.nan), where=others > 0)
        share[:, np.arange(len(self.styles)), np.arange(len(self.styles))] = np.nan
        return np.asarray(np.clip(share, 0.0, 1.0))


def dirichlet_users(n_users: int, concentrations: Mapping[str, float], *, generator: np.random.Generator) -> StyleUsers:
    """Return users whose tastes are drawn from a Dirichlet distribution; a user's group is the style liked best.

    Parameters
    ----------
    n_users
        Number of users, at least 1.
    concentrations
        Style to its concentration, above 0. Their ratios are mean tastes; small ones make users one-sided, large ones
        make them alike.
    generator
        Source of the draw.

    Raises
    ------
    InputError
        If there are no styles, or a concentration is not above 0.
    """
    _check_number_of_users(n_users)
    wrong = {style: value for style, value in concentrations.items() if not 0 < value < np.inf}
    if wrong or not concentrations:
        raise InputError(f"concentrations are {wrong or dict(concentrations)}; allowed: above 0 for each style")
    styles = tuple(concentrations)
    tastes = generator.dirichlet(list(concentrations.values()), size=n_users)
    return StyleUsers(styles, tastes, tuple(styles[best] for best in tastes.argmax(axis=1)))


def users_by_share(
    n_users: int, shares: Mapping[str, float], *, styles: Sequence[str], loyalty: float = 1.0
) -> StyleUsers:
    """Return users who each have a home style, with given shares of users per home style.

    Nothing is drawn: numbers of users are shares rounded by largest remainders (Hamilton's method), ties to the style
    declared first, and users of one style stand together.

    Parameters
    ----------
    n_users
        Number of users, at least 1.
    shares
        Home style to the share of the users, at least 0, with the sum 1. It is also their group.
    styles
        All styles.
    loyalty
        Taste for the home style, in (0, 1]; the others share the rest evenly.

    Raises
    ------
    InputError
        If shares or loyalty are outside their ranges.
    UnknownNameError
        If there is no such style.
    """
    _check_number_of_users(n_users)
    for style in shares:
        if style not in styles:
            raise UnknownNameError("style", style, styles)
    wrong = any(not 0 <= share <= 1 for share in shares.values())
    if wrong or abs(sum(shares.values()) - 1) > ROUNDING:
        raise InputError(f"shares are {dict(shares)}; allowed: at least 0, with the sum 1")
    if not 0 < loyalty <= 1 or (len(styles) == 1 and loyalty != 1):
        raise InputError(f"loyalty is {loyalty}; allowed: above 0, at most 1, and 1 if there is one style")
    exact = np.array(list(shares.values())) * n_users
    counts = np.floor(exact + ROUNDING).astype(int)
    by_remainder = np.argsort(-np.round(exact - counts, 9), kind="stable")
    counts[by_remainder[: n_users - counts.sum()]] += 1
    groups = tuple(style for style, count in zip(shares, counts, strict=True) for _ in range(count))
    tastes = np.full((n_users, len(styles)), (1 - loyalty) / max(1, len(styles) - 1))
    tastes[np.arange(n_users), [tuple(styles).index(group) for group in groups]] = loyalty
    return StyleUsers(tuple(styles), tastes, groups)


def _check_number_of_users(n_users: int) -> None:
    if n_users < 1:
        raise InputError(f"n_users is {n_users}; allowed: at least 1")


@dataclass(frozen=True)
class StyledAnswers:
    """Queries, each answered in every style.

    Parameters
    ----------
    queries
        Texts.
    styles
        Names of the styles, at least two.
    answers
        Texts, one tuple per query with one answer per style.
    """

    queries: tuple[str, ...]
    styles: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if len(self.styles) < 2 or len(set(self.styles)) < len(self.styles):
            raise DataError(f"styles are {', '.join(self.styles) or 'none'}; allowed: two or more different names")
        if len(self.answers) != len(self.queries) or any(len(row) != len(self.styles) for row in self.answers):
            raise DataError(
                f"allowed: {len(self.styles)} answers, one per style, to each of {len(self.queries)} queries"
            )

    def __len__(self) -> int:
        return len(self.queries)

    def by_domain(self) -> TextComparisons:
        """Return one user per style, who prefers its answer to that of every other style, for every query.

        Two styles with the same answer to a query are not compared. The names of users and groups are the styles.
        """
        rows = [
            (query, row[home], row[other], style)
            for home, style in enumerate(self.styles)
            for query, row in zip(self.queries, self.answers, strict=True)
            for other in range(len(self.styles))
            if row[other] != row[home]
        ]
        if not rows:
            raise DataError("the answers of all styles are the same")
        prompts, chosen, rejected, users = zip(*rows, strict=True)
        return TextComparisons(prompts, chosen, rejected, users, users)

    def of_users(self, users: StyleUsers, *, records: int, generator: np.random.Generator) -> TextComparisons:
        """Return comparisons of made-up users, with the support that their tastes imply.

        A user sees different queries. For each, a style is drawn from the user's tastes, and its answer is preferred to
        that of another style, drawn evenly. So style d is preferred to style s, where they are compared, with
        probability taste d / (taste d + taste s). Queries to which two styles have the same answer are left out: they
        would bend these probabilities.

        Parameters
        ----------
        users
            Tastes and groups; users are called by their position.
        records
            Number of records of each user, at least 1 and at most the number of queries whose answers all differ.
        generator
            Source of the draw.

        Raises
        ------
        InputError
            If a style of the users is not one of these, or `records` is out of range.
        """
        for style in users.styles:
            if style not in self.styles:
                raise UnknownNameError("style", style, self.styles)
        if len(users.styles) < 2:
            raise InputError(f"users know {len(users.styles)} style; allowed: at least 2")
        answers = [[row[self.styles.index(style)] for style in users.styles] for row in self.answers]
        usable = [query for query, row in enumerate(answers) if len(set(row)) == len(row)]
        if not 1 <= records <= len(usable):
            raise InputError(f"records is {records}; allowed: 1 to {len(usable)}, the queries whose answers all differ")
        support, n_styles = users.support(), len(users.styles)
        drawn: list[tuple[str, str, str, str, str, float]] = []
        for user, group in enumerate(users.groups):
            queries = generator.choice(usable, records, replace=False)
            liked = generator.choice(n_styles, records, p=users.tastes[user])
            others = (liked + generator.integers(1, n_styles, records)) % n_styles
            for query, style, other in zip(queries, liked, others, strict=True):
                row, rate = answers[query], float(support[user, style, other])
                drawn.append((self.queries[query], row[style], row[other], str(user), group, rate))
        prompts, chosen, rejected, names, groups, rates = zip(*drawn, strict=True)
        return TextComparisons(prompts, chosen, rejected, names, groups, support=np.array(rates))


def read_dsp(path: str | Path) -> StyledAnswers:
    """Return the queries and answers of a file.

    Raises
    ------
    DataError
        If the file is missing, empty or broken, a key is missing or unknown, or a record has other styles than the
        first; the message names the record, counted from 1.
    """
    content, name = read_json(path), Path(path).name
    if not isinstance(content, list) or not content:
        raise DataError(f"{name} must hold a JSON list with at least one record")
    queries, answers, styles = [], [], None
    for number, values in enumerate(content, 1):
        record = as_entry(f"{name} record {number}", values)
        queries.append(record.text("query"))
        responses = as_entry(f"{record.where}: 'responses'", record.required("responses"))
        refuse_unknown(record.where, "key", record.values, KEYS)
        styles = tuple(responses.values) if styles is None else styles
        answers.append(tuple(responses.text(style) for style in styles))
        refuse_unknown(responses.where, "style", responses.values, styles)
    assert styles is not None
    return StyledAnswers(tuple(queries), styles, tuple(answers))
