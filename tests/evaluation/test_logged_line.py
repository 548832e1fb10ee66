"""Decisions that follow the log are judged by what was observed; all others as before."""

from __future__ import annotations

import dataclasses
import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import metrics
from accordant.certificates.bounds import bounds, composite_bounds, honest_scales, live_composite, ranking
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation import evaluate, group_table
from accordant.evaluation.bootstrap import Statistics, bootstrap_metrics
from accordant.evaluation.batch_evidence import gather_evidence
from accordant.evaluation.intervals import Support
from accordant.evidence import Evidence
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import FunctionReward, ObservedReward, TableReward
from accordant.strategies import create
from accordant.utilities import ExpectedRewards

ACTIONS, OUTCOMES = ("a", "b", "c"), ("Good", "Bad")
TABLES = {
    "Student": {"a": {"Good": 1.0, "Bad": 0.1}, "b": {"Good": 0.8, "Bad": 0.3}, "c": {"Good": 0.6, "Bad": 0.2}},
    "Teacher": {"a": {"Good": 0.4, "Bad": 0.0}, "b": {"Good": 0.9, "Bad": 0.5}, "c": {"Good": 0.7, "Bad": 0.1}},
}
WHO = tuple(TABLES)
OF_REWARDS = {
    "mean": metrics.create("mean_reward"),
    "weighted": metrics.create("mean_reward", {"weights": (3.0, 1.0)}),
    "min": metrics.create("min_reward"),
    "nash": metrics.create("nash_welfare"),
    "gini": metrics.create("gini_reward"),
    "student": metrics.create("stakeholder_reward", {"stakeholder": "Student"}),
    "sum": metrics.create("stakeholder_reward", {"stakeholder": "Teacher", "total": True}),
    "gap": metrics.create("reward_gap", {"stakeholder": "Student", "attribute": "sex", "protected": "f"}),
}


def columns(generator, n):
    """A number and a group that occurs on both sides."""
    sexes = np.array(["f", "m"])[generator.integers(0, 2, n)]
    sexes[:2] = "f", "m"
    return Contexts({"x": generator.normal(size=n), "sex": sexes})


def discrete(seed, n=40, signals=None, aware=True):
    """Evidence with discrete outcomes, with predictions and propensities that have nothing to do with the log."""
    generator = np.random.default_rng(seed)
    problem = DecisionProblem(
        stakeholders=WHO, actions=ACTIONS, outcomes=OUTCOMES, sensitive_attributes=["sex"], favourable_actions=["a"]
    )
    observed = {"Student": generator.random(n)} if signals else {}
    log = Log(columns(generator, n), generator.integers(0, 3, n), generator.integers(0, 2, n), observed)
    expected = ExpectedRewards(generator.random((2, 3, n)), stakeholders=WHO, actions=ACTIONS)
    chances = generator.random((3, 1, n))
    prediction = OutcomePrediction(np.concatenate([chances, 1 - chances], axis=1), None, depends_on_action=aware)
    propensities = generator.dirichlet(np.ones(3), n).T
    signals = signals or {name: TableReward(table) for name, table in TABLES.items()}
    return gather_evidence(problem, log, signals, expected, prediction, propensities=propensities)


def numeric(seed, n=60):
    """Evidence with a continuous outcome."""
    generator = np.random.default_rng(seed)
    problem = DecisionProblem(
        stakeholders=WHO, actions=ACTIONS, outcomes={"name": "grade"}, sensitive_attributes=["sex"]
    )
    log = Log(columns(generator, n), generator.integers(0, 3, n), generator.normal(10, 3, n))
    expected = ExpectedRewards(generator.random((2, 3, n)), stakeholders=WHO, actions=ACTIONS)
    means = generator.normal(10, 2, (3, n))
    prediction = OutcomePrediction(np.ones((3, 1, n)), means[:, None], depends_on_action=True, means=means)
    signals = {name: FunctionReward(lambda x, action, outcome: 1 / (1 + np.exp(-outcome / 10))) for name in WHO}
    propensities = generator.dirichlet(np.ones(3), n).T
    return gather_evidence(problem, log, signals, expected, prediction, propensities=propensities)


