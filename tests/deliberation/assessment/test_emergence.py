"""Emergence: every number against slow enumeration, and null hypotheses that no call can leave out."""

from __future__ import annotations

import dataclasses
import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations.criteria import Criterion
from accordant.allocations.measures.measure import measures
from accordant.deliberation.assessment.alternatives import alternatives, position
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


@given(seed=st.integers(0, 10_000), limit=st.sampled_from([1, 50_000]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_one_agent_that_searches_is_never_below_the_joint_decision(record, scenario, seed, limit):
    held, _, _ = random_record(record, scenario, seed)
    found = emergence(held, ALL, among=alternatives(held, limit=limit, drawn=20))
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


def test_a_sample_comes_near_the_exact_null(record, scenario):
    held, _, _ = random_record(record, scenario, 3)
    exact = emergence(held, ALL).random
    drawn = emergence(held, ALL, among=alternatives(held, limit=1, drawn=3000)).random
    for left, right in zip(exact, drawn, strict=True):
        assert not right.exact
        assert right.eligible > left.eligible
        assert right.mean_met == pytest.approx(left.mean_met, abs=0.1)


def test_a_sample_depends_on_the_seed_and_holds_what_is_on_record(record, scenario):
    people = ward(scenario, np.random.default_rng(0), 6, 3)
    wishes = {"A": granting(people.ids, (0, 1, 2)), "B": granting(people.ids, (3, 4, 5))}
    held = [record(people, wishes, granting(people.ids, (0, 2, 4)), seed=seed) for seed in (1, 1, 2)]
    samples = [alternatives(each, limit=1, drawn=6) for each in held]
    assert np.array_equal(samples[0].options.granted, samples[1].options.granted)
    assert not np.array_equal(samples[0].options.granted, samples[2].options.granted)
    for sample, each in zip(samples, held, strict=True):
        assert len(sample.drawn) == 6
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
    other, _, _ = random_record(record, scenario, 6)
    with pytest.raises(InputError, match="at least one"):
        emergence(held, ())
    with pytest.raises(InputError, match="own label"):
        emergence(held, (GAP, GAP))
    sampled = alternatives(other, limit=1, drawn=1)
    assert sampled.options.position(held.joint) is None
    with pytest.raises(InputError, match="is not among"):
        position(sampled.options, held.joint)


def test_json(record, scenario):
    held, _, _ = random_record(record, scenario, 0)
    written = emergence(held, ALL).to_json()
    assert written["gain"] - written["loss"] == written["difference"]
    assert {each["agent"] for each in written["random"]} == {"A", "B"}
    assert written["search"][0]["exact"]
