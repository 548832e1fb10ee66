"""Decisions that somebody else takes: a column of them, or a predictor that was trained elsewhere.

They stand on the leaderboard beside the rules that weigh stakeholders, and are judged as those are: on rows that they
have not seen. So an estimator that is not fitted is fitted by the policy, without each fold in turn; one that is fitted
already may have seen any row, and is judged only where somebody says that it has not.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from accordant.arrays import Codes
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError, NotFittedError, UnknownNameError
from accordant.frame_schema import FrameSchema
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem, value_label
from accordant.strategies.strategy import Kind, Strategy, Structure, register
from accordant.utilities import ExpectedRewards

Learns = Literal["outcomes", "actions"]


@register("decided")
@dataclass(frozen=True)
class Decided(Strategy):
    """Decisions that somebody took, one in each row of a column, such as those of a committee or another system.

    Parameters
    ----------
    column
        Column of the contexts with names of actions. It is no feature unless it is named as one.
    """

    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"
    selectable: ClassVar[bool] = False
    note: ClassVar[str] = (
        "whoever decided may have known what no column holds, while estimates for actions that were not taken assume "
        "that nobody did"
    )

    column: str

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Return the decisions of the column."""
        del prediction, log
        if contexts is None:
            raise InputError(f"{self.label} stands in a column, and needs contexts")
        codes = self.codes(contexts, expected.actions)
        return Decisions(self.label, expected.actions, codes, np.zeros(len(codes), dtype=bool))

    def codes(self, contexts: Contexts, actions: tuple[str, ...]) -> Codes:
        """Return the position of each decision among the actions, shape (context,).

        Raises
        ------
        UnknownNameError
            If the column holds something else.
        """
        kinds, where = np.unique(contexts[self.column], return_inverse=True)
        texts = [value_label(kind) for kind in kinds.tolist()]
        for text in texts:
            if text not in actions:
                raise UnknownNameError(f"action in the column {self.column!r} of {self.label}:", text, actions)
        return np.array([actions.index(text) for text in texts], dtype=np.intp)[where.ravel()]

    @property
    def label(self) -> str:
        """``decided:`` and the column."""
        return f"{self.name}:{self.column}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    @property
    def consults(self) -> str:
        """That the stakeholders were not asked."""
        return f"It repeats what stands in the column {self.column} and consults no stakeholder."


