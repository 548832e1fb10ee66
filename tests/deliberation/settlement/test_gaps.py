"""What a rule says it may have missed, where a search listed only some of all allocations."""

from dataclasses import replace

import numpy as np
import pytest

from accordant.agents.concession import concession_of
from accordant.allocations import AdditiveUtility
from accordant.allocations.enumeration import enumerate_options
from accordant.allocations.allocation import Options
from accordant.allocations.search import scaled
from accordant.deliberation.settlement import Table, settlements
from accordant.deliberation.settlement.bargaining import no_deal_gap, product_gap, time_gap


def some_options(small, values, kept, concessions):
    """A table over some of the options of one bed, for additive utilities."""
    scenario = small.build([[1]] * len(values[0]), [1])
    everything = enumerate_options(scenario)
    options = Options(scenario, everything.granted[kept], complete=False)
    scale = scaled(scenario, [AdditiveUtility(row) for row in values])
    return Table(
        options=options,
        utilities=np.clip(scale.of(options.shares), 0, 1),
        priorities=np.array(values),
        values=scale.values,
        floors=scale.floors,
        concessions=tuple(map(concession_of, concessions)),
        revised=np.zeros(len(values), dtype=np.intp),
        disagreement=0,
        met=np.zeros((0, len(options)), dtype=bool),
        seed=0,
        names=tuple(f"agent {k}" for k in range(len(values))),
    )


OPPOSED = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
A_DEAL = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]


class TestWithoutACommonOption:
    @pytest.mark.parametrize("rule", ["bargain", "mediated"])
    def test_the_gap_is_not_known_if_what_was_not_listed_may_be_one(self, small, rule):
        table = some_options(small, A_DEAL, [0, 1], ["hardheaded", "hardheaded"])
        found = settlements.create(rule).settle(table)
        assert not found.agreed and found.gap is None

    @pytest.mark.parametrize("rule", ["bargain", "mediated"])
    def test_the_gap_is_zero_if_it_is_certain_that_there_is_none(self, small, rule):
        table = some_options(small, OPPOSED, [0, 1], ["hardheaded", "hardheaded"])
        found = settlements.create(rule).settle(table)
        assert not found.agreed and found.gap == 0

    @pytest.mark.parametrize("rule", ["bargain", "mediated"])
    def test_the_gap_is_not_known_without_values_per_patient(self, small, rule):
        table = replace(some_options(small, OPPOSED, [0, 1], ["hardheaded"] * 2), values=None, floors=None)
        assert settlements.create(rule).settle(table).gap is None
        complete = replace(table, options=replace(table.options, complete=True))
        assert settlements.create(rule).settle(complete).gap == 0

    def test_a_mediator_is_not_certain_of_what_lies_within_the_widened_bands(self, small):
        """(.95, .95) is below the bands of both, and within .1 of them."""
        table = some_options(small, [[1, 0, 0.95], [0, 1, 0.95]], [0, 1], ["hardheaded", "hardheaded"])
        bargained, mediated = (settlements.create(rule).settle(table) for rule in ("bargain", "mediated"))
        assert bargained.gap == 0
        assert not mediated.agreed and mediated.gap is None
        exponents = [np.inf, np.inf]
        assert [no_deal_gap(table, exponents, widening) for widening in (0.0, 0.04, 0.06)] == [0, 0, None]

    @pytest.mark.parametrize("rule", ["no_deal", "priority_vote", "split_contested"])
    def test_rules_that_compare_no_options_miss_none(self, small, rule):
        assert settlements.create(rule).settle(some_options(small, OPPOSED, [0, 1], ["linear"] * 2)).gap == 0


@pytest.mark.parametrize("rule", settlements.names())
def test_nothing_was_missed_where_everything_was_compared(small, rule):
    table = some_options(small, A_DEAL, [0, 1, 2], ["linear", "linear"])
    found = settlements.create(rule).settle(replace(table, options=replace(table.options, complete=True)))
    assert found.gap == 0


def test_a_bound_between_two_times_of_the_grid_is_the_later_one(small):
    """(.66, .66) is common from t = .34 = 20.4/60 on, so at step 21; nothing is earlier."""
    table = some_options(small, [[1, 0, 0.66], [0, 1, 0.66]], [0, 1, 2], ["linear", "linear"])
    found = settlements.create("bargain").settle(table)
    assert found.time == 21 / 60 and found.gap == pytest.approx(0, abs=1e-12)
    assert time_gap(table, 22 / 60, [1.0, 1.0], 60) == pytest.approx(1 / 60)


def test_what_is_found_at_a_time_of_the_grid_has_no_gap(small):
    """(.65, .65) is common at t = .35 = 21/60 exactly."""
    table = some_options(small, [[1, 0, 0.65], [0, 1, 0.65]], [0, 1, 2], ["linear", "linear"])
    found = settlements.create("bargain").settle(table)
    assert found.time == 21 / 60 and found.gap == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("rule", ["bargain", "mediated", "alternating_offers"])
def test_parts_of_steps_are_refused(rule):
    for steps in (2.5, True, "7", 0):
        with pytest.raises(ValueError, match="steps are .*; allowed: a whole number, at least 1"):
            settlements.create(rule, {"steps": steps})


@pytest.mark.parametrize("unknown", [("values",), ("floors",), ("values", "floors")])
def test_a_gap_is_not_known_where_a_part_of_the_scale_is_not(small, unknown):
    table = replace(some_options(small, A_DEAL, [0, 1], ["linear"] * 2), **dict.fromkeys(unknown))
    assert time_gap(table, 0.5, [1.0, 1.0], 60) is None and product_gap(table, 0.1) is None
