"""Floors of rules that serve users in order: what is remembered is what was shown; and ties that repairs break."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.candidates import Candidates
from accordant.slates.candidates import gains_of
from accordant.slates.rule import SlateRule
from accordant.slates.rules.dynamic import Dynamic
from accordant.slates.rules.floors import Floored
from accordant.slates.slates import Slates
from accordant.slates.slates import State
from accordant.utilities import ExpectedRewards

LEVEL = 8  # expected rewards are eighths


def candidates(values, available=None, weights=None):
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    return Candidates(ExpectedRewards(values, stakeholders=names[0], actions=names[1]), available, weights)


def world(seed, n_users=24, weights=(1, 2, 1)):
    generator = np.random.default_rng(seed)
    values, available = generator.random((3, 8, n_users)), generator.random((8, n_users)) < 0.9
    return candidates(values, available, weights)


@dataclass(frozen=True)
class Given(SlateRule):
    """Shows lists that were made before."""

    name: ClassVar[str] = "given"

    lists: tuple[tuple[int, ...], ...]

    def fill(self, candidates, k):
        """Return the lists."""
        del k
        return Slates("given", candidates.items, np.array(self.lists), np.zeros(len(self.lists), dtype=bool))


RULES = [
    Dynamic("least_fair", share=0.9),
    Dynamic("product", seed=2),
    Dynamic("weighted_product", mode="mixture"),
    Dynamic("random"),
    Dynamic("least_fair", "mrr", share=0.8, fairness_parameters={"items": dict.fromkeys(("s0", "s1", "s2"), ["c0"])}),
]
FLOORS = [{"s2": 0.6}, {"s1": 0.5, "s2": 0.4}, {"s0": 1.0}, {}]


def after(state, slates, part):
    return state.after(slates, gains_of(slates, part).attained, np.zeros(len(part.items)))


def same(one, other):
    np.testing.assert_array_equal(one.items, other.items)
    np.testing.assert_array_equal(one.tied, other.tied)
    for flag in ("changed", "floor_unmet", "floor_impossible"):
        np.testing.assert_array_equal(one.flags[flag], other.flags[flag])
    for name in ("fairness", "voting_weights", "shortfall"):
        np.testing.assert_allclose(one.quantities[name], other.quantities[name], atol=1e-12)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(RULES), st.sampled_from(FLOORS), st.integers(0, 2**20), st.sets(st.integers(1, 23), max_size=5))
def test_one_batch_or_several_and_the_history_is_of_lists_shown(inner, floors, seed, cuts):
    everybody, k, rule = world(seed), 1 + seed % 3, Floored(inner, floors)
    whole = rule(everybody, k)
    state, parts, bounds = State.start(8, 3, k), [], [0, *sorted(cuts), 24]
    for start, stop in itertools.pairwise(bounds):
        part = everybody.take(slice(start, stop))
        parts.append(rule(part, k, state=state))
        state = after(state, parts[-1], part)
    for part, (start, stop) in zip(parts, itertools.pairwise(bounds), strict=True):
        same(part, whole.take(slice(start, stop)))
    if inner.fairness == "attained":
        reached = gains_of(whole, everybody).attained
        for u in range(1, 24):
            past = reached[:, :u]
            means = [row[~np.isnan(row)].mean() if not np.isnan(row).all() else np.nan for row in past]
            np.testing.assert_allclose(whole.quantities["fairness"][:, u], means, atol=1e-12)


@pytest.mark.few(3)
@pytest.mark.parametrize("inner", RULES, ids=lambda rule: rule.label)
def test_twin(inner, monkeypatch):
    """Each user alone: the list of the rule after what was shown, repaired as any other list, then remembered."""
    everybody, floors = world(5, 40), {"s2": 0.6, "s0": 0.3}
    whole, state = Floored(inner, floors)(everybody, 3), State.start(8, 3, 3)
    assert 0 < whole.flags["changed"].sum() < 40
    for u in range(40):
        part = everybody.take(slice(u, u + 1))
        alone = inner(part, 3, state=state)
        shown = Floored(Given(tuple(map(tuple, alone.items.tolist()))), floors)(part, 3)
        assert shown.items[0].tolist() == whole.items[u].tolist()
        assert whole.tied[u] == (alone.tied[0] or shown.tied[0])
        for name, flags in shown.flags.items():
            assert flags[0] == whole.flags[name][u]
        np.testing.assert_allclose(shown.quantities["shortfall"][:, 0], whole.quantities["shortfall"][:, u], atol=1e-12)
        state = after(state, shown, part)
    monkeypatch.setattr("accordant.slates.candidates.BLOCK_SIZE", 100)  # four users
    same(Floored(inner, floors)(everybody, 3), whole)


def test_floors_change_what_is_owed():
    """A stakeholder whose floor is held in every list is behind no longer, so that others get the say."""
    everybody = world(1, 60)
    alone, floored = Dynamic("least_fair", share=0.9)(everybody, 2), Floored(RULES[0], {"s2": 0.9})(everybody, 2)
    said = [each.quantities["voting_weights"].sum(axis=1) for each in (alone, floored)]
    assert said[1][2] < said[0][2] - 10
    assert floored.quantities["fairness"][2, -1] > alone.quantities["fairness"][2, -1] + 0.2


def test_without_floors_the_rule_stays_as_it_is():
    everybody, rule = world(2), RULES[0]
    alone, floored = rule(everybody, 3), Floored(rule, 0.0)(everybody, 3)
    np.testing.assert_array_equal(alone.items, floored.items)
    np.testing.assert_array_equal(alone.tied, floored.tied)
    np.testing.assert_array_equal(alone.quantities["fairness"], floored.quantities["fairness"])
    assert not floored.flags["changed"].any()


def test_nobody_and_nothing_to_show():
    nobody = Floored("dynamic", 0.5)(world(0).take(slice(0, 0)), 2)
    assert nobody.items.shape == (0, 2) and nobody.quantities["shortfall"].shape == (3, 0)
    closed = Floored("dynamic", 0.5)(candidates(np.ones((2, 3, 2)), np.zeros((3, 2), dtype=bool)), 2)
    assert (closed.items == -1).all() and not closed.flags["floor_unmet"].any()


def test_the_kind_is_that_of_the_rule_inside():
    assert [Floored(name, 0.5).kind for name in ("dynamic", "seq_pav", "mmr")] == ["dynamic", "approval", "consumption"]
    assert Floored("dynamic", 0.5) == Floored("dynamic", 0.5)
    assert Floored.kind == SlateRule.kind


def exchanged(values, weights, items, levels):
    """Exchanges in fractions: the list, and whether a tie was broken, also in the order of new items."""
    n, m = values.shape
    exact = [[Fraction(each) for each in row] for row in values.tolist()]
    length, before, tied = len(items), list(items), False
    low = [sum(sorted(row)[:length]) for row in exact]
    span = [sum(sorted(row)[m - length :]) - each for row, each in zip(exact, low, strict=True)]
    sided = [i for i in range(n) if span[i] > 0]
    worth = [sum(Fraction(w) * row[c] for w, row in zip(weights, exact, strict=True)) / sum(weights) for c in range(m)]
    total = [sum(row[c] for row in exact) for c in range(m)]

    def missing(shown):
        reached = {i: (sum(exact[i][c] for c in shown) - low[i]) / span[i] for i in sided}
        return sum((max(Fraction(0), levels - reached[i]) for i in sided), Fraction(0))

    items = list(items)
    while missing(items):
        options = []
        for place, new in itertools.product(range(length), sorted(set(range(m)) - set(items))):
            fall = missing(items) - missing([*items[:place], new, *items[place + 1 :]])
            if fall > 0:
                price = max(Fraction(0), worth[items[place]] - worth[new]) / fall
                options.append((price, -fall, total[items[place]] - total[new], place, new))
        if not options:
            return None
        best = min(options)
        tied |= [each[:2] for each in options].count(best[:2]) > 1
        items[best[3]] = best[4]
    new = sorted(set(items) - set(before), key=lambda c: (-worth[c], -total[c], c))
    tied |= len({worth[c] for c in new}) < len(new)
    return [each if each in items else new.pop(0) for each in before], tied


@pytest.mark.long
@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, LEVEL]), st.booleans())
def test_exchanges_and_their_ties_against_fractions(seed, steps, single):
    generator = np.random.default_rng(seed)
    n, m = generator.integers(1, 5), generator.integers(2, 8)
    k = int(generator.integers(1, m))
    values, weights = generator.integers(0, steps + 1, (n, m)) / steps, generator.choice([1, 2, 4], n).tolist()
    items, level = generator.permutation(m)[:k].tolist(), Fraction(int(generator.integers(1, 8)), 8)
    given_ = candidates(values[:, :, None].astype(np.float32 if single else np.float64), weights=weights)
    found, expected = Floored(Given((tuple(items),)), float(level))(given_, k), exchanged(values, weights, items, level)
    if expected is not None:
        assert (found.items[0].tolist(), found.tied[0]) == expected
        assert found.flags["changed"][0] == (expected[0] != items)


def test_ties_of_repairs_go_to_higher_sums():
    """c2 and c3 cost the same in weighted worth, and both hold the floor; the sum of rewards of c3 is higher."""
    values = np.array([[0.9, 0.8, 0.125, 0.0, 0.0], [0.0, 0.0, 0.75, 1.0, 0.5]])[:, :, None]
    found = Floored("utilitarian_slate", {"s1": 0.3})(candidates(values, weights=[2, 1]), 2)
    assert found.items.tolist() == [[0, 3]]
    assert found.tied.all()
    values[0, 2] = 0.25
    found = Floored("utilitarian_slate", {"s1": 0.3})(candidates(values, weights=[2, 1]), 2)
    assert found.items.tolist() == [[0, 2]]
    assert not found.tied.any()


@pytest.mark.long
def test_ties_of_searches(monkeypatch):
    """Without exchanges: a list is tied if another that holds the floors is worth as much."""
    monkeypatch.setattr("accordant.slates.rules.floors.repair", lambda shelf: np.zeros(len(shelf.items), dtype=bool))
    generator, n_tied, n_searched = np.random.default_rng(3), 0, 0
    for _ in range(60):
        values = generator.integers(0, 5, (2, 6, 1)) / 4
        given_, start = candidates(values), tuple(generator.permutation(6)[:2].tolist())
        found = Floored(Given((start,)), 0.5)(given_, 2)
        if not found.flags["changed"][0]:
            continue
        low, high = np.sort(values[:, :, 0])[:, :2].sum(axis=1), np.sort(values[:, :, 0])[:, 4:].sum(axis=1)
        holding = [
            each
            for each in map(list, itertools.combinations(range(6), 2))
            if (values[:, each, 0].sum(axis=1) - low >= 0.5 * (high - low) - 1e-9).all()
        ]
        worths = sorted((values[:, each, 0].sum() for each in holding), reverse=True)
        level = len(worths) > 1 and worths[0] == worths[1]
        new = sorted(set(found.items[0].tolist()) - set(start))
        in_order = len(new) == 2 and values[:, new[0], 0].sum() == values[:, new[1], 0].sum()
        assert found.tied[0] == (level or in_order)
        n_searched, n_tied = n_searched + 1, n_tied + level
    assert 5 < n_tied < n_searched - 5
