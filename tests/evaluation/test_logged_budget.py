"""Where a favourable action leads by going to everybody, candidates are compared again under a budget."""

from dataclasses import replace

import numpy as np
import pytest

from accordant import strategies
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation.comparison import evaluate
from accordant.evaluation.logged_budget import LoggedBudget, decisions_within, logged_budget
from accordant.evidence import Evidence
from accordant.metrics import metrics
from accordant.problem import DecisionProblem
from accordant.strategies.constraints import Constrained
from accordant.utilities import ExpectedRewards

ACTIONS, N = ("Give", "Keep"), 200
LOGGED = {"Give": 0.3, "Keep": 0.7}


@pytest.fixture(scope="module")
def evidence():
    """Everybody likes what is given, by how much differs."""
    generator = np.random.default_rng(2)
    kept = generator.random((2, N)) * 0.5
    values = np.stack([kept + generator.random((2, N)) * 0.5, kept], axis=1)
    problem = DecisionProblem(stakeholders=["A", "B"], actions=ACTIONS, outcomes=["o"], favourable_actions=["Give"])
    log = Log(Contexts({"x": np.arange(N, dtype=float)}), np.zeros(N, dtype=np.intp), np.zeros(N, dtype=np.intp))
    expected = ExpectedRewards(values, stakeholders=("A", "B"), actions=ACTIONS)
    return Evidence(problem=problem, log=log, rewards=values, expected=expected)


def judged(evidence, decisions, kinds):
    weighted = {"Mean": (metrics.create("mean_reward"), 0.5), "Worst": (metrics.create("min_reward"), 0.5)}
    generator = np.random.default_rng(0)
    return evaluate(
        decisions, kinds, evidence, weighted, candidates=list(decisions), generator=generator, resamples=200
    )


def lines(evidence, *more):
    problem = evidence.problem
    rules = [strategies.create("constant", {"action": name}) for name in ACTIONS]
    rules += [strategies.create("utilitarian"), strategies.create("maximin"), *more]
    found = {rule.label: rule.for_problem(problem) for rule in rules}
    decisions = {
        label: rule(evidence.expected, log=evidence.log, contexts=evidence.log.contexts)
        for label, rule in found.items()
    }
    return found, decisions, judged(evidence, decisions, {label: rule.kind for label, rule in found.items()})


def test_under_the_share_of_the_log_those_who_gain_most_get_it(evidence):
    found, decisions, board = lines(evidence)
    budget = logged_budget(found, decisions, board, LOGGED, ("Give",))
    assert (budget.action, budget.share, budget.declared) == ("Give", 0.3, False)
    within = decisions_within(budget, found, decisions, evidence)
    assert set(within) == {"utilitarian", "maximin", "constant:Keep"}
    gain = (evidence.expected.values[:, 0] - evidence.expected.values[:, 1]).sum(axis=0)
    best = set(np.argsort(-gain)[: int(0.3 * N)].tolist())  # by brute force
    assert set(np.flatnonzero(within["utilitarian"].codes == 0).tolist()) == best
    limited = judged(evidence, within, {label: found[label].kind for label in within})
    sentence = budget.sentence(limited)
    assert (
        "nobody declared that it is scarce" in sentence
        and "Give for at most 30.0% of people, its share of the log" in sentence
    )
    assert f"{limited.rows[0].strategy} leads at" in sentence


@pytest.mark.parametrize(("share", "expected"), [(0.25, 0.25), (50, 0.25)])
def test_a_declared_limit_goes_before_that_of_the_log(evidence, share, expected):
    found, decisions, board = lines(evidence, Constrained(rule="maximin", budgets={"Give": share}))
    budget = logged_budget(found, decisions, board, LOGGED, ("Give",))
    assert (budget.share, budget.declared) == (expected, True)
    assert "beyond the limit of the case" in budget.sentence(board)
    assert "constrained" not in " ".join(decisions_within(budget, found, decisions, evidence)), "it is a whole batch"


def halved(evidence, selected_share):
    """Return lines of which `keep` leads and `half` takes what is scarce for a share of contexts."""
    count = round(selected_share * N)
    codes = {"keep": np.ones(N, dtype=np.intp), "half": (np.arange(N) >= count).astype(np.intp)}
    decisions = {label: Decisions(label, ACTIONS, each, np.zeros(N, dtype=bool)) for label, each in codes.items()}
    board = judged(evidence, decisions, dict.fromkeys(decisions, "compromise"))
    rows = tuple(sorted(board.rows, key=lambda row: row.strategy != "keep"))
    return {"limit": Constrained(rule="maximin", budgets={"Give": 0.25})}, decisions, replace(board, rows=rows)


def test_a_declared_limit_that_is_exceeded_for_some_is_said_of_who_leads_and_of_the_selected(evidence):
    rules, decisions, board = halved(evidence, 0.5)
    budget = logged_budget(rules, decisions, board, LOGGED, (), "half")
    assert budget == LoggedBudget("half", "Give", 0.25, declared=True, taken=0.5, leads=False)
    said = "half was selected and takes Give for 50.0% of people, beyond the limit of the case:"
    assert budget.sentence(board).startswith(said)
    leading = replace(board, rows=board.rows[::-1])
    assert (
        logged_budget(rules, decisions, leading, LOGGED, ())
        .sentence(board)
        .startswith("half leads by taking Give for 50.0%")
    )
    assert logged_budget(rules, decisions, board, LOGGED, (), "keep") is None


def test_a_declared_limit_that_is_reached_is_not_exceeded(evidence):
    rules, decisions, board = halved(evidence, 0.25)
    assert logged_budget(rules, decisions, board, LOGGED, ("Give",), "half") is None
    rules, decisions, board = halved(evidence, 0.255)
    assert logged_budget(rules, decisions, board, LOGGED, ("Give",), "half").taken == pytest.approx(0.255)


def test_nothing_is_said_where_nothing_is_wrong(evidence):
    found, decisions, board = lines(evidence)
    assert logged_budget(found, decisions, board, LOGGED, ("Keep",)) is None, "what leads is not favourable"
    assert logged_budget(found, decisions, board, {"Give": 0.995, "Keep": 0.005}, ("Give",)) is None, (
        "the log gives it to all"
    )
    assert logged_budget(found, decisions, board, {"Give": 0.0, "Keep": 1.0}, ("Give",)) is None, (
        "nobody knows what is enough"
    )
    codes = np.arange(N) % 2
    mixed = {"half": Decisions("half", ACTIONS, codes, np.zeros(N, dtype=bool))}
    half = judged(evidence, mixed, {"half": "compromise"})
    assert logged_budget({"half": found["utilitarian"]}, mixed, half, LOGGED, ("Give",)) is None, (
        "it decides case by case"
    )


def test_no_candidate_is_said_too(evidence):
    _, _, board = lines(evidence)
    nobody = replace(board, rows=())
    assert "no strategy is ranked" in LoggedBudget("constant:Give", "Give", 0.3, declared=False).sentence(nobody)
    assert logged_budget({}, {}, nobody, LOGGED, ("Give",)) is None
