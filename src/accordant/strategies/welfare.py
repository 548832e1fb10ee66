"""Welfare rules: Φ weighs the expected rewards of all stakeholders as they are.

    utilitarian             the weighted sum (Harsanyi 1955)
    relative_utilitarian    rewards stretched to [0, 1] before they are added (Dhillon and Mertens 1999)
    maximin                 the worst-off (Rawls 1971)
    leximin                 the worst-off, and where they are level the second worst-off, and so on (Sen 1970)
    hurwicz                 between the worst-off and the best-off (Hurwicz 1951)
    generalised_gini        weights by rank, the worst-off first (Weymark 1981); OWA operators (Yager 1988)
    sufficientarian         how many are above a floor (Frankfurt 1987; headcount form, Roemer 2004)

Power means between sums and the worst-off stand in ``power_means.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.kernels import light
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, PointCompromise, Scored
from accordant.strategies.fold import Formula, fold
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Structure, register


@fold(start=0.0)
def weighted_mean(total: float, reward: float, weight: float) -> float:
    """Σ_i w_i E[i, a, t].

    In NumPy::

        scores[:] = np.tensordot(weights, values, axes=1)
    """
    return total + weight * reward


@register("utilitarian")
@dataclass(frozen=True)
class Utilitarian(Compromise):
    """Maximise the weighted mean of expected rewards; weights are normalised to sum 1."""

    dependence: ClassVar[Structure] = "column_score"

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return the weighted mean."""
        del block
        return Formula(weighted_mean, (weights / weights.sum())[weights > 0])


@fold(start=0.0)
def sum_of_relative_gains(total: float, reward: float, low: float, high: float, weight: float) -> float:
    """Σ_i w_i (E[i, a, t] − d[i, t]) / (u*[i, t] − d[i, t]); whoever cannot gain adds nothing.

    In NumPy::

        room = high - low
        scale = weights[:, None] * (room > INDIFFERENT) / np.where(room > INDIFFERENT, room, 1.0)
        scores[:] = ((values - low[:, None]) * scale[:, None]).sum(axis=0)
    """
    room = high - low
    scale = weight / room if room > INDIFFERENT else 0.0
    return total + (reward - low) * scale


@register("relative_utilitarian")
@dataclass(frozen=True)
class RelativeUtilitarian(PointCompromise):
    """Maximise the weighted mean of relative gains between disagreement and ideal point.

    With the context's minimum and maximum, the default, this is the classical rule: rescaling or shifting the rewards
    of one stakeholder changes nothing, and neither does an indifferent stakeholder.
    """

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return the weighted mean of relative gains."""
        has_weight = weights > 0
        low, high = self.disagreement_of(block, has_weight), self.ideal_of(block, has_weight)
        return Formula(sum_of_relative_gains, (weights / weights.sum())[has_weight], low, high)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return the weighted means of relative gains."""
        points = {"disagreement": self.disagreement_point(block), "ideal": self.ideal_point(block)}
        return replace(super().score(block, weights), quantities=points)


@fold(start=np.inf)
def smallest(total: float, reward: float) -> float:
    """min_i E[i, a, t].

    In NumPy::

        scores[:] = values.min(axis=0)
    """
    return reward if reward < total else total


@register("maximin")
@dataclass(frozen=True)
class Maximin(Compromise):
    """Maximise the smallest expected reward, min_i E[i, a, t].

    Weights have no effect, except that weight 0 leaves somebody out.
    """

    dependence: ClassVar[Structure] = "column_score"

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return the reward of the worst-off stakeholder."""
        del block
        return Formula(smallest, weights[weights > 0])


@light
def places(ascending: Values, tolerance: float, scores: Values) -> None:
    """Write minus how many actions are leximin-better than each, shape (action, context).

    In NumPy::

        gaps = ascending[:, :, None] - ascending[:, None]  # (rank, action, other action, context)
        signs = np.where(abs(gaps) > tolerance, np.sign(gaps), 0.0)
        first = (signs != 0).argmax(axis=0)[None]
        scores[:] = -(np.take_along_axis(signs, first, axis=0)[0] < 0).sum(axis=1)

    Parameters
    ----------
    ascending
        Rewards of each action from the worst-off to the best-off, shape (rank, action, context).
    tolerance
        Rewards this close are level.
    """
    n_ranks, n_actions, n_contexts = ascending.shape
    scores[:] = 0.0
    better = np.empty(n_contexts)
    for a in range(n_actions):
        for b in range(a + 1, n_actions):
            for t in range(n_contexts):
                better[t] = 0.0
            for rank in range(n_ranks):
                first, second = ascending[rank, a], ascending[rank, b]
                for t in range(n_contexts):
                    difference = first[t] - second[t]
                    sign = (1.0 if difference > tolerance else 0.0) - (1.0 if difference < -tolerance else 0.0)
                    better[t] = sign if better[t] == 0.0 else better[t]
            loser, winner = scores[b], scores[a]
            for t in range(n_contexts):
                loser[t] -= 1.0 if better[t] > 0.0 else 0.0
                winner[t] -= 1.0 if better[t] < 0.0 else 0.0


@register("leximin")
@dataclass(frozen=True)
class Leximin(Compromise):
    """Maximise the smallest expected reward, among level actions the second smallest, and so on.

    No number per action expresses this order, so scores are places: minus the number of better actions. Actions tie
    only if their sorted rewards are equal. Weights have no effect, except that weight 0 leaves somebody out.
    """

    dependence: ClassVar[Structure] = "column_order"

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return the reward of the worst-off: where two differ by more than the tolerance, no other rank matters."""
        del block
        return Formula(smallest, weights[weights > 0], filter="absolute")

    def score(self, block: Block, weights: Values) -> Scored:
        """Return minus the number of better actions."""
        scores = block.scores()
        places(block.with_weight(weights).ascending, block.tolerance, scores)
        return Scored(scores)


