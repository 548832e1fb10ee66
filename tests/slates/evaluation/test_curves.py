"""Curves of popularity and crowding by hand, and against loops."""

import json
import math

import numpy as np
import pytest

from accordant.slates.evaluation import crowding_curve, popularity_curve
from accordant.slates import measures

SECOND = 1 / math.log2(3)


def test_popularity_by_hand(lists_of):
    """c1 and c2 are as popular: declared order. c3 is closed, c0 is never shown."""
    shown = lists_of(
        [[1, 2], [1, 2]], np.full((1, 4, 2), 0.5), popularity=[1, 2, 2, 9], capacity=[np.inf, np.inf, np.inf, 0]
    )
    found = popularity_curve(shown)
    assert found.items == ("c1", "c2", "c0")
    assert list(found.popularity) == [0.4, 0.4, 0.2]
    assert list(found.exposure) == pytest.approx([1 / (1 + SECOND), SECOND / (1 + SECOND), 0.0])
    assert list(found.lorenz) == pytest.approx([0.0, 0.0, SECOND / (1 + SECOND), 1.0])
    assert found.gini == pytest.approx(measures.create("exposure_gini").of(shown))


def test_gini_is_the_area_of_the_lorenz_curve(served):
    for shown in served.values():
        found = popularity_curve(shown)
        area = np.trapezoid(found.lorenz, dx=1 / len(found.items))
        assert found.gini == pytest.approx(1 - 2 * area)
        assert (np.diff(found.lorenz, 2) >= -1e-12).all()  # it is convex
        assert sum(found.exposure) == pytest.approx(1.0)
        json.dumps(found.model_dump(mode="json"), allow_nan=False)


def test_nothing_shown(lists_of):
    shown = lists_of([[-1]], np.full((1, 2, 1), 0.5), available=np.zeros((2, 1), dtype=bool), popularity=[0, 0])
    found = popularity_curve(shown)
    assert found.gini is None
    assert set(found.exposure) == {None} == set(found.popularity)
    assert found.model_dump(mode="json")["lorenz"] == [None, None, None]
    assert crowding_curve(shown).items == ()


def test_crowding_against_loop(served):
    shown = served["total"]
    found, catalogue = crowding_curve(shown), shown.market.catalogue
    limited = {name for name, capacity in zip(catalogue.items, catalogue.capacity, strict=True) if capacity < np.inf}
    assert set(found.items) == limited
    assert (np.diff(found.peak) <= 0).all()
    beyond = 0.0
    for place, name in enumerate(found.items):
        item = catalogue.items.index(name)
        load = {day: 0.0 for day in shown.days.tolist()}
        for t, day in enumerate(shown.days.tolist()):
            load[day] += shown.visits[item, t]
        full = [visits / catalogue.capacity[item] for visits in load.values()]
        assert found.peak[place] == pytest.approx(max(full))
        assert found.mean[place] == pytest.approx(sum(full) / 3)
        assert found.days_over[place] == pytest.approx(sum(each > 1 for each in full) / 3)
        beyond += sum(max(0.0, visits - catalogue.capacity[item]) for visits in load.values())
    assert measures.create("overload").of(shown) == pytest.approx(beyond / shown.visits.sum())
    assert found.peak[0] > 1 > found.peak[-1] or max(found.days_over) > 0
    json.dumps(found.model_dump(mode="json"), allow_nan=False)


def test_full_is_not_too_full(lists_of):
    """Two visits to c0 and c1 each; the limits are 2 and 1.5."""
    shown = lists_of([[0], [0], [1], [1]], np.full((1, 3, 4), 0.5), capacity=[2.0, 1.5, np.inf])
    found = crowding_curve(shown)
    assert found.items == ("c1", "c0")
    assert list(found.capacity) == [1.5, 2.0]
    assert list(found.peak) == pytest.approx([4 / 3, 1.0])
    assert list(found.days_over) == [1.0, 0.0]
