"""Policies besides the strategies that were compared, which read E and nothing that follows.

reweighed     the utilitarian rule under many stakeholder weights
bounded       a rule under a bound on a group gap (see `parity_price`)
probes        rules that nobody would propose: any weights and any bonus per action. They only tell whether two
              metrics can come apart at all
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.decisions import Decisions
from accordant.strategies import create
from accordant.utilities import ExpectedRewards

MOST_WEIGHTS = 100  # weight vectors tried; the grid is the finest one that has no more
PROBES = 60


def reweighed(expected: ExpectedRewards) -> dict[str, Decisions]:
    """Return the decisions of the utilitarian rule under a grid of stakeholder weights, by ``utilitarian(w, …)``."""
    found = {}
    for weights in weight_grid(len(expected.stakeholders)):
        name = f"utilitarian({', '.join(f'{weight:.3g}' for weight in weights)})"
        found[name] = create("utilitarian", {"weights": weights})(expected)
    return found


def weight_grid(n_stakeholders: int) -> list[tuple[float, ...]]:
    """Return weights i / steps that sum to 1, with as many steps as 100 vectors allow."""
    steps = 1
    while n_stakeholders > 1 and steps < MOST_WEIGHTS - 1 and _grid_size(steps + 1, n_stakeholders) <= MOST_WEIGHTS:
        steps += 1
    return [tuple(part / steps for part in parts) for parts in _parts(steps, n_stakeholders)]


def _grid_size(steps: int, n_stakeholders: int) -> int:
    return sum(1 for _ in _parts(steps, n_stakeholders))


def _parts(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a whole number as a sum of numbers of at least 0."""
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _parts(total - first, places - 1):
            yield (first, *rest)


def probes(expected: ExpectedRewards, generator: np.random.Generator) -> dict[str, Decisions]:
    """Return decisions under random stakeholder weights of either sign and a random bonus per action."""
    n_stakeholders, n_actions, n = expected.values.shape
    found = {}
    for k in range(PROBES):
        scores = np.tensordot(generator.normal(size=n_stakeholders), expected.values, axes=1)
        scores = scores + generator.normal(scale=0.5, size=(n_actions, 1))
        codes = scores.argmax(axis=0)
        found[f"probe {k}"] = Decisions("probe", expected.actions, codes, np.zeros(n, dtype=bool))
    return found
