"""Real elections (PrefLib 00002, 00007, 00024, 00025, 00028): counts, and orders with ties against strict ones."""

from __future__ import annotations

from collections import Counter

import pytest

from accordant.voting import read_preflib

STRICT_AND_COMPLETED = [("00002_debian", 8), ("00007_ers", 87), ("00028_apa", 12)]
COMPLETE = [("00024_dots", 4), ("00025_puzzle", 4)]


def files(folder, number, suffix):
    return [f"elections/{folder}/{folder[:5]}-{n:08}.{suffix}" for n in range(1, number + 1)]


def counted(profile):
    """Ballots with how often each was handed in."""
    ballots = Counter()
    for ballot, weight in zip(profile.ranks[:, :, 0].tolist(), profile.weights, strict=True):
        ballots[tuple(ballot)] += weight
    return ballots


@pytest.mark.few(1)
@pytest.mark.parametrize("folder,number", STRICT_AND_COMPLETED)
def test_completed_files_equal_strict_ones(folder, number, real_data):
    """Every .toc is its .soi with the unranked at the bottom; each reading checks counts against NUMBER VOTERS."""
    for strict, completed in zip(files(folder, number, "soi"), files(folder, number, "toc"), strict=True):
        left, right = read_preflib(real_data(strict)), read_preflib(real_data(completed))
        assert left.alternatives == right.alternatives
        assert counted(left) == counted(right), strict


@pytest.mark.parametrize("folder,number", COMPLETE)
def test_complete_files(folder, number, real_data):
    for file in files(folder, number, "soc"):
        profile = read_preflib(real_data(file))
        assert profile.ranks.shape[1:] == (4, 1)
        assert 793 <= profile.weights.sum() <= 800


def test_sizes(real_data):
    sizes = {folder: [(len(p.alternatives), p.weights.sum()) for p in
                      (read_preflib(real_data(file)) for file in files(folder, number, "soi"))]
             for folder, number in STRICT_AND_COMPLETED}  # fmt: skip
    extremes = {
        folder: (min(m), max(m), min(n), max(n))
        for folder, found in sizes.items()
        for m, n in [zip(*found, strict=True)]
    }
    assert extremes["00002_debian"] == (4, 9, 143, 504)
    assert extremes["00007_ers"] == (3, 29, 9, 3419)
    assert extremes["00028_apa"] == (5, 5, 13_318, 20_239)
