"""Who gains and who pays: differences by hand, joint intervals, and silence where nothing is shown."""

from __future__ import annotations

import numpy as np
import pytest

import accordant as ac
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation.stakeholder_gains import StakeholderGains, stakeholder_gains
from accordant.evidence import Evidence
from accordant.statistics import Estimate
from accordant.utilities import ExpectedRewards

NAMES, ACTIONS = ("A", "B", "C"), ("left", "right")


def evidence_of(rewards, taken=None, **known):
    problem = ac.DecisionProblem(stakeholders=list(NAMES), actions=list(ACTIONS), outcomes=["o"])
    n = rewards.shape[2]
    actions = np.zeros(n, dtype=np.intp) if taken is None else taken
    log = Log(Contexts({"x": np.arange(n, dtype=float)}), actions, np.zeros(n, dtype=np.intp))
    expected = ExpectedRewards(rewards, stakeholders=NAMES, actions=ACTIONS)
    return Evidence(problem=problem, log=log, rewards=rewards, expected=expected, **known)


def codes(name, values):
    return Decisions(name, ACTIONS, np.asarray(values, dtype=np.intp), np.zeros(len(values), dtype=bool))


def compared(rewards, one, other, **options):
    decisions = {"one": codes("one", one), "other": codes("other", other)}
    settings = {"generator": np.random.default_rng(0), "resamples": 300} | options
    return stakeholder_gains(decisions, "one", "other", evidence_of(rewards), **settings)


@pytest.fixture
def drawn():
    generator = np.random.default_rng(3)
    rewards = generator.uniform(0, 1, (3, 2, 200))
    rewards[0, 1] = np.clip(rewards[0, 0] + 0.3, 0, 1)  # A gains from right
    rewards[1, 1] = np.clip(rewards[1, 0] - 0.3, 0, 1)  # B pays
    rewards[2, 1] = rewards[2, 0] + np.where(np.arange(200) % 2, 0.05, -0.05)  # C does not care
    return np.clip(rewards, 0, 1)


def test_gains_are_differences_of_means_and_the_sentence_says_them(drawn):
    one, other = np.ones(200), np.zeros(200)
    found = compared(drawn, one, other)
    for name, row in zip(NAMES, drawn, strict=True):
        assert found.gains[name].value == pytest.approx((row[1] - row[0]).mean())
        assert found.gains[name].low < found.gains[name].value < found.gains[name].high
    assert found.gainers == ("A",) and found.payers == ("B",)
    assert found.different == 1 and found.worst_off == NAMES[int(drawn[:, 0].mean(axis=1).argmin())]
    assert "one gives A 0." in found.sentence and "B 0." in found.sentence and " less" in found.sentence
    assert "no difference is shown for C" in found.sentence


def test_turned_round_gains_are_prices(drawn):
    forth, back = (compared(drawn, *pair) for pair in ((np.ones(200), np.zeros(200)), (np.zeros(200), np.ones(200))))
    for name in NAMES:
        assert forth.gains[name].value == pytest.approx(-back.gains[name].value)
    assert back.gainers == ("B",) and back.payers == ("A",)


def test_intervals_hold_together_and_are_wider_than_single_ones(drawn):
    found = compared(drawn, np.ones(200), np.zeros(200))
    for name, row in zip(NAMES, drawn, strict=True):
        alone = 1.96 * (row[1] - row[0]).std(ddof=1) / np.sqrt(200)
        assert (found.gains[name].high - found.gains[name].low) / 2 > 0.95 * alone
        assert found.gains[name].level == 0.95


def test_strategies_that_decide_alike_show_nothing(drawn):
    other = np.zeros(200)
    found = compared(drawn, other, other)
    assert found.gainers == found.payers == () and found.different == 0
    assert "no stakeholder is shown to gain, and none to pay" in found.sentence


def test_a_few_different_rows_are_too_few_to_tell(drawn):
    one = (np.arange(200) < 5).astype(int)
    found = compared(drawn, one, np.zeros(200))
    assert found.gainers == () and all(each.low is None for each in found.gains.values())
    assert "is not shown: they decide differently in 5 of 200 rows" in found.sentence


