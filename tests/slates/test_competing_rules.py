"""Which rules compete: names of rules and of strategies, all of them, and names that are wrong."""

from __future__ import annotations

import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named
from accordant.slates import rule
from accordant.slates.rule import ORDER, rule_of, rules_of
from accordant.slates.rule import rules
from accordant.slates.rules.per_item import PerItem
from accordant.strategies.strategy import strategies

WHO = ("guest", "town")


def of(*names, user="guest", n_items=10):
    return rules_of([Named(each) if isinstance(each, str) else each for each in names], WHO, user, n_items)


def test_rules_in_the_order_in_which_they_are_named():
    assert [rule.label for rule in of("seq_pav", "nash_slate")] == ["seq_pav", "nash_slate"]


def test_a_strategy_becomes_a_rule():
    rule = rule_of(Named("maximin"))
    assert isinstance(rule, PerItem) and rule.kind == "per item" and "maximin" in rule.label
    assert "maximin" in strategies and "maximin" not in rules


def test_parameters_are_kept():
    assert rule_of(Named("stakeholder_slate", {"stakeholder": "town"})).stakeholder == "town"


@pytest.mark.parametrize("names", [(), ("all",)])
@pytest.mark.parametrize("user", ["guest", None])
def test_all_rules(names, user):
    found = of(*names, user=user)
    labels = [rule.label for rule in found]
    assert len(set(labels)) == len(labels) and {rule.name for rule in found} >= {"seq_pav", "nash_slate", "per_item"}
    places = [(ORDER.index(rule.kind), rule.label) for rule in found]
    assert places == sorted(places)
    assert {f"stakeholder:{name}" for name in WHO} <= set(labels)


def test_every_kind_has_a_place():
    assert {rules.factory(name).kind for name in rules} <= set(ORDER) and len(set(ORDER)) == len(ORDER)


def test_all_rules_are_found_whatever_is_asked_first():
    assert [rule.label for rule in of("all")] == [rule.label for rule in of()]


def test_names_that_are_wrong():
    with pytest.raises(UnknownNameError, match="unknown slate rule 'seq_pva'; did you mean 'seq_pav'") as raised:
        of("seq_pva")
    assert {"seq_pav", "maximin", "all"} <= set(raised.value.allowed)
    with pytest.raises(InputError, match="'all' names every rule and stands alone"):
        of("all", "seq_pav")
    with pytest.raises(InputError, match="'all' names every rule and stands alone"):
        of("all", "all")
    with pytest.raises(InputError, match="the rule 'seq_pav' is named twice"):
        of("seq_pav", "nash_slate", "seq_pav")


def test_a_rule_that_is_no_class_cannot_line_up(monkeypatch):
    monkeypatch.setattr(rules, "factory", lambda name: lambda: None)
    with pytest.raises(InputError, match="slate rule 'x' is registered by a function; allowed: a class"):
        rule._class("x")
