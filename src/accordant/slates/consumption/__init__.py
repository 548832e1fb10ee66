"""How many items of each type to show, if only the best few are consumed.

A user wants one of several types; which one is not known. An item of another type is worth nothing to the user. The
more items of one type there are, the less the next one adds to the best few, so the best slate is diverse because of
the limit on consumption alone (Peng, Raghavan, Pierson, Kleinberg and Garg 2024, arXiv 2307.15142).

Words used here:

    type           t = 1..m; the user wants type t with probability p_t
    items          n, the length of the slate; a_t of them are of type t
    consumed       k, how many items the user takes: the best of the wanted type; None for all
    value          what one item of the wanted type is worth to the user, at least 0
    best(k, a)     h(a), the expected sum of the best k of a values
    gain           h(a + 1) − h(a), what one more item adds

Values::

    Uniform, BoundedBeta, Exponential, Pareto     drawn from a density
    Bernoulli, Discrete                           drawn from finitely many levels
    RankedChances                                 items of a type come in order, each with its own chance to please
    FinitePool                                    held-back values, each of which can be shown once

Choosing and judging::

    allocate(probabilities, values, items, consumed)     the best slate; `greedy_counts` from gains of one's own
    measure(probabilities, values, counts, consumed)     expected best k, mean value, fitted γ
    limit_gamma, homogeneous_shares, chance_shares       what the theorems say about long slates
"""

from __future__ import annotations

from accordant.slates.consumption.allocation import (
    Allocation,
    ConsumptionMeasures,
    FittedGamma,
    allocate,
    fitted_gamma,
    greedy_counts,
    measure,
)
from accordant.slates.consumption.limits import chance_shares, homogeneous_shares, limit_gamma
from accordant.slates.consumption.trials import Bernoulli, Discrete, FinitePool, RankedChances
from accordant.slates.consumption.values import BoundedBeta, Exponential, Pareto, Uniform, ValueDistribution

__all__ = [
    "Allocation", "Bernoulli", "BoundedBeta", "ConsumptionMeasures", "Discrete", "Exponential", "FinitePool",
    "FittedGamma", "Pareto", "RankedChances", "Uniform", "ValueDistribution", "allocate", "chance_shares",
    "fitted_gamma", "greedy_counts", "homogeneous_shares", "limit_gamma", "measure",
]  # fmt: skip
