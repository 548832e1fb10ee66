"""Sentences: they follow the verdicts and intervals, and claim nothing beyond them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from accordant.preferences.comparison.conclusions import conclude, change, power_sentence, share, signed
from accordant.preferences.groups import Groups
from accordant.preferences.comparison.measurements import measure
from accordant.preferences.comparison.methods import LENGTH, POOLED, Fitted, Method
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.learners.learner import LinearReward
from accordant.preferences.measures import PerUser
from accordant.preferences.measures.pareto import Power
from accordant.statistics import Estimate

MODEL = LinearReward(np.zeros(1))


def row(label, control=False, control_of=None):
    return Fitted(Method(label, BradleyTerry(), control), label, MODEL, control_of)


def users(accuracy):
    n = len(accuracy)
    return PerUser(
        tuple(map(str, range(n))),
        np.arange(n),
        accuracy,
        1 - accuracy,
        np.full(n, 9),
        np.zeros(n, int),
        np.full(n, 0.001),
        {},
    )


def said(changes, *, named=(), sizes=(40, 20), support=None):
    """Return the answer of methods with a mean change for each group, noise apart; the first is pooled."""
    generator = np.random.default_rng(2)
    code = np.repeat([0, 1], sizes)
    base = generator.uniform(0.5, 0.6, len(code))
    found = {}
    for label, gains in changes.items():
        found[label] = users(np.clip(base + np.array(gains)[code] + generator.normal(0, 0.01, len(code)), 0, 1))
    rates = np.full(len(code), np.nan) if support is None else support
    measured = measure(found, code, ("big", "small"), rates, seed=0, resamples=200, level=0.95)
    groups = Groups(("big", "small"), code, (), rates, "big", "small", "", "", True, ())
    rows = [row(label, control=label in (POOLED, LENGTH, "balanced")) for label in changes]
    return conclude(rows, measured, groups, named)


def test_verdicts_are_told_apart():
    answer = said({POOLED: (0, 0), "balanced": (0, 0), "good": (0.1, 0.1), "bad": (0.1, -0.1), "same": (0, 0)})
    first = " ".join(answer.sentences[:3])
    assert "cost no other 0.02 or more: good." in first
    assert "more than 0.02, or to lower accuracy for all: bad." in first
    assert "Neither is shown: same." in first


def test_that_nothing_is_shown_is_said_and_other_verdicts_only_of_methods_that_have_them():
    answer = said({POOLED: (0, 0), "balanced": (0, 0), "same": (0, 0)})
    assert answer.sentences[0].endswith("cost no other 0.02 or more: no method.")
    assert answer.sentences[1] == "Neither is shown: same."
    assert not any(each.startswith("Shown to cost a group") for each in answer.sentences)


def test_without_a_name_the_method_with_the_best_worst_group_is_looked_at_and_that_is_said():
    answer = said({POOLED: (0, 0), "balanced": (0, 0), "one": (0.3, 0.0), "other": (0.1, 0.1)})
    assert answer.looked_at == "other"
    assert "as they picked it, its figures are a little too good" in " ".join(answer.sentences)
    named = said({POOLED: (0, 0), "balanced": (0, 0), "one": (0.3, 0.0), "other": (0.1, 0.1)}, named=("one",))
    assert named.looked_at == "one"
    assert "one (it was named) changes accuracy" in " ".join(named.sentences)


@pytest.mark.parametrize(
    ("gain", "of_control", "words"),
    [
        (0.2, 0.1, "a gain that no control shows"),
        (0.1, 0.2, "the control does better"),
        (0.1, 0.1, "that it adds anything to this control is not shown"),
    ],
)
def test_a_gain_is_held_against_the_nearest_control(gain, of_control, words):
    answer = said({POOLED: (0, 0), "balanced": (0, of_control), "new": (0, gain)})
    assert answer.nearest_control == "balanced"
    assert any("for small is balanced" in each and words in each for each in answer.sentences)


def test_few_users_are_too_few_to_tell():
    answer = said({POOLED: (0, 0), "balanced": (0, 0.0), "new": (0, 0.3)}, sizes=(40, 6))
    assert any("6 users are too few to tell" in each for each in answer.sentences)
    assert any("big (40 users)" in each and "small (6 users)" in each for each in answer.sentences)
    assert not any("no control shows" in each for each in answer.sentences)


def test_length_and_support_have_a_sentence_each_where_they_are_known():
    slope = np.linspace(0.2, 0.8, 60)
    answer = said({POOLED: (0, 0), LENGTH: (-0.1, -0.1), "new": (0, 0)}, support=slope)
    (length,) = [each for each in answer.sentences if "nothing but the length" in each]
    reached, pooled, own = (float(number) for number in re.findall(r"\d\.\d+", length))
    assert 0.35 < reached < 0.55 and pooled == pytest.approx(own, abs=0.02) and pooled - reached > 0.05
    assert any("with whom 10% more of the others agree" in each for each in answer.sentences)
    bare = said({POOLED: (0, 0), "new": (0, 0)})
    assert not any("length" in each or "agree" in each for each in bare.sentences)
    assert bare.nearest_control is None


def test_controls_alone_are_no_finding():
    answer = said({POOLED: (0, 0), "balanced": (0, 0.1)})
    assert answer.looked_at is None
    assert answer.sentences[-1] == "Nothing but controls was compared."
    assert said({POOLED: (0, 0), "balanced": (0, 0.1)}, named=("balanced",)).looked_at == "balanced"


def test_numbers_have_signs():
    assert (signed(0.1), signed(-0.1), signed(0.0), signed(-0.0001), signed(None)) == (
        "+0.100", "−0.100", "0.000", "0.000", "not defined",
    )  # fmt: skip
    assert change(Estimate(0.1, -0.2, 0.3)) == "+0.100 [−0.200, +0.300]"
    assert change(Estimate(0.1)) == "+0.100"
    assert change(None) == "not defined"


@pytest.mark.parametrize(
    ("gains", "end"),
    [
        ((0.05, -0.1), "the pooled reward does better (\N{MINUS SIGN}0.1"),
        ((0.0, 0.0), "against the pooled reward no gain is shown ("),
        ((0.0, 0.1), ": a gain that no control shows."),
    ],
)
def test_a_gain_over_the_nearest_control_is_none_if_the_pooled_reward_has_it(gains, end):
    answer = said({POOLED: (0, 0), "balanced": (-0.3, -0.3), "new": gains})
    sentence = next(each for each in answer.sentences if each.startswith("The control"))
    assert end in sentence
    assert answer.nearest_control == "balanced"
    assert ("a gain that no control shows" in sentence) == (gains == (0.0, 0.1))


def test_the_power_of_the_verdict_stands_beside_it():
    few = said({POOLED: (0, 0), "balanced": (0, 0), "new": (0, 0.2)}, sizes=(40, 6))
    assert any(each.startswith("With 6 users in small, a true gain of 0.") for each in few.sentences)
    assert power_sentence(Power("small", 6, 0.2, True, 0.31, 0.45)) == (
        "With 6 users in small, a true gain of 0.200, as declared, that costs nobody anything would be shown in 31% of "
        "samples; to be shown in 80% it would have to be 0.450."
    )
    assert power_sentence(Power("small", 1, None, False, None, None)) == (
        "With 1 user in small, no gain was seen; of gains that cost nobody anything none, however large, would be shown "
        "in 80%."
    )
    assert "over 99% of samples" in power_sentence(Power("small", 60, 0.5, False, 1.0, 0.1))


def test_methods_that_were_compared_together_are_counted():
    alone = said({POOLED: (0, 0), "new": (0.1, 0.1)})
    assert not any("compared together" in each for each in alone.sentences)
    first = said({POOLED: (0, 0), "new": (0.1, 0.1), "same": (0, 0)}, named=("new",))
    [closely] = [each for each in first.sentences if "changes accuracy against" in each]
    assert closely.endswith("), one of 2 compared together.")


def test_each_group_is_told_with_its_users_and_interval():
    answer = said({POOLED: (0, 0), "new": (0.1, -0.1)}, named=("new",))
    [closely] = [each for each in answer.sentences if "changes accuracy against" in each]
    assert closely.startswith("new changes accuracy against the pooled reward by: big (40 users) +0.")
    assert re.search(r"big \(40 users\) \+0\.\d+ \[\+0\.\d+, \+0\.\d+\]; small \(20 users\) −0\.", closely)
    assert "verdict: contradicted" in closely
    assert "hold together at 95%" in closely


@pytest.mark.parametrize(("n", "few"), [(9, True), (10, False)])
def test_ten_users_are_enough(n, few):
    answer = said({POOLED: (0, 0), "balanced": (0, 0.0), "new": (0, 0.3)}, sizes=(40, n))
    assert any("too few to tell" in each for each in answer.sentences) == few
    assert any("no control shows" in each for each in answer.sentences) != few


@pytest.mark.parametrize(
    ("chance", "text"),
    [(0, "under 1%"), (0.005, "under 1%"), (0.0051, "1%"), (0.5, "50%"), (0.9949, "99%"), (0.995, "over 99%")],
)
def test_an_estimated_chance_is_never_none_and_never_certain(chance, text):
    assert share(chance) == text


def test_of_several_controls_the_one_with_the_highest_accuracy_for_the_minority_is_nearest():
    answer = said({POOLED: (0, 0), LENGTH: (0.3, -0.2), "balanced": (0, 0.1), "new": (0, 0)})
    assert answer.nearest_control == "balanced"
    answer = said({POOLED: (0, 0), "balanced": (0.3, -0.2), LENGTH: (0, 0.1), "new": (0, 0)})
    assert answer.nearest_control == LENGTH
