"""Draws from the posterior: on a path from normal distributions, by moves that leave it as it is.

`move_on_ellipses` moves many short chains side by side, for a density that is a normal one times a likelihood. A move
of elliptical slice sampling goes to a point on the ellipse through the state and a fresh draw of a normal distribution,
and leaves the target as it is (Murray, Adams and MacKay 2010). The normal distribution may be the prior or any other
that is divided out again (Nishihara, Murray and Adams 2014).

`tempered_draws` come from a density with several modes or steep edges, on a path from a mixture of normal
distributions:

    π_t ∝ q^(1 − t) π^t,   t from 0 to 1;   q = mixture of normal distributions

Draws of q are taken again in proportion to π_t' / π_t for the largest t' that leaves half of them in effect, then moved
on ellipses, until t = 1 (annealed importance sampling: Neal 2001; with resampling: Del Moral, Doucet and Jasra 2006).
Every mode that a normal distribution of q covers has its draws from the beginning, and the weights tell how much it
holds.

Two halves of the draws take the same steps, but are drawn and taken again apart; each moves on ellipses of the mean and
covariance of the other, so that a move never looks at the state it starts from. At the end both move on until their
means agree [ours]. What both miss, no agreement shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values

MOST_SHRINKS = 200  # of one bracket; each halves it on average, so rounding ends it far earlier
FEWEST = 200  # draws in each half: with fewer their covariance says little
IN_EFFECT = 0.5  # share of draws that a step leaves in effect
HALVINGS = 50  # of the search for the largest step; the last changes it by 10⁻¹⁵
MOVES = 2  # on ellipses, after each step of the path
FEWEST_SWEEPS, MOST_SWEEPS = 6, 40  # of moves at the end of the path
APART = 3.0  # standard errors between the means of halves that agree
BORROWED = 0.1  # of the covariance of the first mode, so that an ellipse reaches every direction


def move_on_ellipses(
    state: Values, log_density: Callable[[Values], Values], centre: Values, root: Values, generator: np.random.Generator
) -> Values:
    """Return one move of every chain on ellipses of N(centre, root rootᵀ), shape (chain, feature).

    Parameters
    ----------
    state
        Of each chain, shape (chain, feature).
    log_density
        From states to the logarithm of the target density, up to a constant, shape (chain,).
    centre, root
        Of the normal distribution, shapes (feature,) and (feature, feature), invertible.
    generator
        Source of randomness.
    """

    def log_ratio(standard: Values) -> Values:
        """Return the logarithm of target over normal density, at states in units of the latter."""
        return np.asarray(log_density(centre + standard @ root.T) + 0.5 * (standard**2).sum(axis=1))

    standard: Values = np.asarray(np.linalg.solve(root, (state - centre).T).T)
    return np.asarray(centre + _moved(standard, log_ratio, generator) @ root.T)


def _moved(state: Values, log_ratio: Callable[[Values], Values], generator: np.random.Generator) -> Values:
    """Return the next states, in units in which the normal distribution is N(0, I)."""
    n_chains = len(state)
    other = generator.standard_normal(state.shape)
    level = log_ratio(state) - generator.standard_exponential(n_chains)
    angle = generator.uniform(0.0, 2 * np.pi, n_chains)
    low, high = angle - 2 * np.pi, angle.copy()
    next_state = state.copy()
    open_ = np.arange(n_chains)
    for _ in range(MOST_SHRINKS):
        turned = angle[open_, None]
        proposed = state[open_] * np.cos(turned) + other[open_] * np.sin(turned)
        good = log_ratio(proposed) >= level[open_]
        next_state[open_[good]] = proposed[good]
        open_ = open_[~good]
        if not len(open_):
            break
        below = angle[open_] < 0
        low[open_[below]] = angle[open_[below]]
        high[open_[~below]] = angle[open_[~below]]
        angle[open_] = generator.uniform(low[open_], high[open_])
    return next_state


LogDensity = Callable[[Values], Values]


@dataclass(frozen=True, eq=False)
class Normal:
    """N(centre, root rootᵀ).

    Attributes
    ----------
    centre, root
        Shapes (feature,) and (feature, feature), lower triangular or not, invertible.
    """

    centre: Values
    root: Values

    @cached_property
    def _inverse(self) -> Values:
        """Inverse of the root, shape (feature, feature)."""
        return np.asarray(np.linalg.inv(self.root))

    @cached_property
    def _constant(self) -> float:
        """Logarithm of the absolute determinant of the root."""
        return float(np.linalg.slogdet(self.root)[1])

    def draws(self, n: int, generator: np.random.Generator) -> Values:
        """Return independent draws, shape (n, feature)."""
        return np.asarray(self.centre + generator.standard_normal((n, len(self.centre))) @ self.root.T)

    def log_density(self, states: Values) -> Values:
        """Return the logarithm of the density up to a constant of the number of features, shape (state,)."""
        standard = (states - self.centre) @ self._inverse.T
        return np.asarray(-0.5 * (standard**2).sum(axis=1) - self._constant)

    @classmethod
    def of(cls, states: Values, beside: Normal) -> Normal:
        """Return mean and covariance of states, shape (state, feature), widened by a share of another's covariance."""
        away = states - states.mean(axis=0)
        covariance = away.T @ away / len(states) + BORROWED * beside.root @ beside.root.T
        return cls(states.mean(axis=0), np.asarray(np.linalg.cholesky(covariance)))


