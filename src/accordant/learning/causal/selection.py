"""The default causal learner: candidates compared on held-out training data, the best ones averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone

from accordant.arrays import Values, WholeNumbers
from accordant.errors import InputError
from accordant.learning.causal.base_learners import BASE_REGRESSORS
from accordant.learning.causal.level_learner import RANGE_SHARE, CausalDataError, LevelLearner, LoggedData, action_folds
from accordant.learning.causal.meta_learners import DRLearner, SLearner, TLearner, TransferLearner, XLearner
from accordant.learning.causal.nuisances import dr_losses, fit_propensities, level_losses, pseudo_levels, r_losses
from accordant.learning.causal.propensity import clip_propensities, overlap_diagnostics
from accordant.learning.tuning import CLEARLY_WORSE, within_reach
from accordant.statistics import standard_error


def default_candidates() -> dict[str, LevelLearner]:
    """Unfitted learners by name: every way of sharing data between actions, on linear to deep regressors."""
    return {
        "S ridge": SLearner("ridge"),
        "S Gaussian process": SLearner("gaussian process"),
        "S boosting": SLearner("boosting"),
        "S deep boosting": SLearner("deep boosting"),
        "T ridge": TLearner("ridge"),
        "T exponential": TLearner("exponential"),
        "T interactions": TLearner("interactions"),
        "T Gaussian process": TLearner("gaussian process"),
        "T boosting": TLearner("boosting"),
        "T deep boosting": TLearner("deep boosting"),
        "T forest": TLearner("forest"),
        "Transfer ridge": TransferLearner("ridge"),
        "Transfer exponential": TransferLearner("exponential"),
        "Transfer Gaussian process": TransferLearner("gaussian process"),
        "Transfer boosting": TransferLearner("boosting"),
        "X boosting": XLearner("boosting", "boosting"),
        "X deep boosting": XLearner("deep boosting", "boosting"),
        "X forest": XLearner("forest", "forest"),
        "DR ridge": DRLearner("ridge", "ridge"),
    }


def split_by_size(
    candidates: Mapping[str, LevelLearner], rows: int, features: int
) -> tuple[dict[str, LevelLearner], dict[str, str]]:
    """The candidates whose base regressors suit data of this size, and why the others do not."""
    kept, skipped = {}, {}
    for name, learner in candidates.items():
        bases = [value for value in learner.get_params(deep=False).values() if isinstance(value, str)]
        reasons = [BASE_REGRESSORS[base].refusal(rows, features) for base in bases if base in BASE_REGRESSORS]
        if any(reasons):
            skipped[name] = next(reason for reason in reasons if reason)
        else:
            kept[name] = learner
    return kept, skipped


CRITERIA = ("r", "dr", "level")
RACE_FOLDS = 2
"""Folds from which on candidates may drop out."""
LEAST_RACED = 100
"""Fewest contexts on which they do: a standard error of few says little."""
SUM_WEIGHT = 1e4
"""Weight of the equation 'weights sum to one' in the least-squares system that finds them."""


@dataclass(frozen=True)
class CandidateScore:
    """How one candidate fared on held-out training data.

    Attributes
    ----------
    name
        Its name in the table.
    loss
        Mean of the selection criterion (squared unit of the outcome; lower is better).
    standard_error
        Standard error of that mean.
    gap
        Loss minus the best candidate's loss, at least 0.
    gap_standard_error
        Standard error of the gap, contexts paired.
    outcome_error
        Mean squared error of the level of the action taken.
    weight
        Share in the final average, 0 if not used.
    """

    name: str
    loss: float
    standard_error: float
    gap: float
    gap_standard_error: float
    outcome_error: float
    weight: float


class SelectedCausalLearner(LevelLearner):
    """Chooses among causal learners by a cross-fitted loss that needs no counterfactual.

    1. Every candidate predicts the levels of contexts it was not fitted on.
    2. Propensities come from `PropensityModel`; outcome regressions mu_a are, per action, the convex average
       of candidates still compared that best predicts held-out outcomes (van der Laan, Polley and Hubbard 2007).
    3. Candidates are ranked by the R-loss (or DR-loss, or reweighted squared error) on these.
    4. With `race`, those that are worse than the best by more than two standard errors of the paired difference on
       the contexts of the first folds, two or more, are not fitted on the others (racing: Maron and Moore 1994).
    5. Those whose loss exceeds the best by no more than `tolerance` standard errors of the paired
       difference cannot be told apart; they are averaged with convex weights that best predict the
       held-out outcomes, and refitted on all contexts. `tolerance=0` takes the single best.

    Parameters
    ----------
    candidates
        Learners by name, or None for `default_candidates()`. Candidates whose base regressor does not suit the number
        of rows or features are skipped.
    criterion
        "r", "dr" or "level": `r_losses`, `dr_losses` or `level_losses` of `nuisances`.
    tolerance
        Standard errors within which candidates count as tied.
    folds
        Cross-fitting folds.
    race
        Whether candidates drop out, where the first folds hold `LEAST_RACED` contexts or more and `tolerance` is at
        most two.
    range_share
        How far levels may leave the training outcome range; handed to every candidate.
    random_state
        Seed of folds and candidates; the same seed gives the same result.

    Attributes
    ----------
    candidates_
        One `CandidateScore` per candidate that was compared on all folds, best first.
    dropped_
        Names of the candidates that dropped out.
    best_
        Name of the candidate with the lowest loss. Its weight may still be 0, if candidates tied with it predict the
        held-out outcomes better.
    learners_
        Name to fitted learner, for those with a positive weight.
    weights_
        Name to weight, likewise.
    skipped_
        Name to the reason why a candidate was not tried.
    propensity_
        The fitted propensity model.
    overlap_
        `OverlapDiagnostics` of the training data.
    held_out_residuals_
        Outcome minus the averaged level from fits that did not see the context, shape (context,).
    """

    def __init__(
        self,
        candidates: Mapping[str, LevelLearner] | None = None,
        criterion: str = "r",
        tolerance: float = 1.0,
        folds: int = 5,
        race: bool = True,
        range_share: float = RANGE_SHARE,
        random_state: int = 0,
    ) -> None:
        self.candidates = candidates
        self.criterion = criterion
        self.tolerance = tolerance
        self.folds = folds
        self.race = race
        self.range_share = range_share
        self.random_state = random_state

    def _fit_levels(self, data: LoggedData) -> None:
        if self.criterion not in CRITERIA:
            raise InputError(f"criterion {self.criterion!r} is unknown; allowed: {', '.join(CRITERIA)}.")
        table = default_candidates() if self.candidates is None else dict(self.candidates)
        tried, self.skipped_ = split_by_size(table, *data.X.shape)
        if not tried:
            raise CausalDataError(f"no candidate suits data of shape {data.X.shape}: {self.skipped_}")
        learners = {name: self._prepared(learner) for name, learner in tried.items()}
        self.propensity_ = fit_propensities(data, self.folds, self.random_state)
        self.overlap_ = overlap_diagnostics(self.propensity_.held_out_, data.actions)
        propensities = clip_propensities(self.propensity_.held_out_)
        levels = self._held_out(learners, data, propensities)
        self.dropped_ = tuple(name for name in learners if name not in levels)
        learners, held_out = {name: learners[name] for name in levels}, np.stack(list(levels.values()))
        losses = candidate_losses(held_out, propensities, data, self.criterion)
        weights = shortlist_weights(losses, held_out, data, self.tolerance)
        self.candidates_ = _scores(list(learners), losses, held_out, data, weights)
        self.best_ = self.candidates_[0].name
        self.weights_ = {name: float(w) for name, w in zip(learners, weights, strict=True) if w > 0}
        self.held_out_residuals_ = data.outcomes - weights @ _taken(held_out, data.actions)
        self.learners_ = {name: learners[name].fit_part(data) for name in self.weights_}

    def _raw_levels(self, X: Values) -> Values:
        levels = np.zeros((self.n_actions_, X.shape[0]))
        for name, weight in self.weights_.items():
            levels += weight * self.learners_[name].predict_levels(X)
        return levels

    def _prepared(self, learner: LevelLearner) -> LevelLearner:
        """A copy that uses this learner's seed and bounds."""
        copy: LevelLearner = clone(learner)
        shared = {"range_share": self.range_share, "random_state": self.random_state}
        known = copy.get_params(deep=False)
        copy.set_params(**{key: value for key, value in shared.items() if key in known})
        return copy

    def _held_out(
        self, learners: Mapping[str, LevelLearner], data: LoggedData, propensities: Values
    ) -> dict[str, Values]:
        """Levels of every context from fits without its fold, (action, context), by learners that did not drop out."""
        levels = {name: np.empty((data.n_actions, data.actions.size)) for name in learners}
        parts = action_folds(data.actions, self.folds, self.random_state, data.groups)
        for number, (train, test) in enumerate(parts):
            if self.race and self.tolerance <= CLEARLY_WORSE and number >= RACE_FOLDS:
                known = np.sort(np.concatenate([rows for _, rows in parts[:number]]))
                levels = self._in_reach(levels, data, propensities, known)
            part = data.rows(train)
            for name, held_out in levels.items():
                # A fold of checked data: only the whole must reach the minimum number of rows per action.
                held_out[:, test] = clone(learners[name]).fit_part(part).predict_levels(data.X[test])
        return levels

    def _in_reach(
        self, levels: dict[str, Values], data: LoggedData, propensities: Values, rows: WholeNumbers
    ) -> dict[str, Values]:
        """Leave out the levels of learners that are clearly worse than the best on some contexts."""
        part = data.rows(rows)
        if len(levels) < 2 or len(rows) < LEAST_RACED or part.counts().min() == 0:
            return levels
        known = np.stack([held_out[:, rows] for held_out in levels.values()])
        losses = candidate_losses(known, propensities[:, rows], part, self.criterion)
        kept = within_reach(losses, part.groups)
        return {name: held_out for (name, held_out), stays in zip(levels.items(), kept, strict=True) if stays}


