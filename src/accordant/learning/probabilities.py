"""Class probabilities of fitted classifiers without their overhead.

For a single row, scikit-learn's checks and thread pools take a hundred times as long as the arithmetic. Here the same
arithmetic is put together from a fitted classifier once; it gives the same probabilities, bit for bit. Whatever is not
in the table, or is set up in a way that is not known here, is asked in scikit-learn's own way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.learning.trees.ensemble import read_ensemble
from accordant.learning.trees.sums import TreeSums

Function = Callable[[Values], Values]
"""From rows, shape (row, column), to one line per row."""


def class_probabilities(classifier: Any) -> Function:
    """Return a function that gives what ``classifier.predict_proba`` gives, shape (row, class).

    Parameters
    ----------
    classifier
        Fitted; must not be fitted again while the function is used.

    Raises
    ------
    ValueError
        If the classifier holds a damaged tree.
    """
    direct = _function(_PROBABILITIES, classifier)
    width = getattr(classifier, "n_features_in_", None)

    def probabilities(rows: Values) -> Values:
        """Leave unusual input to the classifier, which knows what to do with it or complains."""
        if direct is None or rows.shape[1:] != (width,) or not len(rows) or not np.isfinite(rows).all():
            return np.asarray(classifier.predict_proba(rows))
        return direct(rows)

    return probabilities


def _function(table: Mapping[str, Callable[[Any], Function | None]], estimator: Any) -> Function | None:
    """Return what a table makes of an estimator of exactly this type: a subclass may do otherwise."""
    make = table.get(f"{type(estimator).__module__}.{type(estimator).__qualname__}")
    return None if make is None else make(estimator)


def _leaf_distributions(estimator: Any) -> Function | None:
    """Return the mean class shares in the leaves that a row reaches."""
    ensemble = read_ensemble(estimator)
    sums = None if ensemble is None else TreeSums.of(ensemble)
    if sums is None:
        return None

    def mean_shares(rows: Values) -> Values:
        """Return the sums of the compiled forest, or what the estimator says where they do not apply."""
        shares = sums(rows)
        return np.asarray(estimator.predict_proba(rows)) if shares is None else np.ascontiguousarray(shares[0].T)

    return mean_shares


def _raw_boosting(estimator: Any) -> Function | None:
    """Return raw predictions, shape (row, class), or (row, 1) for two classes."""
    ensemble = read_ensemble(estimator)
    sums = None if ensemble is None else TreeSums.of(ensemble)
    if sums is None:
        return None

    def raw(rows: Values) -> Values:
        """Return the scores before they become probabilities."""
        totals = sums(rows)
        scores = estimator.decision_function(rows) if totals is None else totals[0].T
        return np.asarray(scores).reshape(len(rows), -1)

    return raw


def _boosting(estimator: Any) -> Function | None:
    raw, loss = _raw_boosting(estimator), estimator._loss  # noqa: SLF001 - has no public name
    return None if raw is None else lambda rows: np.asarray(loss.predict_proba(raw(rows)))


def _class_shares(estimator: Any) -> Function | None:
    shares = estimator.class_prior_
    if estimator.strategy != "prior" or isinstance(shares, list):
        return None
    return lambda rows: np.ones((len(rows), 1)) * shares


def _logistic(estimator: Any) -> Function | None:
    """Multinomial logistic regression; for two classes its logistic form."""
    scores = _linear_scores(estimator)
    old_style = getattr(estimator, "multi_class", "deprecated") not in {"deprecated", "auto"}
    if estimator.solver not in {"lbfgs", "newton-cholesky"} or old_style:
        return None
    return _two_classes(scores) if len(estimator.classes_) == 2 else _softmax(scores)


def _linear_scores(estimator: Any) -> Function:
    coefficients, intercept = estimator.coef_.T, estimator.intercept_
    return lambda rows: row_products(rows, coefficients) + intercept


def row_products(rows: Values, matrix: Values) -> Values:
    """Return ``rows @ matrix``, row by row: how a product of many rows rounds depends on how many there are.

    Parameters
    ----------
    rows
        Shape (row, column).
    matrix
        Shape (column, score) or (column,).
    """
    return np.asarray(np.matmul(np.ascontiguousarray(rows)[:, np.newaxis], matrix)[:, 0])


def _across(operation: np.ufunc, rows: Values) -> Values:
    """Return what an operation makes of each row, shape (row, 1), in the same bits as NumPy.

    Few columns are taken one after another: NumPy goes along each row, ten times slower, and adds in this order too as
    long as there are fewer than eight.
    """
    if not 0 < rows.shape[1] < 8:
        return np.asarray(operation.reduce(rows, axis=1, keepdims=True))
    total = rows[:, 0].copy()
    for column in rows.T[1:]:
        operation(total, column, out=total)
    return total[:, np.newaxis]


def _softmax(scores: Function) -> Function:
    def softmax(rows: Values) -> Values:
        """Return exp(score) over the sum of all."""
        shares = scores(rows)
        shares -= _across(np.maximum, shares)
        np.exp(shares, out=shares)
        shares /= _across(np.add, shares)
        return shares

    return softmax


def _two_classes(scores: Function) -> Function:
    from scipy.special import expit

    def logistic(rows: Values) -> Values:
        """Return 1 − σ(score) and σ(score), shape (row, 2)."""
        second = expit(scores(rows).ravel())
        return np.stack([1 - second, second], axis=1)

    return logistic


def _pipeline(pipeline: Any) -> Function | None:
    """Transforms one after the other, then probabilities."""
    steps = [step for _, step in pipeline.steps]
    chain = [*(_function(_TRANSFORMS, step) for step in steps[:-1]), _function(_PROBABILITIES, steps[-1])]
    functions = [function for function in chain if function is not None]
    return _composed(functions) if len(functions) == len(chain) else None


def _composed(functions: list[Function]) -> Function:
    def chained(rows: Values) -> Values:
        """Apply one function after the other."""
        for function in functions:
            rows = function(rows)
        return rows

    return chained


def _standard_scaler(scaler: Any) -> Function:
    mean = scaler.mean_ if scaler.with_mean else 0.0
    scale = scaler.scale_ if scaler.with_std else 1.0
    return lambda rows: np.asarray((rows - mean) / scale)


def _hinges(features: Any) -> Function:
    knots, owners = features.knots_, features.knot_columns_
    return lambda rows: np.hstack([rows, np.maximum(0.0, rows[:, owners] - knots)])


def _pairs(features: Any) -> Function | None:
    """Products of two different columns."""
    if features.degree != 2 or not features.interaction_only or features.include_bias or features.order != "C":
        return None
    first, second = np.triu_indices(features.n_features_in_, 1)
    return lambda rows: np.hstack([rows, rows[:, first] * rows[:, second]])


def _calibrated_probabilities(model: Any) -> Function | None:
    """Columns for every declared class, see `CalibratedProbabilities.predict_proba`."""
    columns, n_classes = model.columns_, len(model.classes_)
    seen = _function(_PROBABILITIES, model.model_) if model.map_ is None else _mapped(model.model_, model.map_)
    if seen is None:
        return None

    def declared(rows: Values) -> Values:
        """Put the classes that were seen among the declared ones."""
        shares, probabilities = seen(rows), np.zeros((len(rows), n_classes))
        probabilities[:, columns] = shares / _across(np.add, shares)
        return probabilities

    return declared


def _mapped(classifier: Any, scaling: Any) -> Function | None:
    """Return what a sigmoid map makes of a classifier's scores."""
    scores = _function(_SCORES if hasattr(classifier, "decision_function") else _PROBABILITIES, classifier)
    return None if scores is None else lambda rows: scaling.probabilities(scores(rows).reshape(len(rows), -1))


