"""Theorem 16 with our constants: worked example, gradients, remainders, and never above the exact worst case."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates.schema import (
    family_of,
    frozen_composite,
    paper_bound,
    paper_value_bound,
    perturbation_set,
    terms,
)
from accordant.certificates.schema import constants
from accordant.errors import InputError, NotFittedError, UnknownNameError
from accordant.utilities import ExpectedRewards

# II.4: margin, κ, τ*, S, gradient, curvature, bias, RLB, RLB with exponential bias at the best τ
WORKED = {
    0.05: (0.21667, 3.3958, 0.031577, 0.99963, 0.00039, 0.05361, 0.10723, 0.83840, 0.95412),
    0.10: (0.18333, 4.0132, 0.047410, 0.99460, 0.00756, 0.09513, 0.19027, 0.70164, 0.85196),
    0.15: (0.15000, 4.9051, 0.058105, 0.98542, 0.02472, 0.14250, 0.28501, 0.53319, 0.69634),
}
THETA = (1.0, 0.0, 0.3)


@pytest.mark.parametrize("delta", WORKED)
def test_worked_example(worked, worst, delta):
    settings = {"delta": delta, "coalition": ["a"], "mu": 0.05}
    found = paper_bound(strategies.utilitarian, worked, THETA, tau="star", bias="linear", **settings)
    margin, kappa, tau, *rest, best = WORKED[delta]
    assert found.margin == pytest.approx(margin, abs=5e-6)
    assert found.margin == pytest.approx(0.25 - 2 * delta / 3)
    assert found.kappa == pytest.approx(kappa, abs=5e-5)
    assert found.tau == pytest.approx(tau, abs=5e-7)
    shown = (found.smooth_score, found.gradient, found.curvature, found.bias, found.rlb)
    np.testing.assert_allclose(shown, rest, atol=5e-6)
    assert found.smoothness * tau**2 == pytest.approx(0.042767, abs=5e-6)
    assert found.beta == pytest.approx(0.042767 * 0.05**2, rel=1e-4)
    assert found.value == found.rlb
    assert not found.reason
    assert not found.exact
    free = paper_bound(strategies.utilitarian, worked, THETA, **settings)
    assert free.value == pytest.approx(best, abs=1e-5)  # the table stops at a grid, the search goes on


def test_the_worked_decision_cannot_change_before(worked):
    """The decision changes at δ = 0.25 / (2/3) = 0.375 and not before; the schema needs a margin above 0."""
    settings = {"coalition": ["a"], "mu": 1e-6}
    lead = [paper_bound(strategies.utilitarian, worked, THETA, delta=delta, **settings) for delta in (0.2, 0.4)]
    assert lead[0].usable.all() and not lead[1].usable.any()


@pytest.mark.few(10)
@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_gradients(family, problem_of, size):
    """Central differences of the score itself, in every entry of the coalition."""
    generator = np.random.default_rng(size)
    problem = problem_of(generator, 25, size=size, delta=0.02)
    object.__setattr__(problem.expected, "values", 0.15 + 0.7 * problem.expected.values)
    form, at, step = family.form(problem.expected), problem.perturbations, 1e-6
    for tau in (0.05, 0.5):
        for kind in ("decision", "value"):

            def smooth(values):
                scores = form.scores(values)
                whole = constants.expected_metric(scores, problem.theta, tau)
                return whole.score if kind == "decision" else constants.soft_maximum(scores, tau).score

            bound = (
                paper_bound(form, problem.expected, problem.theta, tau=tau, **problem.settings)
                if kind == "decision"
                else paper_value_bound(form, problem.expected, tau=tau, **problem.settings)
            )
            assert bound.entries.shape == (size, 3, 25)
            for k, i in enumerate(at.members):
                for a in range(3):
                    up, down = at.centre.copy(), at.centre.copy()
                    up[i, a] += step
                    down[i, a] -= step
                    numeric = (smooth(up) - smooth(down)) / (2 * step)
                    scale = max(1.0, np.abs(numeric).max())
                    np.testing.assert_allclose(bound.entries[k, a], numeric, atol=1e-6 * scale)
            norms = np.abs(bound.entries).sum(axis=(0, 1))
            np.testing.assert_allclose(bound.terms.gradient, problem.delta * norms, rtol=1e-9, atol=1e-15)


@pytest.mark.few(6)
@pytest.mark.parametrize("region", ["tube", "box"])
def test_remainders(family, problem_of, region):
    """|S(E + Δ) − S(E) − ∇S·Δ| ≤ L δ² / 2 for hundreds of random Δ per size of coalition and temperature."""
    generator = np.random.default_rng(7)
    fractions = []
    for size in (1, 2, 3):
        problem = problem_of(generator, 400, size=size, delta=0.12)
        object.__setattr__(problem.expected, "values", 0.15 + 0.7 * problem.expected.values)
        form, at = family.form(problem.expected), problem.perturbations
        drawn = generator.uniform(at.low, at.high)
        ends = np.where(generator.random(drawn.shape) < 0.5, at.low, at.high)
        moved = np.where(generator.random(drawn.shape) < 0.8, ends, drawn)
        for tau in (0.02, 0.1, 0.6):
            for bound, smooth in (
                (
                    paper_bound(form, problem.expected, problem.theta, tau=tau, region=region, **problem.settings),
                    lambda values, tau=tau: constants.expected_metric(form.scores(values), problem.theta, tau).score,
                ),
                (
                    paper_value_bound(form, problem.expected, tau=tau, region=region, **problem.settings),
                    lambda values, tau=tau: constants.soft_maximum(form.scores(values), tau).score,
                ),
            ):
                linear = (bound.entries * (moved - at.centre)[at.members]).sum(axis=(0, 1))
                remainder = smooth(moved) - smooth(at.centre) - linear
                assert (np.abs(remainder) <= bound.terms.curvature + 1e-12).all()
                fractions.append((np.abs(remainder) / (bound.terms.curvature + 1e-12)).max())
    assert max(fractions) > 0.01  # a bound that nothing comes near would be no test


def test_the_utilitarian_constant_cannot_be_improved():
    """Two actions pushed apart, mass ½(1 − 1/√3) on one: all of c₃ is used."""
    tau, delta, mass = 1.0, 1e-3, 0.5 * (1 - 3**-0.5)
    gap = tau * np.log((1 - mass) / mass)  # 1.317: scores in [0, 1] are scaled by the temperature
    tau /= 2 * gap
    values = np.array([[[0.25], [0.75]]])
    E = ExpectedRewards(values, stakeholders=["only"], actions=["x", "y"])
    bound = paper_bound(strategies.utilitarian, E, (1.0, 0.0), delta=delta, coalition=["only"], tau=tau)
    moved = values + delta * np.array([1.0, -1.0])[None, :, None]
    score = constants.expected_metric(moved[0], np.array([[1.0], [0.0]]), tau).score[0]
    linear = (bound.entries * (moved - values)).sum()
    assert (score - bound.smooth_score - linear) / bound.curvature == pytest.approx(1.0, abs=0.002)


@pytest.mark.long
@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
def test_never_above_the_exact_worst_case(family, problem_of, worst, coarse):
    """Every context a case: 1 and 2 members, all corners of the box (and peaks); coarse values make ties."""
    generator = np.random.default_rng(11)
    for size, n_contexts, delta in ((1, 500, 0.04), (1, 500, 0.15), (2, 120, 0.08), (2, 60, 0.0)):
        if hasattr(family.form(problem_of(generator, 1).expected), "ideal") and size == 2:
            n_contexts = min(n_contexts, 40)
        problem = problem_of(generator, n_contexts, size=size, delta=delta, coarse=coarse)
        form = family.form(problem.expected)
        exact = worst(problem, form)
        for settings in ({"tau": "star", "bias": "linear"}, {"region": "box"}, {"tau": "per_context"}, {"tau": 0.05}):
            bound = paper_bound(form, problem.expected, problem.theta, **problem.settings, **settings)
            certified = np.where(
                bound.usable, np.maximum(bound.terms.rlb, problem.theta.min(axis=0)), problem.theta.min(axis=0)
            )
            assert (certified <= exact + 1e-12).all()
            assert (bound.terms.rlb <= exact + 1e-12)[form.defined(problem.perturbations.low)].all()
            assert bound.value <= exact.mean() + 1e-12
            assert bound.value >= bound.trivial - 1e-12
            assert bound.value == pytest.approx(certified.mean())
    assert bound.usable.any()


@pytest.mark.few(3)
@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
def test_value_bounds_are_never_above_the_exact_value(family, problem_of, worst, coarse):
    generator = np.random.default_rng(12)
    for size, n_contexts in ((1, 400), (2, 40)):
        problem = problem_of(generator, n_contexts, size=size, coarse=coarse)
        object.__setattr__(problem.expected, "values", 0.1 + 0.8 * problem.expected.values)
        form = family.form(problem.expected)
        exact = worst(problem, form, "value")
        at = problem.perturbations
        np.testing.assert_allclose(exact, form.extremes(at.low, at.high).lowest.max(axis=0), atol=1e-12)
        for settings in ({}, {"tau": "star"}, {"region": "box"}, {"tau": "per_context"}, {"tau": 0.3}):
            bound = paper_value_bound(form, problem.expected, **problem.settings, **settings)
            assert (bound.terms.rlb <= exact + 1e-12).all()
            assert bound.value <= exact.mean() + 1e-12
            assert not bound.reason


@pytest.mark.few(4)
@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
def test_holds_for_the_strategy_itself(faithful, problem_of, coarse):
    """The library's own decisions, with its ties and tolerances, at random points and corners of the set."""
    generator = np.random.default_rng(13)
    problem = problem_of(generator, 500, size=2, coarse=coarse)
    at, rule = problem.perturbations, faithful.rule
    bound = paper_bound(
        faithful.form(problem.expected), problem.expected, problem.theta, tau="per_context", **problem.settings
    )
    certified = np.where(
        bound.usable, np.maximum(bound.terms.rlb, problem.theta.min(axis=0)), problem.theta.min(axis=0)
    )
    for k in range(60):
        drawn = (
            generator.uniform(at.low, at.high)
            if k % 2
            else np.where(generator.random(at.low.shape) < 0.5, at.low, at.high)
        )
        E = ExpectedRewards(drawn, stakeholders=problem.expected.stakeholders, actions=problem.expected.actions)
        scores = problem.theta[rule(E).codes, np.arange(500)]
        assert (certified <= scores + 1e-12).all()
    assert bound.usable.sum() > 20


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ties_of_the_rule_leave_the_trivial_bound(dtype):
    """A lead within the rule's own tolerance is no lead: the rule breaks that tie by other means."""
    values = np.array([[0.5, 0.5 + 4e-7], [0.5, 0.5]], dtype=dtype)
    E = ExpectedRewards(values, stakeholders=["i", "j"], actions=["x", "y"])
    found = paper_bound(strategies.utilitarian, E, (0.0, 1.0), delta=0.0, coalition=["i"])
    assert found.usable.all() == (dtype == np.float64)
    assert found.value == (1.0 if dtype == np.float64 else 0.0)


