"""Rows one by one in the record: what models expect and what strategies decide, bounded, and no feature of anybody."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from accordant.decisions import Decisions
from accordant.runs.record.parts import MOST_FIGURES, MOST_PEOPLE, people
from accordant.utilities import ExpectedRewards


def world(n, n_actions=3, n_stakeholders=2, drawn=False):
    generator = np.random.default_rng(0)
    values = generator.random((n_stakeholders, n_actions, n))
    actions = [f"action {a}" for a in range(n_actions)]
    expected = ExpectedRewards(values, stakeholders=[f"who {i}" for i in range(n_stakeholders)], actions=actions)
    codes, tied = generator.integers(0, n_actions, n), np.zeros(n, dtype=bool)
    policy = generator.dirichlet(np.ones(n_actions), n).T if drawn else None
    decisions = Decisions("rule", tuple(actions), codes, tied, policy=policy)
    return {"rule": decisions}, SimpleNamespace(expected=expected, n_contexts=n), values


@pytest.mark.parametrize("n", [1, 7, MOST_PEOPLE, MOST_PEOPLE + 1, 5000])
def test_rows_are_evenly_spaced_and_hold_the_figures_of_their_contexts(n):
    decisions, evidence, values = world(n)
    found = people(decisions, evidence)
    assert len(found.rows) == min(n, MOST_PEOPLE) and found.n == n
    steps = np.diff(found.rows)
    assert found.rows[0] == 0 and (steps > 0).all() and (len(steps) == 0 or steps.max() - steps.min() <= 1)
    for i, rows in enumerate(found.expected.values()):
        np.testing.assert_allclose(rows, values[i].T[list(found.rows)], rtol=0, atol=5.1e-5)
    assert found.decisions["rule"] == tuple(decisions["rule"].codes[list(found.rows)])


def test_a_rule_that_draws_keeps_its_probabilities():
    decisions, evidence, _ = world(9, drawn=True)
    np.testing.assert_allclose(
        people(decisions, evidence).decisions["rule"], decisions["rule"].policy.T, rtol=0, atol=5.1e-5
    )


def test_many_actions_leave_fewer_rows():
    decisions, evidence, _ = world(400, n_actions=60, n_stakeholders=5)
    found = people(decisions, evidence)
    figures = len(found.rows) * (5 * 60 + 1)
    assert figures <= MOST_FIGURES < figures + 5 * 60 + 1
