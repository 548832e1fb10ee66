"""Shapley and Banzhaf values against all permutations and all coalitions, and the theorems they are known by."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.explanation import influence
from accordant.explanation.influence.influence import Coalitions
from accordant.explanation.influence.power import enumerate_coalitions, sample_orders
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, STAKEHOLDERS, make_expected, make_known, make_rule


class Table:
    """A game given by the worth of every coalition, shape (coalition, context)."""

    def __init__(self, n, n_contexts, seed=0):
        self.n = n
        self.worths = np.random.default_rng(seed).random((2**n, n_contexts)) < 0.5

    def __call__(self, coalition):
        return self.worths[sum(1 << int(i) for i in coalition)]


def by_permutations(worth, n):
    """Mean marginal contribution over all orders, summed over contexts, as fractions."""
    total = [Fraction(0)] * n
    orders = list(itertools.permutations(range(n)))
    for order in orders:
        for k, i in enumerate(order):
            gained = worth(np.array(order[: k + 1])).astype(int) - worth(np.array(order[:k], dtype=int)).astype(int)
            total[i] += int(gained.sum())
    return [each / len(orders) for each in total]


def by_coalitions(worth, n):
    """Mean marginal contribution over all coalitions of the others."""
    total = [Fraction(0)] * n
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            for coalition in itertools.combinations(others, size):
                with_i = worth(np.array([*coalition, i])).astype(int)
                total[i] += int((with_i - worth(np.array(coalition, dtype=int)).astype(int)).sum())
    return [each / 2 ** (n - 1) for each in total]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_values_are_those_of_all_orders_and_all_coalitions(n):
    game = Table(n, 7, seed=n)
    shapley, banzhaf = enumerate_coalitions(game, np.ones(n, dtype=bool), 7)
    assert [Fraction(int(each), shapley.denominator) for each in shapley.counts.sum(axis=1)] == by_permutations(game, n)
    assert [Fraction(int(each), banzhaf.denominator) for each in banzhaf.counts.sum(axis=1)] == by_coalitions(game, n)


def test_published_example():
    """Shapley and Shubik (1954): a body of 4 with 2, 1, 1, 1 shares and majority 3 of 5 gives 1/2, 1/6, 1/6, 1/6."""
    weights = np.array([2, 1, 1, 1])
    shapley, banzhaf = enumerate_coalitions(lambda s: np.array([weights[s].sum() >= 3]), np.ones(4, dtype=bool), 1)
    assert shapley.share == pytest.approx((1 / 2, 1 / 6, 1 / 6, 1 / 6), abs=0)
    assert banzhaf.raw.tolist() == [6 / 8, 2 / 8, 2 / 8, 2 / 8]  # swings of each, by hand


@pytest.mark.few(4)
@pytest.mark.parametrize("absence", ["neutralised", "dropped"])
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_shapley_values_sum_to_what_everybody_adds_to_nobody(name, parameters, absence):
    expected = make_expected(50)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    try:
        found = influence(rule, expected, known=known, absence=absence, groups=np.arange(50) % 2)
    except InputError as error:
        assert absence == "dropped", error
        return
    for contexts in (slice(None), *found.by_group.values()):
        whole = found.everybody[contexts].sum() - found.nobody[contexts].sum()
        assert int(found.shapley.counts[:, contexts].sum()) == round(3 * whole) * found.shapley.denominator // 3
        assert found.shapley.within(contexts)[0].sum() == pytest.approx(whole, abs=1e-12)
    assert found.moved == pytest.approx(found.everybody.sum() - found.nobody.sum(), abs=1e-12)
    assert not found.shapley.counts[~found.players].any()
    assert not found.banzhaf.counts[~found.players].any()
    json.dumps(found.to_json(), allow_nan=False)
    if rule.structure() == "fixed":
        assert found.shapley.share is None
        assert found.moved == 0


def test_v_is_what_it_says():
    expected = make_expected(60)
    rule = make_rule("maximin")
    for absence, silenced in (("neutralised", 0.0), ("dropped", None)):
        game = Coalitions.of(rule, expected, None, absence, "declared")
        for coalition in itertools.chain.from_iterable(itertools.combinations(range(3), k) for k in range(4)):
            values = expected.values.copy()
            out = [i for i in range(3) if i not in coalition]
            values[out] = values[out].mean(axis=1, keepdims=True)
            if silenced is None and coalition:
                rows = list(coalition)
                codes = rule(
                    ExpectedRewards(
                        expected.values[rows], stakeholders=[STAKEHOLDERS[i] for i in rows], actions=expected.actions
                    )
                ).codes
            else:
                codes = rule(ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=expected.actions)).codes
            np.testing.assert_array_equal(game.worth(np.array(coalition, dtype=int)), codes == game.decided)
        np.testing.assert_array_equal(game.worth(np.array([], dtype=int)), game.decided == 0)


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_every_action_is_first_in_turn(name, parameters):
    """The slow twin decides in all contexts in every rotated order, tied or not."""
    expected = make_expected(60, grid=3)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    if rule.structure() == "fixed":
        return
    game = Coalitions.of(rule, expected, known, "neutralised")
    for size in range(4):
        for coalition in itertools.combinations(np.flatnonzero(game.players).tolist(), size):
            values = expected.values.copy()
            out = [i for i in range(3) if i not in coalition]
            values[out] = values[out].mean(axis=1, keepdims=True)
            counts = 0
            for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
                actions = [expected.actions[a] for a in order]
                turned = ExpectedRewards(values[:, order], stakeholders=STAKEHOLDERS, actions=actions)
                codes = rule(turned, **known.arguments(slice(None))).codes
                counts = counts + (np.array(order)[codes] == game.decided)
            np.testing.assert_array_equal(game.worth(np.array(coalition, dtype=int)), counts)


def test_hearing_nobody_leads_to_every_action_alike():
    found = influence(make_rule("utilitarian"), make_expected(300))
    assert set(found.nobody) == {1 / 3}
    assert found.moved == pytest.approx(200)
    declared = influence(make_rule("utilitarian"), make_expected(300), ties="declared")
    np.testing.assert_array_equal(declared.nobody, make_rule("utilitarian")(make_expected(300)).codes == 0)


def test_a_dictator_has_share_1():
    found = influence(make_rule("stakeholder"), make_expected(300))
    assert found.shapley.share == found.banzhaf.share == (0.0, 1.0, 0.0)
    assert found.shapley.raw.tolist() == [0, found.moved, 0]
    assert found.moved == 200
    only = influence(make_rule("borda", {"weights": (0, 0, 3)}), make_expected(300))
    assert only.shapley.share == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("name", ["utilitarian", "kalai_smorodinsky", "borda", "nash_bargaining"])
@pytest.mark.parametrize("absence", ["neutralised", "dropped"])
def test_dummies_have_share_0(name, absence):
    found = influence(make_rule(name, {"weights": (1, 0, 2)}), make_expected(300), absence=absence)
    assert found.shapley.share[1] == found.banzhaf.share[1] == 0
    assert not found.shapley.counts[1].any()


@pytest.mark.parametrize("name", ["utilitarian", "maximin", "nash_social_welfare", "kalai_smorodinsky", "plurality"])
def test_symmetric_stakeholders_have_equal_shares(name):
    """On a batch that holds every context with its stakeholders in every order."""
    values = make_expected(80).values
    batch = np.concatenate([values[list(order)] for order in itertools.permutations(range(3))], axis=2)
    expected = ExpectedRewards(batch, stakeholders=STAKEHOLDERS, actions=("red", "green", "blue"))
    found = influence(make_rule(name), expected)
    assert len({int(each) for each in found.shapley.counts.sum(axis=1)}) == 1
    assert len({int(each) for each in found.banzhaf.counts.sum(axis=1)}) == 1
    assert found.shapley.share == pytest.approx((1 / 3,) * 3, abs=1e-15)


def test_a_share_may_be_negative():
    """Ann wants red, green is decided: in this context she pulls away from it, so the others have more than 1."""
    values = np.array([[[0.9], [0.1]], [[0.3], [0.8]], [[0.3], [0.8]]])
    for actions in (("red", "green"), ("green", "red")):
        turned = values if actions[0] == "red" else values[:, ::-1]
        expected = ExpectedRewards(turned, stakeholders=STAKEHOLDERS, actions=actions)
        found = influence(make_rule("utilitarian"), expected)
        assert found.moved == 0.5
        assert found.shapley.raw == pytest.approx([-1 / 2, 1 / 2, 1 / 2])
        assert found.shapley.share == (-1.0, 1.0, 1.0)
    first = influence(make_rule("utilitarian"), expected, ties="declared")
    assert first.moved == 0
    assert first.shapley.share is None  # green is declared first: nothing is left to share
    last = influence(
        make_rule("utilitarian"),
        ExpectedRewards(values, stakeholders=STAKEHOLDERS, actions=("red", "green")),
        ties="declared",
    )
    assert last.moved == 1


def test_what_holds_for_every_draw_holds_for_samples():
    """In every order all players together add v(N) − v(∅); a dictator adds 1 to everything, and the others nothing."""
    everybody, nobody = np.arange(4), np.arange(0)
    for seed in range(3):
        game, generator = Table(4, 7, seed=seed), np.random.default_rng(seed)
        shapley, _ = sample_orders(game, np.ones(4, dtype=bool), 7, samples=9, generator=generator)
        whole = game(everybody).astype(int) - game(nobody)
        assert (shapley.counts.sum(axis=0) == 9 * whole).all() and shapley.denominator == 9
    players = np.array([True, False, True, True])
    dictator = sample_orders(
        lambda who: np.full(5, 3 * (2 in who)), players, 5, samples=6, generator=np.random.default_rng(0), unit=3
    )
    for index in dictator:
        assert index.raw.tolist() == [0, 0, 5, 0] and index.share == (0, 0, 1, 0)
        assert index.error.tolist() == [0, 0, 0, 0]


def test_the_error_of_a_sample_is_that_of_a_mean_of_draws():
    """Where both are needed, whoever comes second adds 1: a share p of m draws has the error √(p (1 − p) / (m − 1))."""
    both = sample_orders(
        lambda who: np.array([len(who) == 2]), np.ones(2, dtype=bool), 1, samples=11, generator=np.random.default_rng(3)
    )
    for index in both:
        p = index.raw
        assert ((p > 0) & (p < 1)).all()
        np.testing.assert_allclose(index.error, np.sqrt(p * (1 - p) / 10))


@pytest.mark.long
def test_sampling_agrees_within_its_errors():
    names = [f"s{i}" for i in "abcdefgh"]
    expected = make_expected(20, stakeholders=names, seed=3)
    game = Coalitions.of(make_rule("utilitarian"), expected, None, "neutralised")
    exact = enumerate_coalitions(game.worth, game.players, 20, unit=3)
    drawn = sample_orders(game.worth, game.players, 20, samples=300, generator=np.random.default_rng(1), unit=3)
    for one, other in zip(exact, drawn, strict=True):
        assert (other.error > 0).all()
        assert (np.abs(one.raw - other.raw) <= 4.5 * other.error).all()
    assert drawn[0].raw.sum() == pytest.approx(exact[0].raw.sum(), abs=1e-9)


@pytest.mark.long
def test_many_stakeholders_are_sampled_and_reproducible():
    names = [f"s{i}" for i in "abcdefghijkl"]
    expected = make_expected(6, stakeholders=names)
    one, other = (influence(make_rule("utilitarian"), expected, samples=20) for _ in range(2))
    assert one.samples == 20
    assert one.shapley.error.shape == (12,)
    np.testing.assert_array_equal(one.shapley.counts, other.shapley.counts)
    assert one.to_json()["exact"] is False
    few = influence(make_rule("utilitarian", {"weights": (1,) * 10 + (0, 0)}), expected)
    assert few.samples == 0  # only ten have a say


def test_edges_and_wrong_input():
    nothing = influence(make_rule("utilitarian"), make_expected(0))
    assert nothing.shapley.share is None
    single = ExpectedRewards(np.full((2, 1, 4), 0.5), stakeholders=["Ann", "Ben"], actions=["red"])
    assert influence(make_rule("utilitarian"), single).moved == 0
    with pytest.raises(UnknownNameError, match="did you mean 'dropped'"):
        influence(make_rule("utilitarian"), make_expected(2), absence="droped")
    with pytest.raises(UnknownNameError, match="did you mean 'rotated'"):
        influence(make_rule("utilitarian"), make_expected(2), ties="rotate")
    with pytest.raises(InputError, match="at least 2"):
        influence(make_rule("utilitarian"), make_expected(2), samples=1)
