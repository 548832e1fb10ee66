"""Composite score: the weighted mean of metrics, each on a scale from worst to best.

    goal   natural (default)             relative                                 reference
    max    (s − low) / (high − low)      (s − min) / (max − min)                  (s − min) / max(max − min, 1e-9)
    min    (high − s) / (high − low)     (max − s) / (max − min)                  (max − s) / max(max − min, 1e-9)
    zero   1 − |s| / max(|low|, |high|)  (max|s| − |s|) / (max|s| − min|s|)       1 − |s| / max(max|s|, 1e-9)

``natural`` takes the range [low, high] that a metric has by its nature or by declaration, so that a score does not
depend on which other strategies are listed. ``relative`` takes the smallest and largest value over the candidates
(Vineis, Perelli and Tolomei 2025, Definition 11; the paper leaves open how a goal turns the scale round): dropping or
adding a candidate then changes every score. ``reference`` is what the official code of that paper does (commit
f15b820); it leaves accuracy raw.

With ``relative``, a metric on which all candidates are equal gives 1 to all. Values may leave [0, 1]: estimates with
``natural``, lines that are no candidates with the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.evidence import Evidence
from accordant.metrics.metric import Goal, Metric, Range

WeightedMetrics = Mapping[str, tuple[Metric, float]]
DeclaredRanges = Mapping[str, Range]
Normalisation = Literal["natural", "relative", "reference"]
NORMALISATIONS: tuple[Normalisation, ...] = ("natural", "relative", "reference")
EQUAL = 1e-12  # ranges up to this, relative to max(1, |s|), are rounding
FLOOR = 1e-9  # smallest divisor in the official code


@dataclass(frozen=True, eq=False)
class Composite:
    """Normalised metrics and composite scores.

    Attributes
    ----------
    scores
        Shape (..., strategy); NaN if unranked: a metric with positive weight is not defined.
    normalised
        Shape (..., strategy, metric); NaN where a metric is not defined.
    uninformative
        Whether all candidates are equal on a metric, up to rounding, shape (..., metric).
    weights
        Weights divided by their sum, shape (metric,).
    """

    scores: Values
    normalised: Values
    uninformative: NDArray[np.bool_]
    weights: Values


def composite_score(
    raw: Values,
    *,
    goals: Sequence[Goal],
    weights: Sequence[float],
    candidates: NDArray[np.bool_],
    normalisation: Normalisation = "relative",
    accuracy: NDArray[np.bool_] | None = None,
    ranges: Sequence[Range] | None = None,
) -> Composite:
    """Return composite scores of raw metric values.

    Parameters
    ----------
    raw
        Shape (..., strategy, metric); NaN where a metric is not defined.
    goals
        One per metric.
    weights
        One per metric, at least 0 and not all 0; metrics with weight 0 are normalised but do not count.
    candidates
        Which strategies define the scale, shape (strategy,); with ``natural`` they do not.
    normalisation
        ``natural``, ``relative`` or ``reference``.
    accuracy
        Which metrics ``reference`` leaves raw, shape (metric,); none by default.
    ranges
        Smallest and largest value of each metric, which ``natural`` needs.

    Raises
    ------
    InputError
        If shapes do not match, there is no candidate, weights are negative or all 0, or ranges are missing.
    """
    shares = _shares(weights, raw.shape[-1])
    if candidates.shape != raw.shape[-2:-1] or len(goals) != raw.shape[-1]:
        raise InputError(f"{len(candidates)} candidates and {len(goals)} goals do not fit values of shape {raw.shape}")
    if not candidates.any():
        raise InputError("no candidate strategies; a composite score needs at least one")
    valid: tuple[str, ...] = get_args(Normalisation)
    if normalisation not in valid:
        raise InputError(f"unknown normalisation {normalisation!r}; valid: {', '.join(valid)}")
    kinds = np.array(goals)
    # from here on, more is better for 'max' and less is better for 'min' and 'zero'
    size = np.where(kinds == "zero", np.abs(raw), raw)
    low, high = _range(size[..., candidates, :])
    spread = high - low
    uninformative = spread <= EQUAL * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    if normalisation == "natural":
        normalised = _natural(raw, kinds, ranges)
    elif normalisation == "relative":
        better = np.where(kinds == "max", size - low, high - size)
        flat = uninformative & ~np.isnan(size)
        normalised = np.where(flat, 1.0, better / np.where(uninformative, 1.0, spread))
    else:
        span = np.maximum(spread, FLOOR)
        scaled = np.where(kinds == "max", (size - low) / span, (high - size) / span)
        normalised = np.where(kinds == "zero", 1 - size / np.maximum(high, FLOOR), scaled)
        if accuracy is not None:
            normalised = np.where(accuracy, raw, normalised)
    counted = shares > 0
    scores = added_up(normalised[..., counted] * shares[counted])
    return Composite(scores, np.asarray(normalised), np.asarray(uninformative).squeeze(axis=-2), shares)


def left_raw(metrics: Mapping[str, str]) -> Mask:
    """Return which metrics ``reference`` leaves raw, shape (metric,); `metrics`: label to name.

    The official code leaves the metric called Accuracy raw, whatever it measures.
    """
    return np.array([label == "Accuracy" or name == "accuracy" for label, name in metrics.items()])


def added_up(values: Values) -> Values:
    """Return sums over the last axis, one after another in its order, shape (...).

    `numpy.sum` adds in an order that depends on length and layout. Scores are also made by the script on the page of a
    run, and by hand: they are the same to the last bit if everybody adds in the order of the metrics.
    """
    return np.asarray(np.cumsum(values, axis=-1)[..., -1])


def _natural(raw: Values, kinds: NDArray[np.str_], ranges: Sequence[Range] | None) -> Values:
    """Return values on fixed ranges, shape as `raw`."""
    if ranges is None or len(ranges) != raw.shape[-1]:
        raise InputError(f"natural normalisation needs a range for each of {raw.shape[-1]} metrics; found {ranges}")
    low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    wrong = np.flatnonzero(~(high > low))
    if wrong.size:
        raise InputError(f"range of metric {wrong[0]} is {ranges[wrong[0]]}; allowed: low below high")
    farthest = np.maximum(np.abs(low), np.abs(high))
    rising = np.where(kinds == "max", raw - low, high - raw) / (high - low)
    return np.asarray(np.where(kinds == "zero", 1 - np.abs(raw) / farthest, rising))


def _shares(weights: Sequence[float], n_metrics: int) -> Values:
    """Return the weights divided by their sum."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_metrics,) or not np.isfinite(array).all() or (array < 0).any():
        raise InputError(f"metric weights {tuple(weights)} are wrong; allowed: {n_metrics} numbers of at least 0")
    total = added_up(array)
    if total <= 0:
        raise InputError("metric weights sum to 0; at least one must be positive")
    return np.asarray(array / total)


