"""A reward of items for a latent vector z of the user, and an encoder from a user's answered pairs to z.

The encoder and its use of z are those of variational preference learning (Poddar et al. 2024), re-implemented from the
formulas: every pair (chosen, rejected) is encoded, a user's pairs are averaged with attention weights, and a normal
distribution of z is read off the mean. z is scaled to length √k in training and afterwards alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from accordant.arrays import Codes, Values
from accordant.preferences.learners.learner import RewardModel, checked_features
from accordant.preferences.learners.user_contexts import UserContexts
from accordant.preferences.records import Comparisons

LARGEST_LOG_VARIANCE = 1.0  # log σ² is kept within ±1, as published
SHORTEST = 1e-6  # lengths below this are not scaled up
MOST_PAIRS = 64  # of a user, evenly spaced, by which the user is known once training is over
BLOCK = 65_536  # items or records at a time


class RewardNetwork(nn.Module):
    """Two layers from (item features, z) to a reward."""

    def __init__(self, n_features: int, n_latent: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features + n_latent, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1, bias=False),
        )  # fmt: skip

    def forward(self, features: Tensor, latent: Tensor) -> Tensor:
        """Return rewards, shape (any,), of features (any, feature) for latent vectors (any, k)."""
        rewards: Tensor = self.layers(torch.cat([features, latent], dim=-1))[..., 0]
        return rewards


class PairEncoder(nn.Module):
    """From a user's pairs to the mean and the log-variance of z."""

    def __init__(self, n_features: int, n_latent: int, hidden: int) -> None:
        super().__init__()
        self.pairs = nn.Sequential(nn.Linear(2 * n_features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.attention = nn.Linear(hidden, 1)
        self.mean = nn.Linear(hidden, n_latent)
        self.log_variance = nn.Linear(hidden, n_latent)

    def forward(self, chosen: Tensor, rejected: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of z, both of shape (user, k).

        Parameters
        ----------
        chosen, rejected
            Features, shape (user, pair, feature).
        present
            Which pairs are there, bool of shape (user, pair); a user without any is encoded as 0.
        """
        encoded = self.pairs(torch.cat([chosen, rejected], dim=-1))
        scores = self.attention(encoded)[..., 0].masked_fill(~present, -torch.inf)
        has_weight = present.any(dim=1, keepdim=True)
        weights = torch.softmax(torch.where(has_weight, scores, torch.zeros_like(scores)), dim=1)
        mean = (weights[..., None] * encoded).sum(dim=1) * has_weight
        variance = self.log_variance(mean).clamp(-LARGEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)
        return self.mean(mean), variance


def scale_to_length(latent: Tensor) -> Tensor:
    """Return √k z / |z|, shape as given; vectors of almost no length stay."""
    length = latent.norm(dim=-1, keepdim=True)
    return torch.where(length > SHORTEST, latent * latent.shape[-1] ** 0.5 / length.clamp_min(SHORTEST), latent)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return the mean over users of KL(N(μ, σ²) ‖ N(0, 1)), a number."""
    return 0.5 * (mean**2 + log_variance.exp() - 1.0 - log_variance).sum(dim=-1).mean()


@dataclass(frozen=True, eq=False)
class Draw:
    """Records of one step, the latent vectors of their users, and what these cost.

    Attributes
    ----------
    records
        Positions, shape (any,).
    latent
        Shape (any, k).
    cost
        KL divergence of the latent distribution, or 0.
    """

    records: Codes
    latent: Tensor
    cost: Tensor


class Latents(ABC):
    """A source of latent vectors."""

    size: int
    module: nn.Module | None

    @abstractmethod
    def drawn(self, generator: np.random.Generator, batch: int) -> Draw:
        """Return about `batch` training records with the vectors of their users, which never see the record itself."""

    @abstractmethod
    def of_users(self, comparisons: Comparisons) -> Tensor:
        """Return the vectors of trained users by position, shape (user, k); that of a stranger for others."""

    @abstractmethod
    def of_stranger(self) -> Tensor:
        """Return the vector of somebody of whom nothing is known, shape (k,)."""

    @abstractmethod
    def adapted(self, comparisons: Comparisons) -> Latents:
        """Return the same source for the users of other records."""


class KnownLatents(Latents):
    """Contexts that are known before training; see `accordant.preferences.learners.user_contexts`."""

    def __init__(self, comparisons: Comparisons, contexts: UserContexts | None, rows: Codes) -> None:
        self.contexts, self.rows, self.module = contexts, rows, None
        scales = np.ones((len(comparisons), 1)) if contexts is None else contexts.of_training_records(comparisons)
        self.of_records = torch.from_numpy(scales[:, 1:].astype(np.float32))
        self.size = self.of_records.shape[1]

    def drawn(self, generator: np.random.Generator, batch: int) -> Draw:
        """Return records drawn alike."""
        records = generator.choice(self.rows, batch)
        return Draw(records, self.of_records[records], torch.zeros(()))

    def of_users(self, comparisons: Comparisons) -> Tensor:
        """Return the users' contexts."""
        if self.contexts is None:
            return torch.zeros((comparisons.n_users, 0))
        return torch.from_numpy(self.contexts.of_users(comparisons)[:, 1:].astype(np.float32))

    def of_stranger(self) -> Tensor:
        """Return the mean context, 0."""
        return torch.zeros(self.size)

    def adapted(self, comparisons: Comparisons) -> KnownLatents:
        """Return contexts of other users."""
        contexts = None if self.contexts is None else self.contexts.adapted(comparisons)
        return KnownLatents(comparisons, contexts, np.arange(len(comparisons)))


class EncodedLatents(Latents):
    """Vectors that a network reads off some of a user's pairs, to predict the user's other pairs.

    Parameters
    ----------
    comparisons, rows
        Records, and those of them that may be read; how much they weigh is not read.
    encoder
        The network.
    shown
        Most pairs read in a training step.
    variational
        Whether z is drawn from its normal distribution in training; afterwards it is the mean.
    """

    def __init__(
        self, comparisons: Comparisons, rows: Codes, encoder: PairEncoder, *, shown: int, variational: bool
    ) -> None:
        self.module, self.encoder, self.shown, self.variational = encoder, encoder, shown, variational
        self.size = encoder.mean.out_features
        self.comparisons = comparisons
        self.features = torch.from_numpy(comparisons.features.astype(np.float32))
        order = rows[np.argsort(comparisons.users[rows], kind="stable")]
        cuts = np.searchsorted(comparisons.users[order], np.arange(comparisons.n_users + 1))
        self.by_user = [order[start:end] for start, end in pairwise(cuts)]
        self.counts = np.diff(cuts)

    def drawn(self, generator: np.random.Generator, batch: int) -> Draw:
        """Return records of users drawn by how many they have, each user's split into read and predicted ones."""
        n_users = max(1, batch // (2 * self.shown))
        users = generator.choice(len(self.counts), n_users, p=self.counts / self.counts.sum())
        read, predicted = [], []
        for user in users:
            turned = generator.permutation(self.by_user[user])
            n_read = min(int(generator.integers(0, self.shown + 1)), len(turned) - 1)
            read.append(turned[:n_read])
            predicted.append(turned[n_read : n_read + self.shown])
        mean, log_variance = self._encoded(read)
        latent, cost = mean, torch.zeros(())
        if self.variational:
            noise = torch.from_numpy(generator.normal(size=tuple(mean.shape)).astype(np.float32))
            latent, cost = mean + (0.5 * log_variance).exp() * noise, divergence(mean, log_variance)
        of_record = np.repeat(np.arange(n_users), [len(rows) for rows in predicted])
        return Draw(np.concatenate(predicted), scale_to_length(latent)[of_record], cost)

    def of_users(self, comparisons: Comparisons) -> Tensor:
        """Return vectors from all pairs of each user, at most 64 evenly spaced ones."""
        vectors = torch.zeros((comparisons.n_users, self.size))
        read = [rows[:: max(1, -(-len(rows) // MOST_PAIRS))] for rows in self.by_user[: comparisons.n_users]]
        with torch.no_grad():
            vectors[: len(read)] = scale_to_length(self._encoded(read)[0])
        vectors[len(read) :] = self.of_stranger()
        return vectors

    def of_stranger(self) -> Tensor:
        """Return what the network reads off no pairs at all."""
        with torch.no_grad():
            return scale_to_length(self._encoded([np.empty(0, dtype=np.intp)])[0])[0]

    def adapted(self, comparisons: Comparisons) -> EncodedLatents:
        """Return vectors that the same network reads off other users' pairs."""
        rows = np.flatnonzero(comparisons.record_weights > 0)
        return EncodedLatents(comparisons, rows, self.encoder, shown=self.shown, variational=self.variational)

    def _encoded(self, read: list[Codes]) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance for lists of records, one list per user."""
        longest = max(1, *map(len, read))
        table = np.zeros((len(read), longest), dtype=np.intp)
        present = np.zeros((len(read), longest), dtype=bool)
        for row, records in enumerate(read):
            table[row, : len(records)], present[row, : len(records)] = records, True
        if not len(self.comparisons):
            empty: Any = torch.zeros((len(read), longest, self.features.shape[1]))
            return self.encoder(empty, empty, torch.from_numpy(present))
        chosen, rejected = self.comparisons.chosen[table], self.comparisons.rejected[table]
        return self.encoder(self.features[chosen], self.features[rejected], torch.from_numpy(present))


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
        ready = standardise(comparisons, self.mean, self.spread)
        return NeuralReward(
            self.network, self.latents.adapted(ready), ready, self.mean, self.spread, self.held_out_loss
        )  # fmt: skip

    def _asked(self, features: Values, latent: torch.Tensor, rows: NDArray[np.intp] | None = None) -> Values:
        """Return rewards of items, or of the items in some rows, in blocks."""
        features = checked_features(features, len(self.mean))
        rows = np.arange(len(features)) if rows is None else rows
        rewards = np.empty(len(rows))
        with torch.no_grad():
            for start in range(0, len(rows), BLOCK):
                part = slice(start, start + BLOCK)
                ready = (features[rows[part]] - self.mean) / self.spread
                rewards[part] = self.network(torch.from_numpy(ready.astype(np.float32)), latent[part]).numpy()
        return rewards

    @cached_property
    def _known(self) -> torch.Tensor:
        return self.latents.of_users(self.trained)


def standardise(comparisons: Comparisons, mean: Values, spread: Values) -> Comparisons:
    """Return records whose items have standardised features."""
    return replace(comparisons, features=(comparisons.features - mean) / spread)
