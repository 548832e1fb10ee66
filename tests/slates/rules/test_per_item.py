"""Lists by strategies: as if closed items did not exist, one user at a time; and what cannot make a list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rules.per_item import LARGEST, PAIRS, PerItem, decide_among, item_rules
from accordant.strategies import strategies
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.selection import select_best
from accordant.strategies.welfare import Maximin
from accordant.utilities import ExpectedRewards

GRID = 4
SMALL = item_rules(6)


def candidates(values, available=None, weights=None):
    values = np.asarray(values)
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    return Candidates(ExpectedRewards(values, stakeholders=names[0], actions=names[1]), available, weights)


def world(seed=0, users=25, tied=False):
    generator = np.random.default_rng(seed)
    values = generator.random((4, 6, users))
    return candidates(np.round(values * GRID) / GRID if tied else values, generator.random((6, users)) < 0.7,
                      [1.0, 2.0, 0.0, 1.0])  # fmt: skip


def twin(rule, given, u, k):
    """The list of one user: E of what may be shown is all that the strategy sees, and scores are read one by one."""
    open_ = np.flatnonzero(given.available[:, u])
    if not len(open_):
        return [-1] * k, False
    few = ExpectedRewards(given.values[:, open_, u], stakeholders=given.stakeholders,
                          actions=[given.items[c] for c in open_])  # fmt: skip
    scores = strategies.create(rule.strategy["name"], {"weights": given.weights.tolist()})(few).scores[:, 0]
    totals = given.totals[open_, u]
    items, tied, left = [], False, list(range(len(open_)))
    near = lambda best: 1e-12 * max(1.0, abs(best))  # noqa: E731
    while left and len(items) < k:
        best = max(scores[c] for c in left)
        level = [c for c in left if scores[c] == best or scores[c] >= best - near(best)]
        most = max(totals[c] for c in level)
        tied |= len(level) > 1
        items.append(next(c for c in level if totals[c] >= most - near(most)))
        left.remove(items[-1])
    return open_[items].tolist() + [-1] * (k - len(items)), tied


@pytest.mark.few(4)
@pytest.mark.parametrize("rule", SMALL, ids=lambda each: each.label)
@pytest.mark.parametrize("tied", [False, True])
def test_closed_items_do_not_exist(rule, tied):
    given = world(tied=tied)
    found = rule(given, 4)
    for u in range(given.n_users):
        items, level = twin(rule, given, u, 4)
        assert found.items[u].tolist() == items
        assert found.tied[u] == level


@pytest.mark.long
def test_reference_points_are_those_of_what_may_be_shown():
    """c3 is the ideal of s0 and closed: measured from it, c0 would be chosen."""
    values = np.array([[0.6, 0.3, 0.0, 1.0], [0.0, 0.7, 1.0, 0.0]])[:, :, None]
    closed, open_ = candidates(values, [True, True, True, False]), candidates(values)
    rule = PerItem("kalai_smorodinsky")
    alone = candidates(values[:, :3])
    assert rule(closed, 3).items.tolist() == rule(alone, 3).items.tolist()
    scores = [decide_among(rule.decider, each, each.available).scores for each in (closed, open_)]
    np.testing.assert_allclose(scores[0][:3, 0], [0.0, 0.5, 0.0])
    np.testing.assert_allclose(scores[1][:3, 0], [0.0, 0.3, 0.0])
    assert scores[0][3, 0] == -np.inf
    by_column = decide_among(PerItem("maximin").decider, closed, closed.available).scores
    assert by_column[:, 0].tolist() == [0.0, 0.3, 0.0, -np.inf]


@pytest.mark.long
def test_who_has_no_weight_is_as_if_absent():
    values = np.random.default_rng(2).random((4, 6, 30))
    for rule in SMALL:
        with_it = rule(candidates(values, weights=[1, 1, 0, 1]), 3)
        without = rule(candidates(values[[0, 1, 3]]), 3)
        assert (with_it.items == without.items).all(), rule.label


@pytest.mark.long
def test_first_item_is_the_decision():
    given = candidates(np.random.default_rng(3).random((5, 6, 40)))
    for rule in SMALL:
        decided = strategies.create(rule.strategy["name"])(given.expected)
        assert (rule(given, 2).items[:, 0] == decided.codes).all(), rule.label


@dataclass(frozen=True)
class Unscored(ContextRule):
    """The item with the smallest reward above the mean of what is there: a winner, but no scores."""

    def decide(self, block):
        means = block.totals.mean(axis=0)
        scores = np.where(block.totals >= means - 1e-12, -block.totals, -np.inf)
        chosen = select_best(scores, block.totals, block.tolerance)
        return Decisions("unscored", block.actions, chosen.codes, chosen.tied)


Unscored.name = "unscored"


def test_without_scores_winners_leave_in_turn():
    """Of 0, 2, 3, 4: the mean 2.25 gives 3; of 0, 2, 4 the mean 2 gives 2; of 0, 4 it gives 4; 0 is left."""
    values = np.array([[[0.0], [0.5], [0.75], [1.0]]])
    assert PerItem(Unscored())(candidates(values), 3).names(0) == ("c2", "c1", "c3")
    assert PerItem(Unscored())(candidates(values), 9).names(0) == ("c2", "c1", "c3", "c0")
    assert PerItem(Unscored())(candidates(values, [True, False, False, True]), 3).names(0) == ("c3", "c0")
    given = candidates(np.random.default_rng(4).random((3, 5, 30)), np.random.default_rng(5).random((5, 30)) < 0.6)
    found = PerItem(Unscored())(given, 4)
    for u in range(30):
        left = given.totals[:, u][given.available[:, u]].tolist()
        for item in found.items[u][found.items[u] >= 0]:
            expected = min(each for each in left if each >= np.mean(left) - 1e-12)
            assert given.totals[item, u] == expected
            left.remove(expected)


@pytest.mark.parametrize(("strategy", "message"), [
    ("logged", "needs more than expected rewards"),
    ("oracle", "needs more than expected rewards"),
    ("random", "needs more than expected rewards"),
    ("outcome_only", "needs more than expected rewards"),
    ({"name": "constant", "parameters": {"action": "c0"}}, "always takes the same action"),
    ({"name": "constrained", "parameters": {"rule": "maximin", "floors": 0.1}}, "decide in each context from E alone"),
    ("maximal_lotteries", "it draws"),
    ("random_dictatorship", "it draws"),
    ({"name": "utilitarian", "parameters": {"selection": "proportional"}}, "it draws"),
    ({"name": "utilitarian", "parameters": {"weights": [1, 2]}}, "takes weights from the candidates"),
    ({"name": "utilitarian", "settings": {}}, "unknown key 'settings'"),
])  # fmt: skip
def test_strategies_that_make_no_list(strategy, message):
    with pytest.raises(InputError, match=message):
        PerItem(strategy)


def test_names():
    with pytest.raises(UnknownNameError, match="did you mean 'borda'"):
        PerItem("bordas")
    rule = PerItem({"name": "atkinson", "parameters": {"aversion": 2}})
    assert rule.label == "atkinson[2]"
    assert PerItem(**rule.parameters) == rule
    assert hash(PerItem(**rule.parameters)) == hash(rule)
    assert PerItem(Maximin()) == PerItem("maximin")
    own = PerItem({"name": "stakeholder", "parameters": {"stakeholder": "s1"}})
    assert own(candidates([[[0.1], [0.9]], [[0.8], [0.2]]]), 1).names(0) == ("c0",)


def test_rules_by_number_of_items():
    labels = {n: {rule.label for rule in item_rules(n)} for n in (8, 9, PAIRS, PAIRS + 1, 10_000)}
    assert {"borda", "kemeny", "leximin", "utilitarian", "kalai_smorodinsky[context]"} <= labels[8]
    assert labels[8] - labels[9] == {"kemeny"}
    assert "borda" in labels[PAIRS]
    assert "leximin" in labels[PAIRS + 1]
    assert labels[10_000] < labels[PAIRS + 1] < labels[PAIRS] < labels[9]
    assert not {"borda", "leximin", "maximal_lotteries", "random"} & labels[10_000]
    assert len(labels[8]) == len(item_rules(8))  # no two have the same name
    assert set(LARGEST) <= set(strategies)


@pytest.mark.long
def test_blocks_and_edges():
    values = np.random.default_rng(6).random((5, 700, 160))
    given = candidates(values, np.random.default_rng(7).random((700, 160)) < 0.95)
    assert len(given.slices()) > 1
    for name in ("maximin", "kalai_smorodinsky"):
        whole = PerItem(name)(given, 3, threads=2)
        assert (PerItem(name)(given.take(slice(120, 160)), 3, threads=1).items == whole.items[120:]).all()
    nobody = PerItem("borda")(candidates(np.empty((2, 3, 0))), 2)
    assert nobody.items.shape == (0, 2)
    single = candidates(np.ones((1, 1, 2)), [[True, False]])
    assert PerItem("borda")(single, 2).items.tolist() == [[0, -1], [-1, -1]]
