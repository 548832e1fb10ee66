"""Measures of allocations: against plain Python, where they are not defined, and what they refuse."""

import itertools
import math
import statistics
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.allocations import Allocation, Claimant, Resource, Scenario, enumerate_options
from accordant.allocations.measures import Measure, cell_counts, envy_pairs, leximin_vector, measures
from accordant.allocations.measures.access import most_severe
from accordant.errors import InputError

ALL = {
    "access_gap": {"group": "sex"},
    "access_ratio": {"group": "sex"},
    "group_access": {"group": "sex", "value": "f"},
    "equal_opportunity_gap": {"group": "sex", "urgent": "severity"},
    "need_capture": {},
    "benefit_ratio": {},
    "worst_off_outcome": {},
    "outcome_gini": {},
    "outcome_atkinson": {"epsilon": 1},
    "outcome_nash": {},
    "justified_envy": {},
}


class Slow:
    """Every measure of one allocation in plain Python, from patients and shares."""

    def __init__(self, scenario, granted):
        self.scenario, self.n = scenario, len(scenario.ids)
        self.facts = [dict(patient.facts) for patient in scenario.claimants]
        self.demand = scenario.demand.tolist()
        self.shares = [self.share(got, wanted) for got, wanted in zip(granted, self.demand, strict=True)]

    @staticmethod
    def share(got, wanted):
        met = [one / all_of_it for one, all_of_it in zip(got, wanted, strict=True) if all_of_it]
        return sum(met) / len(met) if met else 1.0

    def rates(self, group, among=None):
        found = {}
        for value in {each[group] for each in self.facts}:
            members = [i for i in range(self.n) if self.facts[i][group] == value and (among is None or i in among)]
            found[value] = statistics.fmean(self.shares[i] for i in members) if members else math.nan
        return found

    def top(self):
        """The longest prefix by falling severity, then id, whose joint demand fits."""
        order = sorted((i for i in range(self.n) if sum(self.demand[i])), key=lambda i: (-self.facts[i]["severity"], i))
        chosen = []
        for i in order:
            sums = [sum(self.demand[j][r] for j in [*chosen, i]) for r in range(len(self.scenario.capacity))]
            if any(used > most for used, most in zip(sums, self.scenario.capacity.tolist(), strict=True)):
                break
            chosen.append(i)
        return chosen

    def outcomes(self):
        return [
            each["p_without"] + x * (each["p_with"] - each["p_without"])
            for each, x in zip(self.facts, self.shares, strict=True)
        ]

    def access_gap(self, group, among=None):
        rates = list(self.rates(group, among).values())
        return math.nan if len(rates) < 2 or any(map(math.isnan, rates)) else max(rates) - min(rates)

    def access_ratio(self, group):
        rates = list(self.rates(group).values())
        return math.nan if len(rates) < 2 or max(rates) == 0 else min(rates) / max(rates)

    def group_access(self, group, value):
        return self.rates(group).get(value, math.nan)

    def equal_opportunity_gap(self, group, urgent):
        by_acuity = [i for i in range(self.n) if self.facts[i]["acuity"] <= 2]
        return self.access_gap(group, by_acuity if urgent == "acuity" else self.top())

    def need_capture(self):
        top = self.top()
        return statistics.fmean(self.shares[i] for i in top) if top else math.nan

    def benefit_ratio(self, everything):
        gains = [each["p_with"] - each["p_without"] for each in self.facts]
        most = max(
            sum(gain * self.share(got, wanted) for gain, got, wanted in zip(gains, granted, self.demand, strict=True))
            for granted in everything
        )
        return sum(g * x for g, x in zip(gains, self.shares, strict=True)) / most if most > 0 else math.nan

    def worst_off_outcome(self):
        return min(self.outcomes())

    def outcome_gini(self):
        found = self.outcomes()
        differences = sum(abs(a - b) for a, b in itertools.product(found, found))
        return differences / (2 * self.n * sum(found)) if sum(found) else math.nan

    def outcome_atkinson(self, epsilon):
        found = self.outcomes()
        if not sum(found):
            return math.nan
        if min(found) == 0 and epsilon >= 1:
            return 1.0
        if epsilon == 1:
            return 1 - self.outcome_nash() / statistics.fmean(found)
        power = 1 - epsilon
        return 1 - statistics.fmean(o**power for o in found) ** (1 / power) / statistics.fmean(found)

    def outcome_nash(self):
        return math.prod(self.outcomes()) ** (1 / self.n)

    def justified_envy(self):
        return len(self.pairs())

    def pairs(self):
        gains = [each["p_with"] - each["p_without"] for each in self.facts]
        return [
            (self.scenario.ids[i], self.scenario.ids[j])
            for i, j in itertools.product(range(self.n), repeat=2)
            if self.shares[i] < self.shares[j]
            and self.facts[i]["severity"] > self.facts[j]["severity"]
            and gains[i] >= gains[j]
        ]


