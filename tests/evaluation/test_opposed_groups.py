"""Groups of nearly equal size that want opposite things: said where they do, and seldom where they do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.evaluation.opposed_groups import FEWEST, opposed_groups, opposed_remarks
from accordant.utilities import ExpectedRewards

WHO, ACTIONS = ("Bank", "Applicant"), ("Grant", "Lower", "Deny")


def world(seed, *, n=100, share=0.51, apart=0.0, noise=0.1):
    """E of two groups; for the applicant, Grant is worth more than Deny by `apart` to the first, less to the other."""
    generator = np.random.default_rng(seed)
    first = int(round(share * n))
    groups = np.repeat(["south", "north"], [first, n - first])
    values = 0.5 + noise * generator.normal(size=(2, 3, n))
    values[1, 0] += np.where(groups == "south", apart, -apart) / 2
    values[1, 2] -= np.where(groups == "south", apart, -apart) / 2
    return ExpectedRewards(np.clip(values, 0, 1), stakeholders=WHO, actions=ACTIONS), {"branch": groups}


def test_groups_that_want_opposite_things_are_named_with_their_sizes():
    expected, labels = world(0, apart=0.3)
    (found,) = opposed_groups(expected, labels, with_weight=WHO)
    assert (found.stakeholder, found.larger, found.smaller) == ("Applicant", "south", "north")
    assert (found.wanted, found.other, found.share) == ("Grant", "Deny", 0.51)
    south = labels["branch"] == "south"
    difference = expected.values[1, 0] - expected.values[1, 2]
    assert found.gain == pytest.approx(difference[south].mean()) and found.loss == pytest.approx(
        difference[~south].mean()
    )
    assert "51% of the two" in found.sentence() and "Grant rather than Deny" in found.sentence()
    assert opposed_groups(expected, labels, with_weight=("Bank",)) == ()


def test_a_clear_majority_and_few_people_are_passed_over():
    assert opposed_groups(*world(0, apart=0.3, share=0.6), with_weight=WHO) == ()
    assert opposed_groups(*world(0, apart=0.3, n=2 * FEWEST - 2, share=0.5), with_weight=WHO) == ()


def test_contexts_of_one_person_count_once():
    expected, labels = world(1, apart=0.3, n=200)
    persons = np.repeat(np.arange(20), 10)
    assert opposed_groups(expected, labels, with_weight=WHO, clusters=persons) == ()  # 10 persons in each group
    assert opposed_groups(expected, labels, with_weight=WHO)
    one_sided = world(2, noise=0.1, n=80)
    doubled = ExpectedRewards(np.repeat(one_sided[0].values, 9, axis=2), stakeholders=WHO, actions=ACTIONS)
    many = {"branch": np.repeat(one_sided[1]["branch"], 9)}
    clusters = np.repeat(np.arange(80), 9)
    assert opposed_groups(doubled, many, with_weight=WHO, clusters=clusters) == opposed_groups(
        *one_sided, with_weight=WHO
    )


def test_nothing_is_said_in_a_null_world_more_often_than_alpha():
    worlds = 300
    wrong = sum(bool(opposed_groups(*world(seed), with_weight=WHO)) for seed in range(worlds))
    assert wrong / worlds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / worlds)


def test_a_group_that_wants_nothing_in_particular_is_not_opposed():
    wrong = 0
    for seed in range(200):
        expected, labels = world(seed)
        values = expected.values.copy()
        values[1, 0] += np.where(labels["branch"] == "south", 0.2, 0.0)  # the other group is level
        tilted = ExpectedRewards(np.clip(values, 0, 1), stakeholders=WHO, actions=ACTIONS)
        wrong += bool(opposed_groups(tilted, labels, with_weight=WHO))
    assert wrong / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_more_than_three_are_counted():
    expected, labels = world(0, apart=0.3)
    found = opposed_groups(expected, labels, with_weight=WHO) * 5
    assert len(opposed_remarks(found)) == 4 and opposed_remarks(found)[-1].startswith("2 more such differences")
    assert opposed_remarks(()) == ()
