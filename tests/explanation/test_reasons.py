"""The reason in one sentence: what it claims is computed again from E, by formulas that do not know the rule's code."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest

from accordant.certificates import Known
from accordant.explanation.labels import LabelledNames, Labels
from accordant.explanation.reasons import measure, reason
from accordant.explanation.reasons.sentences import HOW, SENTENCES
from accordant.languages import language
from accordant.predictions import OutcomePrediction
from accordant.recommendation import Recommendations
from accordant.utilities import ExpectedRewards

from .conftest import ACTIONS, ALL_RULES, STAKEHOLDERS, make_expected, make_known, make_rule

CLOSE = 1e-9
SUMS = ("no_loss", "tenth", "quarter", "half", "smaller", "proportion", "proportion_of_gain")
SHARES = {"tenth": 0.1, "quarter": 0.25, "half": 0.5}


def inner(rule):
    """The rule whose comparison decides within limits and groups."""
    if rule.name == "constrained":
        return rule.terms.rule
    return rule.inner if rule.name == "population_by_group" else rule


def weights_of(rule):
    given = getattr(inner(rule), "weights", None)
    weights = np.ones(len(STAKEHOLDERS)) if given is None else np.array(given)
    return weights / weights.sum()


def points(rule, E):
    """Disagreement and ideal point of one context, by the table in the documentation."""
    rule, lows, highs = inner(rule), E.min(axis=1), E.max(axis=1)
    training = getattr(rule, "training_range", None)
    d, u = getattr(rule, "disagreement", "context"), getattr(rule, "ideal", "context")
    if isinstance(d, str):
        d = {"context": lows, "status_quo": E[:, ACTIONS.index("blue")]}.get(d, training and training[0])
    if isinstance(u, str):
        u = highs if u == "context" else np.array(training[1])
    return np.broadcast_to(np.array(d, dtype=float), 3), np.broadcast_to(np.array(u, dtype=float), 3)


def terms(rule, E, a, b, kind, multipliers):
    """What each stakeholder adds to the difference between two actions."""
    rule, w = inner(rule), weights_of(rule)
    d, u = points(rule, E)
    if kind == "proportion_of_gain" or rule.name == "nash_bargaining":
        with np.errstate(divide="ignore", invalid="ignore"):
            return w * np.nan_to_num(np.log((E[:, a] - d) / (E[:, b] - d)))
    power = getattr(rule, "alpha", getattr(rule, "aversion", None))
    if rule.name == "nash_social_welfare" or power == 1:
        return w * np.log(np.maximum(E[:, a], 1e-6) / np.maximum(E[:, b], 1e-6))
    if rule.name == "relative_utilitarian" or getattr(rule, "normalised", False):
        room = u - d
        return w * np.where(room > 1e-12, (E[:, a] - E[:, b]) / np.where(room > 0, room, 1), 0)
    return w * multipliers * (E[:, a] - E[:, b])


def worst(values, say):
    return min(v for v, counts in zip(values, say, strict=True) if counts)


def equivalent(rule, E, a):
    """The equally distributed equivalent, by its definition."""
    rule, w = inner(rule), weights_of(rule)
    power = 1 - getattr(rule, "alpha", getattr(rule, "aversion", None))
    kept = E[:, a] if power > 0 else np.maximum(E[:, a], 1e-6)
    return float((w @ kept**power) ** (1 / power))


def ranks(E, i):
    return [sum(E[i, b] > E[i, a] + 1e-12 for b in range(3)) for a in range(3)]


def margin(E, w, a, b):
    return sum(w[i] * np.sign(ranks(E, i)[b] - ranks(E, i)[a]) for i in range(3))


def check(rule, E, found, decisions, t):
    """Assert what the sentence of a reason says of one context."""
    w, a = weights_of(rule), ACTIONS.index(found.action)
    say, b = w > 0, ACTIONS.index(found.other) if found.other else None
    who = {part: [STAKEHOLDERS.index(name) for name in named] for part, named in found.who.items()}
    assert found.action == decisions.action_names[decisions.codes[t]]
    kind = found.kind.removesuffix("_same")
    if kind in SUMS:
        counted = decisions.quantities.get("multipliers", np.ones((3, 1)))
        parts = terms(rule, E, a, b, kind, counted[:, t if counted.shape[1] > 1 else 0])
        assert who["gainers"] == [i for i in range(3) if parts[i] > 1e-12]
        assert who["losers"] == [i for i in range(3) if parts[i] < -1e-12]
        gain, loss = parts[parts > 0].sum(), -parts[parts < 0].sum()
        assert (found.better, found.worse) == pytest.approx((gain, loss), abs=CLOSE)
        assert gain > loss
        assert loss < SHARES.get(kind, 1) * gain
        assert (kind == "no_loss") == (not who["losers"])
        others = [E[i, a] >= E[i, b] - 1e-12 for i in range(3) if say[i]]
        assert kind != "no_loss" or all(others)
        assert ("together" in found.how) == (kind != "no_loss" and max(len(who["gainers"]), len(who["losers"])) > 1)
    elif kind == "uncounted":
        counted = decisions.quantities["multipliers"][:, 0]
        assert all(counted[i] == 0 and E[i, a] < E[i, b] for i in who["losers"])
        assert all(counted[i] > 0 and E[i, a] > E[i, b] for i in who["gainers"])
        assert all(E[i, a] >= E[i, b] for i in range(3) if i not in who["losers"])
    elif kind in ("worst", "least_gain", "least_share", "least_missed"):
        d, u = points(rule, E)
        if kind == "worst":
            values = E
        elif kind == "least_gain":
            values = (E - d[:, None]) / np.where(say, w * say.sum(), 1.0)[:, None]
        elif kind == "least_share":
            room = (u - d)[:, None]
            values = np.where(room > 1e-12, (E - d[:, None]) / np.where(room > 1e-12, room, 1), np.inf)
        else:
            best = u if inner(rule).name == "compromise_programming" else E.max(axis=1)
            values = -np.maximum(0, best[:, None] - E) * w[:, None]
        assert worst(values[:, a], say) > worst(values[:, b], say)
        assert values[who["worst"][0], a] == pytest.approx(worst(values[:, a], say))
        assert values[who["worst_other"][0], b] == pytest.approx(worst(values[:, b], say))
        assert found.kind.endswith("_same") == (who["worst"] == who["worst_other"])
    elif kind == "next_worst":
        first, second = (sorted(E[say, each]) for each in (a, b))
        rank = next(k for k in range(3) if abs(first[k] - second[k]) > 1e-12)
        assert rank > 0
        assert first[rank] > second[rank]
        assert E[who["worst"][0], a] == first[rank]
        assert E[who["worst_other"][0], b] == second[rank]
    elif kind == "mixture":
        share = inner(rule).optimism
        assert (
            share * E[say, a].max() + (1 - share) * E[say, a].min()
            > share * E[say, b].max() + (1 - share) * E[say, b].min()
        )
        assert E[who["best"][0], a] == E[say, a].max()
        assert E[who["worst"][0], a] == E[say, a].min()
    elif kind == "ranked_equal":
        v = np.array([5, 3, 1]) / 9
        assert v @ np.sort(E[:, a]) > v @ np.sort(E[:, b])
    elif kind == "enough":
        reached = [
            [i for i in range(3) if say[i] and E[i, each] >= np.broadcast_to(inner(rule).floor, 3)[i] - 1e-12]
            for each in (a, b)
        ]
        assert [who["reached"], who["reached_other"]] == reached
        assert w[reached[0]].sum() > w[reached[1]].sum()
    elif kind == "equivalent":
        assert equivalent(rule, E, a) > equivalent(rule, E, b)
    elif kind == "distance":
        p, ideal = inner(rule).exponent, points(rule, E)[1]
        assert w @ np.maximum(0, ideal - E[:, a]) ** p < w @ np.maximum(0, ideal - E[:, b]) ** p
    elif kind in ("only_gain", "below_start"):
        d = points(rule, E)[0]
        limit = 1e-12 if kind == "only_gain" else -1e-12
        assert who["who"] == [i for i in range(3) if say[i] and E[i, b] - d[i] <= limit] != []
        assert all(E[i, a] - d[i] > limit for i in range(3) if say[i])
    elif kind == "no_agreement":
        d = points(rule, E)[0]
        assert all(any(E[i, each] <= d[i] + 1e-12 for i in range(3) if say[i]) for each in range(3))
        assert E[say, a].sum() >= max(E[say].sum(axis=0)) - 1e-12
    elif kind == "majorities":
        assert all(margin(E, w, a, other) > 0 for other in range(3) if other != a)
    elif kind in ("firsts", "lasts", "points", "victories", "worst_defeat", "approved"):
        assert vote(kind, E, w, a) > vote(kind, E, w, b)
    elif kind == "alone":
        i = STAKEHOLDERS.index(found.who["who"][0])
        assert E[i, a] == E[i].max()
    elif kind == "drawn":
        assert decisions.policy[a, t] >= decisions.policy[:, t].max() - 1e-12
    elif kind in ("level", "level_order", "level_alone"):
        others = [ACTIONS.index(name) for name in found.words["others"]]
        scores = np.array(decisions.scores[:, t], dtype=float)
        assert not np.isfinite(scores[a]) or all(abs(scores[other] - scores[a]) < CLOSE for other in others)
        totals = E[say].sum(axis=0)
        assert kind != "level" or all(totals[a] > totals[other] for other in others)
        assert kind != "level_order" or all(a < other or totals[a] > totals[other] + 1e-13 for other in others)
    elif kind in ("ruled_out", "only_admitted", "least_unmet", "no_room"):
        check_limits(rule, E, found, a, b, decisions, t)
    elif kind in (
        "likeliest",
        "highest_level",
        "good_outcome",
        "constant",
        "logged",
        "oracle",
        "decided",
        "predictor",
        "rule",
    ):
        assert rule.dependence == "fixed"
    else:  # places and rounds of voting rules, steps of a debate: their own scores, which other tests hold to twins
        assert kind in (
            "bucklin",
            "runoff",
            "coombs",
            "chains",
            "locked",
            "agreement",
            "middle",
            "accepted",
            "never_accepted",
        )
        assert decisions.scores[a, t] >= decisions.scores[:, t].max() - CLOSE


def vote(kind, E, w, a):
    """Scores of voting rules, voter by voter."""
    if kind == "victories":
        return sum(np.sign(margin(E, w, a, b)) for b in range(3))
    if kind == "worst_defeat":
        return min(margin(E, w, a, b) for b in range(3))
    total = 0.0
    for i in range(3):
        places = ranks(E, i)
        if kind == "firsts":
            total += w[i] * (places[a] == 0) / places.count(0)
        if kind == "lasts":
            total -= w[i] * (places[a] == max(places)) / places.count(max(places))
        if kind == "points":
            total += w[i] * sum((places[b] > places[a]) + 0.5 * (places[b] == places[a]) for b in range(3) if b != a)
        if kind == "approved":
            total += w[i] * (E[i, a] >= E[i].mean() - 1e-12)
    return total


def check_limits(rule, E, found, a, b, decisions, t):
    """Floors, vetoes and budgets, by their definition."""
    floors = (
        {"Ann": 0.3} if rule.floors == {"Ann": 0.3} else dict.fromkeys(STAKEHOLDERS, rule.floors) if rule.floors else {}
    )
    least = np.array([floors.get(name, -np.inf) for name in STAKEHOLDERS])
    if rule.vetoes:
        above = sorted(set(E[1]))
        least[1] = above[1] if len(above) > 1 else -np.inf
    short = np.maximum(0, np.where(np.isinf(least)[:, None], 0, least[:, None] - E)).max(axis=0)
    admitted = short <= (0 if short.min() <= 1e-12 else short.min()) + 1e-12
    if found.kind == "least_unmet":
        assert short.min() > 0
        assert short[a] == pytest.approx(short.min())
    elif found.kind == "only_admitted":
        assert admitted.tolist() == [each == a for each in range(3)]
    elif found.kind == "ruled_out":
        assert not admitted[b]
        assert [STAKEHOLDERS.index(name) for name in found.who["who"]] == [
            i for i in range(3) if E[i, b] < least[i] - 1e-12
        ]
        assert found.how == ("floor",)
    else:
        assert rule.budgets
        used = sum(int(code) == b for code in decisions.codes)
        assert used >= math.floor(rule.budgets["red"] * decisions.n_contexts)


@pytest.mark.few(4)
@pytest.mark.parametrize("grid", [None, 10, 3])
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_what_a_reason_says_holds(name, parameters, grid):
    expected = make_expected(24, seed=5, grid=grid)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    decisions = rule(expected, **known.arguments(slice(None)))
    recommended = Recommendations.of(decisions, expected)
    for t in range(24):
        one = np.array([t])
        found = reason(
            rule, expected.take(one), decisions, t, runner_up=str(recommended.runner_up[t]), known=Known(**known.arguments(one))
        )  # fmt: skip
        check(rule, expected.values[:, :, t], found, decisions, t)
        assert found.better is None or found.better >= found.worse - CLOSE
        for code in ("en", "de"):
            sentence = found.sentence(language(code))
            assert re.fullmatch(r"[A-Z].*\.", sentence)
            assert not re.search(r"[{}]|\bNone\b|\d\.\d|  ", sentence.replace(rule.label, ""))


@pytest.mark.few(10)
@pytest.mark.parametrize("weights", [(2.0, 1.0, 1.0), (0.0, 1.0, 3.0)])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("utilitarian", {}), ("maximin", {}), ("leximin", {}), ("nash_social_welfare", {}), ("minimax_regret", {}),
        ("egalitarian_equivalent", {}), ("kalai_smorodinsky", {}), ("relative_utilitarian", {}), ("hurwicz", {"optimism": 0.3}),
        ("alpha_fairness", {"alpha": 0.0}), ("alpha_fairness", {"alpha": 1.0}), ("alpha_fairness", {"alpha": math.inf}),
        ("compromise_programming", {"exponent": math.inf}), ("compromise_programming", {"exponent": 1.0}), ("borda", {}),
        ("plurality", {}), ("copeland", {}), ("sufficientarian", {"floor": 0.6}), ("nash_bargaining", {"disagreement": 0.0}),
    ],
)  # fmt: skip
def test_reasons_count_weights_as_the_rule_does(name, parameters, weights):
    expected = make_expected(30, seed=9)
    rule = make_rule(name, {**parameters, "weights": weights}, expected)
    decisions = rule(expected)
    recommended = Recommendations.of(decisions, expected)
    weighted = 0
    for t in range(30):
        found = reason(rule, expected.take(np.array([t])), decisions, t, runner_up=str(recommended.runner_up[t]))
        check(rule, expected.values[:, :, t], found, decisions, t)
        weighted += "weighted" in found.how
    assert weighted == 0 or name not in ("maximin", "leximin", "kalai_smorodinsky")


def test_who_counts_for_nothing_in_a_policy_is_not_said_to_lose_nothing():
    expected = make_expected(60, seed=2)
    rule = make_rule("population_maximin", {"multipliers": (0.0, 2.0, 1.0)})
    decisions = rule(expected)
    recommended = Recommendations.of(decisions, expected)
    kinds = set()
    for t in range(60):
        found = reason(rule, expected.take(np.array([t])), decisions, t, runner_up=str(recommended.runner_up[t]))
        check(rule, expected.values[:, :, t], found, decisions, t)
        kinds.add(found.kind)
    assert {"uncounted", "no_loss"} <= kinds


@pytest.mark.parametrize(
    ("chances", "depends", "kind"),
    [((0.2, 0.5, 0.3), False, "likeliest"), ((0.4, 0.4, 0.2), False, "rule"), (None, False, "rule"),
     ((0.2, 0.5, 0.3), True, "good_outcome"), ((0.4, 0.4, 0.2), True, "rule")],
)  # fmt: skip
def test_the_predicted_outcome_is_a_reason_if_it_is_known_and_decides_alone(chances, depends, kind):
    """Of each action's favourable outcome, or of each outcome's action, the chances are the given ones."""
    rule = make_rule("outcome_only", {"action_of_outcome": (0, 1, 2), "favourable": (0,)})
    shares = np.array(chances or (0.2, 0.5, 0.3))
    weights = np.array([[share, 1 - share, 0.0] for share in shares]) if depends else np.tile(shares, (3, 1))
    prediction = OutcomePrediction(weights[:, :, None], None, depends_on_action=depends)
    expected = make_expected(1)
    decisions = rule(expected, prediction=prediction)
    answer = reason(rule, expected, decisions, 0, known=Known(prediction if chances else None))
    assert (answer.kind, answer.action) == (kind, ACTIONS[int(shares.argmax())])
    assert (answer.better, answer.worse) == (pytest.approx((0.5, 0.3)) if kind != "rule" else (None, None))


def test_the_example_of_the_guide():
    E = ExpectedRewards([[0.9, 0.2], [0.3, 0.5]], stakeholders=["applicant", "tutors"], actions=["Trial", "Wait"])
    rule = make_rule("utilitarian")
    found = reason(rule, E, rule(E), 0, runner_up="Wait")
    assert (
        found.sentence()
        == "Trial, because compared with Wait the loss for tutors is less than half of the gain for applicant."
    )
    names = LabelledNames(Labels(stakeholders={"tutors": "the tutors"}), language("en"), "applicant")
    assert found.sentence(language("en"), names) == (
        "Trial, because compared with “Wait” the loss for the tutors is less than half of the gain for you."
    )


def test_rules_of_others_are_explained_by_their_score():
    E, rule = make_expected(1), make_rule("utilitarian")
    decisions = rule(E)

    class Own(type(rule)):
        name = "own"

    runner_up = str(Recommendations.of(decisions, E).runner_up[0])
    found = reason(Own(), E, decisions, 0, runner_up=runner_up)
    assert found.kind == "score"
    assert "own" in found.sentence()
    assert measure(Own(), decisions.scores[:, 0]) is None


@pytest.mark.few(18)
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_measures_order_actions_as_the_scores_do(name, parameters):
    expected = make_expected(6, seed=3)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    decisions = rule(expected, **known.arguments(slice(None)))
    for t in range(6):
        scores = None if decisions.scores is None else decisions.scores[:, t]
        found = measure(rule, scores)
        if found is None:
            assert decisions.scores is None or inner(rule).name not in ("utilitarian", "maximin", "stakeholder")
            continue
        shown = sorted((s, v) for s, v in zip(scores, found.values, strict=True) if v is not None)
        steps = [(after[1] - before[1]) * (-1 if found.less else 1) for before, after in pairwise(shown)]
        assert all(step >= -1e-12 for step in steps)
        assert "score" not in found.words


def test_every_sentence_and_way_of_counting_is_a_sentence_of_a_rule():
    assert all(words.startswith("{action}, ") and words.endswith(".") for words in SENTENCES.values())
    assert set(HOW) == {"together", "weighted", "relative", "policy", "declared"}


@pytest.mark.parametrize(
    ("gain", "loss", "kind"),
    [(0.5, 0.04, "tenth"), (0.5, 0.05, "quarter"), (0.4, 0.1, "half"), (0.4, 0.2, "smaller"), (0.4, 0.25, "smaller")],
)
@pytest.mark.parametrize("level", [0.1, 0.3, 0.4])
def test_a_loss_of_just_a_share_is_not_less_than_it(gain, loss, kind, level):
    E = ExpectedRewards(
        [[level + gain, level], [level, level + loss]], stakeholders=["Ann", "Ben"], actions=["red", "green"]
    )
    rule = make_rule("utilitarian")
    said = reason(rule, E, rule(E), 0, runner_up="green")
    assert (said.kind, said.action, said.who) == (kind, "red", {"gainers": ("Ann",), "losers": ("Ben",)})
