"""How good the outcome model is, on rows that it did not see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.evidence import Evidence
from accordant.learning.classification.brier import (
    brier_contributions,
    calibration_in_the_large,
    expected_calibration_error,
    mean_with_error,
)
from accordant.statistics import standard_error


@dataclass(frozen=True)
class Measure:
    """One number about the outcome model.

    Attributes
    ----------
    name
        What is measured.
    value
        The number.
    standard_error
        Of a mean over rows; None where it is not one.
    note
        How to read it, or what it is compared with.
    """

    name: str
    value: float
    standard_error: float | None
    note: str


def outcome_quality(evidence: Evidence, training_shares: Values | None) -> tuple[Measure, ...]:
    """Measure f against observed outcomes of the logged actions, and against the truth where it is known.

    Parameters
    ----------
    evidence
        With a prediction.
    training_shares
        Share of each discrete outcome in training rows: the trivial model; None for continuous outcomes.
    """
    if evidence.prediction is None:
        return ()
    if training_shares is not None:
        return _probabilities(evidence, training_shares)
    return (*_levels(evidence), *_against_truth(evidence))


def _probabilities(evidence: Evidence, training_shares: Values) -> tuple[Measure, ...]:
    assert evidence.prediction is not None
    rows, codes = np.arange(evidence.n_contexts), evidence.log.outcomes.astype(np.intp)
    probabilities = np.ascontiguousarray(evidence.prediction.weights[evidence.log.actions, :, rows])
    trivial = np.broadcast_to(training_shares, probabilities.shape)
    own, base = brier_contributions(probabilities, codes), brier_contributions(trivial, codes)
    clusters = evidence.clusters
    score, gain = mean_with_error(own, clusters), mean_with_error(base - own, clusters)
    right, majority = probabilities.argmax(axis=1) == codes, codes == int(training_shares.argmax())
    measures = [
        Measure("Brier score", score.value, score.standard_error, "0 is perfect, 2 the worst; sum over outcomes"),
        Measure("Brier score of training shares", float(base.mean()), None, "the trivial model"),
        Measure("gain over training shares", gain.value, gain.standard_error, "Brier score, paired; above 0 is better"),
        Measure(
            "expected calibration error", float(expected_calibration_error(probabilities, codes)), None, "0 is perfect"
        ),
        Measure("accuracy", float(right.mean()), _error_of_share(right, clusters), "most probable outcome"),
        Measure("accuracy of the most frequent outcome", float(majority.mean()), None, "the trivial model"),
    ]
    for outcome, check in zip(
        evidence.problem.outcome_names, calibration_in_the_large(probabilities, codes, clusters), strict=True
    ):
        note = f"observed {check.base_rate:.3f} in {round(check.base_rate * len(codes))} of {len(codes)} rows"
        measures.append(Measure(f"mean probability of {outcome}", check.mean_predicted, check.standard_error, note))
    return tuple(measures)


def _error_of_share(right: NDArray[np.bool_], clusters: NDArray[np.intp] | None) -> float:
    if clusters is not None:
        return float(standard_error(right.astype(np.float64), clusters))
    return float(right.std() / np.sqrt(len(right)))


def _levels(evidence: Evidence) -> tuple[Measure, ...]:
    assert evidence.prediction is not None
    rows, actions = np.arange(evidence.n_contexts), evidence.log.actions
    errors = np.abs(evidence.prediction.levels()[actions, rows] - evidence.log.outcomes)
    mean = mean_with_error(errors, evidence.clusters)
    return (
        Measure("mean absolute error", mean.value, mean.standard_error, "logged action's outcome, in its unit"),
        Measure("root mean squared error", float(np.sqrt(np.mean(errors**2))), None, "likewise"),
        Measure(
            "standard deviation of outcomes", float(evidence.log.outcomes.std()), None, "error of the trivial model"
        ),
    )


def _against_truth(evidence: Evidence) -> tuple[Measure, ...]:
    """Return √PEHE (Hill 2011), error of the average effect, and regret of following predicted levels."""
    truth = evidence.true_levels
    if truth is None or evidence.prediction is None:
        return ()
    levels = evidence.prediction.levels()
    base = evidence.problem.status_quo
    reference = evidence.problem.actions.index(base) if base else len(truth) - 1
    others = [action for action in range(len(truth)) if action != reference]
    wrong = (levels[others] - levels[reference]) - (truth[others] - truth[reference])
    regret = truth.max(axis=0) - truth[levels.argmax(axis=0), np.arange(truth.shape[1])]
    against = f"effects against {evidence.problem.actions[reference]}; the truth is simulated"
    return (
        Measure("square root of PEHE", float(np.sqrt(np.mean(wrong**2))), None, against),
        Measure("error of the average effect", float(np.abs(wrong.mean(axis=1)).max()), None, against),
        Measure("regret of the predicted best action", float(regret.mean()), None, "true outcome lost"),
    )
