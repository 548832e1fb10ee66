"""Make any scikit-learn classifier give probabilities that are probabilities."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from accordant.arrays import Codes, Values
from accordant.errors import InputError, check_fitted
from accordant.learning.classification.brier import class_codes
from accordant.learning.classification.platt import PlattScaling, score_rows
from accordant.learning.folds import ALWAYS_TRAINING, copied_records, deal_folds, splits

Method = Literal["raw", "sigmoid", "isotonic"]
"""``raw`` trusts the classifier's own probabilities; ``isotonic`` is that of `CalibratedClassifierCV`."""


class CalibratedProbabilities(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with a column for every declared class and rows that sum to 1.

    The calibration map is learned from predictions on held-back folds and applied to the classifier fitted on
    all rows (as `CalibratedClassifierCV` does with ``ensemble=False``), so there is one model at prediction time.
    Methods: sigmoid (Platt, 1999) and isotonic (Zadrozny and Elkan, 2002), one class against the rest, rows
    normalised afterwards. Temperature scaling (Guo et al., 2017) is left out on purpose: its one parameter
    cannot restore class shares that are wrong. Rows are neither resampled nor reweighted: either would make
    the class shares, and so the probabilities, wrong.

    Rare classes. Every class with two or more records takes part in calibration (`deal_folds`). A class with
    one cannot be both learned from and held back; then nothing is calibrated, the classifier's own
    probabilities are used, and `fallback_` says why. A declared class without any row gets probability 0: the
    data say nothing about it, and any positive number would be invented.

    Parameters
    ----------
    estimator
        Any scikit-learn classifier; without `predict_proba` it needs `decision_function` and calibration.
    method
        How to calibrate, see `Method`.
    classes
        (k,) declared classes, in the order of the columns; None takes those of the data, sorted.
    n_folds, random_state
        Folds for calibration, and the seed by which rows are dealt to them.

    Attributes
    ----------
    classes_
        (k,) the declared classes.
    columns_
        (s,) the columns of `classes_` that were seen in training.
    model_
        The fitted classifier; its classes are 0..s-1, the positions in `columns_`.
    map_
        From its scores to probabilities; None where its own probabilities are used.
    fallback_
        Why nothing was calibrated although it was asked for, or None.
    """

    map_: PlattScaling | None = None

    def __init__(
        self,
        estimator: ClassifierMixin,
        *,
        method: Method = "sigmoid",
        classes: ArrayLike | None = None,
        n_folds: int = 3,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.classes = classes
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: NDArray[np.intp] | None = None) -> Self:
        """Fit on X (n, features), finite numbers, and y (n,); rows of one of the groups (n,) are held back together.

        Raises
        ------
        InputError
            If the method is unknown, y holds fewer than two classes or one that is not declared, X is not
            finite, or an estimator without `predict_proba` cannot be calibrated.
        """
        if self.method not in get_args(Method):
            raise InputError(f"unknown calibration method {self.method!r}; valid: {', '.join(get_args(Method))}")
        features, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels) if self.classes is None else np.asarray(self.classes)
        codes = class_codes(labels, self.classes_)
        self.columns_, present = np.unique(codes, return_inverse=True)
        if len(self.columns_) < 2:
            only = self.classes_.tolist()[codes[0]]
            raise InputError(f"y holds one class only, {only!r}; an outcome model needs two or more")
        self.fallback_, parts = self._parts(features, present, groups)
        estimator, self.map_ = clone(self.estimator), None
        if parts and self.method == "isotonic":
            estimator = CalibratedClassifierCV(estimator, method=self.method, cv=parts, ensemble=False)
        elif parts:
            scores = np.concatenate([
                score_rows(clone(estimator).fit(features[training], present[training]), features[held_back])
                for training, held_back in parts
            ])  # fmt: skip
            self.map_ = PlattScaling().fit(scores, present[np.concatenate([held_back for _, held_back in parts])])
        self.model_ = estimator.fit(features, present)
        return self

    def with_map(self, scaling: PlattScaling) -> Self:
        """Return the same fitted classifier, calibrated by a map that was learned elsewhere."""
        twin: Self = clone(self)
        for name, value in vars(self).items():
            if name.endswith("_"):
                setattr(twin, name, value)
        twin.method, twin.map_ = "sigmoid", scaling
        return twin

    def predict_proba(self, X: ArrayLike) -> Values:
        """Return (n, k), the probability of each class of `classes_` in each row of X."""
        check_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        if self.map_ is None:
            seen = np.asarray(self.model_.predict_proba(features), dtype=np.float64)
        else:
            seen = self.map_.probabilities(score_rows(self.model_, features))
        probabilities = np.zeros((len(seen), len(self.classes_)))
        # Normalised, because float32 inside some classifiers leaves row sums 1e-7 away from 1.
        probabilities[:, self.columns_] = seen / seen.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return (n,), the most probable class of each row; the first declared among equals."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def _parts(self, X: Values, present: Codes, groups: Codes | None) -> tuple[str | None, list[tuple[Codes, Codes]]]:
        """Return why calibration was given up, if it was, and the parts that are held back for it; none without it."""
        reason = None
        if self.method != "raw":
            records = copied_records(X, present) if groups is None else None
            folds = deal_folds(present, self.n_folds, self.random_state, records=records, groups=groups)
            alone = np.setdiff1d(present, present[folds != ALWAYS_TRAINING])
            if alone.size == 0:
                return None, list(splits(folds))
            unit = "record" if groups is None else "group"
            reason = f"not calibrated: one {unit} only of {self.classes_[self.columns_[alone]].tolist()}"
        if not hasattr(self.estimator, "predict_proba"):
            raise InputError(f"{self.estimator!r} has no predict_proba ({reason or 'and method is raw'})")
        return reason, []
