"""Examples from the literature."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.voting import Profile
from accordant.errors import InputError

# The capital of Tennessee, the running example of the Wikipedia articles on voting rules.
TENNESSEE = Profile.from_orders(
    [["Memphis", "Nashville", "Chattanooga", "Knoxville"], ["Nashville", "Chattanooga", "Knoxville", "Memphis"],
     ["Chattanooga", "Knoxville", "Nashville", "Memphis"], ["Knoxville", "Chattanooga", "Nashville", "Memphis"]],
    weights=[42, 26, 15, 17],
)  # fmt: skip
# Schulze (2011), example 1: 21 voters, no Condorcet winner.
SCHULZE = Profile.from_orders(
    [list("acdb"), list("badc"), list("cdba"), list("dbac"), list("dcba")], weights=[8, 2, 4, 4, 3], alternatives="abcd"
)
# Condorcet's 60 voters, as Young (1988) tells it: a beats b 33:27, b beats c 42:18, c beats a 35:25.
CONDORCET = Profile.from_orders(
    [list("abc"), list("bca"), list("bac"), list("cab"), list("cba")], weights=[23, 17, 2, 10, 8]
)


def count(name, profile, **parameters):
    return strategies.create(name, parameters).count(profile)


def order(name, profile):
    return " > ".join(" = ".join(tier) for tier in count(name, profile).ranking())


def test_tennessee_by_points():
    assert count("plurality", TENNESSEE).scores[:, 0].tolist() == [42, 26, 15, 17]
    assert count("borda", TENNESSEE).scores[:, 0].tolist() == [126, 194, 173, 107]
    assert count("anti_plurality", TENNESSEE).scores[:, 0].tolist() == [-58, 0, 0, -42]
    assert count("copeland", TENNESSEE).scores[:, 0].tolist() == [-3, 3, 1, -1]
    assert count("minimax", TENNESSEE).scores[:, 0].tolist() == [-16, 0, -36, -66]


@pytest.mark.parametrize(("name", "expected"), [
    ("instant_runoff", "Knoxville > Memphis > Nashville > Chattanooga"),
    ("coombs", "Nashville > Chattanooga > Knoxville > Memphis"),
    ("kemeny", "Nashville > Chattanooga > Knoxville > Memphis"),
    ("ranked_pairs", "Nashville > Chattanooga > Knoxville > Memphis"),
    ("schulze", "Nashville > Chattanooga > Knoxville > Memphis"),
    ("bucklin", "Nashville > Chattanooga > Knoxville > Memphis"),
])  # fmt: skip
def test_tennessee_by_order(name, expected):
    """Bucklin: with second places Nashville has 68 and Chattanooga 58, with third ones Knoxville has 58."""
    assert order(name, TENNESSEE) == expected


def test_tennessee_has_a_condorcet_winner():
    found = count("maximal_lotteries", TENNESSEE)
    assert found.scores[:, 0].tolist() == [0, 1, 0, 0]
    assert found.flags["condorcet_winner_exists"].tolist() == [True]
    assert found.lottery


def test_schulze_example_1():
    assert order("schulze", SCHULZE) == "d > a > c > b"
    assert not count("schulze", SCHULZE).flags["condorcet_winner_exists"][0]


def test_schulze_with_45_voters():
    """The example of the Wikipedia article on the Schulze method: E > A > C > B > D."""
    profile = Profile.from_orders(
        [list(each) for each in ("ACBED", "ADECB", "BEDAC", "CABED", "CAEBD", "CBADE", "DCEBA", "EBADC")],
        weights=[5, 5, 8, 3, 7, 2, 7, 8], alternatives="ABCDE",
    )  # fmt: skip
    assert order("schulze", profile) == "E > A > C > B > D"


def test_condorcets_60_voters():
    """Young (1988): the smallest of the three majorities, a over b, is given up; Borda agrees on the winner."""
    for name in ("kemeny", "ranked_pairs", "schulze"):
        assert order(name, CONDORCET) == "b > c > a", name
    assert count("minimax", CONDORCET).winners() == ("b",)
    assert dict(zip("abc", count("borda", CONDORCET).scores[:, 0], strict=True)) == {"a": 58, "b": 69, "c": 53}
    assert count("plurality", CONDORCET).winners() == ("a",)


def test_lottery_of_a_cycle():
    """A cycle of three: each is drawn in proportion to the margin between the other two (Fishburn 1984)."""
    found = count("maximal_lotteries", CONDORCET)
    margins = {"ab": 6, "bc": 24, "ca": 10}
    expected = np.array([margins["bc"], margins["ca"], margins["ab"]]) / 40
    np.testing.assert_allclose(found.scores[:, 0], expected, rtol=1e-12)


def test_all_tied_is_drawn_uniformly():
    """Of all maximal lotteries the closest to uniform: no alternative is treated better than its equals."""
    tied = Profile(np.zeros((2, 4), dtype=int))
    np.testing.assert_allclose(count("maximal_lotteries", tied).scores[:, 0], 0.25)
    two_and_a_loser = Profile.from_orders([list("abc"), list("bac")])
    np.testing.assert_allclose(count("maximal_lotteries", two_and_a_loser).scores[:, 0], [0.5, 0.5, 0.0], atol=1e-12)


def test_ranked_pairs_lets_every_order_of_tied_margins_win():
    """A cycle of equal margins can be broken anywhere, so all three win (Zavist and Tideman 1989)."""
    cycle = Profile.from_orders([list("abc"), list("bca"), list("cab")])
    assert count("ranked_pairs", cycle).winners() == ("a", "b", "c")


def test_ranked_pairs_beyond_the_search():
    """With 9 alternatives tied margins fall to the declared order; here that is one cycle of three on top of six others."""
    rest = list("defghi")
    cycle = Profile.from_orders([[*top, *rest] for top in ("abc", "bca", "cab")])
    assert order("ranked_pairs", cycle) == "a > b > c > d > e > f > g > h > i"
    unequal = Profile.from_orders([[*top, *rest] for top in ("abc", "bca", "cab")], weights=[2, 3, 4])
    assert order("ranked_pairs", unequal) == "c > a > b > d > e > f > g > h > i"


def test_majority_judgment():
    """Balinski and Laraki (2011): medians are taken out until they differ.

    x: 0 1 1 2 2 → 1 1 2 0 2; y: 0 0 1 2 2 → 1 0 2 0 2; z: 0 1 1 1 3 → 1 1 1 0 3. So x > z > y: all have median 1, y's
    second median is lower, z's third is.
    """
    grades = np.array([[0, 1, 1, 2, 2], [0, 0, 1, 2, 2], [0, 1, 1, 1, 3]]).T
    profile = Profile(np.zeros((5, 3), dtype=int), alternatives="xyz", grades=grades)
    assert order("majority_judgment", profile) == "x > z > y"
    assert count("majority_judgment", profile).quantities["median_grade"][:, 0].tolist() == [1, 1, 1]


def test_a_single_vote_decides_majority_judgment():
    """With an even number the lower of the middle grades counts (Balinski and Laraki 2011)."""
    profile = Profile(np.zeros((2, 2), dtype=int), alternatives="xy", grades=[[0, 1], [3, 1]])
    assert order("majority_judgment", profile) == "y > x"


def test_tied_tops_get_full_support_in_instant_runoff():
    """Delemazure and Peters (2024): {a, b} supports both fully, so c goes first; shared, a and b would."""
    profile = Profile.from_orders([[{"a", "b"}, "c"], ["c", "a", "b"]], weights=[3, 2])
    assert count("plurality", profile).scores[:, 0].tolist() == [1.5, 1.5, 2]
    assert order("instant_runoff", profile) == "a > b > c"


def test_kemeny_says_where_it_ends():
    with pytest.raises(InputError, match="kemeny cannot count these ballots: 9 alternatives; allowed: at most 8"):
        count("kemeny", Profile(np.arange(9)[None]))


@pytest.mark.parametrize(("name", "message"), [
    ("approval", "it needs approvals or grades, and they are rankings"),
    ("range", "it needs grades"), ("majority_judgment", "it needs grades"),
])  # fmt: skip
def test_rules_that_need_more_than_rankings(name, message):
    with pytest.raises(InputError, match=message):
        count(name, TENNESSEE)


@pytest.mark.parametrize("factor", [1e-200, 1e-13, 0.1, 1e15, 1e200])
def test_only_ratios_of_weights_count(factor):
    scaled = Profile(TENNESSEE.ranks, TENNESSEE.weights * factor, TENNESSEE.alternatives)
    for name in ("plurality", "borda", "minimax", "bucklin", "coombs", "kemeny", "maximal_lotteries"):
        assert order(name, scaled) == order(name, TENNESSEE)


def test_approval_by_ballots_and_by_threshold():
    profile = Profile([[0, 1, 2]], alternatives="xyz", grades=[[5.0, 4.0, 0.0]], approvals=[[True, False, False]])
    assert count("approval", profile).scores[:, 0].tolist() == [1, 0, 0]
    assert count("approval", profile, threshold=4).scores[:, 0].tolist() == [1, 1, 0]
    graded = Profile([[0, 1, 2]], alternatives="xyz", grades=[[5.0, 4.0, 0.0]])
    assert count("approval", graded).scores[:, 0].tolist() == [1, 1, 0]
    assert count("range", graded).scores[:, 0].tolist() == [5, 4, 0]
    assert count("range", graded, normalised=True).scores[:, 0].tolist() == [1, 0.8, 0]


@pytest.mark.parametrize(("name", "parameters", "message"), [
    ("approval", {"threshold": float("nan")}, "approval threshold is nan; allowed: a finite number, or None"),
    ("majority_judgment", {"grades": 1}, "majority judgment with 1 grades; allowed: a whole number from 2 to 1000"),
    ("majority_judgment", {"grades": 2.5}, "2.5 grades"),
])  # fmt: skip
def test_parameters_that_are_refused(name, parameters, message):
    with pytest.raises(InputError, match=message):
        strategies.create(name, parameters)
