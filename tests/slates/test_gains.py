"""Gains: utilities of lists between the worst and the best list of the same length, against every list there is."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.candidates import extremes, gains_of
from accordant.slates.slates import NOTHING, Slates


def shown(candidates, items):
    items = np.asarray(items)
    return Slates("fixed", candidates.items, items, np.zeros(len(items), dtype=bool))


def by_hand(values, available, items):
    """Return utility, ideal and worst of each stakeholder for one user by trying every list, or None."""
    taken = [item for item in items if item != NOTHING]
    found = []
    for row in values:
        exact = [Fraction(float(value)) for value in row]
        if not taken:
            found.append((None, None, None))
            continue
        every = [
            sum(exact[c] for c in chosen) / len(taken)
            for chosen in combinations([c for c in range(len(row)) if available[c]], len(taken))
        ]
        found.append((sum(exact[c] for c in taken) / len(taken), max(every), min(every)))
    return found


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_gains_equal_those_over_every_list(make_candidates, data):
    n_items, n_users, k = (data.draw(st.integers(1, high)) for high in (6, 3, 7))
    levels = st.integers(0, 4)
    values = np.array(data.draw(st.lists(levels, min_size=2 * n_items * n_users, max_size=2 * n_items * n_users)))
    values = (
        values.reshape(2, n_items, n_users) / 4 if data.draw(st.booleans()) else values.reshape(2, n_items, n_users) / 7
    )
    flags = data.draw(st.lists(st.booleans(), min_size=n_items * n_users, max_size=n_items * n_users))
    available = np.array(flags).reshape(n_items, n_users)
    lists = np.full((n_users, k), NOTHING)
    for user in range(n_users):
        there = data.draw(st.permutations(np.flatnonzero(available[:, user]).tolist()))
        there = there[: data.draw(st.integers(0, min(k, len(there))))]  # a rule may withhold items
        lists[user, : len(there)] = there
    given_ = make_candidates(values, available)
    found = gains_of(shown(given_, lists), given_)
    for user in range(n_users):
        for i, (utility, ideal, worst) in enumerate(by_hand(values[:, :, user], available[:, user], lists[user])):
            got = found.utilities[i, user], found.ideal[i, user], found.worst[i, user]
            if utility is None:
                assert np.isnan([*got, found.attained[i, user], found.regret[i, user]]).all()
                continue
            assert got == pytest.approx((float(utility), float(ideal), float(worst)), abs=1e-12)
            assert found.regret[i, user] == pytest.approx(float(ideal - utility), abs=1e-12)
            if ideal == worst:
                assert np.isnan(found.attained[i, user])
            else:
                share = float((utility - worst) / (ideal - worst))
                assert found.attained[i, user] == pytest.approx(share, abs=1e-9)
                assert 0 <= found.attained[i, user] <= 1


def test_whoever_is_indifferent_attains_nothing_and_loses_nothing(make_candidates):
    candidates = make_candidates([[[0.3], [0.3 + 1e-12], [0.3]], [[0.0], [0.5], [1.0]]])
    found = gains_of(shown(candidates, [[2, 1]]), candidates)
    assert np.isnan(found.attained[0, 0]) and found.regret[0, 0] == pytest.approx(0.0, abs=1e-11)
    assert found.attained[1, 0] == 1.0


def test_whoever_may_see_no_more_than_fits_is_indifferent(make_candidates):
    """k of at least the number of items: there is one list only."""
    candidates = make_candidates([[[0.1], [0.9]]])
    assert np.isnan(gains_of(shown(candidates, [[0, 1, NOTHING]]), candidates).attained).all()


def test_the_order_of_places_does_not_matter(make_candidates):
    values = np.random.default_rng(0).random((3, 5, 2))
    candidates = make_candidates(values)
    first, other = (
        gains_of(shown(candidates, lists), candidates) for lists in ([[0, 3, 4], [1, 2, 0]], [[4, 0, 3], [0, 1, 2]])
    )
    assert np.allclose(first.attained, other.attained, rtol=0, atol=1e-12)


def test_scaling_and_shifting_change_no_shares(make_candidates):
    """Shares attained are between one's own worst and best: how large rewards are does not matter."""
    values = np.random.default_rng(1).random((2, 6, 4))
    lists = [[0, 1], [2, 3], [4, 5], [1, 5]]
    first, other = make_candidates(values), make_candidates(0.25 * values + 0.5)
    shares = [gains_of(shown(each, lists), each).attained for each in (first, other)]
    assert np.allclose(*shares, rtol=0, atol=1e-9)


def test_single_precision_stays_in_range(make_candidates):
    values = np.random.default_rng(2).random((3, 8, 50)).astype(np.float32)
    candidates = make_candidates(values, dtype=np.float32)
    best = np.argsort(-values[0], axis=0)[:3].T
    found = gains_of(shown(candidates, best), candidates)
    assert found.attained[0].tolist() == pytest.approx([1.0] * 50) and (found.attained <= 1).all()


def test_extremes_know_what_may_be_shown(make_candidates):
    candidates = make_candidates([[[0.9], [0.5], [0.1]]], np.array([False, True, True]))
    ideal, worst = extremes(candidates, np.array([1]))
    assert (ideal[0, 0], worst[0, 0]) == (0.5, 0.1)


def test_no_users(make_candidates):
    candidates = make_candidates(np.empty((2, 3, 0)))
    found = gains_of(shown(candidates, np.empty((0, 2), dtype=int)), candidates)
    assert found.attained.shape == (2, 0)
