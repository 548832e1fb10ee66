"""Verdicts: one per criterion, never without a card, never about everything at once."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.scope import ScopeCard, Verdict, judge

CARD = ScopeCard(
    id="beds",
    version="3",
    title="Beds",
    decision="who gets a bed",
    in_scope_uses=["teaching", "Comparing  procedures"],
    out_of_scope_uses=["deciding on care"],
    criteria=[
        {"metric": "access_gap", "threshold": 0.25, "params": {"group": "sex"}, "chosen_by": "the ward council"},
        {"metric": "need_capture", "threshold": 0.6},
        {"metric": "score_gap", "threshold": 0.1},
        {"metric": "gini"},
    ],
)
GOALS = ("min", "max", "zero", "min")


def test_each_criterion_has_its_own_verdict():
    verdicts = judge(CARD, (0.3, 0.8, -0.05, 0.4), GOALS)
    assert [each.met for each in verdicts] == [False, True, True, None]
    assert [each.criterion.metric for each in verdicts] == ["access_gap", "need_capture", "score_gap", "gini"]
    assert {(each.card, each.version, each.card_hash) for each in verdicts} == {("beds", "3", CARD.hash)}


def test_words_name_criterion_threshold_chooser_and_card():
    words = [each.words for each in judge(CARD, (0.3, 0.8, None, 0.4), GOALS)]
    assert words == [
        "access_gap is 0.3; the threshold is at most 0.25, chosen by the ward council: not met (for card beds, version 3)",
        "need_capture is 0.8; the threshold is at least 0.6: met (for card beds, version 3)",
        "score_gap is not defined here, so the criterion is neither met nor missed (for card beds, version 3)",
        "gini is 0.4; the card sets no threshold, so there is no verdict (for card beds, version 3)",
    ]


def test_there_is_no_flag_for_everything():
    """Whoever wants one must write it, and answer for it."""
    names = {field.name for field in fields(Verdict)} | {name for name in dir(Verdict) if not name.startswith("_")}
    assert names == {"criterion", "goal", "value", "met", "card", "version", "card_hash", "words", "to_json"}
    assert isinstance(judge(CARD, (0, 1, 0, 0), GOALS), tuple)


@given(
    st.floats(-2, 2),
    st.floats(-2, 2).map(lambda value: round(value, 3)),
    st.sampled_from(["min", "max", "zero"]),
)
def test_met_means_on_the_right_side(value, threshold, goal):
    card = CARD.replace(criteria=[{"metric": "m", "threshold": threshold}])
    (verdict,) = judge(card, (value,), (goal,))
    distance = {"min": threshold - value, "max": value - threshold, "zero": threshold - abs(value)}[goal]
    assert verdict.met == (distance >= -1e-9)


def test_rounding_is_forgiven_but_no_more():
    card = CARD.replace(criteria=[{"metric": "m", "threshold": 0.3}])
    assert judge(card, (0.1 + 0.2,), ("min",))[0].met
    assert not judge(card, (0.3 + 1e-6,), ("min",))[0].met


@pytest.mark.parametrize("value", [None, float("nan"), np.float64("nan")])
def test_what_is_not_defined_is_neither_met_nor_missed(value):
    verdicts = judge(CARD, (value,) * 4, GOALS)
    assert [each.met for each in verdicts] == [None] * 4
    assert [each.value for each in verdicts] == [None] * 4


def test_verdicts_as_json():
    said = json.loads(json.dumps([each.to_json() for each in judge(CARD, (np.float64(0.2), 0.8, None, 0.4), GOALS)]))
    assert said[0]["card"] == {"id": "beds", "version": "3", "hash": CARD.hash}
    assert [each["met"] for each in said] == [True, True, None, None]
    assert said[0]["params"] == {"group": "sex"} and said[0]["words"].endswith("(for card beds, version 3)")


@pytest.mark.parametrize(
    ("card", "values", "goals", "message"),
    [
        (None, (0.1,), ("min",), "no verdict without a scope card"),
        (CARD.replace(criteria=()), (), (), "declares no criteria"),
        (CARD, (0.1,), GOALS, "4 criteria; found 1 values and 4 goals"),
        (CARD, (0.1,) * 4, GOALS[:3], "found 4 values and 3 goals"),
        (CARD, (0.1,) * 4, ("min", "maxx", "zero", "min"), "unknown goal 'maxx'; did you mean 'max'"),
    ],
)
def test_what_cannot_be_judged(card, values, goals, message):
    with pytest.raises(InputError, match=message):
        judge(card, values, goals)


def test_uses():
    CARD.check_use("teaching")
    CARD.check_use(" comparing PROCEDURES ")
    assert judge(CARD, (0.1, 1, 0, 0), GOALS, use="Teaching")[0].met
    with pytest.raises(InputError, match="card beds, version 3, declares the use 'Deciding on  care' out of scope"):
        judge(CARD, (0.1, 1, 0, 0), GOALS, use="Deciding on  care")
    with pytest.raises(
        UnknownNameError, match="unknown use under card beds, version 3: 'teching'; did you mean 'teach"
    ):
        CARD.check_use("teching")
    with pytest.raises(UnknownNameError, match="none declared"):
        CARD.replace(in_scope_uses=()).check_use("teaching")
