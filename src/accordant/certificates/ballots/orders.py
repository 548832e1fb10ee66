"""Rankings as patterns: the weak orders of the actions, and which of them a box of rewards allows.

There are 13 weak orders of three actions, 75 of four, 541 of five and 4683 of six. A member can hand one in exactly if
levels for its tiers can be found that rise from tier to tier and lie within the boxes of all actions of the tier: from
the bottom up, each tier takes the lowest level that it can.

Being level within a tolerance is not transitive: with a ≈ b ≈ c and a above c, ranks are (0, 0, 1) where {a, b} above c
has (0, 0, 2). Sequences of ranks are the parking functions, (A + 1)^(A − 1) of A actions. All rules but Bucklin only
compare ranks, so that such ballots are weak orders to them; for Bucklin they are patterns of their own.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from accordant.arrays import Mask, Values, WholeNumbers
from accordant.certificates.ballots.patterns import DOUBTFUL, IMPOSSIBLE, ROOM, SURE, Patterns, Verdicts
from accordant.certificates.columns import BLUR
from accordant.kernels import compiled
from accordant.voting.ballots import rank_type
from accordant.voting.rules.tally import ranks_by_reward

LIFT = 0.9  # of the tolerance: two members who use it break a tie


class Orders(Patterns):
    """Weak orders, or all sequences of ranks.

    Parameters
    ----------
    n_actions
        At most 6.
    by_rank
        Whether the ranks themselves count, and not only which of two is smaller.
    """

    most_actions: ClassVar[int] = 6

    def __init__(self, n_actions: int, *, by_rank: bool) -> None:
        sequences = [ranks for ranks in product(range(n_actions), repeat=n_actions) if _is_sequence(ranks)]
        orders = [ranks for ranks in sequences if by_rank or _counts(ranks) == ranks]
        numbers = {ranks: number for number, ranks in enumerate(orders)}
        self.ranks = np.array(orders, dtype=rank_type(n_actions)).reshape(len(orders), n_actions)
        self.approvals = None
        self.tiers = np.array([_dense(ranks) for ranks in orders], dtype=np.int64).reshape(self.ranks.shape)
        self.short = np.array([_counts(ranks) for ranks in orders]).reshape(self.ranks.shape) > self.ranks
        self._radix = n_actions ** np.arange(n_actions)
        self._numbers = np.full(n_actions**n_actions, -1, dtype=np.int64)
        for ranks in sequences:
            self._numbers[int(self._radix @ np.array(ranks))] = numbers[ranks if by_rank else _counts(ranks)]

    def of(self, values: Values, tolerance: float) -> WholeNumbers:
        """Return the pattern of every stakeholder, shape (stakeholder, context)."""
        ranks = ranks_by_reward(values, tolerance).astype(np.int64)
        return np.asarray(self._numbers[np.einsum("iat,a->it", ranks, self._radix)])

    @staticmethod
    def movable(lowest: Values, highest: Values, tolerance: float) -> Mask:
        """Return where the order of two actions, or whether they are level, could change."""
        open_to_change = np.zeros(lowest.shape[2], dtype=bool)
        overlap(lowest, highest, tolerance, open_to_change)
        return open_to_change

    def allowed(self, lowest: Values, highest: Values, tolerance: float) -> Verdicts:
        """Return which orders reports in the box can have, shape (member, pattern, context)."""
        verdicts = np.empty((len(lowest), len(self), lowest.shape[2]), dtype=np.uint8)
        judge_orders(lowest, highest, self.tiers, self.short, tolerance, BLUR, ROOM, verdicts)
        return verdicts

    def leads(self, lowest: Values, highest: Values, verdicts: Verdicts, tolerance: float) -> Values:
        """Return the most by which one action can be worth more than another in reports of each order."""
        leads = np.empty((len(lowest), *self.ranks.shape, lowest.shape[1], lowest.shape[2]))
        lead_in_orders(lowest, highest, self.tiers, verdicts, tolerance, leads)
        return leads

    def middle(self, lowest: Values, highest: Values, codes: WholeNumbers, tolerance: float) -> Values:
        """Return reports between those with the lowest and those with the highest levels."""
        values = np.empty_like(lowest)
        place_orders(lowest, highest, self.tiers, codes, -1, ROOM * tolerance, 0.0, values)
        return values

    def favouring(self, lowest: Values, highest: Values, codes: WholeNumbers, action: int, tolerance: float) -> Values:
        """Return reports with the action at the highest level that its order allows, all others then at the lowest.

        No report of the same order has a larger difference between the action and any other one, but for tolerances.
        """
        values = np.empty_like(lowest)
        place_orders(lowest, highest, self.tiers, codes, action, ROOM * tolerance, LIFT * tolerance, values)
        return values


@lru_cache(maxsize=16)
def orders(n_actions: int, *, by_rank: bool) -> Orders:
    """Return the rankings of some actions, made once."""
    return Orders(n_actions, by_rank=by_rank)


def _is_sequence(ranks: tuple[int, ...]) -> bool:
    """Return whether rewards can have these ranks: in order, each is at most its place, as in a parking function."""
    return all(rank <= place for place, rank in enumerate(sorted(ranks)))


def _dense(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return the tier of every action, 0 for the best."""
    levels = sorted(set(ranks))
    return tuple(levels.index(rank) for rank in ranks)