def test_without_a_margin(worked):
    """Acceptance test 8: the trivial bound and a reason."""
    found = paper_bound(strategies.utilitarian, worked, THETA, delta=0.4, coalition=["a"], mu=1e-3)
    assert found.value == found.trivial == 0.0
    assert found.margin < 0
    assert found.kappa == np.inf
    assert found.reason == (
        "the trivial bound stands in 1 of 1 contexts: the margin is not above 0: an action with another metric value "
        "may win, and no finite κ exists"
    )
    assert found.rlb <= 0.0
    assert found.bias == pytest.approx(2 / 3)


@pytest.mark.parametrize("bias", ["linear", "exponential"])
def test_without_a_margin_the_bias_is_what_a_tie_can_make_it(bias):
    """Three tied actions, two of one metric value: softmax has 2/3, and the decision may have 0."""
    E = ExpectedRewards([[0.5, 0.5, 0.5]], stakeholders=["i"], actions=["x", "y", "z"])
    found = paper_bound(strategies.utilitarian, E, (1.0, 1.0, 0.0), delta=0.0, coalition=["i"], tau=0.1, bias=bias)
    assert found.bias == pytest.approx(2 / 3)
    assert found.rlb == pytest.approx(0.0)
    assert found.value == 0.0


def test_some_contexts_without_a_margin():
    values = np.array([[0.8, 0.5], [0.2, 0.5]])[None]
    E = ExpectedRewards(values, stakeholders=["i"], actions=["x", "y"])
    for total, share in (("mean", 0.5), ("sum", 1.0)):
        found = paper_bound(strategies.utilitarian, E, (1.0, -1.0), delta=0.01, coalition=["i"], total=total)
        alone = paper_bound(strategies.utilitarian, E.take(slice(0, 1)), (1.0, -1.0), delta=0.01, coalition=["i"])
        assert found.value == pytest.approx(share * (alone.value - 1.0))
        assert found.tau == pytest.approx(alone.tau, rel=1e-3)
        assert "1 of 2 contexts" in found.reason
        np.testing.assert_array_equal(found.usable, [True, False])


