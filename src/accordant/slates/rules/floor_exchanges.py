"""Exchanges that bring a list above floors, and proofs that no list reaches them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.kernels import compiled
from accordant.slates.candidates import best_items
from accordant.slates.rules.greedy import NormalisedGains, end_sums

FLOOR_TOLERANCE = 1e-9  # a normalised utility this little below its floor holds it: it is a sum of rounded numbers
SLACK = 1e-6  # how far the solver lets a constraint slip; floors are raised by it where that breaks one
CORE = 40  # items that a search looks at, with so many the longest search took 0.8 s here [measured]
NODES = 500  # branches of one search: a bound on its time that does not depend on the machine
INFEASIBLE = 2  # the status by which scipy says so


@dataclass(frozen=True, eq=False)
class RepairState:
    """Lists of some users that are being repaired in place, shape (user, k).

    What may be shown and is not in the list is `free`, shape (item, user); `gains` are what items add to the normalised
    utilities of those who have a floor, `least` the floors, −inf for whom all lists are alike, shape (stakeholder with
    a floor, user). `worth` is the weighted expected reward of each item, which exchanges should cost little of, and
    `totals` the sums that break ties, shape (item, user).
    """

    items: Codes
    free: Mask
    gains: NormalisedGains
    least: Values
    worth: Values
    totals: Values

    def alone(self, user: int) -> RepairState:
        """Return the state of one user, with a copy of the list."""
        one = slice(user, user + 1)
        gains = self.gains
        return RepairState(
            self.items[one].copy(), self.free[:, one].copy(),
            NormalisedGains(gains.values[:, :, one].copy(), gains.sided[:, one], gains.weights, gains.lengths[one],
                            gains.tolerance),
            self.least[:, one].copy(), self.worth[:, one].copy(), self.totals[:, one].copy(),
        )  # fmt: skip

    def shortfall(self) -> Values:
        """Return by how much lists miss each floor, shape (stakeholder with a floor, user); 0 within the tolerance."""
        missing = self.least - self.gains.total(self.items)
        return np.where(missing > FLOOR_TOLERANCE, missing, 0.0)

    def unmet(self) -> Mask:
        """Return whose list misses a floor, shape (user,)."""
        return np.asarray(self.shortfall().any(axis=0))

    def replace(self, user: int, chosen: Codes) -> None:
        """Give a user a list of the same length."""
        shown = self.items[user] >= 0
        self.free[self.items[user, shown], user] = True
        self.items[user, shown] = chosen
        self.free[chosen, user] = False

    def in_place_of(self, before: Codes) -> tuple[Codes, Mask]:
        """Return the lists, shape (user, k): items of the lists before keep their places, the best new ones come first.

        Whether new items were level in worth, so that a tie-break put them in order, comes with them, shape (user,).

        Parameters
        ----------
        before
            Lists of the same lengths, shape (user, k).
        """
        arranged, tied = before.copy(), np.zeros(len(before), dtype=bool)
        for user in np.flatnonzero((before != self.items).any(axis=1)).tolist():
            new = np.sort(self.items[user][~np.isin(self.items[user], before[user])])
            leaving = ~np.isin(before[user], self.items[user])
            column = slice(user, user + 1)
            ranked = best_items(
                self.worth[new, column], self.totals[new, column], np.ones((len(new), 1), dtype=bool), len(new),
                self.gains.tolerance,
            )  # fmt: skip
            arranged[user, leaving], tied[user] = new[ranked.items[0]], ranked.tied[0]
        return arranged, tied


def repair(shelf: RepairState) -> Mask:
    """Exchange items until floors hold or no exchange makes the sum of shortfalls smaller.

    Returns
    -------
    Whether a tie between exchanges was broken, shape (user,).
    """
    tied = np.zeros(len(shelf.items), dtype=bool)
    while True:
        below = shelf.unmet()
        if not below.any():
            return tied
        places = np.full(len(below), -1, dtype=np.intp)
        entering = np.zeros(len(below), dtype=np.intp)
        reached = shelf.gains.total(shelf.items)
        cheapest_exchange(
            below, shelf.items, shelf.free, shelf.gains.values, reached, shelf.least, shelf.worth, shelf.totals,
            shelf.gains.tolerance, places, entering, tied,
        )  # fmt: skip
        who = np.flatnonzero(places >= 0)
        if not len(who):
            return tied
        leaving = shelf.items[who, places[who]]
        shelf.free[leaving, who], shelf.free[entering[who], who] = True, False
        shelf.items[who, places[who]] = entering[who]


@compiled
def cheapest_exchange(
    below: Mask, items: Codes, free: Mask, gains: Values, reached: Values, least: Values, worth: Values,
    totals: Values, tolerance: float, places: Codes, entering: Codes, tied: Mask,
) -> None:  # fmt: skip
    """Write which place gets which item for users below a floor; places stay as they are where nothing helps.

    The exchange costs least worth per unit by which the sum of shortfalls falls, and of those within the tolerance,
    relative to max(1, price), it has the largest fall. Of those within the tolerance of that it adds most to the sum
    of expected rewards; then come the earlier place and the item that is declared first, and `tied` says so. A gain of
    worth counts as a cost of 0.
    """
    n_floored, n_items, n_users = gains.shape
    k = items.shape[1]
    prices, falls = np.empty((k, n_items)), np.empty((k, n_items))
    for u in range(n_users):
        if not below[u]:
            continue
        before = 0.0
        for i in range(n_floored):
            before += max(0.0, least[i, u] - reached[i, u])
        cheapest = np.inf
        for place in range(k):
            old = items[u, place]
            for new in range(n_items):
                prices[place, new] = np.inf
                if old < 0 or not free[new, u]:
                    continue
                after = 0.0
                for i in range(n_floored):
                    after += max(0.0, least[i, u] - (reached[i, u] - gains[i, old, u] + gains[i, new, u]))
                fall = before - after
                if fall <= FLOOR_TOLERANCE:  # less is no repair, and might go on for ever
                    continue
                falls[place, new] = fall
                prices[place, new] = max(0.0, worth[old, u] - worth[new, u]) / fall
                cheapest = min(cheapest, prices[place, new])
        if cheapest == np.inf:
            continue
        limit, largest = cheapest + tolerance * max(1.0, cheapest), 0.0
        for place in range(k):
            for new in range(n_items):
                if prices[place, new] <= limit:
                    largest = max(largest, falls[place, new])
        enough, most, n_level = largest - tolerance * max(1.0, largest), -np.inf, 0
        for place in range(k):
            for new in range(n_items):
                if prices[place, new] <= limit and falls[place, new] >= enough:
                    n_level += 1
                    most = max(most, totals[new, u] - totals[items[u, place], u])
        tied[u] |= n_level > 1
        most -= tolerance * max(1.0, abs(most))
        for place in range(k - 1, -1, -1):
            for new in range(n_items - 1, -1, -1):
                if (
                    prices[place, new] <= limit
                    and falls[place, new] >= enough
                    and totals[new, u] - totals[items[u, place], u] >= most
                ):
                    places[u], entering[u] = place, new


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best list that holds all floors, in declared order, or None.

    `impossible` if it is proved that there is none; `tied` if another list that holds all floors is worth as much.
    """

    items: NDArray[np.intp] | None
    impossible: bool
    tied: bool = False


