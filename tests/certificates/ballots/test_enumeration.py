"""Reachable sets of voting rules against enumeration of reports; limits, ties, and what is not ruled out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.certificates import Threat, certify, radius, reachable
from accordant.certificates.ballots import enumeration
from accordant.certificates.ballots.enumeration import Counting
from accordant.certificates.certificate import method_for
from accordant.strategies.strategy import strategies as registry

NAMES = ("P", "Q", "R", "S", "T", "U", "V")
ACTIONS = ("a", "b", "c", "d", "e", "f", "g", "h")
BALLOTS = [name for name in registry if registry.factory(name).dependence == "ballots" and name != "range"]
ALL_WEIGHTS = (None, (1.0, 2.0, 1.0), (0.3, 0.5, 0.9), (0.0, 1.0, 1.0))


def world(values):
    values = np.asarray(values, dtype=float)
    return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])


def enumerated(rule, values, members, delta, levels):
    """Every action that some report on a grid of the box makes win, by trying them all."""
    entries = [(i, a) for i in members for a in range(values.shape[1])]
    grids = [np.linspace(max(values[e] - delta, 0.0), min(values[e] + delta, 1.0), levels) for e in entries]
    points = np.array(list(itertools.product(*grids)))
    reported = np.repeat(values[:, :, None], len(points), axis=2)
    for entry, column in zip(entries, points.T, strict=True):
        reported[entry] = column
    return np.bincount(rule(world(reported)).codes, minlength=values.shape[1]) > 0


@pytest.mark.parametrize("name", BALLOTS)
def test_every_voting_rule_is_served_unless_columns_are_judged_by_themselves(name):
    assert isinstance(method_for(strategies.create(name), 3, frozen=False), Counting)


@pytest.mark.long
@pytest.mark.parametrize("name", BALLOTS)
def test_sets_hold_what_enumeration_finds_and_are_mostly_exact(name):
    generator, exact = np.random.default_rng(len(name)), 0
    for case in range(24):
        values = np.round(generator.random((3, 3)), 1 if case % 2 else 2)
        weights = ALL_WEIGHTS[case % 4]
        rule = strategies.create(name, {} if weights is None else {"weights": weights})
        members = generator.choice(3, size=1 + case % 2, replace=False)
        delta = float(generator.choice([0.05, 0.1, 0.15, 0.3]))
        found = certify(rule, world(values), Threat(delta, tuple(NAMES[i] for i in members)))
        won = enumerated(rule, values, members, delta, 6 if len(members) == 1 else 4)
        assert (won <= found.outer[:, 0]).all(), (values.tolist(), members, delta, weights)
        exact += found.exact[0]
    assert exact >= 21


@pytest.mark.long
@pytest.mark.parametrize("name", BALLOTS)
def test_witnesses_replay(name):
    generator = np.random.default_rng(9)
    for shape, members in (((3, 3, 60), ("P", "R")), ((4, 4, 30), ("Q",)), ((3, 5, 10), ("R",)), ((2, 2, 20), ("P",))):
        expected = world(generator.random(shape).round(1))
        rule = strategies.create(name)
        found = certify(rule, expected, Threat(0.2, members))
        for action in range(shape[1]):
            codes = np.where(found.inner[action], action, found.decided)
            reported = found.witness(codes)
            assert np.array_equal(rule(reported).codes, codes)
            assert np.abs(reported.values - expected.values).max() <= 0.2 + 1e-15
            still = [i for i, who in enumerate(expected.stakeholders) if who not in members]
            assert np.array_equal(reported.values[still], expected.values[still])


def test_a_single_voter_moves_plurality_only_within_the_gap():
    expected = world([[0.6, 0.5, 0.1], [0.2, 0.9, 0.1], [0.7, 0.3, 0.1]])
    rule = strategies.plurality
    assert radius(rule, expected, coalition=["P"])[0] == pytest.approx(0.05, abs=1e-8)
    assert reachable(rule, expected, delta=0.049, coalition=["P"])[:, 0].tolist() == [True, False, False]
    assert reachable(rule, expected, delta=0.051, coalition=["P"])[:, 0].tolist() == [True, True, False]
    assert reachable(rule, expected, delta=1.0, coalition=["P"])[:, 0].tolist() == [True, True, False]


def test_fixed_ballots_leave_only_sums_of_tied_winners_to_move():
    tied = [[0.9, 0.5, 0.1], [0.1, 0.8, 0.5]]  # a and b have one first place each; sums 1.0 and 1.3
    rule = strategies.plurality
    assert rule(world(tied)).codes[0] == 1
    assert reachable(rule, world(tied), delta=0.07)[:, 0].tolist() == [False, True, False]
    assert reachable(rule, world(tied), delta=0.08)[:, 0].tolist() == [True, True, False]
    assert certify(rule, world(tied), Threat(0.08)).exact.all()


def test_whoever_has_no_weight_moves_nothing():
    expected = world(np.random.default_rng(0).random((3, 3, 50)))
    for name in BALLOTS:
        rule = strategies.create(name, {"weights": (0.0, 1.0, 2.0)})
        assert certify(rule, expected, Threat(1.0, ("P",))).certified.all()
        assert np.isinf(radius(rule, expected, coalition=["P"])).all()


@pytest.mark.long
def test_radius_is_where_sets_grow():
    expected = world(np.random.default_rng(1).random((3, 3, 40)).round(2))
    for name in ("borda", "instant_runoff", "approval", "schulze"):
        rule = strategies.create(name)
        found = radius(rule, expected, coalition=["P", "Q"])
        for t in range(40):
            one = expected.take(np.array([t]))
            if np.isinf(found[t]):
                assert reachable(rule, one, delta=1.0, coalition=["P", "Q"]).sum() == 1
                continue
            assert reachable(rule, one, delta=found[t] + 1e-6, coalition=["P", "Q"]).sum() > 1
            assert found[t] < 1e-6 or reachable(rule, one, delta=found[t] - 1e-6, coalition=["P", "Q"]).sum() == 1


def test_bucklin_reads_ranks_of_nearly_level_rewards():
    generator, rule = np.random.default_rng(2), strategies.bucklin
    beyond = 0
    for _ in range(60):
        values = generator.random((3, 4)).round(1)
        values[0] = 0.5
        reported = np.repeat(values[:, :, None], 400, axis=2)
        reported[0] = 0.5 + 0.4e-12 * generator.integers(0, 8, (4, 400))
        won = np.bincount(rule(world(reported)).codes, minlength=4) > 0
        found = reachable(rule, world(values), delta=1e-11, coalition=["P"])[:, 0]
        assert (won <= found).all(), values.tolist()
        beyond += won.sum() > 1
    assert beyond > 5


def test_with_too_many_actions_standing_majorities_are_certified():
    generator = np.random.default_rng(3)
    values = generator.random((3, 8, 60))
    values[:2, 0] = 0.9 + 0.1 * generator.random((2, 60))
    values[:2, 1:] *= 0.7
    for name in ("copeland", "instant_runoff", "plurality", "bucklin", "coombs", "schulze"):
        near, far = (certify(strategies.create(name), world(values), Threat(delta)) for delta in (0.09, 0.3))
        assert near.certified.all()
        assert far.outer.sum() > 60
    borda = certify(strategies.borda, world(values), Threat(0.09))
    assert borda.outer.any(axis=0).all()
    assert borda.outer.all(axis=0).any()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BALLOTS)
def test_bounds_for_too_many_profiles_rule_out_no_more_than_counting_does(name, monkeypatch):
    generator, rule = np.random.default_rng(len(name)), strategies.create(name, {"weights": (2.0, 1.0, 1.0, 1.0)})
    values = generator.random((4, 3, 200))
    values[:, :, ::2] = values[:, :, ::2].round(1)
    for threat in (Threat(0.05, ("P", "Q")), Threat(0.15, ("R",)), Threat(0.1)):
        exact = certify(rule, world(values), threat)
        with monkeypatch.context() as patched:
            patched.setattr(enumeration, "MOST_PROFILES", 0)
            bounded = certify(rule, world(values), threat)
        assert (exact.outer <= bounded.outer).all()
        assert bounded.certified.mean() > 0.05
        with monkeypatch.context() as patched:
            patched.setattr(enumeration, "patterns_for", lambda rule, n_actions: None)
            blind = certify(rule, world(values), threat)
        assert (bounded.outer <= blind.outer).all()


def test_pieces_do_not_change_the_result(monkeypatch):
    expected = world(np.random.default_rng(5).random((3, 3, 500)).round(1))
    for name in ("approval", "copeland", "bucklin"):
        whole = certify(strategies.create(name), expected, Threat(0.1, ("P", "Q")))
        with monkeypatch.context() as patched:
            patched.setattr(enumeration, "LISTED_AT_ONCE", 1500)
            patched.setattr("accordant.certificates.ballots.profiles.LARGEST_TABLE", 100)
            parts = certify(strategies.create(name), expected, Threat(0.1, ("P", "Q")))
        assert np.array_equal(whole.outer, parts.outer)
        assert np.array_equal(whole.inner, parts.inner)


def test_pieces_hold_no_more_profiles_than_may_be_listed_at_once(monkeypatch):
    """A piece may exceed the limit by the profiles of its first context, no more."""
    expected, listed = world(np.random.default_rng(5).random((5, 3, 60)).round(1)), []

    def list_profiles(verdicts, contexts, stay, starts, numbers):
        listed.append(np.diff(starts).tolist())
        return enumerate_profiles(verdicts, contexts, stay, starts, numbers)

    enumerate_profiles = enumeration.list_profiles
    monkeypatch.setattr(enumeration, "list_profiles", list_profiles)
    monkeypatch.setattr(enumeration, "LISTED_AT_ONCE", 400)
    certify(strategies.copeland, expected, Threat(0.6, ("P", "Q")))
    assert max(map(len, listed)) == 2
    assert all(counts and sum(counts[1:]) <= 400 for counts in listed)


def test_many_stakeholders_of_whom_few_misreport():
    generator = np.random.default_rng(6)
    expected = world(generator.random((7, 4, 200)))
    found = certify(strategies.schulze, expected, Threat(0.3, ("S", "U")))
    assert found.exact.mean() > 0.99
    assert 0 < found.certified.mean() < 1


def test_crowds_are_bounded():
    crowd = [f"s{i}" for i in range(40)]
    values = np.random.default_rng(7).random((40, 3, 40))
    values[:25, 0] = 0.9
    values[:25, 1:] *= 0.6
    expected = ac.ExpectedRewards(values, stakeholders=crowd, actions=["x", "y", "z"])
    for name in ("borda", "plurality", "schulze"):
        found = certify(strategies.create(name), expected, Threat(0.1))
        assert found.certified.any()
        assert (found.inner <= found.outer).all()
    few = certify(strategies.borda, expected, Threat(0.2, ("s1", "s7")))
    assert few.exact.all()


def test_single_precision_one_action_and_no_contexts():
    values = np.random.default_rng(8).random((3, 3, 30)).astype(np.float32)
    single = ac.ExpectedRewards(values, stakeholders=NAMES[:3], actions=ACTIONS[:3])
    found = certify(strategies.copeland, single, Threat(0.1, ("P",)))
    assert np.array_equal(found.outer, reachable(strategies.copeland, world(values), delta=0.1, coalition=["P"]))
    for action in range(3):
        codes = np.where(found.inner[action], action, found.decided)
        assert np.array_equal(strategies.copeland(found.witness(codes)).codes, codes)
    assert reachable(strategies.borda, world(np.full((2, 1, 4), 0.5)), delta=0.5).all()
    assert reachable(strategies.borda, world(np.empty((2, 3, 0))), delta=0.5).shape == (3, 0)


def test_everybody_together_reaches_every_action_that_somebody_could_put_first():
    expected = world(np.random.default_rng(9).random((2, 3, 30)))
    for name in BALLOTS:
        assert certify(strategies.create(name), expected, Threat(1.0)).inner.all()


def test_profiles_are_as_many_as_limits_say():
    assert 75**3 < enumeration.MOST_PROFILES
    assert 13**5 < enumeration.MOST_PROFILES
    assert math.log2(enumeration.LISTED_AT_ONCE) <= 22


def test_counting_promises_to_be_exact_with_two_actions_alone():
    assert [Counting().exact(strategies.borda, n) for n in (1, 2, 3, 4)] == [False, True, False, False]
    expected = world(np.random.default_rng(11).random((3, 2, 40)).round(1))
    assert certify(strategies.borda, expected, Threat(0.2, ("P", "R"))).exact.all()
