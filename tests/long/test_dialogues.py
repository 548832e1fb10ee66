"""Thousands of larger random dialogues end within the bound, and every argument in them is one."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from accordant.deliberation.dialogue import POLICIES, reconcile

DIALOGUES = 10_000
PER_PAIR = 250  # of policies, with soundness by enumeration


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


def test_ten_thousand_random_dialogues_end_within_the_bound():
    generator, longest, reconciled = random.Random(1), 0, 0
    for seed in range(DIALOGUES):
        one, other, decision = ORACLE.draw_pair(generator, **sizes(generator))
        dialogue = reconcile(one, other, decision, policies=("random", "random"), seed=seed)
        FAST.assert_outcome(dialogue)
        assert dialogue.complete
        longest, reconciled = max(longest, len(dialogue.state.moves)), reconciled + dialogue.reconciled
    assert longest > 50 and reconciled > 50


@pytest.mark.parametrize("policies", [(one, other) for one in POLICIES for other in POLICIES], ids="-".join)
def test_every_pair_of_policies_is_sound_on_larger_bases(policies):
    generator = random.Random("-".join(policies))
    for seed in range(PER_PAIR):
        one, other, decision = ORACLE.draw_pair(generator, **sizes(generator))
        dialogue = reconcile(one, other, decision, policies=policies, seed=seed)
        FAST.assert_outcome(dialogue)
        FAST.assert_sound(ORACLE, dialogue)


def test_closures_arguments_and_revisions_are_those_of_enumeration():
    fast = loaded("test_knowledge"), loaded("test_arguments"), loaded("test_revision")
    for seed in range(20):
        fast[0].test_closures_and_consistency_are_those_of_all_valuations(ORACLE, random.Random(seed))
        fast[1].test_they_are_those_of_the_enumeration_of_all_subsets(ORACLE, random.Random(seed))
        fast[2].test_costs_are_those_of_the_enumeration_of_all_subsets(ORACLE, random.Random(seed))
