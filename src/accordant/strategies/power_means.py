"""Weighted power means of expected rewards, from the sum over the product to the worst-off.

nash_social_welfare     the product, which orders actions exactly as proportional fairness does
alpha_fairness          the sum (α = 0), the product (α = 1), the worst-off (α = ∞) (Mo and Walrand 2000)
atkinson                the mean, less what inequality costs (Atkinson 1970)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.kernels import light
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.fold import Formula, fold, product_filter
from accordant.strategies.reductions import log_product, weighted_sum
from accordant.strategies.strategy import Structure, register
from accordant.strategies.welfare import smallest, weighted_mean

FLOOR = 1e-6  # the published code's ε: keeps the logarithm finite when somebody expects nothing


@fold(start=1.0)
def product_of_rewards(total: float, reward: float) -> float:
    """∏_i max(1e-6, E[i, a, t]).

    In NumPy::

        scores[:] = np.maximum(values, FLOOR).prod(axis=0)
    """
    return total * (reward if reward > FLOOR else FLOOR)


@register("nash_social_welfare", aliases=("proportional_fairness",))
@dataclass(frozen=True)
class NashSocialWelfare(Compromise):
    """Maximise the product of expected rewards; scores are logarithms of the product.

    Σ_i w_i log max(ε, E[i, a, t]) is, with weights 1, the score of proportional fairness (Kelly 1998), and the
    logarithm of the Nash product ∏_i max(ε, E[i, a, t]) (Kaneko and Nakamura 1979): the same order of actions.

    Flags contexts as ``floored`` in which some expected reward lies below the floor of 1e-6: there the
    floor, not the data, decides between actions.
    """

    dependence: ClassVar[Structure] = "column_score"

    note: ClassVar[str] = "proportional fairness chooses the same action by theorem and is not listed again"
    logarithmic: ClassVar[bool] = True

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the product, which orders actions as its logarithm does; none for unequal weights."""
        del block
        return product_filter(product_of_rewards, weights[weights > 0])

    def score(self, block: Block, weights: Values) -> Scored:
        """Return logarithms of Nash products."""
        kept = block.with_weight(weights)
        flag_floored = np.asarray((kept.smallest < FLOOR).any(axis=0))
        scores = block.scores()
        log_product(kept.values, kept.zeros, weights[weights > 0], at_most=FLOOR, count_as=FLOOR, out=scores)
        return Scored(scores, flags={"floored": flag_floored})


def _reciprocal(total: float) -> float:
    return 1.0 / total


def _square(total: float) -> float:
    return total * total


@fold(start=0.0, finish=_reciprocal)
def harmonic_mean(total: float, reward: float, weight: float) -> float:
    """1 / Σ_i w_i / max(1e-6, E[i, a, t]), the power mean of α = 2.

    In NumPy::

        scores[:] = 1 / np.tensordot(weights, 1 / np.maximum(FLOOR, values), axes=1)
    """
    return total + weight / (reward if reward > FLOOR else FLOOR)


@fold(start=0.0, finish=_square)
def mean_of_roots(total: float, reward: float, weight: float) -> float:
    """(Σ_i w_i √E[i, a, t])², the power mean of α = 1/2.

    In NumPy::

        scores[:] = np.tensordot(weights, np.sqrt(np.maximum(values, 0)), axes=1) ** 2
    """
    root: float = np.sqrt(reward if reward > 0.0 else 0.0)
    return total + weight * root


MEANS = {1.0: weighted_mean, 0.5: mean_of_roots, -1.0: harmonic_mean}
"""Power means by their power, 1 − α, that are folds."""


def mean_formula(weights: Values, aversion: float) -> Formula | None:
    """Return the power mean of order 1 − ε as a fold that tells actions apart, where there is one."""
    if np.isinf(aversion):
        return Formula(smallest, weights)
    mean = MEANS.get(1.0 - aversion)
    return None if mean is None else Formula(mean, weights / weights.sum())


NEARLY_ONE = 1e-6  # so near to 1, ε is 1: the root of order 1 − ε would lose its digits


