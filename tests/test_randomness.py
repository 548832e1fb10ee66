"""One tree of generators: branches repeat and do not disturb each other."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from accordant import randomness

BRANCHES = get_args(randomness.Branch)
FROZEN = {"subset": [497, 916, 581], "models": 2051178992}


def test_every_branch_is_usable_and_different():
    numbers = [randomness.generator(0, branch).random(4).tolist() for branch in BRANCHES]
    assert len({tuple(each) for each in numbers}) == len(BRANCHES)


@pytest.mark.parametrize("branch", BRANCHES)
def test_same_seed_same_numbers(branch):
    first, second, other = (randomness.generator(seed, branch).random(8) for seed in (5, 5, 6))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_drawing_more_in_one_branch_changes_nothing_in_another():
    before = randomness.generator(1, "folds").permutation(20)
    randomness.generator(1, "elicitation").random(10_000)
    np.random.default_rng(1).random(10)
    assert np.array_equal(before, randomness.generator(1, "folds").permutation(20))


def test_numbers_are_the_same_in_every_release():
    """Frozen: runs recorded with one release must repeat with the next."""
    assert randomness.generator(42, "subset").integers(1000, size=3).tolist() == FROZEN["subset"]
    assert randomness.model_seed(42) == FROZEN["models"]


def test_model_seed_fits_scikit_learn():
    for seed in (0, 42, 2**40):
        assert 0 <= randomness.model_seed(seed) < 2**31
    assert randomness.model_seed(0) != randomness.model_seed(1)


def test_an_unknown_branch_is_an_error():
    with pytest.raises(ValueError):
        randomness.generator(0, "nowhere")
