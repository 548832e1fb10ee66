"""Stochastic gradients on the losses of the linear learners, and after how many steps to stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.learners.logistic import LogisticProblem, Pull
from accordant.preferences.networks import Latents, RewardNetwork
from accordant.preferences.records import Comparisons

CYCLES = 4  # of the weight of the KL divergence: half of each rises from 0 to 1, half stays (Fu et al. 2019)
CHECK_EVERY = 50  # steps between two looks at the held-out records
TRAINING = threading.Lock()


@dataclass(frozen=True, eq=False)
class Terms:
    """What the loss of each record is made of; the names are those of `LogisticProblem`.

    Attributes
    ----------
    weights
        Shape (record,), mean 1 over the records, or over those of each group if the worst group decides.
    targets, offsets
        Shape (record,).
    pull_margins, pull_weights
        Margins that predictions are drawn towards, and how strongly, relative to the loss, shape (record,).
    groups
        Group of each record if the worst group decides, else None, shape (record,).
    rate
        η by which groups with higher loss gain weight in a step: q_g ← q_g exp(η L_g) (Sagawa et al. 2020).
    """

    weights: Values
    targets: Values
    offsets: Values
    pull_margins: Values
    pull_weights: Values
    groups: Codes | None = None
    rate: float = 0.01

    @classmethod
    def of(cls, problem: LogisticProblem, groups: Codes | None = None) -> Terms:
        """Return the terms of a linear learner's problem: the mean of the losses is its value, but for the ridge."""
        n_records = len(problem.differences)
        plain = np.ones(n_records) if problem.weights is None else problem.weights
        pull = problem.pull or Pull(np.zeros(n_records), np.zeros(n_records))
        means = plain.mean()
        if groups is not None:
            means = (np.bincount(groups, plain) / np.maximum(np.bincount(groups), 1))[groups]
        return cls(
            np.divide(plain, means, out=np.zeros(n_records), where=plain > 0),
            np.ones(n_records) if problem.targets is None else problem.targets,
            np.zeros(n_records) if problem.offsets is None else problem.offsets,
            pull.margins, pull.weights * n_records, groups,
        )  # fmt: skip

    def losses(self, margins: Tensor, records: Codes) -> Tensor:
        """Return the loss of records with these margins, both of shape (any,)."""
        weights, targets, offsets, pull, strength = (
            torch.from_numpy(term[records].astype(np.float32))
            for term in (self.weights, self.targets, self.offsets, self.pull_margins, self.pull_weights)
        )
        if margins.shape != weights.shape:
            raise InputError(f"margins have shape {tuple(margins.shape)}; allowed: {tuple(weights.shape)}")
        moved = margins + offsets
        return weights * (softplus(moved) - targets * moved) + strength * (moved - pull) ** 2


@dataclass(frozen=True)
class Training:
    """How long and how fast; see `accordant.preferences.learners.neural.NeuralLearner`."""

    steps: int
    batch: int
    rate: float
    decay: float
    divergence: float


@dataclass(frozen=True)
class Stop:
    """After how many steps to stop, and the mean loss on held-out records then; infinite if there were none."""

    steps: int
    loss: float


def trained(
    network: RewardNetwork, latents: Latents, comparisons: Comparisons, terms: Terms,
    held_out: Codes, settings: Training, generator: np.random.Generator,
) -> Stop:  # fmt: skip
    """Train in place, and return after how many steps the loss on held-out records was lowest."""
    features = torch.from_numpy(comparisons.features.astype(np.float32))
    modules = [network] if latents.module is None else [network, latents.module]
    optimiser = torch.optim.Adam(
        chain.from_iterable(module.parameters() for module in modules), lr=settings.rate, weight_decay=settings.decay
    )
    shares = None
    if terms.groups is not None:
        has_weight = np.bincount(terms.groups, terms.weights) > 0
        shares = has_weight / has_weight.sum()
    best = Stop(settings.steps, np.inf)
    for step in range(settings.steps):
        draw = latents.drawn(generator, settings.batch)
        losses = terms.losses(_margins(network, features, comparisons, draw.records, draw.latent), draw.records)
        if shares is None or terms.groups is None:
            loss = losses.mean()
        else:
            loss, shares = _worst(losses, terms.groups[draw.records], shares, terms.rate)
        loss = loss + settings.divergence * _annealed(step, settings.steps) * draw.cost
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if len(held_out) and ((step + 1) % CHECK_EVERY == 0 or step + 1 == settings.steps):
            held_out_loss = _held_out_loss(network, latents, features, comparisons, terms, held_out)
            if held_out_loss < best.loss:
                best = Stop(step + 1, held_out_loss)
    return best


@contextmanager
def one_thread(seed: int) -> Iterator[None]:
    """Seed torch, and keep it to one thread: with more, sums depend on how they are split.

    The state of torch belongs to all Python threads: one of them trains at a time.
    """
    with TRAINING:
        threads, state = torch.get_num_threads(), torch.get_rng_state()
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            torch.set_rng_state(state)


def _margins(
    network: RewardNetwork, features: Tensor, comparisons: Comparisons, records: Codes, latent: Tensor
) -> Tensor:
    chosen: Tensor = network(features[comparisons.chosen[records]], latent)
    return chosen - network(features[comparisons.rejected[records]], latent)


def _held_out_loss(
    network: RewardNetwork, latents: Latents, features: Tensor, comparisons: Comparisons, terms: Terms, held_out: Codes
) -> float:
    """Return the weighted mean loss on held-out records, or that of the worst group."""
    with torch.no_grad():
        latent = latents.of_users(comparisons)[comparisons.users[held_out]]
        losses = terms.losses(_margins(network, features, comparisons, held_out, latent), held_out)
    groups = np.zeros(len(held_out), dtype=np.intp) if terms.groups is None else terms.groups[held_out]
    totals = np.bincount(groups, terms.weights[held_out])
    sums = np.bincount(groups, losses.numpy().astype(np.float64))
    return float((sums[totals > 0] / totals[totals > 0]).max())


def _worst(losses: Tensor, groups: Codes, shares: Values, rate: float) -> tuple[Tensor, Values]:
    """Return the losses of groups by their shares, and the shares after this step."""
    means = {int(group): losses[torch.from_numpy(groups == group)].mean() for group in np.unique(groups)}
    raised = shares.copy()
    for group, mean in means.items():
        raised[group] *= np.exp(rate * float(mean.detach()))
    raised /= raised.sum()
    total: Tensor = torch.stack([float(raised[group]) * mean for group, mean in means.items()]).sum()
    return total, raised


def _annealed(step: int, steps: int) -> float:
    """Return the weight of the KL divergence at a step."""
    length = max(1, steps // CYCLES)
    return min(1.0, 2.0 * (step % length) / length)
