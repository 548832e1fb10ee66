"""Lint: each code is found where it should be, and nowhere else."""

from __future__ import annotations

from datetime import date

import pytest

from accordant.allocations.measures.measure import measures
from accordant.cases.files import built_in_cases, read_case
from accordant.deliberation.case import read_deliberation
from accordant.errors import InputError
from accordant.scope import ScopeCard, lint
from accordant.scope.lint import CHECKS

DELIBERATIONS = ("triage", "triage-random")
CLEAN = {
    "id": "beds",
    "version": "2",
    "title": "Beds",
    "decision": "who gets a bed",
    "stakeholders": [
        {"name": "Patients", "role": "affected", "consulted": True, "how": "interviews"},
        {"name": "Hospital", "role": "deciding"},
    ],
    "sensitive_attributes": [{"name": "sex", "permitted_use": "audit_only"}],
    "criteria": [{"metric": "access_gap", "threshold": 0.25, "params": {"group": "sex"}}],
    "composition": [
        {"component": "agents", "what_was_tested": "own proposals"},
        {"component": "System", "what_was_tested": "joint allocation"},
    ],
    "review_by": "2027-03-01",
}

CHANGES = {
    "affected-not-consulted": {"stakeholders": [{"name": "Patients", "role": "affected"}]},
    "use-in-and-out": {"in_scope_uses": ["teaching", "audits"], "out_of_scope_uses": [" Teaching", "care"]},
    "review-overdue": {"review_by": "2026-12-31"},
    "forbidden-attribute": {"sensitive_attributes": [{"name": "sex", "permitted_use": "forbidden"}]},
    "conflicting-criteria": {
        "criteria": [{"metric": "access_gap", "threshold": 0.25}, {"metric": "equal_opportunity_gap", "threshold": 0.3}]
    },
    "parts-only-tested": {"composition": [{"component": name, "what_was_tested": "it"} for name in ("model", "rule")]},
    "unknown-metric": {"criteria": [{"metric": "acces_gap", "threshold": 0.25}]},
    "no-threshold": {"criteria": [{"metric": "access_gap"}]},
}
METRICS = ("access_gap", "equal_opportunity_gap", "need_capture")


def codes(on=date(2027, 1, 1), known=None, **changes):
    """Codes of the clean card with some fields changed."""
    return [finding.code for finding in lint(ScopeCard(**(CLEAN | changes)), on, known)]


def test_a_clean_card_has_no_findings():
    assert codes() == codes(known=METRICS) == []
    assert set(CHANGES) == set(CHECKS)


@pytest.mark.parametrize("code", CHANGES)
def test_each_code_is_found_alone(code):
    assert codes(known=METRICS, **CHANGES[code]) == [code]


def test_findings_come_in_the_order_of_the_checks():
    everything = {key: value for change in reversed(CHANGES.values()) for key, value in change.items()}
    everything["criteria"] = [
        {"metric": "access_gap", "params": {"group": "sex"}},
        {"metric": "equal_opportunity_gap", "threshold": 0.3},
        {"metric": "acces_gap", "threshold": 0.3},
    ]
    assert codes(known=METRICS, **everything) == list(CHECKS)


@pytest.mark.parametrize(
    ("stakeholders", "found"),
    [
        ([], "no stakeholder is declared affected"),
        ([{"name": "Hospital", "role": "deciding", "consulted": True}], "no stakeholder is declared affected"),
        ([{"name": "A", "role": "affected"}, {"name": "B", "role": "affected"}], "was consulted: A, B"),
        ([{"name": "A", "role": "affected"}, {"name": "B", "role": "affected", "consulted": True}], None),
    ],
)
def test_somebody_affected_was_consulted(stakeholders, found):
    words = [each.words for each in lint(ScopeCard(**(CLEAN | {"stakeholders": stakeholders})))]
    assert (found is None and words == []) or (len(words) == 1 and found in words[0])


def test_no_clock_is_read():
    """A card from long ago is overdue only if somebody says what day it is; its last day is still good."""
    assert codes(on=None, review_by="1999-01-01") == []
    assert codes(on=date(1999, 1, 1), review_by="1999-01-01") == []
    assert codes(on=date(1999, 1, 2), review_by="1999-01-01") == ["review-overdue"]
    assert codes(review_by=None) == []


