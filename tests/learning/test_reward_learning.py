"""Reward models: stated or learned, alone or shared, and how far the learned ones are off."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from accordant import randomness
from accordant.errors import InputError
from accordant.learning.learned_warnings import omission_warnings
from accordant.learning.cross_fitting import LearningSettings, _reward_learners, learn
from accordant.learning.augmentation import RewardQueries
from accordant.learning.reward_learning import DEFAULT_GRID, RACE_GRID, RewardLearner
from accordant.learning.reward_models import LearnedReward, StatedReward, each_reward
from accordant.learning.tuning import Search
from accordant.predictions import OutcomePrediction
from accordant.rewards import FunctionReward, ObservedReward
from sklearn.linear_model import LogisticRegression


def learned(world, log=None, signals=None, **changes):
    settings = LearningSettings(
        **{
            "outcome_model": LogisticRegression(),
            "reward_model": DecisionTreeRegressor(random_state=0),
            "folds": 3,
            **changes,
        }
    )
    signals = signals or {name: FunctionReward(function) for name, function in world.rewards.items()}
    return learn(world.problem, log or world.log, signals, ("income", "amount", "region"), settings)


@pytest.mark.long
def test_learned_rewards_come_close_to_stated_ones(loans):
    contexts = loans.contexts
    stated = [StatedReward(n, FunctionReward(f), loans.problem) for n, f in loans.rewards.items()]
    exact, found = (dict(each_reward(models, contexts, None)) for models in (stated, learned(loans).reward_models))
    for name in loans.rewards:
        assert exact[name].shape == (3, 3, len(loans.actions))
        assert np.abs(found[name] - exact[name]).mean() < 0.02


def test_stated_rewards_of_continuous_outcomes_are_asked_at_every_node(visits):
    nodes = np.random.default_rng(0).uniform(0, 12, (2, 3, len(visits.actions)))
    model = StatedReward("Payer", FunctionReward(visits.rewards["Payer"]), visits.problem)
    found = model.predict(visits.contexts, nodes)
    for a, action in enumerate(("A", "C")):
        for k in range(3):
            assert np.array_equal(found[0, a, k], visits.rewards["Payer"](visits.contexts, action, nodes[a, k]))


@pytest.mark.long
def test_predictions_are_clipped_to_the_scale(loans):
    class Wild(DecisionTreeRegressor):
        def predict(self, X):
            return super().predict(X) * 10 - 4

    model = learned(loans, reward_model=Wild(random_state=0)).reward_models[0]
    values = model.predict(loans.contexts, None)
    assert values.min() == 0.0 and values.max() == 1.0


@pytest.mark.long
def test_the_order_of_models_does_not_matter(loans):
    models = learned(loans).reward_models
    first, second = (dict(each_reward(order, loans.contexts, None)) for order in (models, models[::-1]))
    assert list(first) == list(second)[::-1] == list(loans.rewards)
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.long
def test_errors_are_given_for_every_cell_with_counts(loans):
    errors = learned(loans, augmentation="actions").reward_errors
    counts = {outcome: int((loans.outcomes == outcome).sum()) for outcome in loans.problem.outcomes}
    assert {(e.stakeholder, e.action, e.outcome): e.n for e in errors} == {
        (name, action, outcome): counts[outcome]
        for name in loans.problem.stakeholder_names
        for action in loans.problem.actions
        for outcome in loans.problem.outcomes
    }
    assert all(0 <= e.mean_absolute_error < 0.2 for e in errors)


def test_errors_are_measured_on_held_out_rows(make_loans):
    """A reward that is pure chance cannot be predicted on rows that were not seen, however deep the tree."""
    world = make_loans(n=90)
    table = dict(zip(world.columns["income"], np.random.default_rng(0).random(90), strict=True))
    chance = FunctionReward(lambda contexts, action, outcome: np.array([table[x] for x in contexts["income"]]))
    result = learned(world, signals={"Bank": chance, "Applicant": FunctionReward(world.rewards["Applicant"])})
    bank = [e.mean_absolute_error for e in result.reward_errors if e.stakeholder == "Bank"]
    assert min(bank) > 0.15


@pytest.mark.long
def test_errors_of_a_known_model_by_hand(loans):
    """Least squares on a reward that is 1 for Grant and 0 otherwise is exact, so its error is 0."""
    signal = FunctionReward(lambda contexts, action, outcome: float(action == "Grant"))
    result = learned(loans, signals={"Bank": signal, "Applicant": signal}, reward_model=LinearRegression())
    assert max(e.mean_absolute_error for e in result.reward_errors) < 1e-9


def test_errors_of_continuous_outcomes_are_per_action(visits_policy, visits):
    errors = visits_policy.learned_.reward_errors
    assert [(e.stakeholder, e.action, e.outcome) for e in errors] == [
        (name, action, None) for name in ("Parent", "Payer") for action in ("A", "C")
    ]
    assert {e.n for e in errors} == {2 * len(visits.actions)}  # the observed and a crossed outcome of every row


@pytest.mark.long
def test_observed_rewards_are_learned_from_logged_rows_only(loans):
    log = loans.log
    observed = np.random.default_rng(1).random(len(log))
    log = type(log)(log.contexts, log.actions, log.outcomes, {"Bank": observed})
    signals = {"Bank": ObservedReward("Bank"), "Applicant": FunctionReward(loans.rewards["Applicant"])}
    result = learned(loans, log, signals)
    bank = [e for e in result.reward_errors if e.stakeholder == "Bank"]
    assert sum(e.n for e in bank) == len(log)
    model = next(m for m in result.reward_models if m.stakeholders == ("Bank",))
    q = model.predict(log.contexts, None)
    assert np.array_equal(q[0, log.actions, log.outcomes, np.arange(len(log))], observed)  # a full-depth tree


@pytest.mark.long
def test_sharing_leaves_observed_rewards_alone(loans):
    log = loans.log
    log = type(log)(log.contexts, log.actions, log.outcomes, {"Bank": np.full(len(log), 0.5)})
    signals = {"Bank": ObservedReward("Bank"), "Applicant": FunctionReward(loans.rewards["Applicant"])}
    result = learned(loans, log, signals, shared_rewards=True)
    assert [model.stakeholders for model in result.reward_models] == [("Bank",), ("Applicant",)]


def test_a_regressor_with_one_output_cannot_be_shared(loans):
    with pytest.raises(InputError, match="reward model of Bank, Applicant cannot be fitted"):
        learned(loans, shared_rewards=True, reward_model=HistGradientBoostingRegressor(max_iter=2), reward_grid={})


@pytest.mark.long
def test_the_default_regressor_can_be_shared(loans):
    result = learned(loans, shared_rewards=True, reward_model=None, reward_grid={})
    assert [model.stakeholders for model in result.reward_models] == [("Bank", "Applicant")]


def test_the_grid_of_a_reward_model_is_searched_over_every_action(loans):
    """A reward that only depends on actions that were never taken: logged rows alone could not tell depths apart."""
    world_rewards = {
        "Bank": lambda contexts, action, outcome: np.clip(
            0.5 if action == "Grant" else 0.5 + 0.4 * np.sign(contexts["income"]) * np.sign(contexts["amount"]), 0, 1
        ),
        "Applicant": lambda contexts, action, outcome: 0.5,
    }
    signals = {name: FunctionReward(function) for name, function in world_rewards.items()}
    problem, log = loans.problem, loans.log
    log = type(log)(log.contexts, np.zeros(len(log), dtype=int), log.outcomes)
    settings = LearningSettings(
        outcome_model=LogisticRegression(),
        reward_model=DecisionTreeRegressor(random_state=0),
        reward_grid={"max_depth": [1, 6]},
        folds=3,
    )
    result = learn(problem, log, signals, ("income", "amount"), settings)
    assert result.searches["Bank"].best == {"max_depth": 6}


@pytest.mark.long
def test_models_are_predicted_in_one_call(loans):
    """One call of the regressor for all contexts, actions and outcomes: never one call per row."""

    class Counting:
        calls = 0

        def predict(self, X):
            Counting.calls += 1
            return np.zeros(len(X))

    encoder = learned(loans).reward_models[0].encoder
    LearnedReward(("Bank",), encoder, Counting(), loans.problem).predict(loans.contexts, None)
    assert Counting.calls == 1


def test_elicitation_noise_depends_on_the_seed_alone(loans):
    assert randomness.generator(3, "elicitation").random() == randomness.generator(3, "elicitation").random()


def test_losses_are_mean_squares_of_what_each_row_was_asked(loans):
    """Two questions about each row; a constant of one half is off by what the answers say."""
    n, generator = 20, np.random.default_rng(0)
    log = loans.log.take(np.arange(n))
    rows = np.tile(np.arange(n), 2)
    queries = RewardQueries(rows, np.repeat([0, 1], n), np.zeros(2 * n, dtype=int))
    answers = generator.random((1, 2 * n))
    learner = RewardLearner(
        ("Bank",),
        DummyRegressor(strategy="constant", constant=0.5),
        {},
        log,
        queries,
        answers,
        ("income",),
        loans.problem,
    )
    found = learner.losses(learner.fit(np.arange(n), {}), np.arange(5, n))
    expected = [np.mean([(0.5 - answers[0, q]) ** 2 for q in range(2 * n) if rows[q] == row]) for row in range(5, n)]
    assert found == pytest.approx(expected)


def test_a_model_without_a_fold_is_asked_about_all_rows_and_about_queries_of_the_fold(loans):
    n, generator = 60, np.random.default_rng(0)
    log = loans.log.take(np.arange(n))
    rows = np.tile(np.arange(n), 2)
    queries = RewardQueries(rows, generator.integers(0, 3, 2 * n), generator.integers(0, 3, 2 * n))
    answers, features = generator.random((1, 2 * n)), ("income", "amount")
    folds = tuple(np.sort(each) for each in np.array_split(generator.permutation(n), 3))
    grid = {"max_depth": [2, 3]}
    regressor = DecisionTreeRegressor(random_state=0)
    learner = RewardLearner(("Bank",), regressor, grid, log, queries, answers, features, loans.problem)
    weights = np.broadcast_to(generator.dirichlet(np.ones(3), (3, n)).transpose(0, 2, 1), (3, 3, n))
    losses = np.ones((2, 3, 3))
    losses[0, 1] = 0.5  # the best without fold 1, the other elsewhere
    losses[1, [0, 2]] = 0.5
    search = Search(learner.points, losses)
    for fold, held_back in enumerate(folds):
        expected, of_queries = learner.held_out(search, folds, fold, OutcomePrediction(weights, None, True))
        model = learner.fit(np.setdiff1d(np.arange(n), held_back), {"max_depth": 2 if fold == 1 else 3})
        q = model.predict(log.contexts, None)[0]
        asked = np.isin(rows, held_back)
        assert expected == pytest.approx((q * weights).sum(axis=1)[None])
        assert of_queries[0] == pytest.approx(q[queries.actions, queries.outcomes, rows][asked])


def test_default_points_are_compared_by_shorter_fits_and_used_at_full_length(loans):
    fitted = []

    class Steps(HistGradientBoostingRegressor):
        def fit(self, X, y):
            fitted.append((self.max_leaf_nodes, self.learning_rate, self.max_iter))
            return super().fit(X, y)

    rows = np.arange(20)
    queries = RewardQueries(rows, np.zeros(20, dtype=int), np.zeros(20, dtype=int))
    log, answers = loans.log.take(rows), np.random.default_rng(0).random((1, 20))
    learner = RewardLearner(
        ("Bank",), Steps(), DEFAULT_GRID, log, queries, answers, ("income",), loans.problem, race_grid=RACE_GRID
    )  # fmt: skip
    learner.candidates(rows, learner.points)
    assert fitted == [(8, 0.2, 50), (31, 0.4, 25)]
    learner.candidates(rows, learner.points[1:])
    assert fitted[2:] == [(31, 0.4, 25)]
    for point in learner.points:
        learner.fit(rows, point)
    assert fitted[3:] == [(8, 0.1, 100), (31, 0.2, 50)]


def test_what_stands_for_a_default_point_goes_as_far():
    for point, stand_in in zip(DEFAULT_GRID, RACE_GRID, strict=True):
        assert point["max_leaf_nodes"] == stand_in["max_leaf_nodes"]
        assert (
            stand_in["max_iter"][0] * stand_in["learning_rate"][0] == point["max_iter"][0] * point["learning_rate"][0]
        )


@pytest.mark.parametrize(
    ("changes", "raced"),
    [
        ({}, True),
        ({"effort": "thorough"}, False),
        ({"reward_model": HistGradientBoostingRegressor(), "reward_grid": {"max_iter": [5, 9]}}, False),
        ({"reward_grid": {"max_iter": [5, 9]}}, False),
    ],
)
def test_only_the_default_points_have_stand_ins(loans, changes, raced):
    settings = LearningSettings(**{"outcome_model": LogisticRegression(), **changes})
    signals = {name: FunctionReward(function) for name, function in loans.rewards.items()}
    learners, _, _ = _reward_learners(loans.problem, loans.log, signals, ("income",), settings)
    assert {learner.race_grid is not None for learner in learners} == {raced}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, True),
        ({"reward_model": LinearRegression()}, False),
        ({"reward_model": "stated"}, False),
        ({"shared_rewards": True}, False),
        ({"reward_grid": {"max_iter": [5]}}, False),
    ],
)
def test_a_quick_look_says_what_it_did_to_rewards_only_where_it_did(loans, changes, said):
    settings = LearningSettings(**{"outcome_model": LogisticRegression(), "effort": "quick", **changes})
    signals = {name: FunctionReward(function) for name, function in loans.rewards.items()}
    learners, _, _ = _reward_learners(loans.problem, loans.log, signals, ("income",), settings)
    [warning] = omission_warnings("quick", None, learners)
    assert ("The default model of rewards was not tuned" in warning) is said
