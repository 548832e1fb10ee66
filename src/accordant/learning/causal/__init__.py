"""Causal outcome models: outcome levels per action from logged data.

Words: a *level* is E[outcome | context, action]; an *effect* is a difference of two levels; a *propensity* is
P(action | context) under the logged behaviour; an *arm* is the set of contexts in which one action was taken.

`SelectedCausalLearner` is the default. All learners share `fit(X, actions, outcomes)` and
`predict_levels(X) -> (action, context)`.
"""

from accordant.learning.causal.base_learners import BASE_REGRESSORS, BaseRegressor
from accordant.learning.causal.level_learner import CausalDataError, LevelLearner, LoggedData
from accordant.learning.causal.meta_learners import DRLearner, SLearner, TLearner, TransferLearner, XLearner
from accordant.learning.causal.nuisances import dr_losses, level_losses, pseudo_levels, r_losses
from accordant.learning.causal.propensity import (
    OverlapDiagnostics,
    PropensityModel,
    clip_propensities,
    overlap_diagnostics,
)
from accordant.learning.causal.selection import TRUSTED_TYPES, CandidateScore, SelectedCausalLearner, default_candidates

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
