"""Causal outcome models: outcome levels per action from logged data.

Words: a *level* is E[outcome | context, action]; an *effect* is a difference of two levels; a *propensity* is
P(action | context) under the logged behaviour; an *arm* is the set of contexts in which one action was taken.

`SelectedCausalLearner` is the default. All learners share `fit(X, actions, outcomes)` and
`predict_levels(X) -> (action, context)`.
"""

from accordant.learning.causal.base_learners import BASE_REGRESSORS, BaseRegressor
from accordant.learning.causal.candidates import default_candidates
from accordant.learning.causal.dr_learner import DRLearner
from accordant.learning.causal.level_learner import LevelLearner
from accordant.learning.causal.losses import dr_losses, level_losses, pseudo_levels, r_losses
from accordant.learning.causal.overlap import OverlapDiagnostics, overlap_diagnostics
from accordant.learning.causal.propensity import PropensityModel, clip_propensities
from accordant.learning.causal.s_learner import SLearner
from accordant.learning.causal.selection import CandidateScore, SelectedCausalLearner
from accordant.learning.causal.t_learner import TLearner
from accordant.learning.causal.training_data import CausalDataError, LoggedData
from accordant.learning.causal.transfer_learner import TransferLearner
from accordant.learning.causal.trusted_types import TRUSTED_TYPES
from accordant.learning.causal.x_learner import XLearner

__all__ = [
    "BASE_REGRESSORS",
    "TRUSTED_TYPES",
    "BaseRegressor",
    "CandidateScore",
    "CausalDataError",
    "DRLearner",
    "LevelLearner",
    "LoggedData",
    "OverlapDiagnostics",
    "PropensityModel",
    "SLearner",
    "SelectedCausalLearner",
    "TLearner",
    "TransferLearner",
    "XLearner",
    "clip_propensities",
    "default_candidates",
    "dr_losses",
    "level_losses",
    "overlap_diagnostics",
    "pseudo_levels",
    "r_losses",
]
