"""Floors, vetoes and prohibitions: each context by itself, against a twin in plain Python."""

from __future__ import annotations

import math

import numpy as np

import accordant as ac
import pytest

from accordant import strategies
from accordant.contexts import Contexts
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.constraints import Constrained
from accordant.utilities import ExpectedRewards

RULES = ["maximin", "utilitarian", "nash_bargaining", "nash_social_welfare", "leximin", "kalai_smorodinsky",
         {"name": "utilitarian", "parameters": {"weights": [1.0, 0.0]}},
         {"name": "stakeholder", "parameters": {"stakeholder": "i1"}},
         {"name": "nash_bargaining", "parameters": {"disagreement": "status_quo", "status_quo": "a1"}}]  # fmt: skip
CONSTRAINTS = [
    {},
    {"floors": 0.4},
    {"floors": {"i0": 0.6}},
    {"floors": {"i1": 1.0, "i0": 0.2}},
    {"floors": "status_quo", "status_quo": "a1"},
    {"floors": {"i0": "status_quo", "i1": 0.2}, "status_quo": "a2"},
    {"vetoes": {"i0": "worst"}},
    {"vetoes": {"i0": "worst", "i1": "worst"}},
    {"vetoes": {"i1": 0.4}},
    {"floors": 0.2, "vetoes": {"i1": "worst"}},
    {"forbidden": [{"actions": "a0", "where": {"group": "f"}}]},
    {
        "forbidden": [
            {"actions": ["a0", "a1"], "where": {"group": ["f", "y"], "row": [0, 1, 2, 3]}},
            {"actions": ["a2"], "where": {"group": "m"}},
        ],
        "floors": 0.4,
    },  # fmt: skip
    {"forbidden": [{"actions": ["a1"]}], "vetoes": {"i0": "worst"}},
]


def levels(rewards, floors, vetoes, status_quo):
    """What each stakeholder must be left with. `rewards[i][a]`."""
    found = [-math.inf] * len(rewards)
    for i, row in enumerate(rewards):
        floor = floors.get(f"i{i}") if isinstance(floors, dict) else floors
        if floor is not None:
            found[i] = row[int(status_quo[1:])] if floor == "status_quo" else floor
        veto = vetoes.get(f"i{i}")
        if veto == "worst":
            better = [reward for reward in row if reward > min(row) + 1e-12]
            veto = min(better) if better else None
        if veto is not None:
            found[i] = max(found[i], veto)
    return found


def twin(rewards, scores, own, kept, group, row, floors=None, vetoes=None, forbidden=(), status_quo=None):
    """Decide one context: code, tied, unmet, shortfall per stakeholder."""
    needed = levels(rewards, floors, vetoes or {}, status_quo)
    n_actions = len(rewards[0])
    open_ = set(range(n_actions))
    for rule in forbidden:
        where = rule.get("where", {})
        listed = {name: each if isinstance(each, list) else [each] for name, each in where.items()}
        if group in listed.get("group", [group]) and row in listed.get("row", [row]):
            open_ -= {
                int(name[1:]) for name in ([rule["actions"]] if isinstance(rule["actions"], str) else rule["actions"])
            }
    short = {a: max(max(0.0, need - rewards[i][a]) for i, need in enumerate(needed)) for a in open_}
    least = min(short.values())
    allowed = sorted(a for a in open_ if short[a] <= max(0.0, least) + 1e-12)
    best = max(scores[a] for a in allowed)
    level = [a for a in allowed if scores[a] == best or scores[a] >= best - 1e-12 * max(1.0, abs(best))]
    totals = {a: sum(rewards[i][a] for i in kept) for a in level}
    first = next(a for a in level if totals[a] >= max(totals.values()) - 1e-12 * max(1.0, max(totals.values())))
    code = own if own in level else first
    unmet = least > 1e-12
    return code, len(level) > 1, unmet, [max(0.0, n - rewards[i][code]) if unmet else 0.0 for i, n in enumerate(needed)]


@pytest.mark.few(4)
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_against_a_twin(rule, constraints, make_world):
    world = make_world(7, n=80, groups=4)
    free = strategies.create(rule) if isinstance(rule, str) else strategies.create(**rule)
    alone, bound = free(world.E), world.decide(rule, **constraints)
    kept = [0] if isinstance(rule, dict) and "weights" in rule["parameters"] else [0, 1]
    for t in range(80):
        code, tied, unmet, short = twin(
            world.values[:, :, t].tolist(), alone.scores[:, t].tolist(), alone.codes[t], kept,
            world.contexts["group"][t], t, **constraints,
        )  # fmt: skip
        assert bound.codes[t] == code
        assert bound.tied[t] == tied
        assert bound.flags["floor_unmet"][t] == unmet
        assert bound.flags["changed"][t] == (code != alone.codes[t])
        np.testing.assert_allclose(bound.quantities["below_floor"][:, t], short, atol=1e-15)
        assert bound.scores[code, t] == alone.scores[code, t]
    assert set(alone.flags) <= set(bound.flags)
    assert set(alone.quantities) <= set(bound.quantities)


