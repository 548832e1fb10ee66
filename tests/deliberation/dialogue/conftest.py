"""Random bases, and slow twins of what the calculus computes, for the tests of dialogues."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from accordant.deliberation.dialogue import KnowledgeBase, Literal, Rule, revised

MOST_SYMBOLS = 20  # valuations are enumerated


class Oracle:
    """Everything by enumeration: valuations, subsets, hitting sets."""

    @staticmethod
    def draw(generator, atoms=4, facts=3, rules=3):
        """A base of random facts and rules, perhaps inconsistent, with weights 1 to 3."""
        literals = [Literal(f"p{number}", negated) for number in range(atoms) for negated in (False, True)]
        formulas = [generator.choice(literals) for _ in range(generator.randint(0, facts))]
        for _ in range(generator.randint(0, rules)):
            formulas.append(
                Rule(tuple(generator.sample(literals, generator.randint(1, 2))), generator.choice(literals))
            )
        return KnowledgeBase(tuple(formulas), {formula: generator.randint(1, 3) for formula in formulas})

    @classmethod
    def draw_pair(cls, generator, **sizes):
        """Two consistent bases, and a literal that the first derives."""
        while True:
            one, other = (revised(cls.draw(generator, **sizes)).base for _ in range(2))
            if one.closure:
                return one, other, generator.choice(sorted(one.closure, key=str))

    @staticmethod
    def symbols(formulas):
        return sorted({each for formula in formulas for each in (*formula.body, formula.head)}, key=str)

    @classmethod
    def entailed(cls, formulas):
        """Literals true in every valuation that satisfies all formulas; a negated atom is a symbol of its own."""
        return Valuations(cls.symbols(formulas)).entailed(formulas)

    @classmethod
    def entailed_classically(cls, formulas, goal):
        """Whether a literal is true in every valuation of the atoms that satisfies all formulas."""
        atoms = sorted({each.atom for each in (*cls.symbols(formulas), goal)})
        assert len(atoms) <= MOST_SYMBOLS
        for truth in itertools.product((False, True), repeat=len(atoms)):
            value = dict(zip(atoms, truth, strict=True))

            def holds(literal, value=value):
                return value[literal.atom] != literal.negated

            satisfied = all(holds(each.head) or not all(map(holds, each.body)) for each in formulas)
            if satisfied and not holds(goal):
                return False
        return True

    @classmethod
    def consistent(cls, formulas):
        found = cls.entailed(formulas)
        return not any(literal.complement in found for literal in found)

    @classmethod
    def arguments(cls, formulas, goal):
        """All smallest consistent sets of formulas that entail a literal."""
        found, valuations = [], Valuations(cls.symbols(formulas))
        models = [valuations.satisfying(each) for each in formulas]
        for size in range(len(models) + 1):
            for places in itertools.combinations(range(len(models)), size):
                if not any(smaller.issubset(places) for smaller in found):
                    left = valuations.everywhere
                    for place in places:
                        left &= models[place]
                    if valuations.hold(left, goal) and not valuations.contradict(left):
                        found.append(frozenset(places))
        return {frozenset(formulas[place] for place in places) for places in found}

    @classmethod
    def cheapest_drop(cls, base, added):
        """The cheapest set whose loss makes base and addition consistent; among equals the first in text order."""
        droppable, best = [each for each in base.formulas if each not in added], None
        valuations = Valuations(cls.symbols({*base.formulas, *added}))
        models, weights = map(valuations.satisfying, droppable), (base.weight(each) for each in droppable)
        told = list(zip(models, (Fraction(repr(weight)) for weight in weights), map(str, droppable), strict=True))
        firm = valuations.everywhere
        for formula in added:
            firm &= valuations.satisfying(formula)
        for dropped in itertools.product((False, True), repeat=len(told)):
            left = firm
            for (formula, _, _), gone in zip(told, dropped, strict=True):
                left = left if gone else left & formula
            if not valuations.contradict(left):
                lost = list(itertools.compress(told, dropped))
                found = sum(weight for _, weight, _ in lost), tuple(text for _, _, text in lost)
                best = found if best is None else min(best, found)
        return best


class Valuations:
    """All valuations of some symbols; a formula is the set of those that satisfy it, as the bits of a number."""

    def __init__(self, symbols):
        assert len(symbols) <= MOST_SYMBOLS
        self.everywhere = (1 << (1 << len(symbols))) - 1
        self.true = {
            symbol: sum(1 << number for number in range(1 << len(symbols)) if number >> place & 1)
            for place, symbol in enumerate(symbols)
        }
        self.opposed = [
            (each, each.complement) for each in symbols if not each.negated and each.complement in self.true
        ]

    def satisfying(self, formula):
        body = self.everywhere
        for literal in formula.body:
            body &= self.true[literal]
        return self.true[formula.head] | self.everywhere & ~body

    def hold(self, models, literal):
        """Whether a literal is true in all of some valuations."""
        return literal in self.true and models & ~self.true[literal] == 0

    def contradict(self, models):
        """Whether a literal and its complement are true in all of some valuations."""
        return any(self.hold(models, one) and self.hold(models, other) for one, other in self.opposed)

    def entailed(self, formulas):
        models = self.everywhere
        for formula in formulas:
            models &= self.satisfying(formula)
        return frozenset(symbol for symbol, true in self.true.items() if models & ~true == 0)


@pytest.fixture(scope="session")
def oracle():
    return Oracle


@pytest.fixture
def generator():
    return random.Random(0)


@pytest.fixture(scope="session")
def doctor():
    """The explainer of the worked example."""
    return KnowledgeBase.parse("severe\ntreatable\nsevere & treatable -> grant")


@pytest.fixture(scope="session")
def manager():
    """The explainee of the worked example."""
    return KnowledgeBase.parse("severe\n¬treatable\nbeds_full")