@register("hurwicz")
@dataclass(frozen=True)
class Hurwicz(Compromise):
    """Maximise a mean of the best and the worst expected reward, λ max_i E[i, a, t] + (1 − λ) min_i E[i, a, t].

    Made for decisions under ignorance, with stakeholders in the place of states of the world. Weights have no effect,
    except that weight 0 leaves somebody out.

    Parameters
    ----------
    optimism
        λ in [0, 1]; 0 is maximin.
    """

    dependence: ClassVar[Structure] = "column_score"

    optimism: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.optimism <= 1:
            raise InputError(f"optimism is {self.optimism}; allowed: [0, 1]")

    @property
    def label(self) -> str:
        """Name with λ."""
        return super().label.replace(self.name, f"{self.name}[{self.optimism:g}]", 1)

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return the mixture of the two extremes."""
        del block, weights
        return Formula(weighted_mean, np.array([self.optimism, 1.0 - self.optimism]), rows="extremes")


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
    """Maximise the sum of rewards weighted by rank from the worst-off up, Σ_k v_k E[(k), a, t].

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

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the sum weighted by rank; no fold where the weight of a rank depends on who has it."""
        del block
        positive = weights[weights > 0] / weights.sum()
        order = self._order_weights(len(positive))
        if not (positive == positive[0]).all():
            return None
        return Formula(weighted_mean, rank_weights(positive, order), rows="ascending")

    def score(self, block: Block, weights: Values) -> Scored:
        """Return sums weighted by rank."""
        if self.formula(block, weights) is not None:
            return super().score(block, weights)
        kept, positive, scores = block.with_weight(weights), weights[weights > 0] / weights.sum(), block.scores()
        ranks = np.argsort(kept.values, axis=0, kind="stable")
        ranked = np.take_along_axis(kept.values, ranks, axis=0)
        of_ranks = rank_weights(positive[ranks], self._order_weights(len(positive)))
        return Scored(np.sum(of_ranks * ranked, axis=0, out=scores))

    def _order_weights(self, n_ranks: int) -> Values | None:
        if self.order_weights is None:
            return None
        if len(self.order_weights) != n_ranks:
            raise InputError(
                f"{len(self.order_weights)} order_weights were given for {n_ranks} stakeholders with positive weight"
            )
        given = np.asarray(self.order_weights, dtype=np.float64)
        return np.asarray(given / given.sum())


@fold(start=0.0, usually_tied=True)
def weight_above(total: float, reward: float, weight: float, level: float) -> float:
    """Σ_i w_i 1[E[i, a, t] ≥ floor_i].

    In NumPy::

        scores[:] = np.tensordot(weights, values >= levels[:, None, None], axes=1)
    """
    return total + (weight if reward >= level else 0.0)


@register("sufficientarian", aliases=("threshold",))
@dataclass(frozen=True)
class Sufficientarian(Compromise):
    """Maximise the weighted share of stakeholders whose expected reward reaches the floor.

    Ties are the rule rather than the exception, and go to the utilitarian sum as everywhere.

    Parameters
    ----------
    floor
        What is enough, in [0, 1]: one number for everybody, or one per stakeholder.
    """

    dependence: ClassVar[Structure] = "column_score"

    floor: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        floors = np.asarray(self.floor, dtype=np.float64)
        if floors.ndim > 1 or not ((floors >= 0) & (floors <= 1)).all():
            raise InputError(f"floor is {self.floor}; allowed: a number in [0, 1], or one per stakeholder")

    @property
    def label(self) -> str:
        """Name with the floor."""
        shown = ", ".join(f"{floor:g}" for floor in np.atleast_1d(self.floor))
        return super().label.replace(self.name, f"{self.name}[{shown}]", 1)

    def formula(self, block: Block, weights: Values) -> Formula:
        """Return the weighted share of those who reach the floor."""
        floors = np.asarray(self.floor, dtype=np.float64)
        if floors.ndim and len(floors) != len(weights):
            raise InputError(f"{len(floors)} floors were given for {len(weights)} stakeholders")
        levels = np.array(np.broadcast_to(floors, weights.shape)) - block.tolerance
        has_weight = weights > 0
        return Formula(weight_above, (weights / weights.sum())[has_weight], levels=levels[has_weight])
