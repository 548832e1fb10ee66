"""Metrics that add over contexts: what each action would contribute in each context.

A metric is additive here if its signed value is c + Σ_t θ[a_t, t] for every policy. Accuracy, mean rewards and gaps of
rates with a fixed denominator are; a ratio whose denominator depends on the decisions (precision, predictive parity)
and the smallest or a product of mean rewards are not. Contributions are read off the metric itself by changing one
sum at a time, and believed only if they reproduce it on random policies.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.evidence import Evidence
from accordant.metrics.group import GroupCriterion
from accordant.metrics.metric import CountMetric, Metric, SumMetric
from accordant.metrics.statistics import Cells, Contingency, Sums

TRIALS = 24  # random policies on which contributions must reproduce the metric
CLOSE = 1e-8  # relative to the largest value seen


@dataclass(frozen=True, eq=False)
class Additive:
    """A metric as a sum over contexts.

    Attributes
    ----------
    contributions
        θ, shape (action, context).
    constant
        c.
    """

    contributions: Values
    constant: float


def signed(metric: Metric, evidence: Evidence) -> Metric:
    """Return the metric with a sign: a difference between two groups as first minus second; others stay as they are."""
    if isinstance(metric, GroupCriterion) and metric.goal == "zero" and metric.protected is None:
        labels = evidence.groups(metric.attributes).labels
        if len(metric.attributes) == 1 and len(labels) == 2 and len(metric.criterion) == 1:
            return dataclasses.replace(metric, protected=labels[0])
    return metric


def additive(metric: Metric, evidence: Evidence) -> Additive | None:
    """Return the metric as a sum over contexts, or None if it is not one."""
    if isinstance(metric, CountMetric):
        return _of_counts(metric, evidence)
    return _of_sums(metric, evidence) if isinstance(metric, SumMetric) else None


def _of_counts(metric: CountMetric, evidence: Evidence) -> Additive | None:
    """Move one (outcome, group) cell after the other from the first action to each other one."""
    cells = Cells.of(evidence, metric.columns)
    n_actions, n_cells = cells.shape[0], cells.shape[1] * cells.shape[2]
    sizes = np.bincount(cells.codes, minlength=n_cells).astype(np.float64)
    base = np.zeros((n_actions, n_cells))
    base[0] = sizes
    every = np.arange(n_cells)

    def value(counts: Values) -> Values:
        """Return the metric of counts of shape (..., action, cell)."""
        return metric.value(Contingency(counts.reshape(*counts.shape[:-1], *cells.shape[1:]), cells))

    constant = float(value(base))
    slopes = np.zeros((n_actions, n_cells))
    for action in range(1, n_actions):
        moved = np.repeat(base[None], n_cells, axis=0)
        moved[every, 0, every] = 0.0
        moved[every, action, every] = sizes
        slopes[action] = (value(moved) - constant) / np.maximum(sizes, 1)
    shares = np.random.default_rng(0).dirichlet(np.full(n_actions, 0.3), size=(TRIALS, n_cells))
    counts = np.swapaxes(shares, 1, 2) * sizes
    if not _same(value(counts), constant + (counts * slopes).sum(axis=(1, 2))):
        return None
    return Additive(np.ascontiguousarray(slopes[:, cells.codes]), constant)


def _of_sums(metric: SumMetric, evidence: Evidence) -> Additive | None:
    """Change one column of sums after the other, those that depend on the action."""
    theta = metric.checked_theta(evidence)
    n = evidence.n_contexts
    base = theta[:, 0].sum(axis=1)

    def value(totals: Values) -> Values:
        """Return the metric of totals of shape (..., column)."""
        return metric.value(Sums(totals, n, evidence.problem))

    constant, slopes = float(value(base)), np.zeros(len(theta))
    for column in np.flatnonzero((theta != theta[:, :1]).any(axis=(1, 2))):
        step = np.zeros(len(theta))
        step[column] = np.abs(theta[column] - theta[column, 0]).sum()
        slopes[column] = (float(value(base + step)) - constant) / step[column]
    contributions: Values = np.einsum("c,cat->at", slopes, theta - theta[:, :1])
    codes = np.random.default_rng(0).integers(0, theta.shape[1], (TRIALS, n))
    codes[: theta.shape[1]] = np.arange(min(TRIALS, theta.shape[1]))[:, None]
    columns = np.arange(n)
    totals = np.stack([theta[:, each, columns].sum(axis=1) for each in codes])
    found = np.array([contributions[each, columns].sum() for each in codes])
    return Additive(np.asarray(contributions), constant) if _same(value(totals), constant + found) else None


def _same(values: Values, sums: Values) -> bool:
    known = np.isfinite(values).all() and np.isfinite(sums).all()
    return bool(known and np.abs(values - sums).max() <= CLOSE * max(1.0, np.abs(values).max()))
