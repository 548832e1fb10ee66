"""`Pairwise`: what all rules with reference points of the context have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.columns import ColumnOrder
from accordant.certificates.method import Method, Reach
from accordant.certificates.pairwise.attacks import Plan, attack_reports, plans, search
from accordant.certificates.pairwise.comparison import Marks, PairwiseComparison
from accordant.certificates.reports import Reports
from accordant.strategies.strategy import Strategy


class Pairwise(Method):
    """Compare every pair of actions, each at its best for the first one, and search for attacks on the others.

    With two actions and reference points that follow the reports, one decision per action is exact (see
    ``docs/methods/context-reference-points.md``).
    """

    words = "every pair of actions; attacks"
    made_for: ClassVar[type[Strategy]]  # a subclass may score in another way
    tailored: ClassVar[bool] = False  # whether the best report of the others differs from row to row
    levelled: ClassVar[bool] = False  # whether levels in each row hold several rivals down at once

    def serves(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether it is the rule itself, and no subclass."""
        del n_actions
        return type(rule) is self.made_for

    @abstractmethod
    def compare(self, rule: Strategy, pairs: PairwiseComparison, reports: Reports) -> Marks:
        """Return what each action can be at most beside each rival, shape (action, rival, context)."""

    def by_columns(self, rule: Strategy) -> bool:
        """Return whether, with two actions, raising one and lowering the other never hurts the first."""
        del rule
        return True

    def has_anchor(self, rule: Strategy) -> bool:
        """Return whether one action is the status quo."""
        return getattr(rule, "disagreement", None) == "status_quo"

    def exact(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether there are two actions, and it is enough to raise one and lower the other."""
        return n_actions == 2 and self.by_columns(rule)

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return what no pair rules out, and what attacks attain."""
        if self.exact(rule, reports.n_actions):
            return ColumnOrder().reach(rule, reports)
        outer = self.outer(rule, reports)
        inner, attack = search(rule, reports, outer, self.plans(reports), self)
        return Reach(outer | inner, inner, attack)

    def outer(self, rule: Strategy, reports: Reports) -> Mask:
        """Return the actions that no rival rules out, shape (action, context)."""
        pairs = PairwiseComparison.of(rule, reports)
        return pairs.left(self.compare(rule, pairs, reports))

    def misreport(self, rule: Strategy, reports: Reports, action: int, attack: int) -> Values:
        """Return the reports of one attack; the action it promotes is part of its number."""
        if self.exact(rule, reports.n_actions):
            return reports.promoting(action)
        number, promoted = divmod(attack, reports.n_actions)
        return attack_reports(rule, reports, promoted, self.plans(reports)[number], self)

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Compare the others with the decided action alone: if one can be ahead of it, it need not win."""
        if self.exact(rule, reports.n_actions):
            return ColumnOrder().changeable(rule, reports, decided)
        if self.has_anchor(rule):
            outer = self.outer(rule, reports)
            return np.asarray(outer.sum(axis=0) > outer[decided, np.arange(len(decided))])
        pairs = PairwiseComparison.of(rule, reports).against(decided)
        return np.asarray(pairs.left(self.compare(rule, pairs, reports))[1:].any(axis=0))

    def plans(self, reports: Reports) -> tuple[Plan, ...]:
        """Return the attacks to try, in the order of their numbers."""
        return plans(len(reports.members), reports.n_actions, tailored=self.tailored, levelled=self.levelled)

    def ideal_thirds(self, reports: Reports, action: int, rival: int) -> Values:
        """Return what the others should report, row by row, if one action is to get ahead of a rival.

        By default at their highest where the action can be above the rival, and at their lowest elsewhere.
        """
        above = reports.highest[:, action] > reports.lowest[:, rival]
        return np.where(above[:, None], reports.highest, reports.lowest)

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the level of every entry below which an action other than the promoted one should not be.

        Shape (stakeholder, action, context), or one level for a whole row, (stakeholder, 1, context). By default the
        highest to which all others can be raised: there most of them gain nothing over the worst.
        """
        del rule
        return np.asarray(np.delete(reports.highest, action, axis=1).min(axis=1, keepdims=True))
