"""Small worlds in which everything that an attack can choose is enumerated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates.bounds.rule_choices import attackable
from accordant.certificates.threat import Threat
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

ACTIONS = ("Grant", "Lower", "Deny")
OUTCOMES = ("Full", "Part", "None")


def make_world(n, seed, *, coarse=False, n_stakeholders=3):
    """Return evidence with discrete outcomes and two columns for groups; coarse numbers make ties."""
    generator = np.random.default_rng(seed)
    problem = DecisionProblem(
        stakeholders=["Bank", "Applicant", "Press"][:n_stakeholders],
        actions=ACTIONS,
        outcomes=OUTCOMES,
        favourable_actions=["Grant", "Lower"],
        favourable_outcomes=["Full"],
        outcome_to_action=dict(zip(OUTCOMES, ACTIONS, strict=True)),
    )
    columns = {"sex": generator.integers(0, 2, n).astype(float), "age": generator.integers(0, 3, n).astype(float)}
    columns["taken"] = np.array(ACTIONS)[np.arange(n) % len(ACTIONS)]
    log = Log(Contexts(columns), generator.integers(0, 3, n), generator.integers(0, 3, n))
    values, rewards = generator.random((2, n_stakeholders, 3, n))
    if coarse:
        values, rewards = values.round(1), rewards.round(1)
    expected = ExpectedRewards(values, stakeholders=problem.stakeholder_names, actions=ACTIONS)
    return Evidence(problem, log, expected, rewards)


def all_decisions(attacked):
    """Return every decision that an attack can choose, one action of the set in each context, within its limit."""
    base, sets = attacked.outer.base, attacked.outer.mask
    found = []
    for codes in itertools.product(*(np.flatnonzero(column) for column in sets.T)):
        if attacked.outer.at_most is None or (np.array(codes) != base.codes).sum() <= attacked.outer.at_most:
            found.append(Decisions("enumerated", base.action_names, np.array(codes), base.tied))
    return found


@pytest.fixture(scope="session")
def world():
    """Return a function (n, seed) → evidence."""
    return make_world


@pytest.fixture(scope="session")
def enumerated():
    """Return a function from an attack to every decision that it can choose."""
    return all_decisions


@pytest.fixture(scope="session")
def attack():
    """Return a function (evidence, seed) → an attack on a rule with exact reachable sets, limited every other time."""

    def make(evidence, seed, *, limited=None):
        generator = np.random.default_rng(seed)
        rule = strategies.create(("utilitarian", "maximin", "nash_social_welfare")[seed % 3])
        limited = bool(seed % 2) if limited is None else limited
        at_most = int(generator.integers(0, 3)) if limited else None
        threat = Threat(float(generator.choice([0.05, 0.1, 0.2, 0.3])))
        return attackable(rule, evidence.expected, threat, at_most=at_most)

    return make


@pytest.fixture(scope="session")
def misreported():
    """Return a function that draws E within a threat: uniformly, at corners, or one column against the others."""

    def make(expected, threat, generator):
        members = threat.members(expected.stakeholders)[:, None, None]
        low = np.maximum(expected.values - threat.delta, threat.box[0])
        high = np.minimum(expected.values + threat.delta, threat.box[1])
        kind = generator.integers(3)
        share = generator.random(expected.values.shape)
        if kind == 1:
            share = share.round()
        if kind == 2:
            share = np.zeros(expected.values.shape)
            share[
                :, generator.integers(0, len(expected.actions), expected.n_contexts), np.arange(expected.n_contexts)
            ] = 1
        values = np.where(members, low + share * (high - low), expected.values)
        return ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions)

    return make
