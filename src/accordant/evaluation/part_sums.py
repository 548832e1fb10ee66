"""What each part of a dataset adds to a leaderboard: sums over its contexts, in buckets.

Every metric is a function of sums over contexts. Parts add up what each strategy contributes, apart in `BUCKETS` random
samples of all contexts; contexts of one person share a bucket. `evaluation.summed_leaderboard` reads values from the
sums over buckets, and intervals from resampling them.

Each context, or person, falls into its bucket whatever the others do. The variance of bucket sums then has the right
expectation however rows are sorted; buckets of equal size in every part would leave out what differs from part to part,
which in sorted data is nearly everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from accordant.arrays import AnyArray, Codes, Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.bootstrap import Statistics
from accordant.evaluation.intervals import choices, extreme_contributions
from accordant.evaluation.overlap import RARE, RareDecisions, matching_weights
from accordant.evidence import Evidence
from accordant.learning.causal.propensity import CLIP
from accordant.metrics.metric import Metric, Range
from accordant.metrics.statistics import Cells
from accordant.problem import value_label
from accordant.randomness import keyed_uniform

BUCKETS = 400
PERSONS = 10_000  # so many smallest numbers of persons are kept: their count is then known to 1 %
COUNT, SUM, LOOSE = "count ", "sum ", "loose "  # before the columns of a grouping as JSON, and the label of a metric
THRESHOLDS = (CLIP, RARE)


@dataclass(frozen=True, eq=False)
class PartSums:
    """What the contexts of a part add to everything that a leaderboard is made of.

    Attributes
    ----------
    names
        The strategies.
    ranges, withheld
        Of each metric on these contexts, by label: its range for one context, and why it gives no interval.
    values
        The values of each grouping column that occur here, in order, numbers or texts.
    arrays
        What is added up, by name: ``sizes`` (contexts, by bucket); ``count COLUMNS`` (strategy, bucket, action,
        outcome, group) for each grouping; ``sum LABEL`` (strategy, bucket, column) for each metric of sums; ``tied``,
        ``follows`` the log, ``randomised`` (strategy,); ``taken`` (strategy, action); ``agreement`` (strategy,
        strategy). Where rewards are estimated, ``support`` (strategy, 5): Σw, Σw², matching cases expected among rare
        decisions, and decisions below each of `THRESHOLDS`; ``loose LABEL`` (strategy, threshold, end, column): what
        the least and the most possible reward of these would change.
    persons
        The `PERSONS` smallest numbers of persons, in order; None if every context is independent.
    """

    names: tuple[str, ...]
    ranges: Mapping[str, Range | None]
    withheld: Mapping[str, str]
    values: Mapping[str, tuple[float | str, ...]]
    arrays: Mapping[str, Values]
    persons: Values | None

    @classmethod
    def of(
        cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric], numbers: Values
    ) -> Self:
        """Add up a part.

        Parameters
        ----------
        decisions, evidence, metrics
            See `accordant.evaluation.evaluate`.
        numbers
            From `context_numbers`, or `person_numbers` if the log has groups, shape (context,).
        """
        statistics = Statistics.of(decisions, evidence, metrics)
        buckets = np.minimum(numbers * BUCKETS, BUCKETS - 1).astype(np.intp)
        lines = statistics.decisions
        arrays: dict[str, Values] = {"sizes": np.bincount(buckets, minlength=BUCKETS).astype(np.float64)}
        for columns, cells in statistics.cells.items():
            arrays[COUNT + json.dumps(columns)] = np.stack([_counts(decided, cells, buckets) for decided in lines])
        added = dict[Any, Values]()
        for label, read in statistics.same_theta().items():
            if read not in added:
                own = [_bucket_sums(statistics.contributions(s, label), buckets) for s in range(len(lines))]
                added[read] = np.stack(own)
            arrays[SUM + label] = added[read]
        arrays |= _support_sums(statistics)
        arrays["tied"] = np.array([decided.tied.sum() for decided in lines], dtype=np.float64)
        arrays["follows"] = np.array([decided.follows_log for decided in lines], dtype=np.float64)
        arrays["randomised"] = np.array([decided.policy is not None for decided in lines], dtype=np.float64)
        arrays["taken"] = np.stack([decided.share() * decided.n_contexts for decided in lines])
        arrays["agreement"] = _agreement([choices(s, decided) for s, decided in enumerate(lines)])
        columns_read = dict.fromkeys(name for grouping in statistics.cells for name in grouping)
        return cls(
            statistics.names,
            {label: _per_context(metric, metric.range(evidence), evidence.n_contexts)
             for label, metric in metrics.items()},
            {label: metric.withheld(evidence) for label, metric in metrics.items()},
            {name: tuple(np.unique(evidence.log.contexts[name]).tolist()) for name in columns_read},
            arrays, None if evidence.clusters is None else np.unique(numbers)[:PERSONS],
        )  # fmt: skip

    def plus(self, other: PartSums) -> Self:
        """Return the sums of these contexts and those of another part.

        Raises
        ------
        InputError
            If parts are about other strategies, or a column holds numbers in one of them and texts in another.
        """
        if self.names != other.names:
            raise InputError(f"parts are about other strategies: {self.names} and {other.names}")
        values = {
            name: _union(name, self.values.get(name, ()), other.values.get(name, ()))
            for name in {**self.values, **other.values}
        }
        arrays = dict(self.arrays)
        for name, array in other.arrays.items():
            placed = _placed(name, array, other.values, values)
            arrays[name] = _placed(name, arrays[name], self.values, values) + placed if name in arrays else placed
        return replace(
            self, ranges={label: _widest(span, other.ranges.get(label)) for label, span in self.ranges.items()},
            withheld={label: reason or other.withheld.get(label, "") for label, reason in self.withheld.items()},
            values=values, arrays=arrays, persons=_smallest(self.persons, other.persons),
        )  # fmt: skip

    @property
    def n(self) -> int:
        """Number of contexts."""
        return int(self.arrays["sizes"].sum())

    @property
    def independent(self) -> int:
        """Number of persons, or of contexts that are independent.

        Up to `PERSONS` of them are counted. Of more, the k-th smallest of their numbers tells how many there are, to a
        standard error of 1/√k (Bar-Yossef, Jayram, Kumar, Sivakumar and Trevisan 2002).
        """
        if self.persons is None:
            return self.n
        k = len(self.persons)
        return k if k < PERSONS else min(self.n, round((k - 1) / float(self.persons[-1])))


def context_numbers(n: int, seed: int, file: int, start: int) -> Values:
    """Return a number in [0, 1) for each of `n` independent contexts, however a file is cut, shape (context,).

    Parameters
    ----------
    n
        How many.
    seed
        Of the run.
    file, start
        Number of the file, and of the first context in it.
    """
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(file,)))
    return np.asarray((stream.advance(start).random_raw(n) >> np.uint64(11)) * 2.0**-53)


def person_numbers(persons: AnyArray, seed: int) -> Values:
    """Return a number in [0, 1) for whoever each context is of, the same in every part, shape (context,)."""
    labels, codes = np.unique(persons if persons.dtype.kind in "fiub" else persons.astype(str), return_inverse=True)
    return np.asarray(keyed_uniform(seed, map(value_label, labels.tolist()))[codes])


def _counts(decisions: Decisions, cells: Cells, buckets: Codes) -> Values:
    """Return the counts of one strategy, shape (bucket, action, outcome, group); expected ones if it is randomised."""
    shape = (BUCKETS, *cells.shape)
    n_cells = cells.shape[1] * cells.shape[2]
    size = int(np.prod(shape))
    if decisions.policy is None:
        place = (buckets * cells.shape[0] + decisions.codes) * n_cells + cells.codes
        return np.bincount(place, minlength=size).astype(np.float64).reshape(shape)
    place = buckets * n_cells + cells.codes
    sums = [np.bincount(place, probabilities, BUCKETS * n_cells) for probabilities in decisions.policy]
    table = np.stack([counts.reshape(BUCKETS, n_cells) for counts in sums], axis=1)
    return table.astype(np.float64).reshape(shape)


def _bucket_sums(contributions: Values, buckets: Codes) -> Values:
    """Return sums of contributions (column, context), shape (bucket, column)."""
    return np.stack([np.bincount(buckets, row, BUCKETS) for row in contributions], axis=1)


def _agreement(codes: Sequence[AnyArray]) -> Values:
    """Return in how many contexts strategies decide alike, shape (strategy, strategy)."""
    agreement = np.zeros((len(codes), len(codes)))
    for s, row in enumerate(codes):
        for other in range(s + 1):
            agreement[s, other] = agreement[other, s] = np.count_nonzero(row == codes[other])
    return agreement


def _support_sums(statistics: Statistics) -> dict[str, Values]:
    """Return ``support`` and ``loose LABEL`` of `PartSums.arrays`; nothing where nothing is estimated."""
    evidence, lines = statistics.evidence, statistics.decisions
    if evidence.propensities is None:
        return {}
    extremes = extreme_contributions(statistics)
    support = np.zeros((len(lines), 3 + len(THRESHOLDS)))
    loose = {label: np.zeros((len(lines), len(THRESHOLDS), 2, len(ends[0]))) for label, ends in extremes.items()}
    for s, decisions in enumerate(lines):
        if decisions.follows_log:
            continue
        weights = matching_weights(decisions, evidence.propensities, evidence.log.actions)
        rare = [RareDecisions.of(decisions, evidence.propensities, threshold) for threshold in THRESHOLDS]
        expected = rare[THRESHOLDS.index(RARE)].expected
        support[s] = weights.sum(), np.square(weights).sum(), expected, *(below.total for below in rare)
        for label, ends in extremes.items():
            loose[label][s] = [[below.sums(change) for change in ends] for below in rare]
    return {"support": support} | {f"{LOOSE}{label}": sums for label, sums in loose.items()}


def _per_context(metric: Metric, span: Range | None, n: int) -> Range | None:
    """Return the range of a metric on `n` contexts for one of them, if it is that of a total."""
    contexts = n if metric.gamma == 0 else 1
    return None if span is None else (span[0] / contexts, span[1] / contexts)


def _widest(span: Range | None, other: Range | None) -> Range | None:
    return None if span is None or other is None else (min(span[0], other[0]), max(span[1], other[1]))


def _smallest(numbers: Values | None, others: Values | None) -> Values | None:
    """Return the smallest numbers of persons of two parts."""
    return None if numbers is None or others is None else np.union1d(numbers, others)[:PERSONS]


def _union(name: str, values: Sequence[float | str], others: Sequence[float | str]) -> tuple[float | str, ...]:
    """Return the values of a column in two parts, in order."""
    if tuple(values) == tuple(others):
        return tuple(values)
    if len({isinstance(value, str) for value in (*values, *others)}) > 1:
        raise InputError(f"column {name!r} holds numbers in some parts and texts in others: declare its type")
    return tuple(np.unique(np.array([*values, *others])).tolist())


def _placed(
    name: str, counts: Values, here: Mapping[str, Sequence[float | str]], values: Mapping[str, Sequence[float | str]]
) -> Values:
    """Return counts (…, group) with the groups of both parts in the place of those of one; other arrays as they are."""
    grouping = json.loads(name.removeprefix(COUNT)) if name.startswith(COUNT) else []
    if all(tuple(here[column]) == tuple(values[column]) for column in grouping):
        return counts
    shape = [len(here[column]) for column in grouping]
    table = np.zeros((*counts.shape[:-1], *(len(values[column]) for column in grouping)))
    places: list[Any] = [np.searchsorted(np.array(values[column]), np.array(here[column])) for column in grouping]
    table[(Ellipsis, *np.ix_(*places))] = counts.reshape(*counts.shape[:-1], *shape)
    return table.reshape(*counts.shape[:-1], -1)