def equally_distributed_equivalent(block: Block, weights: Values, aversion: float) -> Values:
    """Return (Σ_i w_i E[i, a, t]^(1 − ε))^(1 / (1 − ε)) with weights that sum to 1, shape (action, context).

    The reward that, given to everybody alike, would be as good as the rewards at hand (Atkinson 1970, section 3). For
    ε = 0 it is the mean, for ε = 1 the geometric mean ∏_i E^w_i, for ε = ∞ the minimum.

    Parameters
    ----------
    block
        Expected rewards of those with a say; for ε ≥ 1 rewards below 1e-6 count as 1e-6.
    weights
        Shape (stakeholder,), above 0.
    aversion
        ε (also called α), in [0, ∞].
    """
    weights = weights / weights.sum()
    if np.isinf(aversion):
        return block.smallest
    scores, power = block.scores(), 1.0 - aversion
    if abs(power) < NEARLY_ONE:
        log_product(block.values, block.zeros, weights, at_most=FLOOR, count_as=FLOOR, out=scores)
        np.exp(scores, out=scores)
    elif power in MEANS:
        return Formula(MEANS[power], weights).scores(block)
    elif power > 0:
        powers = np.maximum(block.values, 0.0, out=block.scratch.take(*block.values.shape))
        weighted_sum(np.power(powers, power, out=powers), weights, scores)
        np.power(scores, 1.0 / power, out=scores)
    else:
        # powers of small numbers overflow, so rewards are taken relative to the smallest
        relative = np.maximum(block.values, FLOOR, out=block.scratch.take(*block.values.shape))
        smallest = np.maximum(block.smallest, FLOOR)
        relative /= smallest
        weighted_sum(np.power(relative, power, out=relative), weights, scores)
        np.multiply(smallest, np.power(scores, 1.0 / power, out=scores), out=scores)
    return scores


def check_aversion(name: str, value: float) -> None:
    """Refuse an inequality aversion outside [0, ∞]."""
    if not value >= 0:
        raise InputError(f"{name} is {value}; allowed: at least 0, or inf")


def flag_floored(block: Block, aversion: float) -> dict[str, Mask]:
    """Return the flag ``floored`` of contexts in which the floor, not the data, decides, if there is a floor."""
    return {"floored": np.asarray((block.smallest < FLOOR).any(axis=0))} if 1 <= aversion < np.inf else {}


@register("alpha_fairness")
@dataclass(frozen=True)
class AlphaFairness(Compromise):
    """Maximise a sum in which whoever has less counts more, Σ_i w_i E[i, a, t]^(1 − α) / (1 − α); of logs for α = 1.

    Scores are the power mean of order 1 − α, which puts actions in the same order for every α and stays in [0, 1]
    where the sum would grow without bound. α = 0 chooses as the utilitarian rule, α = 1 as Nash social welfare,
    α = ∞ as maximin; from α = 1 on, rewards below 1e-6 count as 1e-6, and such contexts are flagged ``floored``.

    Parameters
    ----------
    alpha
        Aversion to inequality, in [0, ∞].
    """

    dependence: ClassVar[Structure] = "column_score"

    alpha: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_aversion("alpha", self.alpha)

    @property
    def label(self) -> str:
        """Name with α."""
        return super().label.replace(self.name, f"{self.name}[{self.alpha:g}]", 1)

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the power mean where it is a fold."""
        del block
        return mean_formula(weights[weights > 0], self.alpha)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return power means of order 1 − α."""
        kept, weights = block.with_weight(weights), weights[weights > 0]
        return Scored(equally_distributed_equivalent(kept, weights, self.alpha), flag_floored(kept, self.alpha))


@light
def index_of_inequality(equivalent: Values, mean: Values, inequality: Values) -> None:
    """Write Atkinson's index 1 − EDE / μ, and 0 where nobody expects anything, shape (action, context).

    In NumPy::

        share = np.divide(equivalent, mean, out=np.ones_like(mean), where=mean > 0)
        inequality[:] = np.maximum(0.0, 1 - share)
    """
    n_actions, n_contexts = mean.shape
    for a in range(n_actions):
        out, alike, average = inequality[a], equivalent[a], mean[a]
        for t in range(n_contexts):
            index = 1.0 - alike[t] / average[t] if average[t] > 0.0 else 0.0
            out[t] = index if index > 0.0 else 0.0


@register("atkinson")
@dataclass(frozen=True)
class Atkinson(Compromise):
    """Maximise the equally distributed equivalent μ (1 − A_ε): the mean reward less Atkinson's index of inequality.

    Orders actions as α-fairness with α = ε does, and also gives the index A_ε in [0, 1] as the quantity
    ``inequality``. Minimising the index alone would prefer nothing for everybody to a little more for one.

    Parameters
    ----------
    aversion
        ε in [0, ∞].
    """

    dependence: ClassVar[Structure] = "column_score"

    aversion: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_aversion("aversion", self.aversion)

    @property
    def label(self) -> str:
        """Name with ε."""
        return super().label.replace(self.name, f"{self.name}[{self.aversion:g}]", 1)

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the power mean where it is a fold."""
        del block
        return mean_formula(weights[weights > 0], self.aversion)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return equally distributed equivalents."""
        kept, weights = block.with_weight(weights), weights[weights > 0]
        equivalent = equally_distributed_equivalent(kept, weights, self.aversion)
        mean, inequality = block.scores(), block.scores()
        rewards = kept.values if self.aversion < 1 else np.maximum(kept.values, FLOOR)
        weighted_sum(rewards, weights / weights.sum(), mean)
        index_of_inequality(equivalent, mean, inequality)
        return Scored(equivalent, flag_floored(kept, self.aversion), {"inequality": inequality})
