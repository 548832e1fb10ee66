"""Who wins over the profiles of a context, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.certificates.ballots.patterns import DOUBTFUL, IMPOSSIBLE, SURE
from accordant.certificates.ballots.profiles import list_profiles, sole_winners

BALLOTS = np.array([[DOUBTFUL, SURE, SURE], [SURE, SURE, IMPOSSIBLE]], dtype=np.uint8)[:, :, None]


def test_every_profile_of_possible_ballots_is_listed_once_behind_those_that_stay():
    numbers = np.full(6, -1)
    list_profiles.python(BALLOTS, np.array([0]), np.array([4]), np.array([0]), numbers)
    assert numbers.tolist() == [4 * 9 + 3 * first + second for first in (0, 1, 2) for second in (0, 1)]


@pytest.mark.parametrize(
    ("won", "best"),
    [
        ([(0, 0, 0)], 0),  # doubtful, as no other is known
        ([(0, 1, 0), (0, 0, 0)], 1),  # the first of two that are doubtful
        ([(0, 1, 0), (1, 0, 0)], 3),  # a sure one instead of a doubtful one
        ([(1, 1, 0), (0, 0, 0)], 4),  # and not the other way round
        ([(1, 1, 0), (2, 0, 0)], 4),  # the first of two that are sure
    ],
)
def test_a_sole_winner_has_a_profile_that_surely_is_possible_if_there_is_one(won, best):
    found = winners([(first, second, 1 << action) for first, second, action in won])
    assert found["best"] == [best, -1, -1]
    assert found["alone"] == 1
    assert found["tied"] == 0
    assert found["sure"] == (best >= 3)


def test_winners_that_tie_win_nothing_alone():
    found = winners([(1, 0, 0b110), (2, 1, 0b100), (0, 0, 0b010)])
    assert found == {"best": [-1, 0, 7], "alone": 0b110, "tied": 0b110, "sure": 0b100}


def test_each_context_has_its_own_profiles():
    """Members change places in the second context, so its sure profiles are others."""
    ballots = np.concatenate([BALLOTS, BALLOTS[::-1]], axis=2)
    found = winners([(0, 0, 0b001), (1, 0, 0b010)], [(1, 0, 0b001), (0, 1, 0b001), (0, 2, 0b100)], ballots=ballots)
    assert found["best"] == [[0, 1], [3, -1], [-1, 2]]
    assert found["alone"] == [0b011, 0b101]
    assert found["sure"] == [0b010, 0b101]


def winners(*profiles, ballots=BALLOTS):
    """Return what is found, for each context if there are several."""
    every = [profile for each in profiles for profile in each]
    numbers = np.array([3 * first + second for first, second, _ in every])
    bits = np.array([bits for _, _, bits in every], dtype=np.uint8)
    starts = np.cumsum([0, *map(len, profiles)])
    sure, alone, tied = (np.zeros(len(profiles), dtype=np.uint8) for _ in range(3))
    best = np.full((3, len(profiles)), -1)
    sole_winners.python(numbers, bits, np.arange(len(profiles)), starts, ballots, sure, alone, tied, best)
    found = {"best": best, "alone": alone, "tied": tied, "sure": sure}
    return {name: (each if len(profiles) > 1 else each[..., 0]).tolist() for name, each in found.items()}
