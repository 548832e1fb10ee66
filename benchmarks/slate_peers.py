"""What rules on approvals are measured against: plain loops over users with NumPy over items, and abcvoting.

The loops are what one would write in an afternoon: one user after the other, all items at once, every place scored
anew. Weights are 1. Ties go to the higher sum of expected rewards, then to the first item, as everywhere in the
package.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Loop = Callable[[np.ndarray, np.ndarray, int], list[int]]
TIED = 1e-12


def pick(scores: np.ndarray, totals: np.ndarray) -> int:
    """Return the item with the highest score; ties go to the higher sum, then to the first."""
    best = scores.max()
    among = np.flatnonzero(scores >= best - TIED * max(1.0, abs(best)))
    highest = totals[among].max()
    return int(among[totals[among] >= highest - TIED * max(1.0, abs(highest))][0])


def pav(approved: np.ndarray, totals: np.ndarray, k: int) -> list[int]:
    """Sequential PAV; approvals of shape (stakeholder, item), sums of shape (item,)."""
    chosen: list[int] = []
    counts = np.zeros(len(approved))
    for _ in range(k):
        scores = (1.0 / (1.0 + counts)) @ approved
        scores[chosen] = -np.inf
        chosen.append(pick(scores, totals))
        counts += approved[:, chosen[-1]]
    return chosen


def cc(approved: np.ndarray, totals: np.ndarray, k: int) -> list[int]:
    """Greedy Chamberlin-Courant."""
    chosen: list[int] = []
    waiting = np.ones(len(approved))
    for _ in range(k):
        scores = waiting @ approved
        scores[chosen] = -np.inf
        chosen.append(pick(scores, totals))
        waiting[approved[:, chosen[-1]]] = 0.0
    return chosen


def monroe(approved: np.ndarray, totals: np.ndarray, k: int) -> list[int]:
    """Greedy Monroe with quotas n / k."""
    chosen: list[int] = []
    left = np.ones(len(approved))
    for _ in range(k):
        scores = left @ approved
        scores[chosen] = -np.inf
        chosen.append(pick(scores, totals))
        room = len(approved) / k
        for i in np.flatnonzero(approved[:, chosen[-1]]):
            share = min(left[i], room)
            left[i] -= share
            room -= share
    return chosen


def phragmen(approved: np.ndarray, totals: np.ndarray, k: int) -> list[int]:
    """Sequential Phragmén."""
    return by_loads(approved, totals, k, np.zeros(len(approved)), [])


def by_loads(approved: np.ndarray, totals: np.ndarray, k: int, loads: np.ndarray, chosen: list[int]) -> list[int]:
    """Fill a list by the lowest load that an item brings to those who approve it."""
    support = approved.sum(axis=0)
    while len(chosen) < k:
        reached = np.full(len(totals), np.inf)
        np.divide(1.0 + loads @ approved, support, out=reached, where=support > 0)
        reached[chosen] = np.inf
        scores = -reached
        if np.isneginf(scores).all():  # nobody approves what is left
            scores = np.zeros(len(totals))
            scores[chosen] = -np.inf
        chosen.append(pick(scores, totals))
        loads = np.where(approved[:, chosen[-1]], reached[chosen[-1]], loads)
    return chosen


def equal_shares(approved: np.ndarray, totals: np.ndarray, k: int) -> list[int]:
    """Equal Shares with price 1 and k / n for each, completed by sequential Phragmén from what is left."""
    purse, chosen = np.full(len(approved), k / len(approved)), []
    while len(chosen) < k:
        prices = lowest_prices(approved, purse)
        prices[chosen] = np.inf
        if np.isinf(prices).all():
            break
        chosen.append(pick(-prices, totals))
        pays = approved[:, chosen[-1]]
        purse[pays] -= np.minimum(purse[pays], prices[chosen[-1]])
    return by_loads(approved, totals, k, -purse, chosen)


def lowest_prices(approved: np.ndarray, purse: np.ndarray) -> np.ndarray:
    """Return the ρ at which those who approve an item, each paying at most its purse, pay 1; inf if they cannot."""
    order = np.argsort(purse)
    sorted_purse, ballots = purse[order], approved[order].astype(float)
    rich = ballots[::-1].cumsum(axis=0)[::-1]
    spent = (ballots * sorted_purse[:, None]).cumsum(axis=0) - ballots * sorted_purse[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        prices = (1.0 - spent) / rich
    can_pay = approved[order] & (prices <= sorted_purse[:, None] + TIED)
    first = can_pay.argmax(axis=0), np.arange(approved.shape[1])  # the poorest who can pay the whole price
    return np.where(can_pay[first], prices[first], np.inf)


LOOPS: dict[str, Loop] = {
    "seq_pav": pav, "seq_cc": cc, "greedy_monroe": monroe, "seq_phragmen": phragmen, "equal_shares": equal_shares,
}  # fmt: skip


def committees_there() -> dict[str, Callable[[np.ndarray, int], set[int]]] | None:
    """Return abcvoting's rules on approvals of shape (stakeholder, item); None if it is not installed."""
    try:
        from abcvoting import abcrules
        from abcvoting.preferences import Profile
    except ImportError:
        return None

    def of(name: str) -> Callable[[np.ndarray, int], set[int]]:
        """Return one rule; its profile is built in the time that is measured."""

        def compute(approved: np.ndarray, k: int) -> set[int]:
            """Return one committee."""
            profile = Profile(approved.shape[1])
            profile.add_voters([np.flatnonzero(row).tolist() for row in approved])
            return set(abcrules.compute(name, profile, k, resolute=True)[0])

        return compute

    names = {
        "seq_pav": "seqpav", "seq_cc": "seqcc", "greedy_monroe": "greedy-monroe", "seq_phragmen": "seqphragmen",
        "equal_shares": "equal-shares",
    }  # fmt: skip
    return {ours: of(theirs) for ours, theirs in names.items()}
