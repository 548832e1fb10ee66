"""Means over seeds with intervals of few, and differences of the same seeds that are read together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from accordant.runs.record import Column, Limits, MetricFigures, Record, Row
from accordant.statistics import Estimate, student_mean
from accordant.studies.cells import Cell, Condition
from accordant.studies.declaration import SCORE, SELECTED, TIED
from accordant.studies.effects import Effects
from accordant.studies.result import ALIKE, BETTER, UNTOLD, WORSE, Difference, EffectShare, GroupShare

LEVEL = 0.95
BASELINE_KINDS = ("baseline", "stakeholder")


@dataclass(frozen=True, eq=False)
class Runs:
    """Finished runs of a study by condition and seed.

    Attributes
    ----------
    conditions
        In declared order.
    records
        Label of a condition to seed to record.
    """

    conditions: tuple[Condition, ...]
    records: Mapping[str, Mapping[int, Record]]

    @classmethod
    def of(cls, cells: Sequence[Cell], records: Mapping[str, Record]) -> Runs:
        """Return the runs whose records are there."""
        by_condition: dict[str, dict[int, Record]] = {cell.condition.label: {} for cell in cells}
        for cell in cells:
            if cell.name in records:
                by_condition[cell.condition.label][cell.seed] = records[cell.name]
        conditions = {cell.condition.label: cell.condition for cell in cells}
        return cls(tuple(conditions.values()), by_condition)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Metrics of the first run; none without any."""
        first = next((record for by_seed in self.records.values() for record in by_seed.values()), None)
        return () if first is None else first.test.metrics

    def goal(self, metric: str) -> str:
        """Return the goal of a metric; that of the composite score is ``max``."""
        return next((column.goal for column in self.columns if column.label == metric), "max")

    def values(self, condition: str, strategy: str, metric: str) -> dict[int, float]:
        """Return seed to value, where it is defined."""
        values = {seed: value(record, strategy, metric) for seed, record in self.records[condition].items()}
        return {seed: number for seed, number in values.items() if number is not None}

    def baselines(self, condition: str) -> list[str]:
        """Return the candidates of a condition that are baselines, in order of first appearance."""
        rows = [row for record in self.records[condition].values() for row in record.test.leaderboard]
        return list(dict.fromkeys(row.strategy for row in rows if row.candidate and row.kind in BASELINE_KINDS))

    def candidates(self, condition: str) -> list[str]:
        """Return all candidates of a condition, in order of first appearance."""
        rows = [row for record in self.records[condition].values() for row in record.test.leaderboard]
        return list(dict.fromkeys(row.strategy for row in rows if row.candidate))


def value(record: Record, strategy: str, metric: str) -> float | None:
    """Return a value of one run on its untouched rows; None where it is not defined.

    Parameters
    ----------
    record
        Of the run.
    strategy
        A label, or ``selected`` for D*.
    metric
        A label, ``score`` or ``tied``.
    """
    label = record.selected if strategy == SELECTED else strategy
    row = next((row for row in record.test.leaderboard if row.strategy == label), None)
    if row is None:
        return None
    if metric == SCORE:
        return row.score.value
    if metric == TIED:
        return row.tied
    return row.metrics[metric].value if metric in row.metrics else None


def differences(one: Mapping[int, float], other: Mapping[int, float], goal: str) -> list[float]:
    """Return what one has more than the other, seed by seed; of distances from zero if that is the goal."""
    size = abs if goal == "zero" else float
    return [size(one[seed]) - size(other[seed]) for seed in one if seed in other]


def mean_difference(values: Sequence[float], metric: str, n: int) -> Estimate:
    """Return the mean of paired differences, with an interval that holds together with n − 1 others."""
    within = _inside((-1.0, 1.0), values) if metric == SCORE else None
    return student_mean(values, LEVEL, comparisons=n, within=within)


def verdict(difference: Estimate, goal: str) -> str:
    """Return what an interval of a difference says in words, given the goal of the metric."""
    if difference.low is None or difference.high is None:
        return ALIKE if difference.value == 0 and (difference.n or 0) > 1 else UNTOLD
    if difference.low > 0 or difference.high < 0:
        return BETTER if (difference.low > 0) == (goal == "max") else WORSE
    return ALIKE


def against_baseline(
    runs: Runs, baseline: str, strategies: Sequence[str], metrics: Sequence[str]
) -> list[Difference]:  # fmt: skip
    """Return every other condition minus the baseline condition, for some strategies and metrics.

    All intervals hold together with the probability `LEVEL` over draws of seeds (Bonferroni over what is compared,
    whether it is defined or not).
    """
    others = [condition.label for condition in runs.conditions if condition.label != baseline]
    n = len(others) * len(strategies) * len(metrics)
    return [
        _difference(
            runs, (label, strategy, metric), baseline, n,
            runs.values(label, strategy, metric), runs.values(baseline, strategy, metric),
        )
        for metric in metrics for strategy in strategies for label in others
    ]  # fmt: skip


