"""Who consumed what: sums, starts within sessions, sparse rows, and wrong input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.relevance import NOWHERE, Interactions
from accordant.slates.relevance.counts import Rows

VISITS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 6)), max_size=12)


def of(users, items, **more):
    return Interactions.of(4, 5, users, items, **more)


class TestStarts:
    @given(VISITS, st.sampled_from(["first", "previous"]))
    def test_brute_force(self, visits, start):
        sessions, items, times = ([visit[j] for visit in visits] for j in range(3))
        found = of([0] * len(visits), items, times=times).within(sessions, start)
        for row, (session, _, _) in enumerate(visits):
            mine = sorted((times[j], j) for j in range(len(visits)) if sessions[j] == session)
            place = [j for _, j in mine].index(row)
            before = mine[0 if start == "first" else place - 1][1]
            assert found.starts[row] == (items[before] if place else NOWHERE)
        assert found.items.tolist() == items

    def test_sessions_may_have_names(self):
        found = of([0] * 4, [3, 1, 2, 0]).within(["b", "a", "b", "b"])
        assert found.starts.tolist() == [-1, -1, 3, 2]

    def test_wrong_start(self):
        with pytest.raises(UnknownNameError, match="did you mean 'previous'"):
            of([0], [0]).within([0], "previos")

    def test_wrong_sessions(self):
        with pytest.raises(InputError, match=r"sessions have shape \(1,\); allowed: \(2,\)"):
            of([0, 0], [0, 1]).within([0])


class TestSums:
    def test_popularity_and_reach(self):
        found = of([0, 0, 1, 2], [1, 1, 1, 4], counts=[2, 1, 1, 5])
        assert found.popularity.tolist() == [0, 4, 0, 0, 5]
        assert found.reach == pytest.approx([0, 2 / 3, 0, 0, 1 / 3])
        assert of([2, 2], [1, 4]).reach.tolist() == [0, 1, 0, 0, 1]  # of those with a row, which is one

    def test_nothing_at_all(self):
        assert not of([], []).popularity.any()
        assert not of([], []).reach.any()
        assert of([], []).within([]).starts.shape == (0,)


class TestRows:
    @given(VISITS)
    def test_dense_twin(self, visits):
        dense = np.zeros((4, 5))
        for user, item, count in visits:
            dense[user, item] += count + 1
        users, items, counts = ([visit[j] for visit in visits] for j in range(3))
        rows = Rows.of(of(users, items, counts=[count + 1 for count in counts]))
        assert np.array_equal(rows.dense, dense)
        assert np.array_equal(rows.turned.dense, dense.T)
        for user, (columns, values) in enumerate(rows):
            assert columns.tolist() == np.flatnonzero(dense[user]).tolist()
            assert np.array_equal(values, dense[user, columns])
        assert not len(rows.row(-1)[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"users": [0, 4]}, "users name position 4; allowed: 0 to 3"),
        ({"items": [0, -1]}, "items name position -1; allowed: 0 to 4"),
        ({"starts": [-2, 0]}, "starts name position -2; allowed: -1 to 4"),
        ({"counts": [1, 0]}, "allowed: counts above 0"),
        ({"counts": [1, np.inf]}, "allowed: counts above 0"),
        ({"times": [0, np.nan]}, "finite times"),
        ({"items": [0]}, r"items has shape \(1,\); allowed: \(2,\)"),
    ],
)
def test_wrong_input(changes, message):
    with pytest.raises(InputError, match=message):
        Interactions.of(**({"n_users": 4, "n_items": 5, "users": [0, 1], "items": [0, 1]} | changes))


def test_the_bounds_of_rows_end_with_the_last_row():
    rows = Rows.of(Interactions.of(4, 3, [0, 0, 2], [1, 2, 0]))
    assert rows.bounds.tolist() == [0, 2, 2, 3, 3]
