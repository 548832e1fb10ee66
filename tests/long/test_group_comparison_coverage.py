"""Intervals of metrics in groups cover in worlds of known truth, among them worlds in which all groups are alike."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics

WORLDS = 80
LEVEL = 0.9
LEAST = LEVEL - 3 * np.sqrt(LEVEL * (1 - LEVEL) / WORLDS)


def recall(y_true, y_pred, sample_weight=None):
    """Return the recall, by a formula that costs nothing."""
    weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
    positive = weights * (y_true == 1)
    return float((positive * (y_pred == 1)).sum() / positive.sum()) if positive.any() else float("nan")


def mean_error(y_true, y_pred, sample_weight=None):
    """Return the mean absolute error."""
    return float(np.average(np.abs(y_true - y_pred), weights=sample_weight))


def recalls(generator, sizes, rates):
    """Draw labels: half of each group are positive."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    truth = generator.integers(0, 2, len(groups))
    hit = generator.random(len(groups)) < np.array(rates)[groups]
    return truth, np.where(truth == 1, hit, generator.integers(0, 2, len(groups))).astype(int), groups


def errors(generator, sizes, scales):
    """Draw errors with an exponential distribution, which is skewed."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return np.zeros(len(groups)), generator.exponential(np.array(scales)[groups]), groups


CASES = {
    "alike": (recall, recalls, (30, 60, 120), (0.8, 0.8, 0.8)),
    "alike, near one": (recall, recalls, (30, 60, 120), (0.95, 0.95, 0.95)),
    "two alike": (recall, recalls, (40, 80), (0.5, 0.5)),
    "one apart": (recall, recalls, (40, 60, 120), (0.5, 0.8, 0.8)),
    "two apart": (recall, recalls, (60, 60), (0.4, 0.9)),
    "numbers alike": (mean_error, errors, (40, 60, 80), (1.0, 1.0, 1.0)),
    "numbers apart": (mean_error, errors, (40, 60, 80), (1.0, 1.5, 1.0)),
}


@pytest.mark.parametrize("case", list(CASES))
def test_intervals_cover(case):
    metric, draw, sizes, truth = CASES[case]
    shares = np.array(sizes) / sum(sizes)
    whole = float(shares @ np.array(truth))
    wanted = {
        "difference": max(truth) - min(truth),
        "ratio": min(truth) / max(truth),
        "difference_to_overall": max(abs(each - whole) for each in truth),
        "ratio_to_overall": min(min(each / whole, whole / each) for each in truth),
    }
    hits = dict.fromkeys([*wanted, "overall", *map(str, range(len(sizes)))], 0)
    for world in range(WORLDS):
        rows = draw(np.random.default_rng(world), sizes, truth)
        found = metrics.by_group(
            metric, rows[0], rows[1], groups=rows[2], resamples=200, level=LEVEL, random_state=world
        )
        estimates = {name: (getattr(found, name), value) for name, value in wanted.items()}
        estimates |= {"overall": (found.overall, whole)}
        estimates |= {label: (found.by_group[label], truth[int(label)]) for label in found.by_group}
        for name, (estimate, value) in estimates.items():
            hits[name] += estimate.low is not None and estimate.low - 1e-9 <= value <= estimate.high + 1e-9
    print(case, {name: count / WORLDS for name, count in hits.items()})
    for name, count in hits.items():
        assert count / WORLDS >= LEAST, (case, name, count / WORLDS)
