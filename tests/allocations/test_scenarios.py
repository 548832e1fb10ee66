"""Scenarios and allocations: what they accept, what they refuse, and that the order of patients does not matter."""

import json

import numpy as np
import pytest

from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario, Utility
from accordant.errors import InputError, UnknownNameError

BED, OXYGEN = Resource("bed", 1), Resource("oxygen", 2, portion=0.5)


def patients(*names, **facts):
    return [Claimant(name, {"sex": "f", **facts}, {"bed": 1, "oxygen": 1.5}) for name in names]


class TestScenario:
    def test_order_of_patients_does_not_matter(self):
        first, second = (Scenario(given, [BED, OXYGEN]) for given in (patients("b", "a"), patients("a", "b")))
        assert first.ids == second.ids == ("a", "b")
        assert first.hash == second.hash
        assert first.demand.tolist() == [[1, 3], [1, 3]]
        assert first.capacity.tolist() == [1, 4]

    def test_order_of_resources_does_not_matter(self):
        first, second = (Scenario(patients("a", "b"), given) for given in ([BED, OXYGEN], [OXYGEN, BED]))
        assert [each.name for each in second.resources] == ["bed", "oxygen"]
        assert first.hash == second.hash and first.to_json() == second.to_json()
        assert second.demand.tolist() == first.demand.tolist() == [[1, 3], [1, 3]]
        assert second.capacity.tolist() == first.capacity.tolist() == [1, 4]
        whole = {"a": {"bed": 1, "oxygen": 0.5}, "b": {"oxygen": 1.5}}
        assert Allocation.of(first, whole) == Allocation.of(second, whole)

    def test_json_tells_scenarios_apart(self):
        scenario = Scenario(patients("a"), [BED, OXYGEN], protected=["sex"], name="night")
        found = json.loads(json.dumps(scenario.to_json()))
        assert found["name"] == "night"
        assert found["protected"] == ["sex"]
        assert found["resources"][1] == {"name": "oxygen", "capacity": 2, "portion": 0.5}
        assert found["patients"] == [{"id": "a", "facts": {"sex": "f"}, "demand": {"bed": 1, "oxygen": 1.5}}]
        assert scenario.hash != scenario.with_facts("sex", ["m"]).hash
        assert scenario.seen([]).facts == ()

    def test_one_unit_of_everything_by_default(self):
        assert Scenario([Claimant("a", {})], [BED, OXYGEN]).demand.tolist() == [[1, 2]]

    @pytest.mark.parametrize(
        ("given", "resources", "message"),
        [
            ([], [BED], "at least one patient and one resource"),
            (patients("a"), [], "at least one patient and one resource"),
            (patients("a", "a"), [BED, OXYGEN], "two patients are called 'a'"),
            (patients("a"), [BED, BED], "two resources are called 'bed'"),
            ([*patients("a"), *patients("b", age=3)], [BED, OXYGEN], "patient 'b' has the facts age, sex; others have"),
            ([Claimant("a", {}, {"beds": 1})], [BED], "unknown resource 'beds'; did you mean 'bed'"),
        ],
    )
    def test_refused(self, given, resources, message):
        with pytest.raises(InputError) as caught:
            Scenario(given, resources)
        assert message in str(caught.value)

    @pytest.mark.parametrize("units", [-1, 0.25, np.nan, np.inf])
    def test_wrong_units(self, units):
        with pytest.raises(InputError, match="demand is .*; allowed: 0 or more, in portions of 0.5"):
            Scenario([Claimant("a", {}, {"oxygen": units})], [OXYGEN])
        with pytest.raises(InputError, match="capacity is"):
            Resource("bed", units, portion=0.5)
        with pytest.raises(InputError, match="portion is 0; allowed: above 0"):
            Resource("bed", 1, portion=0)

    @pytest.mark.parametrize("units", ["2", True, None])
    def test_units_are_numbers(self, units):
        with pytest.raises(InputError, match="demand is .*; allowed: 0 or more"):
            Scenario([Claimant("a", {}, {"oxygen": units})], [OXYGEN])
        with pytest.raises(InputError, match="capacity is .*; allowed: 0 or more"):
            Resource("bed", units)
        with pytest.raises(InputError, match="portion is .*; allowed: above 0"):
            Resource("bed", 1, units)

    def test_no_more_portions_than_can_be_counted(self):
        with pytest.raises(InputError, match=r"capacity is 1e\+30; allowed: at most 1e\+12 portions of 1"):
            Resource("bed", 1e30)
        with pytest.raises(InputError, match="demand is 1.0; allowed: at most"):
            Scenario([Claimant("a", {})], [Resource("bed", 0, 1e-13)])
        assert Scenario([Claimant("a", {})], [Resource("bed", 1e12)]).capacity.tolist() == [10**12]

    @pytest.mark.parametrize("value", ["0.9", "", True, np.True_])
    def test_a_text_and_a_truth_value_are_no_numbers(self, value):
        scenario = Scenario([Claimant("a", {"age": 3}), Claimant("b", {"age": value})], [BED])
        with pytest.raises(InputError, match="the fact 'age' is not a number for every patient: that of 'b' is"):
            scenario.numbers("age")
        assert scenario.with_facts("age", [3, np.int64(4)]).numbers("age").tolist() == [3, 4]

    def test_facts(self):
        scenario = Scenario(patients("a", "b", age=None), [BED, OXYGEN])
        with pytest.raises(UnknownNameError, match="unknown fact 'sexe'; did you mean 'sex'"):
            scenario.numbers("sexe")
        with pytest.raises(InputError, match="the fact 'sex' is not a number for every patient"):
            scenario.numbers("sex")
        with pytest.raises(InputError, match="the fact 'age' is missing for patient 'a'"):
            scenario.numbers("age")
        with pytest.raises(UnknownNameError, match="unknown patient 'c'"):
            scenario.index("c")


