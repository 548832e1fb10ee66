"""A reward of items for a latent vector z of the user, and an encoder from a user's answered pairs to z.

The encoder and its use of z are those of variational preference learning (Poddar et al. 2024), re-implemented from the
formulas: every pair (chosen, rejected) is encoded, a user's pairs are averaged with attention weights, and a normal
distribution of z is read off the mean. z is scaled to length √k in training and afterwards alike.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

LARGEST_LOG_VARIANCE = 1.0  # log σ² is kept within ±1, as published
SHORTEST = 1e-6  # lengths below this are not scaled up


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
        heard = present.any(dim=1, keepdim=True)
        weights = torch.softmax(torch.where(heard, scores, torch.zeros_like(scores)), dim=1)
        mean = (weights[..., None] * encoded).sum(dim=1) * heard
        variance = self.log_variance(mean).clamp(-LARGEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)
        return self.mean(mean), variance


def scaled(latent: Tensor) -> Tensor:
    """Return √k z / |z|, shape as given; vectors of almost no length stay."""
    length = latent.norm(dim=-1, keepdim=True)
    return torch.where(length > SHORTEST, latent * latent.shape[-1] ** 0.5 / length.clamp_min(SHORTEST), latent)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return the mean over users of KL(N(μ, σ²) ‖ N(0, 1)), a number."""
    return 0.5 * (mean**2 + log_variance.exp() - 1.0 - log_variance).sum(dim=-1).mean()
