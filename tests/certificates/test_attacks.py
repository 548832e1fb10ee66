"""Searches for misreports: what they find is real, they find what is easy, and batches are attacked as a whole."""

from __future__ import annotations

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.certificates import Known, Threat, certify
from accordant.certificates.attacks import coordinate_attack, random_attack
from accordant.contexts import Contexts
from accordant.errors import InputError

NAMES, ACTIONS = ("P", "Q", "R"), ("a", "b", "c")
THREAT = Threat(0.15, ("P", "R"))


def world(values):
    values = np.asarray(values, dtype=float)
    return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])


def searches(generator, **known):
    return [
        lambda rule, expected, threat: random_attack(rule, expected, threat, tries=60, generator=generator, **known),
        lambda rule, expected, threat: coordinate_attack(rule, expected, threat, generator=generator, **known),
    ]


@pytest.mark.few(4)
@pytest.mark.parametrize("search", [0, 1], ids=["random", "coordinate"])
@pytest.mark.parametrize("name", ["utilitarian", "kalai_smorodinsky", "nash_bargaining", "plurality", "leximin"])
def test_what_an_attack_claims_replays_within_the_threat(search, name):
    generator, rule = np.random.default_rng(1), strategies.create(name)
    expected = world(generator.random((3, 3, 80)))
    attack = searches(generator)[search](rule, expected, THREAT)
    assert attack.changed.any()
    assert np.array_equal(attack.decided, rule(expected).codes)
    for action in range(3):
        codes = np.where(attack.won[action], action, attack.decided)
        reported = attack.witness(codes)
        assert np.array_equal(rule(reported).codes, codes)
        assert np.abs(reported.values - expected.values).max() <= 0.15 + 1e-15
        assert np.array_equal(reported.values[1], expected.values[1])
        assert 0 <= reported.values.min() <= reported.values.max() <= 1


@pytest.mark.parametrize("search", [0, 1], ids=["random", "coordinate"])
def test_monotone_rules_are_attacked_as_well_as_can_be(search):
    generator = np.random.default_rng(2)
    expected = world(generator.random((3, 3, 200)))
    for name in ("utilitarian", "maximin", "nash_social_welfare", "majority_judgment"):
        attack = searches(generator)[search](strategies.create(name), expected, THREAT)
        assert np.array_equal(attack.won, certify(strategies.create(name), expected, THREAT).outer)


def test_a_search_finds_what_the_most_favourable_report_misses():
    values = [[0.7, 0.4, 0.3], [0.8, 0.4, 0.3], [0.5, 0.4, 0.3]]
    attack = coordinate_attack(
        strategies.kalai_smorodinsky, world(values), Threat(0.1), generator=np.random.default_rng(3)
    )
    assert attack.won[:, 0].tolist() == [True, True, False]


def test_values_of_a_metric_are_sums_over_what_was_reached():
    generator = np.random.default_rng(4)
    expected, table = world(generator.random((3, 3, 30))), generator.normal(size=(3, 30))
    rule = strategies.borda
    attack = random_attack(rule, expected, THREAT, tries=40, generator=generator)
    found = attack.metric(table)
    assert found.honest == pytest.approx(table[rule(expected).codes, np.arange(30)].sum())
    assert found.low == pytest.approx(sum(table[attack.won[:, t], t].min() for t in range(30)))
    assert found.high == pytest.approx(sum(table[attack.won[:, t], t].max() for t in range(30)))
    for codes, value in ((found.low_codes, found.low), (found.high_codes, found.high)):
        chosen = rule(attack.witness(codes)).codes
        assert table[chosen, np.arange(30)].sum() == pytest.approx(value)
    assert found.to_json() == {"honest": found.honest, "low": found.low, "high": found.high}


@pytest.mark.few(1)
@pytest.mark.parametrize("search", [0, 1], ids=["random", "coordinate"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"rule": "utilitarian", "budgets": {"a": 5}},
        {"rule": "maximin", "parity": {"attribute": "g", "within": 0.1, "favourable": ["a"]}},
    ],
    ids=["budget", "parity"],
)
def test_rules_that_decide_a_batch_are_attacked_as_a_whole(search, parameters):
    generator, rule = np.random.default_rng(5), strategies.create("constrained", parameters)
    expected, table = world(generator.random((3, 3, 24))), generator.normal(size=(3, 24))
    known = Known(contexts=Contexts({"g": np.where(np.arange(24) % 2, "x", "y")}))
    attack = searches(generator, known=known)[search](rule, expected, THREAT)
    found = attack.metric(table)
    assert found.low < found.honest < found.high
    chosen = rule(attack.witness(found.low_codes), contexts=known.contexts).codes
    assert table[chosen, np.arange(24)].sum() == pytest.approx(found.low)
    assert attack.won.sum() > 24
    with pytest.raises(InputError, match="no batch of reports"):
        attack.witness(np.full(24, 2))


def test_nobody_and_nothing_to_misreport_leaves_the_decision():
    expected, generator = world(np.random.default_rng(6).random((3, 3, 10))), np.random.default_rng(0)
    for threat in (Threat(0.0), Threat(0.3, ())):
        for search in searches(generator):
            attack = search(strategies.utilitarian, expected, threat)
            assert attack.won.sum() == 10
            assert attack.tries == 0
            assert attack.metric(np.ones((3, 10))).low == 10
    nobody = world(np.empty((3, 3, 0)))
    assert random_attack(strategies.utilitarian, nobody, THREAT, tries=3, generator=generator).won.shape == (3, 0)
    alone = world(np.full((3, 1, 2), 0.5))
    assert coordinate_attack(strategies.utilitarian, alone, THREAT, generator=generator).won.all()


def test_the_same_seed_gives_the_same_attack():
    expected = world(np.random.default_rng(7).random((3, 3, 50)))
    first, second = (
        coordinate_attack(strategies.nash_bargaining, expected, THREAT, generator=np.random.default_rng(8))
        for _ in range(2)
    )
    assert np.array_equal(first.won, second.won)
    assert np.array_equal(first.reports, second.reports)


def test_wrong_input_is_refused():
    expected, generator = world(np.random.default_rng(9).random((3, 3, 4))), np.random.default_rng(0)
    with pytest.raises(InputError, match="an attack of 0 tries"):
        random_attack(strategies.utilitarian, expected, THREAT, tries=0, generator=generator)
    with pytest.raises(InputError, match="0 starts"):
        coordinate_attack(strategies.utilitarian, expected, THREAT, generator=generator, restarts=0)
    attack = random_attack(strategies.utilitarian, expected, Threat(1e-6), tries=1, generator=generator)
    with pytest.raises(InputError, match="the table has shape"):
        attack.metric(np.zeros((2, 4)))
    missing = int(np.flatnonzero(~attack.won[:, 0])[0])
    with pytest.raises(InputError, match=f"action {missing} win in context 0"):
        attack.witness(np.full(4, missing))
