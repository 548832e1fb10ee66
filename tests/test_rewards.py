"""Reward signals: tables, functions, clipped formulas and observed columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.errors import InputError, NotFittedError, RewardError
from accordant.problem import DecisionProblem
from accordant.rewards import ClippedReward, FunctionReward, ObservedReward, TableReward, checked_rewards

TABLE = {"Grant": {"Full": 1.0, "None": 0.0}, "Deny": {"Full": 0.2, "None": 1}}
OTHER = {"Grant": {"Full": 0.5, "None": 0.3}, "Deny": {"Full": 0.0, "None": 0.6}}
CONTEXTS = Contexts({"type": [1, 0, 1], "amount": [100.0, 200.0, 300.0]})


def test_table():
    reward = TableReward(TABLE)
    np.testing.assert_array_equal(reward(CONTEXTS, "Deny", "Full"), [0.2, 0.2, 0.2])
    assert reward(CONTEXTS, "Deny", "None").dtype == np.float64
    assert reward(CONTEXTS.take(slice(0, 0)), "Deny", "Full").shape == (0,)


@pytest.mark.parametrize("keys", [(1, 0), (1.0, 0.0), ("1", "0"), (True, False), (np.int64(1), np.float64(0))])
@pytest.mark.parametrize("values", [[1, 0, 1], [1.0, 0.0, 1.0], [True, False, True], ["1", "0", "1"]])
def test_table_per_group(keys, values):
    """Files may write the same group as 1, 1.0, "1" or true."""
    reward = TableReward({keys[0]: TABLE, keys[1]: OTHER}, attribute="type")
    contexts = Contexts({"type": values})
    np.testing.assert_array_equal(reward(contexts, "Grant", "Full"), [1.0, 0.5, 1.0])
    assert reward(contexts.take(slice(0, 0)), "Grant", "Full").shape == (0,)


@pytest.mark.parametrize(("reward", "action", "outcome", "message"), [
    (TableReward(TABLE), "grant", "Full", "unknown action in reward table: 'grant'; did you mean 'Grant'"),
    (TableReward(TABLE), "Grant", "Ful", "unknown outcome in reward table of Grant: 'Ful'; did you mean 'Full'"),
    (TableReward(TABLE), "Grant", 3.5, "outcomes are numbers; the reward table of 'Grant' has 'Full'; allowed: num"),
    (TableReward({"Grant": {3: 0.5}}), "Grant", 3.5, "'Grant' needs two different ones or more; found 3"),
    (TableReward({"Grant": {3: 0.5, "3.0": 0.2}}), "Grant", 3.5, "two different ones or more; found 3, 3.0"),
    (TableReward({"1": TABLE, "2": OTHER}, "type"), "Grant", "Full", "unknown group of type '0'; valid: 1, 2"),
    (TableReward({"1": TABLE}, "tipe"), "Grant", "Full", "column 'tipe' is missing; did you mean it by 'type'"),
])  # fmt: skip
def test_table_without_an_entry(reward, action, outcome, message):
    with pytest.raises(InputError, match=message):
        reward(CONTEXTS, action, outcome)


@pytest.mark.parametrize(("table", "attribute", "error", "message"), [
    ({"Grant": {"Full": 1.1}}, None, RewardError, r"reward of \('Grant', 'Full'\) in row 0 is 1.1; allowed: \[0, 1\]"),
    ({"Grant": {"Full": float("nan")}}, None, RewardError, "is nan"),
    ({"Grant": {"Full": None}}, None, RewardError, r"reward of \('Grant', 'Full'\) is not filled in; allowed: a n"),
    ({1: {"Grant": {"Full": -0.1}}}, "type", RewardError, r"'Grant', 'Full', group '1'\) in row 0 is -0.1"),
    ({"Grant": {"Full": "high"}}, None, InputError, "allowed: .* numbers"),
    (TABLE, "type", InputError, "expected {group: {action: {outcome: reward}}}"),
    ({1: TABLE}, None, InputError, "allowed: .* numbers"),
    ({"Grant": 0.5}, None, InputError, "expected {action: {outcome: reward}}"),
    (0.5, None, InputError, "has 0.5 where a mapping belongs; expected {action: {outcome: reward}}"),
    ({1: 0.5}, "type", InputError, "has 0.5 where a mapping belongs; expected {group: "),
])  # fmt: skip
def test_wrong_tables(table, attribute, error, message):
    with pytest.raises(error, match=message):
        TableReward(table, attribute)


def test_a_table_of_numbers_is_a_line_between_its_points_and_flat_beyond():
    reward = TableReward({"Grant": {20: 1.0, "0": 0.0, 10.0: 0.8}, "Deny": {0: 0.5, 20: 0.5}})
    np.testing.assert_allclose(reward(CONTEXTS, "Grant", np.array([-3.0, 5.0, 15.0])), [0.0, 0.4, 0.9])
    np.testing.assert_allclose(reward(CONTEXTS, "Grant", 99.0), 1.0)
    per_group = TableReward({"1": {"Grant": {0: 0, 10: 1}}, "0": {"Grant": {0: 1, 10: 0}}}, "type")
    np.testing.assert_allclose(per_group(CONTEXTS, "Grant", np.array([1.0, 1.0, 7.0])), [0.1, 0.9, 0.7])
    np.testing.assert_allclose(per_group(CONTEXTS, "Grant", 2.5), [0.25, 0.75, 0.25])


def test_function():
    reward = FunctionReward(lambda contexts, action, outcome: contexts["amount"] / 400 if action == "Grant" else 0.5)
    np.testing.assert_array_equal(reward(CONTEXTS, "Grant", "Full"), [0.25, 0.5, 0.75])
    np.testing.assert_array_equal(reward(CONTEXTS, "Deny", "Full"), [0.5, 0.5, 0.5])


@pytest.mark.parametrize(("answer", "error", "message"), [
    ([0.0, 1.0, 1.5], RewardError, r"reward of \('Grant', 'Full'\) in row 2 is 1.5; allowed: \[0, 1\]"),
    ([0.0, -1e-12, 1.0], RewardError, "in row 1 is -1e-12"),
    ([np.nan, 0.0, 0.0], RewardError, "in row 0 is nan"),
    (None, RewardError, "is nan"),
    ([0.5, 0.5], InputError, r"has shape \(2,\); allowed: \(3,\) numbers"),
    ([[0.5], [0.5], [0.5]], InputError, r"has shape \(3, 1\); allowed: \(3,\) numbers"),
    (["a", "b", "c"], InputError, "numbers"),
])  # fmt: skip
def test_wrong_functions(answer, error, message):
    with pytest.raises(error, match=message):
        FunctionReward(lambda contexts, action, outcome: answer)(CONTEXTS, "Grant", "Full")


def test_function_with_one_outcome_per_context():
    reward = FunctionReward(lambda contexts, action, outcome: outcome / 10)
    np.testing.assert_array_equal(reward(CONTEXTS, "A", np.array([1.0, 5.0, 10.0])), [0.1, 0.5, 1.0])
    with pytest.raises(RewardError, match=r"reward of \('A', one outcome per context\) in row 2 is 1.1"):
        reward(CONTEXTS, "A", np.array([1.0, 5.0, 11.0]))
    with pytest.raises(RewardError, match=r"reward of \('A', 12.0\) in row 0 is 1.2"):
        reward(CONTEXTS, "A", 12.0)


def test_signals_without_noise_answer_their_reward():
    generator = np.random.default_rng(0)
    state = generator.bit_generator.state
    np.testing.assert_array_equal(TableReward(TABLE).elicit(CONTEXTS, "Deny", "Full", generator), [0.2, 0.2, 0.2])
    assert generator.bit_generator.state == state


def test_observed_refuses_what_was_not_done():
    with pytest.raises(NotFittedError, match="observed reward 'satisfaction' is known for logged rows only"):
        ObservedReward("satisfaction")(CONTEXTS, "Grant", "Full")


@dataclass(frozen=True)
class Linear(ClippedReward):
    """A formula that leaves [0, 1] at both ends."""

    slope: float = 1.0

    def desirability(self, contexts, action, outcome):
        return self.slope * (contexts["amount"] - 150) / 100


def test_clipped_reward():
    np.testing.assert_array_equal(Linear()(CONTEXTS, "Grant", "Full"), [0.0, 0.5, 1.0])
    assert Linear().reward(CONTEXTS, "Grant", "Full").max() == 1.0


def test_elicited_noise_is_seeded_bounded_and_clipped():
    """Acceptance test 14; the half-width is the official code's 0.05."""
    many = Contexts({"amount": np.repeat([100.0, 200.0, 300.0], 2000)})
    ask = lambda seed: Linear(noise=0.05).elicit(many, "Grant", "Full", np.random.default_rng(seed))  # noqa: E731
    answers = ask(7)
    assert answers.tobytes() == ask(7).tobytes()
    assert answers.tobytes() != ask(8).tobytes()
    low, middle, high = answers.reshape(3, 2000)
    assert (low == 0.0).all()
    assert (high == 1.0).all()
    assert 0.45 <= middle.min() < 0.4505
    assert 0.5495 < middle.max() <= 0.55
    assert abs(middle.mean() - 0.5) < 5 * 0.05 / np.sqrt(3 * 2000)


