"""One ridge for all methods, chosen for the pooled reward: what everything is compared with must not be a straw man.

Training records are dealt into folds that share no item of a user, and the pooled reward of the others is judged by its
log-loss on each. [ours]
The chosen ridge is every learner's that has one, unless it is named with another: methods then differ in what they know
of users, not in how much they trust features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.preferences.comparison.randomness import branch
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.learners.solving.logistic import log_loss
from accordant.preferences.learners.users.item_folds import item_folds
from accordant.preferences.records import Comparisons

RIDGES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)
FOLDS = 5


@dataclass(frozen=True)
class RidgeChoice:
    """The chosen ridge, and the mean log-loss of each on records that were not learned from."""

    ridge: float
    losses: dict[float, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "value": self.ridge,
            "folds": FOLDS,
            "log_loss": [{"ridge": ridge, "value": loss} for ridge, loss in self.losses.items()],
        }


def chosen_ridge(training: Comparisons, *, seed: int) -> RidgeChoice:
    """Return the ridge under which the pooled reward foretells training records best that it did not learn from.

    Parameters
    ----------
    training
        Records that are learned from. If none can be held out, the smallest ridge is taken untried.
    seed
        Of the folds. Of equally good ridges the larger one is taken.
    """
    weighing = np.flatnonzero(training.record_weights > 0)
    if len(weighing) < 2:
        return RidgeChoice(RIDGES[0], {})
    records = training.take(weighing)
    folds = item_folds(records, FOLDS, branch(seed, "folds"))
    losses, total = dict.fromkeys(RIDGES, 0.0), 0.0
    for k in range(FOLDS):
        others, own = (np.flatnonzero(part) for part in (folds.known(k), folds.held_out(k)))
        if not len(others) or not len(own):
            continue
        known, judged = records.take(others), records.take(own)
        total += float(judged.record_weights.sum())
        for ridge in RIDGES:
            margins = BradleyTerry(ridge=ridge).fit(known).margins(judged)
            losses[ridge] += float(judged.record_weights @ log_loss(margins))
    if not total:
        return RidgeChoice(RIDGES[0], {})
    means = {ridge: loss / total for ridge, loss in losses.items()}
    return RidgeChoice(min(reversed(RIDGES), key=lambda ridge: means[ridge]), means)
