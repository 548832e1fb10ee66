"""Proportionality: whether a list gives every group of stakeholders that agrees what its weight entitles it to.

A group is worth ℓ places if its weight is at least ℓ·W/k, W being the weight of everybody and k the places of the list
(with weights 1: ℓ·n/k stakeholders). S is the list, A_i what i approves.

| axiom | a group worth ℓ places … | … must have | source | work |
|---|---|---|---|---|
| ``jr`` | that agrees on an item, ℓ = 1 | a member who approves an item of S | Aziz et al. 2017 | polynomial |
| ``pjr`` | that agrees on ℓ items | ℓ items of S that some member approves | Sánchez-Fernández et al. 2017 | 2ⁿ |
| ``ejr`` | that agrees on ℓ items | a member who approves ℓ items of S | Aziz et al. 2017 | 2ⁿ |
| ``ejr_plus`` | that agrees on an item outside S | a member who approves ℓ of S | Brill and Peters 2023 | polynomial |

n is the number of different ballots. EJR+ implies EJR, EJR implies PJR, PJR implies JR. Weights in the place of numbers
of voters are ours: a stakeholder of weight 2 counts as two who approve the same. Who has weight 0 is in no group.

`check` says of one list whether an axiom holds, and names the group that is wronged; `violations` says of many lists at
once which break it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.kernels import compiled
from accordant.slates.rule import check_places
from accordant.strategies.strategy import stakeholder_weights

MOST_BALLOTS = 12  # distinct ballots whose groups are all looked at: the work doubles with every one
ROUNDING = 1e-9  # a group this little below its quota, relative to all weight, reaches it: weights are rounded sums
Axiom = Literal["jr", "pjr", "ejr", "ejr_plus"]
AXIOMS: tuple[Axiom, ...] = get_args(Axiom)


@dataclass(frozen=True)
class Witness:
    """A group that is wronged: positions of its voters, the ℓ places that it is worth and does not get, and items.

    All voters approve the items: ℓ of them, or the one on which they agree.
    """

    voters: tuple[int, ...]
    size: int
    items: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Approvals:
    """Approvals of those with weight above 0, and a list.

    Attributes
    ----------
    approved
        Shape (voter, item).
    voters
        Position of each row among all voters, shape (voter,).
    weights
        As shares of all weight, shape (voter,).
    shown
        Which items are in the list, shape (item,).
    """

    approved: Mask
    voters: NDArray[np.intp]
    weights: Values
    shown: Mask
    k: int

    @property
    def hits(self) -> NDArray[np.intp]:
        """How many items of the list each voter approves, shape (voter,)."""
        return np.asarray(self.approved[:, self.shown].sum(axis=1))

    def worth(self, mass: float) -> int:
        """Return how many places a group with a share of all weight is worth: the largest ℓ with mass ≥ ℓ/k."""
        return int(np.floor(mass * self.k + ROUNDING * self.k))


def shares(weights: Values | None, n_voters: int) -> Values:
    """Return weights as shares of all weight, shape (voter,); None means equal weights.

    Raises `InputError` if there is not one finite weight of at least 0 per voter, or all are 0.
    """
    checked = stakeholder_weights(None if weights is None else tuple(np.asarray(weights).tolist()), n_voters)
    return np.asarray(checked / checked.sum())


def approvals(approved: Mask, weights: Values | None, committee: NDArray[np.intp], k: int) -> Approvals:
    """Return checked approvals of one list.

    Raises `InputError` if a shape, a weight or k is wrong, or the list holds an unknown item, one twice, or more than
    k.
    """
    check_places(k)
    check_flags(approved, 2, "(voter, item)")
    chosen = np.asarray(committee, dtype=np.intp)
    n_items = approved.shape[1]
    if chosen.ndim != 1 or len(chosen) > k or len(set(chosen.tolist())) < len(chosen):
        raise InputError(f"the list is {chosen.tolist()}; allowed: at most {k} different items")
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < n_items):
        raise InputError(f"the list is {chosen.tolist()}; allowed: positions of the {n_items} items, from 0")
    mass = shares(weights, len(approved))
    say = np.flatnonzero(mass > 0)
    shown = np.zeros(n_items, dtype=bool)
    shown[chosen] = True
    return Approvals(approved[say], say, mass[say], shown, k)


def check_flags(approved: Mask, n_axes: int, axes: str) -> None:
    """Raise `InputError` unless approvals are booleans with so many axes."""
    if approved.dtype != np.bool_ or approved.ndim != n_axes or 0 in approved.shape[:2]:
        raise InputError(
            f"approvals have shape {approved.shape} and type {approved.dtype}; allowed: booleans of shape {axes}, "
            "with a voter and an item at least"
        )


def check_few(axiom: str, n_ballots: int) -> None:
    """Raise `InputError` if there are more than `MOST_BALLOTS`, too many to look at every group."""
    if n_ballots > MOST_BALLOTS:
        raise InputError(
            f"{axiom} looks at every group of voters, and they cast {n_ballots} different ballots; allowed: at most "
            f"{MOST_BALLOTS}, or the axioms 'jr' and 'ejr_plus', which take polynomial time (ejr_plus implies ejr and "
            "pjr)"
        )


def jr(given: Approvals) -> Witness | None:
    """Return a group worth one place that agrees on an item and has nothing in the list, or None.

    Justified representation (Aziz, Brill, Conitzer, Elkind, Freeman and Walsh 2017, Definition 1).
    """
    return _wronged(given, 1)


def ejr_plus(given: Approvals) -> Witness | None:
    """Return a group worth ℓ places that agrees on an item outside the list, each with fewer than ℓ in it, or None.

    EJR+ (Brill and Peters 2023, Definition 6).
    """
    witnesses = (_wronged(given, size) for size in range(1, given.k + 1))
    return next((witness for witness in witnesses if witness is not None), None)


def _wronged(given: Approvals, size: int) -> Witness | None:
    """Return the heaviest group that agrees on an item outside the list, each with fewer than `size` items in it."""
    behind = given.hits < size
    mass = np.where(given.shown, 0.0, given.weights[behind] @ given.approved[behind])
    item = int(mass.argmax())
    if given.shown[item] or given.worth(float(mass[item])) < size:
        return None
    members = np.flatnonzero(behind & given.approved[:, item])
    return Witness(tuple(given.voters[members].tolist()), size, (item,))


@dataclass(frozen=True, eq=False)
class Group:
    """Some voters, and the items that all of them approve, shape (item,)."""

    members: NDArray[np.intp]
    common: Mask


def pjr(given: Approvals) -> Witness | None:
    """Return a group worth ℓ places that agrees on ℓ items and approves, together, fewer of the list, or None.

    Proportional justified representation (Sánchez-Fernández et al. 2017, Definition 2).
    """
    return _first("pjr", given, lambda group: int((given.approved[group.members].any(axis=0) & given.shown).sum()))


def ejr(given: Approvals) -> Witness | None:
    """Return a group worth ℓ places that agrees on ℓ items, each of whom approves fewer of the list, or None.

    Extended justified representation (Aziz et al. 2017, Definition 4).
    """
    hits = given.hits
    return _first("ejr", given, lambda group: int(hits[group.members].max()))


def _first(axiom: str, given: Approvals, has: Callable[[Group], int]) -> Witness | None:
    """Return the first group that has fewer than the ℓ items that it is worth and agrees on."""
    for group in _groups_of_ballots(axiom, given):
        size = min(given.worth(float(given.weights[group.members].sum())), int(group.common.sum()))
        if size and has(group) < size:
            items = np.flatnonzero(group.common)[:size]
            return Witness(tuple(given.voters[group.members].tolist()), size, tuple(items.tolist()))
    return None


def ballots_cast(approved: Mask) -> Codes:
    """Return which of the different ballots each voter casts, counted from 0 as they first occur, shape (voter,)."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(row.tobytes(), len(first)) for row in approved], dtype=np.intp)