@dataclass(frozen=True, eq=False)
class Predictor(Strategy):
    """What a predictor of somebody else decides; made by `from_predictor`.

    Parameters
    ----------
    model
        The predictor.
    title
        What it is called on leaderboards.
    learns
        What a model that is not fitted is taught: ``outcomes`` or the logged ``actions``.
    labels
        Outcome or action to the label that the model is taught in its place; empty for the names.
    actions
        Predicted label, as text, to the action that is taken for it; empty for what follows from the problem.
    features
        Columns that the model sees; empty for the features of the policy.
    sensitive
        Column that is handed to the model as ``sensitive_features``, in training and for decisions; empty for none.
    unseen
        Whether a fitted model has seen none of the rows that it will be judged on in `ParticipatoryPolicy.fit`.
    random_state
        Seed of a model whose predictions are drawn.
    outcome_to_action, schema, trained
        What the policy adds: the mapping of the problem, the kind of the training frame, and that the model is fitted.
    """

    name: ClassVar[str] = "predictor"
    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"

    model: Any
    title: str
    learns: Learns = "outcomes"
    labels: Mapping[str, Any] | None = None
    actions: Mapping[str, str] | None = None
    features: tuple[str, ...] = ()
    sensitive: str = ""
    unseen: bool = False
    random_state: int = 0
    outcome_to_action: Mapping[str, str] | None = None
    schema: FrameSchema | None = None
    trained: bool = False

    @property
    def label(self) -> str:
        """``predictor:`` and its title."""
        return f"{self.name}:{self.title}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the model sees, as far as they were named."""
        return (*self.features, *((self.sensitive,) if self.sensitive else ()))

    @property
    def consults(self) -> str:
        """That nobody is consulted."""
        return "It was trained elsewhere and consults no stakeholder."

    @property
    def fitted(self) -> bool:
        """Whether the model can predict."""
        return self.trained or _is_fitted(self.model)

    @property
    def learns_here(self) -> bool:
        """Whether the policy trains the model, so that it can be judged on rows that it has not seen."""
        return not self.fitted

    @property
    def judged_in_fit(self) -> bool:
        """Whether it stands on the leaderboard of `ParticipatoryPolicy.fit`."""
        return self.trained or self.unseen or self.learns_here

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take the mapping from outcomes to actions."""
        return replace(self, outcome_to_action=problem.outcome_to_action)

    def with_features(self, features: tuple[str, ...]) -> Self:
        """Return the strategy with the columns that its model sees: those that it was fitted on, or these."""
        seen = tuple(getattr(self.model, "feature_names_in_", ()))
        return replace(self, features=self.features or seen or features)

    def trained_on(self, log: Log, problem: DecisionProblem, features: tuple[str, ...]) -> Self:
        """Return the strategy with a copy of the model that is fitted on a log.

        Parameters
        ----------
        log
            Rows that it may see.
        problem
            Names of outcomes and actions.
        features
            Columns that models may read.

        Raises
        ------
        InputError
            If the model cannot be fitted, or outcomes are numbers, which are no labels.
        """
        from sklearn.base import clone

        if self.learns == "outcomes" and problem.continuous:
            raise InputError(f"{self.label} cannot learn outcomes that are numbers; give learns='actions'")
        names, codes = (
            (problem.outcome_names, log.outcomes) if self.learns == "outcomes" else (problem.actions, log.actions)
        )
        taught = [self.labels[name] if self.labels else name for name in names]
        own = replace(self, features=self.features or features, schema=log.contexts.schema, trained=True)
        frame, further = own.frame_of(log.contexts), own.further_of(log.contexts)
        try:
            model = clone(self.model).fit(frame, np.array(taught)[codes.astype(np.intp)], **further)
        except (ValueError, TypeError) as error:
            raise InputError(f"{self.label} cannot be fitted: {error}") from error
        return replace(own, model=model)

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Return what the model predicts, as actions."""
        if contexts is None:
            raise InputError(f"{self.label} needs contexts, not only expected rewards")
        if not self.fitted:
            raise NotFittedError(f"{self.label} is not fitted; fit the policy, which fits it")
        del prediction, log
        predicted = np.asarray(self._predicted(contexts)).ravel()
        kinds, where = np.unique(predicted, return_inverse=True)
        codes = np.array([expected.actions.index(self._action(kind, expected.actions)) for kind in kinds.tolist()])
        return Decisions(self.label, expected.actions, codes[where.ravel()], np.zeros(len(where), dtype=bool))

    def _action(self, label: Any, actions: tuple[str, ...]) -> str:
        """Return the action that is taken for a predicted label."""
        text = value_label(label)
        for known in (self.actions, self.outcome_to_action):
            if known and text in known:
                text = known[text]
                break
        if text not in actions:
            raise UnknownNameError(f"action for what {self.label} predicts:", text, (*actions, *(self.actions or ())))
        return text

    def _predicted(self, contexts: Contexts) -> Any:
        frame, further = self.frame_of(contexts), self.further_of(contexts)
        if not hasattr(self.model, "predict"):
            return np.asarray(self.model.classes_)[np.asarray(self.model.predict_proba(frame)).argmax(axis=1)]
        if "random_state" in inspect.signature(self.model.predict).parameters:
            further["random_state"] = self.random_state
        accepted = inspect.signature(self.model.predict).parameters
        return self.model.predict(frame, **{name: argument for name, argument in further.items() if name in accepted})

    def frame_of(self, contexts: Contexts) -> Any:
        """Return the frame that the model sees; an array if it was fitted on one."""
        names = self.features or tuple(contexts)
        frame = (self.schema or contexts.schema or FrameSchema()).frame({name: contexts[name] for name in names})
        named = self.trained or hasattr(self.model, "feature_names_in_")
        bare = not named and hasattr(self.model, "n_features_in_")
        return frame.to_numpy() if bare else frame

    def further_of(self, contexts: Contexts) -> dict[str, Any]:
        """Return what else the model is given: the sensitive column, if there is one."""
        if not self.sensitive:
            return {}
        named = (self.schema or contexts.schema or FrameSchema()).frame({self.sensitive: contexts[self.sensitive]})
        return {"sensitive_features": named[self.sensitive]}


def from_predictor(
    model: Any,
    *,
    name: str = "",
    learns: Learns = "outcomes",
    labels: Mapping[str, Any] | None = None,
    actions: Mapping[Any, str] | None = None,
    features: tuple[str, ...] | list[str] = (),
    sensitive: str = "",
    unseen: bool = False,
    random_state: int = 0,
) -> Predictor:
    """Return a strategy that takes what a predictor predicts.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, such as a classifier of scikit-learn or a mitigator of
        fairlearn. If it is not fitted, `ParticipatoryPolicy.fit` fits copies of it, without each fold in turn, and it
        competes like any rule. If it is, it is left out there, because it may have seen these rows, and stands on the
        leaderboards of `ParticipatoryPolicy.evaluate`.
    name
        What it is called; the name of its class by default.
    learns
        What a model that is not fitted learns: ``outcomes``, or the logged ``actions``.
    labels
        Outcome (or action) to the label that it is taught in its place, for models that need numbers.
    actions
        What it predicts to the action that is taken. By default a predicted action is taken, and a predicted outcome
        is mapped by the problem's `outcome_to_action`.
    features
        Columns that it sees; those that the policy's models read by default.
    sensitive
        Column that it is given as ``sensitive_features``, as fairlearn's estimators are. Decisions then read it.
    unseen
        Declares that a fitted model has seen none of the rows of `ParticipatoryPolicy.fit`.
    random_state
        Seed of a model whose predictions are drawn.

    Raises
    ------
    InputError
        If it cannot predict.
    """
    if not (hasattr(model, "predict") or hasattr(model, "predict_proba")):
        raise InputError(f"{type(model).__name__} has neither predict nor predict_proba")
    if learns not in get_args(Learns):
        raise UnknownNameError("learns", learns, get_args(Learns))
    taken = None if actions is None else {value_label(label): action for label, action in actions.items()}
    return Predictor(
        model, name or type(model).__name__, learns, labels, taken, tuple(features), sensitive, unseen, random_state
    )


def _is_fitted(model: Any) -> bool:
    """Return whether a model can predict; what is no estimator is taken for fitted."""
    if not hasattr(model, "get_params"):
        return True
    from sklearn.exceptions import NotFittedError as TheirError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except TheirError:
        return False
    return True
