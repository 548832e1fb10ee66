"""Rules for the whole policy against linear programmes and convex solvers over every probability π(a | t)."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from accordant import strategies
from accordant.certificates import Threat, certify
from accordant.certificates.schema.families import family_of
from accordant.contexts import Contexts
from accordant.errors import AccordantError, InputError, NotFittedError
from accordant.explanation import explain
from accordant.explanation.weights import smallest_weight_changes
from accordant.strategies import column_generation, mixtures
from accordant.strategies.mixtures import maximise_product, raise_smallest
from accordant.utilities import ExpectedRewards

NAMES = ("population_maximin", "population_leximin", "population_nash")
SHARP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def rewards(values):
    values = np.asarray(values, dtype=float)
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def draw(generator, grid=None, most=(5, 4, 25)):
    """Random rewards of a random shape, with ties if there is a grid."""
    values = generator.random([generator.integers(1, each + 1) for each in most])
    return values if grid is None else np.round(values * grid) / grid


def means_of(policy, values):
    return np.einsum("at,iat->i", policy, values) / values.shape[2]


class Programme:
    """The linear programme over all π(a | t), and a last variable v."""

    def __init__(self, values):
        n, k, t = values.shape
        self.means = np.column_stack([values.reshape(n, k * t) / t, np.zeros(n)])
        self.sums = np.column_stack([np.tile(np.eye(t), (1, k)), np.zeros(t)])

    def highest(self, raised, levels):
        """Return the largest v with u_i ≥ v for those raised and u_i ≥ level for the others."""
        rows = -self.means[[*raised, *levels]]
        rows[: len(raised), -1] = 1.0
        least = np.array([0.0] * len(raised) + [-level for level in levels.values()])
        cost = np.zeros(self.means.shape[1])
        cost[-1] = -1.0
        bounds = [(0, None)] * (len(cost) - 1) + [(None, None)]
        ones = np.ones(len(self.sums))
        done = linprog(cost, A_ub=rows, b_ub=least, A_eq=self.sums, b_eq=ones, bounds=bounds, options=SHARP)
        return -done.fun

    def leximin(self, n, slack=1e-9):
        """Return the sorted means of the leximin policy: who cannot rise alone, while nobody falls, is held."""
        raised, levels = list(range(n)), {}
        while raised:
            v = self.highest(raised, levels)
            stuck = [
                i for i in raised
                if self.highest([i], {**levels, **{j: v - slack for j in raised if j != i}}) <= v + 1e-6
            ]  # fmt: skip
            assert stuck
            levels |= dict.fromkeys(stuck, v - slack)
            raised = [i for i in raised if i not in stuck]
        return np.sort(list(levels.values()))


def check_proof(found, values, slack=1e-9):
    """The mixture gives the means, nothing beats them at λ by more than the gap, and draws are between ties."""
    policy = found.decisions.policy
    np.testing.assert_allclose(policy.sum(axis=0), 1.0, atol=1e-12)
    np.testing.assert_allclose(means_of(policy, values), found.means, atol=1e-12)
    assert (found.weights >= 0).all() and found.weights.sum() == pytest.approx(1.0)
    scores = np.tensordot(found.weights, values, axes=1)
    assert scores.max(axis=0).mean() <= found.weights @ found.means + slack
    assert found.gap <= slack
    behind = np.where(policy > 1e-6, scores.max(axis=0) - scores, 0.0)
    assert behind.max() <= slack * values.shape[2] / 1e-6
    assert (found.decisions.flags["randomised"] == (policy.max(axis=0) < 1)).all()
    certain = policy.max(axis=0) == 1
    assert (policy.argmax(axis=0) == found.decisions.codes)[certain].all()
    return scores, behind


@pytest.mark.few(1)
@pytest.mark.parametrize("grid", [None, 4])
@pytest.mark.parametrize("seed", range(4))
def test_maximin_is_the_linear_programme_over_all_policies(grid, seed):
    generator = np.random.default_rng(seed)
    for _ in range(40):
        values = draw(generator, grid)
        found = strategies.population_maximin.optimal_policy(rewards(values))
        best = Programme(values).highest(range(len(values)), {})
        assert found.value == pytest.approx(best, abs=1e-9)
        assert found.value == pytest.approx(found.means.min(), abs=0)
        _, behind = check_proof(found, values)
        assert behind.max() <= 1e-9  # small programmes end in a vertex: draws are between exact ties
        worst = {
            name: means_of(strategies.create(name)(rewards(values)).probabilities(), values).min()
            for name in ("maximin", "leximin", "utilitarian", "nash_social_welfare", "random")
        }
        assert found.value >= max(worst.values()) - 1e-10


@pytest.mark.long
def test_at_most_as_many_contexts_are_drawn_as_there_are_other_stakeholders():
    generator = np.random.default_rng(2)
    drawn = []
    for _ in range(40):
        values = generator.random((generator.integers(2, 5), 3, 30))
        found = strategies.population_maximin.optimal_policy(rewards(values))
        drawn.append(found.decisions.flags["randomised"].sum())
        assert drawn[-1] <= len(values) - 1
    assert max(drawn) >= 1


@pytest.mark.long
@pytest.mark.parametrize("grid", [None, 4])
def test_leximin_is_lexicographically_best(grid):
    generator = np.random.default_rng(3)
    for _ in range(25):
        values = draw(generator, grid, (4, 3, 8))
        found = strategies.population_leximin.optimal_policy(rewards(values))
        assert found.value == pytest.approx(
            strategies.population_maximin.optimal_policy(rewards(values)).value, abs=1e-9
        )
        np.testing.assert_allclose(np.sort(found.means), Programme(values).leximin(len(values)), atol=1e-6)
        check_proof(found, values)


def test_leximin_raises_whom_maximin_leaves():
    """i0 gets 0.2 whatever is done; i1 and i2 share the rest, and i1 alone gains from b in the second context."""
    values = [[[0.2, 0.2], [0.2, 0.2]], [[0.3, 0.3], [0.3, 0.9]], [[0.9, 0.4], [0.1, 0.4]]]
    found = strategies.population_leximin.optimal_policy(rewards(values))
    np.testing.assert_allclose(found.means, [0.2, 0.6, 0.65], atol=1e-8)
    assert (found.weights > 0).all()


def product(values, weights, disagreement):
    """Return the highest Σ w log(u − d) over all policies, by SLSQP from several policies that gain."""
    n, k, t = values.shape
    flat, kept = values.transpose(0, 2, 1).reshape(n, t * k) / t, weights > 0

    def loss(policy):
        return -weights[kept] @ np.log(np.maximum(flat @ policy - disagreement, 1e-12)[kept])

    def slope(policy):
        return -(weights[kept] / np.maximum(flat @ policy - disagreement, 1e-12)[kept]) @ flat[kept]

    sums = {"type": "eq", "fun": lambda policy: policy.reshape(t, k).sum(axis=1) - 1.0,
            "jac": lambda _: np.kron(np.eye(t), np.ones(k))}  # fmt: skip
    done = minimize(
        loss, np.full(t * k, 1.0 / k), jac=slope, bounds=[(0, 1)] * (t * k), constraints=[sums], method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-13},
    )  # fmt: skip
    return -done.fun


@pytest.mark.long
@pytest.mark.parametrize("grid", [None, 4])
def test_nash_is_the_convex_programme_over_all_policies(grid):
    generator = np.random.default_rng(4)
    for case in range(25):
        values = draw(generator, grid, (3, 3, 5)) * 0.9 + 0.05
        weights = generator.uniform(0.3, 2.0, len(values)) if case % 2 else np.ones(len(values))
        rule = strategies.create("population_nash", {"weights": tuple(weights)})
        found = rule.optimal_policy(rewards(values))
        assert found.value == pytest.approx(product(values, weights, 0.0), abs=2e-7)
        assert found.value >= product(values, weights, 0.0) - 1e-9
        check_proof(found, values, 1e-8)
        prices = weights / found.means
        np.testing.assert_allclose(found.weights, prices / prices.sum(), atol=1e-9)


def test_nash_from_the_worst_actions():
    generator = np.random.default_rng(5)
    rule = strategies.create("population_nash", {"disagreement": "context"})
    assert rule.label == "population_nash[context]"
    for _ in range(15):
        values = draw(generator, None, (3, 3, 5))
        if values.shape[1] == 1:
            continue
        low = values.min(axis=1).mean(axis=1)
        found = rule.optimal_policy(rewards(values))
        assert (found.means > low).all()
        assert found.value == pytest.approx(product(values, np.ones(len(values)), low), abs=2e-7)


def test_nash_leaves_out_who_cannot_gain_and_refuses_what_nobody_can_have():
    values = [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.2], [0.0, 0.6]]]
    found = strategies.population_nash.optimal_policy(rewards(values))
    assert found.means.tolist() == [0.0, 0.8] and found.weights.tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match="nobody's mean can rise above the disagreement point"):
        strategies.population_nash.fit(rewards(np.zeros((2, 2, 3))))
    rivals = rewards([[[1.0], [0.0]], [[0.0], [1.0]]])
    with pytest.raises(InputError, match="no policy leaves i0, i1 above their disagreement points at once"):
        strategies.create("population_nash", {"disagreement": 0.6}).fit(rivals)
    with pytest.raises(InputError, match="3 disagreement points were declared for 2 stakeholders"):
        strategies.create("population_nash", {"disagreement": (0.0, 0.1, 0.2)}).fit(rivals)
    for wrong in ("status_quo", 1.5, (0.1, float("nan"))):
        with pytest.raises(InputError, match="disagreement is .*; allowed: 'context', a number in"):
            strategies.create("population_nash", {"disagreement": wrong})


@pytest.mark.parametrize("name", NAMES)
def test_new_contexts_are_decided_by_the_weighted_sum(name):
    generator = np.random.default_rng(6)
    training, new = rewards(generator.random((3, 4, 200))), rewards(generator.random((3, 4, 300)))
    weights = (1.0, 2.0, 0.5)
    rule = strategies.create(name, {"weights": weights}).fit(training)
    optimum = strategies.create(name, {"weights": weights}).optimal_policy(training)
    counted = np.array(weights) / 3.5 * np.array(rule.multipliers)
    np.testing.assert_allclose(counted, optimum.weights, atol=1e-12)
    np.testing.assert_array_equal(rule(new).codes, np.tensordot(counted, new.values, axes=1).argmax(axis=0))
    twin = strategies.create("utilitarian", {"weights": tuple(counted)})
    np.testing.assert_array_equal(rule(new).codes, twin(new).codes)
    read = strategies.create(name, json.loads(json.dumps(rule.parameters)))
    assert read == rule and read.label == name
    decided = rule(training).codes
    sure = ~optimum.decisions.flags["randomised"]
    assert (decided == optimum.decisions.codes)[sure].all()


@pytest.mark.parametrize("name", NAMES)
def test_a_stakeholder_with_weight_0_is_not_there(name):
    values = np.random.default_rng(7).random((3, 3, 60))
    silent = strategies.create(name, {"weights": (1.0, 0.0, 1.0)}).optimal_policy(rewards(values))
    absent = strategies.create(name).optimal_policy(rewards(values[[0, 2]]))
    np.testing.assert_allclose(silent.means[[0, 2]], absent.means, atol=1e-8)
    assert silent.weights[1] == 0
    fitted = strategies.create(name, {"weights": (1.0, 0.0, 1.0)}).fit(rewards(values))
    assert fitted.multipliers[1] == 0
    twin = strategies.create(name).fit(rewards(values[[0, 2]]))
    np.testing.assert_array_equal(fitted(rewards(values)).codes, twin(rewards(values[[0, 2]])).codes)


@pytest.mark.parametrize("name", NAMES)
def test_one_stakeholder_one_action_and_duplicates(name):
    values = np.random.default_rng(8).random((3, 3, 40)) * 0.8 + 0.1
    rule = strategies.create(name)
    alone = rule.optimal_policy(rewards(values[:1]))
    assert alone.means[0] == pytest.approx(values[0].max(axis=0).mean())
    assert rule.fit(rewards(values[:1])).multipliers == (1.0,)
    single = rule.optimal_policy(rewards(values[:, :1]))
    np.testing.assert_allclose(single.means, values[:, 0].mean(axis=1))
    assert (single.decisions.codes == 0).all()
    once, twice = rule.optimal_policy(rewards(values)), rule.optimal_policy(rewards(np.tile(values, 2)))
    np.testing.assert_allclose(twice.means, once.means, atol=1e-8)
    double = rule.optimal_policy(rewards(values[[0, 1, 2, 2]]))
    assert double.means[2] == double.means[3]
    if name == "population_maximin":
        assert double.value == pytest.approx(once.value, abs=1e-9)


def test_a_tie_everywhere_is_split_on_the_training_contexts_and_broken_on_new_ones():
    values = np.repeat([[[1.0], [0.0]], [[0.0], [1.0]]], 4, axis=2)
    found = strategies.population_maximin.optimal_policy(rewards(values))
    assert found.value == pytest.approx(0.5)
    assert found.decisions.flags["randomised"].all()
    fitted = strategies.population_maximin.fit(rewards(values))
    np.testing.assert_allclose(fitted.multipliers, 1.0)
    decided = fitted(rewards(values))
    assert decided.tied.all() and (decided.codes == 0).all()  # equal sums: declared order


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused(name):
    rule = strategies.create(name)
    assert not rule.fitted
    with pytest.raises(NotFittedError, match=f"{name} takes its weights from training contexts; call fit"):
        rule(rewards(np.full((2, 2, 1), 0.5)))
    with pytest.raises(InputError, match=f"{name} needs at least one training context"):
        rule.fit(rewards(np.zeros((2, 2, 0))))
    fitted = rule.fit(rewards(np.full((2, 2, 1), 0.5)))
    assert fitted.fitted and fitted(rewards(np.zeros((2, 2, 0)))).n_contexts == 0
    with pytest.raises(InputError, match="2 multipliers were given for 3 stakeholders"):
        fitted(rewards(np.full((3, 2, 1), 0.5)))
    with pytest.raises(InputError, match="stakeholder weights .* are wrong"):
        strategies.create(name, {"weights": (1.0, 2.0)}).fit(rewards(np.full((3, 2, 1), 0.5)))
    for wrong in ((-1.0, 1.0), (0.0, 0.0), (float("inf"), 1.0), "many", ((1.0,), (2.0,))):
        with pytest.raises(InputError, match="multipliers are .*; allowed: numbers of at least 0, not all 0"):
            strategies.create(name, {"multipliers": wrong})


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_read_only_and_blocks(name, monkeypatch):
    values = np.random.default_rng(9).random((3, 3, 500)).astype(np.float32)
    single, double = rewards_of(values), rewards_of(values.astype(np.float64))
    rule = strategies.create(name)
    whole = rule.fit(double)
    assert rule.fit(single).multipliers == whole.multipliers
    monkeypatch.setattr("accordant.strategies.block.BLOCK_SIZE", 9 * 64)
    np.testing.assert_allclose(rule.fit(double).multipliers, whole.multipliers, atol=1e-6)


def rewards_of(values):
    return ExpectedRewards(values, stakeholders=["x", "y", "z"], actions=["a", "b", "c"])


def test_a_fitted_rule_is_certified_as_the_weighted_sum_that_it_is():
    expected = rewards(np.random.default_rng(10).random((3, 3, 50)))
    rule = strategies.population_maximin.fit(expected)
    assert rule.structure() == "column_score"
    twin = strategies.create("utilitarian", {"weights": rule.multipliers})
    found, same = certify(rule, expected, Threat(0.1)), certify(twin, expected, Threat(0.1))
    np.testing.assert_array_equal(found.outer, same.outer)
    assert found.exact.all()
    np.testing.assert_allclose(family_of(rule, expected).weights, family_of(twin, expected).weights)


def test_an_explanation_says_how_often_whose_rewards_count():
    generator = np.random.default_rng(11)
    values = generator.random((2, 2, 80))
    values[0] *= 0.8
    expected = ExpectedRewards(values, stakeholders=["tutors", "students"], actions=["a", "b"])
    rule = strategies.population_maximin.fit(expected)
    tutors, students = rule.multipliers
    assert tutors > 1.05 > 0.95 > students
    said = " ".join(explain(rule, expected, rows=[3])[0].sentences())
    counts = f"An expected reward counts {tutors:.3f} for tutors and {students:.3f} for students, in place of 1"
    assert counts in said
    assert smallest_weight_changes(rule, expected.take(slice(3, 4)))[0].method == "exact"


def test_masters_by_hand():
    """Three policies; the middle one is best for the worst-off, and 0.25 of the first one for the product."""
    means = np.array([[0.8, 0.1], [0.4, 0.5], [0.0, 0.6]])
    nobody, zero = np.full(2, -np.inf), np.zeros(2)
    found = raise_smallest(means, np.array([True, True]), nobody, zero)
    assert (found.shares @ means).tolist() == pytest.approx([0.45, 0.45])
    assert found.weights.tolist() == pytest.approx([0.5, 0.5])
    held = raise_smallest(means, np.array([True, False]), np.array([-np.inf, 0.3]), zero)
    assert (held.shares @ means).tolist() == pytest.approx([0.6, 0.3])
    product_of = maximise_product(means, np.array([1.0, 1.0]), zero)
    assert (product_of.shares @ means).tolist() == pytest.approx([0.45, 0.45], abs=1e-7)


def test_the_search_may_be_cut_short_and_says_what_is_left(monkeypatch):
    expected = rewards(np.random.default_rng(12).random((4, 4, 300)))
    best = strategies.population_maximin.optimal_policy(expected)
    monkeypatch.setattr(column_generation, "MOST_PASSES", 5)
    short = strategies.population_maximin.optimal_policy(expected)
    assert short.passes == 5 and short.gap > 1e-6
    assert short.value <= best.value <= short.value + short.gap


def test_a_programme_that_is_not_solved_is_an_error(monkeypatch):
    class Failed:
        x, message = None, "for some reason"

    monkeypatch.setattr(mixtures, "_linear_programme", lambda rows, least: Failed)
    with pytest.raises(AccordantError, match="the linear programme of 1 policies was not solved: for some reason"):
        strategies.population_maximin.fit(rewards(np.full((2, 2, 3), 0.5)))


def test_brute_force_over_all_mixtures_of_two_policies():
    """With two stakeholders a best policy mixes at most two deterministic ones: all pairs are tried."""
    generator = np.random.default_rng(13)
    for _ in range(30):
        values = draw(generator, 4, (2, 2, 4))
        n, k, t = values.shape
        codes = list(itertools.product(range(k), repeat=t))
        points = np.array([[values[i, list(each), range(t)].mean() for i in range(n)] for each in codes])
        found = strategies.population_maximin.optimal_policy(rewards(values)).value
        assert found == pytest.approx(max(pair(a, b) for a in points for b in points), abs=1e-9)


def pair(a, b):
    """Return the highest smallest entry on the line between two points."""
    shares = [0.0, 1.0]
    if len(a) == 2 and (slope := (a[0] - b[0]) - (a[1] - b[1])):
        shares.append(min(1.0, max(0.0, (b[1] - b[0]) / slope)))
    return max((share * a + (1 - share) * b).min() for share in shares)


def grouped(seed, n=60):
    generator = np.random.default_rng(seed)
    expected = rewards(generator.random((3, 3, n)))
    return expected, Contexts({"town": np.array(["a", "b", "c"])[np.arange(n) % 3], "row": np.arange(n)})


def test_every_group_by_itself_is_best_for_all_pairs_of_stakeholder_and_group():
    expected, contexts = grouped(14)
    values, towns = expected.values, contexts["town"]
    n, k, t = values.shape
    pairs = np.concatenate([
        values.reshape(n, k * t) * np.tile(towns == town, k) / (towns == town).sum() for town in "abc"
    ])  # fmt: skip
    sums, cost = np.tile(np.eye(t), (1, k)), np.append(np.zeros(k * t), -1.0)
    done = linprog(
        cost, A_ub=np.column_stack([-pairs, np.ones(9)]), b_ub=np.zeros(9), A_eq=np.column_stack([sums, np.zeros(t)]),
        b_eq=np.ones(t), bounds=[(0, None)] * (k * t) + [(None, None)], options=SHARP,
    )  # fmt: skip
    parts = [expected.take(np.flatnonzero(towns == town)) for town in "abc"]
    alone = [strategies.population_maximin.optimal_policy(part).value for part in parts]
    assert min(alone) == pytest.approx(-done.fun, abs=1e-9)
    rule = strategies.create("population_by_group", {"attribute": "town"}).fit(expected, contexts)
    decided = rule(expected, contexts=contexts)
    for town, part in zip("abc", parts, strict=True):
        twin = strategies.population_maximin.fit(part)(part)
        np.testing.assert_array_equal(decided.codes[towns == town], twin.codes)
        np.testing.assert_array_equal(decided.scores[:, towns == town], twin.scores)


def test_the_weighted_sum_is_best_for_every_group_at_once():
    """Groups in the place of stakeholders have no conflict: nothing done in one changes another."""
    expected, contexts = grouped(15)
    chosen = strategies.utilitarian(expected).codes
    sums = expected.values.mean(axis=0)
    for town in "abc":
        rows = np.flatnonzero(contexts["town"] == town)
        assert sums[chosen[rows], rows].mean() == pytest.approx(sums[:, rows].max(axis=0).mean())


def test_groups_without_training_contexts_are_flagged():
    expected, contexts = grouped(16)
    rule = strategies.create("population_by_group", {"attribute": "town", "rule": "population_nash"})
    rule = rule.fit(expected.take(np.flatnonzero(contexts["town"] != "c")), contexts.take(contexts["town"] != "c"))
    assert rule.label == "population_nash by town" and rule.columns == ("town",) and rule.may_be_selected
    decided = rule(expected, contexts=contexts)
    np.testing.assert_array_equal(decided.flags["group_unseen"], contexts["town"] == "c")
    together = rule.inner(expected)
    np.testing.assert_array_equal(decided.codes[contexts["town"] == "c"], together.codes[contexts["town"] == "c"])
    assert rule.fit(expected, contexts) == strategies.create(
        "population_by_group", json.loads(json.dumps(rule.fit(expected, contexts).parameters))
    )


def test_what_groups_refuse():
    expected, contexts = grouped(17)
    rule = strategies.create("population_by_group", {"attribute": "town"})
    assert not rule.fitted
    with pytest.raises(
        NotFittedError, match=r"population_maximin by town takes its weights .* call fit\(E, contexts\)"
    ):
        rule(expected, contexts=contexts)
    with pytest.raises(InputError, match="reads the column 'town'; pass contexts="):
        rule.fit(expected)
    with pytest.raises(InputError, match="town"):
        rule.fit(expected, Contexts({"row": np.arange(60)}))
    with pytest.raises(InputError, match="expected rewards have 60 contexts, and contexts= has 59 rows"):
        rule.fit(expected, contexts.take(slice(1, None)))
    for parameters, message in [
        ({"rule": "utilitarian"}, "rule is utilitarian; allowed: population_maximin"),
        (
            {"rule": {"name": "population_nash", "parameters": {"selection": "softmax", "temperature": 1.0}}},
            "which draws",
        ),
        ({"multipliers": {"a": (-1.0, 2.0)}}, "multipliers are .*; allowed"),
        ({"attribute": 3}, "attribute is 3; allowed: the name of a column"),
    ]:
        with pytest.raises(InputError, match=message):
            strategies.create("population_by_group", {"attribute": "town", **parameters})
