"""`PolicyDecisions`: what a fitted policy says about new contexts: E, decisions, certificates, explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import ClassifierTags

from accordant import randomness
from accordant.arrays import Mask
from accordant.certificates import Certificate, Known, Threat, certify
from accordant.certificates.threat import UNIT, checked_coalition
from accordant.contexts import Contexts
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.evidence import Evidence
from accordant.explanation import Explanation, explain
from accordant.explanation.person import Basis, person
from accordant.explanation.recourse import FAR_FROM_ALL, Recourse, no_recourse, recourse
from accordant.learning.expectation import expected_rewards
from accordant.learning.grid_resolution import GridResolution, grid_resolution
from accordant.learning.novelty import TrainingProfile
from accordant.learning.outcome_models import OutcomeModel
from accordant.learning.reward_models import OutcomeRewardModel
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem, row_place
from accordant.progress import by_verbosity
from accordant.recommendation import Recommendations
from accordant.strategies import Strategy
from accordant.tables.column_types import ColumnType, Place, typed_contexts
from accordant.unusual import Unusual, UnusualSpec
from accordant.utilities import ExpectedRewards


class PolicyDecisions(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What a fitted policy says about new contexts; `accordant.fitted_policy.FittedPolicy` judges it, too."""

    problem: DecisionProblem  # None for plain prediction: see `_declared`
    unusual: Mapping[str, str] | None
    random_state: int
    verbose: int
    problem_: DecisionProblem
    classes_: NDArray[Any]
    feature_names_in_: NDArray[Any]
    n_features_in_: int
    features_: tuple[str, ...]
    types_: Mapping[str, ColumnType]
    profile_: TrainingProfile
    outcome_model_: OutcomeModel
    reward_models_: tuple[OutcomeRewardModel, ...]
    strategies_: dict[str, Strategy]
    selected_: str
    evidence_: Evidence

    @property
    def _declared(self) -> DecisionProblem:
        """The problem: as declared, or as `fit` made it of what was to be predicted."""
        problem = getattr(self, "problem_", None) or self.problem
        if problem is None:
            raise NotFittedError("this policy has no problem and is not fitted; declare one, or call fit(X, y) first")
        return problem

    def expected_rewards(self, X: Any) -> ExpectedRewards:
        """Return E on new contexts."""
        self._check_fitted()
        return self._expect(self.contexts_of(X))[0].like(X)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return E on new contexts as a table, shape (context, stakeholder · action), see `get_feature_names_out`.

        With `set_output` it is a data frame. In a pipeline a policy so hands on what everybody may expect.
        """
        return np.column_stack(list(self.expected_rewards(X).columns().values()))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`: ``E[stakeholder, action]``.

        Parameters
        ----------
        input_features
            For scikit-learn; they must be those of `fit`, and change nothing.
        """
        self._check_fitted()
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None and known is not None and list(input_features) != list(known):
            raise InputError("input_features is not equal to feature_names_in_")
        problem = self._declared
        return np.array([f"E[{name}, {action}]" for name in problem.stakeholder_names for action in problem.actions],
                        dtype=object)  # fmt: skip

    def recommend(self, X: Any, *, strategy: str | None = None) -> Recommendations:
        """Decide for new contexts, and say what is unusual about them.

        Unusual contexts are handled as `unusual` declares: those that are referred to a person have no action.
        Randomised strategies draw. The number drawn for a context depends on `random_state`, its features, and how many
        contexts with the same features stand above it in `X`, so the same call gives the same actions.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        strategy
            Label of another strategy than D*.
        """
        self._check_fitted()
        rule = self.strategy(strategy or self.selected_)
        contexts = self.contexts_of(X)
        expected, prediction = self._expect(contexts)
        decisions = rule(expected, prediction=prediction, contexts=contexts)
        if decisions.policy is not None:
            keys = contexts.only(self.features_).row_keys()
            decisions = decisions.draw(randomness.keyed_uniform(self.random_state, (f"draw {key}" for key in keys)))
        return Recommendations.of(decisions, expected.like(X), prediction).handled(
            self.profile_(contexts), self._handling()
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the action of D* in new contexts, empty where a person decides, shape (context,); see `recommend`.

        Fitted by ``fit(X, y)`` without a problem, it returns the labels of y.
        """
        decisions = self.recommend(X).decisions
        return decisions.actions if self.problem is not None else self.classes_[decisions.codes]

    def handling_of(self, X: Any) -> tuple[Unusual, Mask, Mask]:
        """Return what is unusual about contexts, and which `recommend` refers to a person or gives another action."""
        self._check_fitted()
        unusual, declared = self.profile_(self.contexts_of(X)), self._handling()
        return unusual, declared.referred(unusual), declared.fall_backs(unusual, self._declared.actions) >= 0

    def _handling(self) -> UnusualSpec:
        """Return what happens to unusual contexts."""
        declared = UnusualSpec(**(self.unusual or {}))
        declared.check(self._declared.actions)
        return declared

    @by_verbosity
    def certify(
        self,
        X: Any,
        *,
        delta: float,
        coalition: Sequence[str] | None = None,
        strategy: str | None = None,
        box: tuple[float, float] = UNIT,
        frozen: bool = False,
    ) -> Certificate:
        """Find which actions misreports could make win for new contexts.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        delta
            By how much each expected reward may be misreported, at least 0.
        coalition
            Names of those who may misreport; None for everybody.
        strategy
            Label of another strategy than D*.
        box, frozen
            See `accordant.certificates.Threat`.
        """
        self._check_fitted()
        contexts = self.contexts_of(X)
        expected, prediction = self._expect(contexts)
        threat = Threat(delta, checked_coalition(coalition), box, frozen)
        known = Known(prediction, contexts=contexts)
        return certify(self.strategy(strategy or self.selected_), expected, threat, known=known)

    def explain(
        self, X: Any, *, rows: Sequence[int] | None = None, strategy: str | None = None, observed: Any | None = None,
        changeable: Mapping[str, Any] | None = None, checked: bool | None = None,
    ) -> tuple[Explanation, ...]:  # fmt: skip
        """Explain decisions: why they were taken, what was traded off, and what would have changed them.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        rows
            Positions of those to explain; None for all, at most 1000.
        strategy
            Label of another strategy than D*.
        observed
            Training rows: among them the nearest one with another decision, and values to change to, are looked for.
            None for those of `fit`, or for the reference rows that are kept (at most 2,000) if the policy was loaded.
        changeable
            Features that a person could change, each with ``up``, ``down``, ``either`` or the keys of
            `accordant.explanation.Changeable`. None for none.
        checked
            Whether probabilities of outcomes were found to agree with untouched rows; None if nobody looked.
        """
        self._check_fitted()
        contexts, rule = self.contexts_of(X), self.strategy(strategy or self.selected_)
        expected, prediction = self._expect(contexts)
        if observed is None:
            observed = self.evidence_.log.contexts if hasattr(self, "evidence_") else self.profile_.reference_rows
        training = self.contexts_of(observed)

        def decide(others: Contexts) -> NDArray[np.signedinteger[Any]]:
            """Return the decisions in other contexts."""
            expected, prediction = self._expect(others)
            return rule(expected, prediction=prediction, contexts=others).codes

        lacking = [name for name in rule.columns if name not in training]
        known = Known(prediction, contexts=contexts)
        explained = explain(rule, expected, rows=rows, known=known) if lacking else explain(
            rule, expected, rows=rows, known=known, decide=decide, observed=training, features=self.features_
        )  # fmt: skip
        recommended = self.recommend(contexts, strategy=rule.label)
        raw = not self.outcome_model_.calibrated
        basis: Basis = "checked" if checked and raw else "uncalibrated" if raw or checked is False else "calibrated"
        features = contexts.only(self.features_)

        def complete(explanation: Explanation) -> Explanation:
            """Return the explanation with the person, and what this person could change."""
            row = contexts.take(slice(explanation.row, explanation.row + 1))
            return replace(
                explanation,
                person=person(self.profile_, self.problem, features, prediction, recommended, explanation.row, basis),
                recourse=self._recourse(row, rule, explanation, decide, training, changeable or {}),
            )

        return tuple(map(complete, explained))

    def _recourse(
        self, row: Contexts, rule: Strategy, explained: Explanation, decide: Callable[[Contexts], Any],
        training: Contexts, changeable: Mapping[str, Any],
    ) -> Recourse:  # fmt: skip
        """Return what one person could change so that another action is decided."""
        for name in changeable:
            if name not in self.features_:
                raise UnknownNameError("feature in changeable:", name, self.features_)
        own = self.profile_(row).kinds
        reason = (
            "the rule decides a whole batch at once" if rule.whole_batch
            else "the action is drawn" if rule.draws
            else FAR_FROM_ALL if own["far"][0]
            else ""
        )  # fmt: skip
        if reason or not changeable:
            return no_recourse(changeable, training.n_contexts, reason)

        def plausible(others: Contexts) -> Mask:
            """Return which contexts are unlike the training rows in no way in which the person is not."""
            masks = [rows for kind, rows in self.profile_(others).kinds.items() if not own[kind][0]]
            return np.asarray(~np.any(masks, axis=0))

        return recourse(
            row, self.problem.actions.index(explained.choice.action), actions=self.problem.actions, decide=decide,
            plausible=plausible, observed=training.only(self.features_), changeable=changeable,
        )  # fmt: skip

    def grid_resolution(self, X: Any, *, strategy: str | None = None) -> GridResolution:
        """Return how much expected reward decisions in new contexts may miss between points of a grid of actions.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        strategy
            Label of another strategy than D*.

        Raises
        ------
        InputError
            If the actions of the problem have no values.
        """
        self._check_fitted()
        if self._declared.grid is None:
            raise InputError("the actions have no values; declare them as a grid: actions={name: number, …}")
        rule, contexts = self.strategy(strategy or self.selected_), self.contexts_of(X)
        expected, prediction = self._expect(contexts)
        decisions = rule(expected, prediction=prediction, contexts=contexts)
        return grid_resolution(self._declared, contexts, decisions, self.outcome_model_, self.reward_models_)

    def strategy(self, label: str) -> Strategy:
        """Return a fitted strategy that can decide for new people."""
        self._check_fitted()
        rule = self.strategies_.get(label)
        if rule is None or not rule.candidate:
            usable = [name for name, other in self.strategies_.items() if other.candidate]
            raise UnknownNameError("strategy", label, usable)
        return rule

    def contexts_of(self, X: Any, place: Place = row_place) -> Contexts:
        """Return contexts with the types of the training rows.

        Parameters
        ----------
        X
            Contexts with the columns in `features_`.
        place
            Where each row stands, for messages.

        Raises
        ------
        DataError
            If a feature is missing, or a column of numbers holds something else; row and cell are named.
        """
        contexts = Contexts.of(X)
        if contexts.schema is not None and contexts.schema.library == "numpy" and len(contexts) != self._width:
            name = type(self).__name__
            raise DataError(f"X has {len(contexts)} features, but {name} is expecting {self._width} features as input")
        for name in self.features_:
            contexts[name]  # raises if the column is missing
        types = {name: declared for name, declared in self.types_.items() if name in contexts}
        return typed_contexts(contexts, types, place)

    @property
    def _width(self) -> int:
        """How many columns an array without names must have."""
        return getattr(self, "n_features_in_", len(self.features_))

    def _expect(self, contexts: Contexts) -> tuple[ExpectedRewards, OutcomePrediction]:
        if contexts.n_contexts == 0:
            raise DataError("no rows")
        prediction = self.outcome_model_.predict(contexts)
        return expected_rewards(contexts, prediction, self.reward_models_, self._declared), prediction

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether D* is known."""
        return hasattr(self, "selected_")

    def __sklearn_tags__(self) -> Any:
        """Say that missing values and texts may come, and that outcomes are needed.

        Without a problem it is a classifier. With one it is none: it predicts actions, and y are outcomes.
        """
        tags = super().__sklearn_tags__()
        if self.problem is None:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_fitted(self) -> None:
        if not hasattr(self, "selected_"):
            raise NotFittedError("this policy is not fitted; call fit first")
