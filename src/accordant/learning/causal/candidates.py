"""The table of causal learners among which the default selection chooses."""

from __future__ import annotations

from collections.abc import Mapping

from accordant.learning.causal.base_learners import BASE_REGRESSORS
from accordant.learning.causal.dr_learner import DRLearner
from accordant.learning.causal.level_learner import LevelLearner
from accordant.learning.causal.s_learner import SLearner
from accordant.learning.causal.t_learner import TLearner
from accordant.learning.causal.transfer_learner import TransferLearner
from accordant.learning.causal.x_learner import XLearner


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
