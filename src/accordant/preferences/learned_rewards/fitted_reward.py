"""`FittedComparisonReward`: a reward that was learned from comparisons, ready to be asked, saved and restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.preferences.learned_rewards.cells import CellFeatures
from accordant.preferences.learned_rewards.scale import Scale
from accordant.rewards import Outcome, RewardSignal


@dataclass(frozen=True, eq=False)
class FittedComparisonReward(RewardSignal):
    """A learned reward, ready to be asked.

    Attributes
    ----------
    features
        Of cells in contexts.
    coefficients
        W of each member, shape (member, cell feature, 1 + context column).
    scales
        From each member's learned reward to [0, 1].
    groups
        Group of each member: the reward is the lowest of the groups' means.
    about
        Where it comes from, see `provenance`.
    sentences
        See `warnings`.
    """

    features: CellFeatures
    coefficients: Values
    scales: tuple[Scale, ...]
    groups: tuple[int, ...]
    about: Mapping[str, Any]
    sentences: tuple[str, ...]

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> FittedComparisonReward:
        """Return the signal that `state` was taken from."""
        return cls(
            CellFeatures(**state["features"]),
            np.array(state["coefficients"], dtype=np.float64),
            tuple(Scale(*ends) for ends in state["scales"]),
            tuple(state["groups"]),
            state["about"],
            tuple(state["sentences"]),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the comparisons leave open, in sentences."""
        return self.sentences

    def provenance(self) -> dict[str, Any]:
        """Return file, sha256, counts of records, users and groups, learner, aggregation, and agreement."""
        return dict(self.about)

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Return the learned reward of a cell in each context, shape (context,)."""
        around = self.features.of_contexts(contexts)
        cell = self.features.of_cell(action, outcome, contexts.n_contexts)
        lowest: Values = np.ones(contexts.n_contexts)
        for group in dict.fromkeys(self.groups):
            members = [m for m, each in enumerate(self.groups) if each == group]
            total: Values = np.zeros(contexts.n_contexts)
            for member in members:
                slopes = np.einsum("cf,fk->ck", cell, self.coefficients[member])  # the same alone as in a batch
                total += self.scales[member](np.einsum("tk,tk->t", around, np.broadcast_to(slopes, around.shape)))
            lowest = np.minimum(lowest, total / len(members))
        return lowest

    def state(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "features": self.features.to_json(),
            "coefficients": self.coefficients.tolist(),
            "scales": [list(asdict(scale).values()) for scale in self.scales],
            "groups": list(self.groups),
            "about": dict(self.about),
            "sentences": list(self.sentences),
        }

    def restored(self, state: Mapping[str, Any]) -> FittedComparisonReward:
        """Return the signal that `state` was taken from."""
        return self.of_state(state)
