"""Discrete outcome models f(o | x, a): calibrated probabilities, averaged by cross-validated Brier score."""

from __future__ import annotations

from accordant.learning.classification.blend import Blend
from accordant.learning.classification.calibration import CalibratedProbabilities
from accordant.learning.classification.candidates import Candidate, default_candidates
from accordant.learning.classification.selection import CandidateScore, SelectedClassifier

__all__ = [
    "Blend",
    "CalibratedProbabilities",
    "Candidate",
    "CandidateScore",
    "SelectedClassifier",
    "default_candidates",
]
