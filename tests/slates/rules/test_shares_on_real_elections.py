"""Phragmén's rule and Equal Shares on real elections: the committees of abcvoting, ties broken alike."""

import numpy as np
import pytest

from accordant.voting import read_preflib
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards

FILES = [f"elections/00002_debian/00002-{n:08}.toc" for n in (1, 3, 5, 8)] + [
    f"elections/00007_ers/00007-{n:08}.soi" for n in (2, 13, 28)
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "theirs"), [("seq_phragmen", "seqphragmen"), ("equal_shares", "equal-shares")])
def test_committees_of_abcvoting(name, theirs, extra, real_data):
    """Everybody approves the two best ranks; all items are worth the same, so that ties go to the first item."""
    abcrules, preferences = extra("abcvoting.abcrules"), extra("abcvoting.preferences")
    for file in FILES:
        ballots = read_preflib(real_data(file))
        approves, weights = ballots.ranks[:, :, 0] < 2, ballots.weights.astype(int)
        profile = preferences.Profile(approves.shape[1])
        for row, weight in zip(approves, weights.tolist(), strict=True):
            profile.add_voter(preferences.Voter(np.flatnonzero(row).tolist(), weight=weight))
        names = [f"v{i}" for i in range(len(approves))], [f"c{c}" for c in range(approves.shape[1])]
        expected = ExpectedRewards(np.full(approves.shape, 0.5), stakeholders=names[0], actions=names[1])
        world = Candidates(expected, weights=weights)
        for k in (2, 3, approves.shape[1] - 1):
            ours = rules.create(name).elect(approves[:, :, None], world, k)
            every = abcrules.compute(
                theirs, profile, k, resolute=False, algorithm="standard-fractions", max_num_of_committees=200
            )
            assert set(ours.items[0].tolist()) in [set(each) for each in every], (file, k)
            assert ours.tied[0] or len(every) == 1, (file, k)
