"""Bargaining solutions: Φ weighs what stakeholders gain over the disagreement point d.

nash_bargaining         the largest product of gains (Nash 1950)
kalai_smorodinsky       equal shares of what each could gain at best (Kalai and Smorodinsky 1975)
egalitarian_equivalent  everybody gains the same, or in stated proportions, and as much as possible (Kalai 1977)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Floats, Mask, Values
from accordant.compiled import compiled
from accordant.errors import InputError
from accordant.strategies.block import Block, log_product
from accordant.strategies.compromise import PointCompromise, Scored
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


@compiled
def smallest_gain(values: Values, disagreement: Values, proportions: Values, smallest: Values) -> None:
    """Write min_i (E[i, a, t] − d[i, t]) / p_i, shape (action, context).

    In NumPy::

        smallest[:] = ((values - disagreement[:, None]) / proportions[:, None, None]).min(axis=0)
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    for a in range(n_actions):
        out = smallest[a]
        out[:] = np.inf
        for i in range(n_stakeholders):
            row, low, scale = values[i, a], disagreement[i], 1.0 / proportions[i]
            for t in range(n_contexts):
                gain, reached = (row[t] - low[t]) * scale, out[t]
                out[t] = gain if gain < reached else reached


@register("egalitarian_equivalent", aliases=("egalitarian", "kalai_proportional"))
@dataclass(frozen=True)
class EgalitarianEquivalent(PointCompromise):
    """Maximise the smallest gain over the disagreement point, each gain divided by the stakeholder's weight.

    Equal weights give Kalai's egalitarian solution, others his proportional solution: a stakeholder with weight 2 is
    to gain twice as much as one with weight 1. The score is the gain that, given to everybody in these proportions,
    would be as good. With a status quo, an action that leaves somebody below it ranks last. A stakeholder with
    weight 0 is left out.
    """

    uses: ClassVar[tuple[Literal["disagreement", "ideal"], ...]] = ("disagreement",)

    def score(self, block: Block, weights: Values) -> Scored:
        """Return the smallest gains."""
        disagreement = self.disagreement_point(block)
        has_weight = weights > 0
        points = per_context(disagreement, block, has_weight)
        scores = block.scores()
        smallest_gain(block.with_weight(weights).values, points, weights[has_weight], scores)
        flags = {}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, block, disagreement, self.status_quo, has_weight)
        return Scored(scores, flags, {"disagreement": disagreement})


@compiled
def smallest_relative_gain(
    values: Values, disagreement: Values, ideal: Values, indifferent: float, smallest: Values
) -> None:
    """Write min_i (E[i, a, t] − d[i, t]) / (u*[i, t] − d[i, t]), shape (action, context).

    Stakeholders who cannot gain (u* − d of at most `indifferent`: indifferent, or below d whatever is done) are left
    out of the minimum; where that leaves nobody, every action has score 0. Values are not capped at 1.

    In NumPy::

        room = (ideal - disagreement)[:, None]
        relative = (values - disagreement[:, None]) / np.where(room > indifferent, room, 1.0)
        relative = np.where(room > indifferent, relative, np.inf).min(axis=0)
        smallest[:] = np.where(relative < np.inf, relative, 0.0)
    """
    n_stakeholders, n_actions, n_contexts = values.shape
    smallest[:] = np.inf
    scale, never = np.empty(n_contexts), np.empty(n_contexts)
    for i in range(n_stakeholders):
        low, high = disagreement[i], ideal[i]
        for t in range(n_contexts):
            room = high[t] - low[t]
            scale[t] = 1.0 / room if room > indifferent else 0.0
            never[t] = 0.0 if room > indifferent else np.inf
        for a in range(n_actions):
            out, row = smallest[a], values[i, a]
            for t in range(n_contexts):
                relative, reached = (row[t] - low[t]) * scale[t] + never[t], out[t]
                out[t] = relative if relative < reached else reached
    for a in range(n_actions):
        out = smallest[a]
        for t in range(n_contexts):
            out[t] = 0.0 if out[t] == np.inf else out[t]


@register("kalai_smorodinsky")
@dataclass(frozen=True)
class KalaiSmorodinsky(PointCompromise):
    """Maximise the smallest relative gain between disagreement and ideal point.

    With the context minimum as disagreement point and two actions on which stakeholders disagree, both
    actions score 0: the context is tied. With a status quo, an action that leaves somebody below it ranks
    last. A stakeholder with weight 0 is left out; other weights have no effect.
    """

    def score(self, block: Block, weights: Values) -> Scored:
        """Return the smallest relative gains."""
        disagreement, ideal = self.disagreement_point(block), self.ideal_point(block)
        has_weight = weights > 0
        low, high = per_context(disagreement, block, has_weight), per_context(ideal, block, has_weight)
        scores = block.scores()
        smallest_relative_gain(block.with_weight(weights).values, low, high, INDIFFERENT, scores)
        flags = {}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, block, disagreement, self.status_quo, has_weight)
        return Scored(scores, flags, {"disagreement": disagreement, "ideal": ideal})


@register("nash_bargaining")
@dataclass(frozen=True)
class NashBargaining(PointCompromise):
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

    def score(self, block: Block, weights: Values) -> Scored:
        """Return logarithms of the products of gains."""
        disagreement, kept, has_weight = self.disagreement_point(block), block.with_weight(weights), weights > 0
        points, scores = per_context(disagreement, block, has_weight), block.scores()
        log_product(kept.values, points, weights[has_weight], at_most=INDIFFERENT, count_as=0.0, out=scores)
        flags = {"no_agreement": np.asarray(np.isneginf(scores).all(axis=0))}
        if self.disagreement == "status_quo":
            flags["irrational"] = rank_irrational_last(scores, block, disagreement, self.status_quo, has_weight)
        return Scored(scores, flags, {"disagreement": disagreement})
