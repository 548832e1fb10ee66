"""Emergence: every number against slow enumeration, and null hypotheses that no call can leave out."""

from __future__ import annotations

import dataclasses
import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations.measures.measure import Criterion
from accordant.allocations.measures.measure import measures
from accordant.allocations.allocation import Options
from accordant.deliberation.assessment.alternatives import Alternatives, alternatives
from accordant.deliberation.assessment.emergence import Emergence, emergence
from accordant.deliberation.repetition import Repeated, repeat
from accordant.errors import InputError


def criterion(name, threshold, label=None, **parameters):
    return Criterion(label or name, measures.create(name, parameters), threshold)


GAP = criterion("access_gap", 0.25, group="group")
NEED = criterion("need_capture", 0.6)
BENEFIT = criterion("benefit_ratio", 0.75)
ALL = (GAP, NEED, BENEFIT)


def ward(scenario, generator, n=6, beds=2, groups="aaabbb"):
    without = generator.uniform(0.05, 0.7, n)
    lift = generator.uniform(0.02, 0.29, n)
    return scenario(
        groups[:n], beds, severity=(1 - without).tolist(), p_without=without.tolist(), p_with=(without + lift).tolist()
    )


def granting(ids, chosen):
    return {ids[place]: 1.0 for place in chosen}


def by_hand(held, criteria):
    """Return which criteria every choice of patients meets, one choice after the other."""
    ids, beds = held.scenario.ids, int(held.scenario.capacity[0])
    found = {}
    for chosen in itertools.combinations(range(len(ids)), beds):
        shares = np.array([[float(place in chosen) for place in range(len(ids))]])
        found[chosen] = {
            each.label
            for each in criteria
            if each.measure.meets(each.measure.of(held.scenario, shares), each.threshold)[0]
        }
    return found


def random_record(record, scenario, seed):
    generator = np.random.default_rng(seed)
    people = ward(scenario, generator)
    choices = [tuple(sorted(generator.choice(6, 2, replace=False).tolist())) for _ in range(3)]
    values = {name: generator.random(6).round(2).tolist() for name in "AB"}
    held = record(
        people, {"A": granting(people.ids, choices[0]), "B": granting(people.ids, choices[1])},
        granting(people.ids, choices[2]), values=values,
    )  # fmt: skip
    return held, choices, values


@pytest.mark.parametrize("seed", range(12))
def test_all_of_it_against_enumeration(record, scenario, seed):
    held, (a, b, joint), values = random_record(record, scenario, seed)
    met, found = by_hand(held, ALL), emergence(held, ALL)
    assert set(found.joint) == met[joint]
    assert {name: set(each) for name, each in found.solo.items()} == {"A": met[a], "B": met[b]}
    best = max(len(met[a]), len(met[b]))
    assert found.difference == len(met[joint]) - best
    assert (found.gain, found.loss) == (max(0, found.difference), max(0, -found.difference))
    assert found.better_solo == ("A" if len(met[a]) >= len(met[b]) else "B")
    assert set(found.lost) == met[a if found.better_solo == "A" else b] - met[joint]
    assert found.strict == (len(met[joint]) == 3 and best < 3)
    assert found.novel_set == (not met[joint] <= met[a] and not met[joint] <= met[b])
    for null, search in zip(found.random, found.search, strict=True):
        kept = [
            met[each] for each in met
            if sum(values[null.agent][k] for k in each) >= sum(values[null.agent][k] for k in joint) - 1e-9
        ]  # fmt: skip
        assert null.eligible == len(kept)
        assert null.all_met == pytest.approx(np.mean([len(each) == 3 for each in kept]))
        assert null.mean_met == pytest.approx(np.mean([len(each) for each in kept]))
        assert null.exact
        assert search.agent == null.agent
        assert search.most_met == max(map(len, kept))
        assert search.all_met == any(len(each) == 3 for each in kept)
    assert [null.agent for null in found.random] == ["A", "B"]
    assert found.possible == any(len(each) == 3 for each in met.values())