def _calibrated_classifier(model: Any) -> Function | None:
    """One calibration map per class and classifier, rows normalised (`CalibratedClassifierCV`)."""
    parts = [_calibrated_part(part, len(model.classes_)) for part in model.calibrated_classifiers_]
    known = [function for function in parts if function is not None]
    if len(known) < len(parts):
        return None

    def mean(rows: Values) -> Values:
        """Return the mean of the parts."""
        total = np.zeros((len(rows), len(model.classes_)))
        for part in known:
            total += part(rows)
        total /= len(known)
        return total

    return mean


def _calibrated_part(part: Any, n_classes: int) -> Function | None:
    # like CalibratedClassifierCV, prefer scores to probabilities
    table = _SCORES if hasattr(part.estimator, "decision_function") else _PROBABILITIES
    scores = _function(table, part.estimator)
    maps = [_calibration_map(calibrator) for calibrator in part.calibrators]
    columns = np.searchsorted(part.classes, part.estimator.classes_)
    if scores is None or part.method not in {"sigmoid", "isotonic"}:
        return None

    def two_classes(rows: Values) -> Values:
        """Calibrate the second class; the first has the rest."""
        second = maps[0](scores(rows)[:, -1])  # scores have one column, probabilities two
        return np.stack([1.0 - second, second], axis=1)

    def several(rows: Values) -> Values:
        """Calibrate class by class, then divide by the sum."""
        raw, probabilities = scores(rows), np.zeros((len(rows), n_classes))
        for code, column, calibrate in zip(columns, raw.T, maps, strict=True):
            probabilities[:, code] = calibrate(column)
        total = np.sum(probabilities, axis=1)[:, np.newaxis]
        uniform = np.full_like(probabilities, 1 / n_classes)
        np.divide(probabilities, total, out=uniform, where=total != 0)
        return uniform

    calibrated = two_classes if n_classes == 2 else several

    def rounded(rows: Values) -> Values:
        """Take a probability that rounding carried above 1 as 1."""
        probabilities = calibrated(rows)
        probabilities[(probabilities > 1.0) & (probabilities <= 1.0 + 1e-5)] = 1.0  # as scikit-learn does
        return probabilities

    return rounded


