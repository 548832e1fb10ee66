"""Real elections (PrefLib 00002, 00007, 00024, 00025, 00028): against pref_voting, known winners, known truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant import strategies
from accordant.voting import read_preflib
from accordant.voting.rules.tally import tally_of_profile

FILES = [f"elections/{folder}/{folder[:5]}-{n:08}.{suffix}"
         for folder, number, suffix in (("00002_debian", 8, "soi"), ("00007_ers", 87, "soi"), ("00024_dots", 4, "soc"),
                                        ("00025_puzzle", 4, "soc"), ("00028_apa", 12, "soi"))
         for n in range(1, number + 1)]  # fmt: skip
ORACLE = {
    "plurality": ("scoring_methods", "plurality", "truncated"),
    "bucklin": ("other_methods", "bucklin_for_truncated_linear_orders", "truncated"),
    "borda": ("scoring_methods", "borda_for_profile_with_ties", "weak"),
    "copeland": ("c1_methods", "copeland", "weak"),
    "minimax": ("margin_based_methods", "minimax", "weak"),
    "schulze": ("margin_based_methods", "beat_path", "weak"),
    "instant_runoff": ("iterative_methods", "instant_runoff", "weak"),
    "kemeny": ("other_methods", "kemeny_young", "weak"),
    "ranked_pairs": ("margin_based_methods", "ranked_pairs", "weak"),
}
MOST_FOR_THE_ORACLE = {"kemeny": 7}  # alternatives: it tries all rankings


@pytest.fixture(scope="session")
def elections(real_data):
    return {file: read_preflib(real_data(file)) for file in FILES}


@pytest.fixture(scope="session")
def oracle_elections(elections, oracle):
    return {file: {"weak": oracle.weak(p), "truncated": oracle.truncated(p)} for file, p in elections.items()}


@pytest.mark.long
@pytest.mark.parametrize("name", ORACLE)
def test_winners_equal_those_of_pref_voting(name, elections, oracle, oracle_elections):
    """Every file; ranked pairs where there is a Condorcet winner, otherwise pref_voting tries all orders of tied pairs."""
    module, function, kind = ORACLE[name]
    method, compared = getattr(getattr(oracle, module), function), 0
    for file, profile in elections.items():
        given = oracle_elections[file][kind]
        if len(profile.alternatives) > MOST_FOR_THE_ORACLE.get(name, 29):
            continue
        if name == "ranked_pairs" and given.condorcet_winner() is None:
            continue
        expected = {profile.alternatives[a] for a in method(given)}
        assert set(strategies.create(name).count(profile).winners()) == expected, file
        compared += 1
    assert compared >= 70


def test_maximal_lotteries_of_all_files(elections):
    """No lottery beats them; three elections have no Condorcet winner."""
    split = 0
    for profile in elections.values():
        margins = tally_of_profile(profile).margins[:, :, 0]
        p = strategies.maximal_lotteries.count(profile).scores[:, 0]
        assert p.min() >= 0
        assert abs(p.sum() - 1) < 1e-12
        assert (p @ margins).min() > -1e-9 * np.abs(margins).max()
        split += p.max() < 1
    assert split >= 3


@pytest.mark.parametrize(("number", "winner"), [
    (1, "Bdale Garbee"), (3, "Branden Robinson"), (5, "Sam Hocevar"), (6, "Stefano Zacchiroli"), (7, "Stefano Zacchiroli"),
])  # fmt: skip
def test_debian_project_leaders(number, winner, elections):
    """2002, 2005, 2007, 2010 and 2012: whom Debian elected, by Schulze's rule."""
    profile = elections[f"elections/00002_debian/00002-{number:08}.soi"]
    for name in ("schulze", "ranked_pairs", "minimax", "copeland", "maximal_lotteries"):
        assert strategies.create(name).count(profile).winners() == (winner,)


@pytest.mark.parametrize(("number", "winner", "elected", "margin"), [
    (2, "Bdale Garbee", "Martin Michlmayr", 24), (4, "Steve McIntyre", "Anthony Towns", 23),
])  # fmt: skip
def test_two_close_elections_of_debian(number, winner, elected, margin, elections):
    """2003 and 2006: in PrefLib's strict orders another than the elected wins; Debian's ballots may hold ties."""
    profile = elections[f"elections/00002_debian/00002-{number:08}.soi"]
    assert strategies.schulze.count(profile).winners() == (winner,)
    margins = tally_of_profile(profile).margins[:, :, 0]
    assert margins[profile.alternatives.index(winner), profile.alternatives.index(elected)] == margin


def kendall_distance(ranking, truth):
    """Pairs in the wrong order, a tie counts half."""
    tier = {name: place for place, names in enumerate(ranking) for name in names}
    wrong = [1.0 * (tier[x] > tier[y]) + 0.5 * (tier[x] == tier[y]) for x, y in itertools.combinations(truth, 2)]
    return sum(wrong)


def test_dots_and_puzzles_against_the_truth(elections):
    """The true order is 1, 2, 3, 4 (Mao, Procaccia and Chen 2013). With about 800 judges every rule finds it."""
    for name in ("plurality", "anti_plurality", "borda", "copeland", "minimax", "ranked_pairs", "schulze", "kemeny",
                 "instant_runoff", "coombs", "bucklin"):  # fmt: skip
        rule = strategies.create(name)
        files = [file for file in FILES if "dots" in file or "puzzle" in file]
        for file in files:
            assert kendall_distance(rule.count(elections[file]).ranking(), elections[file].alternatives) == 0, name


def test_the_largest_election_is_counted_at_once(elections):
    """29 alternatives: every rule but Kemeny; the bound is generous for a busy machine."""
    import time

    largest = max(elections.values(), key=lambda profile: len(profile.alternatives))
    assert len(largest.alternatives) == 29
    start = time.process_time()
    for name in strategies.names():
        rule = strategies.strategies.factory(name)
        if getattr(rule, "kind", "") == "voting" and strategies.create(name).refusal(largest) is None:
            assert strategies.create(name).count(largest).winners()
    assert time.process_time() - start < 5.0