def test_a_bound_below_the_smallest_metric_value_says_so(worked):
    found = paper_bound(strategies.utilitarian, worked, THETA, delta=0.15, coalition=["a"], tau=1e-3)
    assert found.rlb < found.value == 0.0
    assert "below the smallest metric value" in found.reason


def test_actions_with_one_metric_value_need_no_margin_between_them():
    values = np.array([[0.8], [0.8], [0.2]])[None]
    E = ExpectedRewards(values, stakeholders=["i"], actions=["x", "y", "z"])
    settings = {"delta": 0.05, "coalition": ["i"]}
    assert paper_bound(strategies.utilitarian, E, (1.0, 1.0, 0.0), **settings).margin == pytest.approx(0.5)
    assert paper_bound(strategies.utilitarian, E, (1.0, 0.9, 0.0), **settings).margin == pytest.approx(-0.1)
    same = paper_bound(strategies.utilitarian, E, (0.3, 0.3, 0.3), **settings)
    assert (same.value, same.kappa, same.margin, same.bias, same.curvature) == (0.3, 0.0, np.inf, 0.0, 0.0)


def test_one_action_and_one_stakeholder():
    E = ExpectedRewards([[0.4]], stakeholders=["only"], actions=["do"])
    found = paper_bound(strategies.nash_social_welfare, E, (0.7,), delta=0.2, coalition=["only"])
    assert found.value == 0.7
    value = paper_value_bound(strategies.utilitarian, E, delta=0.2, coalition=["only"])
    assert value.value == pytest.approx(0.2)
    assert value.kappa == 0.0


