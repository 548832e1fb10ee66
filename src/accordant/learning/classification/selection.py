"""The default outcome model: the candidates with the best cross-validated Brier scores, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from accordant.arrays import Codes, Values
from accordant.errors import InputError, check_fitted
from accordant.learning.classification.blend import Blend, blend_weights
from accordant.learning.classification.brier import brier_contributions, class_codes, mean_with_error
from accordant.learning.classification.calibration import CalibratedProbabilities
from accordant.learning.classification.candidates import PRIOR, Candidate, default_candidates
from accordant.learning.classification.shared_fits import SharedFits
from accordant.learning.folds import ALWAYS_TRAINING, copied_records, deal_folds, splits


@dataclass(frozen=True)
class CandidateScore:
    """How one candidate fared on held-back training rows.

    `brier` is its cross-validated Brier score, in [0, 2], smaller is better, with its `standard_error`;
    `weight`, in [0, 1], its share in the average that is used for prediction, 0 if it takes no part.
    """

    name: str
    brier: float
    standard_error: float
    baseline: bool
    weight: float


class SelectedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Try every candidate by cross-validation; average those that cannot be told apart from the best.

    All candidates see the same folds, shuffled and stratified, copies of a record together (`deal_folds`),
    so that they are compared row by row by their Brier contributions (Brier, 1950). Candidates that differ in
    calibration only share their fits: a sigmoid map for the rows of a fold is learned from scores on the other
    folds, by fits that did not see the scored row. Those within `tolerance`
    standard errors of the best get convex weights that minimise the held-back Brier score, moved half way
    towards the best one (`blend_weights`), and are refitted on all rows. The baseline may win: where no
    feature says anything, class shares are the best probabilities.

    The score of the best candidate is the smallest of several and therefore a little too good; report the
    score on rows that took no part in `fit`. Averaging is insurance and no free gain: where one candidate has
    the true form, as on coin flips or with sharp thresholds, the average is slightly worse than it.

    Cost, defaults, one core: about 2 CPU s for 2,100 rows of 4 features. At most four models are averaged:
    in a batch of 5,000 rows a row takes about 0.01 ms, a row by itself 1 ms where logistic models have the
    weight and 8 where two forests take part.

    Parameters
    ----------
    candidates
        What to try; None for `default_candidates`. The probabilities of an estimator that is not a
        `CalibratedProbabilities` are used as they are. If none is a baseline, the class shares are added as
        one.
    classes
        (k,) declared classes, in the order of the columns; None takes those of the data, sorted.
    tolerance
        Standard errors of the paired difference within which a candidate counts as tied with the best one.
        0 takes the single best.
    n_folds, random_state
        Folds of the selection, and the seed of folds and default candidates.

    Attributes
    ----------
    classes_
        (k,) the declared classes.
    candidates_
        A `CandidateScore` for each candidate, best first; among equals the earlier candidate.
    dropped_
        Names of candidates that are not among them, because they were clearly worse in an earlier round on the folds
        of nested cross-validation (`accordant.learning.classification.fold_selection`).
    best_name_
        Name of the candidate with the smallest score; its weight is the largest.
    weights_
        Name to weight of the candidates that are averaged, best first; the weights sum to 1.
    best_
        Their average, fitted on all rows: the `Blend` used for prediction.
    gain_over_prior_
        Mean and standard error of the row-wise difference between the best baseline's Brier contribution and
        that of the average; positive if the average is better. For each fold, best candidate and weights are
        found anew on the other folds, so the gain is not flattered by having been selected for.
    beats_prior_
        Whether that gain is larger than its standard error.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate] | None = None,
        *,
        classes: ArrayLike | None = None,
        tolerance: float = 2.0,
        n_folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.candidates = candidates
        self.classes = classes
        self.tolerance = tolerance
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: Codes | None = None) -> Self:
        """Select on X (n, features), finite numbers, and y (n,), and refit what is averaged on all rows.

        Rows of one of the groups (n,) are held back together, and standard errors are those of whole groups.

        Raises
        ------
        InputError
            If y holds fewer than two classes or one that is not declared, no class has two different rows,
            two candidates share a name, `tolerance` is negative or NaN, or X is not finite.
        """
        if not self.tolerance >= 0:
            raise InputError(f"tolerance must be at least 0, found {self.tolerance}")
        features, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels) if self.classes is None else np.asarray(self.classes)
        codes = class_codes(labels, self.classes_)
        if np.all(codes == codes[0]):
            only = self.classes_.tolist()[codes[0]]
            raise InputError(f"y holds one class only, {only!r}; an outcome model needs two or more")
        tried = self.tried(features.shape[1])
        records = copied_records(features, codes) if groups is None else None
        folds = deal_folds(codes, self.n_folds, self.random_state, records=records, groups=groups)
        # One thread: on small data histogram boosting spends far longer waking threads than working.
        with threadpool_limits(limits=1):
            shared = SharedFits(features, labels, codes, folds, groups)
            held_back = np.stack([shared.held_back(self.declared(candidate)) for candidate in tried])
            scored = folds != ALWAYS_TRAINING
            clusters = None if groups is None else groups[scored]
            weights = blend_weights(held_back[:, scored], codes[scored], self.tolerance, clusters)
            used = [(self.declared(candidate), float(w)) for candidate, w in zip(tried, weights, strict=True) if w > 0]
            fitted = [shared.on_all_rows(model) for model, _ in used]
            self.best_ = Blend([model for model, _ in used], [w for _, w in used]).of_models(fitted)
        self._record(tried, held_back[:, scored], codes[scored], folds[scored], weights, clusters)
        self.dropped_: tuple[str, ...] = ()
        return self

    def of_held_back(
        self,
        tried: Sequence[Candidate],
        held_back: Values,
        codes: Codes,
        folds: Codes,
        weights: Values,
        models: Sequence[CalibratedProbabilities],
        clusters: Codes | None,
        dropped: tuple[str, ...] = (),
    ) -> Self:
        """Return the selection that was made elsewhere from what candidates say of rows their fits did not see.

        Parameters
        ----------
        tried
            The candidates that were compared.
        held_back
            (candidate, n, k) probabilities.
        codes, folds
            (n,) class and fold of each row.
        weights
            (candidate,) from `blend_weights`.
        models
            Those with a positive weight, fitted.
        clusters
            (n,) whose each row is; None if rows are independent.
        dropped
            Names of candidates that were given up earlier.
        """
        selected: Self = clone(self)
        selected.classes_ = np.asarray(self.classes)
        selected.n_features_in_ = models[0].n_features_in_
        used = [(self.declared(candidate), float(w)) for candidate, w in zip(tried, weights, strict=True) if w > 0]
        selected.best_ = Blend([model for model, _ in used], [w for _, w in used]).of_models(models)
        selected._record(tried, held_back, codes, folds, weights, clusters)
        selected.dropped_ = dropped
        return selected

    def predict_proba(self, X: ArrayLike) -> Values:
        """Return (n, k), the probability of each class of `classes_` in each row of X; rows sum to 1."""
        check_fitted(self)
        probabilities: Values = self.best_.predict_proba(validate_data(self, X, dtype=np.float64, reset=False))
        return probabilities

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return (n,), the most probable class of each row; the first declared among equals."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def tried(self, n_features: int) -> tuple[Candidate, ...]:
        """Return what is tried on so many columns: the candidates, and a baseline if none of them is one."""
        defaults = default_candidates(n_features, self.random_state)
        tried = defaults if self.candidates is None else tuple(self.candidates)
        if not any(candidate.baseline for candidate in tried):
            tried = (*(candidate for candidate in defaults if candidate.name == PRIOR), *tried)
        names = [candidate.name for candidate in tried]
        if len(set(names)) < len(names):
            raise InputError(f"candidates share a name: {names}")
        return tried

    def declared(self, candidate: Candidate) -> CalibratedProbabilities:
        """Return the candidate, not fitted, with a column for each declared class."""
        classes = getattr(self, "classes_", self.classes)
        if isinstance(candidate.estimator, CalibratedProbabilities):
            declared: CalibratedProbabilities = clone(candidate.estimator).set_params(classes=classes)
            return declared
        return CalibratedProbabilities(clone(candidate.estimator), method="raw", classes=classes)

    def _record(
        self,
        tried: Sequence[Candidate],
        held_back: Values,
        codes: NDArray[np.intp],
        folds: NDArray[np.intp],
        weights: Values,
        clusters: Codes | None,
    ) -> None:
        contributions = [brier_contributions(shares, codes) for shares in held_back]
        means = [mean_with_error(rows, clusters) for rows in contributions]
        scores = [
            CandidateScore(candidate.name, mean.value, mean.standard_error, candidate.baseline, float(weight))
            for candidate, mean, weight in zip(tried, means, weights, strict=True)
        ]
        self.candidates_ = sorted(scores, key=lambda score: score.brier)
        self.best_name_ = self.candidates_[0].name
        self.weights_ = {score.name: score.weight for score in self.candidates_ if score.weight > 0}
        baseline = min((i for i, candidate in enumerate(tried) if candidate.baseline), key=lambda i: means[i].value)
        averaged = brier_contributions(self._averaged(held_back, codes, folds, clusters), codes)
        self.gain_over_prior_ = mean_with_error(contributions[baseline] - averaged, clusters)
        self.beats_prior_ = self.gain_over_prior_.value > self.gain_over_prior_.standard_error

    def _averaged(self, held_back: Values, codes: Codes, folds: Codes, clusters: Codes | None) -> Values:
        """Return (n, k) probabilities averaged with weights that were found without the row's fold."""
        averaged = np.empty(held_back.shape[1:])
        for others, fold in splits(folds):
            whose = None if clusters is None else clusters[others]
            weights = blend_weights(held_back[:, others], codes[others], self.tolerance, whose)
            averaged[fold] = np.minimum(np.tensordot(weights, held_back[:, fold], axes=1), 1.0)
        return averaged