def _counts(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many actions are in higher tiers: the ranks of the weak order."""
    return tuple(sum(other < rank for other in ranks) for rank in ranks)


@compiled
def overlap(lowest: Values, highest: Values, tolerance: float, open_to_change: Mask) -> None:
    """Write where two actions of a member are not always in the same order, shape (context,).

    In NumPy::

        apart = lowest[:, :, None] - highest[:, None] > tolerance
        still = lowest == highest
        moves = ~(apart | apart.swapaxes(1, 2) | (still[:, :, None] & still[:, None]))
        open_to_change |= (moves & ~np.eye(lowest.shape[1], dtype=bool)[:, :, None]).any(axis=(0, 1, 2))
    """
    n_members, n_actions, n_contexts = lowest.shape
    for i in range(n_members):
        for a in range(n_actions):
            low, high = lowest[i, a], highest[i, a]
            for b in range(a + 1, n_actions):
                least, most = lowest[i, b], highest[i, b]
                for t in range(n_contexts):
                    parted = low[t] - most[t] > tolerance or least[t] - high[t] > tolerance
                    still = low[t] == high[t] and least[t] == most[t]
                    open_to_change[t] |= not (parted or still)


@compiled
def judge_orders(
    lowest: Values, highest: Values, tiers: WholeNumbers, short: Mask, tolerance: float, blur: float, room: float,
    verdicts: Verdicts,
) -> None:  # fmt: skip
    """Write which orders are possible, shape (member, pattern, context).

    Ruled out is only what breaks something that every report with the order has: rewards rise strictly from tier to
    tier; within a tier they are within the tolerance; and for any two tiers somebody not clearly above the upper one is
    clearly above the lower one.

    Parameters
    ----------
    lowest, highest
        Ends of the box, shape (member, action, context).
    tiers
        Tier of every action, 0 for the best, shape (pattern, action).
    short
        Whether an action has fewer above it than there are in higher tiers, same shape.
    tolerance, blur, room
        How close rewards are level, what share of that is rounding, and how many tolerances are clearly different.
    verdicts
        Where the results go.
    """
    n_members, n_actions, n_contexts = lowest.shape
    floor, ceiling = np.empty(n_actions), np.empty(n_actions)
    wide = tolerance * (1.0 + blur)
    for i in range(n_members):
        for p in range(len(tiers)):
            n_tiers, exotic = 0, False
            for a in range(n_actions):
                n_tiers = max(n_tiers, tiers[p, a] + 1)
                exotic |= short[p, a]
            for t in range(n_contexts):
                floor[:], ceiling[:] = -np.inf, np.inf
                for a in range(n_actions):
                    tier = tiers[p, a]
                    floor[tier] = max(floor[tier], lowest[i, a, t])
                    ceiling[tier] = min(ceiling[tier], highest[i, a, t])
                verdict, below, level = DOUBTFUL if exotic else SURE, -np.inf, -np.inf
                for tier in range(n_tiers - 1, -1, -1):
                    reached = max(floor[tier], below)
                    if ceiling[tier] < reached - wide or ceiling[tier] <= below:
                        verdict = IMPOSSIBLE
                        break
                    parted = below == -np.inf
                    for b in range(n_actions):
                        clearly = tiers[p, b] <= tier and highest[i, b, t] - below > tolerance
                        parted |= clearly and lowest[i, b, t] <= ceiling[tier] + wide
                    if not parted:
                        verdict = IMPOSSIBLE
                        break
                    level = max(floor[tier], level + room * tolerance)
                    if level > ceiling[tier]:
                        verdict = min(verdict, DOUBTFUL)
                    below = reached
                if exotic and verdict != IMPOSSIBLE:
                    for a in range(n_actions):
                        near = not short[p, a]
                        for b in range(n_actions):
                            near |= tiers[p, b] < tiers[p, a] and lowest[i, b, t] <= highest[i, a, t] + wide
                        if not near:
                            verdict = IMPOSSIBLE
                verdicts[i, p, t] = verdict


@compiled
def lead_in_orders(
    lowest: Values, highest: Values, tiers: WholeNumbers, verdicts: Verdicts, tolerance: float, leads: Values
) -> None:
    """Write the most by which a can be worth more than b, shape (member, pattern, a, b, context).

    An action is worth no more than any above it, no less than any below it, and about as much as those level with it:
    so the lead is that of the lowest of the highest ends over the highest of the lowest ends. Within a tier it is at
    most the tolerance, and nothing is ahead of what is above it.
    """
    n_members, n_actions, n_contexts = lowest.shape
    most, least = np.empty(n_actions), np.empty(n_actions)
    for i in range(n_members):
        for p in range(len(tiers)):
            for t in range(n_contexts):
                if verdicts[i, p, t] == IMPOSSIBLE:
                    continue
                for a in range(n_actions):
                    most[a], least[a] = highest[i, a, t], lowest[i, a, t]
                    for b in range(n_actions):
                        slack = tolerance if tiers[p, b] == tiers[p, a] and b != a else 0.0
                        if tiers[p, b] <= tiers[p, a]:
                            most[a] = min(most[a], highest[i, b, t] + slack)
                        if tiers[p, b] >= tiers[p, a]:
                            least[a] = max(least[a], lowest[i, b, t] - slack)
                for a in range(n_actions):
                    for b in range(n_actions):
                        lead = most[a] - least[b]
                        if tiers[p, a] == tiers[p, b]:
                            lead = min(lead, tolerance)
                        leads[i, p, a, b, t] = min(lead, 0.0) if tiers[p, a] > tiers[p, b] else lead


@compiled
def place_orders(
    lowest: Values, highest: Values, tiers: WholeNumbers, codes: WholeNumbers, action: int, gap: float, lift: float,
    values: Values,
) -> None:  # fmt: skip
    """Write reports with the given orders, shape (member, action, context).

    Parameters
    ----------
    lowest, highest
        Ends of the box, same shape.
    tiers
        Tier of every action, 0 for the best, shape (pattern, action).
    codes
        Order of every member, shape (member, context).
    action
        Which action to favour; −1 for the middle between the lowest and the highest levels.
    gap
        Least difference between tiers.
    lift
        How much the favoured action is above others in its tier, less than the tolerance: it is still level with them.
    values
        Where the result goes.
    """
    n_members, n_actions, n_contexts = lowest.shape
    floor, ceiling = np.empty(n_actions), np.empty(n_actions)
    rising, falling = np.empty(n_actions), np.empty(n_actions)
    for i in range(n_members):
        for t in range(n_contexts):
            p = codes[i, t]
            floor[:], ceiling[:] = -np.inf, np.inf
            n_tiers = 0
            for a in range(n_actions):
                tier = tiers[p, a]
                n_tiers = max(n_tiers, tier + 1)
                floor[tier] = max(floor[tier], lowest[i, a, t])
                ceiling[tier] = min(ceiling[tier], highest[i, a, t])
            level = np.inf
            for tier in range(n_tiers):
                level = min(ceiling[tier], level - gap)
                falling[tier] = level
            own = tiers[p, action] if action >= 0 else -1
            level = -np.inf
            for tier in range(n_tiers - 1, -1, -1):
                level = max(floor[tier], level + gap)
                if tier == own:
                    level = max(level, falling[tier])
                rising[tier] = level
            for a in range(n_actions):
                tier = tiers[p, a]
                level = rising[tier] if action >= 0 else (rising[tier] + falling[tier]) / 2
                level += lift if a == action else 0.0
                values[i, a, t] = min(max(level, lowest[i, a, t]), highest[i, a, t])
