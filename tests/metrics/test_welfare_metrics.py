"""Welfare metrics against loops over contexts and stakeholders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant import metrics
from accordant.errors import InputError, UnknownNameError
from accordant.evidence import Evidence


def means(evidence, decisions):
    """Return each stakeholder's mean realised reward by looping over contexts."""
    n = evidence.n_contexts
    return [
        sum(evidence.rewards[i, decisions.codes[t], t] for t in range(n)) / n
        for i in range(len(evidence.problem.stakeholders))
    ]


def gini(values, weights):
    total = sum(w * v for w, v in zip(weights, values, strict=True))
    gaps = sum(
        wi * wj * abs(vi - vj)
        for vi, wi in zip(values, weights, strict=True)
        for vj, wj in zip(values, weights, strict=True)
    )
    return gaps / (2 * total)


@pytest.mark.parametrize("weights", [None, (1.0, 1.0, 1.0), (3.0, 0.0, 1.0), (0.25, 0.5, 0.0), (0.2, 0.3, 0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_welfare_equals_the_loop(world, decide, weights, seed):
    evidence = world(40, seed)
    decisions = decide(evidence, seed=seed + 9)
    raw = (2.0, 1.0, 0.0) if weights is None else weights  # None: those of the problem
    share = [weight / sum(raw) for weight in raw]
    reward = means(evidence, decisions)
    together = [[sum(share[i] * evidence.rewards[i, a, t] for i in range(3)) for a in range(3)] for t in range(40)]
    expected = {
        "mean_reward": sum(w * r for w, r in zip(share, reward, strict=True)),
        "min_reward": min(r for w, r in zip(share, reward, strict=True) if w > 0),
        "nash_welfare": math.prod(r**w for w, r in zip(share, reward, strict=True)),
        "gini_reward": gini(reward, share),
        "welfare_regret": sum(max(row) - row[decisions.codes[t]] for t, row in enumerate(together)) / 40,
    }
    for name, value in expected.items():
        found = metrics.create(name, {"weights": weights}).evaluate(decisions, evidence)
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.n == 40


def test_stakeholder_reward_and_regret_equal_the_loop(world, decide):
    evidence = world(40)
    decisions = decide(evidence)
    for i, name in enumerate(evidence.problem.stakeholder_names):
        reward = means(evidence, decisions)[i]
        ideal = sum(max(evidence.rewards[i, a, t] for a in range(3)) for t in range(40)) / 40
        for total, factor in ((False, 1), (True, 40)):
            parameters = {"stakeholder": name, "total": total}
            got = metrics.create("stakeholder_reward", parameters).evaluate(decisions, evidence).value
            lost = metrics.create("stakeholder_regret", parameters).evaluate(decisions, evidence).value
            assert got == pytest.approx(reward * factor, abs=1e-12)
            assert lost == pytest.approx((ideal - reward) * factor, abs=1e-12)


def test_best_action_for_a_stakeholder_has_no_regret(world, decide):
    evidence = world(40)
    decisions = decide(evidence, evidence.rewards[1].argmax(axis=0))
    assert metrics.create("stakeholder_regret", {"stakeholder": "Applicant"}).evaluate(decisions, evidence).value == 0.0


def test_zero_rewards_have_nash_welfare_zero_and_no_gini(world, decide):
    drawn = world(20)
    evidence = Evidence(drawn.problem, drawn.log, drawn.expected, np.zeros_like(drawn.rewards))
    decisions = decide(evidence)
    assert metrics.create("nash_welfare").evaluate(decisions, evidence).value == 0.0
    result = metrics.create("gini_reward").evaluate(decisions, evidence)
    assert (result.value, result.reason) == (
        None,
        "every counted reward is 0 on all 20 contexts, so inequality is not defined",
    )


def test_wrong_weights_and_stakeholders_are_refused(world):
    evidence = world(10)
    for weights in [(1.0,), (1.0, -1.0, 1.0), (0.0, 0.0, 0.0), (np.nan, 1.0, 1.0)]:
        with pytest.raises(InputError, match="3 numbers ≥ 0"):
            metrics.create("mean_reward", {"weights": weights}).check(evidence)
    with pytest.raises(UnknownNameError, match="did you mean 'Bank'"):
        metrics.create("stakeholder_reward", {"stakeholder": "Bnak"}).check(evidence)
