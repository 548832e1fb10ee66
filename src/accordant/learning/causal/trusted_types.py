"""Types that `skops.io.load` has to be told to trust when it reads a saved causal learner."""

from __future__ import annotations

_PACKAGE = "accordant.learning.causal"

TRUSTED_TYPES: list[str] = [
    f"{_PACKAGE}.dr_learner.DRLearner",
    f"{_PACKAGE}.exponential_mean.ExponentialMeanRegressor",
    f"{_PACKAGE}.gaussian_process.GaussianProcessGridRegressor",
    f"{_PACKAGE}.overlap.OverlapDiagnostics",
    f"{_PACKAGE}.propensity.PropensityModel",
    f"{_PACKAGE}.s_learner.SLearner",
    f"{_PACKAGE}.selection.CandidateScore",
    f"{_PACKAGE}.selection.SelectedCausalLearner",
    f"{_PACKAGE}.t_learner.TLearner",
    f"{_PACKAGE}.transfer_learner.TransferLearner",
    f"{_PACKAGE}.x_learner.XLearner",
    # scikit-learn's own fitted trees, which skops does not trust by itself
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
]
"""The explicit trust list of every learner in this room, fitted with any base regressor of the table."""
