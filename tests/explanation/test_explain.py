"""Explanations as a whole: every rule is explained, and every number in the words is a number of the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN

import numpy as np
import pytest

from accordant.certificates import Known
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.explanation import as_document, explain, influence, pivotal, with_rows
from accordant.explanation.value_text import shown
from accordant.utilities import ExpectedRewards

from .conftest import ACTIONS, ALL_RULES, STAKEHOLDERS, make_expected, make_known, make_rule

NUMBER = re.compile(r"−?\d+(?:\.\d+)?(?:e[+-]\d+)?")


def numbers_of(value):
    """Every number in a nest of plain values."""
    if isinstance(value, dict):
        return [each for part in value.values() for each in numbers_of(part)]
    if isinstance(value, list | tuple):
        return [each for part in value for each in numbers_of(part)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def written(value, decimals):
    """Every way in which a number may be written: gains lose their sign, counts and features have no decimals."""
    hows = (ROUND_FLOOR, ROUND_CEILING, ROUND_HALF_EVEN)
    ways = {shown(sign * value, how, digits) for sign in (1, -1) for how in hows for digits in (None, *decimals)}
    return ways | {f"{value:.4g}".replace("-", "−"), f"{value:.0f}" if float(value).is_integer() else ""}


def check_words(explained):
    text = " ".join(explained.sentences()).replace(explained.rule, "the rule")
    found = NUMBER.findall(text)
    # shares of weight are written with as many decimals as tell them from the present ones
    decimals = {len(each.partition(".")[2]) for each in found if "e" not in each} - {0, 1, 2}
    allowed = {each for value in numbers_of(explained.values()) for each in written(value, decimals)} | {"0", "1"}
    unknown = [each for each in found if each not in allowed]
    assert not unknown, text
    assert not re.search(r"\bfair|\bNone\b|\bnan\b|\binf\b", text)
    assert all(sentence.endswith(".") and sentence[0] == sentence[0].upper() for sentence in explained.sentences()[1:])


@pytest.mark.long
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_every_rule_is_explained(name, parameters):
    expected = make_expected(6)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    found = explain(rule, expected, known=known)
    decisions = rule(expected, **known.arguments(slice(None)))
    for t, each in enumerate(found):
        assert each.row == t
        assert each.choice.action == decisions.actions[t]
        assert each.choice.tied == decisions.tied[t]
        assert each.expected == tuple(map(tuple, expected.values[:, :, t]))
        assert [other.action for other in each.comparisons] == [a for a in ACTIONS if a != each.choice.action]
        for other in each.comparisons:
            a, b = ACTIONS.index(each.choice.action), ACTIONS.index(other.action)
            np.testing.assert_allclose(other.gains, expected.values[:, a, t] - expected.values[:, b, t])
        for i, alone in enumerate(each.favourites):
            assert expected.values[i, ACTIONS.index(alone.action), t] == expected.values[i, :, t].max()
        plain = json.loads(json.dumps(each.to_json(), allow_nan=False))
        assert list(plain["sentences"]) == ["decides", "traded", "change", "sure"]
        check_words(each)


def test_whole_batches_are_decided_as_a_whole():
    expected = make_expected(12)
    rule = make_rule("constrained", {"rule": "utilitarian", "budgets": {"red": 1}})
    found = explain(rule, expected, rows=[5, 2])
    assert [each.choice.action for each in found] == rule(expected).actions[[5, 2]].tolist()
    assert "a whole batch at once" in " ".join(found[0].sentences())
    asked = explain(rule, expected, rows=[5], decide=None, observed=None, known=make_known(expected))
    assert asked[0].context is None
    (given,) = explain(rule, expected, rows=[5], decide=len, observed={"x": [1.0]}, known=make_known(expected))
    assert (given.context.nearest, given.context.observed, given.context.differently) == (None, 0, 0)
    assert "no context has a decision by itself" in " ".join(given.sentences())
    check_words(given)


@pytest.mark.long
def test_rows_are_those_asked_for():
    expected = make_expected(12)
    some = explain(make_rule("kalai_smorodinsky"), expected, rows=[7, 0])
    every = explain(make_rule("kalai_smorodinsky"), expected)
    assert some == (every[7], every[0])
    assert explain(make_rule("maximin"), expected, rows=[]) == ()
    assert [each.row for each in with_rows(some, [100, 200])] == [100, 200]
    with pytest.raises(InputError, match="allowed: 0 to 11"):
        explain(make_rule("maximin"), expected, rows=[12])
    with pytest.raises(InputError, match="at most 1000"):
        explain(make_rule("maximin"), make_expected(1001))
    with pytest.raises(InputError, match="2 explanations"):
        with_rows(some, [1])


@pytest.mark.long
def test_global_points_and_status_quo():
    expected = make_expected(5)
    fixed = make_rule("kalai_smorodinsky", {"disagreement": "global", "ideal": "global"}, expected)
    (found,) = explain(fixed, expected, rows=[3])
    assert found.points["ideal"] == pytest.approx(tuple(expected.values.max(axis=(1, 2))))
    status_quo = make_rule("nash_bargaining", {"disagreement": "status_quo", "status_quo": "blue"})
    for each in explain(status_quo, expected):
        assert each.points["disagreement"] == pytest.approx(tuple(expected.values[:, 2, each.row]))
    floors = make_rule("constrained", {"rule": "maximin", "floors": 1.0})
    (below,) = explain(floors, expected, rows=[0])
    assert "floor_unmet" in below.choice.flags
    assert "falls below what was asked for" in " ".join(below.sentences())
    check_words(below)


def small_world():
    generator = np.random.default_rng(1)
    n = 60
    contexts = Contexts(
        {"income": generator.normal(50, 15, n), "town": np.array(["north", "south"])[generator.integers(0, 2, n)]}
    )

    def rewards(given):
        z = 1 / (1 + np.exp(-(given["income"] - 50) / 10 - 0.4 * (given["town"] == "north")))
        values = np.array([[0.1 + 0.8 * z, 0.45 + 0 * z], [0.9 + 0 * z, 0.5 - 0.2 * z]])
        return ExpectedRewards(values, stakeholders=("Bank", "Applicant"), actions=("Grant", "Deny"))

    return contexts, rewards


def test_contexts_are_explained_through_the_deciding_function():
    contexts, rewards = small_world()
    rule = make_rule("kalai_smorodinsky", {"disagreement": 0.0, "ideal": 1.0})
    found = explain(
        rule, rewards(contexts), rows=[0, 1, 2], known=Known(contexts=contexts),
        decide=lambda given: rule(rewards(given)).actions, observed=contexts,
    )  # fmt: skip
    for each in found:
        assert each.context.nearest.action != each.choice.action
        check_words(each)
        assert "not causes" in " ".join(each.sentences())
    with pytest.raises(InputError, match=r"also needs known\.contexts"):
        explain(rule, rewards(contexts), rows=[0], decide=lambda given: rule(rewards(given)).actions, observed=contexts)
    with pytest.raises(InputError, match="also needs decide"):
        explain(rule, rewards(contexts), rows=[0], known=Known(contexts=contexts), observed=contexts)
    with pytest.raises(InputError, match="no effect"):
        explain(rule, rewards(contexts), rows=[0], features=["income"])


def test_one_stakeholder_one_action_and_ties():
    one = ExpectedRewards([[0.4]], stakeholders=["Ann"], actions=["red"])
    (found,) = explain(make_rule("utilitarian"), one)
    assert (found.choice.runner_up, found.choice.margin, found.comparisons) == ("", None, ())
    assert "Nothing that stakeholders could report" in " ".join(found.sentences())
    check_words(found)
    tie = ExpectedRewards([[0.5, 0.5], [0.2, 0.2]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (level,) = explain(make_rule("maximin"), tie)
    assert level.choice.tied
    assert level.favourites[0].equals == ("red", "green")
    text = " ".join(level.sentences())
    assert "close call" in text
    assert "or something equally good to them" in text
    check_words(level)


def test_nothing_changes_a_constant():
    (found,) = explain(make_rule("constant"), make_expected(1))
    assert all(each.never for each in found.misreports)
    assert not any(any(each.changes[name] for name in each.changes) for each in found.pivotal)
    text = " ".join(found.sentences())
    assert "The same is decided without Ann, Ben or Cem" in text
    assert "gives no scores" in text


def test_a_radius_of_0_is_said_as_such():
    tie = ExpectedRewards([[0.5, 0.6], [0.6, 0.5]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (level,) = explain(make_rule("utilitarian"), tie)
    text = " ".join(level.sentences())
    assert all(each.at_once for each in level.misreports)
    assert "However little all expected rewards may change, green can win." in text
    assert "However little the expected rewards of Ann alone may change, green can win." in text
    assert "at most 0.000" not in text
    assert "Errors of at most" not in text
    check_words(level)
    near = ExpectedRewards([[0.5, 0.6], [0.60002, 0.5]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (close,) = explain(make_rule("utilitarian"), near)
    text = " ".join(close.sentences())
    assert not any(each.at_once for each in close.misreports)
    assert re.search(r"If all expected rewards change by at most 0\.00000(49|50) each, the decision stays", text)
    assert re.search(r"Errors of at most 0\.00000(49|50) in each", text)
    check_words(close)


def test_weights_are_written_so_that_they_differ():
    tie = ExpectedRewards([[0.5, 0.6], [0.6, 0.5]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (level,) = explain(make_rule("utilitarian"), tie)
    text = " ".join(level.sentences())
    assert re.search(r"more weight for Ann, 0\.5000005\d of all weight in place of 0\.50000000,", text)
    lone = ExpectedRewards([[0.9, 0.1], [0.5, 0.5001]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (nearly,) = explain(make_rule("utilitarian"), lone)
    text = " ".join(nearly.sentences())
    assert re.search(r"more weight for Ben, 0\.9998\d of all weight in place of 0\.50000,", text)
    assert re.search(r"less weight for Ann, 0\.0001\d of all weight in place of 0\.50000,", text)
    for each in (level, nearly):
        check_words(each)
        for said in re.findall(r"(\S+) of all weight in place of ([\d.]+),", " ".join(each.sentences())):
            assert said[0] != said[1]
            assert 0 < float(said[0]) < 1


def test_one_context_alone_has_no_others():
    contexts, rewards = small_world()
    rule = make_rule("kalai_smorodinsky", {"disagreement": 0.0, "ideal": 1.0})
    one = contexts.take(slice(0, 1))
    (found,) = explain(
        rule, rewards(one), known=Known(contexts=one),
        decide=lambda given: rule(rewards(given)).actions, observed=one,
    )  # fmt: skip
    text = " ".join(found.sentences())
    assert "Other contexts were looked for among the 1 observed context given: none is decided differently." in text
    assert "No value that a single feature has among the 1 observed context given would lead" in text
    assert "associations" not in text
    check_words(found)


def test_certified_numbers_are_never_rounded_up():
    assert shown(0.0389, ROUND_FLOOR) == "0.038"
    assert shown(0.0381, ROUND_CEILING) == "0.039"
    assert shown(-0.25) == "−0.250"
    assert shown(0.000456) == "0.00046"
    assert shown(-0.0) == shown(0.0) == "0.000"
    assert shown(-1e-7) == "−0.00000010"
    assert shown(12) == "12.000"


def test_the_document_holds_everything_as_plain_values():
    expected = make_expected(4)
    rule = make_rule("utilitarian")
    document = as_document(
        explain(rule, expected), title="Loans", source="a file",
        influence=influence(rule, expected), pivotal=pivotal(rule, expected),
    )  # fmt: skip
    again = json.loads(json.dumps(document, allow_nan=False))
    assert again == document
    assert len(again["explanations"]) == 4
    assert again["influence"]["shapley"]["raw"].keys() == set(STAKEHOLDERS)


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["utilitarian", "outcome_only", "kalai_smorodinsky[context]"])
def test_a_fitted_policy_is_explained(loans, loans_policy, strategy):
    contexts = loans.contexts
    rule = loans_policy.strategy(strategy)
    expected = loans_policy.expected_rewards(contexts)
    known = Known(loans_policy.outcome_model_.predict(contexts), None, contexts)
    found = explain(
        rule, expected, rows=[0, 5], known=known, observed=contexts, features=loans_policy.features_,
        decide=lambda given: loans_policy.recommend(given, strategy=strategy).decisions.codes,
    )  # fmt: skip
    actions = loans_policy.recommend(contexts, strategy=strategy).decisions.actions
    for each in found:
        assert each.choice.action == actions[each.row]
        assert each.context.observed == contexts.n_contexts
        assert each.context.differently == (actions != each.choice.action).sum()
        check_words(each)


@pytest.mark.long
def test_importing_the_room_is_light():
    code = "import sys, accordant.explanation; print(sorted({'sklearn', 'scipy', 'numba', 'matplotlib', 'pandas'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
