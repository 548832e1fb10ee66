"""Majority values with weights that are no whole numbers, against medians that are taken out one by one."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.voting.rules.graded import median_levels, places_of_majority_values


def majority_value(levels, quarters):
    """Return the lower medians of grades, each of which is there so many times, one after the other."""
    votes = sorted(np.repeat(levels, quarters).tolist())
    return [votes.pop((len(votes) - 1) // 2) for _ in range(len(votes))]


@pytest.mark.parametrize("n_levels", [2, 3, 5])
def test_places_are_those_of_medians_taken_out_one_by_one(n_levels):
    generator, level = np.random.default_rng(n_levels), 0
    for _ in range(40):
        n_voters = int(generator.integers(1, 6))
        quarters = generator.integers(1, 5, n_voters)  # weights of a quarter to one
        levels = generator.integers(0, n_levels, (n_voters, 3, 2))
        up_to = np.array(
            [((levels <= each) * (quarters / 4)[:, None, None]).sum(axis=0) for each in range(n_levels - 1)]
        )
        scores = np.zeros((3, 2))
        places_of_majority_values.python(up_to, quarters.sum() / 8, scores)
        for t in range(2):
            values = [majority_value(levels[:, a, t], quarters) for a in range(3)]
            assert scores[:, t].tolist() == [-sum(other > value for other in values) for value in values]
            medians = median_levels(up_to, quarters.sum() / 8)[:, t]
            assert medians.tolist() == [value[0] for value in values]
            level += len({value[0] for value in values}) < 3
    assert level > 10
