"""The split in time, against a slow twin; days, capacities and providers by hand and by exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.cases.tourism.tables import FAMOUS, SMALL, capacities, famous, providers
from accordant.slates.sources import service_days
from accordant.slates.cases.tourism.loader import counts_by_user, split_by_time, tours_of
from accordant.slates.cases.tourism.tables import Visits
from accordant.errors import DataError, InputError

ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 4), st.integers(0, 30), st.integers(0, 6)),
    min_size=1, max_size=25,
)  # fmt: skip


def visits_of(rows):
    """From (user, tour, item, start, duration)."""
    rows = sorted(rows, key=lambda r: (r[3], r[3] + r[4], r[2], r[0], str(r[1])))
    return Visits(
        tuple(r[0] for r in rows), tuple((r[0], str(r[1])) for r in rows), np.array([r[2] for r in rows], dtype=np.intp),
        np.array([float(r[3]) for r in rows]), np.array([float(r[3] + r[4]) for r in rows]), {}, 0,
    )  # fmt: skip


def twin(rows, share):
    """Tests as (start, user, tour, items) and training as a list of rows, by plain loops."""
    tours = {}
    for user, tour, item, start, length in rows:
        tours.setdefault((user, str(tour)), []).append((start, start + length, item))
    every = []
    for (user, tour), found in tours.items():
        items = []
        for _, _, item in sorted(found):
            if item not in items:
                items.append(item)
        if len(items) > 1:
            every.append((min(found)[0], user, tour, tuple(items)))
    every.sort()
    if not every:
        return None
    tests = every[len(every) - math.ceil(share * len(every)) :]
    return tests, sorted(row for row in rows if row[3] + row[4] < tests[0][0])


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(ROWS, st.sampled_from([0.2, 0.5, 0.99]))
def test_the_split_against_its_twin(rows, share):
    visits, expected = visits_of(rows), twin(rows, share)
    if expected is None:
        with pytest.raises(DataError, match="no tour has 2 different attractions"):
            split_by_time(visits, share)
        return
    tests, training = expected
    if not training:
        with pytest.raises(DataError, match="nothing to learn from"):
            split_by_time(visits, share)
        return
    split = split_by_time(visits, share)
    assert [(t.start, t.user, t.name, t.items) for t in split.tests] == tests
    learned = np.flatnonzero(split.training)
    assert sorted((visits.users[r], visits.items[r], visits.starts[r], visits.ends[r]) for r in learned) == sorted(
        (r[0], r[2], r[3], r[3] + r[4]) for r in training
    )
    assert all(visits.ends[r] < split.time <= tour.start for r in learned for tour in split.tests)
    users = [tour.user for tour in split.tests]
    counts = counts_by_user(users, visits, split.training, 5)
    for column, user in enumerate(users):
        assert counts[:, column].tolist() == [sum(r[0] == user and r[2] == item for r in training) for item in range(5)]


def test_a_tour_has_each_attraction_once_in_the_order_of_first_visits():
    tours = tours_of(visits_of([("a", 1, 2, 5, 0), ("a", 1, 0, 1, 0), ("a", 1, 2, 0, 0), ("b", 1, 4, 0, 0)]))
    assert [(tour.user, tour.items) for tour in tours] == [("a", (2, 0)), ("b", (4,))]  # tour 1 of a is not that of b


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_out_of_range(share):
    with pytest.raises(InputError, match="test_share is"):
        split_by_time(visits_of([("a", 1, 0, 0, 0), ("a", 1, 1, 1, 0)]), share)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 12), st.integers(1, 9))
def test_service_days_hold_every_request_once_in_order(requests, per_day, batch):
    parts = list(service_days(requests, per_day, batch))
    assert [place for _, part in parts for place in range(part.start, part.stop)] == list(range(requests))
    for day, part in parts:
        assert 1 <= part.stop - part.start <= batch
        assert {place // per_day for place in range(part.start, part.stop)} == {day}


@pytest.mark.parametrize(("per_day", "batch", "name"), [(0, 1, "per_day"), (3, 0, "batch"), (2.5, 1, "per_day")])
def test_days_need_whole_numbers(per_day, batch, name):
    with pytest.raises(InputError, match=f"{name}.* allowed: a whole number of at least 1"):
        list(service_days(3, per_day, batch))


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.integers(1, 50), st.integers(1, 40))
def test_capacities_in_exact_fractions(popularity, per_day, tenths):
    found = capacities(np.full(len(popularity), np.nan), np.array(popularity, float), per_day, tenths / 10)
    for visits, capacity in zip(popularity, found, strict=True):
        exact = Fraction(tenths, 10) * per_day * Fraction(visits, sum(popularity))
        assert capacity == pytest.approx(float(max(Fraction(1), exact)))


def test_declared_capacities_stand():
    found = capacities(np.array([0.0, np.nan, np.inf]), np.array([5.0, 4.0, 1.0]), 10, 1.5)
    assert found.tolist() == [0.0, 6.0, np.inf]
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InputError, match="capacity_share"):
            capacities(np.array([np.nan]), np.array([1.0]), 10, wrong)


@settings(deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=7).filter(any), st.integers(1, 9))
def test_the_famous_are_the_fewest_with_their_share(popularity, tenths):
    found = famous(np.array(popularity, float), tenths / 10)
    needed = Fraction(tenths, 10) * sum(popularity)
    held = sum(v for v, each in zip(popularity, found, strict=True) if each)
    assert held >= needed
    assert sum(sorted(popularity, reverse=True)[: found.sum() - 1]) < needed  # one fewer does not do
    assert max([0, *(v for v, each in zip(popularity, found, strict=True) if not each)]) <= min(
        v for v, each in zip(popularity, found, strict=True) if each
    )


def test_providers_as_declared_or_in_two_groups():
    assert providers([None, None, None], np.array([6.0, 4.0, 2.0]), 0.5) == (FAMOUS, SMALL, SMALL)
    assert providers([None, "x", None], np.array([6.0, 4.0, 2.0]), 0.5) == (None, "x", None)
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="famous_share"):
            famous(np.array([1.0]), wrong)
