"""Generalised Gini welfare: weights by rank, the worst-off first (Weymark 1981); OWA operators (Yager 1988)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.strategy import Structure, register


def rank_weights(weights: Values, order_weights: Values | None) -> Values:
    """Return the weight of each rank when stakeholders of unequal weight fill the ranks.

    The stakeholder at rank k gets W(P_k) − W(P_{k−1}), where P_k is the weight of the k worst-off together and W
    how much the worst-off share of the population counts (Torra 1997, weighted OWA). Equal weights give v itself.

    Parameters
    ----------
    weights
        Stakeholder weights in the order of ranks, summing to 1 over the first axis.
    order_weights
        v, worst-off first, shape (rank,), summing to 1: W is the broken line through (k/n, v_1 + … + v_k). None for
        the Gini index: W(x) = 1 − (1 − x)².
    """
    reached = np.cumsum(weights, axis=0)
    if order_weights is None:
        counted = 1.0 - np.square(1.0 - reached)
    else:
        ends = np.arange(len(order_weights) + 1) / len(order_weights)
        counted = np.interp(reached, ends, np.concatenate([[0.0], np.cumsum(order_weights)]))
    return np.asarray(np.diff(counted, axis=0, prepend=0.0))


@register("generalised_gini", aliases=("owa", "ordered_weighted_average"))
@dataclass(frozen=True)
class GeneralisedGini(Compromise):
    """Maximise Σ_k v_k E_(k), rewards sorted from the worst-off to the best-off.

    Weights v that do not increase prefer equality (a generalised Gini welfare); any others give an OWA operator.
    Stakeholder weights count as shares of the population (weighted OWA).

    Parameters
    ----------
    order_weights
        v, worst-off first, one number of at least 0 per stakeholder with weight above 0, divided by their sum; None for
        those of the Gini index, v_k ∝ 2(n − k) + 1, whose welfare is the mean less half the mean difference.
    """

    dependence: ClassVar[Structure] = "column_score"

    order_weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order_weights is None:
            return
        given = np.asarray(self.order_weights, dtype=np.float64)
        if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any() or not given.sum() > 0:
            raise InputError(f"order_weights are {self.order_weights}; allowed: numbers of at least 0, not all 0")

    @property
    def label(self) -> str:
        """Name with the order weights, unless they are those of the Gini index."""
        if self.order_weights is None:
            return super().label
        shown = ", ".join(f"{weight:g}" for weight in self.order_weights)
        return super().label.replace(self.name, f"{self.name}[{shown}]", 1)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return sums weighted by rank."""
        heard, weights = block.heard(weights), weights[weights > 0] / weights.sum()
        order = self._order_weights(len(weights))
        scores = block.scores()
        if (weights == weights[0]).all():
            weighted_sum(heard.ascending, rank_weights(weights, order), scores)
        else:
            ranks = np.argsort(heard.values, axis=0, kind="stable")
            ranked = np.take_along_axis(heard.values, ranks, axis=0)
            np.sum(rank_weights(weights[ranks], order) * ranked, axis=0, out=scores)
        return Scored(scores)

    def _order_weights(self, n_ranks: int) -> Values | None:
        if self.order_weights is None:
            return None
        if len(self.order_weights) != n_ranks:
            raise InputError(
                f"{len(self.order_weights)} order_weights were given for {n_ranks} stakeholders with a say"
            )
        given = np.asarray(self.order_weights, dtype=np.float64)
        return np.asarray(given / given.sum())
