"""`lint`: what a scope card leaves open, as findings with codes.

A finding is a question to whoever answers for the card, not an error: nothing stops because of one. A card without
findings is complete in these points; that says nothing about the decisions made under it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any

from accordant.errors import UnknownNameError
from accordant.scope.card import Criterion, ScopeCard, folded

WHOLE = ("system", "whole system")  # how a component is called that stands for all parts together

PARITY = frozenset({"demographic_parity", "statistical_parity", "access_gap", "access_ratio"})
EQUAL_OPPORTUNITY = frozenset({"equal_opportunity", "equal_opportunity_gap", "equalised_odds"})
CALIBRATION = frozenset({"calibration", "predictive_parity", "conditional_outcome_parity"})
ERROR_RATES = frozenset({"equalised_odds", "predictive_equality", "equal_opportunity"})
KNOWN = (
    (PARITY, EQUAL_OPPORTUNITY, "parity and equal opportunity cannot both hold in general where base rates differ"),
    (CALIBRATION, ERROR_RATES, "calibration and equal error rates cannot both hold in general where base rates differ"),
)
"""Pairs of kinds of criteria that conflict (Chouldechova 2017; Kleinberg, Mullainathan and Raghavan 2016)."""

ATTRIBUTE_PARAMETERS = ("attributes", "attribute", "group", "by")  # of metrics, of allocation measures, of others


@dataclass(frozen=True)
class Finding:
    """One thing that a card leaves open.

    Attributes
    ----------
    code
        Key of `CHECKS`.
    words
        What was found, and what would mend it.
    """

    code: str
    words: str


@dataclass(frozen=True)
class Asked:
    """What a card is checked against: see `lint`."""

    on: date | None = None
    known: Collection[str] | None = None


def lint(card: ScopeCard, on: date | None = None, known: Collection[str] | None = None) -> tuple[Finding, ...]:
    """Return what a card leaves open, in the order of `CHECKS`; no clock is read.

    Parameters
    ----------
    card
        The card.
    on
        The day on which it is used; None leaves out the check of ``review_by``.
    known
        Names of metrics that can be computed here, such as ``accordant.allocations.measures.measures.names()``; None
        leaves out the check of what criteria name.
    """
    asked = Asked(on, known)
    return tuple(Finding(code, words) for code, check in CHECKS.items() for words in check(card, asked))


def _affected_not_consulted(card: ScopeCard, _: Asked) -> Iterator[str]:
    affected = [party for party in card.stakeholders if party.role == "affected"]
    if not affected:
        yield "no stakeholder is declared affected; somebody always is"
    elif not any(party.consulted for party in affected):
        yield f"none of those affected was consulted: {', '.join(party.name for party in affected)}"


def _in_and_out(card: ScopeCard, _: Asked) -> Iterator[str]:
    outside = set(map(folded, card.out_of_scope_uses))
    for use in card.in_scope_uses:
        if folded(use) in outside:
            yield f"the use {use!r} is declared both in scope and out of scope; it is refused"


def _review_overdue(card: ScopeCard, asked: Asked) -> Iterator[str]:
    if asked.on is not None and card.review_by is not None and card.review_by < asked.on:
        yield f"the card was to be reviewed by {card.review_by.isoformat()}; today is {asked.on.isoformat()}"


def _forbidden_attribute(card: ScopeCard, _: Asked) -> Iterator[str]:
    forbidden = {use.name for use in card.sensitive_attributes if use.permitted_use == "forbidden"}
    for criterion in card.criteria:
        for name in sorted(forbidden & set(attributes_of(criterion))):
            yield f"the criterion {criterion.metric} needs the attribute {name}, which is marked forbidden"


def _conflicting_criteria(card: ScopeCard, _: Asked) -> Iterator[str]:
    for one, other in combinations(dict.fromkeys(criterion.metric for criterion in card.criteria), 2):
        pair = {_key(one), _key(other)}
        declared = [conflict.why for conflict in card.known_conflicts if {_key(conflict.a), _key(conflict.b)} == pair]
        general = [why for a, b, why in KNOWN if (_is(one, a) and _is(other, b)) or (_is(one, b) and _is(other, a))]
        for why in (declared or general)[:1]:
            yield f"the criteria {one} and {other} are known to conflict: {why}"


def _parts_only(card: ScopeCard, _: Asked) -> Iterator[str]:
    parts = [part.component for part in card.composition]
    tested = any(_key(part.component) in map(_key, WHOLE) and part.what_was_tested.strip() for part in card.composition)
    if len(parts) > 1 and not tested:
        yield (
            f"only the parts were tested ({', '.join(parts)}); parts that meet a criterion need not do so together: "
            f"test the whole, and name it {WHOLE[0]!r}"
        )


def _unknown_metric(card: ScopeCard, asked: Asked) -> Iterator[str]:
    if asked.known is None:
        return
    known = {_key(name) for name in asked.known}
    for name in dict.fromkeys(criterion.metric for criterion in card.criteria):
        if _key(name) not in known:
            yield f"a criterion cannot be computed: {UnknownNameError('metric', name, asked.known)}"


def _no_threshold(card: ScopeCard, _: Asked) -> Iterator[str]:
    for criterion in card.criteria:
        if criterion.threshold is None:
            yield f"the criterion {criterion.metric} has no threshold, so it is never met or missed"


CHECKS: dict[str, Callable[[ScopeCard, Asked], Iterator[str]]] = {
    "affected-not-consulted": _affected_not_consulted,
    "use-in-and-out": _in_and_out,
    "review-overdue": _review_overdue,
    "forbidden-attribute": _forbidden_attribute,
    "conflicting-criteria": _conflicting_criteria,
    "parts-only-tested": _parts_only,
    "unknown-metric": _unknown_metric,
    "no-threshold": _no_threshold,
}


def attributes_of(criterion: Criterion) -> tuple[str, ...]:
    """Return the attributes that a criterion's parameters name."""
    attributes: list[str] = []
    for key in ATTRIBUTE_PARAMETERS:
        value: Any = criterion.params.get(key, ())
        attributes += [str(name) for name in value] if isinstance(value, list | tuple) else [str(value)]
    return tuple(attributes)


def _is(metric: str, kinds: frozenset[str]) -> bool:
    """Return whether a metric is of one of some kinds, or a label that starts with one."""
    return any(_key(metric).startswith(kind) for kind in kinds)


def _key(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")