def candidate_losses(held_out: Values, propensities: Values, data: LoggedData, criterion: str) -> Values:
    """The criterion per candidate and context, shape (candidate, context), from held-out levels."""
    outcome_levels = np.empty(held_out.shape[1:])
    for action in range(data.n_actions):
        taken = data.actions == action
        weights = convex_weights(held_out[:, action, taken], data.outcomes[taken])
        outcome_levels[action] = weights @ held_out[:, action]
    mean_outcome = np.sum(propensities * outcome_levels, axis=0)
    scores = pseudo_levels(outcome_levels, propensities, data.actions, data.outcomes)
    reference = int(np.argmax(data.counts()))
    logged: tuple[WholeNumbers, Values] = (data.actions, data.outcomes)
    loss: dict[str, Callable[[Values], Values]] = {
        "r": lambda levels: r_losses(levels, mean_outcome, propensities, *logged),
        "dr": lambda levels: dr_losses(levels, scores, reference),
        "level": lambda levels: level_losses(levels, propensities, *logged),
    }
    return np.stack([loss[criterion](levels) for levels in held_out])


def shortlist_weights(losses: Values, held_out: Values, data: LoggedData, tolerance: float) -> Values:
    """Convex weights of the candidates tied with the best one, 0 for the others, shape (candidate,)."""
    best = int(np.argmin(losses.mean(axis=1)))
    gaps = losses - losses[best]
    errors = _mean_errors(gaps, data)
    tied = np.flatnonzero(gaps.mean(axis=1) <= tolerance * errors)
    if tolerance == 0:
        tied = np.array([best])
    weights = np.zeros(losses.shape[0])
    weights[tied] = convex_weights(_taken(held_out[tied], data.actions), data.outcomes)
    return weights


