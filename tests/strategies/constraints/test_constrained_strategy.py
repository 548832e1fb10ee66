"""The registered strategy: parameters, labels, problems, run folders, the price, and rules of every kind."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import strategies
from accordant.contexts import Contexts
from accordant.errors import InputError, NotFittedError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.strategies.constraints import Constrained, price_of
from accordant.utilities import ExpectedRewards

PARAMETERS = [
    {"rule": "maximin"},
    {"rule": "maximin", "floors": 0.3},
    {"rule": "kalai_smorodinsky", "floors": {"i0": 0.3, "i1": "status_quo"}, "vetoes": {"i1": "worst", "i0": 0.1}},
    {"rule": {"name": "nash_bargaining", "parameters": {"disagreement": "global"}}, "floors": "status_quo"},
    {"rule": {"name": "compromise_programming", "parameters": {"exponent": float("inf"), "ideal": [0.9, 1.0]}},
     "forbidden": [{"actions": ["a0"], "where": {"group": ["f", "m"], "row": 3}}]},
    {"rule": "utilitarian", "budgets": {"a0": 3, "a1": 0.5}},
    {"rule": "utilitarian", "parity": {"attribute": "group", "within": 0.05}},
    {"rule": {"name": "stakeholder", "parameters": {"stakeholder": "i1"}}, "floors": np.float64(0.2),
     "budgets": {"a0": np.int64(4)}, "parity": {"attribute": "group", "within": 0.5, "favourable": "a0"}},
]  # fmt: skip


@pytest.fixture
def declared():
    return DecisionProblem(
        stakeholders=[{"name": "i0", "weight": 2.0}, "i1"], actions=["a0", "a1", "a2"], outcomes=["o"],
        favourable_actions=["a0", "a1"], status_quo="a2", sensitive_attributes=["group"],
    )  # fmt: skip


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_rebuilds_from_json(parameters, declared, make_world):
    world = make_world(1, n=30)
    rule = strategies.create("constrained", parameters).for_problem(declared).fit(world.E)
    written = json.loads(json.dumps(rule.parameters))
    rebuilt = strategies.create("constrained", written)
    assert rebuilt == rule
    assert hash(rebuilt) == hash(rule)
    assert rebuilt.label == rule.label
    assert json.loads(json.dumps(rebuilt.parameters)) == written
    left, right = (each(world.E, contexts=world.contexts) for each in (rule, rebuilt))
    np.testing.assert_array_equal(left.probabilities(), right.probabilities())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rule))(world.E, contexts=world.contexts).codes, left.codes)
    assert left.strategy == rule.label


def test_labels_tell_rules_and_constraints_apart(declared):
    labels = [strategies.create("constrained", each).for_problem(declared).label for each in PARAMETERS]
    assert len(set(labels)) == len(labels)
    assert labels[2] == "constrained[kalai_smorodinsky[context]; i0 >= 0.3, i1 >= status_quo; veto i1 worst, i0 < 0.1]"
    assert labels[4].endswith("no a0 if group = f or m and row = 3]")
    assert labels[7] == "constrained[stakeholder:i1; everybody >= 0.2; a0 <= 4; parity of group within 0.5]"
    assert Constrained("maximin", budgets={"a0": 0.05}).label == "constrained[maximin; a0 <= 5%]"
    assert Constrained("maximin", budgets={"a0": 0.05}, title="scarce").label == "constrained[scarce]"


def test_the_problem_fills_what_is_open(declared):
    rule = Constrained("utilitarian", floors="status_quo", parity={"attribute": "group", "within": 0.1})
    filled = rule.for_problem(declared)
    assert filled.status_quo == "a2"
    assert filled.parity["favourable"] == ("a0", "a1")
    assert filled.rule["parameters"]["weights"] == (2.0, 1.0)
    own = Constrained("utilitarian", floors="status_quo", status_quo="a0",
                      parity={"attribute": "group", "within": 0.1, "favourable": ["a2"]}).for_problem(declared)  # fmt: skip
    assert own.status_quo == "a0"
    assert own.parity["favourable"] == ("a2",)
    assert Constrained("maximin").for_problem(declared).status_quo is None


def test_what_a_problem_cannot_fill():
    bare = DecisionProblem(stakeholders=["i0"], actions=["a0"], outcomes=["o"])
    with pytest.raises(InputError, match="declares no status_quo"):
        Constrained("utilitarian", floors="status_quo").for_problem(bare)
    with pytest.raises(InputError, match="declares no favourable_actions"):
        Constrained("utilitarian", parity={"attribute": "group", "within": 0.1}).for_problem(bare)


def test_fit_reaches_the_rule(make_world):
    world = make_world(2, n=40)
    rule = Constrained({"name": "nash_bargaining", "parameters": {"disagreement": "global"}}, floors=0.2)
    with pytest.raises(NotFittedError):
        rule(world.E)
    assert rule.fit(world.E)(world.E).n_contexts == 40


@pytest.mark.parametrize(("parameters", "selectable"), [
    ({"rule": "maximin", "floors": 0.2, "vetoes": {"i0": "worst"}}, True),
    ({"rule": "maximin", "forbidden": [{"actions": "a0"}]}, True),
    ({"rule": "maximin", "budgets": {"a0": 3}}, False),
    ({"rule": "maximin", "parity": {"attribute": "group", "within": 0.1}}, False),
    ({"rule": {"name": "maximin", "parameters": {"selection": "softmax", "temperature": 1.0}}, "floors": 0.2}, True),
])  # fmt: skip
def test_what_may_be_selected(parameters, selectable):
    rule = strategies.create("constrained", parameters)
    assert rule.may_be_selected == selectable
    assert rule.whole_batch == ("budgets" in parameters or "parity" in parameters)
    assert rule.kind == "compromise"


def test_a_rule_may_be_given_as_a_strategy(make_world):
    world = make_world(0)
    assert Constrained(strategies.maximin, floors=0.3) == Constrained("maximin", floors=0.3)
    flat = Constrained(strategies.maximin, floors=0.3, budgets={"a0": 1})
    assert (flat(world.E).codes == 0).sum() <= 1
    assert json.loads(json.dumps(flat.parameters))["rule"]["name"] == "maximin"


@pytest.mark.parametrize(("rule", "message"), [
    ("maximim", "unknown strategy 'maximim'; did you mean 'maximin'"),
    ({"name": "maximin", "parameters": {"wieghts": [1]}}, "unknown parameter 'wieghts'; did you mean 'weights'"),
    ({"nam": "maximin"}, "rule: unknown key 'nam'; did you mean 'name'"),
    (3, "rule is 3; allowed: a mapping with the keys name, parameters"),
])  # fmt: skip
def test_rules_that_cannot_be_created(rule, message):
    with pytest.raises(InputError, match=message):
        Constrained(rule)


@pytest.mark.parametrize(("rule", "message"), [
    ({"name": "constant", "parameters": {"action": "a0"}}, "constant:a0 has no scores; constraints need a rule"),
    ({"name": "maximin", "parameters": {"selection": "softmax", "temperature": 1.0}}, "draws its actions"),
])  # fmt: skip
def test_rules_that_cannot_be_constrained(rule, message, make_world):
    for constraints in ({"floors": 0.2}, {"budgets": {"a0": 2}}):
        with pytest.raises(InputError, match=message):
            make_world(0).decide(rule, **constraints)


def scoring_rules(E):
    """Every registered rule that scores actions with default parameters, voting rules included."""
    for name in strategies.names():
        try:
            found = strategies.create(name)(E)
        except (InputError, NotFittedError):
            continue  # it needs parameters, a log or a prediction
        if found.scores is not None and found.policy is None:
            yield name, found


@pytest.mark.long
def test_every_scoring_rule_can_be_constrained(make_world):
    world = make_world(6, n=60, stakeholders=3)
    names = []
    for name, alone in scoring_rules(world.E):
        names.append(name)
        rows = np.arange(60)
        best = alone.scores >= alone.scores.max(axis=0) - 1e-12 * np.maximum(1, np.abs(np.where(
            np.isneginf(alone.scores.max(axis=0)), 0.0, alone.scores.max(axis=0))))  # fmt: skip
        free = world.decide(name)
        assert best[free.codes, rows].all()
        if best[alone.codes, rows].all():  # a rule that takes a best action by its own scores is left alone
            np.testing.assert_array_equal(free.codes, alone.codes)
        for constraints in (
            {"floors": 0.2}, {"budgets": {"a0": 5}}, {"budgets": {"a0": 5, "a1": 20}},
            {"parity": {"attribute": "group", "within": 0.01, "favourable": ["a0"]}},
        ):  # fmt: skip
            bound = world.decide(name, **constraints)
            assert (bound.scores <= alone.scores).all()
            if "budgets" in constraints:
                assert (bound.codes == 0).sum() <= 5
    assert {"maximin", "leximin", "nash_bargaining", "compromise_programming"} <= set(names)


def test_all_constraints_together(make_world):
    world = make_world(8, n=60, groups=3, stakeholders=3, grid=False)
    found = world.decide(
        "utilitarian", floors={"i0": 0.2}, vetoes={"i1": "worst"},
        forbidden=[{"actions": "a2", "where": {"group": "x"}}], budgets={"a0": 0.4, "a2": 18},
        parity={"attribute": "group", "within": 0.1, "favourable": ["a0"]},
    )  # fmt: skip
    p, values = found.probabilities(), world.values
    met = ~found.flags["floor_unmet"]
    assert not p[2, world.contexts["group"] == "x"].any()
    assert not p[(values[0] < 0.2) & met].any()
    assert not p[(values[1] == values[1].min(axis=0)) & met].any()
    assert p[0].sum() <= 24 + 1e-8
    assert p[2].sum() <= 18 + 1e-8
    rates = [p[0, world.groups == g].mean() for g in range(3)]
    assert max(rates) - min(rates) <= 0.1 + 1e-8


def test_contexts_do_not_depend_on_their_company_unless_they_compete(make_world):
    world = make_world(9, n=20)
    half = world.E.take(slice(0, 10))
    rule = Constrained("maximin", floors=0.4, vetoes={"i0": "worst"})
    np.testing.assert_array_equal(rule(world.E).codes[:10], rule(half).codes)


def test_the_price_counts_what_changed():
    """x for both costs nothing; with one place, the second context loses 0.1 of its score, i loses, j gains."""
    values = [[[0.9, 0.6], [0.1, 0.2]], [[0.7, 0.4], [0.3, 0.6]]]
    E = ExpectedRewards(values, stakeholders=["i", "j"], actions=["x", "y"])
    price = price_of(Constrained("utilitarian", budgets={"x": 1}), E)
    np.testing.assert_allclose(
        [price.score_lost, price.score_lost_per_context, price.changed, price.per_place["x"]], [0.1, 0.05, 0.5, 0.1]
    )
    np.testing.assert_allclose([price.reward_change["i"], price.reward_change["j"]], [-0.2, 0.1])
    assert (price.n_contexts, price.unmet, price.hopeless, price.per_tolerance) == (2, 0, 0.0, None)


def test_the_price_of_minus_infinity_is_counted_apart():
    """Granting to nobody leaves the first context without a gain for i: its score is −inf, and not part of the sum."""
    values = [[[0.9, 0.5], [0.1, 0.4]], [[0.9, 0.9], [0.1, 0.2]]]
    E = ExpectedRewards(values, stakeholders=["i", "j"], actions=["x", "y"])
    rule = {"name": "nash_bargaining", "parameters": {"disagreement": [0.1, 0.1]}}
    price = price_of(Constrained(rule, budgets={"x": 0}), E)
    assert price.hopeless == 1
    np.testing.assert_allclose(price.score_lost, np.log(0.4 * 0.8) - np.log(0.3 * 0.1))
    assert price.per_place["x"] == np.inf
    assert price_of(Constrained(rule, floors=0.95), E).unmet == 2


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 500))
def test_nothing_constrained_costs_nothing(seed, make_world):
    world = make_world(seed)
    for parameters in (
        {},
        {"floors": 0.0},
        {"budgets": {"a0": 6}},
        {"parity": {"attribute": "group", "within": 1.0, "favourable": "a0"}},
    ):
        price = price_of(Constrained("nash_bargaining", **parameters), world.E, contexts=world.contexts)
        assert (price.score_lost, price.changed, price.hopeless, price.unmet) == (0.0, 0.0, 0.0, 0)
        assert set(price.reward_change.values()) == {0.0}


@pytest.mark.long
def test_a_policy_learns_with_constraints(make_loans):
    """The strategy travels through cross-validation, selection, recommendation and its label."""
    loans = make_loans(n=150, seed=4)
    floor = Constrained("maximin", floors={"Applicant": 0.3})
    parity = Constrained("utilitarian", parity={"attribute": "sex", "within": 0.02})
    policy = loans.policy(strategies=[strategies.maximin, floor, parity]).fit(
        loans.columns, **loans.data, rewards=loans.rewards
    )
    labels = [row.strategy for row in policy.leaderboard_.rows]
    wide = "constrained[utilitarian; parity of sex within 0.02]"
    assert {"constrained[maximin; Applicant >= 0.3]", wide} <= set(labels)
    assert policy.selected_ != wide
    found = policy.recommend(loans.columns, strategy=wide).decisions
    granted = found.probabilities()[:2].sum(axis=0)
    rates = [granted[loans.columns["sex"] == each].mean() for each in ("f", "m")]
    assert abs(rates[0] - rates[1]) <= 0.02 + 1e-9


def test_empty_contexts_are_not_mistaken_for_columns():
    E = ExpectedRewards(np.full((1, 2, 3), 0.5), stakeholders=["i"], actions=["x", "y"])
    assert Constrained("maximin", floors=0.2)(E, contexts=Contexts({})).n_contexts == 3


def test_constraints_are_not_nested():
    inner = {"name": "constrained", "parameters": {"rule": "maximin", "budgets": {"a": 2}}}
    with pytest.raises(InputError, match="itself constrained; put all constraints side by side"):
        strategies.create("constrained", {"rule": inner, "floors": {"A": 0.0}})


@pytest.mark.parametrize("value", [[], None, ["f", None]])
def test_prohibitions_that_no_context_can_meet_are_refused(value):
    forbidden = [{"actions": "a", "where": {"gender": value}}]
    with pytest.raises(InputError, match="forbidden.where.gender is .*, which no context has"):
        strategies.create("constrained", {"rule": "maximin", "forbidden": forbidden})


@pytest.mark.parametrize(("parameters", "message"), [
    ({"floors": {"Bnak": 0.2}}, "unknown constrained.*: stakeholder 'Bnak'; did you mean 'Bank'"),
    ({"vetoes": {"Bnak": "worst"}}, "stakeholder 'Bnak'"),
    ({"budgets": {"Grnat": 3}}, "action 'Grnat'; did you mean 'Grant'"),
    ({"forbidden": [{"actions": "Grnat"}]}, "action 'Grnat'"),
])  # fmt: skip
def test_wrong_names_are_found_before_anything_is_learned(parameters, message):
    problem = DecisionProblem(stakeholders=["Bank", "Applicant"], actions=["Grant", "Refuse"], outcomes=["good", "bad"])
    with pytest.raises(UnknownNameError, match=message):
        strategies.create("constrained", {"rule": "maximin", **parameters}).for_problem(problem)


def test_budgets_beyond_every_batch():
    E = ExpectedRewards([[0.9, 0.1], [0.2, 0.8]], stakeholders=["A", "B"], actions=["a", "b"])
    rule = strategies.create(
        "constrained", {"rule": "utilitarian", "budgets": {"a": 3_000_000_000}, "floors": {"B": 0.5}}
    )
    assert rule(E).actions.tolist() == ["b"]
