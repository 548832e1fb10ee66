"""Metrics with weights: what a composite score adds up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accordant.errors import InputError
from accordant.metrics.metric import Metric, metrics

TOLERANCE = 1e-9
DEFAULT: Mapping[str, float] = {"mean_reward": 0.5, "min_reward": 0.5}


def weighted_metrics(given: Mapping[Any, Any] | None) -> dict[str, tuple[Metric, float]]:
    """Return label → (metric, weight).

    Parameters
    ----------
    given
        Metric, or name of a registered one, to weight; or label to (metric, weight). None weighs the mean
        realised reward over stakeholders and that of the worst-off stakeholder alike.

    Raises
    ------
    InputError
        If a weight is negative, or the weights do not sum to 1.
    """
    found: dict[str, tuple[Metric, float]] = {}
    for key, value in (DEFAULT if given is None else given).items():
        metric, weight = (value[0], value[1]) if isinstance(value, tuple) else (key, value)
        if isinstance(metric, str):
            metric = metrics.create(metric)
        if not isinstance(metric, Metric):
            raise InputError(
                f"metric {key!r} is {type(metric).__name__}; allowed: a metric, its name, or (metric, weight)"
            )
        label = key if isinstance(key, str) else metric.name
        if label in found:
            raise InputError(f"two metrics are labelled {label!r}; give them labels: {{label: (metric, weight)}}")
        if not float(weight) >= 0:
            raise InputError(f"weight of metric {label!r} is {weight}; allowed: at least 0")
        found[label] = (metric, float(weight))
    total = sum(weight for _, weight in found.values())
    if abs(total - 1) > TOLERANCE:
        raise InputError(f"metric weights sum to {total:g}; they divide one whole and must sum to 1")
    return found
