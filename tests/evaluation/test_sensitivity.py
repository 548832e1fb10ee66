"""Sensitivity of welfare and of comparisons: equal to the leaderboard without hidden reasons, honest with them."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation import sensitivity
from accordant.evaluation.batch_evidence import gather_evidence
from accordant.evaluation.omitted_features import omitted_feature_odds_ratios
from accordant.learning.causal import TLearner
from accordant.learning.encoding import ContextEncoder
from accordant.policy import ParticipatoryPolicy
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import TableReward
from accordant.utilities import ExpectedRewards

PROBLEM = DecisionProblem(
    stakeholders=["Patient", {"name": "Payer", "weight": 2}],
    actions=["A", "B", "C"],
    outcomes=["well", "ill"],
    outcome_depends_on_action=True,
)
SIGNALS = {
    "Patient": TableReward({a: {"well": 1.0, "ill": 0.0} for a in "ABC"}),
    "Payer": TableReward({a: {"well": 0.8, "ill": 0.2} for a in "ABC"}),
}
WELFARE = np.array([(1.0 + 2 * 0.8) / 3, (0.0 + 2 * 0.2) / 3])  # of well, of ill


def evidence_of(chances, actions, outcomes, propensities):
    """Return evidence with f as given, chances of well of shape (action, context)."""
    n = len(actions)
    prediction = OutcomePrediction(np.stack([chances, 1 - chances], axis=1), None, depends_on_action=True)
    tables = np.array([[1.0, 0.0], [0.8, 0.2]])
    values = np.einsum("io,aot->iat", tables, prediction.weights)
    expected = ExpectedRewards(values, stakeholders=PROBLEM.stakeholder_names, actions=PROBLEM.actions)
    log = Log(Contexts({"x": np.arange(n, dtype=float)}), actions, outcomes)
    return gather_evidence(PROBLEM, log, SIGNALS, expected, prediction, propensities=propensities)


def decided(label, codes, *, follows_log=False):
    return Decisions(label, PROBLEM.actions, codes, np.zeros(len(codes), dtype=bool), follows_log=follows_log)


def random_evidence(generator, n=400):
    propensities = generator.dirichlet(np.full(3, 5.0), n).T
    actions = np.array([generator.choice(3, p=p) for p in propensities.T])
    return evidence_of(generator.random((3, n)), actions, generator.integers(0, 2, n), propensities)


def analysed(evidence, decisions, order, **options):
    n = evidence.n_contexts
    nodes = np.broadcast_to(WELFARE[None, :, None], (3, 2, n))
    given = {"generator": np.random.default_rng(0), "resamples": 200}
    return sensitivity(decisions, evidence, nodes, order=order, **(given | options))


@pytest.fixture(scope="module")
def world():
    generator = np.random.default_rng(5)
    evidence = random_evidence(generator)
    n = evidence.n_contexts
    first = generator.integers(0, 3, n)
    other = np.where(generator.random(n) < 0.3, (first + 1) % 3, first)
    decisions = {
        "first": decided("first", first),
        "twin": decided("twin", first),
        "other": decided("other", other),
        "logged": decided("logged", evidence.log.actions, follows_log=True),
    }
    return evidence, decisions, analysed(evidence, decisions, ["first", "twin", "other"])


def test_without_hidden_reasons_welfare_is_that_of_the_leaderboard(world):
    evidence, decisions, found = world
    metric = metrics.create("mean_reward")
    for each in found.rules:
        exact = metric.evaluate(decisions[each.strategy], evidence.for_decisions(decisions[each.strategy])).value
        assert each.welfare == pytest.approx(exact, abs=1e-12)
        assert each.intervals[0].low == pytest.approx(exact, abs=1e-12)
        assert each.intervals[0].high == pytest.approx(exact, abs=1e-12)


def test_what_followed_for_some_is_known_of_every_action_and_in_no_doubt():
    """Rewards of the payer are known whatever was done; doubt is about the patient, who has a third of the weight."""
    generator = np.random.default_rng(8)
    evidence = random_evidence(generator, n=60)
    rewards = evidence.rewards.copy()
    rewards[1] = generator.random((3, 60))
    observed = rewards[:, evidence.log.actions, np.arange(60)]
    observed[0] = evidence.observed_rewards[0]
    known = dataclasses.replace(evidence, rewards=rewards, estimated=np.array([True, False]), observed_rewards=observed)
    decisions = {
        "first": decided("first", generator.integers(0, 3, 60)), "other": decided("other", generator.integers(0, 3, 60)),
        "logged": decided("logged", evidence.log.actions, follows_log=True),
    }  # fmt: skip
    nodes = np.broadcast_to(np.array([1 / 3, 0.0])[None, :, None], (3, 2, 60))
    given = {"order": ["first", "other"], "generator": np.random.default_rng(0), "resamples": 20}
    found = sensitivity(decisions, known, nodes, **given)
    metric = metrics.create("mean_reward")
    for rule in found.rules:
        exact = metric.evaluate(decisions[rule.strategy], known.for_decisions(decisions[rule.strategy])).value
        assert (rule.welfare, rule.intervals[0].low) == pytest.approx((exact, exact), abs=1e-12)
    both = sensitivity(decisions, evidence, np.broadcast_to(WELFARE[None, :, None], (3, 2, 60)), **given)
    for one, two in zip(found.rules[:2], both.rules[:2], strict=True):
        assert one.intervals[-1].high - one.intervals[-1].low < two.intervals[-1].high - two.intervals[-1].low


def test_differences_are_those_of_the_welfare_of_both(world):
    welfare = {rule.strategy: rule.welfare for rule in world[2].rules}
    assert len(world[2].comparisons) == 2
    for pair in world[2].comparisons:
        assert pair.difference == pytest.approx(welfare[pair.strategy] - welfare[pair.other], abs=1e-12)
        one, other = (world[1][name].codes for name in (pair.strategy, pair.other))
        assert pair.different == pytest.approx((one != other).mean())


def test_intervals_widen_and_the_logged_decisions_have_none(world):
    for each in (*world[2].rules, *world[2].comparisons):
        widths = [at.high - at.low for at in each.intervals]
        assert all(after >= before for before, after in zip(widths, widths[1:], strict=False))
        assert all(at.lowest <= at.low <= at.high <= at.highest for at in each.intervals)
    assert world[2].rules[-1].intervals[-1].high == world[2].rules[-1].intervals[-1].low


def test_the_runner_up_decides_differently_and_what_both_do_alike_cancels(world):
    found = world[2]
    assert [(each.strategy, each.other, each.against) for each in found.comparisons] == [
        ("first", "other", "runner-up"),
        ("first", "logged", "logged"),
    ]
    rules = {each.strategy: each.intervals[2] for each in found.rules}
    compared = found.comparisons[0].intervals[2]
    apart = rules["first"].high - rules["other"].low - (rules["first"].low - rules["other"].high)
    assert compared.high - compared.low < 0.6 * apart  # they differ in three of ten contexts


def test_against_the_log_only_rewards_where_it_did_something_else_are_in_doubt():
    """A rule that always does what was done, with certainty, differs by nothing at any odds ratio."""
    generator = np.random.default_rng(1)
    n = 60
    actions = generator.integers(0, 3, n)
    sure = np.full((3, n), 1e-12)
    sure[actions, np.arange(n)] = 1.0
    evidence = evidence_of(generator.random((3, n)), actions, generator.integers(0, 2, n), sure)
    decisions = {"same": decided("same", actions), "logged": decided("logged", actions, follows_log=True)}
    (compared,) = analysed(evidence, decisions, ["same"]).comparisons
    # propensities are clipped at .02, so a little doubt is left
    assert max(abs(at.low) + abs(at.high) for at in compared.intervals) < 0.1
    assert compared.different == 0


def test_turning_points_are_where_bounds_reach_nothing(world):
    evidence, decisions, found = world
    for each in found.comparisons:
        if each.turning_point not in (None, 1.0):
            again = analysed(evidence, decisions, ["first", "other"], odds_ratios=(each.turning_point,))
            same = next(other for other in again.comparisons if other.against == each.against).intervals[0]
            assert min(abs(same.low), abs(same.high)) < 1e-7
    clear = evidence_of(
        np.repeat([[0.95], [0.05], [0.5]], 600, axis=1),
        np.arange(600) % 3,
        np.where(np.arange(600) % 3 == 0, 0, 1),
        np.full((3, 600), 1 / 3),
    )
    decisions = {"a": decided("a", np.zeros(600, dtype=int)), "b": decided("b", np.ones(600, dtype=int))}
    (compared,) = analysed(clear, decisions, ["a", "b"]).comparisons
    assert compared.turning_point_with_error > 3
    (mirrored,) = analysed(clear, decisions, ["b", "a"]).comparisons
    assert mirrored.difference == -compared.difference
    assert mirrored.turning_point == pytest.approx(compared.turning_point)


def test_the_sentence_says_which_rule_has_higher_welfare():
    """A made all well and B nobody: their welfare differs by (1 + 2 × 0.6) / 3."""
    n = 600
    evidence = evidence_of(
        np.repeat([[0.95], [0.05], [0.5]], n, axis=1),
        np.arange(n) % 3,
        np.where(np.arange(n) % 3 == 0, 0, 1),
        np.full((3, n), 1 / 3),
    )
    decisions = {"a": decided("a", np.zeros(n, dtype=int)), "b": decided("b", np.ones(n, dtype=int))}
    better, worse = (analysed(evidence, decisions, order).sentences()[0] for order in (["a", "b"], ["b", "a"]))
    assert better.startswith("a has higher welfare than b, next in the selection, by 0.733: ")
    assert worse.startswith("b has lower welfare than a, next in the selection, by 0.733: ")


def test_equal_rules_cannot_be_told_apart_and_the_sentence_says_so():
    generator = np.random.default_rng(3)
    evidence = evidence_of(
        np.full((3, 200), 0.5), generator.integers(0, 3, 200), generator.integers(0, 2, 200), np.full((3, 200), 1 / 3)
    )
    decisions = {"a": decided("a", np.zeros(200, dtype=int)), "b": decided("b", np.ones(200, dtype=int))}
    found = analysed(evidence, decisions, ["a", "b"], features={"income": 1.44})
    assert found.comparisons[0].turning_point_with_error == 1.0
    assert "cannot be told" in found.sentences()[0]
    assert (
        found.sentences()[-1] == "For scale: leaving out income, the strongest recorded column, would amount to 1.44."
    )
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["features"] == [
        {"column": "income", "odds_ratio": 1.44}
    ]


def test_it_is_refused_where_every_reward_is_known(loans_policy, granted):
    known = granted.fitted()
    with pytest.raises(InputError, match="known from what followed"):
        known.sensitivity()
    assert loans_policy.sensitivity().rules


# --- what leaving out a feature amounts to ---------------------------------------------------------------------


def test_features_that_decisions_followed_amount_to_more():
    generator = np.random.default_rng(0)
    n = 3000
    columns = {
        "strong": generator.normal(size=n),
        "weak": generator.choice(["u", "v"], n),
        "none": generator.normal(size=n),
    }
    index = 1.0 * columns["strong"] + 0.8 * (columns["weak"] == "u")
    actions = (generator.random(n) < 1 / (1 + np.exp(-index))).astype(np.intp)
    log = Log(Contexts(columns), actions, np.zeros(n))
    found = omitted_feature_odds_ratios(log, ContextEncoder.fit(log.contexts, tuple(columns)))
    assert list(found) == ["strong", "weak", "none"]
    assert found["strong"] == pytest.approx(np.exp(1.96), rel=0.3)
    assert 1.25 < found["weak"] < 1.8
    assert found["none"] < 1.25


def test_neither_the_unit_of_a_feature_nor_a_constant_one_matters():
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=(2, 200))
    actions = (generator.random(200) < 1 / (1 + np.exp(-x))).astype(np.intp)

    def factors(columns):
        log = Log(Contexts(columns), actions, np.zeros(200))
        return omitted_feature_odds_ratios(log, ContextEncoder.fit(log.contexts, tuple(columns)))

    plain = factors({"x": x, "y": y})
    assert factors({"x": 1e4 * x + 7e4, "y": 1e-4 * y}) == pytest.approx(plain, rel=1e-4)
    with_constant = factors({"x": x, "y": y, "one": np.full(200, 3.0)})
    assert with_constant == pytest.approx(plain | {"one": 1.0}, rel=1e-6)
    assert list(with_constant)[-1] == "one"


def test_without_the_only_feature_the_odds_are_those_of_the_shares():
    x = np.random.default_rng(2).normal(size=300)
    actions = (x + np.random.default_rng(3).normal(size=300) > 0.5).astype(np.intp)
    log = Log(Contexts({"x": x}), actions, np.zeros(300))
    found = omitted_feature_odds_ratios(log, ContextEncoder.fit(log.contexts, ("x",)))
    model = LogisticRegression(solver="newton-cholesky").fit(((x - x.mean()) / x.std())[:, None], actions)
    share = actions.mean()
    odds = model.decision_function(((x - x.mean()) / x.std())[:, None]) - np.log(share / (1 - share))
    assert found == {"x": pytest.approx(np.exp(np.quantile(np.abs(odds), 0.95)), rel=1e-6)}
    always = Log(Contexts({"x": x}), np.ones(300, dtype=np.intp), np.zeros(300))
    assert omitted_feature_odds_ratios(always, ContextEncoder.fit(always.contexts, ("x",))) == {}


# --- a hidden confounder, through a policy ---------------------------------------------------------------------


def clinic(seed, n=600, odds_ratio=2.0):
    """Return a log in which a hidden coin multiplies the odds of treatment, and outcomes follow the coin."""
    generator = np.random.default_rng(seed)
    x, hidden = generator.normal(size=n), generator.random(n) < 0.5
    # odds against those given x stay within the odds ratio: the coin moves them by its square root each way
    odds = np.exp(0.5 * x) * np.where(hidden, odds_ratio, 1 / odds_ratio) ** 0.8
    treated = generator.random(n) < odds / (1 + odds)
    level = 5 + x + 6.0 * hidden + treated
    outcomes = np.clip(level + generator.normal(size=n), 0, 20)
    return {"x": x}, np.where(treated, "A", "C"), outcomes, float(np.mean(np.clip(6 + x + 3.0, 0, 20)) / 20)


@pytest.mark.long
def test_intervals_at_the_true_strength_cover_and_those_without_do_not():
    problem = DecisionProblem(
        stakeholders=["Patient"], actions=["A", "C"], outcomes={"name": "score", "low": 0, "high": 20},
        outcome_depends_on_action=True,
    )  # fmt: skip
    rewards = {"Patient": lambda contexts, action, outcome: np.asarray(outcome) / 20}
    covered = np.zeros(2)
    for seed in range(8):
        columns, actions, outcomes, truth = clinic(seed)
        policy = ParticipatoryPolicy(
            problem, outcome_model=TLearner("ridge"), reward_model="stated", nodes=20, folds=3, resamples=200
        ).fit(columns, actions=actions, outcomes=outcomes, rewards=rewards)
        always = next(each for each in policy.sensitivity().rules if each.strategy == "constant:A")
        at = {each.odds_ratio: each for each in always.intervals}
        covered += [at[ratio].lowest <= truth <= at[ratio].highest for ratio in (1.0, 2.0)]
    assert covered[1] >= 7
    assert covered[0] <= 2