def against_strategies(runs: Runs, metric: str = SCORE) -> list[Difference]:
    """Return D* minus each baseline of the same run, in every condition; all intervals hold together."""
    pairs = [(condition.label, name) for condition in runs.conditions for name in runs.baselines(condition.label)]
    return [
        _difference(
            runs, (label, SELECTED, metric), name, len(pairs),
            runs.values(label, SELECTED, metric), runs.values(label, name, metric),
        )
        for label, name in pairs
    ]  # fmt: skip


def mean_score(runs: Runs, condition: str, strategy: str) -> Estimate:
    """Return the mean composite score of a strategy, or of D*, with the interval of that mean alone."""
    scores = list(runs.values(condition, strategy, SCORE).values())
    return student_mean(scores, LEVEL, within=_inside((0.0, 1.0), scores))


def leaderboard(runs: Runs, condition: str) -> tuple[Row, ...]:
    """Return the means of all strategies of a condition, candidates first, by score; none without a run."""
    records = runs.records[condition].values()
    rows = {row.strategy: row for record in records for row in record.test.leaderboard}
    means = [_mean_row(runs, condition, row) for row in rows.values()]
    return tuple(sorted(means, key=lambda row: (not row.candidate, -(row.score.value or 0.0), row.strategy)))


def selections(records: Iterable[Record]) -> dict[str, int]:
    """Return strategy to the number of runs in which it is D*, the most frequent first."""
    counts = Counter(record.selected for record in records if record.selected is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def group_shares(runs: Runs, condition: str) -> list[GroupShare]:
    """Return the mean share of favourable actions, and mean rewards, of each group under D* of each run."""
    shares: dict[tuple[tuple[str, ...], str], list[float | None]] = {}
    rewards: dict[tuple[tuple[str, ...], str], dict[str, list[float | None]]] = {}
    for record in runs.records[condition].values():
        for table in record.groups:
            for row in table.rows:
                if row.strategy == record.selected:
                    key = table.attributes, row.group
                    shares.setdefault(key, []).append(row.favourable_share)
                    for name, reward in row.mean_rewards.items():
                        rewards.setdefault(key, {}).setdefault(name, []).append(reward)
    return [
        GroupShare(
            condition=condition, attributes=key[0], group=key[1],
            favourable=student_mean(values, LEVEL, within=(0, 1)),
            rewards={name: student_mean(means, LEVEL, within=(0, 1)) for name, means in rewards.get(key, {}).items()},
        )
        for key, values in shares.items()
    ]  # fmt: skip


def effect_shares(condition: str, effects: Sequence[Effects]) -> list[EffectShare]:
    """Return the means over runs of one condition of treatment effects, for every action and group."""
    rows = [(of_run.against, row) for of_run in effects for row in of_run.groups]
    keys = dict.fromkeys((against, row.action, row.attributes, row.group) for against, row in rows)
    shares = []
    for key in keys:
        alike = [row for against, row in rows if (against, row.action, row.attributes, row.group) == key]
        shares.append(
            EffectShare(
                condition=condition, against=key[0], action=key[1], attributes=key[2], group=key[3],
                mean=student_mean([row.mean for row in alike], LEVEL),
                quantiles={q: student_mean([row.quantiles[q] for row in alike], LEVEL) for q in alike[0].quantiles},
                true_mean=student_mean([row.true_mean for row in alike], LEVEL),
            )
        )  # fmt: skip
    return shares


def _difference(
    runs: Runs, what: tuple[str, str, str], other: str, n: int, one: Mapping[int, float], two: Mapping[int, float]
) -> Difference:
    condition, strategy, metric = what
    goal = runs.goal(metric)
    values = differences(one, two, goal)
    estimate = student_mean(
        values, LEVEL, comparisons=n, within=_inside((-1.0, 1.0) if metric == SCORE else None, values)
    )
    return Difference(
        condition=condition, strategy=strategy, metric=metric, other=other, difference=estimate,
        verdict=verdict(estimate, goal),
    )  # fmt: skip


def _mean_row(runs: Runs, condition: str, row: Row) -> Row:
    """Return a row of means over the seeds of a condition."""
    name = row.strategy
    score = mean_score(runs, condition, name)
    tied = student_mean(list(runs.values(condition, name, TIED).values()), LEVEL)
    metrics = {}
    for column in runs.columns:
        if column.label in row.metrics:
            values = list(runs.values(condition, name, column.label).values())
            mean = student_mean(values, LEVEL, within=_inside(column.range, values))
            metrics[column.label] = MetricFigures(
                value=mean.value, low=mean.low, high=mean.high, undefined=None, n=mean.n,
                reason=mean.reason if values else row.metrics[column.label].reason or mean.reason,
                normalised=None, by_group=(),
            )  # fmt: skip
    return Row(
        strategy=name, kind=row.kind, candidate=row.candidate,
        score=Limits(value=score.value, low=score.low, high=score.high, undefined=None),
        among_best=None, alike=None, tied=tied.value, below_best_constant=False, metrics=metrics,
    )  # fmt: skip


def _inside(limits: tuple[float, float] | None, values: Sequence[float]) -> tuple[float, float] | None:
    """Return a range, unless a value lies outside: a declared one is only what a scale reckons with."""
    return limits if limits and values and limits[0] <= min(values) and max(values) <= limits[1] else None
