"""Verdicts: only for a card, only by its criteria, and never the word "fair"."""

from __future__ import annotations

import pytest

from accordant.allocations import Allocation
from accordant.deliberation.assessment.verdict import JudgedCriterion, verdict
from accordant.errors import InputError, UnknownNameError
from accordant.scope import Criterion, ScopeCard


def card(*criteria):
    return ScopeCard(id="beds", version="3", title="Beds", decision="Who gets a bed", criteria=criteria)


@pytest.fixture
def held(record, scenario):
    people = scenario("aabb", severity=[0.9, 0.8, 0.4, 0.3], p_without=[0.1] * 4, p_with=[0.5] * 4, acuity=[1, 4, 5, 5])
    wish = {"A": {"p0": 1.0, "p1": 1.0}, "B": {"p2": 1.0, "p3": 1.0}}
    return record(people, wish, {"p0": 1.0, "p2": 1.0}, adversarial=("B",))


def test_each_criterion_stands_where_it_stands(held):
    declared = card(
        Criterion(metric="access_gap", threshold=0.25, params={"group": "group"}, chosen_by="ward council"),
        Criterion(metric="need_capture", threshold=0.6),
        Criterion(metric="equal_opportunity_gap", threshold=0.34, params={"group": "group"}),  # no urgent patient in b
        Criterion(metric="benefit_ratio"),
    )
    found = verdict(held, declared)
    assert [each.standing for each in found.criteria] == ["met", "not met", "not defined", "no threshold"]
    assert [each.value for each in found.criteria] == [0.0, 0.5, None, 1.0]
    assert found.criteria[0].chosen_by == "ward council"
    assert found.counts == {"met": 1, "not met": 1, "not defined": 1, "no threshold": 1}
    assert found.card_hash == declared.hash
    assert found.deliberation_hash == held.hash
    assert found.heading == "for card beds, version 3"
    assert found.text.startswith(
        "for card beds, version 3: of 4 criteria 1 met, 1 not met, 1 not defined, 1 no threshold"
    )
    assert "adversarial agents took part: B" in found.text
    assert "fair" not in found.text


def test_another_allocation_is_judged_by_its_own(held):
    gap = card(Criterion(metric="access_gap", threshold=0.25, params={"group": "group"}))
    alone = verdict(held, gap, allocation=held.solo["A"].allocation, called="solo A")
    assert alone.criteria[0].standing == "not met"
    assert alone.allocation == "solo A"
    everybody = Allocation.of(held.scenario, {"p1": {"bed": 1.0}, "p3": {"bed": 1.0}})
    assert verdict(held, gap, allocation=everybody, called="another").criteria[0].standing == "met"


def test_a_card_without_criteria_or_with_unknown_ones_gives_no_verdict(held):
    with pytest.raises(InputError, match="declares no criteria"):
        verdict(held, card())
    with pytest.raises(UnknownNameError, match="did you mean 'need_capture'"):
        verdict(held, card(Criterion(metric="need_captured", threshold=0.5)))


def test_a_criterion_is_said_with_its_value_and_who_chose_it(held):
    found = verdict(held, card(Criterion(metric="need_capture", threshold=0.6, chosen_by="council")))
    assert found.criteria == (JudgedCriterion("need_capture", {}, 0.5, 0.6, "not met", "council"),)
    assert found.counts == {"met": 0, "not met": 1, "not defined": 0, "no threshold": 0}


def test_every_criterion_is_judged_as_every_other_card_is(held):
    """With the slack for rounding that `accordant.scope.judge` allows."""
    for threshold, standing in ((0.5, "met"), (0.5 + 1e-10, "met"), (0.5 + 1e-8, "not met")):
        found = verdict(held, card(Criterion(metric="need_capture", threshold=threshold)))
        assert found.criteria[0].standing == standing


def test_a_use_that_the_card_does_not_admit_gets_no_verdict(held):
    declared = card(Criterion(metric="need_capture", threshold=0.5)).replace(
        in_scope_uses=("planning",), out_of_scope_uses=("bedside decisions",)
    )
    assert verdict(held, declared, use="Planning").criteria[0].standing == "met"
    with pytest.raises(InputError, match="out of scope"):
        verdict(held, declared, use="bedside decisions")
    with pytest.raises(UnknownNameError, match="planing"):
        verdict(held, declared, use="planing")
