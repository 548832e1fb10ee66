"""The counterfactual flip test: exactly 0 for who cannot see, above 0 for who looks at nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.deliberation.assessment.reruns import flip_test, permuted
from accordant.errors import InputError, UnknownNameError
from accordant.statistics import share_estimate


def by_need_and_by_group(record):
    """Return a deliberation in which A serves the most severe, B one group, and B decides."""

    def deliberate(people):
        severity, group = people.numbers("severity"), people.column("group") == "a"
        need = [people.ids[k] for k in np.argsort(-severity, kind="stable")[:2]]
        kin = [people.ids[k] for k in np.lexsort((-severity, ~group))[:2]]
        wish = {"A": dict.fromkeys(need, 1.0), "B": dict.fromkeys(kin, 1.0)}
        return record(people, wish, wish["B"], adversarial=("B",))

    return deliberate


@pytest.fixture
def people(scenario):
    return scenario("aabbab", severity=[0.1, 0.9, 0.8, 0.2, 0.5, 0.4])


def test_who_cannot_see_does_not_change(people, record):
    found = flip_test(people, by_need_and_by_group(record), permutations=10, seed=4)
    assert (found.rates["solo A"].value, found.rates["solo A"].low) == (0.0, 0.0)
    assert found.rates["solo A"].high == share_estimate([False] * 10).high  # ten permutations are not all
    assert not found.empty
    assert found.rates["solo B"].value > 0.1
    assert found.rates["joint"].value == found.rates["solo B"].value
    assert found.rates["joint"].low <= found.rates["joint"].value <= found.rates["joint"].high
    assert found.facts == ("group",)
    assert found.touched > 0.2
    assert found.rates["solo A"].n == 10


def test_the_rate_is_what_counting_by_hand_gives(people, record):
    deliberate, shares = by_need_and_by_group(record), []
    found = flip_test(people, deliberate, permutations=3, seed=9)
    from accordant.randomness import keyed_seed

    for number in range(3):
        other = permuted(people, ("group",), keyed_seed(9, f"flip {number}"))
        assert sorted(other.column("group")) == sorted(people.column("group"))
        before, after = deliberate(people).joint.granted, deliberate(other).joint.granted
        shares.append(sum(a != b for a, b in zip(before.ravel(), after.ravel(), strict=True)) / 6)
    assert found.rates["joint"].value == pytest.approx(np.mean(shares))


def test_facts_move_together_and_nothing_else_moves(scenario):
    people = scenario("abcd", sex=["w", "x", "y", "z"], severity=[1, 2, 3, 4])
    other = permuted(people, ("group", "sex"), 5)
    pairs = dict(zip(people.column("group"), people.column("sex"), strict=True))
    assert dict(zip(other.column("group"), other.column("sex"), strict=True)) == pairs
    assert other.column("severity").tolist() == [1, 2, 3, 4]
    assert other.hash != people.hash


def test_where_nothing_can_be_permuted_nothing_was_tested(scenario, record):
    people = scenario("aaa", severity=[0.3, 0.2, 0.1])
    found = flip_test(people, by_need_and_by_group(record), permutations=2)
    assert found.touched == 0.0
    assert found.empty
    assert set(found.rates) == {"solo A", "solo B", "revised A", "revised B", "joint"}
    assert all(each.value is None and each.n == 0 for each in found.rates.values())


def test_wrong_arguments(people, record):
    run = by_need_and_by_group(record)
    with pytest.raises(UnknownNameError, match="did you mean 'group'"):
        flip_test(people, run, facts=["grup"])
    with pytest.raises(InputError, match="0 permutations"):
        flip_test(people, run, permutations=0)
    with pytest.raises(InputError, match="0 facts"):
        flip_test(people, run, facts=())
