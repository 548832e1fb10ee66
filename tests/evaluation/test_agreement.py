"""How often rules disagree, and rank reversal: worked examples, and twins that go context by context."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError
from accordant.evaluation.agreement import agreement, dominated, rank_reversal
from accordant.utilities import ExpectedRewards

NAMES = ("utilitarian", "maximin", "kalai_smorodinsky", "borda", "plurality", "compromise_programming")


def expected(values, actions="wxyzu"):
    values = np.asarray(values, dtype=float)
    return ExpectedRewards(values, stakeholders="ABCDE"[: len(values)], actions=actions[: values.shape[1]])


def drawn(seed=0, shape=(3, 4, 60)):
    return expected(np.random.default_rng(seed).integers(0, 6, shape) / 5)


def test_shares_of_disagreement_by_hand():
    # context 0: sum takes x, worst-off w; context 1: both y; context 2: the sum is tied, the worst-off is not
    values = [
        [[0.5, 0.0, 0.5], [1.0, 0.0, 1.0], [0.0, 0.9, 0.0]],
        [[0.5, 0.0, 0.5], [0.1, 0.0, 0.0], [0.0, 0.9, 0.0]],
    ]
    found = agreement([strategies.utilitarian, strategies.maximin], expected(values))
    assert found.rules == ("utilitarian", "maximin")
    np.testing.assert_allclose(found.disagreement, [[0, 1 / 3], [1 / 3, 0]])
    assert found.n_untied.tolist() == [[2, 2], [2, 3]]
    np.testing.assert_allclose(found.untied, [[0, 0.5], [0.5, 0]])


def test_shares_against_a_loop():
    E = drawn()
    rules = [strategies.create(name) for name in NAMES]
    found = agreement(rules, E)
    decided = [rule(E) for rule in rules]
    for k, one in enumerate(decided):
        for m, other in enumerate(decided):
            different = [bool(a != b) for a, b in zip(one.codes, other.codes, strict=True)]
            untied = [t for t in range(60) if not one.tied[t] and not other.tied[t]]
            assert found.disagreement[k, m] == pytest.approx(sum(different) / 60)
            assert found.n_untied[k, m] == len(untied)
            assert found.untied[k, m] == pytest.approx(sum(different[t] for t in untied) / len(untied))


def test_a_share_of_nothing_is_not_a_number():
    # with two actions and opposed interests Kalai–Smorodinsky always ties
    E = expected([[[1.0, 1.0], [0.0, 0.2]], [[0.0, 0.1], [1.0, 1.0]]])
    found = agreement([strategies.kalai_smorodinsky, strategies.utilitarian], E)
    assert found.n_untied[0, 1] == 0
    assert np.isnan(found.untied[0, 1])
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert shown["disagreement_untied"][0][1] is None
    assert shown["disagreement"][0][0] == 0


def test_agreement_needs_rules_and_contexts():
    with pytest.raises(InputError, match="at least one rule and one context"):
        agreement([], drawn())
    with pytest.raises(InputError, match="at least one rule and one context"):
        agreement([strategies.utilitarian], expected(np.zeros((2, 2, 0))))


def test_dominated_actions_by_hand():
    # w dominates x; y is as good as w for A and better for B; z is level with y
    E = expected([[[0.5], [0.5], [0.5], [0.5]], [[0.4], [0.3], [0.6], [0.6]]])
    assert dominated(E)[:, 0].tolist() == [True, True, False, False]


def plain_reversals(rule, E, only_dominated):
    """Count contexts, one at a time, one action at a time."""
    tested = changed = 0
    for t in range(E.n_contexts):
        matrix = E.values[:, :, t].tolist()
        actions = list(E.actions)
        chosen = rule(E.take(slice(t, t + 1))).actions[0]
        candidates = [a for a, name in enumerate(actions) if name != chosen]
        if only_dominated:
            candidates = [
                a
                for a in candidates
                if any(
                    all(row[b] >= row[a] for row in matrix) and any(row[b] > row[a] for row in matrix)
                    for b in range(len(actions))
                )
            ]
        instead = []
        for a in candidates:
            fewer = [row[:a] + row[a + 1 :] for row in matrix]
            left = actions[:a] + actions[a + 1 :]
            instead.append(rule(ExpectedRewards(fewer, stakeholders=E.stakeholders, actions=left)).actions[0])
        tested += bool(candidates)
        changed += any(name != chosen for name in instead)
    return tested, changed


@pytest.mark.few(3)
@pytest.mark.parametrize("name", NAMES)
def test_reversals_against_a_loop(name):
    E, rule = drawn(seed=3), strategies.create(name)
    found = rank_reversal(rule, E)
    assert (found.dominated.tested, found.dominated.changed) == plain_reversals(rule, E, only_dominated=True)
    assert (found.unchosen.tested, found.unchosen.changed) == plain_reversals(rule, E, only_dominated=False)


def test_a_dominated_action_decides_under_kalai_smorodinsky():
    # z is dominated by w, but it is the worst for A and so stretches the scale of A
    found = rank_reversal(strategies.kalai_smorodinsky, drawn(seed=1, shape=(3, 4, 400)))
    witness = found.dominated.witness
    assert found.dominated.changed > 0
    matrix, actions = witness.values, list("wxyz")
    rule = strategies.kalai_smorodinsky
    assert rule(ExpectedRewards(matrix, stakeholders="ABC", actions=actions)).actions[0] == witness.chosen
    a = actions.index(witness.removed)
    left = [name for name in actions if name != witness.removed]
    fewer = ExpectedRewards(np.delete(matrix, a, axis=1), stakeholders="ABC", actions=left)
    assert rule(fewer).actions[0] == witness.instead != witness.chosen
    assert json.loads(json.dumps(found.to_json()))["dominated"]["witness"]["removed"] == witness.removed


def test_sums_never_reverse_and_ideal_points_do_not_mind_dominated_actions():
    E = drawn(seed=2, shape=(3, 4, 400))
    assert rank_reversal(strategies.utilitarian, E).unchosen.changed == 0
    programming = rank_reversal(strategies.compromise_programming, E)
    assert programming.dominated.changed == 0
    assert programming.unchosen.changed > 0
    assert programming.unchosen.share == programming.unchosen.changed / 400


def test_two_actions_leave_nothing_to_take_away():
    found = rank_reversal(strategies.borda, drawn(shape=(3, 2, 10)))
    assert (found.unchosen.tested, found.unchosen.share, found.unchosen.witness) == (0, None, None)


def test_an_action_that_the_rule_names_stays():
    rule = strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "w"})
    found = rank_reversal(rule, drawn(shape=(2, 3, 200)))
    assert found.unchosen.tested <= 200
    assert found.unchosen.witness is None or found.unchosen.witness.removed != "w"
    constant = strategies.create("constant", {"action": "x"})
    assert rank_reversal(constant, drawn()).unchosen.changed == 0