@pytest.mark.few(3)
def test_no_radius_or_nobody_leaves_the_nominal_score(family, problem_of):
    problem = problem_of(np.random.default_rng(14), 40, delta=0.0)
    form = family.form(problem.expected)
    at = problem.perturbations
    nominal = problem.theta[form.scores(at.centre).argmax(axis=0), np.arange(40)]
    for settings in ({"delta": 0.0, "coalition": problem.coalition}, {"delta": 0.3, "coalition": ()}):
        found = paper_bound(form, problem.expected, problem.theta, mu=0.05, **settings)
        assert found.usable.sum() >= 35
        np.testing.assert_allclose(found.terms.rlb[found.usable], nominal[found.usable], atol=1e-9)


def test_bounds_fall_with_radius_and_coalition(worked):
    values = [
        paper_bound(strategies.utilitarian, worked, THETA, delta=delta, coalition=["a"], mu=0.05).value
        for delta in (0.0, 0.05, 0.1, 0.2)
    ]
    assert values == sorted(values, reverse=True)
    values = [
        paper_bound(strategies.utilitarian, worked, THETA, delta=0.02, coalition=names, mu=0.05).value
        for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])
    ]
    assert values == sorted(values, reverse=True)


def test_totals_add_up(problem_of):
    problem = problem_of(np.random.default_rng(15), 30, delta=0.02)
    mean = paper_bound(strategies.utilitarian, problem.expected, problem.theta, **problem.settings)
    summed = paper_bound(strategies.utilitarian, problem.expected, problem.theta, total="sum", **problem.settings)
    for name in ("value", "rlb", "smooth_score", "gradient", "curvature", "bias", "smoothness", "trivial", "beta"):
        assert getattr(summed, name) == pytest.approx(30 * getattr(mean, name))
    assert mean.rlb == pytest.approx(mean.smooth_score - mean.gradient - mean.curvature - mean.bias)
    assert mean.smoothness * mean.tau**2 * mean.perturbations.mu**2 == mean.beta == pytest.approx(mean.beta)
    # adding constants over contexts is below T times the worst context
    assert summed.curvature < 30 * mean.terms.curvature.max()


