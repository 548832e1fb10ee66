"""`scores`: measures of what several rules showed to the same requests, with intervals over users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.randomness import generator
from accordant.slates.evaluation.board import Board, BoardCell, BoardColumn, BoardRow, estimates
from accordant.slates.evaluation.resampling import Users, resampled
from accordant.slates.measures import DailyMeasure, MeanMeasure, SlateMeasure
from accordant.slates.serving import Served
from accordant.statistics import Estimate

FEWEST_DAYS = 2  # below, nothing is known of how days differ
FEWEST_USERS = 2  # below, nothing is known of how users differ


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
    points = np.array([[each.of(served) for each in measures.values()] for served in served_by_rule.values()])
    draws = np.stack(
        [
            resampled(served, measures, users, resamples, generator(seed, "resamples"))
            for served in served_by_rule.values()
        ],
        axis=1,
    )
    curved = [m for m, each in enumerate(measures.values()) if not isinstance(each, MeanMeasure | DailyMeasure)]
    for r in range(len(points)):
        draws[:, r, curved] = recentred(draws[:, r, curved], points[r, curved])
    n_days = len(np.unique(first.days))
    enough = n_days >= FEWEST_DAYS
    columns = tuple(
        BoardColumn(
            label,
            each.goal,
            each.about,
            enough or not isinstance(each, DailyMeasure),
            each.range,
            n_days if isinstance(each, DailyMeasure) else users.n,
        )
        for label, each in measures.items()
    )
    rows = []
    for r, (rule, served) in enumerate(served_by_rule.items()):
        counts = [each.requests(served) for each in measures.values()]
        found = estimates(points[r], draws[:, r], level, [(column.range, column.units) for column in columns])
        found = [
            each if column.resampled else Estimate(each.value) for each, column in zip(found, columns, strict=True)
        ]
        cells = map(BoardCell, found, counts)
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


def recentred(draws: Values, points: Values) -> Values:
    """Return draws moved so that their mean is the value on all requests, and kept within the range of both.

    Drawing users with replacement makes attention less even than it is: a measure that is no mean, such as an
    inequality, is then larger on almost every resample than on the data, and its interval would not hold its value. The
    mean difference is the bootstrap's estimate of that bias (Efron and Tibshirani 1993, Section 10.2), taken off here.

    Parameters
    ----------
    draws
        Of one rule, shape (resample, measure); NaN where not defined.
    points
        Shape (measure,).
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
