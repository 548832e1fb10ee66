"""Edges at which a rule once said something wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError
from accordant.strategies.compromise import Compromise, Scored
from accordant.voting.rules.maximal_lotteries import maximal_lotteries_probabilities
from accordant.utilities import ExpectedRewards


def rewards(*rows):
    values = np.array(rows, dtype=float)
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


@dataclass(frozen=True)
class Given(Compromise):
    """Scores from outside."""

    name = "given"
    scores: tuple = ()

    def score(self, block, weights):
        return Scored(np.array(self.scores, dtype=float))


@pytest.mark.parametrize("scores", [((0.1,),), (0.1, 0.2), ((0.1, 0.2),), ((0.1,),) * 40_000])
def test_scores_of_another_shape_are_refused(scores):
    with pytest.raises(InputError, match="scores have shape .*; allowed: \\(action, context\\), here \\(2, 1\\)"):
        Given(scores=scores)(rewards([0.5, 0.5]))


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(score):
    for scores in (((score,), (0.5,)), ((0.5,), (score,))):
        with pytest.raises(InputError, match="a score is NaN or \\+inf"):
            Given(scores=scores)(rewards([0.5, 0.5]))


@pytest.mark.parametrize("aversion", [0.3, 0.5, 0.999])
def test_rewards_below_zero_by_rounding(aversion):
    decided = strategies.create("atkinson", {"aversion": aversion})(rewards([-1e-10, 0.9], [0.5, 0.9]))
    assert decided.actions.tolist() == ["a1"]
    assert np.isfinite(decided.scores).all()


def test_the_index_of_inequality_stays_in_its_range():
    for low in (0.0, 1e-7):
        for aversion in (0.5, 1.0, 2.0, 5.0):
            decided = strategies.create("atkinson", {"aversion": aversion})(rewards([1e-7, 0.4], [low, 0.6]))
            index = decided.quantities["inequality"]
            assert ((index >= 0) & (index <= 1)).all()


def test_alpha_next_to_one_is_one():
    E = rewards([0.3, 0.5], [0.9, 0.6])
    exact = strategies.create("alpha_fairness", {"alpha": 1.0})(E).scores
    for alpha in (1 + 1e-15, 1 - 1e-12, 1 + 1e-9):
        np.testing.assert_allclose(strategies.create("alpha_fairness", {"alpha": alpha})(E).scores, exact, rtol=1e-6)


def test_shortfalls_without_weight_do_not_hide_the_others():
    parameters = {"weights": (0.0, 1.0), "ideal": (1.0, 0.52), "exponent": 200.0}
    decided = strategies.create("compromise_programming", parameters)(rewards([0, 1, 0.5], [0.5, 0.5, 0.51]))
    np.testing.assert_allclose(decided.scores[:, 0], [-0.02, -0.02, -0.01])


def test_weights_with_an_infinite_sum_are_refused():
    with pytest.raises(InputError, match="stakeholder weights .* are wrong"):
        strategies.create("utilitarian", {"weights": (1e308, 1e308)})(rewards([0.1, 0.2], [0.2, 0.1]))


@pytest.mark.long
def test_degenerate_lotteries_hold_their_certificate():
    """The first game defeats one non-negative least-squares solver in silence."""
    generator = np.random.default_rng(0)
    games = [np.array([[0, 4, 4, 0], [-4, 0, 0, 2], [-4, 0, 0, 4], [0, -2, -4, 0.0]])]
    for n in (4, 5, 6, 30):
        for _ in range(2000 if n < 10 else 10):
            upper = np.triu(generator.integers(-2, 3, size=(n, n)) * 2.0, 1)
            games.append(upper - upper.T)
    for margins in games:
        lottery = maximal_lotteries_probabilities(margins[:, :, None])[:, 0]
        assert abs(lottery.sum() - 1) < 1e-9 and (lottery >= 0).all()
        assert (lottery @ margins >= -1e-7).all()
    np.testing.assert_allclose(maximal_lotteries_probabilities(games[0][:, :, None])[:, 0], [0.5, 0, 0, 0.5], atol=1e-6)


@pytest.mark.long
def test_many_threads_may_ask_a_registry_first():
    script = (
        "from concurrent.futures import ThreadPoolExecutor\nfrom accordant import strategies\n"
        "with ThreadPoolExecutor(6) as pool: print(len(list(pool.map(strategies.create, ['maximin', 'borda'] * 6))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "12", done.stderr