def test_noise_is_added_before_clipping():
    near_the_end = Contexts({"amount": np.full(1000, 248.0)})  # desirability 0.98
    answers = Linear(noise=0.05).elicit(near_the_end, "Grant", "Full", np.random.default_rng(0))
    assert 0.2 < (answers == 1.0).mean() < 0.4


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf])
def test_wrong_noise(noise):
    with pytest.raises(InputError, match="noise is .*; allowed: at least 0"):
        Linear(noise=noise)


def test_an_elicited_answer_is_checked_too():
    with pytest.raises(RewardError, match="is nan"):
        Linear(slope=np.nan).elicit(CONTEXTS, "Grant", "Full", np.random.default_rng(0))


def test_fit_returns_a_signal():
    log = Log(CONTEXTS, np.zeros(3, dtype=int), np.zeros(3, dtype=int))
    problem = DecisionProblem(stakeholders=["s"], actions=["Grant"], outcomes=["Full"])
    reward = TableReward(TABLE)
    assert reward.fit(log, problem) is reward


def test_checked_rewards_broadcasts_one_value():
    assert checked_rewards(1, 3, "x").tolist() == [1.0, 1.0, 1.0]
    assert checked_rewards([], 0, "x").shape == (0,)


# --- what every signal can be asked ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranged(ClippedReward):
    """A signal that learns a pair."""

    pair: tuple[float, float] = (0.0, 1.0)

    def desirability(self, contexts, action, outcome):
        return np.full(contexts.n_contexts, self.pair[0])


def test_a_stated_signal_has_no_file_no_warning_and_no_provenance():
    def find(file):
        raise AssertionError(file)

    signal = Ranged()
    assert signal.located(find) is signal
    assert signal.warnings == () and signal.provenance() == {}


def test_the_state_of_a_signal_is_its_fields():
    fitted = Ranged(0.1, (0.5, 2.0))
    assert fitted.state() == {"noise": 0.1, "pair": (0.5, 2.0)}
    assert Ranged().restored(fitted.state()) == fitted
