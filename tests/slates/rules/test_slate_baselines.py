"""Baselines: the ideal list of one stakeholder, and a draw that is uniform and does not depend on blocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.candidates import gains_of
from accordant.slates.rules.baselines import RandomSlate
from accordant.slates.rules.baselines import StakeholderSlate
from accordant.slates.slates import State
from accordant.utilities import ExpectedRewards


def candidates(values, available=None, weights=None):
    values = np.asarray(values)
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    return Candidates(ExpectedRewards(values, stakeholders=names[0], actions=names[1]), available, weights)


def test_list_of_one_stakeholder_is_its_ideal_one():
    generator = np.random.default_rng(0)
    given = candidates(generator.random((3, 8, 40)), generator.random((8, 40)) < 0.6, [1, 1, 0])
    for i, name in enumerate(given.stakeholders):
        rule = StakeholderSlate(name)
        found = rule(given, 3)
        gains = gains_of(found, given)
        shown = found.lengths > 0
        np.testing.assert_allclose(gains.utilities[i, shown], gains.ideal[i, shown])
        assert rule.label == f"stakeholder:{name}"
        values = given.values[i, found.items[:, :2], np.arange(40)[:, None]]
        assert (values[:, 0] >= values[:, 1])[found.lengths >= 2].all()
    with pytest.raises(UnknownNameError, match="did you mean 's1'"):
        StakeholderSlate("s11")(given, 3)


def test_ties_of_one_stakeholder_go_to_the_others():
    given = candidates(np.array([[0.5, 0.5, 0.2, 0.5], [0.1, 0.9, 1.0, 0.9]])[:, :, None])
    found = StakeholderSlate("s0")(given, 3)
    assert found.names(0) == ("c1", "c3", "c0")
    assert found.tied[0]
    muted = candidates(given.values, weights=[1, 0])
    assert StakeholderSlate("s0")(muted, 3).names(0) == ("c0", "c1", "c3")


def test_every_list_is_drawn_equally_often():
    n_users = 6000
    found = RandomSlate()(candidates(np.zeros((1, 5, n_users)), [True, True, True, False, True]), 2)
    lists = Counter(map(tuple, found.items.tolist()))
    wanted = {order for pair in combinations((0, 1, 2, 4), 2) for order in (pair, pair[::-1])}
    assert set(lists) == wanted
    expected = n_users / len(wanted)
    chi_square = sum((count - expected) ** 2 / expected for count in lists.values())
    assert chi_square < 31.3  # exceeded once in 2,000 times with 11 degrees of freedom
    assert not found.tied.any()


def test_draws_depend_on_seed_position_and_past_alone(monkeypatch):
    monkeypatch.setattr("accordant.slates.candidates.BLOCK_SIZE", 1 << 18)
    values = np.random.default_rng(1).random((4, 500, 300))
    given = candidates(values)
    assert len(given.slices()) > 2
    whole = RandomSlate(3)(given, 5)
    fewer = RandomSlate(3)(given.take(slice(0, 7)), 5)
    assert (whole.items[:7] == fewer.items).all()
    assert (RandomSlate(3)(candidates(values[:1] * 0), 5, threads=1).items == whole.items).all()
    assert (RandomSlate(4)(given, 5).items != whole.items).any()
    assert len({tuple(each) for each in whole.items.tolist()}) == 300
    state = State.start(500, 4, 5)
    first = RandomSlate(3)(given, 5, state=state)
    assert (RandomSlate(3)(given, 5, state=state).items == first.items).all()
    after = replace(state, served=300)
    assert (RandomSlate(3)(given, 5, state=after).items != first.items).any(axis=1).all()
    assert (
        RandomSlate(3)(given, 5, state=replace(after, day=1)).items == RandomSlate(3)(given, 5, state=after).items
    ).all()
    assert (first.items == whole.items).all()


def test_edges():
    closed = candidates(np.ones((2, 3, 2)), [[False, True], [False, False], [False, True]])
    found = RandomSlate()(closed, 3)
    assert found.items[0].tolist() == [-1, -1, -1]
    assert sorted(found.items[1].tolist()) == [-1, 0, 2]
    assert found.items[1, 2] == -1
    assert RandomSlate()(candidates(np.empty((2, 3, 0))), 2).items.shape == (0, 2)
    with pytest.raises(InputError, match="places"):
        RandomSlate()(closed, 0)
    assert RandomSlate().label == "random_slate"
    assert RandomSlate(2).label == "random_slate[seed=2]"
