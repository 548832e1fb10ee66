"""One test per known pitfall of the published code at commit f15b820, in its numbering; each fails on the wrong behaviour."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from accordant import metrics, strategies
from accordant.cases.health.rewards import health_rewards
from accordant.cases.lending.rewards import ACTIONS, OUTCOMES, lending_rewards
from accordant.cases.loaders import CaseData
from accordant.cases.files import read_case
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError, NotFittedError, SpecError
from accordant.evaluation.composite import composite_score
from accordant.evidence import Evidence
from accordant.learning.augmentation import augmented_queries, clipping_warnings, elicit
from accordant.learning.encoding import ContextEncoder
from accordant.learning.residuals import residual_nodes
from accordant.learning.tuning import Search
from accordant.policy import ParticipatoryPolicy
from accordant.runs.execution import RunOptions, split, subset
from accordant.utilities import ExpectedRewards


def granted_loans(n=60, seed=0):
    """Loans of the published case: all granted, most of 10,000 dollars and more."""
    generator = np.random.default_rng(seed)
    columns = {
        "Income": generator.uniform(20_000, 90_000, n),
        "Loan_Amount": generator.uniform(1000, 35_000, n),
        "Interest_Rate": generator.uniform(0.06, 0.28, n),
        "Applicant_Type": generator.integers(0, 2, n).astype(float),
    }
    return Log(Contexts(columns), np.zeros(n, dtype=int), generator.choice(3, n, p=(0.75, 0.05, 0.2)))


@pytest.fixture(scope="module")
def lending():
    return read_case("lending")[0].problem


@pytest.fixture(scope="module")
def health():
    return read_case("health")[0].problem


def evidence(problem, columns, outcomes, **given):
    n = len(outcomes)
    shape = (len(problem.stakeholders), len(problem.actions), n)
    dummy = ExpectedRewards(np.full(shape, 0.5), stakeholders=problem.stakeholder_names, actions=problem.actions)
    log = Log(Contexts(columns), np.zeros(n, dtype=int), np.asarray(outcomes))
    return Evidence(problem, log, dummy, np.full(shape, 0.5), **given)


def decided(problem, codes):
    return Decisions("hand", problem.actions, np.asarray(codes), np.zeros(len(codes), dtype=bool))


def test_01_rewards_of_unobserved_actions_use_dollars(lending):
    log, generator = granted_loans(), np.random.default_rng(1)
    queries = augmented_queries(log, lending, "actions", generator)
    signal = lending_rewards(noise=0.05)["Bank"]
    answers = elicit(signal, log.contexts, queries, lending, generator)
    scaled = Contexts({**log.contexts, "Loan_Amount": (log.contexts["Loan_Amount"] - 18_000) / 9000})
    for action in range(3):
        chosen = queries.actions == action
        right = elicit(signal, log.contexts, queries, lending, None)[chosen]
        wrong = elicit(signal, scaled, queries, lending, None)[chosen]
        assert np.abs(answers[chosen] - right).max() <= 0.05 + 1e-12
        assert np.abs(answers[chosen] - wrong).mean() > 0.1  # the z-score would show


def test_02_unfitted_health_rewards_are_an_error(health):
    log = Log(Contexts({"x23": [0.0, 1.0, 0.0, 1.0]}), np.array([0, 0, 1, 1]), np.array([3.3, 9.3, 0.0, 11.3]))
    signal = health_rewards(noise=0.0)["Policy_Maker"]
    with pytest.raises(NotFittedError):
        signal(log.contexts, "A", 5.0)
    fitted = signal.fit(log, health)
    assert fitted(log.contexts, "A", 5.0)[0] < 0.3  # the constants of the unfitted object gave 1
    queries = augmented_queries(log, health, "actions", np.random.default_rng(0))
    answers = elicit(fitted, log.contexts, queries, health, None).reshape(2, 4)
    for action, name in enumerate("AC"):  # observed or added: the same formula
        assert np.array_equal(answers[action], fitted(log.contexts, name, log.outcomes))


def test_03_applicant_rewards_keep_the_order_of_the_table_at_every_loan_size(lending):
    log = granted_loans(100)
    for variant, monotone in (("corrected", True), ("published", False)):
        signal = lending_rewards(variant=variant, noise=0.0)["Applicant"]
        best, worst = (
            signal(log.contexts, *cell) for cell in (("Grant", "Fully_Repaid"), ("Not_Grant", "Fully_Repaid"))
        )
        assert bool((best > worst).all()) == monotone
        queries = augmented_queries(log, lending, "actions", np.random.default_rng(0))
        assert bool(clipping_warnings("Applicant", signal, log.contexts, queries, lending)) == (not monotone)


@pytest.mark.long
def test_04_ties_are_decided_by_the_declared_order_and_reported():
    disagree = ExpectedRewards([[0.9, 0.2], [0.3, 0.8]], stakeholders=["a", "b"], actions=["A", "C"])
    found = strategies.create("kalai_smorodinsky", {"disagreement": "context"})(disagree)
    assert found.tied.all()
    script = (
        "from accordant import strategies as s; from accordant.utilities import ExpectedRewards as E\n"
        "e = E([[0.9, 0.2], [0.2, 0.9]], stakeholders=['a', 'b'], actions=['A', 'C'])\n"
        "print([s.create(n)(e).actions.tolist() for n in s.names() if n in "
        "('kalai_smorodinsky', 'nash_bargaining', 'maximin', 'utilitarian', 'nash_social_welfare')])"
    )
    outputs = set()
    for seed in ("0", "1", "2", "3", "4"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        outputs.add(
            subprocess.run(
                [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
            ).stdout
        )
    assert outputs == {str([["A"]] * 5) + "\n"}


def test_05_more_rows_than_there_are_is_an_error_and_subsets_are_mixed():
    outcomes = np.repeat([2, 0], [250, 750])  # sorted, as the published file nearly is
    data = CaseData(
        Log(Contexts({"x": np.arange(1000.0)}), np.zeros(1000, dtype=int), outcomes), "file", "", simulated=False
    )
    with pytest.raises(InputError, match="allowed: 1 to 1000"):
        subset(data, RunOptions(rows=3000))
    small, large = (subset(data, RunOptions(rows=rows)).log for rows in (300, 600))
    assert set(small.contexts["x"]) < set(large.contexts["x"])
    assert (small.outcomes == 2).mean() == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 300))


def test_05_the_test_rows_are_the_same_for_all_sizes():
    generator = np.random.default_rng(0)
    log = Log(Contexts({"x": np.arange(500.0)}), np.zeros(500, dtype=int), generator.integers(0, 2, 500))
    data = CaseData(log, "file", "", simulated=False)
    train, test = split(data, 0.2, 42)
    some = subset(train, RunOptions(seed=42, rows=100))
    assert len(some.log) == 100
    assert set(some.log.contexts["x"]) < set(train.log.contexts["x"])
    assert set(some.log.contexts["x"]).isdisjoint(test.log.contexts["x"])


def test_06_constants_are_in_the_table_and_mark_what_they_beat(granted):
    policy = granted.fitted(metrics={"selection_rate": 1.0})
    board = policy.leaderboard_
    assert {f"constant:{action}" for action in granted.problem.actions} <= {row.strategy for row in board}
    assert board["constant:Grant"].score.value == 1
    beaten = [row for row in board if row.score.value < 1 - 1e-9]
    assert beaten and all(row.below_best_constant for row in beaten)


@pytest.mark.long
def test_07_probabilities_match_the_base_rate(make_loans):
    """No resampling: the mean probability of every class is within three standard errors of its share."""
    world = make_loans(n=400, only="Grant")
    policy = world.fitted(outcome_model=RandomForestClassifier(30, min_samples_leaf=5, random_state=0))
    weights = policy.evidence_.prediction.weights[0]
    shares = np.bincount(policy.evidence_.log.outcomes, minlength=3) / 400
    assert np.abs(weights.sum(axis=0) - 1).max() < 1e-9
    assert (np.abs(weights.mean(axis=1) - shares) < 3 * np.sqrt(shares * (1 - shares) / 400)).all()
    assert shares.min() < 0.3  # balanced classes would be off by more than that


def test_08_continuous_outcomes_are_numbers_to_reward_models(visits_policy, visits):
    model = visits_policy.reward_models_[0]
    assert model.regressor.n_features_in_ == len(visits_policy.features_) + 2 + 1
    unseen = np.linspace(2.03, 9.03, 15)
    one = visits.contexts.take(slice(0, 1))
    nodes = np.broadcast_to(unseen[:, None], (2, 15, 1))
    q = model.predict(one, nodes)[0, 0, :, 0]
    assert np.abs(q - unseen / 12).max() < 0.08  # between its neighbours, not zeros of unknown categories
    assert q[-1] > q[0] + 0.3


def test_09_errors_are_elementwise():
    from accordant.evaluation import outcome_quality

    problem = read_case("health")[0].problem
    n, shift = 6, 1.5
    observed = np.arange(n) + 2.0
    given = evidence(problem, {"x23": np.zeros(n)}, observed)
    from accordant.predictions import OutcomePrediction

    means = np.stack([observed + shift, observed])
    prediction = OutcomePrediction(np.ones((2, 1, n)), means[:, None], True, means)
    from dataclasses import replace

    measures = outcome_quality.outcome_quality(replace(given, prediction=prediction), None)
    error = next(each for each in measures if "absolute" in each.name.lower())
    assert error.value == pytest.approx(shift)
    with pytest.raises(InputError, match="shape"):
        replace(given, outcome_levels=means[:, :, None])


def test_10_the_best_mean_is_chosen():
    losses = np.empty((2, 3, 3))
    losses[0], losses[1] = [[0, 9, 9]] * 3, 1.0
    losses[:, range(3), range(3)] = np.nan
    search = Search(({"p": "one fold's"}, {"p": "best mean"}), losses)
    assert search.best == {"p": "best mean"}


def test_11_strategies_are_scored_on_rows_that_chose_nothing_and_rewards_on_every_action(loans, loans_policy):
    cells = {(error.stakeholder, error.action, error.outcome) for error in loans_policy.learned_.reward_errors}
    assert len(cells) == 2 * 3 * 3 and all(error.n > 0 for error in loans_policy.learned_.reward_errors)
    assert not np.allclose(loans_policy.evidence_.expected.values, loans_policy.expected_rewards(loans.columns).values)


def test_12_the_composite_is_the_papers():
    raw = np.array([[0.9, 0.30, 0.20], [0.8, -0.10, 0.10], [0.6, 0.05, 0.15]])
    found = composite_score(
        raw,
        goals=["max", "zero", "min"],
        weights=[0.5, 0.3, 0.2],
        candidates=np.ones(3, dtype=bool),
        normalisation="relative",
        accuracy=np.array([True, False, False]),
    )
    assert found.scores == pytest.approx([0.5, 0.773333, 0.4], abs=1e-6)


def test_13_the_oracle_is_no_candidate_and_the_selected_strategy_decides(loans, loans_policy):
    assert not loans_policy.strategies_["oracle"].candidate
    assert loans_policy.selected_ != "oracle"
    single = {name: values[:1] for name, values in loans.columns.items()}
    assert loans_policy.recommend(single).decisions.strategy == loans_policy.selected_


def test_14_an_undefined_metric_never_wins(lending):
    """Nobody of one group is granted a loan: the gap is None, and such a line is not ranked."""
    given = evidence(lending, {"Applicant_Type": np.array([1.0, 1, 0, 0])}, [0, 0, 0, 2])
    gap = metrics.create("predictive_parity", {"attributes": ["Applicant_Type"], "protected": 1})
    result = gap.evaluate(decided(lending, [2, 2, 0, 0]), given)
    assert result.value is None and "n=0" in result.reason
    raw = np.array([[np.nan], [0.4]])
    found = composite_score(
        raw, goals=["zero"], weights=[1.0], candidates=np.ones(2, dtype=bool), normalisation="relative",
        accuracy=np.array([False]),
    )  # fmt: skip
    assert np.isnan(found.scores[0]) and not np.isnan(found.scores[1])


def test_15_every_cell_has_a_profit_or_a_loss(lending):
    """A loan that is not fully repaid costs something under either kind of grant; a repaid one earns."""
    for action, outcome in ((a, o) for a in range(2) for o in range(3)):
        columns = {"Loan_Amount": [1000.0], "Interest_Rate": [0.1], "Recoveries": [250.0 if outcome == 1 else 0.0]}
        given, choice = evidence(lending, columns, [outcome]), decided(lending, [action])
        profit, loss = (metrics.create(f"full_{kind}").evaluate(choice, given).value for kind in ("profit", "loss"))
        assert (profit > 0, loss > 0) == (outcome == 0, outcome != 0), (ACTIONS[action], OUTCOMES[outcome])


def test_16_parity_counts_every_favourable_action_or_its_benefit(lending):
    given = evidence(lending, {"Applicant_Type": np.array([1.0, 1, 0, 0])}, [0, 0, 0, 0])
    choice = decided(lending, [1, 1, 0, 0])  # the protected group only gets lower loans
    for actions, gap in ((("Grant",), -1.0), ((), 0.0), ({"Grant": 1.0, "Grant_lower": 0.5}, -0.5)):
        parameters = {"attributes": ["Applicant_Type"], "protected": 1, "actions": actions}
        result = metrics.create("demographic_parity", parameters).evaluate(choice, given)
        assert result.value == pytest.approx(gap)
        assert [group.n for group in result.by_group] == [2, 2]


def test_17_ignoring_the_action_is_declared_or_said(granted, loans_policy):
    policy = granted.fitted()
    assert any("assumed not to depend on the action" in line for line in policy.warnings_)
    assert not any("assumed not to depend" in line for line in loans_policy.warnings_)
    with pytest.raises(InputError, match="not identified"):
        problem = granted.problem.replace(outcome_depends_on_action=True)
        ParticipatoryPolicy(problem, outcome_model=LogisticRegression()).fit(
            granted.columns, **granted.data, rewards=granted.rewards
        )


def test_18_expected_rewards_integrate_and_regret_is_exact(health):
    residuals = np.random.default_rng(0).normal(size=4000)
    offsets, weights = residual_nodes(residuals, np.zeros(4000, dtype=int), 1, "empirical", 200)
    ramp = np.clip((2 + offsets[0] - 2) / 4, 0, 1)
    assert ramp @ weights == pytest.approx(0.0997, abs=0.004)  # the plug-in says 0
    given = evidence(
        health, {"x23": np.zeros(2)}, [5.0, 5.0],
        outcome_levels=np.array([[5.0, 5.0], [1.0, 1.0]]), true_levels=np.array([[4.0, 4.0], [6.0, 3.0]]),
    )  # fmt: skip
    treat = decided(health, [0, 0])
    assert metrics.create("outcome_regret", {"levels": "true"}).evaluate(treat, given).value == 1.0
    assert metrics.create("outcome_regret").evaluate(treat, given).value == 0.0


def test_19_matched_cost_effectiveness_ignores_baselines(health):
    baseline = np.arange(8.0)
    levels = np.stack([baseline + 2.0, baseline])
    given = evidence(health, {"x23": np.zeros(8)}, baseline, outcome_levels=levels)
    high = decided(health, [1, 1, 1, 1, 1, 1, 0, 0])
    assert metrics.create("matched_cost_effectiveness").evaluate(high, given).value == pytest.approx(2 / 90)
    assert metrics.create("cost_effectiveness").evaluate(high, given).value > 2.4 * 2 / 90


def test_20_thresholds_come_from_training_rows():
    """Whatever is learned about a column is the training median, and travels with the model."""
    train = Contexts({"score": [1.0, 2.0, np.nan, 9.0]})
    encoder = ContextEncoder.fit(train, ("score",))
    assert encoder.medians == {"score": 2.0}
    assert encoder(Contexts({"score": [np.nan, 100.0, 200.0]}))[0, 0] == 2.0
    text = read_case("health-published")[0].model_dump_json()
    assert "2.2235" not in text and "threshold_outcome" not in text


@pytest.mark.long
def test_21_same_seed_same_numbers_and_every_seed_counts(loans, loans_policy):
    again, other = loans.fitted(), loans.fitted(random_state=5)
    assert again.leaderboard_.to_json() == loans_policy.leaderboard_.to_json()
    assert other.leaderboard_.to_json() != loans_policy.leaderboard_.to_json()
    signal = lending_rewards(noise=0.05)["Bank"]
    log = granted_loans()
    np.random.seed(0)
    first = signal.elicit(log.contexts, "Grant", "Not_Repaid", np.random.default_rng(1))
    np.random.seed(1)
    assert np.array_equal(first, signal.elicit(log.contexts, "Grant", "Not_Repaid", np.random.default_rng(1)))


def test_22_a_row_alone_is_encoded_as_in_the_batch():
    """Values inside [0, 1] in one row and outside in the batch must not change what happens to a column."""
    generator = np.random.default_rng(0)
    contexts = Contexts({"a": generator.normal(size=50), "b": generator.random(50), "c": generator.normal(9, 1, 50)})
    encoder = ContextEncoder.fit(contexts, ("a", "b", "c"))
    batch = encoder(contexts)
    for t in range(50):
        assert np.array_equal(encoder(contexts.take(slice(t, t + 1)))[0], batch[t])


@pytest.mark.long
def test_23_reward_ranges_come_from_training_rows_only(visits):
    problem = visits.problem.replace(stakeholders=["Parent"])
    signal = health_rewards(noise=0.0)["Parent"]
    columns = visits.columns | {"x23": visits.columns["sex"]}
    policy = ParticipatoryPolicy(
        problem, outcome_model=visits.policy().outcome_model, reward_model="stated", folds=3, resamples=100
    ).fit(columns, actions=visits.actions, outcomes=visits.outcomes, rewards={"Parent": signal})
    before = policy.signals_["Parent"]
    policy.evaluate(columns, actions=visits.actions, outcomes=visits.outcomes + 100)
    assert policy.signals_["Parent"] is before
    assert max(high for _, high in before.ranges.values()) == visits.outcomes.max()
    assert signal.ranges == {}  # what was given stays unfitted


def test_24_the_set_of_rules_is_complete_and_stays_inside_the_actions():
    rules = (
        "utilitarian",
        "maximin",
        "nash_social_welfare",
        "nash_bargaining",
        "kalai_smorodinsky",
        "compromise_programming",
    )
    assert set(rules) <= set(strategies.names())
    assert "proportional_fairness" in strategies.strategies.aliases("nash_social_welfare")
    flat = ExpectedRewards(np.full((3, 2, 4), 0.5), stakeholders=list("abc"), actions=["left", "right"])
    for rule in rules:
        found = strategies.create(rule)(flat)
        assert set(found.actions) <= {"left", "right"} and found.tied.all()


def test_25_lines_are_joined_by_name_never_by_position(loans, loans_policy):
    """The same strategy may stand in different rows of two leaderboards; its name finds it."""
    nobody_repays = np.full(len(loans.actions), "None")
    other = loans_policy.evaluate(loans.columns, actions=loans.actions, outcomes=nobody_repays)
    first = [row.strategy for row in loans_policy.leaderboard_]
    second = [row.strategy for row in other]
    assert first != second and sorted(first) == sorted(second)
    for row in loans_policy.leaderboard_:
        assert other[row.strategy].strategy == row.strategy
    assert loans_policy.leaderboard_.level == 0.95  # what an interval is, is part of the table


@pytest.mark.long
def test_26_nothing_warns(make_loans):
    world = make_loans(n=60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = pd.DataFrame(world.columns)
        before = frame.copy()
        world.policy(reward_model=DecisionTreeRegressor(max_depth=2)).fit(frame, **world.data, rewards=world.rewards)
    assert caught == []
    assert frame.equals(before)  # and what was given is not written into


@pytest.mark.long
@pytest.mark.parametrize("key", ["random_sate", "alpha", "seeed"])
def test_27_configuration_that_would_not_be_used_is_an_error(tmp_path, key):
    import yaml

    declared = read_case("lending")[0].model_dump(mode="json")
    for place in (declared, declared["learning"], declared["rewards"], declared["data"], declared["evaluation"]):
        place[key] = 42
        path = tmp_path / "case.yaml"
        path.write_text(yaml.safe_dump(declared))
        with pytest.raises(SpecError, match=key):
            read_case(path)
        del place[key]
