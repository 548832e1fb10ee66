"""`scores`: measures of what several rules showed to the same requests, with intervals over users.

All requests of a user are drawn together. A user who asks often gives many lists that are alike, so lists are no
independent draws, but users may be. This is the cluster bootstrap (Davison and Hinkley 1997, Section 3.8) with users as
clusters; a resample may therefore hold more or fewer requests than the data.

Measures of what comes together on a day, such as crowds, are no sums over users: drawing users with replacement would
make some days fuller than any that was, and a crowd grows with them, so that an interval could lie above its own value.
For these measures whole days are drawn instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.randomness import generator
from accordant.slates.evaluation.board import Board, BoardCell, BoardColumn, BoardRow, estimates
from accordant.slates.market import Served
from accordant.slates.measures import DailyMeasure, MeanMeasure, SlateMeasure
from accordant.statistics import Estimate, cluster_codes, resample_counts

BLOCK = 4_000_000  # weights held at a time (32 MB)
FEWEST_DAYS = 2  # below, nothing is known of how days differ
FEWEST_USERS = 2  # below, nothing is known of how users differ


@dataclass(frozen=True, eq=False)
class Users:
    """Who sent which request: numbers in the order in which users first ask, shape (request,), and how many users."""

    codes: NDArray[np.intp]
    n: int

    @classmethod
    def of(cls, users: Sequence[str]) -> Users:
        """Return users from a name per request."""
        codes = cluster_codes(np.array(users))
        return cls(codes, int(codes.max(initial=-1)) + 1)

    def sums(self, columns: Values) -> Values:
        """Return sums over each user's requests, shape (user, column), from shape (column, request)."""
        order = np.argsort(self.codes, kind="stable")
        starts = np.searchsorted(self.codes[order], np.arange(self.n))
        if self.n == 0:
            return np.zeros((0, len(columns)))
        return np.add.reduceat(np.ascontiguousarray(columns.T)[order], starts, axis=0)

    def weights(self, resamples: int, generator: np.random.Generator) -> Iterator[Values]:
        """Yield blocks of how often each user is drawn with replacement, shape (some resamples, user).

        As many users are drawn for a resample as there are.

        Raises `InputError` if there is no user.
        """
        if self.n == 0:
            raise InputError("nobody asked for a list, so there is nobody to resample")
        step = max(1, BLOCK // self.n)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            drawn = generator.integers(0, self.n, size=(size, self.n)) + self.n * np.arange(size)[:, None]
            yield np.bincount(drawn.ravel(), minlength=size * self.n).reshape(size, self.n).astype(np.float64)


def resample_measures(
    served: Served, measures: Mapping[str, SlateMeasure], users: Users, resamples: int, generator: np.random.Generator
) -> Values:
    """Return measures of what one rule showed, on resamples of users, shape (resample, measure).

    Measures that add up over requests cost one matrix product together; for those of days, days are drawn. The same
    state of the generator draws the same users and the same days, whatever the rule and the measures.
    """
    of_days = generator.spawn(1)[0]
    plain = {m: measure for m, measure in enumerate(measures.values()) if not isinstance(measure, DailyMeasure)}
    by_day = {m: measure for m, measure in enumerate(measures.values()) if isinstance(measure, DailyMeasure)}
    columns = {m: measure.columns(served) for m, measure in plain.items()}
    ends = np.cumsum([0, *(len(column) for column in columns.values())])
    totals = users.sums(np.concatenate([np.zeros((0, len(users.codes))), *columns.values()]))
    blocks = [np.empty((0, len(measures)))]
    for weights in users.weights(resamples, generator):
        values = np.full((len(weights), len(measures)), np.nan)
        sums = weights @ totals
        for place, (m, measure) in enumerate(plain.items()):
            values[:, m] = measure.value(sums[:, ends[place] : ends[place + 1]], served)
        blocks.append(values)
    every = np.concatenate(blocks)
    drawn = _drawn_days(served, resamples, of_days)
    for m, measure in by_day.items():
        every[:, m] = measure.whole(drawn @ measure.by_day(served))
    return every


def _drawn_days(served: Served, resamples: int, generator: np.random.Generator) -> Values:
    """Return how often each day is drawn with replacement, shape (resample, day)."""
    n_days = len(np.unique(served.days))
    return resample_counts(n_days, resamples, generator).astype(np.float64)


def scores(
    served_by_rule: Mapping[str, Served],
    measures: Mapping[str, SlateMeasure],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Board:
    """Evaluate what rules showed.

    Parameters
    ----------
    served_by_rule
        Rule to what it showed; all rules served the same requests.
    measures
        Label to measure.
    resamples
        Number of bootstrap resamples of users, the same for all rules; 0 for no intervals. Measures of days have
        intervals over days. With a single user there are none.
    seed
        Of the resamples.
    level
        Coverage of the intervals, in (0, 1).

    Raises
    ------
    InputError
        If there is no rule or measure, rules served different requests, or a number is wrong.
    UnknownNameError
        If a measure names a stakeholder who is not there.
    """
    if not served_by_rule or not measures:
        raise InputError("a board needs at least one rule and one measure")
    if resamples < 0 or not 0 < level < 1:
        raise InputError(f"resamples {resamples} and level {level}; allowed: at least 0, and between 0 and 1")
    _check_same(served_by_rule)
    first = next(iter(served_by_rule.values()))
    users = Users.of(first.users)
    resamples = resamples if users.n >= FEWEST_USERS else 0
    points = np.array([[measure.of(served) for measure in measures.values()] for served in served_by_rule.values()])
    draws = np.stack(
        [
            resample_measures(served, measures, users, resamples, generator(seed, "resamples"))
            for served in served_by_rule.values()
        ],
        axis=1,
    )
    curved = [m for m, measure in enumerate(measures.values()) if not isinstance(measure, MeanMeasure | DailyMeasure)]
    for r in range(len(points)):
        draws[:, r, curved] = recentre(draws[:, r, curved], points[r, curved])
    n_days = len(np.unique(first.days))
    enough = n_days >= FEWEST_DAYS
    columns = tuple(
        BoardColumn(
            label,
            measure.goal,
            measure.about,
            enough or not isinstance(measure, DailyMeasure),
            measure.range,
            n_days if isinstance(measure, DailyMeasure) else users.n,
        )
        for label, measure in measures.items()
    )
    rows = []
    for r, (rule, served) in enumerate(served_by_rule.items()):
        counts = [measure.requests(served) for measure in measures.values()]
        row_estimates = estimates(points[r], draws[:, r], level, [(column.range, column.units) for column in columns])
        row_estimates = [
            estimate if column.resampled else Estimate(estimate.value)
            for estimate, column in zip(row_estimates, columns, strict=True)
        ]
        cells = map(BoardCell, row_estimates, counts)
        short = (served.slates.lengths < served.slates.k).mean()
        rows.append(BoardRow(rule, dict(zip(measures, cells, strict=True)), float(served.slates.tied.mean()), short))
    return Board(
        tuple(rows), columns, len(first.users), users.n, resamples, level, seed, points, draws,
        _numbered([served.slates.items for served in served_by_rule.values()]),
    )  # fmt: skip


def _numbered(lists: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return a number for each list, equal for equal ones, shape (rule, request), from lists of shape (request, k)."""
    places = np.stack(lists)
    codes = np.zeros(places.shape[:2], dtype=np.intp)
    for place in range(places.shape[2]):
        width = int(places[..., place].max(initial=0)) + 2
        codes = np.unique(codes * width + places[..., place] + 1, return_inverse=True)[1].reshape(codes.shape)
    return codes


def recentre(draws: Values, points: Values) -> Values:
    """Return draws moved so that their mean is the value on all requests, and kept within the range of both.

    Drawing users with replacement makes attention less even than it is: a measure that is no mean, such as an
    inequality, is then larger on almost every resample than on the data, and its interval would not hold its value. The
    mean difference is the bootstrap's estimate of that bias (Efron and Tibshirani 1993, Section 10.2), taken off here.
    Draws of one rule are of shape (resample, measure), NaN where not defined.
    """
    if not len(draws):
        return draws
    known = ~np.isnan(draws)
    counts = known.sum(axis=0)
    means = np.divide(np.where(known, draws, 0.0).sum(axis=0), counts, out=points.copy(), where=counts > 0)
    lowest = np.fmin(np.where(known, draws, np.inf).min(axis=0), points)
    highest = np.fmax(np.where(known, draws, -np.inf).max(axis=0), points)
    moved = draws + np.where(np.isnan(points), 0.0, points - means)
    return np.asarray(np.clip(moved, lowest, highest))


def _check_same(served_by_rule: Mapping[str, Served]) -> None:
    """Stop unless all rules served the same requests of the same users: differences would not be paired."""
    known: tuple[str, list[tuple[str, ...]]] | None = None
    for rule, served in served_by_rule.items():
        ids = [batch.ids for batch in served.market.batches]
        if known is None:
            known = rule, ids
        elif ids != known[1]:
            raise InputError(f"{rule} served other requests than {known[0]}; allowed: the same, in the same order")
    if not sum(len(ids) for ids in (known[1] if known else [])):
        raise InputError("nobody asked for a list, so there is nothing to evaluate")
