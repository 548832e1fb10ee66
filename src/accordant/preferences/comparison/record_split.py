"""Which records are learned from and which are judged by: within users, so that everybody can be judged.

    within users    each user's later, or randomly drawn, records are for the test
    new users       some users take no part in training: a few first records of theirs tell who they are

Two records of a user on the same two items stay on the same side where records are drawn. Where different pairs of a
user share items, the items are drawn: no item of a user is on both sides, and records between the sides are used for
nothing, and counted. A user who has compared only one pair of items, whose pairs cannot be parted so, or who has pairs
on one side of the time alone, stays in training, and is counted.

`deal_items` draws test records of users whose records share items, so that none follows from the records that are
learned from. From a user's choices of a over b and of b over c follows that of a over c, and whatever the user makes of
a beyond its features stands in every record of a. Where all pairs of rated items are records, a learner that knows a
user by name would foretell noise. So the items of a user are on one side alone. [ours] Records that are linked through
items stay together where that leaves others; where most of a user's pairs are linked, the *items* are drawn, and a
record of an item of each side is used for nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Codes, Mask
from accordant.errors import DataError, InputError
from accordant.preferences.learners.shared_items import connected_parts

Branch = Literal["users", "split", "groups", "models", "resamples", "tests", "folds", "items", "agreement", "time"]
MOST_LINKED = 0.5  # of a user's pairs that stay together; if more are linked, their items are drawn
TRIES = 20  # draws of items of which none gives both sides a pair: then the records stay together after all


def branch(seed: int, name: Branch) -> np.random.Generator:
    """Return the generator of a branch: independent of the others, and the same for the same seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(get_args(Branch).index(name),)))


@dataclass(frozen=True, eq=False)
class Dealt:
    """What items decide.

    Attributes
    ----------
    linked
        Records of users of whom two different pairs share an item, shape (record,).
    judged
        Which of those records are for the test, shape (record,).
    between
        Which of those records have an item on each side, shape (record,).
    """

    linked: Mask
    judged: Mask
    between: Mask


def deal_items(users: Codes, pairs: Codes, items: Codes, test: float, generator: np.random.Generator) -> Dealt:
    """Draw the test records of users whose records share items, so that no item of a user is on both sides.

    Parameters
    ----------
    users, pairs
        Position of the user, and number of the pair of items, shape (record,).
    items
        Number of either item, shape (2, record).
    test
        Share of the records that are used which is for the test, in (0, 1).
    generator
        Draws users in order of their position; nothing is drawn for users whose records share no item.
    """
    linked, judged, between = (np.zeros(len(users), dtype=bool) for _ in range(3))
    for user in np.unique(users):
        rows = np.flatnonzero(users == user)
        first = rows[np.unique(pairs[rows], return_index=True)[1]]
        if len(np.unique(items[:, first])) == 2 * len(first):
            continue
        linked[rows] = True
        named, own = np.unique(items[:, rows], return_inverse=True)
        of_pair = np.isin(rows, first)
        tested, apart = _of_one_user(own.reshape(2, -1), len(named), of_pair, test, generator)
        judged[rows], between[rows] = tested, apart
    return Dealt(linked, judged, between)


def _of_one_user(
    items: Codes, n_items: int, of_pair: Mask, test: float, generator: np.random.Generator
) -> tuple[Mask, Mask]:
    """Return which records of a user are for the test, and which are between; one record of each pair is marked."""
    n_links, link_of_item = connected_parts(items[0], items[1], n_items)
    links = link_of_item[items[0]]
    sizes = np.bincount(links[of_pair], minlength=n_links)
    largest = int(sizes.argmax())
    if sizes[largest] > MOST_LINKED * sizes.sum():
        of_largest = np.flatnonzero(link_of_item == largest)
        few = np.where(np.arange(n_links) == largest, 0, sizes)
        for _ in range(TRIES):
            sides = np.isin(link_of_item, _links(few, test, generator))
            drawn = generator.permutation(of_largest)[: _number_of_items(len(of_largest), test)]
            sides[drawn] = True
            in_test = sides[items]
            judged, known = in_test[0] & in_test[1], ~(in_test[0] | in_test[1])
            if judged.any() and known.any():
                return judged, ~judged & ~known
    chosen = _links(sizes, test, generator, least=1)
    return np.isin(links, chosen), np.zeros(items.shape[1], dtype=bool)


def _number_of_items(n: int, test: float) -> int:
    """Return how many of n items go to the test, so that pairs in test are that share of all pairs within a side.

    If a share p of the items does, p² and (1 − p)² of the pairs lie within the sides: p = √t / (√t + √(1 − t)).
    """
    within, rest = math.sqrt(test), math.sqrt(1.0 - test)
    return min(max(2, round(within / (within + rest) * n)), max(n - 2, 1))


