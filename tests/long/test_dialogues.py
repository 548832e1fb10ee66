"""Thousands of larger random dialogues end within the bound, and every argument in them is one."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from accordant.deliberation.dialogue import POLICIES, arguments_for, reconcile, revised

DIALOGUES = 4_000
PER_PAIR = 100  # of policies, with soundness by enumeration


def loaded(name):
    """Return a module of the fast tests."""
    path = Path(__file__).parents[1] / "deliberation" / "dialogue" / f"{name}.py"
    found = importlib.util.spec_from_file_location(f"dialogue_{name}", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


ORACLE, FAST = loaded("conftest").Oracle, loaded("test_properties")


def sizes(generator):
    """Return the sizes of a base: up to 7 atoms, 6 facts and 12 rules."""
    return {"atoms": generator.randint(3, 7), "facts": generator.randint(1, 6), "rules": generator.randint(2, 12)}


def test_thousands_of_random_dialogues_end_within_the_bound():
    generator, longest, reconciled = random.Random(1), 0, 0
    for seed in range(DIALOGUES):
        one, other, decision = ORACLE.draw_pair(generator, **sizes(generator))
        dialogue = reconcile(one, other, decision, policies=("random", "random"), seed=seed)
        FAST.assert_outcome(dialogue)
        assert dialogue.complete
        longest, reconciled = max(longest, len(dialogue.state.moves)), reconciled + dialogue.reconciled
    assert longest > 35 and reconciled > 50


@pytest.mark.parametrize("policies", [(one, other) for one in POLICIES for other in POLICIES], ids="-".join)
def test_every_pair_of_policies_is_sound_on_larger_bases(policies):
    generator = random.Random("-".join(policies))
    for seed in range(PER_PAIR):
        one, other, decision = ORACLE.draw_pair(generator, **sizes(generator))
        dialogue = reconcile(one, other, decision, policies=policies, seed=seed)
        FAST.assert_outcome(dialogue)
        FAST.assert_sound(ORACLE, dialogue)
        assert dialogue.complete


def test_closures_arguments_and_revisions_are_those_of_enumeration():
    for seed in range(20):
        generator = random.Random(seed)
        for _ in range(150):
            base = ORACLE.draw(generator, facts=4, rules=6)
            assert base.closure == ORACLE.entailed(base.formulas)
            assert base.consistent == ORACLE.consistent(base.formulas)
        for _ in range(120):
            base = ORACLE.draw(generator, atoms=3, facts=3, rules=5)
            for literal in ORACLE.symbols(base.formulas):
                held = [each.held for each in arguments_for(base.formulas, literal).found]
                assert set(held) == ORACLE.arguments(base.formulas, literal) and len(set(held)) == len(held)
        for _ in range(200):
            base, other = (ORACLE.draw(generator, facts=6, rules=4) for _ in range(2))
            added = tuple(each for each in other.formulas if ORACLE.consistent([each]))[:1]
            found, (cost, names) = revised(base, added), ORACLE.cheapest_drop(base, added)
            assert (found.cost, tuple(map(str, found.dropped))) == (float(cost), names)
