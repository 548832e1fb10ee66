"""The list that is worth most to who takes the best few: against every list, and against the room of consumption."""

import itertools

import numpy as np
import pytest

from accordant import ExpectedRewards
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.consumption import Exponential, Uniform, allocate
from accordant.slates.rule import rules
from accordant.slates.rules.consumption_aware import ConsumptionAware, _fill
from accordant.slates.rules.diversity import types_of, wanted_types


def world(seed=0, n_stakeholders=2, n_items=7, n_users=6, **given):
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in range(n_stakeholders)]
    expected = ExpectedRewards(
        rng.random((n_stakeholders, n_items, n_users)), stakeholders=names, actions=[f"c{c}" for c in range(n_items)]
    )
    return Candidates(expected, **({"categories": rng.integers(-1, 3, n_items)} | given))


def value_of(items, worth, types, wanted, consumed):
    """Σ_t p_t E min(k_c, number that pleases), over all outcomes."""
    total = 0.0
    for t, p in enumerate(wanted):
        chances = [worth[c] for c in items if types[c] == t]
        for outcome in itertools.product((0, 1), repeat=len(chances)):
            odds = np.prod([q if hit else 1 - q for q, hit in zip(chances, outcome)])
            total += p * odds * min(consumed, sum(outcome))
    return total


@pytest.mark.long
@pytest.mark.parametrize("consumed", [1, 2, None])
def test_no_list_is_worth_more(consumed):
    for seed in range(3):
        candidates = world(seed, weights=[2.0, 1.0], available=np.random.default_rng(seed).random((7, 6)) < 0.85)
        found = ConsumptionAware(consumed, temperature=0.7, smoothing=0.1)(candidates, 3)
        codes = candidates.categories
        types = [int(code) if code >= 0 else -2 - c for c, code in enumerate(codes.tolist())]
        names = sorted(set(types), key=lambda t: (t < 0, abs(t)))
        types = [names.index(t) for t in types]
        chances = wanted_types(candidates.values[0], candidates.available, types_of(codes), 0.7, 0.1)
        np.testing.assert_array_equal(found.quantities["wanted"], chances[: len(set(codes[codes >= 0]))])
        for u in range(6):
            worth = np.average(candidates.values[:, :, u], axis=0, weights=[2.0, 1.0])
            wanted = chances[:, u]
            allowed = np.flatnonzero(candidates.available[:, u])
            taken = consumed or 3
            values = [
                value_of(items, worth, types, wanted, taken)
                for items in itertools.combinations(allowed.tolist(), min(3, len(allowed)))
            ]
            shown = [c for c in found.items[u].tolist() if c >= 0]
            assert value_of(shown, worth, types, wanted, taken) == pytest.approx(max(values), abs=1e-9)
            assert found.quantities["value"][u] == pytest.approx(max(values), abs=1e-9)


@pytest.mark.parametrize(("name", "values"), [("uniform", Uniform()), ("exponential", Exponential())])
@pytest.mark.parametrize("consumed", [1, 3])
def test_densities_give_the_counts_of_the_room(name, values, consumed):
    candidates = world(5, n_items=60, n_users=8, categories=np.repeat(np.arange(3), 20))
    found = ConsumptionAware(consumed, name)(candidates, 12)
    for u in range(8):
        p = found.quantities["wanted"][:, u]
        best = allocate(p / p.sum(), values, 12, consumed)
        assert np.bincount(candidates.categories[found.items[u]], minlength=3).tolist() == best.counts.tolist()
        assert found.quantities["value"][u] == pytest.approx(best.value)
        worth = candidates.values[:, :, u].mean(axis=0)
        for t in range(3):  # of each type, the items that are worth most
            own = np.flatnonzero(candidates.categories == t)
            shown = [c for c in found.items[u] if candidates.categories[c] == t]
            assert shown == own[np.argsort(-worth[own])][: len(shown)].tolist()


def test_few_consumed_is_diverse_and_all_consumed_is_not():
    rng = np.random.default_rng(0)
    relevance = rng.uniform(0.4, 0.5, (30, 20)) + np.where(np.arange(30)[:, None] < 10, 0.2, 0.0)
    candidates = Candidates(
        ExpectedRewards(relevance[None], stakeholders=["user"], actions=[str(c) for c in range(30)]),
        categories=np.repeat(np.arange(3), 10),
    )
    few, every = (ConsumptionAware(consumed)(candidates, 6) for consumed in (1, None))
    categories = [[len(set(candidates.categories[items].tolist())) for items in each.items] for each in (few, every)]
    assert min(categories[0]) == 3
    assert max(categories[1]) == 1