def _groups_of_ballots(axiom: str, given: Approvals) -> Iterator[Group]:
    """Yield every group of voters that agrees on an item, and holds all who cast the same ballot or none of them.

    If a group is wronged, it still is with everybody who cast a ballot of one of its members: its weight grows, and
    what it agrees on and has stays.
    """
    ballot_of = ballots_cast(given.approved)
    n_ballots = int(ballot_of.max()) + 1
    check_few(axiom, n_ballots)
    for code in range(1, 2**n_ballots):
        members = np.flatnonzero((code >> ballot_of) & 1)
        common = np.asarray(given.approved[members].all(axis=0))
        if common.any():
            yield Group(members, common)


_SEARCHES: Mapping[str, Callable[[Approvals], Witness | None]] = {
    "jr": jr, "pjr": pjr, "ejr": ejr, "ejr_plus": ejr_plus
}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Whether a list meets an axiom: it does if no group is wronged, and there is no witness."""

    axiom: Axiom
    witness: Witness | None

    @property
    def holds(self) -> bool:
        """Whether no group is wronged."""
        return self.witness is None


def check(axiom: Axiom, approved: Mask, weights: Values | None, committee: NDArray[np.intp], k: int) -> Verdict:
    """Return whether a list meets an axiom.

    Parameters
    ----------
    axiom
        ``jr``, ``pjr``, ``ejr`` or ``ejr_plus``.
    approved
        Who approves what, shape (voter, item). Items that may not be shown must not be approved.
    weights
        Shape (voter,); None means 1 for everybody.
    committee
        Positions of the items of the list, at most k.
    k
        Places, by which weight is divided; a list may have fewer items.

    Raises
    ------
    UnknownNameError
        If there is no such axiom.
    InputError
        If a shape or a number is wrong, or there are more than 12 different ballots with ``pjr`` or ``ejr``.
    """
    if axiom not in _SEARCHES:
        raise UnknownNameError("proportionality axiom", axiom, AXIOMS)
    return Verdict(axiom, _SEARCHES[axiom](approvals(approved, weights, committee, k)))


def violations(axiom: Axiom, approved: Mask, items: Codes, weights: Values | None = None) -> Mask:
    """Return which lists break an axiom, shape (user,).

    Parameters
    ----------
    axiom
        ``jr``, ``pjr``, ``ejr`` or ``ejr_plus``.
    approved
        Which stakeholder approves which item for which user, shape (stakeholder, item, user). Items that may not be
        shown must not be approved.
    items
        Lists, shape (user, k), −1 where there is no item, as in `Slates.items`; k is what weight is divided by.
    weights
        Shape (stakeholder,); None means 1 for everybody.

    Raises `UnknownNameError` if there is no such axiom; `InputError` if a shape or a weight is wrong, or there are
    more than 12 different ballots with ``pjr`` or ``ejr``.
    """
    if axiom not in AXIOMS:
        raise UnknownNameError("proportionality axiom", axiom, AXIOMS)
    check_flags(approved, 3, "(stakeholder, item, user)")
    n_stakeholders, n_items, n_users = approved.shape
    if items.ndim != 2 or len(items) != n_users or not items.shape[1]:
        raise InputError(f"lists have shape {items.shape}; allowed: (user, k) with {n_users} users")
    mass = shares(weights, n_stakeholders)
    with_weight = np.ascontiguousarray(approved[mass > 0])
    shown = np.zeros((n_items, n_users), dtype=bool)
    users, places = np.nonzero(items >= 0)
    shown[items[users, places], users] = True
    broken = np.zeros(n_users, dtype=bool)
    if axiom in ("jr", "ejr_plus"):
        _one_item(with_weight, mass[mass > 0], shown, items.shape[1], 1 if axiom == "jr" else items.shape[1], broken)
    else:
        ballot_of = ballots_cast(with_weight)
        voices: Values = np.asarray(np.bincount(ballot_of, weights=mass[mass > 0]), dtype=np.float64)
        check_few(axiom, len(voices))
        distinct = with_weight[np.unique(ballot_of, return_index=True)[1]]
        _groups(np.ascontiguousarray(distinct), voices, shown, items.shape[1], axiom == "ejr", broken)
    return broken


@compiled
def _one_item(approved: Mask, mass: Values, shown: Mask, k: int, largest: int, broken: Mask) -> None:
    """Write for whom some ℓ up to `largest` has a group worth ℓ that agrees on an item not shown, all below ℓ."""
    n_voters, n_items, n_users = approved.shape
    hits = np.zeros((n_voters, n_users), dtype=np.int64)
    for i in range(n_voters):
        count = hits[i]
        for c in range(n_items):
            row, inside = approved[i, c], shown[c]
            for u in range(n_users):
                count[u] += 1 if row[u] and inside[u] else 0
    behind = np.empty((n_voters, n_users))
    heavy = np.empty(n_users)
    for size in range(1, largest + 1):
        quota = size / k - ROUNDING
        for i in range(n_voters):
            for u in range(n_users):
                behind[i, u] = mass[i] if hits[i, u] < size else 0.0
        for c in range(n_items):
            heavy[:] = 0.0
            for i in range(n_voters):
                row, part = approved[i, c], behind[i]
                for u in range(n_users):
                    heavy[u] += part[u] if row[u] else 0.0
            inside = shown[c]
            for u in range(n_users):
                broken[u] |= heavy[u] >= quota and not inside[u]


@compiled
def _groups(approved: Mask, mass: Values, shown: Mask, k: int, alone: bool, broken: Mask) -> None:
    """Write for whom a group worth ℓ agrees on ℓ items and has fewer in the list: each member alone, or together.

    Groups are numbers whose bits are voters. Items are counted by who approves exactly them; sums over supersets give
    the items on which a group agrees, sums over subsets of the others those of the list that nobody in it approves.
    """
    n_voters, n_items, n_users = approved.shape
    n_groups = 1 << n_voters
    worth = np.zeros(n_groups, dtype=np.int64)
    for group in range(n_groups):
        total = 0.0
        for i in range(n_voters):
            total += mass[i] if (group >> i) & 1 else 0.0
        worth[group] = int(np.floor(total * k + ROUNDING * k))
    agreed, absent = np.empty(n_groups, dtype=np.int64), np.empty(n_groups, dtype=np.int64)
    hits = np.empty(n_voters, dtype=np.int64)
    for u in range(n_users):
        agreed[:] = 0
        absent[:] = 0
        hits[:] = 0
        length = 0
        for c in range(n_items):
            who = 0
            for i in range(n_voters):
                who |= (1 << i) if approved[i, c, u] else 0
            agreed[who] += 1
            if shown[c, u]:
                length += 1
                absent[who] += 1
                for i in range(n_voters):
                    hits[i] += (who >> i) & 1
        for i in range(n_voters):
            for group in range(n_groups):
                if (group >> i) & 1:
                    agreed[group ^ (1 << i)] += agreed[group]
                    absent[group] += absent[group ^ (1 << i)]
        for group in range(1, n_groups):
            due = min(worth[group], agreed[group])
            if due == 0:
                continue
            has = length - absent[n_groups - 1 - group]
            if alone:
                has = 0
                for i in range(n_voters):
                    if (group >> i) & 1:
                        has = max(has, hits[i])
            broken[u] |= has < due
