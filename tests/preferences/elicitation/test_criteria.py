"""What questions are worth: the same numbers by plain loops, the inequalities between them, and their bias."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.preferences.elicitation.decision_value import (
    CRITERIA,
    best_question,
    decision_information,
    entropy,
    expected_regret_reduction,
    parameter_information,
    worth,
)
from accordant.preferences.elicitation.decision_value import Verdicts


def drawn(seed, n_samples=40, n_questions=5, n_actions=3):
    generator = np.random.default_rng(seed)
    losses = generator.random((n_samples, n_actions))
    losses -= losses.min(axis=1, keepdims=True)
    return generator.random((n_samples, n_questions)), Verdicts(losses.argmin(axis=1), losses)


def plain_entropy(shares):
    return -sum(share * math.log(share) for share in shares if share > 0)


def plain_information(likely, labels):
    """Mutual information of answer and label, from the joint table of both, written out."""
    found = []
    for question in range(likely.shape[1]):
        table = {}
        for sample, label in enumerate(labels):
            for answer in (0, 1):
                chance = likely[sample, question] if answer else 1 - likely[sample, question]
                table[answer, label] = table.get((answer, label), 0.0) + chance / len(labels)
        answers = [sum(v for (a, _), v in table.items() if a == answer) for answer in (0, 1)]
        kinds = [sum(v for (_, k), v in table.items() if k == label) for label in set(labels)]
        found.append(plain_entropy(answers) + plain_entropy(kinds) - plain_entropy(table.values()))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_informations_equal_sums_over_the_joint_table(seed):
    likely, verdicts = drawn(seed)
    plug_in = decision_information(likely, verdicts, corrected=False)
    assert plug_in == pytest.approx(plain_information(likely, verdicts.decided.tolist()), abs=1e-12)
    every_sample = plain_information(likely, list(range(len(likely))))
    assert parameter_information(likely, verdicts) == pytest.approx(every_sample, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_regret_reduction_equals_a_look_ahead_by_hand(seed):
    likely, verdicts = drawn(seed)
    n, losses = len(likely), verdicts.losses
    now = min(sum(losses[s, a] for s in range(n)) / n for a in range(losses.shape[1]))
    for question in range(likely.shape[1]):
        later = 0.0
        for answer in (0, 1):
            chances = [likely[s, question] if answer else 1 - likely[s, question] for s in range(n)]
            total = sum(chances)
            later += (
                total
                / n
                * min(sum(c * losses[s, a] for s, c in enumerate(chances)) / total for a in range(losses.shape[1]))
            )
        assert expected_regret_reduction(likely, verdicts)[question] == pytest.approx(now - later, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.integers(2, 30), st.integers(1, 4))
def test_the_decision_tells_no_more_than_the_reward_and_nothing_exceeds_one_bit(seed, n_samples, n_actions):
    likely, verdicts = drawn(seed, n_samples, 4, n_actions)
    plug_in = decision_information(likely, verdicts, corrected=False)
    parameter = parameter_information(likely, verdicts)
    assert (plug_in >= -1e-12).all()
    assert (plug_in <= parameter + 1e-12).all()
    assert (parameter <= math.log(2) + 1e-12).all()
    assert (decision_information(likely, verdicts) <= plug_in + 0.5 * n_actions / n_samples + 1e-12).all()
    assert (expected_regret_reduction(likely, verdicts) >= 0).all()
    other = 1.0 - likely  # the same question with its items the other way round
    for criterion in CRITERIA:
        assert worth(criterion, other, verdicts) == pytest.approx(worth(criterion, likely, verdicts), abs=1e-10)


@pytest.mark.long
def test_the_correction_takes_most_of_the_bias_away():
    generator = np.random.default_rng(0)

    def case(n_samples):
        theta = generator.normal(size=(n_samples, 4))
        values = theta @ np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]]).T
        likely = 1 / (1 + np.exp(-3 * theta @ np.array([[1.0, -1.0, 0, 0], [0, 0, 0, 1.0]]).T))
        return likely, Verdicts(values.argmax(axis=1), values.max(axis=1, keepdims=True) - values)

    truth = decision_information(*case(200_000), corrected=False)
    runs = [case(30) for _ in range(3000)]
    plain, better = (
        np.mean([decision_information(*each, corrected=corrected) for each in runs], axis=0) - truth
        for corrected in (False, True)
    )
    assert truth[1] < 1e-4  # the second question is about something that decides nothing
    assert (plain > 0.004).all()
    assert (np.abs(better) < 0.15 * plain).all()


def test_a_question_that_settles_the_decision_is_worth_its_entropy():
    likely = np.array([[1.0, 0.5], [1.0, 0.5], [0.0, 0.5], [0.0, 0.5]])
    losses = np.array([[0.0, 2.0], [0.0, 2.0], [1.0, 0.0], [1.0, 0.0]])
    verdicts = Verdicts(np.array([0, 0, 1, 1]), losses)
    assert decision_information(likely, verdicts, corrected=False) == pytest.approx([math.log(2), 0.0])
    assert parameter_information(likely, verdicts) == pytest.approx([math.log(2), 0.0])
    assert expected_regret_reduction(likely, verdicts) == pytest.approx([0.5, 0.0])
    for criterion in ("decision_information", "parameter_information", "expected_regret_reduction"):
        assert best_question(criterion, likely, verdicts, np.random.default_rng(0))[0] == 0


def test_equals_go_to_the_more_informative_question_then_to_the_first():
    likely = np.array([[0.5, 0.9, 0.1], [0.5, 0.1, 0.9]])
    one = Verdicts(np.array([0, 0]), np.array([[0.0, 1.0], [0.0, 1.0]]))  # already decided: nothing to gain
    at, value = best_question("expected_regret_reduction", likely, one, np.random.default_rng(0))
    assert (at, value) == (1, 0.0)


def test_random_draws_every_question_and_repeats_with_its_generator():
    likely, verdicts = drawn(0)
    found = [best_question("random", likely, verdicts, np.random.default_rng(seed))[0] for seed in range(60)]
    assert set(found) == set(range(5))
    assert found[3] == best_question("random", likely, verdicts, np.random.default_rng(3))[0]


def test_entropy_of_certainty_is_nought():
    assert entropy(np.array([0.0, 1.0, 0.5])) == pytest.approx([0.0, 0.0, math.log(2)])


def test_what_is_refused():
    likely, verdicts = drawn(0)
    with pytest.raises(UnknownNameError, match="did you mean 'decision_information'"):
        worth("decision_informaton", likely, verdicts)
    with pytest.raises(InputError, match="likely has shape"):
        worth("random", likely[:, 0], verdicts)
    with pytest.raises(InputError, match="likely has shape"):
        worth("random", likely[:3], verdicts)


def test_a_decision_with_one_certain_sample_is_not_corrected():
    """Two samples, two decisions, one question that tells them apart for certain.

    Plug-in: log 2. Var / p (1 − p) = ½ / ¼ counts as 1, so the whole gets 1 / (2 · 2); each decision gets nothing.
    """
    verdicts = Verdicts(np.array([0, 1]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert decision_information(np.array([[1.0], [0.0]]), verdicts) == pytest.approx([math.log(2) + 0.25])