def test_no_gain_is_said_where_only_losses_are_shown():
    gains = {"A": Estimate(-0.2, -0.3, -0.1, 0.95), "B": Estimate(0.01, -0.1, 0.1, 0.95)}
    found = StakeholderGains("one", "other", 0.5, "B", gains, 100)
    assert found.sentence.endswith(
        "Against it one gives A 0.200 [0.100, 0.300] less; no difference is shown for B; so no gain is shown "
        "(mean rewards on 100 rows; 95% confidence, all together)."
    )


def test_a_mixture_differs_by_the_probability_of_another_action(drawn):
    policy = np.stack([np.full(200, 0.75), np.full(200, 0.25)])
    mixed = Decisions("one", ACTIONS, np.zeros(200, dtype=np.intp), np.zeros(200, dtype=bool), policy=policy)
    decisions = {"one": mixed, "other": codes("other", np.zeros(200))}
    found = stakeholder_gains(
        decisions, "one", "other", evidence_of(drawn), generator=np.random.default_rng(0), resamples=200
    )
    assert found.different == pytest.approx(0.25)
    assert found.gains["A"].value == pytest.approx(0.25 * (drawn[0, 1] - drawn[0, 0]).mean())


def test_a_stakeholder_without_weight_is_left_out(drawn):
    evidence = evidence_of(drawn)
    stakeholders = [
        each.model_copy(update={"weight": 0.0 if each.name == "C" else 1.0}) for each in evidence.problem.stakeholders
    ]
    problem = evidence.problem.replace(stakeholders=tuple(stakeholders))
    known = Evidence(problem=problem, log=evidence.log, rewards=drawn, expected=evidence.expected)
    decisions = {"one": codes("one", np.ones(200)), "other": codes("other", np.zeros(200))}
    found = stakeholder_gains(decisions, "one", "other", known, generator=np.random.default_rng(0), resamples=200)
    assert set(found.gains) == {"A", "B"}


def test_what_the_log_hardly_holds_widens_gains_by_what_could_have_followed():
    """In 5 of 200 rows nobody took what one strategy takes: 0.9 of A could have been 0 there, or 1; turned round too."""
    n, rare = 200, 5
    generator = np.random.default_rng(5)
    rewards = generator.uniform(0.3, 0.6, (3, 2, n))
    rewards[:, :, :rare] = np.array([0.9, 0.5, 0.2])[:, None, None]
    taken = np.where(np.arange(n) < rare, 0, np.arange(n) % 2)

    def gains(propensity, one):
        """Gains where the log took the action of some rows with a propensity."""
        chances = np.full((2, n), 0.5)
        chances[:, :rare] = [[1 - propensity], [propensity]]
        known = {
            "propensities": chances,
            "estimated": np.ones(3, dtype=bool),
            "observed_rewards": rewards[:, taken, np.arange(n)],
        }
        pair = {"one": codes("one", np.full(n, one)), "other": codes("other", np.full(n, 1 - one))}
        given = {"generator": np.random.default_rng(0), "resamples": 50}
        return stakeholder_gains(pair, "one", "other", evidence_of(rewards, taken, **known), **given).gains

    for one in (0, 1):
        usual, hardly = gains(0.5, one), gains(0.001, one)
        for name, reward in zip(NAMES, (0.9, 0.5, 0.2), strict=True):
            below, above = rare * reward / n, rare * (1 - reward) / n
            down, up = (below, above) if one else (above, below)
            assert usual[name].low - hardly[name].low == pytest.approx(down)
            assert hardly[name].high - usual[name].high == pytest.approx(up)


@pytest.mark.long
def test_joint_intervals_hold_all_differences_at_once():
    """In 400 worlds all three intervals hold the true differences at once in about 95 % (at least 91.5 %)."""
    shift, held = np.array([0.1, -0.1, 0.0])[:, None], 0

    def after(before, generator):
        """What the other action gives."""
        return np.clip(before * 0.8 + 0.1 + shift + generator.normal(0, 0.02, before.shape), 0, 1)

    generator = np.random.default_rng(400)
    many = generator.beta(2, 2, (3, 2_000_000))
    true = (after(many, generator) - many).mean(axis=1)
    for seed in range(400):
        generator = np.random.default_rng(seed)
        rewards = generator.beta(2, 2, (3, 2, 150))
        rewards[:, 1] = after(rewards[:, 0], generator)
        found = compared(rewards, np.ones(150), np.zeros(150), generator=generator, resamples=300)
        held += all(
            found.gains[name].low <= each <= found.gains[name].high for name, each in zip(NAMES, true, strict=True)
        )
    assert held >= 366
