"""Concession strategies: the figures of the formulas, bounds, and what each of them reads."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents.concession import Progress, concession_of, concessions, exponential, polynomial
from accordant.allocations.allocation import band
from accordant.errors import InputError, UnknownNameError

TIME_BASED = ("polynomial", "boulware", "linear", "conceder", "hardheaded", "exponential")
UNIT = st.floats(0, 1)


@st.composite
def progresses(draw):
    levels = np.unique(draw(st.lists(UNIT, min_size=1, max_size=6)))[::-1]
    opponents = draw(st.lists(st.lists(UNIT, max_size=4).map(tuple), max_size=3))
    received = tuple(each for offers in opponents for each in offers)
    return Progress(
        time=draw(UNIT),
        made=tuple(draw(st.lists(UNIT, max_size=4))),
        received=received,
        distinct_received=draw(st.integers(0, len(received))),
        reservation=draw(UNIT),
        levels=levels,
        opponents=tuple(opponents),
    )


def test_names():
    assert set(concessions.names()) >= {*TIME_BASED, "tit_for_tat", "tough", "nice", "micro"}
    assert concession_of("linear") == concessions.create("linear")
    assert concession_of(polynomial(3)) == polynomial(3)
    with pytest.raises(UnknownNameError, match="did you mean 'boulware'"):
        concession_of("boulwar")
    for wrong in (3, None, ["linear"], polynomial):
        with pytest.raises(InputError, match="concession is .*allowed: boulware"):
            concession_of(wrong)
    for name, parameter in (("polynomial", "exponent"), ("exponential", "power")):
        for wrong in (True, "2"):
            with pytest.raises(InputError, match=f"{parameter} is .*allowed: a number"):
                concessions.create(name, {parameter: wrong})


@pytest.mark.few(1)
@pytest.mark.parametrize("name", concessions.names())
@given(progress=progresses())
@settings(max_examples=60, deadline=None)
def test_targets_lie_between_reservation_and_one(name, progress):
    assert progress.reservation - 1e-12 <= concessions.create(name).target(progress) <= 1 + 1e-12


@pytest.mark.few(1)
@pytest.mark.parametrize("name", TIME_BASED)
@given(times=st.lists(UNIT, min_size=2, max_size=6), reservation=UNIT)
@settings(max_examples=60, deadline=None)
def test_time_based_targets_never_rise(name, times, reservation):
    targets = [concessions.create(name).target(Progress(t, reservation=reservation)) for t in sorted(times)]
    assert all(later <= earlier + 1e-12 for earlier, later in zip(targets, targets[1:]))


@pytest.mark.parametrize("name", TIME_BASED)
@pytest.mark.parametrize("reservation", [0.0, 0.3])
def test_time_based_targets_start_at_one_and_end_at_the_reservation(name, reservation):
    rule = concessions.create(name)
    assert rule.target(Progress(0.0, reservation=reservation)) == pytest.approx(1.0)
    end = 1.0 if name == "hardheaded" else reservation
    assert rule.target(Progress(1.0, reservation=reservation)) == pytest.approx(end)


@pytest.mark.parametrize(
    ("name", "half"), [("boulware", 0.9375), ("linear", 0.5), ("conceder", 0.1591), ("hardheaded", 1.0)]
)
def test_polynomial_figures_half_way(name, half):
    rule = concessions.create(name)
    assert rule.target(Progress(0.5)) == pytest.approx(half, abs=5e-5)
    assert band(rule.exponent, 0.5) == pytest.approx(half, abs=5e-5)
    assert rule.target(Progress(0.5, reservation=0.2)) == pytest.approx(0.2 + 0.8 * half, abs=5e-5)


@pytest.mark.parametrize(("power", "half"), [(0.125, 0.8740), (0.725, 0.4838), (4.0, 0.0375)])
def test_exponential_figures_half_way(power, half):
    assert exponential(power).target(Progress(0.5)) == pytest.approx(half, abs=5e-5)


@given(st.floats(0.05, 0.95), st.floats(0.05, 8), st.floats(0.05, 8))
def test_which_exponent_is_tougher(time, first, second):
    low, high = sorted([first, second])
    progress = Progress(time)
    assert polynomial(low).target(progress) <= polynomial(high).target(progress)
    assert exponential(low).target(progress) >= exponential(high).target(progress)


def test_only_the_polynomial_family_has_an_exponent():
    known = {name: concessions.create(name).exponent for name in concessions}
    assert known["polynomial"] == known["linear"] == 1.0
    assert known["boulware"] == 4.0
    assert known["conceder"] == 0.25
    assert math.isinf(known["hardheaded"])
    assert {known[name] for name in ("exponential", "tit_for_tat", "tough", "nice", "micro")} == {None}


@pytest.mark.parametrize("wrong", [0, -1, math.nan])
def test_exponents_are_above_zero(wrong):
    with pytest.raises(InputError, match="above 0"):
        polynomial(wrong)
    with pytest.raises(InputError, match="above 0"):
        exponential(wrong)


def test_presets_take_no_exponent():
    with pytest.raises(InputError, match="unknown parameter"):
        concessions.create("boulware", {"exponent": 1})
    assert concessions.create("polynomial", {"exponent": 2}).target(Progress(0.5)) == 0.75


class TestTitForTat:
    rule = concessions.create("tit_for_tat")

    def test_starts_at_one(self):
        assert self.rule.target(Progress(0.9, received=(0.1, 0.8))) == 1.0

    def test_mirrors_the_last_concession(self):
        assert self.rule.target(Progress(0.5, made=(1.0, 0.9), received=(0.1, 0.2, 0.5))) == pytest.approx(0.6)

    def test_what_is_taken_back_is_no_concession(self):
        assert self.rule.target(Progress(0.5, made=(0.9,), received=(0.5, 0.1))) == pytest.approx(0.9)

    def test_the_least_generous_opponent_counts(self):
        opponents = ((0.0, 0.4), (0.2, 0.3), (0.0, 0.9))
        assert self.rule.target(Progress(0.5, made=(1.0,), opponents=opponents)) == pytest.approx(0.9)
        assert self.rule.target(Progress(0.5, made=(1.0,), opponents=(*opponents, (0.7,)))) == 1.0

    def test_never_below_the_reservation(self):
        assert self.rule.target(Progress(0.5, made=(0.6,), received=(0.0, 0.9), reservation=0.4)) == 0.4


class TestMicro:
    rule = concessions.create("micro")
    levels = np.array([1.0, 0.7, 0.2])

    @pytest.mark.parametrize(("new", "target"), [(0, 1.0), (1, 0.7), (2, 0.2), (9, 0.2)])
    def test_one_level_for_each_new_offer(self, new, target):
        for time in (0.0, 1.0):
            assert self.rule.target(Progress(time, (1.0,) * 9, distinct_received=new, levels=self.levels)) == target

    def test_never_below_the_reservation(self):
        progress = Progress(0, (1.0, 0.7), distinct_received=2, levels=self.levels, reservation=0.5)
        assert self.rule.target(progress) == 0.5

    def test_the_best_comes_first_whatever_others_offered_before(self):
        assert self.rule.target(Progress(0.5, distinct_received=2, levels=self.levels)) == 1.0

    @pytest.mark.parametrize("turns", range(6))
    def test_several_opponents_draw_one_level_for_a_turn(self, turns):
        """Three opponents offer something new in each round: no level is left out."""
        levels = np.linspace(1.0, 0.0, 11)
        offers = tuple(tuple(0.01 * (3 * turn + who) for turn in range(turns)) for who in range(3))
        received = tuple(each for row in zip(*offers) for each in row)
        progress = Progress(
            0.5, tuple(levels[:turns]), received, 3 * turns, levels=levels, opponents=offers if turns else ((), (), ())
        )
        assert self.rule.target(progress) == pytest.approx(levels[turns])

    def test_several_opponents_who_repeat_themselves_draw_nothing(self):
        levels = np.linspace(1.0, 0.0, 11)
        offers = ((0.1, 0.1, 0.1, 0.1), (0.2, 0.3, 0.1, 0.2), (0.3, 0.3, 0.3, 0.3))
        progress = Progress(0.5, (1.0,) * 4, sum(offers, ()), 3, levels=levels, opponents=offers)
        assert self.rule.target(progress) == pytest.approx(levels[1])

    def test_one_of_several_who_offers_something_new_is_enough(self):
        levels = np.linspace(1.0, 0.0, 11)
        offers = ((0.1, 0.1, 0.1), (0.2, 0.3, 0.4))
        progress = Progress(0.5, (1.0,) * 3, sum(offers, ()), 4, levels=levels, opponents=offers)
        assert self.rule.target(progress) == pytest.approx(levels[3])


def test_the_extremes():
    for time in (0.0, 0.4, 1.0):
        assert concessions.create("tough").target(Progress(time)) == 1.0
        assert concessions.create("nice").target(Progress(time, reservation=0.3)) == 0.3
