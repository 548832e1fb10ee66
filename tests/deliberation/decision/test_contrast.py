"""What is at stake between a decision and another action: bases that say what E says, and who is persuaded by them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import explanation, strategies
from accordant.deliberation.decision.contrast import NEXT_TO_NOTHING, PREFER, contrast
from accordant.deliberation.dialogue import Literal, reconcile
from accordant.utilities import ExpectedRewards

WHO = ("Bank", "Applicant", "Auditor")
ACTIONS = ("Grant", "Lower", "Deny")
RULES = ("utilitarian", "maximin", "nash_social_welfare", "kalai_smorodinsky", "borda", "maximal_lotteries")


def explained(values, rule="utilitarian", weights=(1.0, 1.0, 1.0)):
    expected = ExpectedRewards(np.asarray(values, dtype=float)[:, :, None], stakeholders=WHO, actions=ACTIONS)
    made = strategies.create(rule) if isinstance(rule, str) else rule
    return explanation.explain(made, expected)[0], weights


def asked(values, who, rule="utilitarian", weights=(1.0, 1.0, 1.0), asks="weighing"):
    found, weights = explained(values, rule, weights)
    about = contrast(found, who, weights)
    return about, reconcile(about.explainer, about.explainee, PREFER, policies=("steadfast", asks))


grids = st.lists(st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=3, max_size=3), min_size=3, max_size=3)


worlds = {
    "values": grids, "rule": st.sampled_from(RULES), "who": st.sampled_from(WHO), "scale": st.integers(1, 5)
}  # fmt: skip


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(**worlds)
def test_who_asks_is_persuaded_exactly_if_others_have_more_at_stake(values, rule, who, scale):
    assert_persuaded(values, rule, who, scale)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(**worlds)
def test_the_same_in_many_worlds(values, rule, who, scale):
    assert_persuaded(values, rule, who, scale)


def assert_persuaded(values, rule, who, scale):
    weights = (float(scale), 1.0, 2.0)
    about, held = asked(values, who, rule, weights)
    E, own = np.array(values), WHO.index(who)
    decided, other = ACTIONS.index(about.decision), ACTIONS.index(about.other)
    stakes = np.round((E[:, decided] - E[:, other]) * np.array(weights) / sum(weights), 12)
    best = E[own].max() - E[own, decided] <= 1e-12
    if not best:
        assert E[own, other] == E[own].max()
    gained, lost = stakes[stakes > 0].sum(), max(-stakes[own], 0.0)
    if abs(gained - lost) > 1e-9:  # sums of decimals that are level may fall on either side
        assert (held.ending == "understood") == (best or gained > lost)
    assert held.decision_holds and len(held.state.moves) <= held.state.setting.bound.moves
    assert held.changes["explainer"] == 0
    assert set(about.words) >= set(held.state.setting.everything) | {PREFER, PREFER.complement}
    gives_nobody = any("gives nobody more" in said for said in about.words.values())
    assert gives_nobody == (E[:, decided] <= E[:, other] + 1e-12).all()  # nothing is put into words that is not so


def test_every_number_in_the_words_is_a_difference_of_expected_rewards():
    values = [[0.9, 0.35, 0.1], [0.3, 0.8, 0.4], [0.5, 0.55, 0.6]]
    about, _ = asked(values, "Bank", "maximin")
    assert (about.decision, about.other) == ("Lower", "Grant")
    decided, other = ACTIONS.index(about.decision), ACTIONS.index(about.other)
    for literal, said in about.words.items():
        if str(literal).startswith("gain_") and isinstance(literal, Literal):
            who = int(literal.atom.removeprefix("gain_"))
            (number,) = map(float, re.findall(r"\d\.\d+", said))
            assert number == pytest.approx(values[who][decided] - values[who][other]) and WHO[who] in said
    (lost,) = map(float, re.findall(r"\d\.\d+", about.words[Literal("loss")]))
    assert lost == pytest.approx(values[0][other] - values[0][decided])


def test_who_asks_knows_nothing_of_others():
    for who in WHO:
        about, _ = asked([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4], [0.5, 0.55, 0.6]], who, "maximin")
        others = {f"gain_{i}" for i in range(3) if WHO[i] != who}
        said = {each.atom for formula in about.explainee.formulas for each in (*formula.body, formula.head)}
        assert not said & others


def test_where_nobody_gains_the_strategy_says_so_and_who_loses_stays_open():
    values = [[0.9, 0.2, 0.1], [0.9, 0.8, 0.4], [0.9, 0.5, 0.6]]
    for who in WHO:
        about, held = asked(values, who, strategies.create("constant", {"action": "Deny"}))
        assert about.decision == "Deny" and about.other == "Grant" and "gives nobody more" in held_words(about, held)
        assert about.explainer.weight(Literal("decided")) == NEXT_TO_NOTHING and held.ending == "agree_to_disagree"


def held_words(about, held):
    return " ".join(about.words[each] for each in held.state.moves[1].content.premises)


@pytest.mark.parametrize("policy", ["cooperative", "stubborn", "capitulating", "weighing"])
def test_a_decision_on_record_is_never_given_up(policy):
    _, held = asked([[1.0, 0.0, 0.1], [0.3, 0.8, 0.4], [0.5, 0.55, 0.6]], "Bank", "maximin", asks=policy)
    assert held.decision_holds and not any(
        move.speaker == "explainer" and held.state.revisions.get(time) for time, move in enumerate(held.state.moves, 1)
    )
