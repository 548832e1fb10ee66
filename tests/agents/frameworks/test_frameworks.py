"""Ethical frameworks: values, constraints, what they read, and what changes nothing."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents.frameworks import frameworks, guarded_utility
from accordant.agents.frameworks.claims import Care
from accordant.agents.frameworks.claims import Egalitarian
from accordant.agents.frameworks.claims import Libertarian
from accordant.agents.frameworks.framework import order_values
from accordant.agents.frameworks.framework import Outcomes
from accordant.agents.frameworks.welfarist import Prioritarian
from accordant.agents.frameworks.welfarist import Rawlsian, WorstFirst
from accordant.agents.frameworks.claims import Rights
from accordant.agents.frameworks.welfarist import Sufficientarian
from accordant.agents.frameworks.welfarist import Utilitarian
from accordant.agents.moves import CONSIDERATIONS as CODES
from accordant.allocations import Claimant, Resource, Scenario
from accordant.allocations.enumeration import enumerate_options
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform

FORMS = {
    **{name: partial(frameworks.create, name) for name in frameworks.names()},
    "utilitarian life years": partial(Utilitarian, life_years=True),
    "rawlsian leximin": partial(Rawlsian, form="leximin"),
    "egalitarian group gap": partial(Egalitarian, form="group_gap", group="group"),
    "rights by arrival": partial(Rights, order="arrival"),
}
ATTRIBUTES = {"group", "note", "sex"}


def shares(scenario):
    return enumerate_options(scenario).shares


def test_names():
    assert frameworks.names() == (
        "care", "egalitarian", "libertarian", "prioritarian", "rawlsian", "rights", "sufficientarian", "utilitarian",
    )  # fmt: skip
    assert isinstance(frameworks.create("procedural"), Libertarian)
    assert isinstance(frameworks.create("deontological"), Rights)


@pytest.mark.parametrize("form", FORMS)
def test_every_framework_says_what_it_holds(form):
    framework = FORMS[form]()
    assert framework.title
    assert framework.claim.endswith(".")
    assert framework.code in CODES


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_framework_reads_only_what_it_sees(form, seed, ward):
    framework, scenario = FORMS[form](), ward(seed)
    hidden = scenario.seen(framework.sees)
    for each in (framework.utility, partial(guarded_utility, framework)):
        np.testing.assert_array_equal(each(scenario, 4).of(shares(scenario)), each(hidden, 4).of(shares(scenario)))
    np.testing.assert_array_equal(
        framework.violations(scenario, shares(scenario)), framework.violations(hidden, shares(scenario))
    )
    assert framework.binds(scenario) == framework.binds(hidden)
    for patient in range(len(scenario.ids)):
        grounds = framework.grounds(hidden, 4, patient)
        assert grounds == framework.grounds(scenario, 4, patient)
        assert set(grounds.facts) <= set(framework.sees)
        assert grounds.code in CODES
        assert grounds.text


@pytest.mark.parametrize("form", FORMS)
def test_every_fact_that_is_seen_is_needed(form, ward):
    framework, scenario = FORMS[form](), ward(0)
    for fact in framework.sees:
        without = scenario.seen(set(framework.sees) - {fact})
        asked = []
        for read in (lambda: framework.utility(without, 0), lambda: framework.violations(without, shares(scenario))):
            try:
                read()
            except UnknownNameError as error:
                asked.append(error.found)
        assert set(asked) == {fact}


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"egalitarian group gap"}))
def test_no_framework_sees_an_attribute_unless_told(form):
    assert not ATTRIBUTES & set(FORMS[form]().sees)


@pytest.mark.few(3)
@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 999), order=st.permutations(range(6)))
@settings(max_examples=15, deadline=None)
def test_the_order_of_patients_changes_nothing(form, seed, order, ward):
    framework, scenario = FORMS[form](), ward(seed, n=6)
    permuted = Scenario([scenario.claimants[i] for i in order], scenario.resources)
    np.testing.assert_array_equal(
        framework.utility(permuted, seed).of(shares(permuted)), framework.utility(scenario, seed).of(shares(scenario))
    )


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("form", "fact", "better"),
    [
        ("utilitarian", "p_with", 0.99),
        ("utilitarian", "p_without", 0.0),
        ("utilitarian life years", "life_years", 90.0),
        ("rawlsian", "severity", 1.0),
        ("rawlsian leximin", "p_without", 0.0),
        ("prioritarian", "p_with", 0.99),
        ("prioritarian", "p_without", 0.0),
        ("libertarian", "arrival", 0),
        ("care", "dependency", 1.0),
        ("care", "arrival", 0),
        ("sufficientarian", "p_with", 0.99),
        ("rights by arrival", "arrival", 0),
    ],
)
@given(seed=st.integers(0, 999), patient=st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_more_of_its_own_value_never_lowers_a_patients_place(form, fact, better, seed, patient, ward):
    framework, scenario = FORMS[form](), ward(seed, n=6)
    values = scenario.numbers(fact).tolist()
    changed = scenario.with_facts(fact, [better if i == patient else v for i, v in enumerate(values)])

    def place(world):
        utility = framework.utility(world, seed)
        alone = utility.of(np.eye(6)) - utility.of(np.zeros((1, 6)))
        return (alone > alone[patient] + 1e-12).sum()

    assert place(changed) <= place(scenario)


class TestValues:
    def test_utilitarian(self, ward):
        scenario = ward(1)
        benefit = scenario.numbers("p_with") - scenario.numbers("p_without")
        np.testing.assert_allclose(Utilitarian().utility(scenario, 0).values, benefit)
        np.testing.assert_allclose(
            Utilitarian(life_years=True).utility(scenario, 0).values, benefit * scenario.numbers("life_years")
        )

    def test_life_years_need_the_fact(self, ward):
        without = ward(1).seen(["p_with", "p_without"])
        assert Utilitarian().utility(without, 0)
        with pytest.raises(UnknownNameError, match="life_years"):
            Utilitarian(life_years=True).utility(without, 0)

    def test_rawlsian(self, ward):
        np.testing.assert_array_equal(Rawlsian().utility(ward(1), 0).values, ward(1).numbers("severity"))

    def test_prioritarian(self, ward):
        scenario = ward(1)
        roots = np.sqrt(scenario.numbers("p_with")) - np.sqrt(scenario.numbers("p_without"))
        np.testing.assert_allclose(Prioritarian().utility(scenario, 0).values, roots)
        np.testing.assert_allclose(
            Prioritarian(power=1).utility(scenario, 0).values, Utilitarian().utility(scenario, 0).values
        )

    @pytest.mark.parametrize("kind", [Egalitarian, Rights])
    def test_lots_are_drawn_by_id_alone(self, kind, ward):
        scenario = ward(1)
        lots = kind().utility(scenario, 7).values
        np.testing.assert_array_equal(lots, keyed_uniform(7, [f"{kind.name}:{each}" for each in scenario.ids]))
        fewer = Scenario(scenario.claimants[3:], scenario.resources)
        np.testing.assert_array_equal(kind().utility(fewer, 7).values, lots[3:])
        assert (lots != kind().utility(scenario, 8).values).all()

    def test_frameworks_do_not_share_their_lots(self, ward):
        scenario = ward(1)
        drawn = [kind().utility(scenario, 7).values for kind in (Egalitarian, Rights)]
        drawn.append(keyed_uniform(7, scenario.ids))  # what settlement draws
        for first, second in combinations(drawn, 2):
            assert (first != second).all()

    def test_group_gap(self, ward):
        scenario = ward(1, n=5, group=["a", "a", "b", "b", "c"])
        utility = Egalitarian(form="group_gap", group="group").utility(scenario, 0)
        found = utility.of(np.array([[1, 0, 1, 1, 0], [0.5, 0.5, 0.5, 0.5, 0.5], [1, 1, 0, 0, 0]]))
        assert found.tolist() == [-1.0, 0.0, -1.0]
        assert utility.of(np.array([[1, 0, 1, 1, 0.75]])).tolist() == [-0.5]
        one = ward(1, n=3, group=["a"] * 3)
        assert Egalitarian(form="group_gap", group="group").utility(one, 0).of(np.eye(3)).tolist() == [0, 0, 0]

    def test_libertarian_serves_in_order(self, ward):
        scenario = ward(1, n=4, arrival=[3, 1, 4, 1])
        assert Libertarian().utility(scenario, 0).values.tolist() == [0.5, 1.0, 0.25, 1.0]

    def test_sufficientarian(self, ward):
        scenario = ward(1, n=4, p_without=[0.1, 0.4, 0.6, 0.2], p_with=[0.5, 0.6, 0.9, 0.3])
        utility = Sufficientarian().utility(scenario, 0)
        assert utility.of(np.eye(4)).tolist() == [1, 1, 0, 0]
        assert utility.of(np.array([[1, 1, 1, 1], [0.9, 0.5, 0, 0], [0, 0.49, 0, 0]])).tolist() == [2, 1, 0]


class TestOrders:
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
    def test_values_fall_strictly_along_the_order(self, keys):
        first, second = np.array(keys, dtype=float).T
        values = order_values(first, second)
        for i, j in combinations(range(len(keys)), 2):
            assert np.sign(values[i] - values[j]) == (keys[i] > keys[j]) - (keys[i] < keys[j])
        assert 0 < values.min()
        assert values.max() == 1.0

    @given(seed=st.integers(0, 999), places=st.integers(0, 6))
    @settings(max_examples=25, deadline=None)
    def test_care_puts_dependency_first_then_arrival(self, seed, places, ward):
        scenario = ward(seed, n=6, capacities=(places,))
        options = enumerate_options(scenario)
        best = options.granted[np.argmax(Care().utility(scenario, 0).of(options.shares))]
        keys = zip(-scenario.numbers("dependency"), scenario.numbers("arrival"), range(6))
        assert set(np.flatnonzero(best[:, 0])) == {i for _, _, i in sorted(keys)[:places]}


class TestLeximin:
    @given(st.integers(2, 5).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 10), min_size=n, max_size=n)] * 2)))
    def test_order_of_sorted_outcomes(self, pair):
        """Outcomes are 0.05 apart, more than ln(5)/50 = 0.032: the order is that of leximin."""
        first, second = pair
        outcomes = Outcomes(np.zeros(len(first)), np.ones(len(first)))
        found = WorstFirst(outcomes, 50.0).of(np.array(pair) / 20)
        order = int(sorted(first) > sorted(second)) - int(sorted(first) < sorted(second))
        if order == 0:
            assert found[0] == pytest.approx(found[1], abs=1e-15)
        else:
            assert np.sign(found[0] - found[1]) == order

    def test_the_worst_off_decide_whom_severity_would_not_choose(self):
        """The most severe gains nothing from a bed; leximin sees that, severity does not."""
        facts = [dict(p_without=0.1, p_with=0.1, severity=0.9), dict(p_without=0.3, p_with=0.8, severity=0.7)]
        scenario = Scenario([Claimant(f"p{i}", each) for i, each in enumerate(facts)], [Resource("bed", 1)])
        assert Rawlsian().utility(scenario, 0).of(np.eye(2)).argmax() == 0
        assert Rawlsian(form="leximin").utility(scenario, 0).of(np.eye(2)).argmax() == 1

    def test_between_the_lowest_outcome_and_one(self, ward):
        scenario = ward(2)
        outcomes, utility = Outcomes.of(scenario), Rawlsian(form="leximin").utility(scenario, 0)
        lowest = outcomes.under(shares(scenario)).min(axis=1)
        found = utility.of(shares(scenario))
        assert (found >= lowest - 1e-12).all()
        assert (found <= lowest + np.log(8) / 50 + 1e-12).all()


class TestRights:
    def by_hand(self, scenario, row, threshold):
        """Count patients one by one."""
        facts = [each.facts for each in scenario.claimants]
        wants = scenario.demand.sum(axis=1)
        owed = [f["acuity"] == 1 and f["p_with"] > threshold and d > 0 for f, d in zip(facts, wants)]
        others = any(x > 0 and d > 0 and not o for o, x, d in zip(owed, row, wants))
        return sum(o and x < 1 for o, x in zip(owed, row)) if others else 0

    def test_who_cannot_be_rescued_is_owed_nothing(self, ward):
        """Both are as acute as can be; for one of them a bed changes little."""
        scenario = ward(0, n=3, capacities=(1,), acuity=[1, 1, 3], p_with=[0.9, 0.1, 0.9], p_without=[0, 0, 0])
        assert Rights().violations(scenario, np.eye(3)).tolist() == [0, 1, 1]
        for seed in range(20):
            assert guarded_utility(Rights(), scenario, seed).of(np.eye(3)).argmax() == 0

    @given(seed=st.integers(0, 999), threshold=st.sampled_from([0.0, 0.2, 0.6, 1.0]))
    @settings(max_examples=25, deadline=None)
    def test_violations_by_hand(self, seed, threshold, ward):
        random = np.random.default_rng(seed)
        scenario = ward(seed, n=5, capacities=(2, 2), demands=2, acuity=random.integers(1, 3, 5))
        rows = shares(scenario)
        found = Rights(threshold).violations(scenario, rows)
        assert found.tolist() == [self.by_hand(scenario, row, threshold) for row in rows]

    @given(seed=st.integers(0, 999))
    @settings(max_examples=25, deadline=None)
    def test_a_guarded_utility_gives_constraints_up_last(self, seed, ward):
        scenario = ward(seed, n=6, acuity=np.random.default_rng(seed).integers(1, 3, 6))
        framework = Rights()
        utility, broken = guarded_utility(framework, scenario, seed), framework.violations(scenario, shares(scenario))
        found, plain = utility.of(shares(scenario)), framework.utility(scenario, seed).of(shares(scenario))
        for level in np.unique(broken)[1:]:
            assert found[broken == level].max() < found[broken < level].min()
        for level in np.unique(broken):
            np.testing.assert_array_equal(np.argsort(found[broken == level]), np.argsort(plain[broken == level]))

    def test_nothing_is_guarded_where_nobody_is_owed_rescue(self, ward):
        scenario = ward(0, acuity=[3] * 8)
        assert type(guarded_utility(Rights(), scenario, 0)) is type(Rights().utility(scenario, 0))
        assert not Rights().violations(scenario, shares(scenario)).any()

    @pytest.mark.parametrize(("acute", "other", "beds", "broken"), [(1, 0, 0, 0), (0, 1, 1, 0), (1, 1, 1, 1)])
    def test_who_demands_nothing_is_neither_owed_nor_granted(self, acute, other, beds, broken):
        patients = [
            Claimant("a", dict(p_with=0.9, acuity=1), {"bed": acute}),
            Claimant("b", dict(p_with=0.9, acuity=4), {"bed": other}),
        ]
        scenario = Scenario(patients, [Resource("bed", beds)])
        assert Rights().violations(scenario, shares(scenario)).max() == broken
        assert Rights().binds(scenario) == bool(acute)

    def test_grounds(self, ward):
        scenario = ward(0, n=3, acuity=[1, 1, 3], p_with=[0.9, 0.1, 0.9], p_without=[0, 0, 0])
        codes = [Rights().grounds(scenario, 0, patient).code for patient in range(3)]
        assert codes == ["right_to_rescue", "equal_chance", "equal_chance"]
        assert Rights(order="arrival").grounds(scenario, 0, 2).code == "arrival"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("rawlsian", {"form": "maximin"}),
        ("rawlsian", {"form": "leximin", "aversion": 0}),
        ("prioritarian", {"power": 0}),
        ("prioritarian", {"power": 1.5}),
        ("egalitarian", {"form": "lot"}),
        ("egalitarian", {"form": "group_gap"}),
        ("egalitarian", {"group": "sex"}),
        ("rights", {"threshold": 1.2}),
        ("rights", {"order": "age"}),
        ("sufficientarian", {"threshold": 0}),
        ("rights", {"threshold": True}),
        ("rights", {"threshold": "0.9"}),
        ("rawlsian", {"form": "leximin", "aversion": True}),
        ("rawlsian", {"form": ["leximin"]}),
        ("prioritarian", {"power": True}),
        ("sufficientarian", {"threshold": "0.5"}),
        ("utilitarian", {"life_years": 1}),
        ("utilitarian", {"life_years": "no"}),
        ("egalitarian", {"form": "group_gap", "group": 3}),
    ],
)
def test_wrong_parameters_are_refused(name, parameters):
    with pytest.raises(InputError):
        frameworks.create(name, parameters)


RANGED = {"acuity": (0, 6, "1 to 5"), "severity": (-0.1, 1.1, "0 to 1"), "p_with": (-0.1, 1.2, "0 to 1")}
RANGED["p_without"] = RANGED["p_with"]


@pytest.mark.parametrize("form", FORMS)
def test_facts_out_of_range_are_refused_where_they_are_read(form, ward):
    """By whoever reads them, and by nobody else."""
    framework = FORMS[form]()
    for fact, (low, high, allowed) in RANGED.items():
        for wrong in (low, high):
            scenario = ward(0, n=2)
            scenario = scenario.with_facts(fact, [scenario.column(fact)[0], wrong])
            asked = []
            for read in (
                lambda world: framework.utility(world, 0),
                lambda world: framework.violations(world, np.eye(2)),
            ):
                try:
                    read(scenario)
                except InputError as error:
                    asked.append(str(error))
            expected = f"the fact {fact!r} of patient 'p01' is {wrong:g}; allowed: {allowed}"
            assert set(asked) == ({expected} if fact in framework.sees else set())


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"egalitarian group gap"}))
def test_true_and_false_are_no_numbers(form, ward):
    framework = FORMS[form]()
    for fact in framework.sees:
        scenario = ward(0, n=2).with_facts(fact, [1, True])
        with pytest.raises(InputError, match=f"{fact!r} of patient 'p01' is True; allowed: a number"):
            guarded_utility(framework, scenario, 0)


@pytest.mark.parametrize("form", FORMS)
def test_utilities_say_themselves_as_json(form, ward):
    import json

    utility = guarded_utility(FORMS[form](), ward(0, acuity=[1, 2] * 4), 3)
    assert json.loads(json.dumps(utility.to_json(), allow_nan=False))
