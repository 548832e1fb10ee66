"""What a run promises whoever uses it."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.runs.record.promise import ALPHAS, LEAST_GROUP, promise_of
from accordant.statistics import betting_limits


@pytest.fixture(scope="module")
def promised(loans_policy, make_loans):
    evidence = loans_policy.evidence_on(make_loans(n=90, seed=7).log)
    return promise_of(loans_policy, evidence), evidence, loans_policy


def test_decisions_of_the_rule_are_counted(promised):
    promise, evidence, policy = promised
    actions = policy.recommend(evidence.log.contexts).decisions.actions
    assert promise.actions == {name: int((actions == name).sum()) for name in policy.problem.actions}


def test_errors_have_the_limits_of_their_mean(promised):
    promise, evidence, _ = promised
    bank = next(each for each in promise.errors if (each.kind, each.name, each.group) == ("reward", "Bank", ""))
    rows = np.arange(90)
    errors = (
        evidence.observed_rewards
        if evidence.observed_rewards is not None
        else evidence.rewards[:, evidence.log.actions, rows]
    )
    values = (errors - evidence.expected.values[:, evidence.log.actions, rows])[0]
    assert bank.n == 90 and bank.mean == pytest.approx(values.mean()) and promise.alphas == ALPHAS
    assert np.allclose(bank.limits, betting_limits(values, -1.0, 1.0, ALPHAS), atol=1e-4)
    widths = [high - low for low, high in bank.limits]
    assert widths == sorted(widths) and all(low <= bank.mean <= high for low, high in bank.limits)


def test_small_groups_are_not_written_down(promised, loans_policy, make_loans):
    groups = {(each.attribute, each.group): each.n for each in promised[0].errors if each.group}
    assert groups and min(groups.values()) >= LEAST_GROUP and {attribute for attribute, _ in groups} == {"sex"}
    few = promise_of(loans_policy, loans_policy.evidence_on(make_loans(n=20, seed=8).log))
    assert [each for each in few.errors if each.group] == [] and few.errors
