"""Draws from a distribution that is a normal one times a likelihood: many short chains side by side.

A move of elliptical slice sampling goes to a point on the ellipse through the state and a fresh draw of a normal
distribution, and leaves the target as it is (Murray, Adams and MacKay 2010). The normal distribution may be the prior
or any other that is divided out again (Nishihara, Murray and Adams 2014).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from accordant.arrays import Values

MOST_SHRINKS = 200  # of one bracket; each halves it on average, so rounding ends it far earlier


def moved_on_ellipses(
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
    found = state.copy()
    open_ = np.arange(n_chains)
    for _ in range(MOST_SHRINKS):
        turned = angle[open_, None]
        proposed = state[open_] * np.cos(turned) + other[open_] * np.sin(turned)
        good = log_ratio(proposed) >= level[open_]
        found[open_[good]] = proposed[good]
        open_ = open_[~good]
        if not len(open_):
            break
        below = angle[open_] < 0
        low[open_[below]] = angle[open_[below]]
        high[open_[~below]] = angle[open_[~below]]
        angle[open_] = generator.uniform(low[open_], high[open_])
    return found
