"""Any text is either a move that keeps every rule, or refused: compared with a plain enumeration of the rules."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents import View
from accordant.agents.language.keys import readable, without_hidden_key, without_key
from accordant.agents.language.prompt import conversation
from accordant.agents.language.answers import BadAnswerError, read_move, strict_json
from accordant.allocations import Claimant, Resource, Scenario

IDS = ("a", "b", "c")
SCENARIO = Scenario(
    [
        Claimant("a", {"x": 1}, {"bed": 1}),
        Claimant("b", {"x": 2}, {"bed": 1, "oxygen": 2}),
        Claimant("c", {"x": 3}, {"oxygen": 1}),
    ],
    [Resource("bed", 1), Resource("oxygen", 2, portion=0.5)],
)
VIEW = View("me", "propose", SCENARIO)
SHOWN = ("corpus-1",)

GRANTS = [
    {"patient": "a", "resource": "bed", "units": 1},
    {"patient": "b", "resource": "oxygen", "units": 1.5},
    {"patient": "c", "resource": "oxygen", "units": 0.5},
]

names = st.sampled_from([*IDS, "z"])
grant = st.fixed_dictionaries(
    {
        "patient": st.sampled_from(IDS),
        "resource": st.sampled_from(["bed", "oxygen"]),
        "units": st.sampled_from([0, 0.5, 1, 1.0, 1.5, 2, 0.25]),
    }
)
reason = st.fixed_dictionaries(
    {
        "patient": names,
        "code": st.sampled_from(["benefit", "stated", "because"]),
        "facts": st.lists(st.sampled_from(["x", "y"]), max_size=2),
        "passages": st.lists(st.sampled_from(["corpus-1", "corpus-2"]), max_size=2),
        "text": st.text(max_size=20),
    }
)
proposals = st.fixed_dictionaries(
    {
        "grants": st.one_of(st.just(GRANTS), st.lists(grant, min_size=1, max_size=4)),
        "priorities": st.one_of(
            st.just([{"patient": each, "value": 0.5} for each in IDS]),
            st.lists(st.fixed_dictionaries({"patient": names, "value": st.floats(-0.2, 1.2)}), max_size=4),
        ),
        "reasons": st.lists(reason, max_size=2),
    }
)


def allowed(answer):
    """Whether a proposal keeps every rule, by plain counting."""
    granted = {}
    for each in answer["grants"]:
        place = (each["patient"], each["resource"])
        if place in granted:
            return False
        granted[place] = each["units"]
    demand = {("a", "bed"): 1, ("b", "bed"): 1, ("b", "oxygen"): 2, ("c", "oxygen"): 1}
    for place, units in granted.items():
        portion = 1 if place[1] == "bed" else 0.5
        if units > demand.get(place, 0) or units / portion != math.floor(units / portion):
            return False
    for resource, most in (("bed", 1), ("oxygen", 2)):
        if sum(units for place, units in granted.items() if place[1] == resource) != most:
            return False
    if sorted(each["patient"] for each in answer["priorities"]) != list(IDS):
        return False
    if not all(0 <= each["value"] <= 1 for each in answer["priorities"]):
        return False
    about = [each["patient"] for each in answer["reasons"]]
    return len(about) == len(set(about)) and all(
        each["patient"] in IDS
        and each["code"] != "because"
        and "y" not in each["facts"]
        and "corpus-2" not in each["passages"]
        for each in answer["reasons"]
    )


def read(text):
    return read_move(text, VIEW, ("x",), SHOWN)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(proposals)
def test_a_proposal_is_taken_exactly_if_it_keeps_every_rule(answer):
    if not allowed(answer):
        with pytest.raises(BadAnswerError):
            read(json.dumps(answer))
        return
    move = read(json.dumps(answer))
    for each in answer["grants"]:
        assert move.allocation.to_json().get(each["patient"], {}).get(each["resource"], 0) == each["units"]
    assert move.utility.to_json() == [
        next(each["value"] for each in answer["priorities"] if each["patient"] == patient) for patient in IDS
    ]
    assert [each.text for each in move.reasons] == [readable(each["text"], 500) for each in answer["reasons"]]


def test_the_rules_above_allow_something():
    answer = {
        "grants": GRANTS,
        "priorities": [{"patient": each, "value": 0.5} for each in IDS],
        "reasons": [],
    }
    assert allowed(answer)
    np.testing.assert_allclose(read(json.dumps(answer)).allocation.shares, [1, 0.375, 0.5])  # no bed, 3 of 4 parts


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["grants", "priorities", "reasons", "ranking", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(anything, st.sampled_from(["propose", "contest", "answer", "offer", "vote"]))
def test_any_json_is_refused_and_nothing_else_happens(value, phase):
    view = View("me", phase, SCENARIO)
    if value == {"ranking": []} and phase == "vote":
        return
    with pytest.raises(BadAnswerError):
        read_move(json.dumps(value), view, ("x",), SHOWN)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='{}[]":,\\u0019eE.-ntf ', max_size=40))
def test_any_text_is_an_object_or_refused(text):
    try:
        assert isinstance(strict_json(text), dict)
    except BadAnswerError as error:
        str(error).encode()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_no_note_leaves_its_place_in_the_prompt(note):
    scenario = Scenario([Claimant("a", {"note": note})], [Resource("bed", 1)])
    _, user = conversation(View("me", "propose", scenario), ["note"], (), None)
    opening, data, closing, _ = user.text.split("\n")
    assert (opening, closing) == ("<data>", "</data>")
    assert not set("<>&") & set(data)
    assert json.loads(data)["patients"][0]["facts"]["note"] == {"untrusted": readable(note, 500)}
    user.text.encode()


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=20),
    st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=12),
    st.text(max_size=20),
)
def test_a_key_is_taken_out_however_it_is_written(before, key, after):
    spellings = (key, json.dumps(key)[1:-1], "".join(f"\\u{ord(each):04x}" for each in key))
    for spelling in spellings:
        assert key not in without_hidden_key(before + spelling + after, key)
    assert key not in without_key(before + key + after, key)


@given(st.text(max_size=300), st.integers(2, 50))
def test_readable_text_is_short_and_visible_and_stays_as_it_is(text, length):
    shown = readable(text, length)
    assert len(shown) <= length
    assert "\n" not in shown
    assert shown.isprintable() or "\u00a0" in shown
    assert readable(shown, length) == shown
