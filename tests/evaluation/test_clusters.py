"""Rows of one person resemble each other: intervals that know it cover, those that do not are far too narrow."""

from __future__ import annotations

import pytest
from dataclasses import replace

import numpy as np

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation import evaluate
from accordant.evaluation.bootstrap import Statistics, bootstrap_metrics
from accordant.evaluation.conflict.conflicts import _Study
from accordant.evaluation.conflict.totals import Totals
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.statistics import standard_error, weight_blocks
from accordant.utilities import ExpectedRewards

PROBLEM = DecisionProblem(
    stakeholders=["i"], actions=["Grant", "Deny"], outcomes=["Good", "Bad"], favourable_actions=["Grant"],
    outcome_to_action={"Good": "Grant", "Bad": "Deny"},
)  # fmt: skip
METRICS = {"reward": metrics.create("mean_reward"), "accuracy": metrics.create("accuracy")}


def sampled(generator, persons=60, visits=8):
    """Draw rows of persons who are granted, and right, with a chance of their own; both means are 0.5."""
    groups = np.repeat(np.arange(persons), visits)
    chance = generator.beta(0.5, 0.5, persons)[groups]
    good = generator.random(len(groups)) < chance
    rewards = np.broadcast_to(good.astype(float), (1, 2, len(good))).copy()
    log = Log(
        Contexts({"x": groups.astype(float)}),
        np.zeros(len(good), dtype=np.intp),
        (~good).astype(np.intp),
        groups=groups,
    )
    expected = ExpectedRewards(np.full(rewards.shape, 0.5), stakeholders=["i"], actions=PROBLEM.actions)
    codes = np.zeros(len(good), dtype=np.intp)
    return Decisions("rule", PROBLEM.actions, codes, np.zeros(len(good), dtype=bool)), Evidence(
        PROBLEM, log, expected, rewards
    )


@pytest.mark.long
def test_intervals_cover_where_rows_of_persons_are_alike():
    generator, covered = np.random.default_rng(2), {True: np.zeros(2), False: np.zeros(2)}
    for _ in range(300):
        rule, evidence = sampled(generator)
        for grouped in (True, False):
            known = evidence if grouped else replace(evidence, log=replace(evidence.log, groups=None))
            board = evaluate(
                {"rule": rule}, {"rule": "compromise"}, known, {name: (each, 0.5) for name, each in METRICS.items()},
                candidates=["rule"], resamples=400, level=0.95, generator=generator,
            )  # fmt: skip
            found = [board["rule"].metrics[name].estimate for name in METRICS]
            covered[grouped] += [each.low <= 0.5 <= each.high for each in found]
    assert (covered[True] / 300 >= 0.92).all(), covered
    assert (covered[False] / 300 <= 0.75).all(), covered


def test_persons_are_drawn_whole_and_counted():
    rule, evidence = sampled(np.random.default_rng(0), persons=12, visits=5)
    assert evidence.n_independent == 12 and evidence.n_contexts == 60
    assert replace(evidence, log=replace(evidence.log, groups=None)).n_independent == 60
    units = Statistics.of({"rule": rule}, evidence, METRICS).units()
    for block in weight_blocks(units, 20, np.random.default_rng(1)):
        of_persons = block.weights.reshape(-1, 12, 5)
        assert (of_persons == of_persons[:, :, :1]).all()


def test_sums_of_clusters_are_sums_of_their_rows(monkeypatch):
    rule, evidence = sampled(np.random.default_rng(0), persons=50, visits=3)
    shuffled = np.random.default_rng(4).permutation(150)
    part = replace(evidence, log=evidence.log.take(shuffled), rewards=evidence.rewards[:, :, shuffled])
    statistics = Statistics.of({"rule": rule}, part, METRICS)
    blocks = list(weight_blocks(statistics.units(), 40, np.random.default_rng(1)))
    plain = np.concatenate([block.weights @ statistics.rows(0, np.arange(150)) for block in blocks])
    monkeypatch.setattr("accordant.evaluation.bootstrap.AT_ONCE", 700)
    blocks = list(weight_blocks(statistics.units(), 40, np.random.default_rng(1)))
    assert np.allclose(statistics.totals(statistics.units(), blocks, 40)[0], plain)


def test_groups_of_one_row_are_resampled_as_rows_are():
    rule, evidence = sampled(np.random.default_rng(0), persons=200, visits=1)
    alone = replace(evidence, log=replace(evidence.log, groups=None))
    spreads = [
        bootstrap_metrics({"rule": rule}, each, METRICS, resamples=4000, generator=np.random.default_rng(1)).values.std(
            axis=0
        )
        for each in (evidence, alone)
    ]
    assert np.allclose(*spreads, rtol=0.06)


def test_conflicts_are_drawn_and_halved_by_persons():
    rule, evidence = sampled(np.random.default_rng(0), persons=300, visits=4)
    study = _Study(evidence, {}, None, 100, 0.95)
    choosing, judging = study._halves(np.random.default_rng(0))
    groups = evidence.log.groups
    assert not set(groups[choosing]) & set(groups[judging]) and abs(len(choosing) - len(judging)) <= 4
    among = np.sort(choosing)
    drawn = Totals.resampled({"rule": rule}, evidence, METRICS, among, 500, np.random.default_rng(0)).values()[0, :, 0]
    rewards = evidence.rewards[0, 0, among]
    assert np.isclose(drawn.std(), standard_error(rewards, groups[among]), rtol=0.15)
    assert drawn.std() > 1.5 * standard_error(rewards)
