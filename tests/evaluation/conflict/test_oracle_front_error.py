"""Intervals of the concession with hindsight, against hindsight computed anew on each resample."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.evaluation.conflict.totals import additive, signed
from accordant.evaluation.conflict.fronts import Hindsight
from accordant.evaluation.conflict.fronts import concession_interval
from accordant.evaluation.conflict.fronts import oriented
from accordant.evaluation.conflict.totals import Totals
from accordant.evidence import Evidence
from accordant.utilities import ExpectedRewards

PAIRS = {
    "rewards": ("i", "j", ("max", "max")),
    "a rate and a gap": ("i", "gap", ("max", "zero")),
}


def metrics_of(evidence):
    found = {name: metrics.create("stakeholder_reward", {"stakeholder": name}) for name in ("i", "j")}
    return found | {"gap": signed(metrics.create("demographic_parity", {"attributes": ["sex"]}), evidence)}


def concession_on(evidence, codes, names, goals):
    """Return bounds by the fronts of this evidence alone, the front, and what it is made of."""
    every = metrics_of(evidence)
    pair = {name: every[name] for name in names}
    values = oriented(Totals.on(codes, evidence, pair).values()[:, 0], goals)
    best = values[values[:, 0].argmax()], values[values[:, 1].argmax()]
    ideal, span = values.max(axis=0), np.abs(best[0] - best[1])
    parts = tuple(additive(metric, evidence) for metric in pair.values())
    reach = Hindsight.of(*parts, goals)
    return reach.concession(ideal, span), reach, parts, pair


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_interval_against_hindsight_computed_anew(evidence_of, lines, name):
    first, second, goals = PAIRS[name]
    generator, n, resamples = np.random.default_rng(3), 120, 150
    sex = generator.integers(0, 2, n)
    rewards = 0.7 * generator.uniform(size=(2, 2, n)) + np.array([[0.3, 0], [0, 0.3]])[:, :, None]
    evidence = evidence_of(rewards, sex=sex)
    codes = {"x": 0, "y": 1} if second == "j" else {"x": np.where(sex == 1, 0, 1), "y": 1}
    bounds, reach, parts, pair = concession_on(evidence, lines(evidence, **codes), (first, second), goals)
    found = concession_interval(
        bounds, reach, parts, lines(evidence, **codes), evidence, pair,
        resamples=resamples, level=0.9, generator=np.random.default_rng(0),
    )  # fmt: skip
    drawn = []
    for _ in range(resamples):
        rows = generator.integers(0, n, n)
        log = Log(
            Contexts({column: evidence.log.contexts[column][rows] for column in ("sex", "age")}),
            evidence.log.actions[rows], evidence.log.outcomes[rows],
        )  # fmt: skip
        again = Evidence(
            evidence.problem, log,
            ExpectedRewards(rewards[:, :, rows], stakeholders=["i", "j"], actions=["a", "b"]), rewards[:, :, rows],
        )  # fmt: skip
        each = {key: np.broadcast_to(value, (n,))[rows] for key, value in codes.items()}
        drawn.append(concession_on(again, lines(again, **each), (first, second), goals)[0])
    assert bounds[1] <= found[1] + 1e-12
    width = found[1] - found[0]
    low, high = np.quantile([each[0] for each in drawn], 0.05), np.quantile([each[1] for each in drawn], 0.95)
    assert found == pytest.approx((low, high), abs=0.3 * width)
    assert found[0] <= bounds[0] + 1e-12


def test_where_one_candidate_is_best_in_both_nothing_is_conceded(evidence_of, lines):
    """y is better for j in one context only; resamples without it are no conflict."""
    rewards = np.full((2, 2, 60), 0.5)
    rewards[0, 0], rewards[1, 1, 0], rewards[1, 0, 0] = 1.0, 1.0, 0.0
    evidence = evidence_of(rewards)
    decisions = lines(evidence, x=0, y=1)
    bounds, reach, parts, pair = concession_on(evidence, decisions, ("i", "j"), ("max", "max"))
    assert bounds[0] > 0
    low, high = concession_interval(
        bounds, reach, parts, decisions, evidence, pair, resamples=200, level=0.9, generator=np.random.default_rng(0)
    )
    assert low == pytest.approx(0, abs=1e-3)
    assert high > 0