def test_contexts_by_themselves_are_tighter(problem_of):
    problem = problem_of(np.random.default_rng(16), 60, delta=0.03)
    one, own = (
        paper_bound(strategies.utilitarian, problem.expected, problem.theta, tau=tau, **problem.settings)
        for tau in ("best", "per_context")
    )
    assert own.value > one.value
    assert np.isnan(own.tau) and np.isnan(own.beta)
    for t in (0, 7, 23):
        alone = paper_bound(
            strategies.utilitarian,
            problem.expected.take(slice(t, t + 1)),
            problem.theta[:, t : t + 1],
            **problem.settings,
        )
        assert alone.value == pytest.approx(
            max(own.terms.rlb[t], problem.theta[:, t].min()) if own.usable[t] else alone.trivial
        )


@pytest.mark.few(3)
def test_the_best_temperature_is_at_least_as_good_as_the_star(family, problem_of):
    problem = problem_of(np.random.default_rng(17), 20, delta=0.02)
    form = family.form(problem.expected)
    star, best = (
        paper_bound(form, problem.expected, problem.theta, tau=tau, **problem.settings) for tau in ("star", "best")
    )
    assert best.value >= star.value
    tried = [
        paper_bound(form, problem.expected, problem.theta, tau=tau, **problem.settings).value
        for tau in star.tau * np.geomspace(0.05, 20, 40)
    ]
    assert best.value >= max(tried) - 0.01 * abs(max(tried)) - 1e-3


def test_the_star_of_a_value_bound_lets_curvature_and_bias_be_equal(worked):
    """Nothing but δ² U² / (2 τ) + τ log k depends on τ, which is least where both are (inequality of means)."""
    for delta in (0.05, 0.15):
        found = paper_value_bound(strategies.utilitarian, worked, tau="star", delta=delta, coalition=["a"], mu=0.05)
        assert found.tau == pytest.approx(delta * np.sqrt(found.smoothness * found.tau / 2 / np.log(3)))
        assert found.curvature == pytest.approx(found.bias)


def test_the_set_of_definition_15(as_rewards):
    values = np.array([[0.02, 0.5], [0.6, 1.0]])[:, :, None]
    at = perturbation_set(as_rewards(values), delta=0.2, coalition=["b"], mu=0.1)
    np.testing.assert_allclose(at.centre[:, :, 0], [[0.1, 0.5], [0.6, 0.9]])
    np.testing.assert_allclose(at.low[:, :, 0], [[0.1, 0.5], [0.4, 0.7]])
    np.testing.assert_allclose(at.high[:, :, 0], [[0.1, 0.5], [0.8, 0.9]])
    assert (at.n_clipped, at.room, at.meets_definition) == (2, 0.0, False)
    narrow = perturbation_set(as_rewards(values), delta=0.2, coalition=["a"], mu=0.01)
    assert narrow.room == pytest.approx(0.01)
    inside = perturbation_set(as_rewards(np.full((2, 2, 1), 0.5)), delta=0.2, coalition=["b", "a"], mu=0.1)
    assert inside.meets_definition and inside.coalition == ("a", "b")
    assert perturbation_set(as_rewards(values), delta=9.0, coalition=[], mu=0.1).meets_definition


