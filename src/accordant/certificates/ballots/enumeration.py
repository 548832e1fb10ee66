"""`Counting`: reachable sets of voting rules by going through the profiles that a coalition can bring about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Integers, Mask, Values, WholeNumbers
from accordant.certificates.ballots.approvals import Approvals, approvals
from accordant.certificates.ballots.orders import Orders, orders
from accordant.certificates.ballots.patterns import DOUBTFUL, Patterns, Verdicts
from accordant.certificates.ballots.point_bounds import not_bounded
from accordant.certificates.ballots.profiles import Bits, Profiles, list_profiles, sole_winners, tied_winners
from accordant.certificates.columns import BLUR, ColumnOrder, against
from accordant.certificates.method import Method, Reach, certifies
from accordant.certificates.reports import Reports
from accordant.strategies.strategy import Strategy, stakeholder_weights
from accordant.voting.rules.rule import VotingRule

MOST_PROFILES = 1 << 19  # in a context, which takes some hundredths of a second: 3 members with 4 actions, 5 with 3
LISTED_AT_ONCE = 1 << 22  # profiles, and entries of bounds: some tens of megabytes
MIDDLE, FAVOURING = 1, 2  # reports in the middle of their ballots, and such as favour an action where winners tie


def patterns_for(rule: VotingRule, n_actions: int) -> Patterns | None:
    """Return the ballots that a rule reads, or None if there are too many."""
    if n_actions > kind_for(rule).most_actions:
        return None
    return approvals(n_actions) if rule.name == "approval" else orders(n_actions, by_rank=rule.name == "bucklin")


def kind_for(rule: VotingRule) -> type[Patterns]:
    """Return what ballots a rule reads: approvals or rankings."""
    return Approvals if rule.name == "approval" else Orders


def said(rule: VotingRule, reports: Reports) -> tuple[Values, Mask]:
    """Return weights, and which members of the coalition have a say, both of shape (stakeholder,)."""
    weights = stakeholder_weights(rule.weights, len(reports.members))
    return weights, reports.members & (weights > 0)


@dataclass(frozen=True, eq=False)
class Search:
    """What counting profiles found.

    Attributes
    ----------
    reports
        What may be reported.
    members
        Who may and has a say, shape (stakeholder,).
    patterns
        All ballots, or None if there are too many.
    profiles
        Their combinations.
    outer
        Wanted actions that could not be ruled out, shape (action, context).
    best
        For each of them a profile with which it wins, or could; −1 if none is known, same shape.
    """

    reports: Reports
    members: Mask
    patterns: Patterns | None
    profiles: Profiles | None
    outer: Mask
    best: WholeNumbers

    @classmethod
    def of(cls, rule: VotingRule, reports: Reports, wanted: Mask) -> Search:
        """Search for wanted actions, shape (action, context), in contexts with some."""
        weights, members = said(rule, reports)
        outer, best = wanted.copy(), np.full(wanted.shape, -1, dtype=np.int64)
        counted = np.zeros(reports.n_contexts, dtype=bool)
        patterns, profiles, tolerance = patterns_for(rule, reports.n_actions), None, reports.honest.tolerance
        if patterns is not None:
            stays = (weights > 0) & ~members
            ballots = patterns.of(reports.honest.values[stays], tolerance)
            different, stay = np.unique(ballots, axis=1, return_inverse=True)
            order = np.concatenate([weights[stays], weights[members]])
            profiles = Profiles(rule, patterns, order, different, int(members.sum()), tolerance)
        if patterns is not None and profiles is not None and profiles.numbered:
            totals = np.ascontiguousarray(reports.honest.values[stays].sum(axis=0))
            for part in _parts(np.flatnonzero(wanted.any(axis=0)), int(members.sum()) * patterns.ranks.size):
                low, high, honest = (
                    np.ascontiguousarray(rewards[members][:, :, part])
                    for rewards in (reports.lowest, reports.highest, reports.honest.values)
                )
                piece = _Piece(profiles, low, high, stay.reshape(-1)[part], totals[:, part])
                outer[:, part], best[:, part], counted[part] = piece.count(
                    wanted[:, part], patterns.of(honest, tolerance)
                )
        where = np.flatnonzero(~counted & wanted.any(axis=0))
        if len(where):
            outer[:, where] &= not_bounded(rule.name, weights, reports.take(where), patterns)
        return cls(reports, members, patterns, profiles, outer, best)

    def attack(self, action: int, contexts: Codes, number: int) -> Values:
        """Return reports in some contexts, shape (stakeholder, action, context), with which an action could win."""
        assert self.profiles is not None
        assert self.patterns is not None
        values = self.reports.honest.values[:, :, contexts]
        low, high = (
            np.ascontiguousarray(rewards[self.members][:, :, contexts])
            for rewards in (self.reports.lowest, self.reports.highest)
        )
        ballots = self.profiles.ballots(self.best[action, contexts])
        tolerance = self.reports.honest.tolerance
        if number == MIDDLE:
            values[self.members] = self.patterns.middle(low, high, ballots, tolerance)
        else:
            values[self.members] = self.patterns.favouring(low, high, ballots, action, tolerance)
        return np.ascontiguousarray(values)


@dataclass(frozen=True, eq=False)
class _Piece:
    """Contexts whose ballots are listed together.

    Attributes
    ----------
    profiles
        All profiles.
    lowest, highest
        Ends of the boxes of the members, shape (member, action, context).
    stay
        Number of the profile of those whose ballots stay, shape (context,).
    totals
        Their sums, shape (action, context).
    """

    profiles: Profiles
    lowest: Values
    highest: Values
    stay: WholeNumbers
    totals: Values

    def count(self, wanted: Mask, honest: WholeNumbers) -> tuple[Mask, WholeNumbers, Mask]:
        """Count profiles in every context that does not have too many.

        Parameters
        ----------
        wanted
            Which actions to look for, shape (action, context).
        honest
            What the members would honestly hand in, shape (member, context).

        Returns
        -------
        Wanted actions that are left, and profiles that make them win, both of shape (action, context); where profiles
        were counted, shape (context,).
        """
        patterns, tolerance = self.profiles.patterns, self.profiles.tolerance
        n_actions, n_contexts = wanted.shape
        verdicts = patterns.allowed(self.lowest, self.highest, tolerance)
        for i in range(len(verdicts)):
            own = honest[i], np.arange(n_contexts)
            verdicts[i][own] = np.maximum(verdicts[i][own], DOUBTFUL)  # whatever rounding says, honest ballots can be
        with np.errstate(over="ignore"):
            counts = (verdicts > 0).sum(axis=1).astype(np.float64).prod(axis=0)
        best = np.full(wanted.shape, -1, dtype=np.int64)
        left = wanted.copy()
        few = counts <= MOST_PROFILES
        for part in _runs(np.flatnonzero(few), counts):
            could_win = self._count(part, counts, verdicts, _bits(wanted), best)
            left[:, part] &= (could_win[part] >> np.arange(n_actions)[:, None] & 1).astype(bool)
        return left, best, few

    def _count(
        self, contexts: WholeNumbers, counts: Values, verdicts: Verdicts, wanted: Bits, best: WholeNumbers
    ) -> Bits:
        """Return who can win in some contexts, and write profiles into `best`."""
        starts = np.concatenate([[0], counts[contexts].cumsum()]).astype(np.int64)
        numbers = np.empty(starts[-1], dtype=np.int64)
        list_profiles(verdicts, contexts, self.stay, starts, numbers)
        winners = self.profiles.winners(numbers)
        alone, tied = np.zeros(len(counts), dtype=np.uint8), np.zeros(len(counts), dtype=np.uint8)
        sure = ~wanted
        listed = (numbers, winners, contexts, starts, verdicts)
        sole_winners(*listed, sure, alone, tied, best)
        self._break_ties(listed, tied & ~sure, alone, best)
        return alone

    def _break_ties(
        self, listed: tuple[WholeNumbers, Bits, WholeNumbers, WholeNumbers, Verdicts], wanted: Bits,
        could_win: Bits, best: WholeNumbers
    ) -> None:  # fmt: skip
        """Add to `could_win` which of tied winners the sums could favour."""
        where = np.flatnonzero(wanted)
        patterns, tolerance = self.profiles.patterns, self.profiles.tolerance
        for part in _parts(where, patterns.ranks.size * patterns.n_actions * len(self.lowest)):
            low, high = (np.ascontiguousarray(rewards[:, :, part]) for rewards in (self.lowest, self.highest))
            leads = patterns.leads(low, high, np.ascontiguousarray(listed[-1][:, :, part]), tolerance)
            places = np.zeros(len(wanted), dtype=np.int64)
            places[part] = np.arange(len(part))
            some = np.zeros_like(wanted)
            some[part] = wanted[part]
            n_said = len(self.profiles.weights)
            slack = BLUR * tolerance + n_said**2 * np.finfo(float).eps  # sums of so many rewards are rounded so much
            margins = np.full(best.shape, -np.inf)
            tied_winners(
                *listed, some, places, leads, self.totals, tolerance, slack,
                tolerance * max(1.0, n_said), could_win, best, margins,
            )  # fmt: skip


def _parts(contexts: WholeNumbers, entries: int) -> Iterator[WholeNumbers]:
    """Yield some contexts at a time, so that arrays with so many entries per context stay small."""
    size = max(1, LISTED_AT_ONCE // max(1, entries))
    for start in range(0, len(contexts), size):
        yield contexts[start : start + size]


def _runs(contexts: WholeNumbers, counts: Values) -> Iterator[WholeNumbers]:
    """Yield some contexts at a time, so that their profiles together are not too many."""
    if len(contexts):
        run = (counts[contexts].cumsum() // LISTED_AT_ONCE).astype(np.int64)
        yield from np.split(contexts, np.flatnonzero(np.diff(run)) + 1)


def _bits(marks: Mask) -> Bits:
    """Return sets of actions as bits, from marks of shape (action, context)."""
    return np.asarray((marks * (1 << np.arange(len(marks)))[:, None]).sum(axis=0), dtype=np.uint8)


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
