"""What is shown to several agents cannot be written, not even by setting flags, and survives copies and pickles."""

import copy
import pickle

import numpy as np
import pytest

from accordant.allocations import Allocation, Claimant, Resource, Scenario
from accordant.allocations.allocation import unlike
from accordant.allocations.enumeration import enumerate_options
from accordant.allocations.allocation import Options
from accordant.allocations.scenario import is_sealed, sealed


def scenario(portion=0.5, units=1.0, names=("bed", "nurse"), n=3):
    patients = [Claimant(f"p{i}", {"severity": i / 3}, dict.fromkeys(names, units)) for i in range(n)]
    return Scenario(patients, [Resource(name, 2.0, portion) for name in names], name="ward")


def arrays(ward):
    options = enumerate_options(ward)
    allocation = options.allocation(1)
    return {
        "demand": ward.demand,
        "capacity": ward.capacity,
        "granted": options.granted,
        "one option": options.granted[1],
        "shares": options.shares,
        "a row of shares": options.shares[0],
        "allocation": allocation.granted,
    }


@pytest.mark.parametrize("values", [np.arange(6).reshape(2, 3), np.zeros((0, 3)), np.arange(6.0).reshape(2, 3).T])
def test_sealed_numbers_are_the_same_and_cannot_be_written(values):
    found = sealed(values)
    assert np.array_equal(found, values) and found.dtype == values.dtype
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.setflags(write=True)
    assert is_sealed(found) and is_sealed(found[:1]) and not is_sealed(values)
    assert sealed(found) is found


@pytest.mark.parametrize(
    "copied", [lambda each: each, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
)  # worker processes get pickles
def test_nothing_that_is_shown_can_be_written(copied):
    ward = scenario()
    arrays(ward)  # arrays are computed before the copy is made
    for name, each in arrays(copied(ward)).items():
        with pytest.raises(ValueError, match="read-only"):
            each -= 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            each.setflags(write=True)
        assert is_sealed(each), name


def test_options_and_allocations_are_sealed_again_after_a_pickle():
    options = enumerate_options(scenario())
    other = pickle.loads(pickle.dumps((options, options.allocation(3))))
    assert is_sealed(other[0].granted) and is_sealed(other[0].shares) and is_sealed(other[1].granted)
    assert np.array_equal(other[0].granted, options.granted) and other[1] == options.allocation(3)


def test_options_of_a_search_are_sealed_too():
    granted = np.array(enumerate_options(scenario()).granted)
    found = Options(scenario(), granted, complete=False)
    granted[:] = 0
    assert found.granted.any() and is_sealed(found.granted)


def test_facts_and_demands_are_read_only_copies():
    facts, demand = {"severity": 0.5}, {"bed": 1.0}
    patient = Claimant("p", facts, demand)
    facts["severity"], demand["bed"] = 0.9, 2.0
    assert (patient.facts["severity"], patient.demand["bed"]) == (0.5, 1.0)
    for shown in (patient.facts, patient.demand):
        with pytest.raises(TypeError, match="does not support item assignment"):
            shown["severity"] = 1.0
    assert patient == Claimant("p", {"severity": 0.5}, {"bed": 1.0}) != Claimant("p", {"severity": 0.6}, {"bed": 1.0})


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_are_equal_and_have_the_same_hash(copied):
    ward = scenario()
    other = copied(ward)
    assert other.claimants == ward.claimants and other.hash == ward.hash and other.ids == ward.ids
    with pytest.raises(TypeError, match="does not support item assignment"):
        other.claimants[0].facts["severity"] = 1.0


class TestUnlike:
    def test_the_same_portions_mean_the_same(self):
        ward = scenario()
        assert unlike(ward, ward) is None and unlike(scenario(), ward) is None
        assert unlike(ward.seen([]), ward) is None
        wider = Scenario(ward.claimants, [Resource("bed", 3.0, 0.5), Resource("nurse", 2.0, 0.5)])
        assert unlike(wider, ward) is None  # whether it is feasible is judged where it is made

    @pytest.mark.parametrize(
        ("other", "match"),
        [
            (scenario(n=2), "for the patients p0, p1; allowed"),
            (scenario(names=("bed", "oxygen")), "resources bed by 0.5, oxygen by 0.5; allowed"),
            (scenario(portion=0.25), "resources bed by 0.25"),
            (scenario(units=0.5), "another demand of patient 'p0'"),
        ],
    )
    def test_other_patients_resources_or_demands_do_not(self, other, match):
        assert match in unlike(other, scenario())

    def test_resources_in_another_order_mean_the_same_by_name(self):
        ward = scenario()
        turned = Scenario(ward.claimants, ward.resources[::-1])
        given = Allocation.of(turned, {"p0": {"bed": 1.0, "nurse": 0.5}, "p1": {"bed": 1.0, "nurse": 1.0},
                                       "p2": {"nurse": 0.5}})  # fmt: skip
        assert unlike(turned, ward) is None
        assert Allocation(ward, given.granted).to_json() == given.to_json()
