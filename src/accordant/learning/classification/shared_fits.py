"""Fits of classifiers on the folds of a selection, made once for candidates that differ in calibration only."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from accordant.arrays import Codes, Values
from accordant.learning.classification.calibration import CalibratedProbabilities
from accordant.learning.classification.platt import PlattScaling, score_rows
from accordant.learning.folds import ALWAYS_TRAINING, splits


class SharedFits:
    """What candidates say of rows that their fits did not see.

    A sigmoid candidate whose estimator has probabilities of its own takes the fits of its raw twin. The map for the
    rows of a fold is learned from the scores of all other folds' rows, the one for new rows from those of all folds:
    each score is by a fit that did not see its row. (The fits behind the other folds' scores did see the fold, which
    moves the two numbers of a map hardly at all.) Every other candidate calibrates itself, inside its training part.

    Parameters
    ----------
    X, labels
        (n, features) and (n,).
    codes
        (n,) column of each label among the declared classes.
    folds
        (n,) from `deal_folds`.
    groups
        (n,) whose each row is; None if rows are independent.
    """

    def __init__(self, X: Values, labels: NDArray[Any], codes: Codes, folds: Codes, groups: Codes | None) -> None:
        self.X, self.labels, self.codes, self.folds, self.groups = X, labels, codes, folds, groups
        self._by_fold: dict[str, list[CalibratedProbabilities]] = {}
        self._final: dict[str, CalibratedProbabilities] = {}
        self._scores_of: dict[str, Values] = {}
        seen, self._present = np.unique(codes, return_inverse=True)
        self._calibrated = len(np.unique(codes[folds != ALWAYS_TRAINING])) == len(seen)

    def held_back(self, candidate: CalibratedProbabilities) -> Values:
        """Return (n, k) probabilities from fits without the row's fold; NaN for rows never held back."""
        raw = raw_twin(candidate)
        models = self._fits(candidate if raw is None else raw)
        probabilities = np.full((len(self.labels), len(models[0].classes_)), np.nan)
        for model, (training, fold) in zip(models, splits(self.folds), strict=True):
            used = model if raw is None else self._calibrated_on(training, model, raw)
            probabilities[fold] = used.predict_proba(self.X[fold])
        return probabilities

    def on_all_rows(self, candidate: CalibratedProbabilities) -> CalibratedProbabilities:
        """Return the candidate fitted on all rows."""
        raw = raw_twin(candidate)
        plain = candidate if raw is None else raw
        key = joblib.hash(plain)
        if key not in self._final:
            self._final[key] = clone(plain).fit(self.X, self.labels, self.groups)
        fitted = self._final[key]
        return fitted if raw is None else self._calibrated_on(np.arange(len(self.labels)), fitted, raw)

    def _calibrated_on(
        self, rows: Codes, model: CalibratedProbabilities, raw: CalibratedProbabilities
    ) -> CalibratedProbabilities:
        """Return a fitted model with a map learned from some rows' scores; without one where a class has none."""
        if not self._calibrated:
            return model
        scored = rows[self.folds[rows] != ALWAYS_TRAINING]
        return model.with_map(PlattScaling().fit(self._scores(raw)[scored], self._present[scored]))

    def _fits(self, candidate: CalibratedProbabilities) -> list[CalibratedProbabilities]:
        """Return the fits without each fold."""
        key = joblib.hash(candidate)
        if key not in self._by_fold:
            self._by_fold[key] = [
                clone(candidate).fit(
                    self.X[training], self.labels[training], None if self.groups is None else self.groups[training]
                )
                for training, _ in splits(self.folds)
            ]
        return self._by_fold[key]

    def _scores(self, raw: CalibratedProbabilities) -> Values:
        """Return scores from fits without the row's fold, (n, column); 0 for rows never held back."""
        key = joblib.hash(raw)
        if key not in self._scores_of:
            parts = [fold for _, fold in splits(self.folds)]
            scores = [
                score_rows(model.model_, self.X[fold]) for model, fold in zip(self._fits(raw), parts, strict=True)
            ]
            self._scores_of[key] = np.zeros((len(self.labels), scores[0].shape[1]))
            self._scores_of[key][np.concatenate(parts)] = np.concatenate(scores)
        return self._scores_of[key]


def raw_twin(candidate: CalibratedProbabilities) -> CalibratedProbabilities | None:
    """Return the twin without calibration whose fits a candidate takes; None if it takes none."""
    if candidate.method != "sigmoid" or not hasattr(candidate.estimator, "predict_proba"):
        return None
    raw: CalibratedProbabilities = clone(candidate).set_params(method="raw")
    return raw
