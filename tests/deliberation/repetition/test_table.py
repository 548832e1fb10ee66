"""Many scenarios: settlement rules as objects, fallbacks, intervals, and no result without null hypotheses."""

from __future__ import annotations

import dataclasses

import pytest

from accordant.agents import Agent, create
from accordant.agents.concession import concessions
from accordant.allocations.measures.measure import Criterion
from accordant.allocations.measures.measure import measures
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment import Group
from accordant.statistics import share_estimate
from accordant.deliberation.repetition import repeat
from accordant.deliberation.settlement import settlements
from accordant.errors import InputError, UnknownNameError

GAP = Criterion("access gap", measures.create("access_gap", {"group": "group"}), 0.25)
NEED = Criterion("need", measures.create("need_capture"), 0.6)
NEVER = Criterion("never", measures.create("need_capture"), 1.5)
RULES = ("bargain", settlements.create("bargain"))


def small(seed):
    return random_scenario(seed, patients=6, beds=2)


def pair():
    return [create("utilitarian"), create("rawlsian")]


class Stumbling(Agent):
    """A rule agent whose every second move counts as a fallback."""

    about = "Stumbles."

    def __init__(self):
        self.inner = create("utilitarian")
        self.name, self.facts, self.concession = "stumbling", self.inner.facts, concessions.create("linear")
        self.asked = 0

    def act(self, view):
        return self.inner.act(view)

    def acted(self, view):
        self.asked += 1
        return dataclasses.replace(self.inner.acted(view), fallback=self.asked % 2 == 0)


@pytest.mark.long
def test_a_rule_and_its_name_settle_alike():
    named, made = (repeat(small, pair(), 4, criteria=[NEED], settle=each, rules=()) for each in RULES)
    assert named == made
    assert made.settle == "bargain"
    assert made.settle_parameters == {"steps": 60}


@pytest.mark.long
def test_parameters_of_a_rule_are_kept():
    wide = settlements.create("mediated", {"widening": 0.5})
    found, default = (repeat(small, pair(), 6, criteria=[NEED], settle=each, rules=()) for each in (wide, "mediated"))
    assert found.settle == default.settle == "mediated"
    assert found.settle_parameters["widening"] == 0.5
    assert found.hashes != default.hashes


def test_an_unknown_rule_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'bargain'"):
        repeat(small, pair(), 1, criteria=[NEED], settle="bargan")


def test_moves_that_a_rule_made_for_a_model_are_counted():
    found = repeat(small, [Stumbling(), create("rawlsian")], 3, criteria=[NEED], rules=())
    assert found.turns == 3 * 2 * 3
    assert found.fallbacks == 4  # of its nine moves, the second, fourth, sixth and eighth
    assert found.fallback_rate == pytest.approx(4 / 18)
    assert repeat(small, pair(), 1, criteria=[NEED], rules=()).fallbacks == 0


@pytest.mark.parametrize("null", ["random", "search"])
def test_a_table_without_null_hypotheses_is_refused(null):
    found = repeat(small, pair(), 2, criteria=[NEED], rules=())
    assert set(getattr(found, null)) == {"utilitarian", "rawlsian"}
    assert all(each.n == 2 for each in getattr(found, null).values())
    for fewer in ({}, {"utilitarian": getattr(found, null)["utilitarian"]}):
        with pytest.raises(InputError, match=f"{len(fewer)} null hypotheses for 2 agents"):
            dataclasses.replace(found, **{null: fewer})


@pytest.mark.parametrize(("n", "member"), [(1, {None}), (4, {True, False})])
def test_what_never_meets_all_criteria_is_not_among_the_best_beside_what_always_does(n, member):
    found = repeat(small, pair(), n, criteria=[NEED], rules=())
    lines = found.lines
    assert (lines["solo rawlsian"].all_met.value, lines["disagreement"].all_met.value) == (1.0, 0.0)
    assert {line.among_best for line in lines.values()} == member
    if n > 1:
        assert lines["solo rawlsian"].among_best and not lines["disagreement"].among_best


@pytest.mark.long
def test_a_probability_that_is_always_0_has_the_interval_of_a_share():
    found = repeat(small, pair(), 8, criteria=[NEVER], rules=())
    for each in found.random.values():
        assert each.value == 0
        assert (each.low, each.high) == pytest.approx((0.0, share_estimate([False] * 8).high))
    assert found.difference.low < 0 < found.difference.high  # always 0, and yet not known to be


def test_who_never_moves_has_no_interval_of_no_width():
    biased = create(
        "biased", {"favoured_value": "favoured", "strength": 1.0, "concession": "hardheaded"}, allow_adversarial=True
    )
    found = repeat(
        small, [create("rawlsian"), biased], 4, criteria=[NEED], rules=(), group=Group("group", "marginal"),
        allow_adversarial=True,
    )  # fmt: skip
    went = found.conversion["rawlsian"]
    assert (went.value, went.low, went.high) == (0.0, None, None)
    assert set(found.approach) == set(found.conversion) == {"rawlsian"}


@pytest.mark.long
def test_more_allocations_than_can_be_listed():
    found = repeat(
        lambda seed: random_scenario(seed, patients=20, beds=9), pair(), 1, criteria=[GAP, NEED],
        rules=("utilitarian",),
    )  # fmt: skip
    for name in found.agents:
        assert found.random[name].n == 1
        assert 0 <= found.random[name].value <= 1
        assert found.search[name].value >= found.lines["joint"].all_met.value
