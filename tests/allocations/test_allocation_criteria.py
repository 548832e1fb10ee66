"""Criteria of a scope card on allocations: which measure, which threshold, who meets it."""

import subprocess
import sys

import numpy as np
import pytest

from accordant.allocations import Criterion, criteria_of, enumerate_options, met, values_of
from accordant.allocations.measures import measures
from accordant.errors import InputError
from accordant.scope import ScopeCard

DECLARED = [
    {"metric": "access_gap", "params": {"group": "sex"}, "threshold": 0.25},
    {"metric": "equal_opportunity_gap", "params": {"group": "sex", "urgent": "severity"}, "threshold": 0.34},
    {"metric": "need_capture", "threshold": 0.6},
    {"metric": "benefit_ratio", "threshold": 0.75},
]


def card(*criteria):
    return ScopeCard(id="triage", version="1", title="Beds", decision="who gets a bed", criteria=criteria)


def test_values_and_verdicts(small):
    criteria = criteria_of(card(*DECLARED))
    assert [each.label for each in criteria] == [
        "access_gap(group=sex) ≤ 0.25",
        "equal_opportunity_gap(group=sex, urgent=severity) ≤ 0.34",
        "need_capture ≥ 0.6",
        "benefit_ratio ≥ 0.75",
    ]
    scenario = small.ward()
    shares = enumerate_options(scenario).shares
    values, held = values_of(criteria, scenario, shares), met(criteria, scenario, shares)
    assert values.shape == held.shape == (4, 792)
    for criterion, row, verdicts in zip(criteria, values, held, strict=True):
        assert np.array_equal(row, criterion.measure.of(scenario, shares), equal_nan=True)
        better = row <= criterion.threshold + 1e-9 if "gap" in criterion.label else row >= criterion.threshold - 1e-9
        assert np.array_equal(verdicts, better)
    assert 0 < held.all(axis=0).sum() < 792


def test_what_is_not_defined_is_not_met(small):
    scenario = small.ward().with_facts("sex", ["f"] * 12)
    criteria = criteria_of(card(DECLARED[0]))
    shares = enumerate_options(scenario).shares
    assert np.isnan(values_of(criteria, scenario, shares)).all()
    assert not met(criteria, scenario, shares).any()


def test_no_criteria(small):
    scenario = small.ward()
    shares = enumerate_options(scenario).shares
    assert criteria_of(card()) == ()
    assert values_of((), scenario, shares).shape == met((), scenario, shares).shape == (0, 792)


def test_rounding_is_forgiven(small):
    scenario = small.ward(6, 3)
    shares = enumerate_options(scenario).shares
    gap = measures.create("access_gap", {"group": "sex"})
    criteria = (Criterion("gap", gap, 1 / 3 - 1e-12),)
    assert met(criteria, scenario, shares)[0].sum() == (gap.of(scenario, shares) < 0.4).sum() > 0


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"metric": "need_captured", "threshold": 1}, "did you mean 'need_capture'"),
        ({"metric": "need_capture"}, "'need_capture' of card 'triage' has no threshold; allowed: a number"),
        ({"metric": "access_gap", "threshold": 1}, "parameter 'group' is missing"),
        ({"metric": "access_gap", "params": {"groups": "sex"}, "threshold": 1}, "did you mean 'group'"),
        ({"metric": "outcome_atkinson", "params": {"epsilon": -1}, "threshold": 1}, "epsilon is -1"),
    ],
)
def test_wrong_cards(declared, message):
    with pytest.raises(InputError) as caught:
        criteria_of(card(declared))
    assert message in str(caught.value)


def test_the_same_criterion_twice():
    with pytest.raises(InputError, match="'need_capture ≥ 0.6' twice"):
        criteria_of(card(DECLARED[2], DECLARED[2]))
    stricter = DECLARED[2] | {"threshold": 0.8}
    assert len(criteria_of(card(DECLARED[2], stricter))) == 2


@pytest.mark.parametrize("threshold", [np.nan, np.inf, True, "0.5", None])
def test_wrong_thresholds(threshold):
    with pytest.raises(InputError, match="threshold is"):
        Criterion("need", measures.create("need_capture"), threshold)


def test_wrong_shapes(small):
    scenario = small.ward()
    for shares in (np.zeros(12), np.zeros((3, 11))):
        with pytest.raises(InputError, match=r"allowed: \(option, patient\) for 12 patients"):
            values_of((), scenario, shares)


def test_import_is_light():
    heavy = "{'scipy', 'sklearn', 'pandas', 'matplotlib', 'joblib', 'numba', 'torch'}"
    code = f"import sys, accordant.allocations as a; a.measures.measures.names(); print({heavy} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
