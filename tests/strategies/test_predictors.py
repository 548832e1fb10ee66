"""Predictors and decisions of others: judged on rows that they have not seen, and mapped to actions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from accordant import strategies
from accordant.errors import InputError, MissingColumnError, NotFittedError, UnknownNameError
from accordant.learning.cross_fitting import training_folds
from accordant.learning.folds import all_but
from accordant.strategies.predictors import Predictor

NUMBERS = ["income", "amount"]
TWO = {"labels": {"Full": 1, "Part": 0, "None": 0}, "actions": {1: "Grant", 0: "Deny"}, "features": NUMBERS}


class Memory(ClassifierMixin, BaseEstimator):
    """Knows every row that it has seen, and says of all others what is commonest."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.commonest_ = self.classes_[counts.argmax()]
        self.known_ = dict(zip(map(tuple, X.to_numpy()), y, strict=True))
        return self

    def predict(self, X):
        return np.array([self.known_.get(tuple(row), self.commonest_) for row in X.to_numpy()])


def policy_with(loans, *others, **changes):
    given = {"strategies": [strategies.maximin, *others], "resamples": 50, "reward_model": "stated",
             "metrics": {"accuracy": 1.0}}  # fmt: skip
    return loans.policy(**(given | changes)).fit(pd.DataFrame(loans.columns), **loans.data, rewards=loans.rewards)


@pytest.mark.long
def test_a_predictor_is_judged_by_copies_that_did_not_see_the_row(loans):
    """Who remembers every row is perfect on those it saw; nothing of that must be credited."""
    policy = policy_with(loans, strategies.from_predictor(Memory(), features=NUMBERS))
    value = policy.leaderboard_["predictor:Memory"].metrics["accuracy"].estimate.value
    folds = training_folds(policy.problem, policy.evidence_.log, policy._settings())
    right = 0
    for fold, rows in enumerate(folds):
        train = all_but(folds, fold)
        frame = pd.DataFrame(loans.columns)[NUMBERS]
        part = Memory().fit(frame.iloc[train], loans.outcomes[train])
        right += (part.predict(frame.iloc[rows]) == loans.outcomes[rows]).sum()
    assert value == pytest.approx(right / len(loans.outcomes))
    assert value < 0.7
    decided = policy.recommend(pd.DataFrame(loans.columns), strategy="predictor:Memory").decisions.actions
    mapped = [loans.problem.outcome_to_action[outcome] for outcome in loans.outcomes]
    assert decided.tolist() == mapped  # fitted on all rows, it remembers them


@pytest.mark.long
def test_a_fitted_predictor_is_left_out_where_it_may_have_seen_the_rows(loans, make_loans):
    fitted = LogisticRegression().fit(pd.DataFrame(loans.columns)[NUMBERS], loans.outcomes)
    policy = policy_with(
        loans, strategies.from_predictor(fitted), strategies.from_predictor(fitted, name="vouched", unseen=True)
    )
    lines = [row.strategy for row in policy.leaderboard_]
    assert "predictor:LogisticRegression" not in lines and "predictor:vouched" in lines
    said = [line for line in policy.warnings_ if line.startswith("predictor:")]
    assert ["may have seen the rows of fit" in line for line in said] == [True, False]
    assert "declared, not checked" in said[1]
    other = make_loans(n=60, seed=9)
    board = policy.evaluate(pd.DataFrame(other.columns), other.outcomes, actions=other.actions)
    predicted = fitted.predict(pd.DataFrame(other.columns)[NUMBERS])
    wanted = np.mean(predicted == other.outcomes)
    assert board["predictor:LogisticRegression"].metrics["accuracy"].estimate.value == pytest.approx(wanted)


@pytest.mark.long
def test_what_is_no_estimator_counts_as_fitted_and_may_have_probabilities_only(loans):
    class Probabilities:
        classes_ = ("Grant", "Deny")

        def predict_proba(self, X):
            chance = (X["income"].to_numpy() > 0).astype(float)
            return np.column_stack([chance, 1 - chance])

    policy = policy_with(loans, strategies.from_predictor(Probabilities(), name="mine", unseen=True))
    decided = policy.decide_on(policy.evidence_)["predictor:mine"].actions
    assert decided.tolist() == np.where(loans.columns["income"] > 0, "Grant", "Deny").tolist()


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # of fairlearn 0.15 with pandas 3
@pytest.mark.parametrize("kind", ["thresholds", pytest.param("reductions", marks=pytest.mark.long)])
def test_estimators_of_fairlearn_read_the_sensitive_column(loans, kind):
    model = {
        "thresholds": lambda: ThresholdOptimizer(
            estimator=LogisticRegression(), predict_method="predict_proba", constraints="demographic_parity"
        ),
        "reductions": lambda: ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=5),
    }[kind]()
    rule = strategies.from_predictor(model, name=kind, sensitive="sex", random_state=3, **TWO)
    assert rule.columns == (*NUMBERS, "sex")
    policy = policy_with(loans, rule)
    frame = pd.DataFrame(loans.columns)
    found = policy.recommend(frame, strategy=f"predictor:{kind}").decisions.actions
    assert set(found) <= {"Grant", "Deny"} and len(set(found)) == 2
    again = policy.recommend(frame, strategy=f"predictor:{kind}").decisions.actions
    assert found.tolist() == again.tolist()  # drawn with a seed
    if kind == "thresholds":
        with pytest.raises(MissingColumnError, match="sex"):
            policy.recommend(frame.drop(columns="sex"), strategy=f"predictor:{kind}")


