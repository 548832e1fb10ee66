"""Rules: places, labels, and every registered rule on the smallest of inputs."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.rule import check_places, rules
from accordant.slates.slates import NOTHING

NEEDS = {
    "floored": {"rule": {"name": "utilitarian_slate"}, "floors": {}},
    "per_item": {"strategy": {"name": "utilitarian"}},
    "stakeholder_slate": {"stakeholder": "guest"},
}


def built_in():
    return [name for name in rules if rules.factory(name).__module__.startswith("accordant.")]


def make(name):
    return rules.create(name, NEEDS.get(name, {}))


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "3", None, np.float64(2)])
def test_places_are_whole_numbers(make_candidates, k):
    with pytest.raises(InputError, match="allowed: a whole number of at least 1"):
        check_places(k)
    with pytest.raises(InputError, match="a slate has"):
        make("utilitarian_slate")(make_candidates(np.ones((1, 2, 1))), k)


def test_places_of_numpy_are_places():
    check_places(np.int64(3))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", built_in())
def test_every_rule_fills_what_can_be_filled(make_candidates, name):
    """k of more than there is, an item that nobody may see, a user who may see nothing, nobody at all."""
    draw = np.random.default_rng(0)
    mask = draw.random((4, 6)) < 0.7
    mask[2], mask[:, 3] = False, False
    given = make_candidates(draw.random((2, 4, 6)), mask, [1, 2], [0, 1, 0, -1], "guest")
    found = make(name)(given, 6)
    assert found.items.shape == (6, 6) and found.lengths[3] == 0 and not found.tied[3]
    for user in range(6):
        there = found.items[user][: found.lengths[user]].tolist()
        assert NOTHING not in there and (found.items[user][found.lengths[user] :] == NOTHING).all()
        assert len(set(there)) == len(there) and mask[there, user].all()
        if "withheld" not in found.flags:
            assert set(there) == set(np.flatnonzero(mask[:, user]).tolist())
    nobody = make(name)(given.take(slice(0, 0)), 3)
    assert nobody.items.shape == (0, 3) and nobody.rule == found.rule


@pytest.mark.parametrize("name", built_in())
def test_a_rule_is_its_name_and_parameters(name):
    rule = make(name)
    assert rule.name == name and rules.create(name, rule.parameters) == rule
    assert rule.label and rule.label == make(name).label


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [name for name in built_in() if name != "random_slate"])
def test_constant_scores_are_ties_in_declared_order(make_candidates, name):
    found = make(name)(make_candidates(np.full((2, 4, 1), 0.5), categories=[0, 0, 0, 0], user="guest"), 2)
    assert found.items.tolist() == [[0, 1]] and found.tied.all()