def logged(evidence):
    return create("logged")(evidence.expected, log=evidence.log)


def happens_to_agree(evidence):
    """The same actions from a rule that read contexts alone."""
    return Decisions("agrees", ACTIONS, evidence.log.actions, np.zeros(evidence.n_contexts, dtype=bool))


def means_by_hand(evidence):
    """Observed rewards by stakeholder, read off the tables one by one."""
    return {
        name: [
            TABLES[name][ACTIONS[a]][OUTCOMES[int(o)]]
            for a, o in zip(evidence.log.actions, evidence.log.outcomes, strict=True)
        ]
        for name in WHO
    }


def twin(evidence):
    """Every metric of rewards from observed rewards, in plain Python."""
    n, rewards = evidence.n_contexts, means_by_hand(evidence)
    student, teacher = (math.fsum(rewards[name]) / n for name in WHO)
    sexes = evidence.log.contexts["sex"]
    groups = {sex: [r for r, s in zip(rewards["Student"], sexes, strict=True) if s == sex] for sex in ("f", "m")}
    return {
        "mean": (student + teacher) / 2,
        "weighted": (3 * student + teacher) / 4,
        "min": min(student, teacher),
        "nash": math.sqrt(student * teacher),
        "gini": abs(student - teacher) / (2 * (student + teacher)),
        "student": student,
        "sum": teacher * n,
        "gap": math.fsum(groups["f"]) / len(groups["f"]) - math.fsum(groups["m"]) / len(groups["m"]),
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30))
def test_every_metric_of_rewards_is_that_of_observed_rewards(seed, n):
    evidence = discrete(seed, n)
    wanted = twin(evidence)
    for label, metric in OF_REWARDS.items():
        assert metric.evaluate(logged(evidence), evidence).value == pytest.approx(wanted[label], rel=1e-12, abs=1e-12)


def test_all_metrics_that_read_rewards_are_tried():
    """A metric that is registered later and reads rewards must be added above."""

    tried = {metric.name for metric in OF_REWARDS.values()}
    evidence = discrete(0)
    blank = dataclasses.replace(evidence, rewards=np.zeros_like(evidence.rewards) + 0.5, observed_rewards=None)
    given = {"stakeholder": "Student", "attribute": "sex", "protected": "f", "attributes": ("sex",), "action": "a"}
    given |= {"group": "f"}
    reads = set()
    for name in metrics.names():
        accepted = inspect.signature(metrics.metrics.factory(name)).parameters
        parameters = {key: each for key, each in given.items() if key in accepted}
        metric = metrics.create(name, parameters)
        if name != "table_payoff" and metric.unavailable(evidence) is None:  # it has tables of its own
            first, other = (metric.evaluate(happens_to_agree(evidence), each).value for each in (evidence, blank))
            if first != other:
                reads.add(name)
    assert reads == tried


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_outcomes_of_the_log_are_the_observed_ones(seed):
    evidence = numeric(seed)
    mean = math.fsum(evidence.log.outcomes) / evidence.n_contexts
    for levels in ("robust", "estimated"):
        metric = metrics.create("mean_outcome", {"levels": levels})
        assert metric.evaluate(logged(evidence), evidence).value == pytest.approx(mean, rel=1e-12)


def test_a_rule_that_happens_to_choose_what_was_logged_is_judged_as_all_rules():
    evidence = discrete(3)
    taken = evidence.rewards[:, evidence.log.actions, np.arange(evidence.n_contexts)]
    metric = OF_REWARDS["student"]
    found = metric.evaluate(happens_to_agree(evidence), evidence).value
    assert found == pytest.approx(taken[0].mean(), rel=1e-12)
    assert abs(found - metric.evaluate(logged(evidence), evidence).value) > 0.01


