"""Bases are read strictly; closures and consistency agree with the enumeration of valuations."""

import random

import pytest

from accordant.deliberation.dialogue import KnowledgeBase, Literal, parse_formula
from accordant.deliberation.dialogue.knowledge import closure, conflict, is_consistent
from accordant.errors import InputError


def test_a_base_is_read_and_written():
    base = KnowledgeBase.parse(
        "# what the doctor knows\nsevere\n\ntreatable @ 2.5 # by the scan\nsevere & treatable -> grant\n"
    )
    assert base.lines() == ["severe", "severe & treatable -> grant", "treatable @ 2.5"]
    assert KnowledgeBase.parse(base.lines()) == base
    assert (base.weight(Literal("treatable")), base.weight(Literal("severe"))) == (2.5, 1.0)
    assert base.to_json()[2] == {"formula": "treatable", "weight": 2.5}
    assert Literal("grant") in base.closure and base.consistent


def test_order_of_lines_and_weights_of_one_change_nothing():
    one, other = KnowledgeBase.parse("b @ 1\na"), KnowledgeBase.parse("a\nb")
    assert one == other and hash(one) == hash(other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb c", "line 2: literal 'b c'"),
        ("a\nb\n a", "line 3: 'a' stands already in line 1"),
        ("a -> b\na→b @ 2", "line 2: 'a -> b' stands already in line 1"),
        ("a @ heavy", "line 1: weight 'heavy'; allowed: a number above 0"),
        ("a @", "line 1: weight ''"),
        ("a @ 0", "line 1: weight '0'; allowed: above 0"),
        ("a @ nan", "line 1: weight 'nan'"),
        ("@ 2", "line 1: literal ''"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(InputError, match=message):
        KnowledgeBase.parse(text)


def test_weights_are_checked():
    with pytest.raises(InputError, match="'b', which is not in the base"):
        KnowledgeBase((Literal("a"),), {Literal("b"): 2})
    with pytest.raises(InputError, match="is -1; allowed: above 0"):
        KnowledgeBase((Literal("a"),), {Literal("a"): -1})


def test_an_empty_base():
    base = KnowledgeBase.parse("")
    assert base.closure == frozenset() and base.consistent and base.lines() == []


def test_rules_are_read_forward_only():
    assert KnowledgeBase.parse("a -> b\n¬b").closure == {Literal("b", negated=True)}


def test_rules_in_a_circle_derive_nothing():
    assert KnowledgeBase.parse("a -> b\nb -> a").closure == frozenset()


def test_a_blocked_literal_is_not_derived_nor_what_rests_on_it():
    formulas = KnowledgeBase.parse("a\na -> b\nb -> c\na -> d").formulas
    assert set(map(str, closure(formulas, frozenset({Literal("b")})))) == {"a", "d"}


def test_a_conflict_is_one_pair_of_derivations():
    formulas = KnowledgeBase.parse("a\na -> b\n¬b\nc\n¬c @ 2\nd").formulas
    assert set(map(str, conflict(formulas))) == {"a", "a -> b", "¬b"}
    assert conflict(map(parse_formula, ["a", "b -> ¬a"])) is None


def test_closures_and_consistency_are_those_of_all_valuations(oracle, generator):
    consistent = []
    for _ in range(150):
        base = oracle.draw(generator, facts=4, rules=6)
        assert base.closure == oracle.entailed(base.formulas)
        assert base.consistent == oracle.consistent(base.formulas)
        assert all(oracle.entailed_classically(base.formulas, literal) for literal in base.closure)
        consistent.append(base.consistent)
        clash = conflict(base.formulas)
        if clash is not None:
            assert not oracle.consistent(sorted(clash, key=str))
    assert 0.2 < sum(consistent) / len(consistent) < 0.9


def test_closure_is_monotone_and_idempotent(oracle, generator):
    for _ in range(100):
        base = oracle.draw(generator, facts=4, rules=6)
        assert closure((*base.formulas, *base.closure)) == base.closure
        part = random.Random(1).sample(base.formulas, len(base.formulas) // 2)
        assert closure(part) <= base.closure


def test_time_is_linear_enough_for_long_chains():
    rules = [f"a{number} -> a{number + 1}" for number in range(5_000)]
    base = KnowledgeBase(tuple(map(parse_formula, ["a0", *reversed(rules)])))
    assert len(base.closure) == 5_001 and is_consistent(base.formulas)
