"""Fairness of the history: by hand, against slow twins, and where it is not defined."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import ExpectedRewards
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rules.dynamic import History, history_fairness
from accordant.slates.rules.dynamic.history import SPARE, RunningHistory
from accordant.slates.slates import WINDOW

NO_ITEMS = np.zeros((2, 0), dtype=bool)
PROTECTED = np.array([[True, False, False, True], [False, True, False, False]])


def history(slates, attained=None):
    slates = np.array(slates, dtype=np.intp).reshape(len(slates), -1)
    given = np.full((2, len(slates)), np.nan) if attained is None else np.array(attained, dtype=float)
    return History(slates, given)


def twin(name, slates, protected, target, k):
    """One stakeholder, with loops; None where it is not defined."""
    shown = [[item for item in slate if item >= 0] for slate in slates]
    n = sum(protected) / len(protected)
    if not any(protected):
        return None
    if name == "proportional_item":
        every = [item for slate in shown for item in slate]
        return min(1, sum(protected[item] for item in every) / len(every) / target) if every else None
    if name == "mrr":
        firsts = [next((rank for rank, item in enumerate(slate, 1) if protected[item]), None) for slate in shown]
        return min(1, sum(0 if rank is None else 1 / rank for rank in firsts) / len(firsts) / target)
    own = sum(1 / math.log2(rank + 1) for slate in shown for rank, item in enumerate(slate, 1) if protected[item])
    other = sum(1 / math.log2(rank + 1) for slate in shown for rank, item in enumerate(slate, 1) if not protected[item])
    return min(1, (own / n) / (other / (1 - n)) / target) if other else None


@pytest.mark.parametrize("name", sorted(history_fairness))
def test_an_empty_history_owes_nothing(name):
    found = history_fairness.create(name).of(History(np.empty((0, 3), dtype=np.intp), np.empty((2, 0))), PROTECTED)
    assert found.values.tolist() == [1.0, 1.0]
    assert not found.reasons


def test_attained_by_hand():
    measure = history_fairness.create("attained")
    found = measure.of(history([[0], [1]], [[0.2, 0.6], [np.nan, 0.5]]), NO_ITEMS)
    assert found.values == pytest.approx([0.4, 0.5])
    known = measure.of(history([[0], [1]], [[0.2, 0.6], [0.1, 0.5]]), NO_ITEMS)
    assert known.values == pytest.approx([0.4, 0.3])
    none = measure.of(history([[0]], [[np.nan], [0.5]]), NO_ITEMS)
    assert np.isnan(none.values[0])
    assert none.values[1] == 0.5
    assert none.reasons == {0: "all lists so far were alike for this stakeholder"}


@given(
    st.lists(st.permutations([0, 1, 2, 3]).map(lambda order: order[:3]), min_size=1, max_size=5),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=2),
    st.floats(0.05, 3),
)
@settings(max_examples=80, deadline=None)
def test_items_against_the_twin(slates, lengths, protected, target):
    cut = [slate[:length] + [-1] * (3 - min(3, length)) for slate, length in zip(slates, lengths)]
    for name in ("proportional_item", "mrr", "disparate_exposure"):
        measure = history_fairness.create(name, {"target": target})
        found = measure.of(history(cut), np.array(protected))
        for i in range(2):
            expected = twin(name, cut, protected[i], target, 3)
            if expected is None:
                assert np.isnan(found.values[i])
                assert found.reasons[i]
            else:
                assert found.values[i] == pytest.approx(expected, abs=1e-12)
                assert i not in found.reasons


def test_reasons_are_said():
    exposure = history_fairness.create("disparate_exposure")
    found = exposure.of(history([[0, 3]]), PROTECTED)
    assert np.isnan(found.values[0])
    assert found.reasons[0] == "no unprotected item was shown, there is nothing to compare with"
    assert found.values[1] == 0.0
    share = history_fairness.create("proportional_item")
    assert share.of(history([[-1]]), PROTECTED).reasons == dict.fromkeys((0, 1), "every slate so far was empty")
    nobody = share.of(history([[0]]), np.zeros((2, 4), dtype=bool))
    assert nobody.reasons == dict.fromkeys((0, 1), "no item is protected for this stakeholder")


def candidates():
    values = np.array([[0.1, 0.9, 0.5, 0.2, 0.3], [0.3, 0.3, 0.3, 0.3, 0.3]])[:, :, None].repeat(2, 2)
    return Candidates(ExpectedRewards(values, stakeholders=["shop", "town"], actions=list("vwxyz")))


def test_protected_items():
    two_fifths = history_fairness.create("mrr", {"share": 0.4}).protected(candidates())
    assert two_fifths.tolist() == [[False, True, True, False, False], [True, True, False, False, False]]
    declared = history_fairness.create("mrr", {"share": 0.01, "items": {"town": ["z", "v"]}}).protected(candidates())
    assert declared.tolist() == [[False, True, False, False, False], [True, False, False, False, True]]
    assert history_fairness.create("attained").protected(candidates()).shape == (2, 0)
    for items, message in ({"towm": ["z"]}, "did you mean 'town'"), ({"town": ["q"]}, "unknown protected item 'q'"):
        with pytest.raises(UnknownNameError, match=message):
            history_fairness.create("mrr", {"items": items}).protected(candidates())
    for parameters, message in (
        ({"target": 0}, "target is 0"),
        ({"share": 0}, "share is 0"),
        ({"share": 1.1}, "share is"),
    ):
        with pytest.raises(InputError, match=message):
            history_fairness.create("proportional_item", parameters)


def test_the_running_history_is_the_end_of_the_whole():
    rng = np.random.default_rng(0)
    length = WINDOW + 2 * SPARE + 7
    slates, attained = rng.integers(-1, 5, (length, 3)), rng.random((2, length))
    running = RunningHistory(slates[:30], attained[:, :30], 3)
    for t in range(30, length):
        running.add(slates[t], attained[:, t])
        if t % 97 == 0 or t > length - 3:
            first = max(0, t + 1 - WINDOW)
            np.testing.assert_array_equal(running.seen.slates, slates[first : t + 1])
            np.testing.assert_array_equal(running.seen.attained, attained[:, first : t + 1])


def test_longer_slates_than_before():
    running = RunningHistory(np.array([[1, 2]]), np.zeros((1, 1)), 4)
    running.add(np.array([0, 1, 2, 3]), np.ones(1))
    assert running.seen.slates.tolist() == [[1, 2, -1, -1], [0, 1, 2, 3]]
    shorter = RunningHistory(np.array([[1, 2, 3]]), np.zeros((1, 1)), 1)
    shorter.add(np.array([4]), np.ones(1))
    assert shorter.seen.slates.tolist() == [[1, 2, 3], [4, -1, -1]]