@pytest.mark.parametrize("make", [discrete, numeric])
def test_all_other_lines_keep_every_byte(make):
    """Leaderboard, intervals and groups with the observed values and without them differ in the logged line alone."""
    evidence = make(5)
    without = dataclasses.replace(evidence, observed_rewards=None)
    lines = {
        label: create(label)(evidence.expected, log=evidence.log) for label in ("utilitarian", "maximin", "logged")
    }
    lines |= {f"constant:{a}": create("constant", {"action": a})(evidence.expected) for a in ACTIONS}
    lines |= {"random": create("random")(evidence.expected), "agrees": happens_to_agree(evidence)}
    candidates = [name for name in lines if name not in ("logged", "random", "agrees")]
    chosen = {
        label: (each, 0.25 if label in ("mean", "min", "nash", "gap") else 0.0) for label, each in OF_REWARDS.items()
    }
    boards = [
        {
            row["strategy"]: row
            for row in evaluate(
                lines, dict.fromkeys(lines, "compromise"), each, chosen,
                candidates=candidates, generator=np.random.default_rng(1), resamples=60,
            ).to_json()
        }
        for each in (evidence, without)
    ]  # fmt: skip
    tables = [
        {(row.strategy, row.group): row for row in group_table(lines, each, ["sex"]).rows}
        for each in (evidence, without)
    ]
    for name in lines:
        assert (boards[0][name] == boards[1][name]) == (name != "logged")
        assert all((tables[0][name, sex] == tables[1][name, sex]) == (name != "logged") for sex in ("f", "m"))


def test_groups_of_the_log_have_their_observed_means():
    evidence = discrete(8)
    rewards, sexes = means_by_hand(evidence), evidence.log.contexts["sex"]
    for row in group_table({"logged": logged(evidence)}, evidence, ["sex"]).rows:
        for name in WHO:
            members = [r for r, sex in zip(rewards[name], sexes, strict=True) if sex == row.group]
            assert row.mean_rewards[name] == pytest.approx(math.fsum(members) / len(members), rel=1e-12)


def test_intervals_of_the_log_are_those_of_observed_rewards():
    """The same draws on evidence that holds what was observed and nothing else."""
    evidence = discrete(2, 50)
    seen = np.zeros_like(evidence.rewards)
    seen[:, evidence.log.actions, np.arange(50)] = np.array(list(means_by_hand(evidence).values()))
    plain = Evidence(evidence.problem, evidence.log, evidence.expected, seen)
    drawn = [
        bootstrap_metrics(
            {"logged": logged(evidence)}, each, OF_REWARDS, resamples=40, generator=np.random.default_rng(0)
        ).values
        for each in (evidence, plain)
    ]
    assert np.array_equal(*drawn)


def test_the_value_of_the_behaviour_is_unbiased_and_far_less_noisy_than_with_weights():
    """Truth known: choices by 1 / (1 + exp(−2x)), reward 0.4 + 0.3 [a = 1] + 0.05 x, predictions too low by 0.2."""
    generator, sides = np.random.default_rng(0), 400
    truth = 0.4 + 0.3 / 2  # x lies around 0 alike, so half of the choices are action 1
    problem = DecisionProblem(stakeholders=["i"], actions=["0", "1"], outcomes=["seen"], outcome_depends_on_action=True)
    metric, found, before = metrics.create("mean_reward"), [], []
    for _ in range(sides):
        x = generator.uniform(-2, 2, 200)
        chance = 1 / (1 + np.exp(-2 * x))
        actions = (generator.random(200) < chance).astype(np.intp)
        reward = 0.4 + 0.3 * actions + 0.05 * x + generator.uniform(-0.1, 0.1, 200)
        values = np.stack([0.2 + 0.05 * x, 0.5 + 0.05 * x])[None]
        log = Log(Contexts({"x": x}), actions, np.zeros(200, dtype=np.intp), {"i": reward})
        evidence = gather_evidence(
            problem, log, {"i": ObservedReward("r")}, ExpectedRewards(values, stakeholders=["i"], actions=["0", "1"]),
            OutcomePrediction(np.ones((2, 1, 200)), None, depends_on_action=True),
            propensities=np.stack([1 - chance, chance]),
        )  # fmt: skip
        found.append(metric.evaluate(logged(evidence), evidence).value)
        agrees = Decisions("agrees", ("0", "1"), actions, np.zeros(200, dtype=bool))
        before.append(metric.evaluate(agrees, evidence).value)
    assert abs(np.mean(found) - truth) < 4 * np.std(found) / math.sqrt(sides)
    assert abs(np.mean(before) - truth) > 0.1  # each of two actions adds its error of 0.2, and one is taken off
    assert np.var(before) > 3 * np.var(found)