def convex_weights(predictions: Values, outcomes: Values) -> Values:
    """Weights >= 0 summing to one with the least squared error of the weighted prediction.

    Non-negative least squares with the sum as a heavily weighted extra equation (Lawson and Hanson 1974,
    chapter 23).

    Parameters
    ----------
    predictions
        Shape (candidate, context).
    outcomes
        Shape (context,).
    """
    # Both sides are centred at the mean outcome, which changes nothing for weights that sum to one.
    columns, target = predictions.T - outcomes.mean(), outcomes - outcomes.mean()
    size = max(float(np.linalg.norm(target)), float(np.linalg.norm(columns)))
    scale = SUM_WEIGHT * size if size > 0 else 1.0
    design = np.vstack([columns, np.full(predictions.shape[0], scale)])
    weights = nnls(design, np.append(target, scale))[0]
    weights[weights < 1e-3 * weights.sum()] = 0.0  # a thousandth is not worth a fit
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _taken(levels: Values, actions: WholeNumbers) -> Values:
    """The level of the action taken, shape (candidate, context)."""
    return levels[:, actions, np.arange(actions.size)]


def _mean_errors(values: Values, data: LoggedData) -> Values:
    """Standard errors of means over contexts, the last axis; whole groups vary where there are groups."""
    if data.groups is not None:
        return standard_error(values, data.groups)
    return np.asarray(values.std(axis=-1) / np.sqrt(values.shape[-1]))


def _scores(
    names: list[str], losses: Values, held_out: Values, data: LoggedData, weights: Values
) -> list[CandidateScore]:
    means = losses.mean(axis=1)
    gaps = losses - losses[int(np.argmin(means))]
    errors = np.mean((_taken(held_out, data.actions) - data.outcomes) ** 2, axis=1)
    return [
        CandidateScore(
            name=names[k],
            loss=float(means[k]),
            standard_error=float(_mean_errors(losses[k], data)),
            gap=float(gaps[k].mean()),
            gap_standard_error=float(_mean_errors(gaps[k], data)),
            outcome_error=float(errors[k]),
            weight=float(weights[k]),
        )
        for k in np.argsort(means, kind="stable")
    ]


_PACKAGE = "accordant.learning.causal"

TRUSTED_TYPES: list[str] = [
    f"{_PACKAGE}.meta_learners.DRLearner",
    f"{_PACKAGE}.base_learners.ExponentialMeanRegressor",
    f"{_PACKAGE}.base_learners.GaussianProcessGridRegressor",
    f"{_PACKAGE}.base_learners.RidgeByRows",
    f"{_PACKAGE}.propensity.OverlapDiagnostics",
    f"{_PACKAGE}.propensity.PropensityModel",
    f"{_PACKAGE}.meta_learners.SLearner",
    f"{_PACKAGE}.selection.CandidateScore",
    f"{_PACKAGE}.selection.SelectedCausalLearner",
    f"{_PACKAGE}.meta_learners.TLearner",
    f"{_PACKAGE}.meta_learners.TransferLearner",
    f"{_PACKAGE}.meta_learners.XLearner",
    # scikit-learn's own fitted trees, which skops does not trust by itself
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
]
"""The trust list of every learner in `accordant.learning.causal`, fitted with any base regressor of the table."""
