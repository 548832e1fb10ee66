"""Figures of D* of two runs, side by side: paired where the untouched rows are the same ones, else within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant import randomness
from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.evaluation.bootstrap import Statistics
from accordant.evaluation.composite import composite_score
from accordant.evaluation.intervals import Support
from accordant.evidence import Evidence
from accordant.metrics import weighted_metrics
from accordant.runs.folder import Run
from accordant.runs.record import Limits
from accordant.runs.sections.comparison_record import SCORE, MetricDifference
from accordant.runs.untouched_rows import untouched_rows
from accordant.statistics import Units, difference_bounds, joint_band, weight_blocks

FEW = 20  # independent rows decided otherwise from which on resamples know how a difference varies
MOST_UNDEFINED = 0.05  # share of resamples without a value from which on a figure is not paired, as in `best_set`
SAME = 1e-9  # figures made again that differ by less differ by the rounding of another processor

Ends = tuple[float, float]
Figures = Mapping[str, tuple[Limits, Limits]]


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """What D* of a run decides on its untouched rows."""

    run: Run
    evidence: Evidence

    @property
    def chances(self) -> Values:
        """Probability of each action that D* takes, shape (row, action)."""
        return np.asarray(self.run.policy.decide_on(self.evidence)[str(self.run.record.selected)].probabilities().T)

    def statistics(self, labels: list[str]) -> Statistics:
        """Return what some metrics sum over rows for D*."""
        selected, metrics = str(self.run.record.selected), weighted_metrics(self.run.policy.metrics)
        decisions = self.run.policy.decide_on(self.evidence)[selected]
        return Statistics.of({selected: decisions}, self.evidence, {label: metrics[label][0] for label in labels})


Pair = tuple[DecidedRows, DecidedRows]


def paired_rows(first: Run, second: Run, data: str | None) -> tuple[Pair | None, str]:
    """Return the untouched rows of both runs if they are the same ones, or None, and in words how that was found.

    Raises
    ------
    InputError
        If `data` are named and are not those of a run.
    """
    one, other = first.record.data, second.record.data
    if (one.sha256, one.simulated, one.test) != (other.sha256, other.simulated, other.test):
        return None, "the runs were made from other data, or kept another number of rows untouched"
    try:
        pair = tuple(DecidedRows(run, untouched_rows(run, data).evidence()) for run in (first, second))
    except InputError as error:
        if data is not None:
            raise
        return None, f"the untouched rows are not at hand, so they could not be compared ({error})"
    if not _same_log(pair[0].evidence, pair[1].evidence):
        return None, "the untouched rows are not the same ones: another seed or split"
    return (pair[0], pair[1]), "the untouched rows are the same ones"


def _same_log(one: Evidence, other: Evidence) -> bool:
    """Return whether two logs hold the same rows, by actions, outcomes and all columns that both have."""
    if len(one.log) != len(other.log):
        return False
    shared = [name for name in one.log.contexts if name in other.log.contexts]
    columns = [
        [*(evidence.log.contexts[name] for name in shared), evidence.log.outcomes,
         np.array(evidence.problem.actions)[evidence.log.actions]]
        for evidence in (one, other)
    ]  # fmt: skip
    return all(list(map(str, a)) == list(map(str, b)) for a, b in zip(*columns, strict=True))


def same_metric(first: Run, second: Run, label: str) -> bool:
    """Return whether a label means the same metric in both runs."""
    one, other = (run.case.metrics[label] for run in (first, second))
    return (one.metric, one.parameters) == (other.metric, other.parameters)


def metric_differences(first: Run, second: Run, pair: Pair | None, *, same_scale: bool) -> list[MetricDifference]:
    """Return the figures of D* in both runs, with intervals that hold together.

    Parameters
    ----------
    first, second
        The runs.
    pair
        From `paired_rows`.
    same_scale
        Whether composite scores are among the figures.
    """
    figures = _figures(first, second, same_scale=same_scale)
    known = [label for label, pair_of in figures.items() if all(None not in (x.low, x.high) for x in pair_of)]
    level = min(run.record.test.level for run in (first, second))
    together = _Paired.of(pair, known, figures) if pair is not None and known else None
    paired = [] if together is None else list(together.labels)
    silent = {} if together is None else together.silent
    bounded = [label for label in known if label not in paired and label not in silent]
    limits: dict[str, Ends] = {}
    share = (1 - level) / max(len(paired) + len(bounded), 1)  # of what may go wrong, for each figure
    if together is not None and paired:
        limits |= together.limits(1 - share * len(paired))
    limits |= _bounds(figures, bounded, level, 1 - share * len(bounded)) if bounded else {}
    differences = []
    for label, (before, after) in figures.items():
        low, high = limits.get(label, (None, None))
        differences.append(MetricDifference(
            metric=label, before=before.value, after=after.value,
            difference=None if before.value is None or after.value is None else after.value - before.value,
            low=low, high=high, method="paired" if label in paired else "bounds" if label in bounded else "",
            reason=silent.get(label, "" if label in known else "no interval in one of the runs"),
        ))  # fmt: skip
    return differences


def _figures(first: Run, second: Run, *, same_scale: bool) -> dict[str, tuple[Limits, Limits]]:
    """Return values with intervals of D* in both runs, as they stand on the leaderboards of untouched rows."""
    lines = [
        [row for row in run.record.test.leaderboard if row.strategy == run.record.selected] for run in (first, second)
    ]
    if not all(lines):
        return {}
    one, other = lines[0][0], lines[1][0]
    score = {SCORE: (one.score, other.score)} if same_scale else {}
    shared = [label for label in one.metrics if label in other.metrics and same_metric(first, second, label)]
    return {**score, **{label: (one.metrics[label], other.metrics[label]) for label in shared}}


def _bounds(figures: Figures, labels: list[str], level: float, together: float) -> dict[str, Ends]:
    """Return limits of differences whatever the rows have in common."""
    ends = np.array([
        [[float(getattr(figure, end) or 0.0) for figure in figures[label]] for label in labels]
        for end in ("value", "low", "high")
    ])  # fmt: skip
    first, second = ((ends[0, :, k], ends[1, :, k], ends[2, :, k]) for k in (0, 1))
    low, high = difference_bounds(first, second, level=level, together=together)
    return {label: (float(low[k]), float(high[k])) for k, label in enumerate(labels)}


@dataclass(frozen=True, eq=False)
class _Paired:
    """Differences of figures on the same rows, with paired resamples.

    Attributes
    ----------
    labels
        Figures that can be compared row by row.
    values, drawn
        After minus before, on all rows and on resamples, shape (figure,) and (resample, figure).
    error
        Smallest standard error of each: what one more row can change.
    n
        Independent rows.
    silent
        Figures of which nothing can be said, and why.
    """

    labels: tuple[str, ...]
    values: Values
    drawn: Values
    error: Values
    n: int
    silent: Mapping[str, str]

    @classmethod
    def of(cls, pair: Pair, known: list[str], figures: Figures) -> _Paired:
        """Resample both runs by the same weights of rows; figures that are estimated with propensities are left out."""
        board, n = pair[0].run.record.test, pair[0].evidence.n_independent
        weighted = [column.label for column in board.metrics if column.weight > 0] if SCORE in known else []
        metrics = list(dict.fromkeys([*weighted, *(label for label in known if label != SCORE)]))
        sides = [_resampled(rows, metrics, board.resamples) for rows in pair]
        columns = {column.label: column for column in board.metrics}
        labels, values, drawn, errors = [], [], [], []
        for label in known:
            parts = weighted if label == SCORE else [label]
            if any(side.estimated[metrics.index(part)] for side in sides for part in parts):
                continue
            ends = [_column(side.values, metrics, label, pair[0].run) for side in sides]
            recorded = [figure.value for figure in figures[label]]
            apart = ends[1] - ends[0]
            again = np.allclose([end[0] for end in ends], np.array(recorded, dtype=float), rtol=0, atol=SAME)
            if not again or np.isnan(apart).mean() > MOST_UNDEFINED:
                continue
            span = (0.0, 1.0) if label == SCORE else columns[label].range
            labels.append(label)
            values.append(apart[0])
            drawn.append(apart[1:])
            errors.append(0.0 if span is None else (span[1] - span[0]) / n)
        apart_rows = _decided_otherwise(pair)
        if apart_rows < FEW:
            reason = f"D* of the two decides otherwise in {apart_rows} of {n} rows: too few to tell"
            return cls((), np.zeros(0), np.zeros((0, 0)), np.zeros(0), n, dict.fromkeys(labels, reason))
        shape = (board.resamples, len(labels))
        return cls(tuple(labels), np.array(values), np.array(drawn).T.reshape(shape), np.array(errors), n, {})

    def limits(self, level: float) -> dict[str, Ends]:
        """Return limits that hold together."""
        low, high = joint_band(self.values, self.drawn, n=self.n, level=level, error=self.error)
        return {label: (float(low[k]), float(high[k])) for k, label in enumerate(self.labels)}


@dataclass(frozen=True, eq=False)
class _Side:
    """Metrics of one run: on all rows, then on resamples, shape (1 + resample, metric); and which are estimated."""

    values: Values
    estimated: Mask


def _resampled(side: DecidedRows, metrics: list[str], resamples: int) -> _Side:
    """Return metrics of D* on resamples of rows that are the same for every run with these rows."""
    statistics = side.statistics(metrics)
    results = [statistics.results(0)]
    units = Units.single(side.evidence.n_contexts, side.evidence.clusters)
    blocks = weight_blocks(units, resamples, randomness.generator(0, "resamples"))
    drawn = statistics.resampled(units, blocks, resamples).values[:, 0, :]
    whole = np.array([[results[0][label].value for label in metrics]], dtype=np.float64)
    return _Side(np.concatenate([whole, drawn]), Support.of(statistics, results).estimated)


def _column(values: Values, metrics: list[str], label: str, run: Run) -> Values:
    """Return one figure on all rows and on resamples; the composite score is made of its metrics on fixed ranges."""
    if label != SCORE:
        return np.asarray(values[:, metrics.index(label)])
    columns = [column for column in run.record.test.metrics if column.weight > 0]
    raw = values[:, None, [metrics.index(column.label) for column in columns]]
    return composite_score(
        raw,
        goals=[column.goal for column in columns],  # type: ignore[misc]
        weights=[run.case.metrics[column.label].weight for column in columns],
        candidates=np.ones(1, dtype=bool),
        normalisation="natural",
        ranges=[column.range or (0.0, 1.0) for column in columns],
    ).scores[:, 0]


def _decided_otherwise(pair: Pair) -> int:
    """Return in how many independent rows the runs decide otherwise; all of them if rewards were declared anew."""
    first, second = (rows.run.content["case"] for rows in pair)
    evidence = pair[0].evidence
    if any(first.get(key) != second.get(key) for key in ("problem", "rewards")):
        return evidence.n_independent
    apart = ~np.isclose(pair[0].chances, pair[1].chances).all(axis=1)
    return int(apart.sum() if evidence.clusters is None else len(np.unique(evidence.clusters[apart])))
