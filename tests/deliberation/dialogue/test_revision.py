"""A revision is consistent, keeps what must stay, and costs as little as any."""

import pytest

from accordant.deliberation.dialogue import KnowledgeBase, Literal, parse_formula, revised
from accordant.errors import InputError


@pytest.mark.long
def test_costs_are_those_of_the_enumeration_of_all_subsets(oracle, generator):
    dropped = 0
    for _ in range(200):
        base, other = (oracle.draw(generator, facts=6, rules=4) for _ in range(2))
        added = tuple(each for each in other.formulas if oracle.consistent([each]))[:1]
        found = revised(base, added)
        cost, names = oracle.cheapest_drop(base, added)
        assert (found.cost, tuple(map(str, found.dropped))) == (float(cost), names)
        assert found.exact and found.base.consistent
        assert found.base.held == (base.held | set(added)) - set(found.dropped)
        dropped += len(found.dropped)
    assert dropped > 100


def test_equal_costs_go_by_text_order_in_exact_decimals():
    base = KnowledgeBase.parse("a @ 0.1\nb @ 0.2\nc @ 0.3\na & b & c -> x\na -> ¬c\nb -> ¬c\n¬x @ 9")
    base = base.changed((), map(parse_formula, ["a & b & c -> x"]))
    heavy = {formula: 9.0 for formula in base.formulas if formula.body}
    base = KnowledgeBase(base.formulas, {**base.weights, **heavy})
    found = revised(base)  # either a and b, or c: 0.1 + 0.2 is as much as 0.3
    assert [str(each) for each in found.dropped] == ["a", "b"]


def test_entrenchment_decides():
    base = KnowledgeBase.parse("a @ 3\na -> b\n")
    assert [str(each) for each in revised(base, [parse_formula("¬b")]).dropped] == ["a -> b"]
    base = KnowledgeBase.parse("a\na -> b @ 3\n")
    assert [str(each) for each in revised(base, [parse_formula("¬b")]).dropped] == ["a"]


def test_nothing_is_dropped_without_need_and_nothing_added_twice():
    base = KnowledgeBase.parse("a @ 2\nb")
    found = revised(base, [Literal("a")])
    assert (found.added, found.dropped, found.cost) == ((), (), 0.0) and found.base == base


def test_what_is_kept_stays():
    base = KnowledgeBase.parse("a\na -> b")
    found = revised(base, [parse_formula("¬b")], kept=[Literal("a"), Literal("elsewhere")])
    assert [str(each) for each in found.dropped] == ["a -> b"]
    with pytest.raises(InputError, match="a, a -> b, ¬b are inconsistent together"):
        revised(base, [parse_formula("¬b")], kept=base.formulas)


def test_after_its_limit_the_search_goes_on_greedily():
    """Dropping the shared fact is cheapest, but every single conflict has a cheaper member."""
    lines = ["shared @ 3"]
    for number in range(4):
        lines += [f"p{number}", f"shared -> ¬p{number} @ 9"]
    base = KnowledgeBase.parse(lines)
    exact, greedy = revised(base), revised(base, most_nodes=0)
    assert (exact.cost, exact.exact) == (3.0, True)
    assert (greedy.cost, greedy.exact) == (4.0, False) and greedy.base.consistent
    assert greedy.to_json()["dropped"] == ["p0", "p1", "p2", "p3"]
