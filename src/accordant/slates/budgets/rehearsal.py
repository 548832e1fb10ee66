"""`Rehearsal`: the purchases of the Method of Equal Shares in floating point, as long as nothing is close.

Raising the voters' money by one unit after another repeats the method hundreds of times. A rehearsal tells in
milliseconds what would be bought, and says so where two prices, or a cost and what its voters hold, are too close to be
told apart in floating point. Only then, and for the final outcome, the purchases are calculated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accordant.compiled import compiled
from accordant.slates.budgets.purses import NEAR, SAME, Demand

Values = NDArray[np.float64]
Codes = NDArray[np.intp]
CLOSE = -1  # instead of a number of purchases


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal bought.

    Attributes
    ----------
    order
        Projects as they were bought.
    comfortable
        Whether every voter could pay her part of each purchase and has something left. With more money they would buy
        the same at the same prices, until money is enough for a project that they cannot buy now.
    """

    order: tuple[int, ...]
    comfortable: bool


class Rehearsal:
    """The demands of an election, end to end, as the kernel reads them.

    Parameters
    ----------
    n_ballots
        Number of distinct ballots.
    demands
        Who would pay for which project.
    """

    def __init__(self, n_ballots: int, demands: dict[int, Demand]) -> None:
        self.projects = tuple(demands)
        self.n_ballots = n_ballots
        given = list(demands.values())
        self.starts = np.cumsum([0, *(len(each.voters) for each in given)])
        self.voters = np.concatenate([np.empty(0, dtype=np.intp), *(each.voters for each in given)])
        self.weights = np.concatenate([np.empty(0), *(each.rough_weights for each in given)])
        self.utilities = np.concatenate([np.empty(0), *(each.rough_utilities for each in given)])
        self.costs = np.array([float(each.cost) for each in given])
        self.least = np.array([each.least for each in given])

    def __call__(self, first: Fraction) -> Rehearsed | None:
        """Return what is bought if each part of a voter is given `first` coins; None if it is close."""
        bought = np.empty(len(self.projects), dtype=np.intp)
        purses = np.full(self.n_ballots, float(first))
        count = _rehearse(
            purses, self.least.copy(), self.starts, self.voters, self.weights,
            self.utilities, self.costs, NEAR, SAME, bought,
        )  # fmt: skip
        if count == CLOSE:
            return None
        order = tuple(self.projects[each] for each in bought[:count])
        return Rehearsed(order, bool(purses.min() > NEAR * float(first)))


@compiled
def _rehearse(
    purses: Values, lowest: Values, starts: Codes, voters: Codes, weights: Values, utilities: Values, costs: Values,
    near: float, same: float, bought: Codes,
) -> int:  # fmt: skip
    """Write purchases and return their number, or `CLOSE`; writes over purses and `lowest`, the bounds of prices."""
    n_projects = len(costs)
    gone = np.zeros(n_projects, dtype=np.bool_)
    asked = np.full(n_projects, -1)  # the last purchase before which a price was asked for
    for count in range(n_projects):
        best, second, chosen = np.inf, np.inf, -1
        while True:
            p = -1
            for q in range(n_projects):
                if not gone[q] and asked[q] < count and (p < 0 or lowest[q] < lowest[p]):
                    p = q
            if p < 0 or lowest[p] > best * (1 + same):
                break
            asked[p] = count
            held = 0.0
            for at in range(starts[p], starts[p + 1]):
                held += weights[at] * purses[voters[at]]
            if held < costs[p] * (1 - near):
                gone[p] = True
                continue
            if held < costs[p] * (1 + near):
                return -1
            n_poor, price = 0, 0.0
            while True:  # Newton's method, from below
                shared, from_poor, poorer = 0.0, 0.0, 0
                for at in range(starts[p], starts[p + 1]):
                    if purses[voters[at]] < price * utilities[at]:
                        from_poor += weights[at] * purses[voters[at]]
                        poorer += 1
                    else:
                        shared += weights[at] * utilities[at]
                if price > 0.0 and (poorer == n_poor or shared == 0.0):
                    break
                n_poor = poorer
                price = (costs[p] - from_poor) / shared
            lowest[p] = price
            if price < best:
                best, second, chosen = price, best, p
            elif price < second:
                second = price
        if chosen < 0:
            return count
        if second <= best * (1 + same):
            return -1
        for at in range(starts[chosen], starts[chosen + 1]):
            i = voters[at]
            purses[i] = max(0.0, purses[i] - best * utilities[at])
        gone[chosen] = True
        bought[count] = chosen
    return n_projects
