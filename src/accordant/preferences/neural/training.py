"""Stochastic gradients on the losses of the linear learners; the network that did best on held-out records is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from accordant.preferences.neural.latents import Latents
from accordant.preferences.neural.networks import RewardNetwork
from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]
Codes = NDArray[np.intp]

CYCLES = 4  # of the weight of the KL divergence: half of each rises from 0 to 1, half stays (Fu et al. 2019)
CHECK_EVERY = 50  # steps between two looks at the held-out records


@dataclass(frozen=True, eq=False)
class Terms:
    """What the loss of each record is made of; the names are those of `LogisticProblem`.

    Attributes
    ----------
    weights
        Shape (record,), mean 1 over the training records.
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

    def losses(self, margins: Tensor, records: Codes) -> Tensor:
        """Return the loss of records with these margins, both of shape (any,)."""
        weights, targets, offsets, pull, strength = (
            torch.from_numpy(each[records].astype(np.float32))
            for each in (self.weights, self.targets, self.offsets, self.pull_margins, self.pull_weights)
        )
        if margins.shape != weights.shape:
            raise ValueError(f"margins have shape {tuple(margins.shape)}; allowed: {tuple(weights.shape)}")
        moved = margins + offsets
        return weights * (softplus(moved) - targets * moved) + strength * (margins - pull) ** 2


@dataclass(frozen=True)
class Training:
    """How long and how fast; see `accordant.preferences.learners.neural.NeuralLearner`."""

    steps: int
    batch: int
    rate: float
    decay: float
    divergence: float


def trained(
    network: RewardNetwork, latents: Latents, comparisons: Comparisons, terms: Terms,
    held_out: Codes, settings: Training, generator: np.random.Generator,
) -> float:  # fmt: skip
    """Train in place, and return the mean loss on held-out records of the network that is kept."""
    features = torch.from_numpy(comparisons.features.astype(np.float32))
    modules = [network] if latents.module is None else [network, latents.module]
    optimiser = torch.optim.Adam(
        chain.from_iterable(module.parameters() for module in modules), lr=settings.rate, weight_decay=settings.decay
    )
    shares = None if terms.groups is None else np.full(int(terms.groups.max()) + 1, 1.0 / (terms.groups.max() + 1))
    best, kept = np.inf, [_copied(module) for module in modules]
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
            found = _held_out_loss(network, latents, features, comparisons, terms, held_out)
            if found < best:
                best, kept = found, [_copied(module) for module in modules]
    if len(held_out):
        for module, state in zip(modules, kept, strict=True):
            module.load_state_dict(state)
    return float(best) if np.isfinite(best) else float("nan")


@contextmanager
def one_thread(seed: int) -> Iterator[None]:
    """Seed torch, and keep it to one thread: with more, sums depend on how they are split."""
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
    """Return the mean loss on held-out records, or that of the worst group."""
    with torch.no_grad():
        latent = latents.of_users(comparisons)[comparisons.users[held_out]]
        losses = terms.losses(_margins(network, features, comparisons, held_out, latent), held_out)
    if terms.groups is None:
        return float(losses.mean())
    groups = terms.groups[held_out]
    return max(float(losses[groups == group].mean()) for group in np.unique(groups))


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


def _copied(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}
