"""Utilitarian list: the items with the highest weighted sum of expected rewards (Harsanyi 1955)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.slates.candidates import Candidates
from accordant.slates.rule import SlateRule, register
from accordant.slates.rules.welfare.best import best_items
from accordant.slates.slates import Slates
from accordant.strategies.reductions import weighted_sum


@register("utilitarian_slate")
@dataclass(frozen=True)
class UtilitarianSlate(SlateRule):
    """Maximise Σ_i w_i Σ_{c in S} E[i, c, u], with expected rewards as they are, not normalised.

    The sum over the list is largest for the k items with the largest sums, so the list is the best one.
    """

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the best items by the weighted mean."""
        weights = candidates.weights
        scores = np.empty(candidates.available.shape)
        weighted_sum(candidates.values, weights / weights.sum(), scores)
        found = best_items(scores, candidates, k)
        return Slates(self.label, candidates.items, found.items, found.tied)