def test_a_single_recorded_reward_is_observed_where_outcomes_depend_on_nothing():
    signals = {"Student": ObservedReward("Student"), "Teacher": TableReward(TABLES["Teacher"])}
    evidence = discrete(4, signals=signals, aware=False)
    found = OF_REWARDS["student"].evaluate(logged(evidence), evidence).value
    assert found == pytest.approx(math.fsum(evidence.log.rewards["Student"]) / 40, rel=1e-12)
    assert not evidence.hindsight and evidence.observed_rewards is not None


def test_a_stakeholder_whose_rewards_are_known_is_spared_what_estimates_need():
    """Only the recorded reward is widened where the log supports nothing; the other is known for every action."""
    signals = {"Student": ObservedReward("Student"), "Teacher": TableReward(TABLES["Teacher"])}
    evidence = discrete(4, signals=signals, aware=False)
    assert evidence.estimated.tolist() == [True, False]
    teacher, student = (metrics.create("stakeholder_reward", {"stakeholder": name}) for name in ("Teacher", "Student"))
    decided = Decisions("rare", ACTIONS, np.zeros(40, dtype=np.intp), np.zeros(40, dtype=bool))
    rare = dataclasses.replace(evidence, propensities=np.tile([[1e-6], [0.5], [0.5]], 40))
    lines = Statistics.of({"rare": decided}, rare, {"teacher": teacher, "student": student})
    results = [{"teacher": teacher.evaluate(decided, rare), "student": student.evaluate(decided, rare)}]
    support = Support.of(lines, results)
    assert support.estimated.tolist() == [False, True]
    assert support.down[0, 0] == support.up[0, 0] == 0 < max(support.down[0, 1], support.up[0, 1])
    plain = dataclasses.replace(evidence, propensities=None)
    assert not teacher.withheld(plain)
    assert student.withheld(plain)
    regret = metrics.create("stakeholder_regret", {"stakeholder": "Teacher"})
    lost = evidence.rewards[1].max(axis=0) - evidence.rewards[1, 0]
    assert regret.evaluate(decided, evidence).value == pytest.approx(lost.mean())
    with pytest.raises(InputError, match="the best action is not known"):
        metrics.create("stakeholder_regret", {"stakeholder": "Student"}).evaluate(decided, evidence)


def test_nothing_changes_where_nothing_is_estimated():
    evidence = discrete(4, aware=False)
    assert evidence.hindsight and evidence.observed_rewards is None and evidence.as_observed() is evidence
    assert evidence.for_decisions(logged(evidence)) is evidence


def test_regrets_are_refused_where_the_best_action_was_never_observed():
    """They were 0 by definition for the rule that follows the model, and negative for others."""
    evidence = discrete(0)
    for name in ("welfare_regret", "stakeholder_regret"):
        with pytest.raises(InputError, match="the best action is not known"):
            metrics.create(name, {"stakeholder": "Teacher"} if "stake" in name else {}).evaluate(
                logged(evidence), evidence
            )
    with pytest.raises(InputError, match="too large"):
        metrics.create("outcome_regret", {"levels": "robust"}).evaluate(logged(numeric(0)), numeric(0))
    known = dataclasses.replace(evidence, estimated=None, rewards=np.random.default_rng(0).random((2, 3, 40)))
    for rule in ("utilitarian", "maximin"):
        decided = create(rule)(known.expected)
        together = known.rewards.mean(axis=0)
        lost = together.max(axis=0) - together[decided.codes, np.arange(40)]
        assert metrics.create("welfare_regret").evaluate(decided, known).value == pytest.approx(lost.mean())


