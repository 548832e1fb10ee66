"""The types that a model file may hold beyond those that skops trusts by itself."""

from __future__ import annotations

from accordant.learning.causal.trusted_types import TRUSTED_TYPES

_CLASSIFICATION = "accordant.learning.classification"
_BOOSTING = "sklearn.ensemble._hist_gradient_boosting"

TRUSTED = frozenset(
    {
        *TRUSTED_TYPES,
        f"{_CLASSIFICATION}.blend.Blend",
        f"{_CLASSIFICATION}.calibration.CalibratedProbabilities",
        f"{_CLASSIFICATION}.candidates.Candidate",
        f"{_CLASSIFICATION}.hinges.HingeFeatures",
        f"{_CLASSIFICATION}.selection.CandidateScore",
        f"{_CLASSIFICATION}.selection.SelectedClassifier",
        f"{_CLASSIFICATION}.brier.MeanWithError",
        "sklearn._loss._loss.CyHalfMultinomialLoss",
        "sklearn._loss._loss.CyHalfBinomialLoss",
        "sklearn._loss._loss.CyHalfSquaredError",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        f"{_BOOSTING}.binning._BinMapper",
        f"{_BOOSTING}.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
    }
)