def _calibration_map(calibrator: Any) -> Function:
    if type(calibrator).__name__ != "_SigmoidCalibration":
        predict: Function = calibrator.predict
        return predict
    from scipy.special import expit

    slope, intercept = calibrator.a_, calibrator.b_
    return lambda scores: np.asarray(expit(-(slope * scores + intercept)))


def _blend(blend: Any) -> Function | None:
    """Weighted average, see `Blend.predict_proba`."""
    models = [_function(_PROBABILITIES, model) or model.predict_proba for model in blend.models_]
    parts = list(zip(blend.weights, models, strict=True))
    return lambda rows: np.minimum(sum(weight * probabilities(rows) for weight, probabilities in parts), 1.0)


def _selected(classifier: Any) -> Function | None:
    return _blend(classifier.best_)


_FOREST, _TREE, _LOGISTIC = "sklearn.ensemble._forest", "sklearn.tree._classes", "sklearn.linear_model._logistic"
_BOOSTING = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier"
_OWN = "accordant.learning.classification"
Table = Mapping[str, Callable[[Any], Function | None]]

_PROBABILITIES: Table = {
    f"{_FOREST}.RandomForestClassifier": _leaf_distributions,
    f"{_FOREST}.ExtraTreesClassifier": _leaf_distributions,
    f"{_TREE}.DecisionTreeClassifier": _leaf_distributions,
    f"{_TREE}.ExtraTreeClassifier": _leaf_distributions,
    _BOOSTING: _boosting,
    "sklearn.dummy.DummyClassifier": _class_shares,
    f"{_LOGISTIC}.LogisticRegression": _logistic,
    "sklearn.pipeline.Pipeline": _pipeline,
    "sklearn.calibration.CalibratedClassifierCV": _calibrated_classifier,
    f"{_OWN}.calibration.CalibratedProbabilities": _calibrated_probabilities,
    f"{_OWN}.blend.Blend": _blend,
    f"{_OWN}.selection.SelectedClassifier": _selected,
}
_SCORES: Table = {_BOOSTING: _raw_boosting, f"{_LOGISTIC}.LogisticRegression": _linear_scores}
_TRANSFORMS: Table = {
    "sklearn.preprocessing._data.StandardScaler": _standard_scaler,
    "sklearn.preprocessing._polynomial.PolynomialFeatures": _pairs,
    f"{_OWN}.candidates.HingeFeatures": _hinges,
}
