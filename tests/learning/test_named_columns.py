"""Models of users see the data frame by names, and decide as models that are handed the frame directly."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from accordant.contexts import Contexts
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.frame_schema import FrameSchema
from accordant.learning.causal import SLearner, TLearner
from accordant.learning.named_columns import FrameCodes, FrameReader, NamedColumns, encoder_for, reads_frames
from accordant.problem import DecisionProblem


def prepared(*texts, numbers=("income", "amount")):
    """Return a transformer that chooses columns by name."""
    return ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), list(numbers)),
        ("texts", OneHotEncoder(handle_unknown="ignore"), ["region", *texts]),
    ])  # fmt: skip


class Seen(ClassifierMixin, BaseEstimator):
    """A classifier that remembers what it saw; class shares as probabilities."""

    frames = []

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        self.frames.append(X)
        return self

    def predict_proba(self, X):
        self.frames.append(X)
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def damaged(loans):
    """Return columns of every kind, some missing."""
    frame = pd.DataFrame(loans.columns)
    frame["income"] = (10 * frame["income"]).round().astype("Int64").where(np.arange(len(frame)) % 9 != 0)
    frame["region"] = frame["region"].astype("category")
    return frame


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict])
def test_a_pipeline_by_names_fits_and_predicts(loans, kind):
    policy = loans.policy(outcome_model=make_pipeline(prepared("action"), LogisticRegression()), resamples=0)
    policy.fit(kind(loans.columns), **loans.data, rewards=loans.rewards)
    direct = pd.DataFrame(loans.columns).drop(columns="sex").assign(action=loans.actions)
    wanted = make_pipeline(prepared("action"), LogisticRegression()).fit(direct, loans.outcomes)
    found = policy.outcome_model_.classifier.model_.model_
    last, other = found[-1], wanted[-1]
    assert last.coef_.shape == other.coef_.shape
    codes = policy.problem.outcome_codes(other.classes_)
    assert np.allclose(last.coef_[codes], other.coef_, atol=1e-3)
    assert found.feature_names_in_.tolist() == ["income", "amount", "region", "action"]
    assert (pickle.loads(pickle.dumps(policy)).predict(kind(loans.columns)) == policy.predict(loans.columns)).all()


@pytest.mark.long
def test_models_see_the_library_and_the_types_of_the_frame(loans):
    frame = damaged(loans)
    for given, kind in ((frame, pd.DataFrame), (pl.from_pandas(frame), pl.DataFrame)):
        Seen.frames.clear()
        policy = loans.policy(outcome_model=Seen(), model_input="frame", resamples=0, reward_model="stated")
        policy.fit(given, **loans.data, rewards=loans.rewards)
        policy.predict(given)
        assert {type(each) for each in Seen.frames} == {kind}
        for each in Seen.frames:
            assert list(each.columns) == ["income", "amount", "region", "action"]
            assert all(each[name].dtype == given[name].dtype for name in ("income", "amount", "region"))
        last = Seen.frames[-1]  # under the last action, all rows
        assert set(last["action"].to_list() if kind is pl.DataFrame else last["action"]) == {loans.problem.actions[-1]}
        if kind is pd.DataFrame:
            pd.testing.assert_frame_equal(last[["income", "region"]], frame[["income", "region"]])


@pytest.mark.long
def test_histogram_boosting_takes_categories_natively(loans):
    model = HistGradientBoostingClassifier(max_iter=3)
    policy = loans.policy(outcome_model=model, model_input="frame", reward_model="stated", resamples=0)
    policy.fit(damaged(loans), **loans.data, rewards=loans.rewards)
    fitted = policy.outcome_model_.classifier.model_.model_
    assert fitted.is_categorical_.tolist() == [False, False, True, True]


@pytest.mark.long
def test_reward_models_and_grids_read_names(loans):
    policy = loans.policy(
        outcome_model=make_pipeline(prepared("action"), LogisticRegression()),
        outcome_grid={"logisticregression__C": [0.01, 1.0]},
        reward_model=make_pipeline(prepared("action", "outcome"), Ridge()),
        reward_grid={"ridge__alpha": [0.1, 10.0]},
    )
    policy.fit(loans.columns, **loans.data, rewards=loans.rewards)
    assert set(policy.learned_.searches["outcome"].best) == {"logisticregression__C"}
    assert set(policy.learned_.searches["Bank"].best) == {"ridge__alpha"}
    with pytest.raises(InputError, match="unknown parameter 'logisticregression__c'"):
        clone(policy).set_params(outcome_grid={"logisticregression__c": [1.0]}).fit(
            loans.columns, **loans.data, rewards=loans.rewards
        )


@pytest.mark.long
def test_regressors_of_continuous_outcomes_read_names(visits):
    numbers = ColumnTransformer([("numbers", StandardScaler(), ["x2", "x1"])])
    policy = visits.fitted(outcome_model=TLearner(make_pipeline(numbers, Ridge())))
    plain = visits.fitted(outcome_model=TLearner(make_pipeline(StandardScaler(), Ridge())))
    named, by_number = (each.outcome_model_.predict(visits.contexts).levels() for each in (policy, plain))
    assert np.allclose(named, by_number, atol=1e-9)
    with pytest.raises(InputError, match="SLearner also learns propensities or products"):
        visits.fitted(outcome_model=SLearner(make_pipeline(numbers, Ridge())))


def test_an_error_lists_the_columns(loans):
    model = make_pipeline(ColumnTransformer([("numbers", StandardScaler(), ["sex"])]), LogisticRegression())
    with pytest.raises(InputError, match=r"columns income, amount, region and action; a sensitive attribute"):
        loans.fitted(outcome_model=model)


def test_regressors_of_one_action_each_are_given_the_features_alone(visits):
    model = make_pipeline(ColumnTransformer([("numbers", StandardScaler(), ["sex"])]), Ridge())
    with pytest.raises(InputError, match=r"a data frame with the columns x1 and x2; a sensitive attribute"):
        visits.fitted(outcome_model=TLearner(model))


def test_a_feature_called_action_is_refused(loans):
    model = make_pipeline(ColumnTransformer([("numbers", StandardScaler(), ["income"])]), LogisticRegression())
    columns = loans.columns | {"action": loans.columns["income"]}
    with pytest.raises(DataError, match="'action' is among the features"):
        loans.policy(outcome_model=model).fit(columns, **loans.data, rewards=loans.rewards)


@pytest.mark.long
def test_constant_columns_stay_for_models_that_may_name_them(loans):
    columns = loans.columns | {"country": np.full(len(loans.actions), "NL")}
    policy = loans.policy(outcome_model=make_pipeline(prepared("country"), LogisticRegression()), resamples=0)
    policy.fit(columns, **loans.data, rewards=loans.rewards)
    assert policy.features_ == ("income", "amount", "region", "country")


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (None, False), ("stated", False), (LogisticRegression(), False), (make_pipeline(StandardScaler(), Ridge()), False),
        (make_pipeline(prepared(), Ridge()), True), (make_pipeline(OneHotEncoder(), Ridge()), True),
        (TLearner("ridge"), False), (TLearner(make_pipeline(prepared(), Ridge())), True),
    ],
)  # fmt: skip
def test_who_reads_frames(model, wanted):
    assert reads_frames(model) == wanted
    assert not reads_frames(model, "matrix")
    if isinstance(model, LogisticRegression):
        assert reads_frames(model, "frame")


def test_an_unknown_way_is_refused(loans):
    with pytest.raises(UnknownNameError, match="did you mean 'frame'"):
        loans.fitted(model_input="frames")


def test_codes_lose_nothing():
    frame = pd.DataFrame({"b": ["x", None, "y"], "a": [1.0, np.nan, 1e300], "c": ["1", "2", "1"]})
    contexts = Contexts.of(frame)
    codes = FrameCodes.of(contexts, ("b", "a", "c"))
    matrix = codes(contexts)
    assert np.isfinite(matrix).all() and matrix.shape == (3, codes.width)
    found = codes.columns_of(matrix)
    assert all(np.array_equal(found[name], contexts[name], equal_nan=name == "a") for name in codes.columns)
    unknown = codes.columns_of(codes(Contexts({"b": ["z"], "a": [0.0], "c": ["2"]})))
    assert unknown["b"].tolist() == [""] and unknown["c"].tolist() == ["2"]


def test_a_value_on_a_grid_is_read_in_its_own_unit():
    problem = DecisionProblem(stakeholders=["s"], actions={"low": 50, "mid": 80, "high": 250}, outcomes=["no", "yes"])
    codes = FrameCodes.of(Contexts({"x": [0.0]}), ("x",))
    reader = FrameReader(codes, ("x",), FrameSchema(), problem, action="reference", outcome=True)
    frame = reader(np.array([[3.0, 0.0, 1.0, 0.0], [4.0, 0.25, 0.0, 1.0], [5.0, 1.0, 0.0, 1.0]]))
    assert list(frame.columns) == ["x", "action", "outcome"]
    assert frame["x"].tolist() == [3.0, 4.0, 5.0] and frame["action"].tolist() == [50.0, 100.0, 250.0]
    assert frame["outcome"].tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize(("held", "behind"), [("reference", [[0, 0], [1, 0], [0, 1]]), ("indicators", np.eye(3))])
def test_an_action_is_read_by_its_name(held, behind):
    problem = DecisionProblem(stakeholders=["s"], actions=["a", "b", "c"], outcomes=["no", "yes"])
    reader = FrameReader(FrameCodes.of(Contexts({"x": [0.0]}), ("x",)), ("x",), FrameSchema(), problem, action=held)
    frame = reader(np.column_stack([np.zeros(3), behind]).astype(float))
    assert frame["action"].tolist() == ["a", "b", "c"]


def test_the_wrapper_is_an_estimator_of_its_model(loans):
    codes = FrameCodes.of(loans.contexts, ("income", "region"))
    reader = FrameReader(codes, ("income", "region"), FrameSchema(), loans.problem)
    columns = ColumnTransformer([("numbers", StandardScaler(), ["income"])])
    model = NamedColumns(make_pipeline(columns, LogisticRegression()), reader)
    matrix = codes(loans.contexts)
    with pytest.raises(NotFittedError):
        model.predict(matrix)
    copied = clone(model).set_params(logisticregression__C=0.5)
    assert copied.named_model[-1].C == 0.5 and model.named_model[-1].C == 1.0
    assert copied.fit(matrix, loans.outcomes).predict(matrix).shape == loans.outcomes.shape
    assert copied.decision_function(matrix).shape == (120, 3) and list(copied.classes_) == ["Full", "None", "Part"]
    assert not hasattr(model, "predict_levels")
    assert encoder_for(model, loans.contexts, ("income",)) is codes