@st.composite
def described(draw, small):
    """A small scenario with facts that tie often, and all that measures read."""
    n, r = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    level = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    facts = [
        {
            "acuity": draw(st.integers(1, 4)),
            "severity": draw(level),
            "p_with": draw(level),
            "p_without": draw(level),
            "sex": draw(st.sampled_from(["f", "m"])),
        }
        for _ in range(n)
    ]
    demands = [[draw(st.integers(0, 2)) for _ in range(r)] for _ in range(n)]
    return small.build(demands, [draw(st.integers(0, 4)) for _ in range(r)], facts=facts)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_plain_python_says_the_same(small, data):
    scenario = data.draw(described(small))
    options = enumerate_options(scenario)
    slow = [Slow(scenario, granted) for granted in options.granted.tolist()]
    extra = {"benefit_ratio": {"everything": options.granted.tolist()}}
    for name, params in ALL.items():
        fast = measures.create(name, params).of(scenario, options.shares)
        plain = [getattr(each, name)(**(params | extra.get(name, {}))) for each in slow]
        assert fast == pytest.approx(plain, abs=1e-12, nan_ok=True), name
    for epsilon in (0.5, 2, 30.0):
        fast = measures.create("outcome_atkinson", {"epsilon": epsilon}).of(scenario, options.shares)
        assert fast == pytest.approx([each.outcome_atkinson(epsilon) for each in slow], abs=1e-9, nan_ok=True)
    acuity = measures.create("equal_opportunity_gap", {"group": "sex"}).of(scenario, options.shares)
    assert acuity == pytest.approx(
        [each.equal_opportunity_gap("sex", "acuity") for each in slow], abs=1e-12, nan_ok=True
    )
    for option, each in enumerate(slow):
        allocation = options.allocation(option)
        assert [(pair.patient, pair.other) for pair in envy_pairs(scenario, allocation)] == each.pairs()
        assert leximin_vector(scenario, allocation).tolist() == pytest.approx(sorted(each.outcomes()))


def test_every_measure_is_tested():
    assert set(measures.names()) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_order_of_patients_changes_nothing(small, name):
    scenario = small.ward()
    shuffled = Scenario(reversed(scenario.claimants), scenario.resources)
    measure = measures.create(name, ALL[name])
    shares = enumerate_options(scenario).shares
    assert measure.of(scenario, shares).tobytes() == measure.of(shuffled, shares).tobytes()


@pytest.mark.parametrize("name", ALL)
def test_one_option_is_as_it_is_among_many(small, name):
    scenario = small.ward()
    measure, shares = measures.create(name, ALL[name]), enumerate_options(scenario).shares
    together = measure.of(scenario, shares)
    assert together.shape == (792,)
    assert measure.of(scenario, shares[100:101]) == pytest.approx(together[100:101], abs=1e-12)
    assert measure.of(scenario, shares[:0]).shape == (0,)


@pytest.mark.parametrize("name", ALL)
def test_792_options_take_less_than_two_milliseconds(small, name):
    scenario = small.ward()
    measure, shares = measures.create(name, ALL[name]), enumerate_options(scenario).shares
    times = []
    for _ in range(5):
        began = time.perf_counter()
        measure.of(scenario, shares)
        times.append(time.perf_counter() - began)
    assert min(times) < 2e-3


