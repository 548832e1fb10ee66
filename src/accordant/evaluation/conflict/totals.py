"""Sums over contexts of many policies, on all contexts, on a part of them, and on resamples.

Metrics read sums that add over contexts and are linear in the probabilities of actions. So the sums of a lottery
between two policies are the mixture of their sums, and its metrics follow exactly, for ratios and gaps too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from accordant.arrays import Codes, Values
from accordant.decisions import Decisions
from accordant.evaluation.bootstrap import Statistics
from accordant.evidence import Evidence
from accordant.metrics.metric import CountMetric, Metric, SumMetric
from accordant.statistics import Units, WeightBlock, cluster_codes, weight_blocks


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over contexts of some policies.

    Attributes
    ----------
    statistics
        Policies and metrics.
    sums
        Shape (policy, resample, column).
    """

    statistics: Statistics
    sums: Values

    @classmethod
    def on(cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric]) -> Self:
        """Return the sums on all contexts, as a single resample."""
        return cls.among(decisions, evidence, metrics, np.arange(evidence.n_contexts))

    @classmethod
    def among(
        cls, decisions: Mapping[str, Decisions], evidence: Evidence, metrics: Mapping[str, Metric], contexts: Codes
    ) -> Self:
        """Return the sums on some contexts, scaled to the number of all."""
        statistics = Statistics.of(decisions, evidence, metrics)
        block = WeightBlock(slice(0, 1), slice(None), np.full((1, len(contexts)), evidence.n_contexts / len(contexts)))
        return cls(statistics, statistics.totals(_units(contexts, None), [block], 1))

    @classmethod
    def resampled(
        cls,
        decisions: Mapping[str, Decisions],
        evidence: Evidence,
        metrics: Mapping[str, Metric],
        contexts: Codes,
        resamples: int,
        generator: np.random.Generator,
    ) -> Self:
        """Return the sums on contexts drawn with replacement from some, scaled to the number of all."""
        statistics = Statistics.of(decisions, evidence, metrics)
        units = _units(contexts, evidence.clusters)
        blocks = _scaled(weight_blocks(units, resamples, generator), evidence.n_contexts / len(contexts))
        return cls(statistics, statistics.totals(units, blocks, resamples))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the policies."""
        return self.statistics.names

    def row(self, name: str) -> Values:
        """Return the sums of one policy, shape (resample, column)."""
        return np.asarray(self.sums[self.names.index(name)])

    def values(self, sums: Values | None = None) -> Values:
        """Return the metrics of these sums, or of mixtures of them, shape (policy, resample, metric)."""
        given = self.sums if sums is None else sums
        found = np.full((*given.shape[:2], len(self.statistics.metrics)), np.nan)
        for m, (label, read) in enumerate(self.statistics.split(given).items()):
            metric = self.statistics.metrics[label]
            if isinstance(metric, CountMetric | SumMetric):
                found[:, :, m] = metric.value(read)  # type: ignore[arg-type]
        return found


def mixed(totals: Values, first: Sequence[int], second: Sequence[int], shares: Values) -> Values:
    """Return the sums of lotteries that follow `first` with probability `share`, else `second`.

    Parameters
    ----------
    totals
        Shape (policy, column).
    first, second, shares
        Positions and probabilities, shape (mixture,).
    """
    part = np.asarray(shares)[:, None]
    return np.asarray(part * totals[list(first)] + (1 - part) * totals[list(second)])


def _units(contexts: Codes, clusters: Codes | None) -> Units:
    """Return units that are some contexts themselves, in the clusters of all contexts."""
    every = np.arange(len(contexts))
    own = None if clusters is None else cluster_codes(clusters[contexts])
    return Units(contexts, np.ones(len(contexts), dtype=np.int64), every, own)


def _scaled(blocks: Iterator[WeightBlock], factor: float) -> Iterator[WeightBlock]:
    for block in blocks:
        yield WeightBlock(block.resamples, block.units, block.weights * factor)
