"""The scope card: exact round trip, a hash of its content, and refusal of unknown keys."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import SpecError
from accordant.scope import Criterion, ScopeCard

CONTENT = {
    "id": "lending-demo",
    "version": "1.2",
    "title": "Consumer credit — Überblick",
    "decision": "grant, grant less, or refuse",
    "in_scope_uses": ["research"],
    "stakeholders": [{"name": "Applicant", "role": "affected", "consulted": True, "how": "interviews"}],
    "sensitive_attributes": [{"name": "type", "permitted_use": "audit_only", "why": "law"}],
    "criteria": [
        {"metric": "demographic_parity", "threshold": 0.1, "params": {"groups": ["a", "b"], "alpha": 0.05},
         "rationale": "complaints", "chosen_by": "regulator"},
        {"metric": "accuracy"},
    ],
    "criteria_rejected": [{"metric": "equal_opportunity", "reason": "outcomes are censored"}],
    "known_conflicts": [{"a": "demographic_parity", "b": "accuracy", "why": "base rates differ"}],
    "frameworks_considered": {"unawareness": {"verdict": "not", "reason": "proxies"}, "parity": {"verdict": "applicable", "reason": "-"}},
    "composition": [{"component": "outcome model", "what_was_tested": "calibration"}],
    "review_by": "2027-03-01",
    "iterations": [{"date": "2026-01-05", "change": "first", "who": "team"}],
}  # fmt: skip


def test_round_trip_is_exact():
    card = ScopeCard(**CONTENT)
    again = ScopeCard.from_json(card.to_json())
    assert again == card
    assert again.to_json() == card.to_json()
    assert again.hash == card.hash
    assert again.review_by == date(2027, 3, 1)
    assert "Überblick" in card.to_json()


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text(), min_size=4, max_size=4),
    threshold=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    params=st.dictionaries(st.text(), st.integers() | st.text() | st.booleans() | st.none() | st.lists(st.integers())),
)
def test_round_trip_of_any_text(texts, threshold, params):
    names = ("id", "version", "title", "decision")
    card = ScopeCard(
        **dict(zip(names, texts, strict=True)), criteria=[Criterion(metric="m", threshold=threshold, params=params)]
    )
    assert ScopeCard.from_json(card.to_json()) == card


def test_hash_does_not_depend_on_key_order():
    def turned(value):
        return {key: turned(value[key]) for key in reversed(value)} if isinstance(value, dict) else value

    assert list(turned(CONTENT)) != list(CONTENT)
    assert ScopeCard(**turned(CONTENT)).hash == ScopeCard(**CONTENT).hash
    deep = CONTENT | {"criteria": [turned(criterion) for criterion in CONTENT["criteria"]]}
    deep["criteria"][0]["params"] = {"alpha": 0.05, "groups": ["a", "b"]}
    assert ScopeCard(**deep).hash == ScopeCard(**CONTENT).hash


@pytest.mark.parametrize("change", [
    {"version": "1.3"}, {"title": ""}, {"criteria": []}, {"criteria": CONTENT["criteria"][::-1]}, {"review_by": None},
    {"stakeholders": [{"name": "Applicant", "role": "affected", "consulted": False, "how": "interviews"}]},
    {"frameworks_considered": {}}, {"limits": "none known"},
], ids=lambda change: next(iter(change)))  # fmt: skip
def test_hash_changes_with_content(change):
    assert ScopeCard(**CONTENT).replace(**change).hash != ScopeCard(**CONTENT).hash


def test_hash_is_stable():
    """Written into run folders: a change of this value breaks the reference from old results to their card."""
    card = ScopeCard(id="a", version="1", title="t", decision="d")
    assert len(card.hash) == 64
    assert card.hash == ScopeCard.from_json(json.dumps({"decision": "d", "title": "t", "version": "1", "id": "a"})).hash


@pytest.mark.parametrize(("change", "message"), [
    ({"critera": []}, "ScopeCard: unknown key 'critera'; did you mean 'criteria'? valid: id, version"),
    ({"criteria": [{"metric": "m", "treshold": 1}]}, "criteria.0: unknown key 'treshold'; did you mean 'threshold'"),
    ({"criteria": [{"threshold": 1}]}, "criteria.0: key 'metric' is missing"),
    ({"criteria": [{"metric": "m", "threshold": float("nan")}]}, "threshold: Input should be a finite number"),
    ({"review_by": "soon"}, "ScopeCard: review_by: Input should be a valid date"),
    ({"sensitive_attributes": [{"name": "t", "permitted_use": "sometimes"}]}, "'forbidden', 'audit_only' or 'required'"),
    ({"frameworks_considered": {"x": {"verdict": "maybe", "reason": ""}}}, "'applicable', 'not' or 'unknown'"),
])  # fmt: skip
def test_wrong_cards(change, message):
    with pytest.raises(SpecError) as caught:
        ScopeCard(**(CONTENT | change))
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ["id", "version", "title", "decision"])
def test_missing_keys(key):
    with pytest.raises(SpecError, match=f"ScopeCard: key '{key}' is missing"):
        ScopeCard(**{name: value for name, value in CONTENT.items() if name != key})


@pytest.mark.parametrize(("text", "message"), [
    ("{", "scope card is not JSON"),
    ("[]", r"scope card must be a JSON object; found \[\]"),
    ("{}", "key 'id' is missing"),
])  # fmt: skip
def test_what_is_not_a_card(text, message):
    with pytest.raises(SpecError, match=message):
        ScopeCard.from_json(text)


def test_a_card_does_not_change():
    with pytest.raises(ValueError, match="frozen"):
        ScopeCard(**CONTENT).title = "other"
