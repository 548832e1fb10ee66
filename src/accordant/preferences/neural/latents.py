"""Where a user's latent vector comes from, while a network is trained and afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from accordant.arrays import Codes
from accordant.preferences.learners.users.contexts import UserContexts
from accordant.preferences.neural.networks import PairEncoder, divergence, scaled
from accordant.preferences.records import Comparisons

MOST_PAIRS = 64  # of a user, evenly spaced, by which the user is known once training is over


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
    """Contexts that are known before training; see `accordant.preferences.learners.users.contexts`."""

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
        of_record = np.repeat(np.arange(n_users), [len(each) for each in predicted])
        return Draw(np.concatenate(predicted), scaled(latent)[of_record], cost)

    def of_users(self, comparisons: Comparisons) -> Tensor:
        """Return vectors from all pairs of each user, at most 64 evenly spaced ones."""
        found = torch.zeros((comparisons.n_users, self.size))
        read = [rows[:: max(1, -(-len(rows) // MOST_PAIRS))] for rows in self.by_user[: comparisons.n_users]]
        with torch.no_grad():
            found[: len(read)] = scaled(self._encoded(read)[0])
        found[len(read) :] = self.of_stranger()
        return found

    def of_stranger(self) -> Tensor:
        """Return what the network reads off no pairs at all."""
        with torch.no_grad():
            return scaled(self._encoded([np.empty(0, dtype=np.intp)])[0])[0]

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
