"""Exact answers about floors: the best list that holds them, or a proof that there is none."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask
from accordant.slates.rules.floors.exchanges import FLOOR_TOLERANCE, Shelf
from accordant.slates.rules.welfare.normalised import end_sums

SLACK = 1e-6  # how far the solver lets a constraint slip; floors are raised by it where that breaks one
CORE = 40  # items that a search looks at, with so many the longest search took 0.8 s here [measured]
NODES = 500  # branches of one search: a bound on its time that does not depend on the machine
INFEASIBLE = 2  # the status by which scipy says so


@dataclass(frozen=True, eq=False)
class Found:
    """The best list that holds all floors, or None.

    Attributes
    ----------
    items
        Of the list, in declared order; None if none was found.
    impossible
        Whether it is proved that there is none.
    tied
        Whether another list that holds all floors is worth as much.
    """

    items: NDArray[np.intp] | None
    impossible: bool
    tied: bool = False


def beyond_reach(shelf: Shelf, users: NDArray[np.intp]) -> Mask:
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
    found = np.zeros(len(users), dtype=bool)
    for group in sorted(groups):
        most = end_sums(gains[list(group)].sum(axis=0)[None], open_items, lengths, 1.0, kept)[0]
        found |= most < least[list(group)].sum(axis=0) - len(group) * FLOOR_TOLERANCE
    return found


def best_list(shelf: Shelf, user: int) -> Found:
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
            return Found(None, impossible=True)
        core = np.sort(order[: max(CORE, length)])
        items, gains = items[core], gains[:, core]
    for raised in (0.0, SLACK):
        found = _solved(shelf.worth[items, user], gains, least + raised, length)
        if found.items is None:
            return Found(None, found.impossible and every and raised == 0.0)
        if (gains[:, found.items].sum(axis=1) >= least - FLOOR_TOLERANCE).all():
            other = _solved(shelf.worth[items, user], gains, least + raised, length, found.items).items
            tied = other is not None and _level(shelf, user, items[other], items[found.items])
            return Found(items[found.items], impossible=False, tied=tied)
    return Found(None, impossible=False)


def _level(shelf: Shelf, user: int, other: NDArray[np.intp], found: NDArray[np.intp]) -> bool:
    """Return whether another list holds all floors of a user and is worth as much as the one that was found."""
    reached = shelf.gains.values[:, other, user].sum(axis=1)
    worth, best = shelf.worth[other, user].sum(), shelf.worth[found, user].sum()
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


def _solved(
    worth: NDArray[np.float64], gains: NDArray[np.float64], least: NDArray[np.float64], length: int,
    but: NDArray[np.intp] | None = None,
) -> Found:  # fmt: skip
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
        return Found(None, done.status == INFEASIBLE)
    return Found(np.flatnonzero(done.x > 0.5), impossible=False)


def _shown(shelf: Shelf, users: NDArray[np.intp]) -> Mask:
    """Return which items are in the list of each user, shape (item, user)."""
    found = np.zeros((len(shelf.free), len(users)), dtype=bool)
    which, places = np.nonzero(shelf.items[users] >= 0)
    found[shelf.items[users[which], places], which] = True
    return found
