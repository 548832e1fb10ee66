"""Four contexts, two decisions, two groups: every number by hand.

Decisions G, N in groups 1, 1, 0, 0 with true labels G, N, N, G; honest decisions are right everywhere; reachable sets
{G}, {G, N}, {N}, {G, N}.
"""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.certificates.bounds import Scale, bounds, composite_bounds
from accordant.certificates.certificate import reachable
from accordant.contexts import Contexts, Log
from accordant.evidence import Evidence
from accordant.metrics.expressions import together
from accordant.metrics.metric import expression_of
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

RULE = strategies.create("utilitarian")
E = ExpectedRewards([[[0.9, 0.48, 0.1, 0.52], [0.1, 0.52, 0.9, 0.48]]], stakeholders=["Bank"], actions=["G", "N"])
DELTA = 0.05


@pytest.fixture(scope="module")
def evidence():
    problem = DecisionProblem(
        stakeholders=["Bank"], actions=["G", "N"], outcomes=["g", "n"], favourable_actions=["G"],
        favourable_outcomes=["g"], outcome_to_action={"g": "G", "n": "N"},
    )  # fmt: skip
    log = Log(Contexts({"group": np.array([1.0, 1.0, 0.0, 0.0])}), np.zeros(4, dtype=int), np.array([0, 1, 1, 0]))
    return Evidence(problem, log, E, E.values)


def metric(protected="1"):
    return metrics.create("demographic_parity", {"attributes": ["group"], "protected": protected})


def test_reachable_sets():
    found = reachable(RULE, E, delta=DELTA)
    assert found.tolist() == [[True, True, False, True], [False, True, True, True]]


def test_accuracy(evidence):
    found = bounds(RULE, E, "accuracy", delta=DELTA, evidence=evidence)
    assert found.nominal == 1
    assert tuple(found) == (pytest.approx(0.5, abs=1e-5), pytest.approx(1.0, abs=1e-5), "exact")


def test_signed_gap(evidence):
    found = bounds(RULE, E, metric(), delta=DELTA, evidence=evidence)
    assert found.nominal == 0
    assert tuple(found) == (pytest.approx(0.0, abs=1e-5), pytest.approx(1.0, abs=1e-5), "exact")


def test_absolute_gap(evidence):
    unsigned = metrics.create("demographic_parity", {"attributes": ["group"]})
    found = bounds(RULE, E, unsigned, delta=DELTA, evidence=evidence)
    assert tuple(found) == (pytest.approx(0.0, abs=1e-5), pytest.approx(1.0, abs=1e-5), "exact")


def test_the_two_signs(evidence):
    parts = [expression_of(each, evidence) for each in (metrics.create("accuracy"), metric())]
    for sign, low in ((1.0, -0.25), (-1.0, 0.5)):
        found = bounds(RULE, E, together(parts, (0.5, -0.5 * sign)), delta=DELTA)
        assert found.low == pytest.approx(low, abs=1e-5)
        assert found.low_status == "exact"


def test_composite(evidence):
    """½ accuracy − ½ |gap| is at least −¼, attained by G, G, N, N; on the scale from 0 to 1 that is ½ more."""
    weights = {"accuracy": ("accuracy", 0.5), "gap": (metric(), 0.5)}
    scales = {"accuracy": Scale("max", 0.0, 1.0), "gap": Scale("zero", 0.0, 1.0)}
    found = composite_bounds(RULE, E, weights, scales, delta=DELTA, evidence=evidence)
    assert found.nominal == pytest.approx(0.5 + 0.5, abs=1e-5)
    assert found.low == pytest.approx(-0.25 + 0.5, abs=1e-5)
    assert found.low_status == "exact"
    assert RULE(found.witness_low()).actions.tolist() == ["G", "G", "N", "N"]