def test_evidence_as_observed_keeps_its_estimates():
    evidence = numeric(1)
    before = evidence.rewards.copy(), evidence.robust_levels.copy()
    seen, rows = evidence.as_observed(), np.arange(evidence.n_contexts)
    assert np.array_equal(evidence.rewards, before[0]) and np.array_equal(evidence.robust_levels, before[1])
    assert np.array_equal(seen.robust_levels[evidence.log.actions, rows], evidence.log.outcomes)
    others = np.arange(3)[:, None] != evidence.log.actions
    assert np.array_equal(seen.rewards[:, others], evidence.rewards[:, others])
    assert evidence.for_decisions(happens_to_agree(evidence)) is evidence


@pytest.mark.parametrize("policy", [None, np.full((3, 40), 1 / 3)])
def test_decisions_that_say_they_follow_the_log_must_do_so(policy):
    evidence = discrete(0)
    codes = evidence.log.actions if policy is not None else (evidence.log.actions + 1) % 3
    wrong = Decisions("wrong", ACTIONS, codes, np.zeros(40, dtype=bool), policy=policy, follows_log=True)
    with pytest.raises(InputError, match="'wrong' say that they follow the log"):
        OF_REWARDS["mean"].evaluate(wrong, evidence)
    with pytest.raises(InputError, match="follow the log"):
        group_table({"wrong": wrong}, evidence, ["sex"])


def test_observed_rewards_of_another_shape_are_refused():
    evidence = discrete(0)
    with pytest.raises(InputError, match=r"observed rewards have shape \(1, 40\).*\(2, 40\)"):
        dataclasses.replace(evidence, observed_rewards=np.zeros((1, 40)))


def test_bounds_and_rankings_read_what_was_observed():
    evidence, line = discrete(6), create("logged")
    wanted = twin(evidence)
    for label in ("mean", "min", "nash", "gini", "gap"):
        low, high, status = bounds(line, evidence.expected, OF_REWARDS[label], delta=0.1, evidence=evidence)
        assert low == high == pytest.approx(wanted[label], abs=1e-9) and status == "exact"
    weights = {"mean": (OF_REWARDS["mean"], 0.5), "gap": (OF_REWARDS["gap"], 0.5)}
    rules = (create("utilitarian"), create("maximin"), line)
    scales = honest_scales(rules, evidence.expected, weights, evidence=evidence)
    values = [OF_REWARDS["mean"].evaluate(rule(evidence.expected, log=evidence.log), evidence).value for rule in rules]
    assert values[2] == pytest.approx(wanted["mean"], rel=1e-12)
    assert (scales["mean"].low, scales["mean"].high) == pytest.approx((min(values), max(values)))
    start, slope = zip(*(scales[label].line for label in ("mean", "gap")), strict=True)
    score = 0.5 * sum(a + b * v for a, b, v in zip(start, slope, (wanted["mean"], abs(wanted["gap"])), strict=True))
    held = composite_bounds(line, evidence.expected, weights, scales, delta=0.1, evidence=evidence)
    assert held.low == held.high == pytest.approx(score, abs=1e-9)
    for ranges in ("frozen", "live"):
        found = ranking(rules, evidence.expected, weights, delta=0.0, evidence=evidence, ranges=ranges)
        assert found.nominal[2] == pytest.approx(score, abs=1e-9)
    live = live_composite(rules, evidence.expected, weights, delta=0.0, evidence=evidence)
    assert live.low[2] == pytest.approx(score, abs=1e-9) and live.high[2] == pytest.approx(score, abs=1e-9)


def test_sums_on_some_contexts_are_those_of_these_contexts():
    evidence = discrete(9)
    statistics = Statistics.of({"logged": logged(evidence)}, evidence, OF_REWARDS)
    some = np.array([7, 1, 30])
    assert np.array_equal(statistics.rows(0, some), statistics.rows(0, np.arange(40))[some])
