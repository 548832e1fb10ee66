"""Shares of actions and continuous outcomes against loops over contexts."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics
from accordant.errors import InputError, UnknownNameError
from accordant.metrics.statistics import Cells, contingency
from accordant.statistics.proportions import wilson


def test_share_of_action(world, decide):
    evidence = world(50)
    decisions = decide(evidence)
    for action in evidence.problem.actions:
        share = sum(taken == action for taken in decisions.actions) / 50
        plain_metric = metrics.create("share_of_action", {"action": action})
        plain = plain_metric.evaluate(decisions, evidence)
        percent = metrics.create("share_of_action", {"action": action, "percent": True, "goal": "min"})
        assert plain.value == pytest.approx(share, abs=1e-15)
        assert percent.evaluate(decisions, evidence).value == pytest.approx(100 * share, abs=1e-12)
        assert percent.goal == "min"
        assert (plain_metric.range(evidence), percent.range(evidence)) == ((0, 1), (0, 100))
        table = contingency(decisions, Cells.of(evidence, ()))
        low, high = wilson(share, 25, 0.9)
        assert plain_metric.limits(table, 0.9, 0.5) == pytest.approx((low, high))
        assert percent.limits(table, 0.9, 0.5) == pytest.approx((100 * low, 100 * high))
    with pytest.raises(UnknownNameError):
        metrics.create("share_of_action", {"action": "Gift"}).check(evidence)
    with pytest.raises(InputError, match="unknown goal"):
        metrics.create("share_of_action", {"action": "Grant", "goal": "most"})


@pytest.mark.parametrize("kind", ["estimated", "true"])
def test_outcome_metrics_equal_the_loop(numeric_world, decide, kind):
    evidence = numeric_world(60)
    decisions = decide(evidence)
    levels = evidence.outcome_levels if kind == "estimated" else evidence.true_levels
    columns = [list(levels[:, t]) for t in range(60)]
    chosen = [column[decisions.codes[t]] for t, column in enumerate(columns)]
    expected = {
        "mean_outcome": sum(chosen) / 60,
        "outcome_regret": sum(max(column) - mine for column, mine in zip(columns, chosen, strict=True)) / 60,
        "best_action_share": sum(mine == max(column) for column, mine in zip(columns, chosen, strict=True)) / 60,
    }
    for name, value in expected.items():
        found = metrics.create(name, {"levels": kind})
        total = metrics.create(name, {"levels": kind, "total": True})
        assert found.evaluate(decisions, evidence).value == pytest.approx(value, abs=1e-12)
        assert total.evaluate(decisions, evidence).value == pytest.approx(60 * value, abs=1e-10)
        assert (found.gamma, total.gamma) == (1, 0)


def test_policy_value_is_the_mean_of_the_chosen_true_levels(numeric_world, decide):
    """Acceptance test 13: the exact policy value equals the mean of the chosen mu."""
    evidence = numeric_world(60)
    decisions = decide(evidence)
    chosen = evidence.true_levels[decisions.codes, np.arange(60)].mean()
    assert metrics.create("policy_value").evaluate(decisions, evidence).value == pytest.approx(chosen, abs=1e-12)


def test_best_possible_decisions_have_no_regret_although_levels_tie(numeric_world, decide):
    evidence = numeric_world(400)
    best = decide(evidence, evidence.true_levels.argmax(axis=0))
    assert metrics.create("outcome_regret", {"levels": "true"}).evaluate(best, evidence).value == 0.0
    assert metrics.create("best_action_share", {"levels": "true"}).evaluate(best, evidence).value == 1.0


def test_ranges_of_outcome_metrics(numeric_world):
    """A share is at most 1; a mean stays within the range of outcomes, a regret within its width."""
    evidence = numeric_world(60)
    low, high = metrics.create("mean_outcome").range(evidence)
    assert low < high
    assert metrics.create("best_action_share").range(evidence) == (0.0, 1.0)
    assert metrics.create("best_action_share", {"total": True}).range(evidence) == (0.0, 60.0)
    assert metrics.create("outcome_regret").range(evidence) == (0.0, high - low)


def test_what_is_missing_is_said(world, numeric_world, decide):
    with pytest.raises(InputError, match="needs a continuous outcome"):
        metrics.create("mean_outcome").evaluate(decide(world(10)), world(10))
    known = numeric_world(10)
    bare = type(known)(known.problem, known.log, known.expected, known.rewards)
    with pytest.raises(InputError, match="only simulated data"):
        metrics.create("policy_value").check(bare)
    with pytest.raises(InputError, match="no estimated outcome"):
        metrics.create("outcome_regret").check(bare)
    with pytest.raises(InputError, match="unknown levels"):
        metrics.create("mean_outcome", {"levels": "guessed"})