class TestAllocation:
    scenario = Scenario(patients("a", "b"), [BED, OXYGEN])

    def test_shares_do_not_depend_on_how_finely_a_resource_is_divided(self):
        def shares(portion):
            """Return the shares of one allocation in units."""
            scenario = Scenario(patients("a", "b"), [BED, Resource("oxygen", 2, portion)])
            return Allocation.of(scenario, {"a": {"bed": 1, "oxygen": 1}, "b": {"oxygen": 1}}).shares.tolist()

        assert shares(0.25) == pytest.approx(shares(0.5))
        assert shares(0.1) == pytest.approx(shares(0.5))

    def test_by_name(self):
        given = {"a": {"bed": 1, "oxygen": 0.5}, "b": {"oxygen": 1.5}}
        allocation = Allocation.of(self.scenario, given)
        assert allocation.granted.tolist() == [[1, 1], [0, 3]]
        assert allocation.to_json() == given
        assert Allocation.of(self.scenario, allocation.to_json()) == allocation
        assert hash(Allocation.of(self.scenario, given)) == hash(allocation)
        assert allocation.shares.tolist() == [(1 + 1 / 3) / 2, (0 + 1) / 2]
        assert allocation.claimants == ("a", "b")
        assert Allocation.whole(Scenario(patients("a"), [BED, OXYGEN]), ["a"]).shares.tolist() == [1.0]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"c": {"bed": 1}}, "unknown patient 'c'"),
            ({"a": {"beds": 1}}, "did you mean 'bed'"),
            ({"a": {"bed": 1, "oxygen": 2}}, "'a' is granted 4 portions of 'oxygen'; allowed: 0 to 3"),
            ({"a": {"bed": 1, "oxygen": 1.5}, "b": {"bed": 1}}, "2 portions of 'bed' are granted; there are 1"),
            ({"a": {"bed": 1, "oxygen": 1.5}}, "1 portions of 'oxygen' are idle while somebody still needs them"),
            ({"a": {"bed": 0.5}}, "grant is 0.5"),
        ],
    )
    def test_infeasible(self, given, message):
        with pytest.raises(InputError) as caught:
            Allocation.of(self.scenario, given)
        assert message in str(caught.value)

    def test_wrong_shape_and_negative(self):
        with pytest.raises(InputError, match=r"shape \(1, 2\); allowed: \(patient, resource\), \(2, 2\)"):
            Allocation(self.scenario, [[1, 1]])
        with pytest.raises(InputError, match="granted -1 portions of 'bed'"):
            Allocation(self.scenario, [[-1, 1], [1, 3]])


def test_additive_utility():
    utility = AdditiveUtility([1, 2])
    assert isinstance(utility, Utility)
    assert utility.of(np.array([[1.0, 0.5], [0.0, 1.0]])).tolist() == [2.0, 2.0]
    assert utility.to_json() == [1.0, 2.0]
    for wrong in ([[1.0]], [np.nan]):
        with pytest.raises(InputError, match="one finite number per patient"):
            AdditiveUtility(wrong)
