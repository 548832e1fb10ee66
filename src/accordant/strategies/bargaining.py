"""Bargaining solutions: Φ weighs what stakeholders gain over the disagreement point d.

nash_bargaining         the largest product of gains (Nash 1950)
kalai_smorodinsky       equal shares of what each could gain at best (Kalai and Smorodinsky 1975)
egalitarian_equivalent  everybody gains the same, or in stated proportions, and as much as possible (Kalai 1977)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Floats, Mask, Values
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import PointCompromise, Scored
from accordant.strategies.fold import Formula, fold, product_filter
from accordant.strategies.reductions import NOTHING, log_product
from accordant.strategies.reference_points import INDIFFERENT, per_context
from accordant.strategies.strategy import register

NO_GAIN = float(np.log(np.finfo(np.float64).smallest_subnormal))  # the logarithm of a product of gains that is 0


def rank_irrational_last(
    scores: Floats, block: Block, disagreement: NDArray[np.floating], status_quo: str | None, has_weight: Mask
) -> Mask:
    """Give −inf, in place, to actions that leave somebody who has a say below the status quo.

    Where that leaves no finite score (nobody can gain together), the other actions get `NO_GAIN`, so that
    an irrational action never ties with them; the status quo is always among them.

    Returns
    -------
    Contexts in which every alternative is irrational, shape (context,).
    """
    if status_quo is None:
        raise InputError("individual rationality needs the status-quo action")
    worse = np.asarray((block.values[has_weight] < disagreement[has_weight][:, None] - INDIFFERENT).any(axis=0))
    scores[worse] = -np.inf
    level = np.isneginf(scores).all(axis=0)
    scores[:, level] = np.where(worse[:, level], -np.inf, NO_GAIN)
    alternatives = np.arange(len(block.actions)) != block.actions.index(status_quo)
    return np.asarray(worse[alternatives].all(axis=0) & alternatives.any())


class GainCompromise(PointCompromise):
    """A compromise over gains, in which an action that leaves somebody below the status quo ranks last."""

    def rational(self, scored: Scored, block: Block, weights: Values) -> Scored:
        """Return scores with such actions last, and the flag ``irrational``, where there is a status quo."""
        if self.disagreement != "status_quo":
            return scored
        below = rank_irrational_last(
            scored.scores, block, scored.quantities["disagreement"], self.status_quo, weights > 0
        )
        return replace(scored, flags={**scored.flags, "irrational": below})


@fold(start=np.inf, usually_tied=True)
def smallest_gain(total: float, reward: float, low: float, weight: float) -> float:
    """min_i (E[i, a, t] − d[i, t]) / p_i, where a weight is 1 / p_i.

    In NumPy::

        scores[:] = ((values - low[:, None]) * weights[:, None, None]).min(axis=0)
    """
    gain = (reward - low) * weight
    return gain if gain < total else total


@register("egalitarian_equivalent", aliases=("egalitarian", "kalai_proportional"))
@dataclass(frozen=True)
class EgalitarianEquivalent(GainCompromise):
    """Maximise the smallest gain over the disagreement point, each gain divided by the stakeholder's weight.

    Equal weights give Kalai's egalitarian solution, others his proportional solution: a stakeholder with weight 2 is
    to gain twice as much as one with weight 1. The score is the gain that, given to everybody in these proportions,
    would be as good. With a status quo, an action that leaves somebody below it ranks last. A stakeholder with
    weight 0 is left out.
    """

    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement",)

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the smallest gain; no fold where individual rationality puts actions last."""
        return None if self.disagreement == "status_quo" else self._smallest_gain(block, weights)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return the smallest gains."""
        scores = self._smallest_gain(block, weights).scores(block.with_weight(weights))
        return self.rational(
            Scored(scores, quantities={"disagreement": self.disagreement_point(block)}), block, weights
        )

    def _smallest_gain(self, block: Block, weights: Values) -> Formula:
        has_weight = weights > 0
        return Formula(smallest_gain, 1.0 / weights[has_weight], self.disagreement_of(block, has_weight))


def _nobody_gains(total: float) -> float:
    return 0.0 if total == np.inf else total


@fold(start=np.inf, finish=_nobody_gains, usually_tied=True)
def smallest_relative_gain(total: float, reward: float, low: float, high: float) -> float:
    """min_i (E[i, a, t] − d[i, t]) / (u*[i, t] − d[i, t]).

    Stakeholders who cannot gain (u* − d of at most 1e-12: indifferent, or below d whatever is done) are left out of the
    minimum; where that leaves nobody, every action has score 0. Values are not capped at 1.

    In NumPy::

        room = (high - low)[:, None]
        relative = (values - low[:, None]) / np.where(room > INDIFFERENT, room, 1.0)
        relative = np.where(room > INDIFFERENT, relative, np.inf).min(axis=0)
        scores[:] = np.where(relative < np.inf, relative, 0.0)
    """
    room = high - low
    scale = 1.0 / room if room > INDIFFERENT else 0.0
    never = 0.0 if room > INDIFFERENT else np.inf
    relative = (reward - low) * scale + never
    return relative if relative < total else total


@register("kalai_smorodinsky")
@dataclass(frozen=True)
class KalaiSmorodinsky(GainCompromise):
    """Maximise the smallest relative gain between disagreement and ideal point.

    With the context minimum as disagreement point and two actions on which stakeholders disagree, both
    actions score 0: the context is tied. With a status quo, an action that leaves somebody below it ranks
    last. A stakeholder with weight 0 is left out; other weights have no effect.
    """

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the smallest relative gain; no fold where individual rationality puts actions last."""
        return None if self.disagreement == "status_quo" else self._smallest_relative_gain(block, weights)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return the smallest relative gains."""
        scores = self._smallest_relative_gain(block, weights).scores(block.with_weight(weights))
        points = {"disagreement": self.disagreement_point(block), "ideal": self.ideal_point(block)}
        return self.rational(Scored(scores, quantities=points), block, weights)

    def _smallest_relative_gain(self, block: Block, weights: Values) -> Formula:
        has_weight = weights > 0
        low, high = self.disagreement_of(block, has_weight), self.ideal_of(block, has_weight)
        return Formula(smallest_relative_gain, weights[has_weight], low, high)


def _nothing_gained(total: float) -> float:
    return -np.inf if total <= NOTHING else total


@fold(start=1.0, finish=_nothing_gained, usually_tied=True)
def product_of_gains(total: float, reward: float, low: float) -> float:
    """∏_i (E[i, a, t] − d[i, t]), and −inf where it is 0; a gain of at most 1e-12 counts as 0.

    In NumPy::

        gains = values - low[:, None]
        product = np.where(gains > INDIFFERENT, gains, 0.0).prod(axis=0)
        scores[:] = np.where(product > NOTHING, product, -np.inf)
    """
    gain = reward - low
    return total * (gain if gain > INDIFFERENT else 0.0)


@register("nash_bargaining")
@dataclass(frozen=True)
class NashBargaining(GainCompromise):
    """Maximise the product of gains over the disagreement point, ∏_i (E[i, a, t] − d[i, t])^w_i.

    Scores are logarithms of the product, −inf where somebody gains nothing; a gain of at most 1e-12 is rounding and
    counts as nothing.

    If no action gives everybody a strict gain, all products are 0, the context is flagged ``no_agreement``,
    and the tie rule (utilitarian sum, then declared order) decides. With the context minimum as disagreement
    point and two actions that is the normal case. With a status quo, an action that leaves somebody below
    it ranks last, and contexts in which every alternative does so are flagged ``irrational``.
    """

    logarithmic: ClassVar[bool] = True
    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement",)

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return the product of gains for equal weights; none where individual rationality puts actions last."""
        formula = product_filter(product_of_gains, weights[weights > 0])
        if formula is None or self.disagreement == "status_quo":
            return None
        return replace(formula, low=self.disagreement_of(block, weights > 0))

    def score(self, block: Block, weights: Values) -> Scored:
        """Return logarithms of the products of gains."""
        disagreement, kept, has_weight = self.disagreement_point(block), block.with_weight(weights), weights > 0
        points, scores = per_context(disagreement, block, has_weight), block.scores()
        log_product(kept.values, points, weights[has_weight], at_most=INDIFFERENT, count_as=0.0, out=scores)
        flags = {"no_agreement": np.asarray(np.isneginf(scores).all(axis=0))}
        return self.rational(Scored(scores, flags, {"disagreement": disagreement}), block, weights)
