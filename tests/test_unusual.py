"""What is declared for unusual contexts: who goes first, what decisions become, and how rows are counted."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.decisions import Decisions
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.recommendation import Recommendations
from accordant.unusual import Unusual, UnusualCounts, UnusualSpec
from accordant.utilities import ExpectedRewards

ACTIONS = ("Grant", "Deny")


@pytest.fixture
def unusual():
    """Six rows: usual, one of each kind, and one that is unusual in every way."""
    kinds = ("unseen", "out_of_range", "missing", "far")
    masks = {kind: np.arange(6) == k for k, kind in enumerate(kinds, 1)}
    everything = {kind: mask | (np.arange(6) == 5) for kind, mask in masks.items()}
    return Unusual(everything, np.array(["", *kinds, "all"], dtype=object))


@pytest.fixture
def recommended():
    E = ExpectedRewards(np.array([[[0.9] * 6, [0.1] * 6]]), stakeholders=["Bank"], actions=list(ACTIONS))
    policy = np.array([[0.75] * 6, [0.25] * 6])
    decisions = Decisions("rule", ACTIONS, np.zeros(6, int), np.ones(6, bool), E.values[0], policy)
    return Recommendations.of(decisions, E)


@pytest.mark.parametrize(
    ("declared", "referred", "taken"),
    [
        ({}, [], {}),
        ({"far": "refer"}, [4, 5], {}),
        ({"missing": "Deny"}, [], {3: 1, 5: 1}),
        ({"unseen": "Grant", "missing": "Deny"}, [], {1: 0, 3: 1, 5: 0}),
        ({"unseen": "Grant", "far": "refer"}, [4, 5], {1: 0}),
        ({"far": "Deny", "out_of_range": "Grant"}, [], {2: 0, 4: 1, 5: 0}),
    ],
)
def test_referring_goes_first_and_then_the_first_kind(unusual, declared, referred, taken):
    spec = UnusualSpec(**declared)
    assert np.flatnonzero(spec.referred(unusual)).tolist() == referred
    found = spec.fall_backs(unusual, ACTIONS)
    assert {row: action for row, action in enumerate(found.tolist()) if action >= 0} == taken


def test_no_action_stands_where_a_person_decides(unusual, recommended):
    found = recommended.handled(unusual, UnusualSpec(unseen="refer", missing="Deny"))
    assert found.decisions.actions.tolist() == ["Grant", "", "Grant", "Deny", "Grant", ""]
    table = found.to_frame()
    assert table["action"].tolist() == found.decisions.actions.tolist()
    assert table["referred"].tolist() == [False, True, False, False, False, True]
    assert table["fall_back"].tolist() == [False, False, False, True, False, False]
    assert table["tied"].tolist() == [True, False, True, False, True, False]
    assert table["runner_up"].tolist() == ["Deny", "", "Deny", "", "Deny", ""]
    assert np.isnan(table["margin"]).tolist() == [False, True, False, True, False, True]
    assert table["P[Deny]"].tolist()[::3] == [0.25, 1.0] and np.isnan(table["P[Grant]"][1])
    assert (table["E[Bank, Grant]"] == 0.9).all()
    assert found.counts == UnusualCounts(6, 5, dict.fromkeys(unusual.kinds, 2), 2, 1)


def test_by_default_nothing_changes_but_the_remarks(unusual, recommended):
    found = recommended.handled(unusual, UnusualSpec())
    assert found.decisions is recommended.decisions and not found.referred.any()
    assert set(found.columns()) - set(recommended.columns()) == {"unusual", "referred", "fall_back"}
    assert found.columns()["unusual"].tolist() == unusual.remarks.tolist()


def test_counts_of_batches_add_up(unusual, recommended):
    one = recommended.handled(unusual, UnusualSpec(far="refer")).counts
    both = one + one
    assert (both.rows, both.unusual, both.referred, both.kinds["far"]) == (12, 10, 4, 4)
    assert both.sentence() == (
        "10 of 12 rows are unusual (unseen 4, out of range 4, missing 4, far 4): "
        "4 are referred to a person, 0 get the fall-back action."
    )
    assert UnusualCounts(3).sentence() == "None of 3 rows is unusual."


@pytest.mark.parametrize(
    ("declared", "actions", "error", "message"),
    [
        ({"far": "Dney"}, ACTIONS, UnknownNameError, "unknown far in unusual: 'Dney'; did you mean 'Deny'"),
        ({"far": "refer"}, ("refer", "treat"), InputError, "'refer' is an action of this problem too"),
        ({"fra": "refer"}, ACTIONS, SpecError, "did you mean 'far'"),
    ],
)
def test_what_cannot_be_declared(declared, actions, error, message):
    with pytest.raises(error, match=message):
        UnusualSpec(**declared).check(actions)