def test_without_constraints_the_rule_is_itself(make_world):
    world = make_world(1, n=200)
    for rule in RULES:
        free = strategies.create(rule) if isinstance(rule, str) else strategies.create(**rule)
        alone, bound = free(world.E), world.decide(rule)
        np.testing.assert_array_equal(alone.codes, bound.codes)
        np.testing.assert_array_equal(alone.tied, bound.tied)
        np.testing.assert_array_equal(alone.scores, bound.scores)


def test_excluded_actions_score_minus_infinity():
    E = ExpectedRewards([[0.9, 0.5, 0.4], [0.1, 0.3, 0.9]], stakeholders=["i", "j"], actions=["x", "y", "z"])
    bound = Constrained("utilitarian", floors={"j": 0.3})(E)
    assert bound.actions.tolist() == ["z"]
    np.testing.assert_array_equal(bound.scores[:, 0], [-np.inf, 0.4, 0.65])


def test_a_floor_that_nothing_reaches_is_flagged_and_missed_by_the_least():
    """x leaves j 0.4 short, y leaves i 0.3 short, z leaves both 0.35 short: y has the smallest largest shortfall."""
    E = ExpectedRewards([[0.9, 0.3, 0.25], [0.2, 0.8, 0.25]], stakeholders=["i", "j"], actions=["x", "y", "z"])
    bound = Constrained("utilitarian", floors=0.6)(E)
    assert bound.actions.tolist() == ["y"]
    assert bound.flags["floor_unmet"].tolist() == [True]
    np.testing.assert_allclose(bound.quantities["below_floor"], [[0.3], [0.0]])


@pytest.mark.parametrize(("reward", "floor"), [(0.3, 0.1 + 0.2), (np.float32(0.7), 0.7)])
def test_a_reward_at_the_floor_reaches_it(reward, floor):
    """0.1 + 0.2 is 0.30000000000000004 and 0.7 in single precision is 0.69999999: neither decides anything."""
    E = ExpectedRewards(
        np.array([[reward, 0.9]], dtype=np.asarray(reward).dtype), stakeholders=["i"], actions=["x", "y"]
    )
    assert not np.isneginf(Constrained("utilitarian", floors=floor)(E).scores[0, 0])


def test_the_status_quo_reaches_its_own_floor(make_world):
    world = make_world(3, n=300, stakeholders=3)
    bound = world.decide(floors="status_quo", status_quo="a2")
    assert not bound.flags["floor_unmet"].any()
    chosen = world.values[:, bound.codes, np.arange(300)]
    assert (chosen >= world.values[:, 2]).all()


def test_veto_of_the_worst():
    """i's worst are x and y together; j is indifferent and rules out nothing."""
    E = ExpectedRewards([[0.2, 0.2, 0.3], [0.5, 0.5, 0.5]], stakeholders=["i", "j"], actions=["x", "y", "z"])
    bound = Constrained("utilitarian", vetoes={"i": "worst", "j": "worst"})(E)
    np.testing.assert_array_equal(np.isneginf(bound.scores[:, 0]), [True, True, False])
    assert not bound.flags["floor_unmet"].any()


def test_vetoes_that_leave_nothing_are_flagged():
    """With two actions and opposed interests, two vetoes leave nothing: the smaller loss is taken."""
    E = ExpectedRewards([[0.9, 0.1], [0.4, 0.5]], stakeholders=["i", "j"], actions=["x", "y"])
    bound = Constrained("maximin", vetoes={"i": "worst", "j": "worst"})(E)
    assert bound.actions.tolist() == ["x"]
    assert bound.flags["floor_unmet"].all()
    np.testing.assert_allclose(bound.quantities["below_floor"], [[0.0], [0.1]])


def test_an_admissible_minus_infinity_beats_what_is_not_admissible():
    """Nobody can gain together, so Nash bargaining gives −inf to both; the floor still counts."""
    E = ExpectedRewards([[0.9, 0.2], [0.1, 0.3]], stakeholders=["i", "j"], actions=["x", "y"])
    alone, bound = strategies.nash_bargaining(E), Constrained("nash_bargaining", floors={"j": 0.2})(E)
    assert np.isneginf(alone.scores).all()
    assert alone.actions.tolist() == ["x"]
    assert bound.actions.tolist() == ["y"]
    assert not bound.tied.any()
    assert bound.flags["no_agreement"].all()


