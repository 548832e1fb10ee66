"""Measures of f against plain loops over the rows, and against the truth where it is known."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.evaluation.outcome_quality import outcome_quality


def by_name(evidence, shares):
    return {measure.name: measure for measure in outcome_quality(evidence, shares)}


def test_probabilities_against_loops(loans, loans_policy):
    evidence = loans_policy.evidence_on(loans.log)
    shares = np.array([0.25, 0.6, 0.15])
    measures = by_name(evidence, shares)
    own, trivial, right, majority = [], [], [], []
    for t, (action, outcome) in enumerate(zip(loans.log.actions, loans.log.outcomes, strict=True)):
        happened = np.eye(3)[outcome]
        probabilities = evidence.prediction.weights[action, :, t]
        own.append(sum((probabilities - happened) ** 2))
        trivial.append(sum((shares - happened) ** 2))
        right.append(max(range(3), key=lambda o, row=probabilities: row[o]) == outcome)
        majority.append(outcome == 1)
    assert measures["Brier score"].value == pytest.approx(np.mean(own))
    assert measures["Brier score of training shares"].value == pytest.approx(np.mean(trivial))
    assert measures["gain over training shares"].value == pytest.approx(np.mean(trivial) - np.mean(own))
    assert measures["accuracy"].value == pytest.approx(np.mean(right))
    assert measures["accuracy"].standard_error == pytest.approx(np.std(right) / np.sqrt(len(right)))
    assert measures["accuracy of the most frequent outcome"].value == pytest.approx(np.mean(majority))
    for o, name in enumerate(loans.problem.outcome_names):
        predicted = [evidence.prediction.weights[action, o, t] for t, action in enumerate(loans.log.actions)]
        measure = measures[f"mean probability of {name}"]
        count = int((loans.log.outcomes == o).sum())
        assert measure.value == pytest.approx(np.mean(predicted))
        assert measure.note == f"observed {count / len(loans.log):.3f} in {count} of {len(loans.log)} rows"


def test_levels_against_loops(visits, visits_policy):
    evidence = visits_policy.evidence_on(visits.log)
    measures = by_name(evidence, None)
    levels = evidence.prediction.levels()
    errors = [abs(levels[action, t] - visits.log.outcomes[t]) for t, action in enumerate(visits.log.actions)]
    assert measures["mean absolute error"].value == pytest.approx(np.mean(errors))
    assert measures["root mean squared error"].value == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert measures["standard deviation of outcomes"].value == pytest.approx(np.std(visits.log.outcomes))
    assert "square root of PEHE" not in measures


def test_the_truth_where_it_is_known(visits, visits_policy):
    """Two actions, A before C: the effect is that of A against the last, and predicted levels lose what they miss."""
    x2 = visits.columns["x2"]
    truth = np.stack([7 + x2, np.full(len(x2), 5.0)])
    evidence = visits_policy.evidence_on(visits.log, true_levels=truth)
    measures = by_name(evidence, None)
    levels = evidence.prediction.levels()
    wrong = (levels[0] - levels[1]) - (truth[0] - truth[1])
    assert measures["square root of PEHE"].value == pytest.approx(np.sqrt(np.mean(wrong**2)))
    assert measures["error of the average effect"].value == pytest.approx(abs(np.mean(wrong)))
    lost = [max(truth[:, t]) - truth[np.argmax(levels[:, t]), t] for t in range(len(x2))]
    assert measures["regret of the predicted best action"].value == pytest.approx(np.mean(lost))
    assert "against C" in measures["square root of PEHE"].note
