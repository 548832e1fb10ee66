"""What a run promises whoever uses it: how D* decides on untouched rows, and how far f and E were off on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from accordant.arrays import Mask, Values
from accordant.evaluation.promise_errors import PromiseErrors, calibration_errors, reward_errors
from accordant.evidence import Evidence
from accordant.policy import ParticipatoryPolicy
from accordant.runs.record.learning import ErrorPart, PromisePart
from accordant.statistics import betting_limits

ALPHAS = (0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)  # whoever watches picks one
DIGITS = 4  # of limits
LEAST_GROUP = 20  # rows of a group from which its errors are written down: fewer say little, and much about each person


def promise_of(policy: ParticipatoryPolicy, evidence: Evidence) -> PromisePart:
    """Return what the untouched rows promise.

    Parameters
    ----------
    policy
        Fitted on other rows.
    evidence
        Of the untouched rows. Errors are those of the actions that were taken in them.
    """
    decided = policy.recommend(evidence.log.contexts).decisions
    counts = Counter(decided.actions.tolist())
    actions = {action: counts[action] for action in policy.problem.actions}
    return PromisePart(actions=actions, alphas=ALPHAS, errors=tuple(_errors(evidence)))


def _errors(evidence: Evidence) -> Iterator[ErrorPart]:
    """Yield errors of all rows and, of rewards, those of each group that is large enough."""
    log, rows = evidence.log, np.arange(evidence.n_contexts)
    assert evidence.prediction is not None
    promised = evidence.expected.values[:, log.actions, rows].astype(np.float64)
    realised = evidence.observed_rewards
    if realised is None:
        realised = evidence.rewards[:, log.actions, rows]
    every = np.ones(len(rows), dtype=bool)
    for errors in calibration_errors(evidence.problem, evidence.prediction, log.actions, log.outcomes):
        yield from _part(errors, evidence, every)
    for errors in reward_errors(evidence.expected.stakeholders, promised, realised):
        yield from _part(errors, evidence, every)
        for attribute in evidence.problem.sensitive_attributes:
            groups = evidence.groups((attribute.name,))
            for code, label in enumerate(groups.labels):
                yield from _part(errors, evidence, groups.codes == code, attribute.name, label)


def _part(
    errors: PromiseErrors, evidence: Evidence, rows: Mask, attribute: str = "", group: str = ""
) -> Iterator[ErrorPart]:
    """Yield the mean error of some rows; nothing if there are too few independent ones."""
    known = rows & ~np.isnan(errors.values)
    values = errors.values[known]
    if evidence.clusters is not None:
        values = _means(values, evidence.clusters[known])
    if len(values) < (LEAST_GROUP if group else 1):
        return
    limits = betting_limits(values, errors.least, errors.most, ALPHAS)
    yield ErrorPart(
        kind=errors.kind, name=errors.name, part=errors.part, attribute=attribute, group=group,
        least=errors.least, most=errors.most, n=len(values), mean=float(values.mean()),
        limits=tuple((round(low, DIGITS), round(high, DIGITS)) for low, high in limits),
    )  # fmt: skip


def _means(values: Values, clusters: Values) -> Values:
    """Return the mean of each cluster: rows of one person count once."""
    _, codes = np.unique(clusters, return_inverse=True)
    return np.asarray(np.bincount(codes, weights=values) / np.bincount(codes))
