"""Floors of lists against all lists of small instances: what holds, what is impossible, what is changed."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.candidates import gains_of
from accordant.slates.rules.baselines import StakeholderSlate
from accordant.slates.rules import floor_exchanges
from accordant.slates.rules.floors import Floored
from accordant.slates.rules.welfare import LeximinSlate
from accordant.slates.rules.welfare import UtilitarianSlate
from accordant.utilities import ExpectedRewards

GRID = 8


def no_exchange(shelf):
    return np.zeros(len(shelf.items), dtype=bool)


def candidates(values, available=None, weights=None):
    values = np.asarray(values)
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    return Candidates(ExpectedRewards(values, stakeholders=names[0], actions=names[1]), available, weights)


def holding(values, available, floors, length):
    """Every list of one user that holds all floors, in exact fractions."""
    exact = [[Fraction(each) for each in row] for row in values]
    open_ = np.flatnonzero(available).tolist()
    for items in itertools.combinations(open_, length):
        for i, floor in floors.items():
            ordered = sorted(exact[i][c] for c in open_)
            worst, best = sum(ordered[:length]), sum(ordered[len(ordered) - length :])
            if best > worst and sum(exact[i][c] for c in items) - worst < floor * (best - worst):
                break
        else:
            yield items


@st.composite
def worlds(draw):
    n, m, users = draw(st.integers(1, 4)), draw(st.integers(1, 7)), draw(st.integers(1, 2))
    levels = st.integers(0, draw(st.sampled_from([1, GRID])))
    values = np.array(draw(st.lists(levels, min_size=n * m * users, max_size=n * m * users))) / GRID
    available = np.array(draw(st.lists(st.sampled_from([True, True, True, False]), min_size=m * users,
                                       max_size=m * users)))  # fmt: skip
    weights = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(any))
    floors = draw(st.dictionaries(st.integers(0, n - 1), st.integers(0, 8).map(lambda each: each / 8)))
    return values.reshape(n, m, users), available.reshape(m, users), weights, floors, draw(st.integers(1, 4))


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(worlds())
def test_a_list_holds_floors_wherever_one_can(world):
    values, available, weights, floors, k = world
    given_ = candidates(values, available, weights)
    rule = Floored("utilitarian_slate", {f"s{i}": floor for i, floor in floors.items()})
    alone, found = UtilitarianSlate()(given_, k), rule(given_, k)
    attained = gains_of(found, given_).attained
    for u in range(values.shape[2]):
        length = min(k, int(available[:, u].sum()))
        lists = {frozenset(each) for each in holding(values[:, :, u], available[:, u], floors, length)}
        shown = frozenset(found.items[u][found.items[u] >= 0].tolist())
        assert len(shown) == length
        assert available[sorted(shown), u].all()
        assert found.flags["floor_unmet"][u] == found.flags["floor_impossible"][u] == (not lists)
        assert (shown in lists) == bool(lists)
        assert found.flags["changed"][u] == (found.items[u] != alone.items[u]).any()
        if frozenset(alone.items[u][alone.items[u] >= 0].tolist()) in lists:
            assert not found.flags["changed"][u]
        for i, floor in floors.items():
            missing = max(0.0, floor - attained[i, u]) if attained[i, u] == attained[i, u] else 0.0
            assert found.quantities["shortfall"][i, u] == pytest.approx(missing, abs=1e-8)


@pytest.mark.long
def test_what_repairs_cost():
    """Five stakeholders, lists of 3 of 9: what repairs cost beyond the best list, in sums of mean expected rewards.

    Measured: 0.004 on average, 0.11 at most, nothing for 27 of 28 repaired lists.
    """
    values = np.random.default_rng(0).random((5, 9, 60))
    given_ = candidates(values)
    found = Floored("utilitarian_slate", 0.45)(given_, 3)
    mean, extra = values.mean(axis=0), []
    for u in np.flatnonzero(found.flags["changed"] & ~found.flags["floor_unmet"]):
        lists = holding(values[:, :, u], np.ones(9, dtype=bool), dict.fromkeys(range(5), Fraction("0.45")), 3)
        best = max(mean[list(each), u].sum() for each in lists)
        extra.append(best - mean[found.items[u], u].sum())
    assert len(extra) > 10
    assert min(extra) > -1e-9
    assert np.mean(extra) < 0.01


@pytest.mark.long
def test_search_without_exchanges_finds_the_best_list_or_a_proof(monkeypatch):
    monkeypatch.setattr("accordant.slates.rules.floors.repair", no_exchange)
    values = np.random.default_rng(7).random((4, 8, 40))
    given_ = candidates(values, weights=[1, 2, 1, 0])
    found = Floored(StakeholderSlate("s3"), 0.6)(given_, 3)
    worth = np.einsum("i,icu->cu", [1, 2, 1, 0], values)
    for u in range(40):
        lists = list(holding(values[:, :, u], np.ones(8, dtype=bool), dict.fromkeys(range(3), Fraction("0.6")), 3))
        assert found.flags["floor_impossible"][u] == found.flags["floor_unmet"][u] == (not lists)
        if found.flags["changed"][u]:
            best = max(worth[list(each), u].sum() for each in lists)
            assert worth[found.items[u], u].sum() == pytest.approx(best, abs=1e-9)
    assert 0 < found.flags["floor_impossible"].sum() < found.flags["changed"].sum()


def test_exchanges_that_end_are_taken_over_by_the_exact_search(monkeypatch):
    """Where exchanges alone find no list, the search does: without it, more floors are unmet."""
    given_ = candidates((np.random.default_rng(3).random((5, 12, 150)) < 0.3) * 1.0)
    rule = Floored("utilitarian_slate", 0.45)
    searched = rule(given_, 4)
    nothing = lambda *_: floor_exchanges.SearchResult(None, impossible=False)  # noqa: E731
    monkeypatch.setattr("accordant.slates.rules.floors.best_list", nothing)
    exchanged = rule(given_, 4)
    assert searched.flags["floor_unmet"].sum() < exchanged.flags["floor_unmet"].sum()
    assert (searched.flags["floor_unmet"] <= exchanged.flags["floor_unmet"]).all()


def test_many_items():
    """With more items than a search looks at: an impossible sum is proved, a possible one found, and the rest is said.

    c0 … c99 give everything to one of two; both cannot have 0.6 of their ideal list, and half each is possible.
    """
    values = np.zeros((2, 100, 1))
    values[0, :50], values[1, 50:] = 1, 1
    values[0, :50] -= np.linspace(0, 0.01, 50)[:, None]
    for floor, unmet in ((0.45, False), (0.6, True)):
        found = Floored("utilitarian_slate", floor)(candidates(values), 4)
        assert found.flags["floor_unmet"][0] == found.flags["floor_impossible"][0] == unmet
    three = np.random.default_rng(0).random((3, 100, 4))
    found = Floored("utilitarian_slate", 0.85)(candidates(three), 4)
    attained = gains_of(found, candidates(three)).attained
    assert (found.flags["floor_unmet"] == (attained < 0.85 - 1e-9).any(axis=0)).all()
    assert not (found.flags["floor_impossible"] & ~found.flags["floor_unmet"]).any()


@pytest.mark.long
def test_search_among_a_core(monkeypatch):
    """Without exchanges: the items that prices put first suffice for most lists, and are no proof where they do not."""
    monkeypatch.setattr("accordant.slates.rules.floors.repair", no_exchange)
    given_ = candidates(np.random.default_rng(5).random((4, 60, 25)))
    found = {}
    for size in (60, 20, 5):
        monkeypatch.setattr(floor_exchanges, "CORE", size)
        found[size] = Floored("utilitarian_slate", 0.68)(given_, 4).flags
    unmet, impossible = ({size: found[size][name] for size in found} for name in ("floor_unmet", "floor_impossible"))
    assert (impossible[60] == unmet[60]).all()
    for size in (20, 5):
        assert (impossible[size] <= impossible[60]).all()
    assert unmet[60].sum() <= unmet[20].sum() <= unmet[60].sum() + 3
    assert unmet[5].sum() > unmet[60].sum()


def test_prices_bring_in_what_only_a_floor_asks_for(monkeypatch):
    """What s1 likes is worth least to s0, whose weight alone counts: by worth it would not be among 40 of 100."""
    monkeypatch.setattr("accordant.slates.rules.floors.repair", no_exchange)
    own = np.linspace(1.0, 0.0, 100)[:, None]
    liked = 0.9 * (1 - own) ** 3 + 0.1 * np.random.default_rng(0).random((100, 5))
    given_ = candidates(np.stack([np.repeat(own, 5, axis=1), liked]), weights=[1, 0])
    found = Floored("utilitarian_slate", {"s1": 0.7})(given_, 4)
    assert found.flags["changed"].all()
    assert not found.flags["floor_unmet"].any()
    assert (gains_of(found, given_).attained[1] >= 0.7 - 1e-9).all()


def test_kept_items_keep_their_places():
    given_ = candidates(np.random.default_rng(1).random((4, 10, 80)))
    alone, found = LeximinSlate(swaps=0)(given_, 4), Floored(LeximinSlate(swaps=0), {"s0": 0.7})(given_, 4)
    assert found.flags["changed"].any()
    for before, after in zip(alone.items, found.items, strict=True):
        kept = np.isin(before, after)
        assert (before[kept] == after[kept]).all()
    assert (gains_of(found, given_).attained[0] >= 0.7 - 1e-9).all()


def test_edges():
    values = np.random.default_rng(2).random((2, 4, 3))
    closed = candidates(values, np.array([[False, True, True]] * 4) & np.array([True, False, False, True])[:, None])
    found = Floored("utilitarian_slate", 1.0)(closed, 3)
    assert found.items[0].tolist() == [-1, -1, -1]
    assert not found.flags["floor_unmet"].any()  # nothing to choose: all lists are alike
    nobody = Floored("utilitarian_slate", 0.5)(candidates(np.empty((2, 3, 0))), 2)
    assert nobody.flags["floor_unmet"].shape == (0,)
    without = Floored("utilitarian_slate", {})(candidates(values), 2)
    assert not without.flags["changed"].any()
    muted = candidates(values, weights=[1, 0])
    assert Floored("utilitarian_slate", 1.0)(muted, 2).flags["changed"].sum() == 0  # s1 has no say, so no floor
    assert gains_of(Floored("utilitarian_slate", {"s1": 1.0})(muted, 2), muted).attained[1].min() == pytest.approx(1)


def test_blocks(monkeypatch):
    monkeypatch.setattr("accordant.slates.candidates.BLOCK_SIZE", 1 << 18)
    given_ = candidates(np.random.default_rng(4).random((5, 600, 120)))
    assert len(given_.slices()) > 1
    rule = Floored("utilitarian_slate", {"s0": 0.85})
    whole = rule(given_, 4)
    assert whole.flags["changed"].any()
    assert (rule.fill(given_.take(slice(80, 120)), 4).items == whole.items[80:]).all()


def test_names_and_wrong_input():
    rule = Floored({"name": "leximin_slate", "parameters": {"swaps": 1}}, {"s1": 0.25})
    assert rule.label == "floored[leximin_slate[swaps=1]; s1 >= 0.25]"
    assert Floored(**rule.parameters) == rule
    assert hash(Floored(**rule.parameters)) == hash(rule)
    given_ = candidates(np.ones((2, 3, 1)))
    with pytest.raises(UnknownNameError, match="did you mean 's1'"):
        Floored("utilitarian_slate", {"s11": 0.5})(given_, 1)
    with pytest.raises(UnknownNameError, match="did you mean 'leximin_slate'"):
        Floored("leximin_slates", 0.5)
    for floors in (1.5, {"s0": "half"}, True):
        with pytest.raises(InputError, match="is no floor; allowed: a number in"):
            Floored("utilitarian_slate", floors)
    with pytest.raises(InputError, match="itself floored"):
        Floored(rule, 0.5)
    with pytest.raises(InputError, match="places"):
        Floored("utilitarian_slate", 0.5)(given_, 0)
