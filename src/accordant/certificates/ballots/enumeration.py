"""`Counting`: reachable sets of voting rules by going through the profiles that a coalition can bring about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.ballots.search import FAVOURING, MIDDLE, Search, kind_for, said
from accordant.certificates.columns import ColumnOrder, against
from accordant.certificates.method import Method, Reach, certifies
from accordant.certificates.reports import Reports
from accordant.strategies.strategy import Strategy
from accordant.voting.rules.rule import VotingRule

PROMOTING = 0  # the attack that is tried first; others are those of the search


@certifies(
    "anti_plurality", "approval", "borda", "bucklin", "coombs", "copeland", "instant_runoff", "kemeny",
    "maximal_lotteries", "minimax", "plurality", "random_dictatorship", "ranked_pairs", "schulze",
)  # fmt: skip
class Counting(Method):
    """Count every profile of ballots that the box allows.

    Where no ballot can change and no sums of tied winners either, only the decision is reachable. Elsewhere an action
    is reachable if it wins some profile, alone or by the tie rule. Where there are too many profiles, only what simple
    bounds rule out is (see point_bounds.py). With two actions, one decision for each at its best is enough.
    """

    words = "every profile of ballots in the box"

    def serves(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether it is a voting rule."""
        del n_actions
        return isinstance(rule, VotingRule)

    def exact(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether there are two actions: more may be too many, or differ by less than the tolerance."""
        del rule
        return n_actions == 2

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return reachable sets and how to reach them."""
        assert isinstance(rule, VotingRule)
        if reports.n_actions == 2:
            return ColumnOrder().reach(rule, reports)
        outer = np.zeros((reports.n_actions, reports.n_contexts), dtype=bool)
        inner, attack = np.zeros_like(outer), np.zeros(outer.shape, dtype=np.int32)
        where = np.flatnonzero(unsettled(rule, reports))
        if len(where):
            outer[:, where], inner[:, where], attack[:, where] = _reach(rule, reports.take(where))
        return Reach(outer, inner, attack)

    def misreport(self, rule: Strategy, reports: Reports, action: int, attack: int) -> Values:
        """Return the attack that `reach` found."""
        if attack == PROMOTING:
            return reports.promoting(action)
        assert isinstance(rule, VotingRule)
        wanted = np.zeros((reports.n_actions, reports.n_contexts), dtype=bool)
        wanted[action] = True
        search = Search.of(rule, reports, wanted)
        return search.attack(action, np.arange(reports.n_contexts), attack)

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Try the reports that hurt the decision or help an action most; count profiles only where they do nothing."""
        assert isinstance(rule, VotingRule)
        changes = reports.choose(rule, against(reports.highest, reports.lowest, decided, reports)) != decided
        if reports.n_actions == 2:
            return np.asarray(changes)
        for action in range(reports.n_actions):
            changes |= reports.choose(rule, reports.promoting(action)) != decided
        where = np.flatnonzero(~changes & unsettled(rule, reports))
        if len(where):
            known = np.arange(reports.n_actions)[:, None] == decided[where]
            search = Search.of(rule, reports.take(where), ~known)
            changes[where] = (search.outer & ~known).any(axis=0)
        return np.asarray(changes)


def unsettled(rule: VotingRule, reports: Reports) -> Mask:
    """Return where somebody with a say could hand in another ballot, or could move the sums of tied winners."""
    _, members = said(rule, reports)
    low, high = reports.lowest[members], reports.highest[members]
    if not members.any():
        return np.zeros(reports.n_contexts, dtype=bool)
    tied = rule.choose(reports.honest).tied
    moves = kind_for(rule).movable(low, high, reports.honest.tolerance)
    return np.asarray(moves | (tied & (low < high).any(axis=(0, 1))))


def _reach(rule: VotingRule, reports: Reports) -> tuple[Mask, Mask, NDArray[np.int32]]:
    """Return reachable actions and attacks: first the most favourable reports are tried, then profiles are counted."""
    shape = (reports.n_actions, reports.n_contexts)
    inner, attack = np.zeros(shape, dtype=bool), np.full(shape, PROMOTING, dtype=np.int32)
    for action in range(reports.n_actions):
        inner[action] = reports.choose(rule, reports.promoting(action)) == action
    decided = np.arange(reports.n_actions)[:, None] == reports.decided(rule)
    inner |= decided
    search = Search.of(rule, reports, ~inner)
    for action in range(reports.n_actions):
        for number in (MIDDLE, FAVOURING):
            where = np.flatnonzero(~inner[action] & (search.best[action] >= 0))
            if len(where):
                wins = reports.take(where).choose(rule, search.attack(action, where, number)) == action
                inner[action, where[wins]], attack[action, where[wins]] = True, number
    return inner | search.outer, inner, attack