def _links(sizes: Codes, test: float, generator: np.random.Generator, least: int = 0) -> Codes:
    """Return links, in a random order, that have no more than the share of the pairs; at least and never all of them.

    Links without a pair are left out. If fewer than `least` fit, it is the smallest.
    """
    order = generator.permutation(np.flatnonzero(sizes))
    if len(order) < 2:
        return np.empty(0, dtype=np.intp)
    wanted, taken = round(test * int(sizes.sum())), 0
    links: list[int] = []
    for link in order:
        if taken + sizes[link] <= wanted and len(links) < len(order) - 1:
            links.append(int(link))
            taken += int(sizes[link])
    if len(links) < least:
        links = [int(order[sizes[order].argmin()])]
    return np.array(links, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of records by what they are for; every row is in at most one part.

    Attributes
    ----------
    training, test
        Rows of the same users.
    first, later
        Rows of new users: to get to know them, and to judge by; empty without new users.
    by
        ``"time"`` or ``"random"``.
    share
        Share of a user's records that was asked for as test.
    training_only
        Users without a test record.
    unused
        Further rows of new users, beyond the first ones, that nobody reads.
    between
        Further rows of any user that nobody reads, as they are of an item of either side.
    seen
        Share of test records whose pair of items somebody compares in training.
    """

    training: Codes
    test: Codes
    first: Codes
    later: Codes
    by: Literal["time", "random"]
    share: float
    training_only: int
    unused: int
    between: int
    seen: float

    def to_json(self) -> dict[str, Any]:
        """Return counts."""
        return {
            "by": self.by,
            "within_users": True,
            "test_share": self.share,
            "training_records": len(self.training),
            "test_records": len(self.test),
            "users_in_training_only": self.training_only,
            "test_pairs_seen_in_training": self.seen,
            "first_records_of_new_users": len(self.first),
            "later_records_of_new_users": len(self.later),
            "unused_records_of_new_users": self.unused,
            "between": self.between,
        }


def split_records(
    users: Codes,
    pairs: Codes,
    items: Codes,
    *,
    test: float,
    seed: int,
    later: Mask | None = None,
    new_users: float = 0.0,
    first: int = 8,
) -> Split:
    """Split records.

    Parameters
    ----------
    users, pairs
        Position of the user, and number of the pair of items, shape (record,).
    items
        Number of either item, shape (2, record).
    test
        Share of each user's pairs that is for the test, in (0, 1); at least one pair, and never all. Where the user's
        pairs share items, the share of those that are used.
    seed
        Of everything drawn.
    later
        Which records come later, shape (record,), if times are known: these are the test then.
    new_users
        Share of the users to hold out, at least 0 and below 1.
    first
        Most records by which a new user is known, at least 0.

    Raises
    ------
    InputError
        If a parameter is out of range.
    DataError
        If nobody can be judged, or nobody is left to learn from.
    """
    if not 0 < test < 1:
        raise InputError(f"test is {test}; allowed: above 0, below 1")
    if not 0 <= new_users < 1:
        raise InputError(f"new_users is {new_users}; allowed: at least 0, below 1")
    if first < 0:
        raise InputError(f"first is {first}; allowed: at least 0")
    generator = branch(seed, "split")
    between = np.zeros(len(users), dtype=bool)
    if later is None:
        dealt = deal_items(users, pairs, items, test, branch(seed, "items"))
        judged = np.where(dealt.linked, dealt.judged, _drawn(users, pairs, test, generator))
        between = dealt.between
    else:
        judged = later.copy()
    numbers = np.bincount(users)
    by_test = np.bincount(users, judged, minlength=len(numbers))
    judged &= (by_test < numbers)[users]  # whoever has only later records is learned from
    by_test = np.bincount(users, judged, minlength=len(numbers))
    able = np.flatnonzero(by_test > 0)
    if not len(able):
        raise DataError(
            "no user has compared two different pairs of items that share none; allowed: at least one, "
            "to learn and judge"
        )
    fresh = _new_users(able, new_users, generator)
    of_new = np.isin(users, fresh)
    early = np.flatnonzero(of_new & ~judged & ~between)
    shown = _first(users, early, first, generator)
    training, rows = np.flatnonzero(~of_new & ~judged & ~between), np.flatnonzero(~of_new & judged)
    alone = int(((numbers > 0) & (by_test == 0)).sum())
    seen = float(np.isin(pairs[rows], pairs[training]).mean()) if len(rows) else 0.0
    return Split(
        training, rows, shown, np.flatnonzero(of_new & judged), "random" if later is None else "time", test, alone,
        len(early) - len(shown), int(between.sum()), seen,
    )  # fmt: skip


def _drawn(users: Codes, pairs: Codes, test: float, generator: np.random.Generator) -> Mask:
    """Return which records are for the test, drawn by pairs within users."""
    judged = np.zeros(len(users), dtype=bool)
    for user in np.unique(users):
        rows = np.flatnonzero(users == user)
        own = np.unique(pairs[rows])
        size = min(max(1, round(test * len(own))), len(own) - 1)
        judged[rows] = np.isin(pairs[rows], generator.permutation(own)[:size])
    return judged


def _new_users(able: Codes, share: float, generator: np.random.Generator) -> Codes:
    """Return the users to hold out."""
    if share == 0:
        return np.empty(0, dtype=np.intp)
    size = max(1, round(share * len(able)))
    if size >= len(able):
        raise DataError(f"{size} of {len(able)} users would be new; allowed: fewer, so that others can be learned from")
    return np.sort(generator.choice(able, size, replace=False))


def _first(users: Codes, rows: Codes, first: int, generator: np.random.Generator) -> Codes:
    """Return at most `first` of the rows of each user, drawn at random."""
    kept = [generator.permutation(rows[users[rows] == user])[:first] for user in np.unique(users[rows])]
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.intp)