@pytest.mark.parametrize(
    "params", [{"group": "sex"}, {"attributes": ["age", "sex"]}, {"attribute": "sex"}, {"by": "sex", "group": 3}]
)
def test_a_forbidden_attribute_in_any_parameter(params):
    forbidden = [{"name": "sex", "permitted_use": "forbidden"}]
    criteria = [{"metric": "m", "threshold": 1, "params": params}]
    assert codes(sensitive_attributes=forbidden, criteria=criteria) == ["forbidden-attribute"]
    assert codes(sensitive_attributes=[{"name": "se", "permitted_use": "forbidden"}], criteria=criteria) == []


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ("demographic_parity", "equal_opportunity", True),
        ("Equal Opportunity", "Demographic-Parity", True),
        ("Demographic_Parity_Sex", "Equal_Opportunity_Sex", True),
        ("calibration", "equalised_odds", True),
        ("predictive_parity", "predictive_equality", True),
        ("demographic_parity", "calibration", False),
        ("access_gap", "need_capture", False),
        ("access_gap", "access_gap", False),
    ],
)
def test_conflicts_that_are_known_in_general(one, other, conflict):
    criteria = [{"metric": name, "threshold": 0.1} for name in (one, other)]
    assert codes(criteria=criteria) == (["conflicting-criteria"] if conflict else [])


def test_a_declared_conflict_says_why_in_the_words_of_the_card():
    criteria = [{"metric": name, "threshold": 0.5} for name in ("need_capture", "benefit_ratio")]
    declared = [{"a": "Benefit ratio", "b": "need_capture", "why": "the sickest gain less"}]
    (finding,) = lint(ScopeCard(**(CLEAN | {"criteria": criteria, "known_conflicts": declared})))
    assert finding.code == "conflicting-criteria" and "the sickest gain less" in finding.words
    elsewhere = [{"a": "benefit_ratio", "b": "gini", "why": "-"}]
    assert codes(criteria=criteria, known_conflicts=elsewhere) == []


def test_a_metric_that_nobody_knows_is_named_with_the_nearest_one():
    criteria = [{"metric": name, "threshold": 0.5} for name in ("need_captur", "Need-Capture", "need_captur")]
    (finding,) = lint(ScopeCard(**(CLEAN | {"criteria": criteria})), known=METRICS)
    assert finding.code == "unknown-metric"
    assert finding.words.endswith(
        "unknown metric 'need_captur'; did you mean 'need_capture'? valid: access_gap, equal_opportunity_gap, need_capture"
    )
    assert codes(criteria=criteria) == []  # nobody said which metrics are known
    assert codes(criteria=criteria, known=()) == ["unknown-metric"] * 2


def test_a_use_both_in_and_out_of_scope_is_found_and_refused():
    """Lint names it as the card does; the use itself is refused, because out of scope goes first."""
    card = ScopeCard(**(CLEAN | CHANGES["use-in-and-out"]))
    (finding,) = lint(card)
    assert finding.words == "the use 'teaching' is declared both in scope and out of scope; it is refused"
    with pytest.raises(InputError, match="out of scope"):
        card.check_use("teaching")
    card.check_use("audits")


def test_criteria_of_built_in_cases_name_their_metrics():
    for name in built_in_cases():
        case, _ = read_case(name)
        assert "unknown-metric" not in [each.code for each in lint(case.scope, known=case.metrics)]


def test_criteria_of_built_in_deliberations_name_measures_that_are_known():
    for name in DELIBERATIONS:
        card = read_deliberation(name)[0].deliberation.scope
        assert "unknown-metric" not in [each.code for each in lint(card, known=measures.names())]
        assert [each.code for each in lint(card, known=("gini",))].count("unknown-metric") == len(card.criteria)


@pytest.mark.parametrize(
    ("composition", "open_"),
    [
        ([("model", "it")], False),
        ([("model", "it"), ("rule", "it")], True),
        ([("model", "it"), ("system", "")], True),
        ([("model", "it"), ("system", "both")], False),
        ([("model", "it"), ("Whole System", "both")], False),
    ],
)
def test_parts_and_the_whole(composition, open_):
    declared = [{"component": name, "what_was_tested": tested} for name, tested in composition]
    assert codes(composition=declared) == (["parts-only-tested"] if open_ else [])


def test_cards_of_the_built_in_cases_say_that_nobody_was_asked():
    cards = [read_case(name)[0].scope for name in built_in_cases()]
    cards += [read_deliberation(name)[0].deliberation.scope for name in DELIBERATIONS]
    for card in cards:
        found = {finding.code for finding in lint(card, date(2100, 1, 1))}
        assert "affected-not-consulted" in found
        assert found <= {"affected-not-consulted", "conflicting-criteria"}
