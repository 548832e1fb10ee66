"""Models of users that choose columns by name: they see the data frame, while everything around them sees numbers.

Folds, calibration and reward queries work on matrices. So the frame is written as a matrix without loss
(`FrameCodes`), and the model is wrapped in `NamedColumns`, which reads the matrix as the frame again (`FrameReader`),
in the library and with the types in which it came, and adds the columns ``action`` and ``outcome`` where the model
reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.errors import DataError, InputError, UnknownNameError, check_fitted
from accordant.frame_schema import FrameSchema
from accordant.learning.causal import LevelLearner, TLearner
from accordant.learning.encoding import ContextEncoder
from accordant.naming import listed
from accordant.problem import DecisionProblem

ModelInput = Literal["auto", "frame", "matrix"]
"""What models of users see: the data frame; a matrix of numbers; or the frame where a part of them chooses columns."""

MISSING = float(np.finfo(np.float64).min)  # finite, as matrices must be, and far beyond `limits.MAGNITUDE`
NOBODY = -1.0  # code of a text that no row of the log has

ACTION, OUTCOME = "action", "outcome"


class FrameCodes(ContextEncoder):
    """A data frame as a matrix, without loss: numbers as they are, texts as their position among those of the log."""

    @classmethod
    def of(cls, contexts: Contexts, columns: tuple[str, ...]) -> FrameCodes:
        """Return the codes of a whole log: nothing is learned by writing texts as numbers."""
        if not columns:
            raise InputError("no feature columns")
        texts = [name for name in columns if contexts[name].dtype != np.float64]
        categories = {name: tuple(text for text in np.unique(contexts[name]).tolist() if text) for name in texts}
        return cls({name: MISSING for name in columns if name not in categories}, (), categories)

    def __call__(self, contexts: Contexts) -> Values:
        """Return the matrix, shape (context, column): numbers, then texts."""
        matrix = np.empty((contexts.n_contexts, self.width))
        for place, name in enumerate(self.medians):
            values = contexts.numeric(name)
            matrix[:, place] = np.where(np.isnan(values), MISSING, values)
        for place, (name, known) in enumerate(self.categories.items(), start=len(self.medians)):
            texts, where = np.unique(contexts[name], return_inverse=True)
            position = {text: code for code, text in enumerate(known)}
            matrix[:, place] = np.array([position.get(str(text), NOBODY) for text in texts], dtype=np.float64)[
                where.ravel()
            ]
        return matrix

    @property
    def width(self) -> int:
        """Number of columns of the matrix."""
        return len(self.medians) + len(self.categories)

    @property
    def positions(self) -> dict[str, list[int]]:
        """Column of the matrix that each raw column fills."""
        return {name: [place] for place, name in enumerate(self.columns)}

    def columns_of(self, matrix: Values) -> dict[str, NDArray[Any]]:
        """Return the columns that a matrix was made of: float64 or text, missing ones and unknown texts missing."""
        columns: dict[str, NDArray[Any]] = {}
        for place, name in enumerate(self.medians):
            columns[name] = np.where(matrix[:, place] == MISSING, np.nan, matrix[:, place])
        for place, (name, known) in enumerate(self.categories.items(), start=len(self.medians)):
            columns[name] = np.array([*known, ""], dtype=str)[matrix[:, place].astype(np.intp)]
        return columns


@dataclass(frozen=True, eq=False)
class FrameReader:
    """Reads a matrix of a model as the data frame that it stands for.

    Attributes
    ----------
    codes
        How features were written as numbers.
    features
        Features in the order of the frame.
    schema
        Library and types of the frame.
    problem
        Names of actions and outcomes.
    action
        How the matrix holds the action behind the features: ``none``, ``reference`` (an indicator of every action but
        the first) or ``indicators`` (one of each); on a grid of actions both stand for the columns of the value.
    outcome
        Whether the last columns hold the outcome.
    """

    codes: FrameCodes
    features: tuple[str, ...]
    schema: FrameSchema
    problem: DecisionProblem
    action: Literal["none", "reference", "indicators"] = "none"
    outcome: bool = False

    def __call__(self, matrix: Values) -> Any:
        """Return the frame: features, then ``action`` and ``outcome`` where the matrix holds them."""
        columns = self.codes.columns_of(matrix)
        frame = self.schema.frame({name: columns[name] for name in self.features})
        behind, further = matrix[:, self.codes.width :], {}
        if self.action != "none":
            further[ACTION] = self._actions(behind)
        if self.outcome:
            further[OUTCOME] = self._outcomes(behind)
        return self.schema.with_columns(frame, further) if further else frame

    def _actions(self, behind: Values) -> Any:
        grid, actions = self.problem.grid, self.problem.actions
        if grid is not None:
            return grid.values[0] + behind[:, 0] * (grid.values[-1] - grid.values[0])
        shown = behind[:, : len(actions) - (self.action == "reference")]
        if self.action == "reference":
            shown = np.column_stack([1 - shown.sum(axis=1), shown])
        return self.schema.category(shown.argmax(axis=1), actions)

    def _outcomes(self, behind: Values) -> Any:
        names = self.problem.outcome_names
        return self.schema.category(behind[:, -len(names) :].argmax(axis=1), names) if names else behind[:, -1]


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(self.named_model, method))


class NamedColumns(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A model that sees data frames, for callers that have matrices.

    Its parameters are those of the model, so that grids name them as its user does.

    Parameters
    ----------
    named_model
        Any estimator.
    reader
        What makes a frame of a matrix.
    """

    def __init__(self, named_model: Any, reader: FrameReader) -> None:
        self.named_model = named_model
        self.reader = reader

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the own parameters, and behind them those of the model."""
        own = {"named_model": self.named_model, "reader": self.reader}
        return {**self.named_model.get_params(), **own} if deep else own

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the model."""
        for name in ("named_model", "reader"):
            if name in params:
                setattr(self, name, params.pop(name))
        if params:
            self.named_model.set_params(**params)
        return self

    def fit(self, X: Values, *args: Any, **kwargs: Any) -> Self:
        """Fit a copy of the model on the frame that X stands for; everything else goes on to it.

        Raises
        ------
        InputError
            With the columns that there are, if the model cannot be fitted.
        """
        frame = self.reader(X)
        try:
            self.model_ = clone(self.named_model).fit(frame, *args, **kwargs)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{error} ({type(self.named_model).__name__} was given a data frame with the columns "
                f"{listed(tuple(frame.columns))}; a sensitive attribute is there only if features names it)"
            ) from error
        self.n_features_in_ = X.shape[1]
        return self

    @property
    def classes_(self) -> Any:
        """Classes of the model."""
        return self.model_.classes_

    def predict(self, X: Values) -> Any:
        """Return what the model predicts."""
        check_fitted(self)
        return self.model_.predict(self.reader(X))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Values) -> Any:
        """Return the model's probabilities."""
        check_fitted(self)
        return self.model_.predict_proba(self.reader(X))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Values) -> Any:
        """Return the model's scores."""
        check_fitted(self)
        return self.model_.decision_function(self.reader(X))

    @_has("predict_levels")  # type: ignore[untyped-decorator]
    def predict_levels(self, X: Values) -> Any:
        """Return the model's levels of outcomes."""
        check_fitted(self)
        return self.model_.predict_levels(self.reader(X))

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy; the reader is never changed, so both have it."""
        return type(self)(clone(self.named_model), self.reader)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the model: a classifier stays one."""
        return get_tags(self.named_model)


