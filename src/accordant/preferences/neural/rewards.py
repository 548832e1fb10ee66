"""`NeuralReward`: a fitted network with the latent vectors of its users."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.preferences.learners.learner import RewardModel, checked_features
from accordant.preferences.neural.latents import Latents
from accordant.preferences.neural.networks import RewardNetwork
from accordant.preferences.records import Comparisons

BLOCK = 65_536  # items or records at a time


@dataclass(frozen=True, eq=False)
class NeuralReward(RewardModel):
    """Rewards from a network that reads an item and a user's latent vector.

    Attributes
    ----------
    network
        From features and latent vector to a reward.
    latents
        Where latent vectors come from.
    trained
        The records of the users it knows by position.
    mean, spread
        By which features are standardised, shape (feature,).
    held_out_loss
        Mean loss on the records by which the number of steps was chosen, of a network that was not trained on them; NaN
        without such records.
    """

    network: RewardNetwork
    latents: Latents
    trained: Comparisons
    mean: Values
    spread: Values
    held_out_loss: float

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        known = user is not None and 0 <= user < len(self._known)
        latent = self._known[user] if known else self.latents.of_stranger()
        return self._asked(features, latent.expand(len(features), -1))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        of_users = self.latents.of_users(comparisons)
        latent = of_users[comparisons.users]
        chosen = self._asked(comparisons.features, latent, comparisons.chosen)
        return chosen - self._asked(comparisons.features, latent, comparisons.rejected)

    def adapted(self, comparisons: Comparisons) -> NeuralReward:
        """Return the same network for other users, known by these records."""
        ready = standardised(comparisons, self.mean, self.spread)
        return NeuralReward(
            self.network, self.latents.adapted(ready), ready, self.mean, self.spread, self.held_out_loss
        )  # fmt: skip

    def _asked(self, features: Values, latent: torch.Tensor, rows: NDArray[np.intp] | None = None) -> Values:
        """Return rewards of items, or of the items in some rows, in blocks."""
        features = checked_features(features, len(self.mean))
        rows = np.arange(len(features)) if rows is None else rows
        found = np.empty(len(rows))
        with torch.no_grad():
            for start in range(0, len(rows), BLOCK):
                part = slice(start, start + BLOCK)
                ready = (features[rows[part]] - self.mean) / self.spread
                found[part] = self.network(torch.from_numpy(ready.astype(np.float32)), latent[part]).numpy()
        return found

    @cached_property
    def _known(self) -> torch.Tensor:
        return self.latents.of_users(self.trained)


def standardised(comparisons: Comparisons, mean: Values, spread: Values) -> Comparisons:
    """Return records whose items have standardised features."""
    return replace(comparisons, features=(comparisons.features - mean) / spread)