def _range(values: Values) -> tuple[Values, Values]:
    """Return the smallest and largest defined value over strategies, shape (..., 1, metric); NaN if none."""
    missing = np.isnan(values)
    none = missing.all(axis=-2, keepdims=True)
    low = np.where(missing, np.inf, values).min(axis=-2, keepdims=True)
    high = np.where(missing, -np.inf, values).max(axis=-2, keepdims=True)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


@dataclass(frozen=True, eq=False)
class CompositeScale:
    """How raw values become composite scores.

    Attributes
    ----------
    metrics
        Label to metric and weight.
    candidates
        Who can come first, shape (strategy,).
    normalisation
        See `accordant.evaluation.composite`.
    ranges
        Range of each metric on these contexts, declared or its own; None if it has none.
    """

    metrics: WeightedMetrics
    candidates: Mask
    normalisation: Normalisation
    ranges: tuple[Range | None, ...]

    @classmethod
    def of(
        cls, metrics: WeightedMetrics, evidence: Evidence, candidates: Sequence[bool], normalisation: Normalisation,
        declared: DeclaredRanges,
    ) -> CompositeScale:  # fmt: skip
        """Return the scale, or raise if the natural one lacks a range that carries weight."""
        own = {label: metric.range(evidence) for label, (metric, _) in metrics.items()}
        return cls.on(metrics, own, evidence.n_contexts, candidates, normalisation, declared)

    @classmethod
    def on(
        cls, metrics: WeightedMetrics, own: Mapping[str, Range | None], n: int, candidates: Sequence[bool],
        normalisation: Normalisation, declared: DeclaredRanges,
    ) -> CompositeScale:  # fmt: skip
        """Return the scale on `n` contexts, where the metrics have ranges of their own; see `of`."""
        for label in declared:
            if label not in metrics:
                raise UnknownNameError("metric with a range:", label, metrics)
        spans = tuple(
            _scaled(declared[label], metric, n) if label in declared else own[label]
            for label, (metric, _) in metrics.items()
        )
        for (label, (_, weight)), span in zip(metrics.items(), spans, strict=True):
            if normalisation == "natural" and weight > 0 and (span is None or not span[0] < span[1]):
                raise InputError(
                    f"metric {label!r} has a weight and no range ({span}); declare its range, low below high, "
                    "or choose the normalisation 'relative'"
                )
        return cls(metrics, np.array(candidates, dtype=bool), normalisation, spans)

    @property
    def goals(self) -> list[str]:
        """Goal of each metric."""
        return [metric.goal for metric, _ in self.metrics.values()]

    @property
    def spans(self) -> tuple[Range, ...]:
        """Ranges for the natural scale; [0, 1] stands in for metrics without weight that have none."""
        return tuple(span if span is not None and span[0] < span[1] else (0.0, 1.0) for span in self.ranges)

    @property
    def accuracy(self) -> Mask:
        """Which metrics ``reference`` leaves raw, see `left_raw`, shape (metric,)."""
        return left_raw({label: metric.name for label, (metric, _) in self.metrics.items()})

    def scores(self, raw: Values) -> Composite:
        """Return the composite of raw values of shape (..., strategy, metric)."""
        composite = composite_score(
            raw,
            goals=[metric.goal for metric, _ in self.metrics.values()],
            weights=[weight for _, weight in self.metrics.values()],
            candidates=self.candidates,
            normalisation=self.normalisation,
            accuracy=self.accuracy,
            ranges=self.spans,
        )
        if self.normalisation == "natural":
            unknown = np.array([span is None or not span[0] < span[1] for span in self.ranges])
            composite.normalised[..., unknown] = np.nan
        return composite

    def slopes(self, raw: Values) -> Values:
        """Return how much a score changes with each metric, at least 0, shape (metric,)."""
        weights = np.array([weight for _, weight in self.metrics.values()])
        if self.normalisation == "natural":
            low, high = np.array(self.spans).T
            zero = np.array(self.goals) == "zero"
            width = np.where(zero, np.maximum(np.abs(low), np.abs(high)), high - low)
        else:
            zero = np.array(self.goals) == "zero"
            size = np.where(zero, np.abs(raw), raw)[self.candidates]
            known = ~np.isnan(size)
            high, low = np.where(known, size, -np.inf).max(axis=0), np.where(known, size, np.inf).min(axis=0)
            width = np.where(known.any(axis=0), high - low, 0.0)
            if self.normalisation == "reference":
                width = np.where(zero & known.any(axis=0), high, width)
                width[self.accuracy] = 1.0
        return np.asarray(np.divide(weights, weights.sum() * width, out=np.zeros_like(weights), where=width > EQUAL))


def _scaled(declared: Range, metric: Metric, n: int) -> Range:
    """Return a declared range; that of a total is per context, so that it holds for parts of every size."""
    contexts = n ** (1 - metric.gamma)
    return declared[0] * contexts, declared[1] * contexts