def test_numbers_name_what_their_text_names():
    E = ExpectedRewards(np.full((1, 2, 4), [[[0.9], [0.1]]]), stakeholders=["i"], actions=["x", "y"])
    columns = Contexts({"code": [1, 0, 2.5, None]})
    for value in (1, 1.0, "1", True):
        bound = Constrained("utilitarian", forbidden=[{"actions": "x", "where": {"code": value}}])(E, contexts=columns)
        assert bound.actions.tolist() == ["y", "x", "x", "x"]
    missing = Constrained("utilitarian", forbidden=[{"actions": "x", "where": {"code": ["nan", 2.5]}}])
    assert missing(E, contexts=columns).actions.tolist() == ["x", "x", "y", "y"]


def test_blocks_and_one_piece_agree(make_world):
    """A prohibition that never applies takes the path of the whole batch."""
    world = make_world(5, n=50_000, grid=False)
    never = [{"actions": "a0", "where": {"group": "nobody"}}]
    for constraints in ({"floors": 0.3, "vetoes": {"i0": "worst"}}, {"floors": "status_quo", "status_quo": "a1"}):
        blocks, piece = world.decide(**constraints), world.decide(**constraints, forbidden=never)
        np.testing.assert_array_equal(blocks.codes, piece.codes)
        np.testing.assert_array_equal(blocks.scores, piece.scores)
        np.testing.assert_array_equal(blocks.quantities["below_floor"], piece.quantities["below_floor"])


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 3), (1, 3, 1), (3, 3, 0)])
def test_small_shapes(shape):
    E = ExpectedRewards(
        np.full(shape, 0.5), stakeholders=[f"i{i}" for i in range(shape[0])], actions=[f"a{a}" for a in range(shape[1])]
    )
    for constraints in ({"floors": 0.6}, {"vetoes": {"i0": "worst"}}, {"forbidden": []}):
        bound = Constrained("maximin", **constraints)(E)
        assert bound.codes.tolist() == [0] * shape[2]
        assert bound.flags["floor_unmet"].tolist() == [("floors" in constraints)] * shape[2]


@pytest.mark.parametrize(("constraints", "message"), [
    ({"floors": 1.2}, "floors: 1.2 is no floor; allowed: a number in .0, 1. or 'status_quo'"),
    ({"floors": {"i0": "worst"}}, "'worst' is no floor"),
    ({"floors": {"i0": True}}, "True is no floor"),
    ({"floors": "status_quo"}, "need the parameter status_quo"),
    ({"floors": "status_quo", "status_quo": "a9"}, "unknown action 'a9'"),
    ({"floors": {"j0": 0.2}}, "unknown stakeholder in floors: 'j0'; valid: i0, i1"),
    ({"vetoes": {"i0": "best"}}, "veto of 'i0' is 'best'; allowed: 'worst' or a number in"),
    ({"vetoes": "i0"}, "allowed: a mapping from stakeholder to a veto"),
    ({"vetoes": {"j0": "worst"}}, "unknown stakeholder in vetoes: 'j0'"),
    ({"forbidden": {"actions": "a0"}}, "allowed: a list of prohibitions"),
    ({"forbidden": [{"actoins": "a0"}]}, "unknown key 'actoins'; did you mean 'actions'"),
    ({"forbidden": [{"where": {"group": "f"}}]}, "key 'actions' is missing"),
    ({"forbidden": [{"actions": "a0", "where": "group"}]}, "allowed: a mapping from column to a value or values"),
    ({"forbidden": [{"actions": []}]}, "forbidden.actions is ..; allowed: a name, or a list of at least one"),
    ({"forbidden": [{"actions": "b0"}]}, "unknown forbidden action 'b0'"),
    ({"forbidden": [{"actions": "a0", "where": {"sex": "f"}}]}, "column 'sex' is missing"),
    ({"forbidden": [{"actions": ["a0", "a1", "a2"], "where": {"row": 4}}]},
     "every action is forbidden in 1 contexts, the first of them context 4"),
])  # fmt: skip
def test_what_is_refused(constraints, message, make_world):
    with pytest.raises(InputError, match=message):
        make_world(0).decide(**constraints)


def test_missing_contexts_are_named(make_world):
    with pytest.raises(InputError, match="read the column 'group'; pass contexts="):
        Constrained("maximin", forbidden=[{"actions": "a0", "where": {"group": "f"}}])(make_world(0).E)
    with pytest.raises(InputError, match="6 contexts, and contexts= has 4 rows"):
        Constrained("maximin", floors=0.2)(make_world(0).E, contexts=make_world(0, n=4).contexts)
    assert issubclass(UnknownNameError, InputError)


def test_who_has_no_say_in_a_voting_rule_breaks_no_tie_under_constraints():
    expected = ac.ExpectedRewards(
        [[0.6, 0.5, 0.5], [0.1, 0.1, 0.9]], stakeholders=["voter", "onlooker"], actions=["x", "y", "z"]
    )
    rule = {"name": "borda", "parameters": {"weights": (1.0, 0.0)}}
    bound = ac.strategies.create("constrained", {"rule": rule, "forbidden": [{"actions": ["x"]}]})
    assert bound(expected).actions.tolist() == ["y"]
