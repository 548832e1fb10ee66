"""Classification metrics and rates against scikit-learn, fairlearn and loops over rows."""

from __future__ import annotations

import fairlearn.metrics as fm
import numpy as np
import pytest
import sklearn.metrics as skm

from accordant import metrics
from accordant.errors import InputError


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(world, decide, seed):
    evidence = world(120, seed)
    decisions = decide(evidence, seed=seed + 50)
    needed = evidence.problem.action_of_outcome()[evidence.log.outcomes]
    macro = {"average": "macro", "zero_division": 0, "labels": [0, 1, 2]}
    expected = {
        "accuracy": skm.accuracy_score(needed, decisions.codes),
        "precision": skm.precision_score(needed, decisions.codes, **macro),
        "recall": skm.recall_score(needed, decisions.codes, **macro),
        "f1": skm.f1_score(needed, decisions.codes, **macro),
    }
    for name, value in expected.items():
        assert metrics.create(name).evaluate(decisions, evidence).value == pytest.approx(value, abs=1e-12)


def test_actions_that_never_occur_count_zero_in_macro_averages(world, decide):
    evidence = world(60, outcome_to_action={"Full": "Grant", "Part": "Grant", "None": "Lower"})
    decisions = decide(evidence, np.zeros(60, dtype=int))
    needed = evidence.problem.action_of_outcome()[evidence.log.outcomes]
    macro = {"average": "macro", "zero_division": 0, "labels": [0, 1, 2]}
    for name in ("precision", "recall", "f1"):
        expected = getattr(skm, f"{name}_score")(needed, decisions.codes, **macro)
        assert metrics.create(name).evaluate(decisions, evidence).value == pytest.approx(expected, abs=1e-12)


def test_rates_overall_and_by_group_equal_fairlearn(world, decide):
    evidence = world(300)
    decisions = decide(evidence)
    frame = fm.MetricFrame(
        metrics={
            "selection_rate": fm.selection_rate,
            "true_positive_rate": fm.true_positive_rate,
            "false_positive_rate": fm.false_positive_rate,
            "true_negative_rate": fm.true_negative_rate,
            "false_negative_rate": fm.false_negative_rate,
            "positive_predictive_value": skm.precision_score,
        },
        y_true=evidence.log.outcomes == 0,
        y_pred=np.isin(decisions.codes, [0, 1]),
        sensitive_features=evidence.log.contexts["age"],
    )
    for name in frame.overall.index:
        result = metrics.create(name, {"attributes": ["age"]}).evaluate(decisions, evidence)
        assert result.value == pytest.approx(frame.overall[name], abs=1e-12)
        for group in result.by_group:
            assert group.value == pytest.approx(frame.by_group.loc[group.label, name], abs=1e-12)
            assert group.rate == name


def test_rate_without_anybody_is_undefined(world, decide):
    evidence = world(30)
    result = metrics.create("positive_predictive_value").evaluate(decide(evidence, np.full(30, 2)), evidence)
    assert (result.value, result.n, result.reason) == (
        None,
        0,
        "there are no contexts given a favourable action (n=0)",
    )


@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "f1"])
def test_mapping_is_needed(world, numeric_world, name):
    with pytest.raises(InputError, match="outcome_to_action"):
        metrics.create(name).check(world(10, outcome_to_action=None))
    with pytest.raises(InputError, match="is a number"):
        metrics.create(name).check(numeric_world(10))
