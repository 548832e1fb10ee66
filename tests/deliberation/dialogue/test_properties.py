"""What holds in every dialogue, over random bases and policies. A larger sweep stands in tests/long."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from accordant.deliberation.dialogue import (
    POLICIES,
    KnowledgeBase,
    Setting,
    State,
    legal_moves,
    parse_formula,
    play,
    reconcile,
    skip,
)

OTHER = {"explainer": "explainee", "explainee": "explainer"}


def assert_sound(oracle, dialogue, entailment=True):
    """Replay a dialogue move by move: arguments entail, bases stay consistent, stores only grow."""
    setting = dialogue.state.setting
    state = State.opening(setting)
    for move in dialogue.state.moves:
        state = state if state.turn == move.speaker else skip(state)
        before, other = state.sides[move.speaker], state.sides[OTHER[move.speaker]]
        if move.locution in ("support", "refute"):
            allowed = before.base.held | (other.premises if move.locution == "refute" else set())
            assert move.content.held <= allowed
            if entailment:
                assert oracle.arguments(move.content.premises, move.content.conclusion) == {move.content.held}
                assert oracle.entailed_classically(move.content.premises, move.content.conclusion)
        state = play(state, move)
        after = state.sides[move.speaker]
        assert before.commitments <= after.commitments and state.sides[OTHER[move.speaker]] == other
        assert after.base.consistent and after.base.held <= set(setting.everything)
        assert (after.base == before.base) or move.locution == "concede"
        if move.locution == "concede":
            assert after.accepted <= after.base.held and move.content in other.commitments
    assert state.sides == dialogue.state.sides


def assert_outcome(dialogue):
    """The flags say what the bases say."""
    moves, changes = dialogue.state.moves, dialogue.changes
    assert len(moves) <= dialogue.state.setting.bound.moves
    assert dialogue.state.turns <= 2 * len(moves) + 2
    assert len({(m.speaker, m.locution, m.content, m.target) for m in moves}) == len(moves)
    assert not (dialogue.reconciled and dialogue.capitulation)
    if dialogue.reconciled:
        assert min(changes.values()) > 0 and 0 < dialogue.symmetry <= 1
        one, other = dialogue.on_topic
        assert set(one) != set(other) and KnowledgeBase((*one, *other)).consistent
    if dialogue.capitulation:
        assert dialogue.symmetry == 0
    assert (dialogue.symmetry is None) == (not any(changes.values()))
    assert 0 <= dialogue.before.value <= 1 and 0 <= dialogue.after.value <= 1
    if dialogue.ending == "understood":
        assert str(dialogue.state.setting.decision) in dialogue.after.known


@pytest.mark.long
def test_a_thousand_random_dialogues_end_within_the_bound(oracle, generator):
    endings, longest = set(), 0
    for seed in range(1000):
        one, other, decision = oracle.draw_pair(generator)
        dialogue = reconcile(one, other, decision, policies=("random", "random"), seed=seed)
        assert_outcome(dialogue)
        endings.add(dialogue.status)
        longest = max(longest, len(dialogue.state.moves))
    assert endings == {"understood", "agree_to_disagree", "capitulation", "reconciled"}
    assert longest > 20


@pytest.mark.few(4)
@pytest.mark.parametrize("policies", [(one, other) for one in POLICIES for other in POLICIES], ids="-".join)
def test_every_pair_of_policies_is_sound(oracle, generator, policies):
    for seed in range(12):
        one, other, decision = oracle.draw_pair(generator)
        dialogue = reconcile(one, other, decision, policies=policies, seed=seed)
        assert_outcome(dialogue)
        assert_sound(oracle, dialogue)
        if "random" not in policies:
            assert dialogue.ending in ("understood", "agree_to_disagree")
        if policies[0] == "stubborn":
            assert dialogue.changes["explainer"] == 0 and dialogue.decision_holds
        if policies[1] == "stubborn":
            assert dialogue.changes["explainee"] == 0


def test_who_concedes_everything_to_a_stubborn_explainer_understands(oracle, generator):
    for _ in range(100):
        one, other, decision = oracle.draw_pair(generator)
        dialogue = reconcile(one, other, decision, policies=("stubborn", "capitulating"))
        assert dialogue.ending == "understood"


def test_policies_read_nothing_that_the_other_has_not_said(oracle, generator):
    asked = 0
    for seed in range(40):
        one, other, decision = oracle.draw_pair(generator)
        state = State.opening(Setting(one, other, decision))
        movers = {name: POLICIES[name](seed) for name in POLICIES}
        driver = POLICIES["random"](seed)
        while state.ending is None:
            hidden = OTHER[state.turn]
            side = state.sides[hidden]
            said = replace(side, base=side.base.changed((), side.base.held - side.premises))
            blind = replace(state, sides={**state.sides, hidden: said})
            legal = legal_moves(state)
            assert legal_moves(blind) == legal
            for mover in movers.values():
                assert mover(blind, legal) == mover(state, legal)
                asked += 1
            state = play(state, driver(state, legal))
    assert asked > 500


def test_the_order_of_lines_changes_nothing(oracle, generator):
    for seed in range(30):
        one, other, decision = oracle.draw_pair(generator)
        shuffled = []
        for base in (one, other):
            lines = base.lines()
            random.Random(seed).shuffle(lines)
            shuffled.append(KnowledgeBase.parse(lines))
        policies = ("cooperative", "random")
        first = reconcile(one, other, decision, policies=policies, seed=seed)
        assert reconcile(*shuffled, str(decision), policies=policies, seed=seed).hash == first.hash


def test_what_is_off_topic_changes_no_figure(oracle, generator):
    """A fact that nothing mentions leaves understanding, changes and the shared part as they are."""
    stray = parse_formula("stray")
    for _ in range(60):
        one, other, decision = oracle.draw_pair(generator)
        first = reconcile(one, other, decision)
        more = reconcile(one, other.changed([stray], ()), decision)
        assert (more.before, more.after, more.changes, more.jaccard, more.status) == (
            first.before,
            first.after,
            first.changes,
            first.jaccard,
            first.status,
        )