def tempered_draws(
    normals: tuple[Normal, ...], log_density: LogDensity, n: int, generator: np.random.Generator
) -> Values:
    """Return draws from a density, shape (n, feature); deterministic given the generator.

    Parameters
    ----------
    normals
        What the mixture q is made of, in equal parts: the first covers everything, the others one mode each.
    log_density
        From states to the logarithm of the density up to a constant, shape (state,).
    n
        Number of draws, at least 1.
    generator
        Source of randomness.
    """

    def log_start(states: Values) -> Values:
        """Return log q, up to a constant."""
        return np.asarray(np.logaddexp.reduce([normal.log_density(states) for normal in normals], axis=0))

    size = max(FEWEST, -(-n // 2))
    halves = [_started(normals, size, generator) for _ in range(2)]
    reached = 0.0
    while reached < 1.0:
        gains = [log_density(half) - log_start(half) for half in halves]
        step = min(_largest_step(gain, 1.0 - reached) for gain in gains)
        reached = 1.0 if step >= 1.0 - reached else reached + step
        halves = [half[resample(step * gain, generator)] for half, gain in zip(halves, gains, strict=True)]

        def log_between(states: Values, share: float = reached) -> Values:
            """Return log π_t, up to a constant."""
            target = share * log_density(states)
            return target if share == 1.0 else np.asarray(target + (1.0 - share) * log_start(states))

        for _ in range(MOVES):
            halves = sweep(halves, log_between, normals, generator)
    for count in range(MOST_SWEEPS):
        if count >= FEWEST_SWEEPS and _agree(*halves):
            break
        halves = sweep(halves, log_density, normals, generator)
    return np.asarray(generator.permutation(np.vstack(halves))[:n])


def sweep(
    halves: list[Values], log_density: LogDensity, normals: tuple[Normal, ...], generator: np.random.Generator
) -> list[Values]:
    """Return two halves (state, feature) after a move on ellipses of the other half and one on a wide normal's.

    The first normal distribution is the wide one, such as the prior; the second, if any, covers the first mode.
    """
    next_halves, wide, hill = list(halves), normals[0], normals[min(1, len(normals) - 1)]
    for own, other in ((0, 1), (1, 0)):
        for normal in (Normal.of(next_halves[other], hill), wide):
            next_halves[own] = move_on_ellipses(next_halves[own], log_density, normal.centre, normal.root, generator)
    return next_halves


def resample(log_weights: Values, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return positions in proportion to weights, as many as there are: evenly spaced points on the cumulated weights.

    Least noise of the usual ways (systematic resampling: Kitagawa 1996).
    """
    n = len(log_weights)
    weights = np.exp(log_weights - log_weights.max())
    points = (np.arange(n) + generator.random()) / n * weights.sum()
    return np.asarray(np.minimum(np.searchsorted(np.cumsum(weights), points, side="right"), n - 1), dtype=np.intp)


def share_in_effect(log_weights: Values) -> float:
    """Return the effective share (Σ w)² / (n Σ w²) of weighted draws, in [1/n, 1] (Kish 1965)."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (len(weights) * (weights @ weights)))


def _started(normals: tuple[Normal, ...], size: int, generator: np.random.Generator) -> Values:
    """Return draws of the mixture, equally many of each part."""
    counts = [len(part) for part in np.array_split(np.arange(size), len(normals))]
    drawn = (normal.draws(count, generator) for normal, count in zip(normals, counts, strict=True))
    return np.vstack(list(drawn))


def _largest_step(gain: Values, rest: float) -> float:
    """Return the largest step that leaves enough draws in effect, at most the rest."""
    if share_in_effect(rest * gain) >= IN_EFFECT:
        return rest
    low, high = 0.0, rest
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if share_in_effect(middle * gain) >= IN_EFFECT else (low, middle)
    return high  # above 0 whatever the weights


def _agree(one: Values, other: Values) -> bool:
    """Whether means differ by no more than independent draws would."""
    error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / len(one))
    return bool((np.abs(one.mean(axis=0) - other.mean(axis=0)) <= APART * error).all())