@pytest.mark.long
def test_a_predictor_may_learn_the_logged_actions_and_be_selected(loans):
    rule = strategies.from_predictor(
        DecisionTreeClassifier(random_state=0), name="habit", learns="actions", features=NUMBERS
    )
    policy = policy_with(loans, rule)
    decided = policy.recommend(pd.DataFrame(loans.columns), strategy="predictor:habit").decisions.actions
    assert decided.tolist() == loans.actions.tolist()  # a full tree repeats what it learned
    best = policy_with(loans, strategies.from_predictor(LogisticRegression(), features=NUMBERS))
    assert best.selected_ == "predictor:LogisticRegression"
    assert best.predict(pd.DataFrame(loans.columns)).tolist() == best.recommend(
        pd.DataFrame(loans.columns), strategy=best.selected_
    ).decisions.actions.tolist()  # fmt: skip


@pytest.mark.long
def test_refits_widen_the_interval_of_a_predictor(loans, monkeypatch):
    """Held-out decisions stand for those of a model that is fitted on all rows; what that adds is in the interval."""
    from accordant import policy as module

    rule = strategies.from_predictor(DecisionTreeClassifier(random_state=0), name="tree", features=NUMBERS)
    row = policy_with(loans, rule, resamples=200).leaderboard_["predictor:tree"]
    monkeypatch.setattr(module.ParticipatoryPolicy, "_leaderboard", lambda self, evidence, metrics, refits=(): (
        super(module.ParticipatoryPolicy, self)._leaderboard(evidence, metrics, ())))  # fmt: skip
    alone = policy_with(loans, rule, resamples=200).leaderboard_["predictor:tree"]
    assert row.score.value == alone.score.value
    assert row.score.high - row.score.low > alone.score.high - alone.score.low


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"learns": "rewards"}, UnknownNameError, "learns 'rewards'"),
        ({"features": NUMBERS, "actions": {"Full": "Grnt"}}, UnknownNameError, "did you mean 'Grant'"),
        ({"features": ["incme"]}, MissingColumnError, "did you mean it by 'income'"),
        ({"features": ["region"]}, InputError, "predictor:LogisticRegression cannot be fitted"),
    ],
)
def test_what_cannot_be_used(loans, given, error, words):
    with pytest.raises(error, match=words):
        policy_with(loans, strategies.from_predictor(LogisticRegression(), **given))


def test_what_cannot_predict_is_refused_and_what_is_not_fitted_cannot_decide(loans):
    with pytest.raises(InputError, match="neither predict nor predict_proba"):
        strategies.from_predictor(object())
    rule = strategies.from_predictor(LogisticRegression())
    assert isinstance(rule, Predictor) and not rule.fitted
    with pytest.raises(NotFittedError, match="fit the policy"):
        rule(loans_expected(loans), contexts=loans.contexts)
    with pytest.raises(InputError, match="needs contexts"):
        rule(loans_expected(loans))


def loans_expected(loans):
    from accordant import ExpectedRewards

    return ExpectedRewards(np.full((2, 3, 120), 0.5), stakeholders=["Bank", "Applicant"], actions=loans.problem.actions)


@pytest.mark.long
def test_numbers_cannot_be_learned_as_labels(visits):
    with pytest.raises(InputError, match="cannot learn outcomes that are numbers; give learns='actions'"):
        visits.fitted(strategies=[strategies.maximin, strategies.from_predictor(LogisticRegression())])


# --- a column of decisions -------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_column_of_decisions_is_one_more_line_and_no_feature(loans):
    columns = loans.columns | {"judge": np.roll(loans.actions, 1)}
    policy = loans.policy(
        strategies=[strategies.maximin, strategies.create("decided", {"column": "judge"})], resamples=50,
        reward_model="stated",
    )  # fmt: skip
    policy.fit(columns, **loans.data, rewards=loans.rewards)
    assert policy.features_ == ("income", "amount", "region")
    assert policy.decide_on(policy.evidence_)["decided:judge"].actions.tolist() == columns["judge"].tolist()
    row = policy.leaderboard_["decided:judge"]
    assert (row.kind, row.candidate) == ("baseline", True) and policy.selected_ != "decided:judge"
    with pytest.raises(MissingColumnError, match="judge"):
        policy.recommend(loans.columns, strategy="decided:judge")


def test_a_column_that_holds_no_actions_is_refused_before_anything_is_learned(loans, monkeypatch):
    from accordant import policy as module

    monkeypatch.setattr(module, "learn", lambda *given: pytest.fail("learned"))
    rules = [strategies.create("decided", {"column": "region"})]
    with pytest.raises(UnknownNameError, match="action in the column 'region' of decided:region: 'north'"):
        loans.policy(strategies=rules).fit(loans.columns, **loans.data, rewards=loans.rewards)