def test_ties():
    values = np.full((1, 4, 1), 0.5)
    candidates = Candidates(ExpectedRewards(values, stakeholders=["u"], actions=list("abcd")), categories=[0, 0, 1, 1])
    found = ConsumptionAware()(candidates, 3)
    assert found.names(0) == ("a", "c", "b")
    assert found.tied[0]
    sums = Candidates(
        ExpectedRewards(np.array([[[0.5], [0.5]], [[0.1], [0.9]]]), stakeholders=["u", "v"], actions=["a", "b"]),
        weights=[1.0, 1e-14],
    )
    assert ConsumptionAware()(sums, 1).names(0) == ("b",)  # within the tolerance, the sum of E decides
    clear = Candidates(ExpectedRewards(np.array([[[0.5], [0.4]]]), stakeholders=["u"], actions=["a", "b"]))
    assert not ConsumptionAware()(clear, 2).tied[0]


def test_edges():
    rule = ConsumptionAware()
    assert rule(world(n_stakeholders=1, n_users=1), 2).lengths.tolist() == [2]
    assert rule(world(n_items=2), 5).lengths.tolist() == [2] * 6
    nothing = rule(world(available=np.zeros(7, dtype=bool)), 3)
    assert (nothing.items == -1).all()
    assert not nothing.tied.any()
    assert nothing.quantities["value"].tolist() == [0.0] * 6
    nil = Candidates(ExpectedRewards(np.zeros((1, 4, 1)), stakeholders=["a"], actions=list("wxyz")))
    assert rule(nil, 3).names(0) == ("w", "x", "y")
    muted = rule(world(weights=[1.0, 0.0]), 3)
    alone = ExpectedRewards(world().values[:1], stakeholders=["s0"], actions=[f"c{c}" for c in range(7)])
    np.testing.assert_array_equal(muted.items, rule(Candidates(alone, categories=world().categories), 3).items)
    unknown = rule(world(weights=[0.0, 1.0]), 3).quantities["wanted"]
    named = ConsumptionAware(user="s0")(world(weights=[0.0, 1.0]), 3).quantities["wanted"]
    assert unknown.shape == named.shape
    assert np.allclose(named, named.max(axis=0))  # nobody knows what a user without a say wants


@pytest.mark.parametrize("drawn", [np.empty(0), np.array([0.5, 0.25, 0.2, 0.1])], ids=["chances", "drawn"])
@pytest.mark.parametrize("consumed", [1, 3])
def test_the_kernel_is_its_python(drawn, consumed):
    """With ties and items that may not be shown."""
    rng = np.random.default_rng(0)
    n_users, n_items, n_types, k = 12, 8, 3, 4
    types = rng.integers(0, n_types, n_items)
    worth, totals = (rng.integers(0, 3, (n_users, n_items)) / 2 for _ in range(2))
    key = [(lambda c, u=u: (types[c], -worth[u, c], -totals[u, c])) for u in range(n_users)]
    order = np.array([sorted(range(n_items), key=each) for each in key])
    wanted = np.full((n_users, n_types), 1 / n_types)
    available = rng.random((n_users, n_items)) < 0.8
    found = []
    for kernel in (_fill, _fill.python):
        out = np.full((n_users, k), -1), np.zeros(n_users, dtype=bool), np.zeros(n_users)
        kernel(order, types, wanted, worth, totals, available, consumed, drawn, 1e-12, *out)
        found.append(out)
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, plain)
    assert found[0][1].any()
    assert all(available[u, c] for u, items in enumerate(found[0][0]) for c in items if c >= 0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ConsumptionAware(0), InputError, "consumed is 0; allowed: a whole number of at least 1, or None"),
        (lambda: ConsumptionAware(1.5), InputError, "consumed is 1.5"),
        (lambda: ConsumptionAware(values="normal"), UnknownNameError, "unknown values of items 'normal'"),
        (lambda: ConsumptionAware(temperature=-1), InputError, "temperature is -1"),
        (lambda: ConsumptionAware(user="me")(world(), 2), UnknownNameError, "unknown stakeholder named as user"),
    ],
)
def test_wrong_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_it_is_registered_and_rebuilds_itself():
    rule = rules.create("consumption_aware", {"consumed": 2})
    assert rule.label == "consumption_aware[consumed=2]"
    assert rules.create(rule.name, rule.parameters) == rule
