"""Radii over coalitions: shares, quantiles, and how many must collude."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.certificates import radius, reachable, survey
from accordant.errors import InputError

NAMES = ("P", "Q", "R")


@pytest.fixture(scope="module")
def expected():
    values = np.random.default_rng(0).random((3, 3, 80))
    return ac.ExpectedRewards(values, stakeholders=NAMES, actions=["x", "y", "z"])


@pytest.fixture(scope="module")
def found(expected):
    return survey(strategies.utilitarian, expected)


def test_every_coalition_is_surveyed_once_smaller_ones_first(found):
    assert found.coalitions == tuple(c for size in (1, 2, 3) for c in combinations(NAMES, size))
    assert found.exact


def test_certified_shares_are_those_of_reachable_sets(found, expected):
    for delta in (0.01, 0.1, 0.3):
        for k, members in enumerate(found.coalitions):
            alone = reachable(strategies.utilitarian, expected, delta=delta, coalition=members).sum(axis=0) == 1
            assert found.certified(delta)[k] == alone.mean()
    assert (found.certified(0.0) == 1).all()


def test_the_smallest_coalition_is_found_by_trying_all(found):
    for delta in (0.02, 0.1):
        for t in range(0, 80, 7):
            able = [len(c) for c, radii in zip(found.coalitions, found.radii, strict=True) if radii[t] <= delta]
            assert found.smallest_coalition(delta)[t] == min(able, default=0)


def test_larger_coalitions_have_smaller_radii(found):
    for k, members in enumerate(found.coalitions):
        for j, others in enumerate(found.coalitions):
            if set(members) < set(others):
                assert (found.radii[j] <= found.radii[k]).all()


def test_size_can_be_limited_and_everybody_stays(expected):
    limited = survey(strategies.maximin, expected, largest=1)
    assert limited.coalitions == (("P",), ("Q",), ("R",), NAMES)
    assert np.array_equal(limited.of(["R"]), radius(strategies.maximin, expected, coalition=["R"]))
    with pytest.raises(InputError, match="was not surveyed"):
        limited.of(["P", "Q"])


def test_names_and_radii_are_read_as_everywhere(expected, found):
    assert np.array_equal(found.of("P"), found.of(["P"]))
    assert np.array_equal(found.of(None), found.of(NAMES))
    for wrong in (0, -1, 1.5):
        with pytest.raises(InputError, match="largest is"):
            survey(strategies.maximin, expected, largest=wrong)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(InputError, match="delta is"):
            found.certified(wrong)
        with pytest.raises(InputError, match="delta is"):
            found.smallest_coalition(wrong)


def test_too_many_coalitions_are_refused_before_the_work():
    many = ac.ExpectedRewards(np.full((12, 2, 1), 0.5), stakeholders=[f"s{i}" for i in range(12)], actions=["x", "y"])
    with pytest.raises(InputError, match="too many coalitions"):
        survey(strategies.utilitarian, many)
    assert len(survey(strategies.utilitarian, many, largest=1).coalitions) == 13


def test_plain_values_have_no_infinities(expected):
    shown = survey(strategies.create("constant", {"action": "x"}), expected, largest=1).to_json((0.01, 0.1))
    assert shown["coalitions"][0]["never"] == 1.0
    assert shown["coalitions"][0]["quantiles"]["0.5"] == "inf"
    assert shown["coalitions"][0]["certified"] == [1.0, 1.0]
    assert shown["smallest_coalition"] == [{"0": 80}, {"0": 80}]
