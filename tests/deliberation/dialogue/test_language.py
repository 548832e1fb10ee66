"""Literals and rules are read as people write them, and nothing else is."""

import pytest

from accordant.deliberation.dialogue import Literal, Rule, parse_formula
from accordant.errors import InputError


@pytest.mark.parametrize("text", ["¬treatable", "not treatable", "-treatable", " ¬ treatable ", "not  treatable"])
def test_negations(text):
    assert Literal.parse(text) == Literal("treatable", negated=True)
    assert str(Literal.parse(text)) == "¬treatable"


def test_atoms_may_begin_with_not_and_hold_any_letters():
    assert Literal.parse("nothing") == Literal("nothing")
    assert Literal.parse("lits_complets_é2") == Literal("lits_complets_é2")


def test_complement_is_an_involution():
    literal = Literal("severe")
    assert str(literal.complement) == "¬severe"
    assert literal.complement.complement == literal != literal.complement


@pytest.mark.parametrize(
    "text", ["severe & treatable -> grant", "treatable∧severe→grant", "severe&severe & treatable->grant"]
)
def test_rules(text):
    rule = parse_formula(text)
    assert rule == Rule((Literal("treatable"), Literal("severe")), Literal("grant"))
    assert str(rule) == "severe & treatable -> grant"
    assert parse_formula(str(rule)) == rule


@pytest.mark.parametrize(
    "text", ["", "two words", "not", "a b -> c", "¬¬a", "not not a", "-> c", "a ->", "a & -> c", "and"]
)
def test_what_cannot_be_read_is_an_error(text):
    with pytest.raises(InputError, match="allowed"):
        parse_formula(text)


def test_two_arrows_are_an_error():
    with pytest.raises(InputError, match="has 2 arrows; allowed: one"):
        parse_formula("a -> b -> c")


def test_a_rule_needs_a_body():
    with pytest.raises(InputError, match="no body; allowed: a body, or the literal grant itself"):
        Rule((), Literal("grant"))