@pytest.mark.parametrize(("changes", "message"), [
    ({"delta": -0.1}, "delta is -0.1; allowed"),
    ({"delta": np.nan}, "delta is nan"),
    ({"delta": np.inf}, "delta is inf"),
    ({"mu": 0.5}, "mu is 0.5; allowed: from 1e-06 to below 0.5"),
    ({"mu": 0.0}, "mu is 0.0"),
    ({"coalition": ["z"]}, "unknown stakeholder in the coalition 'z'"),
    ({"tau": 0.0}, "tau is 0.0; allowed: at least 1e-12, or 'best'"),
    ({"tau": np.nan}, "tau is nan"),
    ({"tau": "bets"}, "did you mean 'best'"),
    ({"bias": "none"}, "unknown bias"),
    ({"total": "max"}, "unknown total"),
    ({"region": "ball"}, "unknown region"),
    ({"theta": [1.0, 2.0]}, r"theta has shape \(2,\); allowed: \(action, context\), here \(3, 1\)"),
    ({"theta": [1.0, np.nan, 0.0]}, "NaN or an infinite"),
    ({"theta": ["a", "b", "c"]}, "array of numbers"),
])  # fmt: skip
def test_wrong_input(worked, changes, message):
    settings = {"theta": THETA, "delta": 0.1, "coalition": ["a"]} | changes
    with pytest.raises(InputError, match=message):
        paper_bound(strategies.utilitarian, worked, **settings)


def test_no_context(worked):
    with pytest.raises(InputError, match="no context"):
        paper_bound(strategies.utilitarian, worked.take(slice(0, 0)), THETA, delta=0.1, coalition=["a"])


@pytest.mark.parametrize(("name", "parameters", "options", "message"), [
    ("leximin", {}, {}, "those that have: compromise_programming, kalai_smorodinsky, maximin, nash_bargaining, "
     "nash_social_welfare, population_leximin, population_maximin, population_nash, utilitarian"),
    ("borda", {}, {}, "no constants in the certificate schema"),
    ("random", {}, {}, "no constants in the certificate schema"),
    ("utilitarian", {"selection": "softmax", "temperature": 0.1}, {}, "draws its decisions"),
    ("nash_bargaining", {}, {}, "disagreement 'context' moves with the reports"),
    ("nash_bargaining", {"disagreement": "status_quo", "status_quo": "a"}, {}, "'status_quo' moves"),
    ("kalai_smorodinsky", {"disagreement": 0.0}, {}, "ideal 'context' moves with the reports"),
    ("kalai_smorodinsky", {"disagreement": 0.5, "ideal": 0.5}, {}, "nobody's ideal point is above"),
    ("compromise_programming", {"ideal": 1.0, "exponent": 1.0}, {}, "the exponent is 1; the schema has constants for 2"),
    ("utilitarian", {}, {"product": True}, "product has no effect"),
    ("nash_social_welfare", {}, {"sigma": 0.1}, "sigma has no effect"),
    ("maximin", {}, {"sigma": 0.0}, "sigma is 0.0; allowed: above 0"),
    ("nash_social_welfare", {"weights": (1.0, 2.0, 1.0)}, {"product": True}, "needs equal weights"),
    ("utilitarian", {"weights": (1.0, 2.0)}, {}, "stakeholder weights"),
])  # fmt: skip
def test_strategies_without_a_family(worked, name, parameters, options, message):
    with pytest.raises(InputError, match=message):
        family_of(strategies.create(name, parameters), worked, **options)


def test_global_points_are_fixed_once_learned(worked):
    rule = strategies.create("nash_bargaining", {"disagreement": "global"})
    with pytest.raises(NotFittedError):
        family_of(rule, worked)
    np.testing.assert_allclose(family_of(rule.fit(worked), worked).disagreement, [0.3, 0.5, 0.35])
    found = paper_bound(rule.fit(worked), worked, THETA, delta=0.05, coalition=["a"])
    assert found.value == 0.0
    assert "gain over the disagreement point may vanish" in found.reason
    assert (found.margin, found.bias, found.rlb) == (-np.inf, np.inf, -np.inf)
    value = paper_value_bound(rule.fit(worked), worked, delta=0.05, coalition=["a"])
    assert value.value == value.rlb == -np.inf
    assert value.reason.startswith("there is no bound in 1 of 1 contexts")


def test_a_form_for_others_is_refused(worked, as_rewards):
    form = family_of(strategies.utilitarian, as_rewards(np.full((2, 3, 1), 0.5)))
    with pytest.raises(InputError, match="is for 2 stakeholders; E has 3"):
        paper_bound(form, worked, THETA, delta=0.1, coalition=["a"])


