"""DSP: one query answered in five styles (Cheng et al. 2023, arXiv 2309.03126), as one JSON list.

Each record is ``{"query": text, "responses": {style: text}}`` with the same styles in every record. [paper] For a
domain, its response is preferred to that of every other style. The data set has neither users nor a majority; [ours]
`StyledAnswers.of_users` makes users up, with tastes and shares that the caller declares.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.readers.styles import StyleUsers
from accordant.preferences.texts import TextComparisons
from accordant.tables.text import as_entry, read_json, refuse_unknown

KEYS = ("query", "responses")


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