class TestNotDefined:
    """What is not defined is NaN, never 0."""

    def of(self, scenario, name, **params):
        return measures.create(name, params).of(scenario, enumerate_options(scenario).shares)

    def people(self, small, sexes, acuities=None, beds=1, **facts):
        base = {"severity": 0.5, "p_with": 0.9, "p_without": 0.1, **facts}
        acuities = acuities or [1] * len(sexes)
        rows = [{**base, "sex": sex, "acuity": acuity} for sex, acuity in zip(sexes, acuities, strict=True)]
        return small.build([[1]] * len(sexes), [beds], facts=rows)

    def test_one_group(self, small):
        scenario = self.people(small, "ff")
        for name in ("access_gap", "access_ratio", "equal_opportunity_gap"):
            assert np.isnan(self.of(scenario, name, group="sex")).all(), name

    def test_group_without_urgent_patients(self, small):
        scenario = self.people(small, "ffm", [1, 3, 3])
        assert np.isnan(self.of(scenario, "equal_opportunity_gap", group="sex")).all()
        cells = cell_counts(scenario, "sex", "acuity")
        assert [(each.value, each.claimants, each.urgent) for each in cells] == [("f", 2, 1), ("m", 1, 0)]

    def test_group_that_nobody_belongs_to(self, small):
        assert np.isnan(self.of(self.people(small, "fm"), "group_access", group="sex", value="x")).all()

    def test_nobody_gets_anything(self, small):
        scenario = self.people(small, "fm", beds=0)
        assert np.isnan(self.of(scenario, "access_ratio", group="sex")).all()
        assert self.of(scenario, "access_gap", group="sex").tolist() == [0.0]
        assert np.isnan(self.of(scenario, "need_capture")).all()
        assert np.isnan(self.of(scenario, "benefit_ratio")).all()

    def test_nothing_to_gain(self, small):
        assert np.isnan(self.of(self.people(small, "fm", p_with=0.1), "benefit_ratio")).all()

    def test_a_benefit_that_is_rounding(self, small):
        """.1 + .2 − .3 is 5.6e-17 in floating point, and all three are served."""
        facts = [{"p_with": b, "p_without": a} for b, a in ((0.1, 0.0), (0.2, 0.0), (0.0, 0.3))]
        scenario = small.build([[1]] * 3, [3], facts=facts)
        assert np.isnan(measures.create("benefit_ratio").of(scenario, np.ones((1, 3)))).all()

    def test_no_good_outcome_at_all(self, small):
        scenario = self.people(small, "fm", p_with=0.0, p_without=0.0)
        assert np.isnan(self.of(scenario, "outcome_gini")).all()
        assert np.isnan(self.of(scenario, "outcome_atkinson", epsilon=2)).all()
        assert self.of(scenario, "outcome_nash").tolist() == [0.0, 0.0]

    def test_undefined_meets_no_threshold(self):
        for name in ("access_gap", "access_ratio"):
            measure = measures.create(name, {"group": "sex"})
            assert measure.meets(np.array([np.nan, 0.5]), 0.5).tolist() == [False, True]


class TestMostSevere:
    def severity(self, small, values, demands, capacities):
        return small.build(demands, capacities, facts=[{"severity": each} for each in values])

    def test_ties_go_to_the_lower_id(self, small):
        scenario = self.severity(small, [0.5, 0.9, 0.5, 0.5], [[1]] * 4, [2])
        assert most_severe(scenario).tolist() == [True, True, False, False]

    def test_stops_at_the_first_who_does_not_fit(self, small):
        scenario = self.severity(small, [0.9, 0.8, 0.1], [[1], [3], [1]], [3])
        assert most_severe(scenario).tolist() == [True, False, False]

    def test_all_resources_must_fit(self, small):
        scenario = self.severity(small, [0.9, 0.8, 0.1], [[1, 1], [1, 1], [1, 0]], [3, 1])
        assert most_severe(scenario).tolist() == [True, False, False]

    def test_those_who_demand_nothing_are_left_out(self, small):
        scenario = self.severity(small, [0.9, 0.8, 0.1], [[0], [1], [1]], [1])
        assert most_severe(scenario).tolist() == [False, True, False]

    def test_capacity_above_demand(self, small):
        assert most_severe(self.severity(small, [0.1, 0.2], [[1], [1]], [9])).all()


def test_groups_are_any_json_values():
    values = ["1", 1, 1.0, True, None, [1, "a"], {"b": 2, "a": 1}, {"a": 1, "b": 2}, 'quo"te', "null"]
    scenario = Scenario([Claimant(f"p{i}", {"kind": value}) for i, value in enumerate(values)], [Resource("bed", 3)])
    found = {str(cell.value): cell.claimants for cell in cell_counts(scenario, "kind")}
    assert len(cell_counts(scenario, "kind")) == 8
    assert found["1"] in {1, 2}
    assert sorted(cell.claimants for cell in cell_counts(scenario, "kind")) == [1, 1, 1, 1, 1, 1, 2, 2]
    shares = np.eye(10)
    for value, members in ((1, [1, 2]), (True, [3]), (None, [4]), ("null", [9]), ({"b": 2, "a": 1}, [6, 7])):
        access = measures.create("group_access", {"group": "kind", "value": value}).of(scenario, shares)
        assert np.flatnonzero(access).tolist() == members
    assert measures.create("access_gap", {"group": "kind"}).of(scenario, shares).max() == 1.0
    broken = Scenario([Claimant("a", {"kind": math.nan}), Claimant("b", {"kind": 1})], [Resource("bed", 1)])
    with pytest.raises(InputError, match="'kind' has the value nan"):
        cell_counts(broken, "kind")


