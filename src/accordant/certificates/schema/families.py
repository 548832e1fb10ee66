"""Which scoring form belongs to which strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from accordant.arrays import Values
from accordant.certificates.schema.forms import (
    LogProduct,
    Product,
    ScoringForm,
    SoftMinimum,
    SquaredDistance,
    WeightedSum,
)
from accordant.errors import InputError
from accordant.strategies.bargaining import KalaiSmorodinsky, NashBargaining
from accordant.strategies.block import block_of
from accordant.strategies.compromise import Compromise, PointCompromise
from accordant.strategies.distance import CompromiseProgramming
from accordant.strategies.population import PopulationLeximin, PopulationMaximin, PopulationNash, PopulationRule
from accordant.strategies.power_means import NashSocialWelfare
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy, stakeholder_weights
from accordant.strategies.welfare import Maximin, Utilitarian
from accordant.utilities import ExpectedRewards

DEFAULT_SIGMA = 0.02  # with three stakeholders the soft minimum is at most 0.022 below the minimum


def family_of(
    rule: Strategy, expected: ExpectedRewards, *, product: bool = False, sigma: float | None = None
) -> ScoringForm:
    """Return the smooth score by which a strategy is certified.

    | strategy | scoring form |
    |---|---|
    | ``utilitarian`` | Σ w_i e_i, weights summing to 1 |
    | ``population_maximin``, ``_leximin``, ``_nash``, fitted | Σ λ_i e_i |
    | ``nash_social_welfare`` | Σ w_i log e_i; with `product` ∏ e_i |
    | ``nash_bargaining`` with fixed d | Σ w_i log(e_i − d_i) |
    | ``compromise_programming`` with fixed u*, p = 2 | −Σ w_i (u*_i − e_i)², one-sided unless the rule is two-sided |
    | ``maximin`` | soft minimum of rewards: a different rule |
    | ``kalai_smorodinsky`` with fixed d and u* | soft minimum of relative gains: a different rule |

    Parameters
    ----------
    rule
        A strategy with selection ``argmax``; fixed reference points are declared numbers or ``"global"``.
    expected
        E, for the number of stakeholders.
    product
        For Nash social welfare with equal weights: the product instead of its logarithm.
    sigma
        σ of the soft minimum, above 0; None for 0.02. Only for maximin and Kalai–Smorodinsky.

    Raises
    ------
    InputError
        If the strategy has no family, its reference points move with E, or an option does not belong to it.
    """
    if type(rule) not in FAMILIES or not isinstance(rule, Compromise):
        raise InputError(
            f"{rule.label} has no constants in the certificate schema; those that have: "
            + ", ".join(sorted(family.name for family in FAMILIES))
        )
    if rule.selection != "argmax":
        raise InputError(f"{rule.label} draws its decisions; the schema certifies selection 'argmax'")
    if isinstance(rule, PointCompromise):
        _check_fixed(rule)
    if product and not isinstance(rule, NashSocialWelfare):
        raise InputError(f"product has no effect on {rule.label}, only on {NashSocialWelfare.name}")
    if sigma is not None and not isinstance(rule, (Maximin, KalaiSmorodinsky)):
        raise InputError(f"sigma has no effect on {rule.label}, only on {Maximin.name} and {KalaiSmorodinsky.name}")
    if sigma is not None and not 0 < sigma < np.inf:
        raise InputError(f"sigma is {sigma}; allowed: above 0")
    weights = stakeholder_weights(rule.weights, len(expected.stakeholders))
    if product:
        return _product(rule, weights)
    return FAMILIES[type(rule)](rule, expected, weights, DEFAULT_SIGMA if sigma is None else sigma)


def _check_fixed(rule: PointCompromise) -> None:
    for parameter in rule.uses:
        point = getattr(rule, parameter)
        if point in {"context", "status_quo"}:
            raise InputError(
                f"{rule.label}: {parameter} {point!r} moves with the reports; the schema needs numbers or 'global'"
            )


def _point(rule: PointCompromise, which: Literal["disagreement", "ideal"], expected: ExpectedRewards) -> Values:
    """Return a fixed reference point, shape (stakeholder,)."""
    block = block_of(expected, slice(0, 0))  # fixed points ask a block only for its stakeholders
    point = rule.disagreement_point(block) if which == "disagreement" else rule.ideal_point(block)
    return np.asarray(point[:, 0], dtype=np.float64)


def _product(rule: Compromise, weights: Values) -> ScoringForm:
    has_weight = weights[weights > 0]
    if (has_weight != has_weight[0]).any():
        raise InputError(f"{rule.label} as a product needs equal weights; found {rule.weights}")
    return Product(f"{rule.label}, product", np.where(weights > 0, 1.0, 0.0))


def _weighted_sum(rule: Strategy, expected: ExpectedRewards, weights: Values, sigma: float) -> ScoringForm:
    del expected, sigma
    return WeightedSum(rule.label, weights / weights.sum())


def _fitted_sum(rule: Strategy, expected: ExpectedRewards, weights: Values, sigma: float) -> ScoringForm:
    del expected, sigma
    assert isinstance(rule, PopulationRule)
    return WeightedSum(rule.label, rule.prices(weights))


def _log_product(rule: Strategy, expected: ExpectedRewards, weights: Values, sigma: float) -> ScoringForm:
    del sigma
    fixed = _point(rule, "disagreement", expected) if isinstance(rule, NashBargaining) else None
    return LogProduct(rule.label, weights, fixed)


def _squared_distance(rule: Strategy, expected: ExpectedRewards, weights: Values, sigma: float) -> ScoringForm:
    del sigma
    assert isinstance(rule, CompromiseProgramming)
    if rule.exponent != 2:
        raise InputError(f"{rule.label}: the exponent is {rule.exponent:g}; the schema has constants for 2")
    return SquaredDistance(rule.label, weights, _point(rule, "ideal", expected), rule.two_sided)


def _soft_minimum(rule: Strategy, expected: ExpectedRewards, weights: Values, sigma: float) -> ScoringForm:
    n_stakeholders = len(expected.stakeholders)
    name = f"{rule.label}, soft minimum {sigma:g}"
    if not isinstance(rule, KalaiSmorodinsky):
        return SoftMinimum(name, weights, np.zeros(n_stakeholders), np.ones(n_stakeholders), sigma)
    disagreement = _point(rule, "disagreement", expected)
    scale = _point(rule, "ideal", expected) - disagreement
    can_gain = scale > INDIFFERENT  # the rule leaves the others out as well
    weights = np.where(can_gain, weights, 0.0)
    if not weights.any():
        raise InputError(f"{rule.label}: nobody's ideal point is above the disagreement point")
    return SoftMinimum(name, weights, disagreement, np.where(can_gain, scale, 1.0), sigma)


Builder = Callable[[Strategy, ExpectedRewards, Values, float], ScoringForm]
FAMILIES: dict[type[Strategy], Builder] = {
    Utilitarian: _weighted_sum, NashSocialWelfare: _log_product, NashBargaining: _log_product,
    PopulationMaximin: _fitted_sum, PopulationLeximin: _fitted_sum, PopulationNash: _fitted_sum,
    CompromiseProgramming: _squared_distance, Maximin: _soft_minimum, KalaiSmorodinsky: _soft_minimum,
}  # fmt: skip
