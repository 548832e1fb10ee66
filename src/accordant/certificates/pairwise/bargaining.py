"""Bargaining solutions with reference points that follow the reports."""

from __future__ import annotations

import math

import numpy as np

from accordant.arrays import Mask, Values
from accordant.certificates.columns import BLUR
from accordant.certificates.method import certifies
from accordant.certificates.pairwise.comparison import (
    AHEAD,
    BEHIND,
    LEVEL,
    SLACK,
    Marks,
    PairwiseComparison,
    beside,
    compare_smallest,
)
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.pairwise.points import (
    Interval,
    anchor,
    disagreement_beside,
    disagreement_of_rows,
    ever_rational,
    ideal_beside,
    ideal_of_rows,
    reach_of_points,
    status_quo,
)
from accordant.certificates.reports import Reports
from accordant.kernels import compiled
from accordant.strategies.bargaining import EgalitarianEquivalent, KalaiSmorodinsky, NashBargaining
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Strategy, stakeholder_weights


@certifies("egalitarian_equivalent")
class EgalitarianPairs(Pairwise):
    """Smallest gains, divided by weights: exact for every pair with the worst action of the context, else sound."""

    made_for = EgalitarianEquivalent
    levelled = True

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the highest worst reward that leaves the action its best score."""
        assert isinstance(rule, EgalitarianEquivalent)
        weights = stakeholder_weights(rule.weights, len(reports.lowest))[:, None]
        top = reports.highest[:, action]
        gains = top - np.minimum(top, np.delete(reports.lowest, action, axis=1).min(axis=1))
        score = (gains[weights[:, 0] > 0] / weights[weights[:, 0] > 0]).min(axis=0)
        return np.asarray(np.minimum(super().levels(rule, reports, action), (top - score * weights)[:, None]))

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, EgalitarianEquivalent)
        proportions = pairs.weights[:, None, None]
        low = disagreement_beside(rule, pairs, pairs.highest, reports).low
        high = disagreement_beside(rule, pairs, pairs.lowest, reports).high
        most, least = (pairs.highest - low) / proportions, (pairs.lowest - high) / proportions
        action = status_quo(rule, reports)
        if action is not None:
            anchor(most, least, pairs, action)
        reach = np.maximum(pairs.weights, reach_of_points(rule, pairs, reports))
        marks = compare_smallest(pairs, most, least, 2 * INDIFFERENT + SLACK * pairs.tolerance * reach)
        if action is not None:
            marks[np.broadcast_to(~ever_rational(pairs, action)[:, None], marks.shape)] = BEHIND
        return marks


@certifies("kalai_smorodinsky")
class KalaiSmorodinskyPairs(Pairwise):
    """Smallest relative gains: exact for every pair if both points are those of the context, sound otherwise."""

    def by_columns(self, rule: Strategy) -> bool:
        """Not with a fixed disagreement point beside an ideal point that moves."""
        assert isinstance(rule, KalaiSmorodinsky)
        return rule.disagreement in ("context", "status_quo")

    made_for = KalaiSmorodinsky
    levelled = True

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the highest worst reward that leaves the action its best score."""
        assert isinstance(rule, KalaiSmorodinsky)
        has_weight = stakeholder_weights(rule.weights, len(reports.lowest)) > 0
        top, others = reports.highest[:, action], np.delete(reports.lowest, action, axis=1)
        high = np.maximum(top, others.max(axis=1)) if rule.ideal == "context" else rule.ideal_point(reports.honest)
        low = np.minimum(top, others.min(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(high - low > INDIFFERENT, (top - low) / (high - low), np.inf)
            score = relative[has_weight].min(axis=0)
            level = np.where(score < 1, (top - score * high) / (1 - score), np.inf)
        return np.asarray(np.minimum(super().levels(rule, reports, action), np.nan_to_num(level, nan=np.inf)[:, None]))

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, KalaiSmorodinsky)
        most, least = np.empty_like(pairs.lowest), np.empty_like(pairs.lowest)
        for entries, highest, out in ((pairs.highest, True, most), (pairs.lowest, False, least)):
            low = disagreement_beside(rule, pairs, entries, reports)
            high = ideal_beside(rule, pairs, entries, reports)
            relative_gains(entries, low.low, low.high, high.low, high.high, INDIFFERENT, highest, out)
        rows, tops = disagreement_of_rows(rule, pairs, reports), ideal_of_rows(rule, pairs, reports)
        silent = may_be_left_out(rows, tops)
        most[np.broadcast_to(silent[:, None], most.shape)] = np.inf
        action = status_quo(rule, reports)
        if action is not None:
            anchor(most, least, pairs, action)
        gaps = 2 * INDIFFERENT + SLACK * pairs.tolerance * reach_of_points(rule, pairs, reports)
        marks = compare_smallest(pairs, most, least, gaps)
        if action is not None:
            marks[np.broadcast_to(~ever_rational(pairs, action)[:, None], marks.shape)] = BEHIND
        return marks


def may_be_left_out(disagreement: Interval, ideal: Interval) -> Mask:
    """Return where a stakeholder may be left unable to gain, shape (stakeholder, context) or (stakeholder, 1)."""
    return np.asarray(ideal.low - disagreement.high <= SLACK * INDIFFERENT)


@compiled
def relative_gains(
    entries: Values, d_low: Values, d_high: Values, u_low: Values, u_high: Values, indifferent: float, highest: bool,
    out: Values,
) -> None:  # fmt: skip
    """Write the largest or smallest (e − d) / (u − d) over d and u in intervals, shape (stakeholder, action, context).

    For one of d and u given it rises or falls in the other, so the four ends are enough.

    In NumPy::

        sign = 1.0 if highest else -1.0
        ends = [(d, u) for d in (d_low, d_high) for u in (u_low, u_high)]
        out[:] = sign * np.max([sign * (entries - d) / np.maximum(u - d, indifferent) for d, u in ends], axis=0)

    Parameters
    ----------
    entries
        e.
    d_low, d_high, u_low, u_high
        Ends of the intervals, same shape.
    indifferent
        u − d is not smaller, or the stakeholder is left out.
    highest
        Whether the largest is wanted.
    out
        Where the result goes.
    """
    n_stakeholders, n_actions, n_contexts = entries.shape
    sign = 1.0 if highest else -1.0
    for i in range(n_stakeholders):
        for a in range(n_actions):
            for t in range(n_contexts):
                e = entries[i, a, t]
                best = -np.inf
                for d in (d_low[i, a, t], d_high[i, a, t]):
                    for u in (u_low[i, a, t], u_high[i, a, t]):
                        value = sign * (e - d) / max(u - d, indifferent)
                        best = value if value > best else best
                out[i, a, t] = sign * best


DEEPEST = -math.log(INDIFFERENT)  # the largest |log| of a gain that counts


@certifies("nash_bargaining")
class NashPairs(Pairwise):
    """Products of gains: exact for every pair with the worst action of the context, sound with a status quo."""

    made_for = NashBargaining
    tailored = levelled = True

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the highest end below the action at which a rival can be the worst."""
        del rule
        others = np.delete(reports.lowest, action, axis=1)
        ceiling = np.delete(reports.highest, action, axis=1).min(axis=1)
        useful = (others < reports.highest[:, action][:, None]) & (others <= ceiling[:, None])
        return np.asarray(np.where(useful, others, -np.inf).max(axis=1, keepdims=True))

    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival."""
        assert isinstance(rule, NashBargaining)
        marks, action = pairs.marks(), status_quo(rule, reports)
        scale = pairs.tolerance * max(1.0, DEEPEST * pairs.weights.sum())
        tolerances = (SLACK * scale, BLUR * pairs.tolerance, SLACK * INDIFFERENT)
        if action is None:
            gains = pairs.highest - beside(pairs.lowest, False)
            hopeful = np.asarray((gains > INDIFFERENT / SLACK).all(axis=0))
            products_ahead(
                pairs.lowest, pairs.highest, pairs.weights, hopeful, *tolerances, pairs.n_rivals, marks,
            )  # fmt: skip
            return marks
        products_ahead_of_status_quo(pairs.lowest, pairs.highest, pairs.weights, action, *tolerances, marks)
        marks[np.broadcast_to(~ever_rational(pairs, action)[:, None], marks.shape)] = BEHIND
        return marks


@compiled
def products_ahead(
    lowest: Values, highest: Values, weights: Values, hopeful: Mask, tolerance: float, blur: float, nothing: float,
    n_rivals: int, marks: Marks,
) -> None:  # fmt: skip
    """Write the marks of every action beside the first `n_rivals` ones, by ∏_i (e_i − min_c E[i, c])^w_i.

    Parameters
    ----------
    lowest, highest
        Ends of the box.
    weights
        Exponents, shape (stakeholder,), above 0.
    hopeful
        Which actions can give everybody a gain, shape (action, context).
    tolerance, blur
        How close logarithms of products tie, and how close rounding brings equal ones.
    nothing
        Gains up to here may count as none.
    n_rivals
        Number of rivals.
    marks
        Where the result goes, shape (action, rival, context).
    """
    n_stakeholders, n_actions, n_contexts = lowest.shape
    for a in range(n_actions):
        for b in range(n_rivals):
            for t in range(n_contexts):
                ruined, ahead, lead = False, False, 0.0
                for i in range(n_stakeholders if a != b else 0):
                    x, y = highest[i, a, t], lowest[i, b, t]
                    low, high = np.inf, np.inf
                    for c in range(n_actions):
                        if c not in (a, b):
                            low = lowest[i, c, t] if lowest[i, c, t] < low else low
                            high = highest[i, c, t] if highest[i, c, t] < high else high
                    if y <= min(x, high) + nothing:  # b can be the worst for i, and its product 0
                        ruined = True
                        ahead |= x > y
                    if hopeful[a, t] and not ahead:
                        d = min(y, high) if x > y else min(x, low)
                        gain, other = x - d, y - d
                        ratio = gain / (other if other > nothing else nothing)
                        lead += weights[i] * math.log(ratio) if ratio > 0 else -np.inf
                mark = BEHIND
                if a != b and hopeful[a, t] and (ahead or lead > blur):
                    mark = AHEAD
                elif a != b and (ruined or (hopeful[a, t] and lead >= -tolerance)):
                    mark = LEVEL
                marks[a, b, t] = mark


@compiled
def products_ahead_of_status_quo(
    lowest: Values, highest: Values, weights: Values, anchor: int, tolerance: float, blur: float, nothing: float,
    marks: Marks,
) -> None:  # fmt: skip
    """Write bounds of the marks of every action beside every other one, by ∏_i (e_i − E[i, anchor])^w_i.

    The winner leaves nobody below the status quo. A rival that gains nothing for somebody, at a report at which the
    winner is not below the status quo, is not above the winner there; the status quo itself never gains anything.

    Parameters
    ----------
    lowest, highest
        Ends of the box.
    weights
        Exponents, shape (stakeholder,), above 0.
    anchor
        The status quo.
    tolerance, blur, nothing
        As in `products_ahead`.
    marks
        Where the result goes, shape (action, action, context).
    """
    n_stakeholders, n_actions, n_contexts = lowest.shape
    for a in range(n_actions):
        for b in range(n_actions):
            for t in range(n_contexts):
                ahead, lead = b == anchor, 0.0
                for i in range(n_stakeholders if a != b and not ahead else 0):
                    x, y = highest[i, a, t], lowest[i, b, t]
                    below, above = lowest[i, anchor, t], highest[i, anchor, t]
                    if y <= above + nothing and x >= y - 2.0 * nothing:
                        ahead = True
                    elif a == anchor:
                        lead = -np.inf
                    else:
                        d = min(above, y) if x > y else below
                        gain, other = x - d, y - d
                        ratio = gain / (other if other > nothing else nothing)
                        lead += weights[i] * math.log(ratio) if ratio > 0 else -np.inf
                level = a != b and lead >= -tolerance
                marks[a, b, t] = AHEAD if a != b and (ahead or lead > blur) else (LEVEL if level else BEHIND)
