"""The reward-augmented dataset: who is asked about what, from raw columns, with noise from one generator."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cases.lending.rewards import LendingReward, lending_rewards
from accordant.contexts import Contexts, Log
from accordant.learning.augmentation import augmented_queries, clipping_warnings, elicit, logged_queries
from accordant.learning.encoding import ContextEncoder
from accordant.problem import DecisionProblem
from accordant.rewards import FunctionReward

PROBLEM = DecisionProblem(
    stakeholders=["Bank", "Applicant", "Regulatory"],
    actions=["Grant", "Grant_lower", "Not_Grant"],
    outcomes=["Fully_Repaid", "Partially_Repaid", "Not_Repaid"],
)


def loans(n=50, seed=0, amount=None):
    generator = np.random.default_rng(seed)
    columns = {
        "Loan_Amount": generator.uniform(1000, 35_000, n) if amount is None else np.full(n, float(amount)),
        "Interest_Rate": generator.uniform(0.05, 0.29, n),
        "Applicant_Type": generator.integers(0, 2, n).astype(float),
    }
    return Log(Contexts(columns), np.zeros(n, dtype=int), generator.integers(0, 3, n))


def triples(queries):
    return set(zip(queries.rows.tolist(), queries.actions.tolist(), queries.outcomes.tolist(), strict=True))


def test_every_action_under_the_observed_outcome():
    log = loans(7)
    queries = augmented_queries(log, PROBLEM, "actions", np.random.default_rng(0))
    assert len(queries) == 21
    assert triples(queries) == {(t, a, int(log.outcomes[t])) for t in range(7) for a in range(3)}


def test_every_action_and_outcome():
    queries = augmented_queries(loans(7), PROBLEM, "actions_and_outcomes", np.random.default_rng(0))
    assert len(queries) == 63
    assert triples(queries) == {(t, a, o) for t in range(7) for a in range(3) for o in range(3)}


def test_continuous_outcomes_are_crossed_with_drawn_ones(visits):
    """Each row is asked about its own outcome and about another training outcome, under every action."""
    log, generator = visits.log, np.random.default_rng(0)
    n = len(log)
    queries = augmented_queries(log, visits.problem, "actions_and_outcomes", generator)
    assert len(queries) == 2 * 2 * n
    for action in (0, 1):
        asked = queries.outcomes[queries.actions == action].reshape(2, n)
        assert np.array_equal(asked[0], log.outcomes)
        assert np.array_equal(np.sort(asked[1]), np.sort(log.outcomes))
        assert not np.array_equal(asked[1], log.outcomes)
    same = augmented_queries(log, visits.problem, "actions_and_outcomes", np.random.default_rng(0))
    assert np.array_equal(queries.outcomes, same.outcomes)


def test_logged_queries():
    log = loans(5)
    assert triples(logged_queries(log)) == {(t, 0, int(log.outcomes[t])) for t in range(5)}


def test_answers_come_from_raw_columns_for_observed_and_added_rows_alike():
    """Dollars, not z-scores: the answer to every query is the formula of that row, within the noise."""
    log, generator = loans(60), np.random.default_rng(1)
    queries = augmented_queries(log, PROBLEM, "actions_and_outcomes", generator)
    for signal in lending_rewards(noise=0.05).values():
        answers = elicit(signal, log.contexts, queries, PROBLEM, generator)
        for q in range(0, len(queries), 7):
            row = log.contexts.take(queries.rows[q : q + 1])
            action, outcome = PROBLEM.actions[queries.actions[q]], PROBLEM.outcomes[queries.outcomes[q]]
            assert abs(answers[q] - signal(row, action, outcome)[0]) <= 0.05 + 1e-12


def test_encoding_features_changes_no_reward():
    """A model that scales its features has no way to reach the columns that rewards read."""
    log = loans(30)
    queries = augmented_queries(log, PROBLEM, "actions", np.random.default_rng(0))
    signal = lending_rewards(noise=0.0)["Bank"]
    before = elicit(signal, log.contexts, queries, PROBLEM, None)
    matrix = ContextEncoder.fit(log.contexts, ("Loan_Amount", "Interest_Rate"))(log.contexts)
    matrix[:] = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)  # the matrix is the model's own
    assert np.array_equal(elicit(signal, log.contexts, queries, PROBLEM, None), before)
    with pytest.raises(ValueError, match="read-only"):
        log.contexts["Loan_Amount"][0] = 0.0


def test_noise_comes_from_the_given_generator_only():
    log = loans(40)
    queries = augmented_queries(log, PROBLEM, "actions_and_outcomes", np.random.default_rng(0))
    signal = lending_rewards(noise=0.05)["Regulatory"]

    def answers(seed):
        return elicit(signal, log.contexts, queries, PROBLEM, np.random.default_rng(seed))

    np.random.seed(1)
    first = answers(3)
    np.random.seed(2)
    assert np.array_equal(first, answers(3))
    assert not np.array_equal(first, answers(4))
    plain = elicit(signal, log.contexts, queries, PROBLEM, None)
    assert np.array_equal(plain, elicit(signal, log.contexts, queries, PROBLEM, None))
    inner = (plain > 0.05) & (plain < 0.95)
    noise = (first - plain)[inner]
    assert np.abs(noise).max() <= 0.05 + 1e-12
    assert noise.std() == pytest.approx(0.05 / np.sqrt(3), rel=0.15)  # uniform on ±0.05, a draw per cell
    assert len(np.unique(noise)) == noise.size


@pytest.mark.parametrize(("variant", "amount", "clipped"), [("published", 20_000, True), ("corrected", 20_000, False)])
def test_many_clipped_rewards_are_reported(variant, amount, clipped):
    log = loans(50, amount=amount)
    queries = augmented_queries(log, PROBLEM, "actions", np.random.default_rng(0))
    signal = LendingReward(0.05, "Applicant", "base", variant)
    lines = clipping_warnings("Applicant", signal, log.contexts, queries, PROBLEM)
    assert bool(lines) == clipped
    if clipped:
        assert "'Applicant' are clipped to 0" in lines[0]


def test_a_share_of_twenty_percent_is_not_reported():
    class Half(LendingReward):
        def desirability(self, contexts, action, outcome):
            return np.where(np.arange(contexts.n_contexts) < self.cut, 1.5, 0.5)

    log = loans(50)
    queries = augmented_queries(log, PROBLEM, "actions", np.random.default_rng(0))
    queries = type(queries)(np.arange(50), np.zeros(50, dtype=int), np.zeros(50, dtype=int))
    for cut, reported in ((10, False), (11, True)):
        Half.cut = cut
        lines = clipping_warnings("Bank", Half(), log.contexts, queries, PROBLEM)
        assert bool(lines) == reported
    assert lines == [
        "22% of the rewards of 'Bank' are clipped to 1: there they no longer tell actions and outcomes apart."
    ]


def test_signals_that_are_not_clipped_have_nothing_to_report():
    log = loans(5)
    signal = FunctionReward(lambda contexts, action, outcome: 0.0)
    assert clipping_warnings("Bank", signal, log.contexts, logged_queries(log), PROBLEM) == []