def provably_infeasible(shelf: RepairState, users: NDArray[np.intp]) -> Mask:
    """Return for whom a bound proves that no list holds all floors, shape (user,).

    No list gives two stakeholders, or all of them, more in sum than the items with the largest sums of gains. If that
    is less than the sum of their floors, no list holds these.
    """
    n_floored = len(shelf.least)
    groups = {tuple(range(n_floored)), *itertools.combinations(range(n_floored), 2)} - {()}
    gains, least = shelf.gains.values[:, :, users], shelf.least[:, users]
    lengths = shelf.gains.lengths[users]
    open_items = np.ascontiguousarray(shelf.free[:, users] | _shown(shelf, users))
    kept = np.empty((max(1, int(lengths.max(initial=0))), len(users)))
    infeasible = np.zeros(len(users), dtype=bool)
    for group in sorted(groups):
        most = end_sums(gains[list(group)].sum(axis=0)[None], open_items, lengths, 1.0, kept)[0]
        infeasible |= most < least[list(group)].sum(axis=0) - len(group) * FLOOR_TOLERANCE
    return infeasible


def best_list(shelf: RepairState, user: int) -> SearchResult:
    """Return a list of one user that holds all floors and is worth most.

    A whole-number programme [ours], solved by HiGHS (Huangfu and Hall 2018): as many items as in the list now, each at
    most once, and a sum of gains of at least the floor for each stakeholder. With up to 40 items the answer is the best
    list or a proof that there is none, unless the search ends at its bound. With more, whether shares of items could
    hold the floors is asked of all items, which may prove that lists cannot; the search is among the 40 items that are
    worth most at the prices that this question puts on the floors (the core of Balas and Zemel 1980). What is found is
    checked against the floors. A second search, without the list that was found, says whether another is level; which
    of level lists is found is up to the solver.
    """
    floored = np.isfinite(shelf.least[:, user])
    items = np.flatnonzero(shelf.free[:, user] | _shown(shelf, np.array([user]))[:, 0])
    length, every = int(shelf.gains.lengths[user]), len(items) <= CORE
    gains, least = shelf.gains.values[floored][:, items, user], shelf.least[floored, user]
    if not every:
        order = _by_price(shelf.worth[items, user], gains, least, length)
        if order is None:
            return SearchResult(None, impossible=True)
        core = np.sort(order[: max(CORE, length)])
        items, gains = items[core], gains[:, core]
    for raised in (0.0, SLACK):
        solution = _solve(shelf.worth[items, user], gains, least + raised, length)
        if solution.items is None:
            return SearchResult(None, solution.impossible and every and raised == 0.0)
        if (gains[:, solution.items].sum(axis=1) >= least - FLOOR_TOLERANCE).all():
            other = _solve(shelf.worth[items, user], gains, least + raised, length, solution.items).items
            tied = other is not None and _level(shelf, user, items[other], items[solution.items])
            return SearchResult(items[solution.items], impossible=False, tied=tied)
    return SearchResult(None, impossible=False)