@pytest.mark.parametrize("judge", [envy_pairs, leximin_vector])
def test_allocations_of_other_patients_are_refused(small, judge):
    scenario, others, fewer = small.ward(n=4, beds=2), small.ward(n=5, beds=2), small.build([[2]] * 4, [2])
    assert len(judge(scenario, enumerate_options(small.ward(n=4, beds=2)).allocation(0))) >= 0
    for other in (others, fewer):
        with pytest.raises(InputError, match="allowed: the patients and demands of 'scenario'"):
            judge(scenario, enumerate_options(other).allocation(0))


def test_portions_and_many_levels_of_shares(small):
    """More different shares than matrix products are made for: the slower way gives the same pairs."""
    generator = np.random.default_rng(0)
    facts = [{"severity": s, "p_with": 0.9, "p_without": w} for s, w in generator.random((30, 2)).round(1) * 0.8]
    scenario = small.build([[int(d)] for d in generator.integers(1, 30, 30)], [200], facts=facts)
    shares = generator.random((4, 30))
    fast = measures.create("justified_envy").of(scenario, shares)
    for row, count in zip(shares, fast, strict=True):
        slow = Slow(scenario, scenario.demand.tolist())
        slow.shares = row.tolist()
        assert count == slow.justified_envy() > 0


class TestRefused:
    @pytest.mark.parametrize(
        ("name", "params", "message"),
        [
            ("access_gap", {"group": ""}, "access_gap: group is ''; allowed: the name of a fact"),
            ("access_ratio", {"group": None}, "access_ratio: group is None"),
            ("group_access", {"group": 3, "value": "f"}, "group_access: group is 3"),
            ("group_access", {"group": "sex", "value": math.inf}, "has the value inf; allowed: a JSON value"),
            ("group_access", {"group": "sex"}, "parameter 'value' is missing"),
            ("equal_opportunity_gap", {"group": "sex", "urgent": "acute"}, "did you mean 'acuity'"),
            ("outcome_atkinson", {"epsilon": 0}, "epsilon is 0; allowed: above 0, at most 100"),
            ("outcome_atkinson", {"epsilon": math.nan}, "epsilon is nan"),
            ("outcome_atkinson", {"epsilon": True}, "epsilon is True; allowed: a number"),
            ("need_capture", {"k": 3}, "unknown parameter 'k'"),
            ("acces_gap", {}, "did you mean 'access_gap'"),
        ],
    )
    def test_wrong_names_and_parameters(self, name, params, message):
        with pytest.raises(InputError) as caught:
            measures.create(name, params)
        assert message in str(caught.value)

    @pytest.mark.parametrize("name", ALL)
    def test_missing_facts_are_named(self, small, name):
        full = small.ward()
        reads = {
            "access_gap": ["sex"],
            "access_ratio": ["sex"],
            "group_access": ["sex"],
            "equal_opportunity_gap": ["sex", "severity"],
            "need_capture": ["severity"],
            "justified_envy": ["severity", "p_with", "p_without"],
        }.get(name, ["p_with", "p_without"])
        measure, shares = measures.create(name, ALL[name]), enumerate_options(full).shares
        for fact in full.facts:
            scenario = full.seen(set(full.facts) - {fact})
            if fact in reads:
                with pytest.raises(InputError, match=f"unknown fact '{fact}'"):
                    measure.of(scenario, shares)
            else:
                assert measure.of(scenario, shares).shape == (792,)
        for fact in set(reads) - {"sex"}:
            scenario = full.with_facts(fact, [None, *full.column(fact)[1:]])
            with pytest.raises(InputError, match=f"the fact '{fact}' is missing for patient 'p000'"):
                measure.of(scenario, shares)

    def test_chances_outside_0_to_1(self, small):
        full = small.ward()
        scenario = full.with_facts("p_with", [1.5, *full.column("p_with")[1:]])
        with pytest.raises(InputError, match="p_with of patient 'p000' is 1.5; allowed: 0 to 1"):
            measures.create("outcome_nash").of(scenario, np.zeros((1, 12)))


def test_measures_rebuild_from_name_and_parameters():
    for name, params in ALL.items():
        measure = measures.create(name, params)
        assert isinstance(measure, Measure)
        assert measure.name == name
        assert measure == measures.create(name, params)


def test_whole_grants_of_the_most_severe_capture_all_need(small):
    scenario = small.ward()
    top = [scenario.ids[i] for i in np.flatnonzero(most_severe(scenario))]
    shares = Allocation.whole(scenario, top).shares[None]
    assert len(top) == 5
    assert measures.create("need_capture").of(scenario, shares).tolist() == [1.0]