@pytest.mark.long
@given(seed=st.integers(0, 10_000), limit=st.sampled_from([1, 50_000]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_one_agent_that_searches_is_never_below_the_joint_decision(record, scenario, seed, limit):
    held, _, _ = random_record(record, scenario, seed)
    found = emergence(held, ALL, among=alternatives(held, limit=limit, drawn=20, size=8))
    for search in found.search:
        assert search.most_met >= len(found.joint)
        assert search.exact == (limit > 1)
        assert not search.all_met or found.possible
    assert not (found.strict and found.loss)
    assert found.loss == 0 or found.lost
    assert found.gain * found.loss == 0


@pytest.mark.parametrize("result", [Emergence, Repeated])
def test_there_is_no_result_without_null_hypotheses(result):
    required = {field.name for field in dataclasses.fields(result) if field.default is dataclasses.MISSING}
    assert {"random", "search", "possible"} <= required
    for function in (emergence, repeat):  # and no argument that switches them off
        assert not [
            name
            for name, each in inspect.signature(function).parameters.items()
            if "null" in name or each.default is True
        ]


@pytest.mark.parametrize("null", ["random", "search"])
def test_empty_or_partial_null_hypotheses_are_refused(record, scenario, null):
    held, _, _ = random_record(record, scenario, 0)
    found = emergence(held, ALL)
    assert len(getattr(found, null)) == 2
    for fewer in ((), getattr(found, null)[:1]):
        with pytest.raises(InputError, match=f"{len(fewer)} null hypotheses for 2 agents"):
            dataclasses.replace(found, **{null: fewer})


@pytest.mark.parametrize("limit", [1, 50_000])
def test_null_hypotheses_are_defined_whether_or_not_allocations_are_listed(record, scenario, limit):
    for seed in range(4):
        held, _, _ = random_record(record, scenario, seed)
        among = alternatives(held, limit=limit, drawn=40, size=8)
        found = emergence(held, ALL, among=among)
        for null in found.random:
            assert 0 <= null.all_met <= 1
            assert 0 <= null.mean_met <= 3
            assert null.exact == (limit > 1)
            assert null.eligible == 40 if limit == 1 else null.eligible >= 1


@pytest.mark.parametrize("seed", range(4))
def test_walks_come_near_the_exact_null(record, scenario, seed):
    held, _, _ = random_record(record, scenario, seed)
    exact = emergence(held, ALL)
    drawn = emergence(held, ALL, among=alternatives(held, limit=1, drawn=2000, size=8))
    for left, right in zip(exact.random, drawn.random, strict=True):
        assert right.mean_met == pytest.approx(left.mean_met, abs=0.06)
        assert right.all_met == pytest.approx(left.all_met, abs=0.04)
    assert [each.most_met for each in drawn.search] == [each.most_met for each in exact.search]  # 15 are found at once


@pytest.mark.long
def test_one_agent_that_searches_has_what_the_search_found_and_what_walks_met(record, scenario):
    for seed in range(6):
        held, _, _ = random_record(record, scenario, seed)
        exact = [each.most_met for each in emergence(held, ALL).search]
        for drawn, size in ((1, 30), (2000, 1)):
            found = emergence(held, ALL, among=alternatives(held, limit=1, drawn=drawn, size=size))
            assert [each.most_met for each in found.search] == exact


def test_what_is_searched_depends_on_the_seed_and_holds_what_is_on_record(record, scenario):
    people = ward(scenario, np.random.default_rng(0), 8, 4, "aaaabbbb")
    wishes = {"A": granting(people.ids, (0, 1, 2, 3)), "B": granting(people.ids, (4, 5, 6, 7))}
    held = [record(people, wishes, granting(people.ids, (0, 2, 4, 6)), seed=seed) for seed in (1, 1, 2)]
    found = [alternatives(each, limit=1, drawn=50, size=12) for each in held]
    assert np.array_equal(found[0].options.granted, found[1].options.granted)
    assert not np.array_equal(found[0].options.granted, found[2].options.granted)
    for name in "AB":
        assert np.array_equal(found[0].random[name], found[1].random[name])
        assert not np.array_equal(found[0].random[name], found[2].random[name])
    for sample, each in zip(found, held, strict=True):
        assert not sample.options.complete
        for wish in (each.joint, each.solo["A"].allocation, each.solo["B"].allocation):
            assert sample.options.position(wish) is not None


def test_what_is_not_defined_is_not_met_and_is_named(record, scenario):
    people = ward(scenario, np.random.default_rng(1), 4, 1, "aaaa")
    wish = granting(people.ids, (0,))
    found = emergence(record(people, {"A": wish}, wish), (GAP,))
    assert found.joint == ()
    assert found.undefined == {"A": (GAP.label,), "joint": (GAP.label,)}
    assert not found.strict
    assert found.search[0].most_met == 0
    assert not found.possible


def test_what_one_agent_alone_meets_has_not_emerged(record, scenario):
    people = ward(scenario, np.random.default_rng(4))
    some = record(people, {"A": granting(people.ids, (0, 1))}, granting(people.ids, (0, 1)))
    pair = (GAP, BENEFIT)
    met = by_hand(some, pair)
    good = next(each for each in met if len(met[each]) == 2)
    bad, worse = [each for each in met if met[each] == {GAP.label}][:2]
    for a, b, strict in ((good, bad, False), (bad, good, False), (bad, worse, True)):
        wishes = {"A": granting(people.ids, a), "B": granting(people.ids, b)}
        found = emergence(record(people, wishes, granting(people.ids, good)), pair)
        assert found.strict == strict == found.novel_set
        assert (found.gain > 0) == strict


def test_one_agent_that_gets_its_way_shows_nothing(record, scenario):
    people = ward(scenario, np.random.default_rng(2), 4, 2, "aabb")
    wish = granting(people.ids, (0, 3))
    found = emergence(record(people, {"A": wish}, wish), ALL)
    assert not found.strict
    assert not found.novel_set
    assert found.difference == 0


@pytest.mark.parametrize("beds", [0, 9])
def test_nothing_to_give_and_more_than_enough(record, scenario, beds):
    people = ward(scenario, np.random.default_rng(2), 4, beds, "aabb")
    wish = dict.fromkeys(people.ids, 1.0) if beds else {}
    found = emergence(record(people, {"A": wish, "B": wish}, wish), (GAP,))
    assert found.joint == (GAP.label,)
    assert [null.eligible for null in found.random] == [1, 1]
    assert [null.all_met for null in found.random] == [1.0, 1.0]


def test_wrong_criteria_and_alternatives(record, scenario):
    held, _, _ = random_record(record, scenario, 0)
    with pytest.raises(InputError, match="at least one"):
        emergence(held, ())
    with pytest.raises(InputError, match="own label"):
        emergence(held, (GAP, GAP))
    options = alternatives(held).options
    without = Options(held.scenario, np.delete(options.granted, options.position(held.joint), axis=0), complete=False)
    with pytest.raises(InputError, match="is not among"):
        emergence(held, ALL, among=Alternatives(without, alternatives(held).random))


def test_gain_and_loss_are_the_two_sides_of_the_difference(record, scenario):
    found = [emergence(random_record(record, scenario, seed)[0], ALL) for seed in range(8)]
    assert all(each.gain - each.loss == each.difference and min(each.gain, each.loss) == 0 for each in found)
    assert any(each.gain for each in found) or any(each.loss for each in found)
