"""How far reference points can move with the reports, for every mode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.certificates.pairwise.comparison import SLACK, PairwiseComparison, beside
from accordant.certificates.reports import Reports
from accordant.strategies.compromise import PointCompromise
from accordant.strategies.reference_points import INDIFFERENT


@dataclass(frozen=True, eq=False)
class Interval:
    """Lowest and highest values of a reference point.

    Shape (stakeholder, context) or (stakeholder, 1) for whole rows, (stakeholder, action, context) beside entries.
    """

    low: Values
    high: Values

    def beside_entries(self, pairs: PairwiseComparison) -> Interval:
        """Return the same for every entry, shape (stakeholder, action, context)."""
        shape = pairs.lowest.shape
        low, high = (np.array(np.broadcast_to(end[:, None], shape)) for end in (self.low, self.high))
        return Interval(low, high)


def status_quo(rule: PointCompromise, reports: Reports) -> int | None:
    """Return the code of the status-quo action of a rule that has one."""
    if rule.disagreement != "status_quo":
        return None
    rule.disagreement_point(reports.honest)  # says what is wrong with the name
    assert rule.status_quo is not None
    return reports.honest.actions.index(rule.status_quo)


def disagreement_of_rows(rule: PointCompromise, pairs: PairwiseComparison, reports: Reports) -> Interval:
    """Return where the disagreement point of each row can lie."""
    if rule.disagreement == "context":
        return Interval(pairs.lowest.min(axis=1), pairs.highest.min(axis=1))
    action = status_quo(rule, reports)
    if action is not None:
        return Interval(pairs.lowest[:, action], pairs.highest[:, action])
    points = rule.disagreement_point(reports.honest)[pairs.has_weight]
    return Interval(points, points)


def ideal_of_rows(rule: PointCompromise, pairs: PairwiseComparison, reports: Reports) -> Interval:
    """Return where the ideal point of each row can lie."""
    if rule.ideal == "context":
        return Interval(pairs.lowest.max(axis=1), pairs.highest.max(axis=1))
    points = rule.ideal_point(reports.honest)[pairs.has_weight]
    return Interval(points, points)


def disagreement_beside(
    rule: PointCompromise, pairs: PairwiseComparison, entries: Values, reports: Reports
) -> Interval:
    """Return where the disagreement point can lie if an entry has its value and the rest of the row is anywhere."""
    if rule.disagreement == "context":
        low, high = beside(pairs.lowest, False), beside(pairs.highest, False)
        return Interval(np.minimum(entries, low, out=low), np.minimum(entries, high, out=high))
    return disagreement_of_rows(rule, pairs, reports).beside_entries(pairs)


def ideal_beside(rule: PointCompromise, pairs: PairwiseComparison, entries: Values, reports: Reports) -> Interval:
    """Return where the ideal point can lie if an entry has its value and the rest of the row is anywhere."""
    if rule.ideal == "context":
        low, high = beside(pairs.lowest, True), beside(pairs.highest, True)
        return Interval(np.maximum(entries, low, out=low), np.maximum(entries, high, out=high))
    return ideal_of_rows(rule, pairs, reports).beside_entries(pairs)


def reach_of_points(rule: PointCompromise, pairs: PairwiseComparison, reports: Reports) -> Values:
    """Return a bound of |E − d|, |E − u*| and u* − d for each stakeholder, shape (stakeholder,)."""
    ends = [disagreement_of_rows(rule, pairs, reports)]
    ends += [ideal_of_rows(rule, pairs, reports)] if "ideal" in rule.uses else []
    farthest = np.ones(len(pairs.weights))
    for interval in ends:
        if interval.low.size:
            farthest += np.maximum(np.abs(interval.low), np.abs(interval.high)).max(axis=1)
    return farthest


def anchor(most: Values, least: Values, pairs: PairwiseComparison, action: int) -> None:
    """Put into bounds of relative gains, in place, that nobody may end below the status quo.

    An action that must be below it for somebody has no gain to offer, −inf; one that can be below it may rank last, so
    its smallest gain there is −inf. The status quo itself gains nothing.

    Parameters
    ----------
    most, least
        Bounds of r_i(a) over the box, shape (stakeholder, action, context).
    action
        The status quo.
    """
    below, above = pairs.lowest[:, action][:, None], pairs.highest[:, action][:, None]
    most[pairs.highest < below - SLACK * INDIFFERENT] = -np.inf
    least[pairs.lowest <= above + 2 * INDIFFERENT] = -np.inf
    most[:, action] = np.where(np.isinf(most[:, action]), most[:, action], 0.0)
    least[:, action] = 0.0


def ever_rational(pairs: PairwiseComparison, action: int) -> Mask:
    """Return which actions can leave nobody below the status quo, shape (action, context)."""
    below = pairs.lowest[:, action][:, None]
    return np.asarray((pairs.highest >= below - SLACK * INDIFFERENT).all(axis=0))
