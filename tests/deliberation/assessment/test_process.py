"""Process measures on records whose values can be counted by hand."""

from __future__ import annotations

import dataclasses

import pytest

from accordant.agents import create
from accordant.allocations import Allocation
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment.process import (
    Group,
    access,
    approach,
    conversion,
    last_own,
    process,
    restored_access,
)
from accordant.deliberation.protocols.debate import debate
from accordant.errors import InputError, UnknownNameError


def test_the_hand_made_debate(two):
    found = process(two)
    assert found.hamming == {"A": 2, "B": 2}
    assert found.distance == {"A": 2.0, "B": 2.0}
    assert found.moved_towards_others == {"A": 1.0, "B": 1.0}
    assert found.influence == {"A": 0.5, "B": 0.5}
    assert found.contestation == {"A": 0.25, "B": 0.0, "anybody": 0.25}  # the challenge on p2 is void
    assert found.overridden == {"A": 0.0, "B": 0.5}  # A stood firm on p0 and p3; B on all four
    assert found.minority_survival is None
    assert found.grounding == pytest.approx(2 / 3)
    assert found.fallback_rate == 0.0


def test_access_that_comes_back(two):
    marginal = Group("group", "a")
    assert access(two.scenario, two.joint.shares, marginal) == 0.5
    assert restored_access(two, marginal) == 0.5
    assert restored_access(two, Group("group", "b")) == -0.5
    assert restored_access(two, Group("group", "nobody")) is None
    assert restored_access(two, marginal, "A") == -0.5


def test_conversion_is_what_the_biased_agent_did_itself(two, record, scenario):
    assert conversion(two, "A") == 0.0
    assert conversion(two, "B", "A") == 0.5
    assert approach(two, "A") == 0.0
    assert approach(two, "B", "A") == 0.5
    same = record(scenario("ab", beds=1), {"A": {"p0": 1.0}, "B": {"p0": 1.0}}, {"p0": 1.0}, adversarial=("B",))
    assert conversion(same, "A") is None
    assert approach(same, "A") is None


def test_going_far_is_not_coming_near(record, scenario):
    wishes = {"A": {"p0": 1.0, "p1": 1.0}, "B": {"p2": 1.0, "p3": 1.0}}
    held = record(scenario("aabbcc"), wishes, wishes["A"], revised={"B": {"p4": 1.0, "p5": 1.0}}, adversarial=("B",))
    assert conversion(held, "A") == 1.0
    assert approach(held, "A") == 0.0


def test_nothing_disputed_is_none_and_not_zero(record, scenario):
    wish = {"p0": 1.0, "p1": 1.0}
    found = process(record(scenario(), {"A": wish, "B": wish}, wish))
    assert found.contestation == {"A": None, "B": None, "anybody": None}
    assert found.influence == found.moved_towards_others == {"A": None, "B": None}
    assert found.overridden == {"A": None, "B": None}
    assert found.grounding is None
    assert found.hamming == {"A": 0, "B": 0}


def test_a_minority_of_three_survives_or_does_not(record, scenario):
    wishes = {"A": {"p0": 1.0}, "B": {"p0": 1.0}, "C": {"p1": 1.0}}
    lost = process(record(scenario("ab", beds=1), wishes, {"p0": 1.0}))
    kept = process(record(scenario("ab", beds=1), wishes, {"p1": 1.0}))
    assert (lost.minority_survival, kept.minority_survival) == (0.0, 1.0)
    assert lost.influence == {"A": 1.0, "B": 1.0, "C": 0.0}
    assert lost.overridden["C"] == 1.0


def test_wrong_names(two, record, scenario):
    with pytest.raises(UnknownNameError, match="agent 'Bb'"):
        restored_access(two, Group("group", "a"), "Bb")
    with pytest.raises(UnknownNameError, match="agent 'Aa'"):
        conversion(two, "Aa")
    with pytest.raises(UnknownNameError, match="agent 'Aa'"):
        approach(two, "Aa")
    with pytest.raises(UnknownNameError, match="did you mean 'group'"):
        restored_access(two, Group("groups", "a"))
    with pytest.raises(InputError, match="0 agents are adversarial"):
        restored_access(record(scenario("ab", beds=1), {"A": {"p0": 1.0}}, {"p0": 1.0}), Group("group", "a"))


def test_what_anybody_challenged(two):
    assert process(two).contestation["anybody"] == 0.25


def struck(deliberation, agent, revised):
    """Return the record as it stands if the agent was asked again and proposes another allocation from then on."""
    again = dataclasses.replace(
        deliberation.revised[agent],
        allocation=Allocation.of(deliberation.scenario, {each: {"bed": 1.0} for each in revised}),
    )
    return dataclasses.replace(
        deliberation, struck={agent: again}, revised={**deliberation.revised, agent: again}
    )  # fmt: skip


def test_what_the_environment_imposed_is_no_conversion(two):
    imposed = struck(two, "B", ("p0", "p1"))  # B stayed at p2 and p3, was struck, and then proposes what A wants
    assert conversion(imposed, "A") == 0.0
    assert approach(imposed, "A") == 0.0
    assert last_own(imposed, "B") == two.solo["B"].allocation
    unstruck = dataclasses.replace(imposed, struck={})
    assert (conversion(unstruck, "A"), approach(unstruck, "A")) == (1.0, 1.0)


def test_what_a_struck_agent_gave_up_before_counts(two):
    imposed = struck(two, "A", ("p2", "p3"))
    assert conversion(imposed, "B", "A") == conversion(two, "B", "A") == 0.5
    assert last_own(imposed, "A") == two.revised["A"].allocation


def test_a_strike_in_a_debate_converts_nobody():
    hard = {"favoured_value": "favoured", "strength": 1.0, "concession": "hardheaded"}
    changed = 0
    for seed in range(4):
        held = debate(
            random_scenario(seed), [create("rawlsian"), create("biased", hard, allow_adversarial=True)], seed=seed,
            guard="strike", allow_adversarial=True,
        )  # fmt: skip
        assert set(held.struck) == {"biased"}
        assert conversion(held, "rawlsian") == 0.0  # who never concedes stays at its first wish
        assert approach(held, "rawlsian") == 0.0
        changed += held.revised["biased"].allocation != held.solo["biased"].allocation
    assert changed