def reads_frames(model: Any, wanted: ModelInput = "auto") -> bool:
    """Return whether a model sees a data frame.

    Parameters
    ----------
    model
        An estimator; None, or a name, for one of ours, which reads numbers.
    wanted
        ``frame`` and ``matrix`` decide for every model of the user; ``auto`` gives a frame to a model of which a part
        chooses columns (`sklearn.compose.ColumnTransformer`) or says by its tags that it reads texts or categories,
        such as an encoder at the head of a pipeline.
    """
    if wanted not in get_args(ModelInput):
        raise UnknownNameError("model_input", wanted, get_args(ModelInput))
    if not hasattr(model, "get_params") or isinstance(model, type):
        return False
    if isinstance(model, LevelLearner):
        return any(reads_frames(part, wanted) for part in model.get_params(deep=False).values())
    return wanted != "matrix" and (wanted == "frame" or _chooses_columns(model))


def _chooses_columns(model: Any) -> bool:
    parts = [model, *model.get_params(deep=True).values()]
    return any(isinstance(part, ColumnTransformer) or _reads_texts(part) for part in parts)


def _reads_texts(part: Any) -> bool:
    if not hasattr(part, "__sklearn_tags__") or isinstance(part, type):
        return False
    tags = get_tags(part).input_tags
    return bool(tags.string or tags.categorical) and hasattr(part, "transform")


def with_columns(
    model: Any,
    contexts: Contexts,
    features: tuple[str, ...],
    problem: DecisionProblem,
    wanted: ModelInput,
    **reads: Any,
) -> Any:
    """Return a model that sees the data frame of the log if it reads frames, else the model itself.

    Parameters
    ----------
    model
        Of a user, or None.
    contexts, features
        The log's contexts, and the columns that models may read.
    problem
        Names of actions and outcomes.
    wanted
        See `reads_frames`.
    reads
        ``action`` and ``outcome`` of `FrameReader`.

    Raises
    ------
    InputError
        If it is a learner of effects whose regressors cannot see frames.
    """
    if not reads_frames(model, wanted):
        return model
    for name, read in ((ACTION, reads.get("action", "none") != "none"), (OUTCOME, reads.get("outcome", False))):
        if read and name in features:
            raise DataError(f"the models' own column {name!r} is among the features; rename that feature")
    codes = FrameCodes.of(contexts, features)
    reader = FrameReader(codes, features, contexts.schema or FrameSchema(), problem, **reads)
    if not isinstance(model, LevelLearner):
        return NamedColumns(model, reader)
    if not isinstance(model, TLearner):
        raise InputError(
            f"the outcome model {type(model).__name__} also learns propensities or products of columns, from numbers "
            "alone; a regressor that reads a data frame goes into a TLearner"
        )
    own = {name: NamedColumns(regressor, reader) for name, regressor in model.get_params(deep=False).items()
           if reads_frames(regressor, wanted)}  # fmt: skip
    return clone(model).set_params(**own)


def encoder_for(model: Any, contexts: Contexts, features: tuple[str, ...]) -> ContextEncoder:
    """Return how contexts become the matrix of a model: fitted on training contexts, or the codes of frames."""
    parts = [model, *(model.get_params(deep=False).values() if isinstance(model, LevelLearner) else ())]
    for part in parts:
        if isinstance(part, NamedColumns):
            codes: FrameCodes = part.reader.codes
            return codes
    return ContextEncoder.fit(contexts, features)
