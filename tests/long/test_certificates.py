"""More than a hundred thousand random situations: no search for misreports gets past a certificate of any rule."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Threat, certify

SITUATIONS = 1600  # per rule: with more than seventy rules above a hundred thousand in all
AT_ONCE = 80


def fast_tests():
    """Return the fast tests of soundness, which hold the rules and the attack."""
    path = Path(__file__).parents[1] / "certificates" / "test_soundness.py"
    found = importlib.util.spec_from_file_location("certificates_fast_tests", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


FAST = fast_tests()


def drawn_threat(generator, names):
    """Return a random coalition with a random radius, often on the grid of the rounded rewards."""
    coalition = tuple(name for name in names if generator.random() < 0.5) or (names[0],)
    delta = generator.choice([0.01, 0.05, 0.1, 0.2, 0.5, 1.0]) if generator.random() < 0.7 else generator.random()
    return Threat(float(delta), coalition)


def test_there_are_a_hundred_thousand_situations():
    assert SITUATIONS * len(FAST.RULES) >= 100_000


@pytest.mark.parametrize("case", FAST.RULES, ids=FAST.named)
def test_no_attack_gets_past_a_certificate(case):
    rule, generator = strategies.create(*case), np.random.default_rng([1, len(str(case))])
    for number in range(SITUATIONS // AT_ONCE):
        expected = FAST.mixed(generator, 3, 3 + number % 2, AT_ONCE)
        threat = drawn_threat(generator, expected.stakeholders)
        FAST.assert_nothing_gets_past(
            rule, expected, threat, generator, tries=60, restarts=1 if number % 4 == 0 else 0, witnesses=False
        )


@pytest.mark.parametrize("name", FAST.BALLOTS)
def test_no_attack_gets_past_counting_with_more_stakeholders_and_actions(name):
    generator = np.random.default_rng([2, len(name)])
    for number in range(3):
        expected = FAST.mixed(generator, 4, 3 + number % 3, 30)
        threat = drawn_threat(generator, expected.stakeholders)
        FAST.assert_nothing_gets_past(strategies.create(name), expected, threat, generator, tries=200, restarts=0)


@pytest.mark.parametrize("name", FAST.BALLOTS)
def test_counting_is_exact_almost_everywhere_where_rewards_are_no_round_numbers(name):
    generator = np.random.default_rng([3, len(name)])
    expected = FAST.world(generator.random((3, 3, 5000)))
    for threat in (Threat(0.05), Threat(0.2, ("P", "Q")), Threat(0.5, ("R",))):
        exact = certify(strategies.create(name), expected, threat).exact.mean()
        assert exact > (0.85 if name == "approval" else 0.999)