def _level(shelf: RepairState, user: int, other: NDArray[np.intp], items: NDArray[np.intp]) -> bool:
    """Return whether another list holds all floors of a user and is worth as much as the one that was found."""
    reached = shelf.gains.values[:, other, user].sum(axis=1)
    worth, best = shelf.worth[other, user].sum(), shelf.worth[items, user].sum()
    holds = (reached >= shelf.least[:, user] - FLOOR_TOLERANCE).all()
    return bool(holds and worth >= best - shelf.gains.tolerance * max(1.0, best))


def _by_price(
    worth: NDArray[np.float64], gains: NDArray[np.float64], least: NDArray[np.float64], length: int
) -> NDArray[np.intp] | None:
    """Return items by what they are worth beside the prices of floors, or None if no shares of items hold these."""
    from scipy.optimize import linprog

    done = linprog(
        -worth, A_ub=-gains, b_ub=-least, A_eq=np.ones((1, len(worth))), b_eq=[length], bounds=(0, 1), method="highs"
    )
    if done.status == INFEASIBLE:
        return None
    return np.argsort(-(worth - done.ineqlin.marginals @ gains), kind="stable")


def _solve(
    worth: NDArray[np.float64], gains: NDArray[np.float64], least: NDArray[np.float64], length: int,
    but: NDArray[np.intp] | None = None,
) -> SearchResult:  # fmt: skip
    """Solve max worth·x, gains·x ≥ least, Σx = length over x in {0, 1}, for another list than `but`."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    constraints = [LinearConstraint(gains, lb=least), LinearConstraint(np.ones((1, len(worth))), length, length)]
    if but is not None:
        constraints.append(
            LinearConstraint(np.isin(np.arange(len(worth)), but).astype(np.float64)[None], ub=length - 1)
        )
    done = milp(
        -worth, constraints=constraints, integrality=np.ones(len(worth)), bounds=Bounds(0, 1),
        options={"node_limit": NODES, "mip_rel_gap": 0.0},
    )  # fmt: skip
    if done.x is None:
        return SearchResult(None, done.status == INFEASIBLE)
    return SearchResult(np.flatnonzero(done.x > 0.5), impossible=False)


def _shown(shelf: RepairState, users: NDArray[np.intp]) -> Mask:
    """Return which items are in the list of each user, shape (item, user)."""
    shown = np.zeros((len(shelf.free), len(users)), dtype=bool)
    which, places = np.nonzero(shelf.items[users] >= 0)
    shown[shelf.items[users[which], places], which] = True
    return shown