def test_forms_put_actions_in_the_order_of_their_rule(faithful, problem_of):
    """The squared distance as the distance, the product as its logarithm."""
    problem = problem_of(np.random.default_rng(18), 400)
    object.__setattr__(problem.expected, "values", 0.15 + 0.8 * problem.expected.values)
    scores = faithful.rule(problem.expected).scores
    mine = faithful.form(problem.expected).scores(problem.expected.values)
    np.testing.assert_array_equal(np.argsort(scores, axis=0), np.argsort(mine, axis=0))


def test_composite_with_frozen_ranges(problem_of, worst):
    generator = np.random.default_rng(19)
    problem = problem_of(generator, 50, delta=0.03)
    tables = generator.uniform(0, 5, (2, 3, 50))
    weights, ranges = (0.7, 0.3), ((1.0, 3.0), (0.0, 4.0))
    theta = frozen_composite(tables, goals=("max", "min"), weights=weights, ranges=ranges)
    codes = generator.integers(0, 3, 50)
    chosen = tables[:, codes, np.arange(50)].mean(axis=1)
    composite = 0.7 * (chosen[0] - 1) / 2 + 0.3 * (4 - chosen[1]) / 4
    assert theta[codes, np.arange(50)].mean() == pytest.approx(composite)
    spread = [table.max(axis=0) - table.min(axis=0) for table in tables]
    assert (np.ptp(theta, axis=0) <= 0.7 * spread[0] / 2 + 0.3 * spread[1] / 4 + 1e-12).all()
    problem = dataclasses.replace(problem, theta=theta)
    form = family_of(strategies.utilitarian, problem.expected)
    bound = paper_bound(form, problem.expected, theta, **problem.settings)
    assert bound.trivial < bound.value <= worst(problem, form).mean()


@pytest.mark.parametrize(("changes", "message"), [
    ({"goals": ("zero",)}, "unknown goal of a linear metric 'zero'"),
    ({"goals": ("max", "max")}, "1 tables, 2 goals"),
    ({"weights": (-1.0,)}, "weight -1.0"),
    ({"ranges": ((1.0, 1.0),)}, "low below high"),
    ({"tables": (np.ones(3),)}, "tables have shapes"),
    ({"tables": (), "goals": (), "weights": (), "ranges": ()}, "at least one metric"),
])  # fmt: skip
def test_wrong_composites(changes, message):
    given = {"tables": (np.ones((2, 3)),), "goals": ("max",), "weights": (1.0,), "ranges": ((0.0, 1.0),)} | changes
    with pytest.raises(InputError, match=message):
        frozen_composite(given.pop("tables"), **given)


def test_softmax_is_stable():
    scores = np.array([[1e308, -1e308, 5.0], [0.0, 0.0, 5.0]])
    for tau in (1e-12, 1.0, 1e12):
        policy = constants.softmax(scores / 1e6, tau)
        np.testing.assert_allclose(policy.sum(axis=0), 1.0)
        assert np.isfinite(constants.soft_maximum(scores / 1e6, tau).score).all()
    np.testing.assert_array_equal(constants.softmax(scores[:, 2:], 1.0), 0.5)


def test_unknown_names_are_input_errors(worked):
    with pytest.raises(UnknownNameError):
        paper_value_bound(strategies.utilitarian, worked, delta=0.1, coalition=["z"])


def test_a_soft_minimum_says_that_it_is_another_rule(worked):
    settings = {"delta": 0.01, "coalition": ["a"]}
    soft = paper_bound(strategies.maximin, worked, THETA, **settings)
    assert soft.substitute and soft.rule == "maximin, soft minimum 0.02"
    assert not paper_bound(strategies.utilitarian, worked, THETA, **settings).substitute
    # 0.5 for all at y, or 0.49 for one and 1 for the others at x: the minimum prefers y, the soft one x
    E = ExpectedRewards([[0.49, 0.5], [1.0, 0.5], [1.0, 0.5]], stakeholders=list("ijk"), actions=["x", "y"])
    form = family_of(strategies.maximin, E, sigma=0.05)
    assert strategies.maximin(E).codes[0] == 1
    assert form.scores(E.values).argmax(axis=0)[0] == 0


def test_terms_hold_the_bound(worked):
    found = paper_bound(strategies.utilitarian, worked, THETA, delta=0.1, coalition=["a"])
    assert isinstance(found.terms, terms.Terms)
    assert found.terms.rlb.tolist() == [found.rlb]
