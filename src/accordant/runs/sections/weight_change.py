"""`reweigh`: other weights of the metrics, from what a run has stored; nothing is fitted and D* stays what it is.

Scores are computed from the metric values in ``run.json`` exactly as the run computed them, so its own weights give its
own leaderboard. Intervals and the set of the best need resamples, which a run does not store: they are drawn again from
the untouched rows where those are at hand, and left out where they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from accordant import __version__, randomness
from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation import Leaderboard
from accordant.evaluation.weighting import UndominatedScores, weigh_scores
from accordant.runs.execution import declared_metrics
from accordant.runs.folder import Run
from accordant.runs.record import Board
from accordant.runs.record.parts import plain
from accordant.runs.record.stored_scores import StoredScores, shares_of
from accordant.runs.sections.weight_change_record import Reweighed, ReweighedRow
from accordant.runs.untouched_rows import untouched_rows

SAME = 1e-9  # scores made again that differ by less differ by the rounding of another processor


def reweigh(run: Run, weights: Mapping[str, float], data: str | None = None) -> Reweighed:
    """Return what other weights would make of the leaderboard of a run.

    Parameters
    ----------
    run
        From `read_run`.
    weights
        Metric to its weight, at least 0 and not all 0; metrics that are not named get none.
    data
        Data file or folder of the run; None looks in the usual places, and does without if they are not there.

    Raises
    ------
    InputError
        If a metric is unknown or cannot carry weight, a weight is wrong, or `data` are not those of the run.
    """
    board, case = run.record.test, run.case
    shares = _shares(board, weights)
    of_run = {column.label: case.metrics[column.label].weight for column in board.metrics}
    after, before = StoredScores.of(run.record, board, shares), StoredScores.of(run.record, board, of_run)
    drawn, untold = _drawn_again(run, after, shares, data)
    rows, estimates = [], {} if drawn is None else {row.strategy: row for row in drawn}
    for place in after.order():
        name, kind = board.leaderboard[place].strategy, board.leaderboard[place].kind
        line = estimates.get(name)
        rows.append(ReweighedRow(
            strategy=name, kind=kind, candidate=bool(after.candidates[place]), place=after.places()[place],
            place_of_run=before.places()[place], score=after.composite.scores[place],
            score_of_run=before.composite.scores[place], low=None if line is None else line.score.low,
            high=None if line is None else line.score.high, among_best=None if line is None else line.among_best,
        ))  # fmt: skip
    borders, unweighed = _borders(run, after, shares, {label for label in of_run if shares[label] + of_run[label] > 0})
    return Reweighed(
        accordant=__version__, weights=_parts(after), weights_of_run=_parts(before), normalisation=board.normalisation,
        level=board.level, n=board.n, rows=tuple(rows), winner=after.best(), winner_of_run=before.best(),
        selected=run.record.selected, selected_then=_selected(run, shares), borders=borders, unweighed=unweighed,
        untold=untold,
    )  # fmt: skip


def _parts(scores: StoredScores) -> dict[str, float]:
    return dict(zip(scores.labels, scores.composite.weights.tolist(), strict=True))


def _shares(board: Board, weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of every metric of a leaderboard, sum 1."""
    labels = [column.label for column in board.metrics]
    for label, weight in weights.items():
        if label not in labels:
            raise UnknownNameError("metric", label, labels)
        if not 0 <= weight < np.inf:
            raise InputError(f"weight of {label} is {weight:g}; allowed: a number of at least 0")
    for column in board.metrics:
        if board.normalisation == "natural" and column.range is None and weights.get(column.label, 0) > 0:
            raise InputError(
                f"metric {column.label!r} has no range in the run, so it cannot carry weight; declare its range in the "
                "case, and run it again"
            )
    total = sum(weights.values())
    if not 0 < total < np.inf:
        raise InputError(f"the weights sum to {total:g}; allowed: at least one above 0")
    return shares_of(labels, weights)


def _drawn_again(
    run: Run, after: StoredScores, shares: Mapping[str, float], data: str | None
) -> tuple[Leaderboard | None, str]:
    """Return the leaderboard with resamples of the untouched rows, or why there is none."""
    if not run.record.test.resamples:
        return None, "the run drew no resamples"
    try:
        evidence = untouched_rows(run, data).evidence()
    except InputError as error:
        if data is not None:
            raise
        return None, f"the untouched rows are not at hand ({error})"
    declared = declared_metrics(run.case)
    board = run.policy.leaderboard_on(evidence, {label: (declared[label][0], share) for label, share in shares.items()})
    scores = np.array([_value(board[name].score.value) for name in after.names])
    if not np.allclose(scores, after.composite.scores, rtol=0, atol=SAME, equal_nan=True):
        return None, "scores that are made again from the models differ from those of the run; libraries have changed"
    return board, ""


def _value(number: float | None) -> float:
    return np.nan if number is None else number


def _borders(run: Run, after: StoredScores, shares: Mapping[str, float], metrics: set[str]) -> tuple[Any, str]:
    """Return how far weights are from another winner, or why that cannot be told.

    `metrics`: those that have weight here or in the run; one that is not defined for a ranked candidate is left out.
    """
    ranked = after.candidates & ~np.isnan(after.composite.scores)
    order = [s for s in after.declared if ranked[s]]
    if not order:
        return None, "no candidate is ranked"
    values: Values = after.composite.normalised[order]
    among = [
        label
        for m, label in enumerate(after.labels)
        if label in metrics and not np.isnan(values[:, m]).any()
    ]  # fmt: skip
    scores = UndominatedScores.of(
        values, [after.names[s] for s in order], after.labels, [shares[label] for label in after.labels], among=among
    )
    generator = randomness.generator(run.record.seed, "resamples")
    return plain(weigh_scores(scores, generator=generator).sensitivity.to_json()), ""


def _selected(run: Run, shares: Mapping[str, float]) -> str | None:
    """Return what would have been chosen on held-out folds at these weights; None if nothing."""
    board = run.record.validation
    there = {column.label for column in board.metrics}
    if not {label for label, share in shares.items() if share > 0} <= there:
        return None
    scores = StoredScores.of(run.record, board, {label: shares.get(label, 0.0) for label in there})
    able = scores.selectable & ~np.isnan(scores.composite.scores)
    return next((scores.names[s] for s in scores.order() if able[s]), None)
