"""Profiles of ballots: all combinations that members allow in a context, and who wins with each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values, WholeNumbers
from accordant.certificates.ballots.patterns import SURE, Patterns, Verdicts
from accordant.kernels import compiled
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.sums import in_whole_units
from accordant.voting.rules.tally import Tally

Bits = NDArray[np.uint8]  # sets of actions, the a-th bit for action a

LARGEST_NUMBER = 2**62  # of a profile: they are 64-bit integers
LARGEST_TABLE = 1 << 22  # profiles whose winners are kept in a table; of more, only those that occur are sorted
COUNTED_AT_ONCE = 1 << 16  # profiles given to a rule together: its arrays stay in a few megabytes
LEEWAY = 4.0  # of tie tolerances: winners by so much may win


@dataclass(eq=False)
class Profiles:
    """Numbered profiles of those who have a say: first those whose ballots stay, then the members of the coalition.

    Attributes
    ----------
    rule
        A voting rule.
    patterns
        All ballots.
    weights
        Of those who stay and then of the members, shape (stakeholder,).
    staying
        The different profiles of those whose ballots stay, shape (stakeholder, different profile).
    n_members
        How many members there are.
    tolerance
        How close scores tie.
    """

    rule: VotingRule
    patterns: Patterns
    weights: Values
    staying: WholeNumbers
    n_members: int
    tolerance: float
    _table: Bits | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """How many profiles there are, occurring or not."""
        return int(max(1, self.staying.shape[1]) * len(self.patterns) ** self.n_members)

    @property
    def numbered(self) -> bool:
        """Whether there are few enough profiles to be numbered."""
        return self.size < LARGEST_NUMBER

    def ballots(self, numbers: WholeNumbers) -> WholeNumbers:
        """Return the ballots of the members in some profiles, shape (member, profile)."""
        codes = np.empty((self.n_members, len(numbers)), dtype=np.int64)
        rest = numbers
        for i in range(self.n_members - 1, -1, -1):
            rest, codes[i] = np.divmod(rest, len(self.patterns))
        return codes

    def winners(self, numbers: WholeNumbers) -> Bits:
        """Return the winners, before ties are broken, of some profiles, which may repeat, shape (profile,)."""
        if self.size <= LARGEST_TABLE:
            if self._table is None:
                self._table = np.zeros(self.size, dtype=np.uint8)
            needed = np.zeros(self.size, dtype=bool)
            needed[numbers] = True
            new = np.flatnonzero(needed & (self._table == 0))
            self._table[new] = self._count(new)
            return np.asarray(self._table[numbers])
        different, where = np.unique(numbers, return_inverse=True)
        return self._count(different)[where.reshape(-1)]

    def _count(self, numbers: WholeNumbers) -> Bits:
        """Let the rule count different profiles."""
        winners = np.empty(len(numbers), dtype=np.uint8)
        whole, unit = in_whole_units(self.weights)
        unit /= min(1.0, float(self.weights.sum()))
        for start in range(0, len(numbers), COUNTED_AT_ONCE):
            part = numbers[start : start + COUNTED_AT_ONCE]
            stay = self.staying[:, part // len(self.patterns) ** self.n_members]
            codes = np.concatenate([stay, self.ballots(part)])
            ranks, approvals = self.patterns.ranks[codes], self.patterns.approvals
            tally = Tally(
                np.ascontiguousarray(ranks.transpose(0, 2, 1)), whole, unit,
                approvals=None if approvals is None else np.ascontiguousarray(approvals[codes].transpose(0, 2, 1)),
                rewards=True, tolerance=self.tolerance,
            )  # fmt: skip
            scores = np.asarray(self.rule.score(tally).scores, dtype=np.float64)
            best = scores.max(axis=0)
            wins = scores >= best - LEEWAY * self.tolerance * np.maximum(1.0, np.abs(best))
            winners[start : start + len(part)] = (wins * (1 << np.arange(len(wins)))[:, None]).sum(axis=0)
        return winners


@compiled
def list_profiles(
    verdicts: Verdicts, contexts: WholeNumbers, stay: WholeNumbers, starts: WholeNumbers, numbers: WholeNumbers
) -> None:
    """Write the numbers of all profiles that are possible in some contexts, one context after the other.

    Parameters
    ----------
    verdicts
        Which ballots members allow, shape (member, pattern, context).
    contexts
        Which contexts to look at.
    stay
        Number of the profile of those whose ballots stay, shape (context,).
    starts
        Where the profiles of each of the contexts begin in `numbers`.
    numbers
        Where the result goes.
    """
    n_members, n_patterns, _ = verdicts.shape
    codes = np.empty(n_patterns, dtype=np.int64)
    for c in range(len(contexts)):
        t, at, size = contexts[c], starts[c], 1
        numbers[at] = stay[t]
        for i in range(n_members):
            n_codes = 0
            for p in range(n_patterns):
                if verdicts[i, p, t] > 0:
                    codes[n_codes] = p
                    n_codes += 1
            for e in range(size - 1, -1, -1):  # backwards, each makes room for its continuations behind it
                number = numbers[at + e] * n_patterns
                for j in range(n_codes):
                    numbers[at + e * n_codes + j] = number + codes[j]
            size *= n_codes


@compiled
def sole_winners(
    numbers: WholeNumbers, winners: Bits, contexts: WholeNumbers, starts: WholeNumbers, verdicts: Verdicts,
    sure_bits: Bits, alone: Bits, tied: Bits, best: WholeNumbers,
) -> None:  # fmt: skip
    """Collect who wins alone and who ties, over all profiles of each context.

    Parameters
    ----------
    numbers, winners
        Profiles and their winners, one context after the other.
    contexts, starts
        Which contexts, and where their profiles begin; one start more than contexts.
    verdicts
        Which ballots members allow, shape (member, pattern, context).
    sure_bits
        Who is known to win with a profile that surely is possible, updated, shape (context,).
    alone, tied
        Who wins alone, and who ties, in some profile, shape (context,).
    best
        For each winner a profile, one that surely is possible if there is one, shape (action, context); else −1.
    """
    n_members, n_patterns, _ = verdicts.shape
    for c in range(len(contexts)):
        t = contexts[c]
        for j in range(starts[c], starts[c + 1]):
            bits = np.int64(winners[j])
            if bits & (bits - 1):
                tied[t] |= winners[j]
                continue
            alone[t] |= winners[j]
            if sure_bits[t] & winners[j]:
                continue
            sure, rest = True, numbers[j]
            for i in range(n_members - 1, -1, -1):
                sure &= verdicts[i, rest % n_patterns, t] == SURE
                rest //= n_patterns
            action = 0
            while bits >> (action + 1):
                action += 1
            if sure:
                sure_bits[t] |= winners[j]
            if sure or best[action, t] < 0:
                best[action, t] = numbers[j]


@compiled
def tied_winners(
    numbers: WholeNumbers, winners: Bits, contexts: WholeNumbers, starts: WholeNumbers, verdicts: Verdicts,
    wanted: Bits, places: WholeNumbers, leads: Values, totals: Values, tolerance: float, slack: float, far: float,
    kept: Bits, best: WholeNumbers, margins: Values,
) -> None:  # fmt: skip
    """Collect which of tied winners sums could favour, over all profiles of each context.

    Action a can win against b only if reports with the profile give it a sum that is larger by more than the tolerance;
    one that is smaller by at most that is enough if a is declared before b. A third action, declared after a, that is
    level with a and not with b can part two that are level: where there may be one, any larger sum is enough.

    Parameters
    ----------
    numbers, winners, contexts, starts, verdicts
        As for `sole_winners`.
    wanted
        Which actions to look at, shape (context,).
    places
        Where the `leads` of a context are, shape (context,).
    leads
        How much more one action can be worth than another to members with each ballot, shape (member, pattern, action,
        other action, place).
    totals
        Sums over those whose ballots stay, shape (action, context).
    tolerance, slack, far
        How close sums tie, what rounding may do to them, and the tolerance of the largest sum.
    kept
        Who is not ruled out, updated, shape (context,).
    best, margins
        The profile with the largest smallest lead of each action, and this lead, shape (action, context).
    """
    n_members, n_patterns, _ = verdicts.shape
    n_actions = len(totals)
    lead = np.zeros((n_actions, n_actions))  # the most by which the sum of one can exceed that of the other
    for c in range(len(contexts)):
        t = contexts[c]
        for j in range(starts[c], starts[c + 1] if wanted[t] else starts[c]):
            bits = np.int64(winners[j])
            if not bits & (bits - 1) or not winners[j] & wanted[t]:
                continue
            for a in range(n_actions):
                for b in range(n_actions):
                    lead[a, b] = totals[a, t] - totals[b, t]
            sure, rest = True, numbers[j]
            for i in range(n_members - 1, -1, -1):
                p = rest % n_patterns
                rest //= n_patterns
                sure &= verdicts[i, p, t] == SURE
                for a in range(n_actions):
                    for b in range(n_actions):
                        lead[a, b] += leads[i, p, a, b, places[t]]
            for a in range(n_actions):
                possible, smallest = bits >> a & 1 and wanted[t] >> a & 1, np.inf
                for b in range(n_actions):
                    if b == a or not bits >> b & 1:
                        continue
                    needed = tolerance if b < a else -far
                    for z in range(a + 1, n_actions if b < a else 0):
                        if bits >> z & 1 and lead[z, a] >= -slack and lead[z, b] > tolerance - slack:
                            needed = 0.0
                    possible &= lead[a, b] > needed - slack
                    smallest = min(smallest, lead[a, b] + (tolerance / 2 if a < b else 0.0))  # level is enough
                if possible:
                    kept[t] |= np.uint8(1 << a)
                    smallest += len(totals) * n_members if sure else 0.0  # those that are sure come first
                    if smallest > margins[a, t]:
                        margins[a, t], best[a, t] = smallest, numbers[j]
