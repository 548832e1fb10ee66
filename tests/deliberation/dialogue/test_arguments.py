"""Arguments are exactly the smallest consistent sets that entail, and attacks are rebuttals or undercuts."""

import pytest

from accordant.deliberation.dialogue import Argument, KnowledgeBase, Literal, arguments_for, parse_formula
from accordant.errors import InputError


def argument(conclusion, *premises):
    return Argument(tuple(map(parse_formula, premises)), Literal.parse(conclusion))


def diamonds(count):
    """A base with 2^count arguments for its last literal."""
    lines = ["x0"]
    for number in range(count):
        for way in "uv":
            lines += [f"x{number} -> {way}{number}", f"{way}{number} -> x{number + 1}"]
    return KnowledgeBase.parse(lines).formulas


def test_they_are_those_of_the_enumeration_of_all_subsets(oracle, generator):
    sizes = []
    for _ in range(120):
        base = oracle.draw(generator, atoms=3, facts=3, rules=5)
        for literal in oracle.symbols(base.formulas):
            found = arguments_for(base.formulas, literal)
            assert not found.truncated
            assert {each.held for each in found.found} == oracle.arguments(base.formulas, literal)
            assert len({each.held for each in found.found}) == len(found.found)
            sizes.extend(len(each.premises) for each in found.found)
    assert max(sizes) >= 2 and len(sizes) > 100


def test_a_literal_that_does_not_follow_has_none():
    assert arguments_for(KnowledgeBase.parse("a -> b\nb -> a").formulas, Literal("a")).found == ()
    assert arguments_for((), Literal("a")).found == ()


def test_few_premises_come_first():
    found = arguments_for(KnowledgeBase.parse("c -> a\nb -> a\nb\nc\na").formulas, Literal("a"))
    assert [str(each) for each in found.found] == ["a because a", "a because b, b -> a", "a because c, c -> a"]


def test_there_can_be_exponentially_many_and_the_limit_says_so():
    whole = arguments_for(diamonds(6), Literal("x6"))
    assert len(whole.found) == 64 and not whole.truncated
    part = arguments_for(diamonds(30), Literal("x30"), limit=10)
    assert len(part.found) == 10 and part.truncated
    exact = arguments_for(diamonds(3), Literal("x3"), limit=8)
    assert len(exact.found) == 8 and not exact.truncated


def test_a_search_among_inconsistent_formulas_stops():
    """Every way to the goal needs z and ¬z: all choices are dead ends."""
    formulas = KnowledgeBase.parse([*map(str, diamonds(12)), "z", "¬z", "x12 & z -> y", "y & ¬z -> goal"]).formulas
    found = arguments_for(formulas, Literal("goal"), limit=5)
    assert found.found == ()


def test_a_limit_of_nothing_is_an_error():
    with pytest.raises(InputError, match="limit is 0; allowed: at least 1"):
        arguments_for((), Literal("a"), limit=0)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (("c", "a", "b -> c"), "do not derive c"),
        (("c", "a", "b", "a -> c"), "not needed: b"),
        (("c", "c", "a", "a -> c"), "not needed: "),
        (("c", "a", "a -> b", "b -> ¬a", "¬a -> c"), "inconsistent"),
        (("c",), "do not derive c"),
    ],
)
def test_what_is_no_argument_is_refused(made, message):
    with pytest.raises(InputError, match=message):
        argument(*made)


def test_rebut_and_undercut():
    claim = argument("grant", "severe", "treatable", "severe & treatable -> grant")
    assert argument("¬treatable", "¬treatable").attack_on(claim) == "undercut"
    assert argument("¬grant", "beds_full", "beds_full -> ¬grant").attack_on(claim) == "rebut"
    assert argument("beds_full", "beds_full").attack_on(claim) is None
    assert claim.attack_on(argument("¬treatable", "¬treatable")) is None  # it concludes something else
    assert argument("a", "a").attack_on(argument("¬a", "¬a")) == "rebut"


def test_an_intermediate_step_is_not_attacked():
    claim = argument("c", "a", "a -> b", "b -> c")
    assert argument("¬b", "¬b").attack_on(claim) is None
