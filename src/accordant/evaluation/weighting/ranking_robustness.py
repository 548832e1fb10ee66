"""`weigh`: how much of a ranking rests on the chosen weights, the sample, and the other choices behind a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.bootstrap import Statistics, resampled
from accordant.evaluation.comparison import check_lines
from accordant.evaluation.composite import (
    Composite,
    CompositeScale,
    DeclaredRanges,
    Normalisation,
    WeightedMetrics,
    composite_score,
)
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.weighting.choices import OtherChoices, ScoreTable, drawn_weights, other_choices
from accordant.evaluation.weighting.regions import DRAWS, WeightRegions, regions_of
from accordant.evaluation.weighting.undominated_scores import UndominatedScores
from accordant.evaluation.weighting.weight_sensitivity import (
    DRAWS_PER_RESAMPLE,
    SamplingError,
    WeightSensitivity,
    sampling_error,
    weight_sensitivity,
)
from accordant.evidence import Evidence
from accordant.faces import Displayed, drawn
from accordant.json_values import fields_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Weighing(Displayed):
    """What stands behind the winner.

    Attributes
    ----------
    regions
        For which weights each candidate wins.
    sensitivity
        How far the chosen weights are from another winner.
    sampling_error
        The same over resamples of contexts; None if nothing was resampled.
    choices
        The winner under other normalisations and with candidates left out; None if raw values are not at hand.
    """

    regions: WeightRegions
    sensitivity: WeightSensitivity
    sampling_error: SamplingError | None
    choices: OtherChoices | None

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw who wins at which weights, as a map or, for many metrics, as shares; needs the extra ``plot``.

        Parameters
        ----------
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        return drawn("weights", self, ax)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "regions": self.regions.to_json(),
            "borders": self.sensitivity.to_json(),
            **fields_json(self, "regions", "sensitivity"),
        }


def weigh(
    decisions: Mapping[str, Decisions],
    kinds: Mapping[str, str],
    evidence: Evidence,
    metrics: WeightedMetrics,
    *,
    candidates: Sequence[str],
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    normalisation: Normalisation = "natural",
    ranges: DeclaredRanges | None = None,
    draws: int = DRAWS,
    draws_per_resample: int = DRAWS_PER_RESAMPLE,
) -> Weighing:
    """Return what stands behind the winner of `evaluate`, from the same arguments.

    With a generator in the same state, contexts are resampled as in `evaluate`.

    Parameters
    ----------
    decisions, kinds, evidence, metrics, candidates, generator, resamples, level, normalisation, ranges
        As for `accordant.evaluation.evaluate`.
    draws
        Weight vectors drawn for regions of more than 5 weighted metrics.
    draws_per_resample
        Weight vectors drawn once and used in every resample.

    Raises
    ------
    InputError
        If names, weights, decisions or metrics do not fit, or no candidate is ranked.
    """
    check_lines(decisions, kinds, candidates)
    counted = {label: pair for label, pair in metrics.items() if pair[1] > 0}
    if not counted:
        raise InputError("no metric has positive weight; there is nothing to weigh")
    statistics = Statistics.of(decisions, evidence, {label: metric for label, (metric, _) in counted.items()})
    inside = [name in candidates for name in decisions]
    declared = {label: span for label, span in (ranges or {}).items() if label in counted}
    scale = CompositeScale.of(counted, evidence, inside, normalisation, declared)
    table = _table(statistics, kinds, scale)
    order = np.argsort(~table.baselines, kind="stable")  # among equals a baseline comes first, as in a leaderboard
    scores = UndominatedScores.of(
        _normalised(table, table.raw).normalised[order], [table.strategies[s] for s in order], tuple(counted),
        table.weights.tolist(), candidates=candidates,
    )  # fmt: skip
    survived = None
    if resamples:
        values = resampled(statistics, resamples=resamples, generator=generator).values
        weights = drawn_weights(len(counted), draws_per_resample, generator)
        survived = sampling_error(
            _normalised(table, values).normalised, table.strategies, weights, table.candidates, level=level,
        )  # fmt: skip
    regions = regions_of(scores, generator=generator, draws=draws, level=level)
    return Weighing(regions, _sensitivity(scores, regions), survived, other_choices(table))


def weigh_leaderboard(leaderboard: Leaderboard, *, generator: np.random.Generator, draws: int = DRAWS) -> Weighing:
    """Return regions and borders of a leaderboard, from its normalised values; the rest needs `weigh`.

    Parameters
    ----------
    leaderboard
        As `evaluate` returned it.
    generator, draws
        Read for more than 5 weighted metrics only.

    Raises
    ------
    InputError
        If no candidate is ranked.
    """
    columns = [column for column in leaderboard.columns if column.weight > 0]
    normalised = [[row.metrics[column.label].normalised for column in columns] for row in leaderboard.rows]
    scores = UndominatedScores.of(
        np.array(normalised, dtype=np.float64),  # None becomes NaN
        [row.strategy for row in leaderboard.rows],
        [column.label for column in columns],
        [column.weight for column in columns],
        candidates=[row.strategy for row in leaderboard.rows if row.candidate],
    )
    return weigh_scores(scores, generator=generator, draws=draws, level=leaderboard.level)


def weigh_scores(
    scores: UndominatedScores, *, generator: np.random.Generator, draws: int = DRAWS, level: float = 0.95
) -> Weighing:
    """Return regions and borders of normalised values; `generator`, `draws`: see `weigh_leaderboard`."""
    regions = regions_of(scores, generator=generator, draws=draws, level=level)
    return Weighing(regions, _sensitivity(scores, regions), None, None)


def _sensitivity(scores: UndominatedScores, regions: WeightRegions) -> WeightSensitivity:
    return weight_sensitivity(scores, {region.strategy: region.status == "wins" for region in regions.regions})


def _table(statistics: Statistics, kinds: Mapping[str, str], scale: CompositeScale) -> ScoreTable:
    """Return raw values of the weighted metrics and what turns them into scores."""
    metrics = scale.metrics
    results = [statistics.results(s) for s in range(len(statistics.names))]
    return ScoreTable(
        strategies=statistics.names,
        goals=tuple(metric.goal for metric, _ in metrics.values()),
        weights=np.array([weight for _, weight in metrics.values()]),
        raw=np.array([[row[label].value for label in metrics] for row in results], dtype=np.float64),
        accuracy=scale.accuracy,
        candidates=scale.candidates,
        baselines=np.array([kinds[name] == "baseline" for name in statistics.names]),
        normalisation=scale.normalisation,
        ranges=scale.spans,
    )


def _normalised(table: ScoreTable, raw: Values) -> Composite:
    """Return the composite of raw values of shape (..., strategy, metric)."""
    return composite_score(
        raw,
        goals=table.goals,
        weights=table.weights.tolist(),
        candidates=table.candidates,
        normalisation=table.normalisation,
        accuracy=table.accuracy,
        ranges=table.ranges,
    )
