"""Every compromise function against a twin in plain Python, written from the formulas, on matrices full of ties.

The twin works context by context, with products where the library sums logarithms, and with lists of
candidate actions where the library compares arrays.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from accordant import strategies
from accordant.utilities import ExpectedRewards

GRID = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
SHAPES = [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4)]
CONTEXTS_PER_SHAPE = 120
TOLERANCE = 1e-12
PRODUCTS = ("nash_social_welfare", "nash_bargaining")


@dataclass
class Twin:
    """What the twin says about one context."""

    scores: list[float]
    action: int
    tied: bool
    flags: dict[str, bool]


def twin(name, column_of, parameters, training):
    """Decide one context. `column_of[a][i]` is E[i, a]; `training` is (lowest, highest) per stakeholder."""
    n_actions, n_stakeholders = len(column_of), len(column_of[0])
    weights = parameters.get("weights") or [1.0] * n_stakeholders
    counted = [i for i in range(n_stakeholders) if weights[i] > 0]
    rows = [[column_of[a][i] for a in range(n_actions)] for i in range(n_stakeholders)]

    def point(kind):
        mode = parameters.get(kind, "context")
        if mode == "context":
            return [min(row) if kind == "disagreement" else max(row) for row in rows]
        if mode == "status_quo":
            return column_of[int(parameters["status_quo"][1:])]
        if mode == "global":
            return [training[i][0 if kind == "disagreement" else 1] for i in range(n_stakeholders)]
        return [mode] * n_stakeholders if isinstance(mode, float) else list(mode)

    d, ideal = point("disagreement"), point("ideal")
    flags = {}
    scores = []
    for e in column_of:
        if name == "utilitarian":
            score = sum(weights[i] * e[i] for i in counted) / sum(weights)
        elif name == "maximin":
            score = min(e[i] for i in counted)
        elif name == "nash_social_welfare":
            score = math.prod(max(1e-6, e[i]) ** weights[i] for i in counted)
        elif name == "nash_bargaining":
            score = math.prod(max(0.0, e[i] - d[i]) ** weights[i] for i in counted)
        elif name == "kalai_smorodinsky":
            moved = [i for i in counted if ideal[i] > d[i]]
            score = min(((e[i] - d[i]) / (ideal[i] - d[i]) for i in moved), default=0.0)
        elif name in SIMPLE:
            shares = [weights[i] / sum(weights) for i in counted]
            score = SIMPLE[name]([e[i] for i in counted], shares, parameters)
        elif name == "leximin":
            score = -sum(sorted(other[i] for i in counted) > sorted(e[i] for i in counted) for other in column_of)
        elif name == "relative_utilitarian":
            moved = [i for i in counted if ideal[i] > d[i]]
            score = sum(weights[i] / sum(weights) * (e[i] - d[i]) / (ideal[i] - d[i]) for i in moved)
        elif name == "egalitarian_equivalent":
            score = min((e[i] - d[i]) / weights[i] for i in counted)
        elif name == "minimax_regret":
            score = -max(weights[i] * (ideal[i] - e[i]) for i in counted)
        elif name == "sufficientarian":
            floor = parameters.get("floor", 0.5)
            floors = list(floor) if isinstance(floor, tuple) else [floor] * n_stakeholders
            score = sum(weights[i] for i in counted if e[i] >= floors[i]) / sum(weights)
        else:
            p, two_sided = parameters.get("exponent", 2.0), parameters.get("two_sided", False)
            short = [abs(ideal[i] - e[i]) if two_sided else max(0.0, ideal[i] - e[i]) for i in range(n_stakeholders)]
            if p == math.inf:
                score = -max(w * s for w, s in zip(weights, short, strict=True))
            else:
                score = -(sum(w * s**p for w, s in zip(weights, short, strict=True)) ** (1 / p))
        scores.append(score)

    if name == "nash_social_welfare" or (
        name in ("alpha_fairness", "atkinson") and 1 <= aversion(parameters) < math.inf
    ):
        flags["floored"] = any(e[i] < 1e-6 for e in column_of for i in counted)
    allowed = list(range(n_actions))
    if parameters.get("disagreement") == "status_quo":
        stay = int(parameters["status_quo"][1:])
        allowed = [a for a in allowed if all(column_of[a][i] >= d[i] for i in counted)]
        flags["irrational"] = n_actions > 1 and allowed == [stay]
    if name == "nash_bargaining":
        flags["no_agreement"] = all(score == 0 for score in scores)
    best = max(scores[a] for a in allowed)
    slack = TOLERANCE * max(1.0, abs(best))
    if name in PRODUCTS:  # their score is the logarithm: a relative difference of the products
        slack = best * TOLERANCE * max(1.0, -math.log(best)) if best > 0 else 0.0
    candidates = [a for a in allowed if scores[a] >= best - slack]
    totals = {a: sum(column_of[a][i] for i in counted) for a in candidates}
    action = next(a for a in candidates if totals[a] >= max(totals.values()) - TOLERANCE * n_stakeholders)
    scores = [score if a in allowed else -math.inf for a, score in enumerate(scores)]
    return Twin(scores, action, len(candidates) > 1, flags)


def aversion(parameters):
    return parameters.get("alpha", parameters.get("aversion"))


def power_mean(e, shares, parameters):
    """Return the power mean of order 1 − α from its three definitions."""
    alpha = aversion(parameters)
    if alpha == math.inf:
        return min(e)
    if alpha >= 1:
        e = [max(1e-6, x) for x in e]
    if alpha == 1:
        return math.exp(sum(s * math.log(x) for s, x in zip(shares, e, strict=True)))
    return sum(s * x ** (1 - alpha) for s, x in zip(shares, e, strict=True)) ** (1 / (1 - alpha))


def rank_weighted(e, shares, parameters):
    """Return Σ v_k E_(k): every stakeholder is split into many equal ones, so that unequal weights become ranks."""
    order = parameters.get("order_weights")
    if order is None:  # Gini: the mean of the smaller of two draws from the population
        return sum(s * z * min(x, y) for s, x in zip(shares, e, strict=True) for z, y in zip(shares, e, strict=True))
    total, reached = 0.0, Fraction(0)
    for x, share in sorted(zip(e, shares, strict=True)):
        start, reached = reached, reached + Fraction(share).limit_denominator(10_000)
        # the part of the broken line of cumulated order weights between the two shares of the population
        for k, v in enumerate(order):
            low, high = Fraction(k, len(e)), Fraction(k + 1, len(e))
            overlap = max(Fraction(0), min(high, reached) - max(low, start)) * len(e)
            total += x * float(overlap) * v / sum(order)
    return total


def hurwicz(e, shares, parameters):
    optimism = parameters.get("optimism", 0.5)
    return optimism * max(e) + (1 - optimism) * min(e)


SIMPLE = {"alpha_fairness": power_mean, "atkinson": power_mean, "generalised_gini": rank_weighted, "hurwicz": hurwicz}


def cases(n_stakeholders, n_actions):
    """Return every rule with every kind of parameter that fits the shape."""
    weights = [{}, {"weights": tuple([2.0, 0.5, 1.0, 3.0][:n_stakeholders])}]
    if n_stakeholders > 1:
        weights.append({"weights": tuple([0.0, 1.0, 2.0, 0.0][:n_stakeholders])})
    each = tuple([0.25, 0.0, 0.5, 0.25][:n_stakeholders])
    ideals = tuple([0.75, 1.0, 0.5, 0.75][:n_stakeholders])
    floors = [{}, {"disagreement": "global"}, {"disagreement": 0.0}, {"disagreement": 0.25}, {"disagreement": each}]
    floors += [{"disagreement": "status_quo", "status_quo": f"a{a}"} for a in {0, n_actions - 1}]
    tops = [{}, {"ideal": "global"}, {"ideal": 1.0}, {"ideal": ideals}]
    shapes = [{"exponent": p, "two_sided": two} for p in (1.0, 2.0, 3.0, 7.5, math.inf) for two in (False, True)]
    for rule in ("utilitarian", "maximin", "nash_social_welfare"):
        yield from ((rule, w) for w in weights)
    for rule in ("leximin", "minimax_regret"):
        yield from ((rule, w) for w in weights)
    for alpha in (0.0, 0.3, 0.5, 1.0, 2.0, 3.5, 40.0, math.inf):
        yield from (("alpha_fairness", w | {"alpha": alpha}) for w in weights)
        yield from (("atkinson", w | {"aversion": alpha}) for w in weights)
    yield from (("hurwicz", w | {"optimism": optimism}) for w in weights for optimism in (0.0, 0.5, 0.75, 1.0))
    yield from (("sufficientarian", w | {"floor": floor}) for w in weights for floor in (0.0, 0.5, 0.75, each))
    for w in weights:
        said = sum(weight > 0 for weight in w["weights"]) if w else n_stakeholders
        orders = [None, tuple([3.0, 2.0, 2.0, 0.5][:said]), tuple([0.0, 1.0, 0.0, 2.0][-said:])]
        yield from (("generalised_gini", w | {"order_weights": order}) for order in orders)
    yield from (("relative_utilitarian", w | d | u) for w in weights for d in floors[:5] for u in tops)
    yield from (("egalitarian_equivalent", w | d) for w in weights for d in floors)
    yield from (("nash_bargaining", w | d) for w in weights for d in floors)
    yield from (("kalai_smorodinsky", w | d | u) for w in weights[-1:] + [{}] for d in floors for u in tops)
    yield from (("compromise_programming", w | u | s) for w in weights for u in tops for s in shapes)


def count_ties(n_stakeholders, n_actions, n_contexts):
    """Compare every rule with its twin and return how many decisions were tied."""
    generator = np.random.default_rng(1000 * n_stakeholders + n_actions)
    values = generator.choice(GRID, size=(n_stakeholders, n_actions, n_contexts))
    names = {"stakeholders": [f"i{i}" for i in range(n_stakeholders)], "actions": [f"a{a}" for a in range(n_actions)]}
    expected = ExpectedRewards(values, **names)
    seen = ExpectedRewards(generator.choice(GRID[1:4], size=(n_stakeholders, n_actions, 3)), **names)
    training = [(seen.values[i].min(), seen.values[i].max()) for i in range(n_stakeholders)]
    contexts = values.transpose(2, 1, 0).tolist()
    n_tied = 0
    for name, parameters in cases(n_stakeholders, n_actions):
        decided = strategies.create(name, parameters).fit(seen)(expected)
        scores = np.exp(decided.scores) if name in PRODUCTS else decided.scores
        answers = [twin(name, column_of, parameters, training) for column_of in contexts]
        has_weight = f"{name} {parameters}"
        np.testing.assert_array_equal(decided.codes, [answer.action for answer in answers], err_msg=has_weight)
        np.testing.assert_array_equal(decided.tied, [answer.tied for answer in answers], err_msg=has_weight)
        told = np.array([answer.scores for answer in answers]).T
        told = np.where(np.isneginf(told) & (name in PRODUCTS), 0.0, told)
        np.testing.assert_allclose(scores, told, rtol=1e-9, atol=1e-12, err_msg=has_weight)
        assert set(decided.flags) == set(answers[0].flags), has_weight
        for flag, found in decided.flags.items():
            np.testing.assert_array_equal(
                found, [answer.flags[flag] for answer in answers], err_msg=f"{has_weight} {flag}"
            )
        n_tied += int(decided.tied.sum())
    return n_tied


def test_rules_agree_with_their_twins_in_a_few_contexts():
    assert count_ties(3, 3, n_contexts=10) > 10


@pytest.mark.long
@pytest.mark.parametrize(("n_stakeholders", "n_actions"), SHAPES)
def test_rules_agree_with_their_twins(n_stakeholders, n_actions):
    n_tied = count_ties(n_stakeholders, n_actions, CONTEXTS_PER_SHAPE)
    assert n_actions == 1 or n_tied > CONTEXTS_PER_SHAPE  # the matrices do put the tie rules to work


def test_single_stakeholder_rule_agrees_with_its_twin():
    values = np.random.default_rng(5).choice(GRID, size=(3, 4, 500))
    expected = ExpectedRewards(values, stakeholders=["x", "y", "z"], actions=list("abcd"))
    for i, name in enumerate(expected.stakeholders):
        decided = strategies.create("stakeholder", {"stakeholder": name})(expected)
        for t, code in enumerate(decided.codes):
            top = [a for a in range(4) if values[i, a, t] == values[i, :, t].max()]
            sums = {a: values[:, a, t].sum() for a in top}
            assert code == next(a for a in top if sums[a] == max(sums.values()))
            assert decided.tied[t] == (len(top) > 1)


@pytest.mark.parametrize("n_stakeholders", [2, 3])
def test_exhaustive_two_action_matrices(n_stakeholders):
    """All matrices on the grid with two actions at once: nothing in the corner is left to chance."""
    levels = (0.0, 0.5, 1.0)
    cells = np.array(list(itertools.product(levels, repeat=2 * n_stakeholders))).T.reshape(n_stakeholders, 2, -1)
    expected = ExpectedRewards(cells, stakeholders=[f"i{i}" for i in range(n_stakeholders)], actions=["a0", "a1"])
    contexts = cells.transpose(2, 1, 0).tolist()
    for name in ("utilitarian", "maximin", "nash_social_welfare", "nash_bargaining", "kalai_smorodinsky",
                 "compromise_programming"):  # fmt: skip
        decided = strategies.create(name)(expected)
        answers = [twin(name, column_of, {}, []) for column_of in contexts]
        np.testing.assert_array_equal(decided.codes, [answer.action for answer in answers], err_msg=name)
        np.testing.assert_array_equal(decided.tied, [answer.tied for answer in answers], err_msg=name)
