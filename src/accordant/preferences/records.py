"""Records of what users prefer: comparisons of two items, rankings of several, ratings of single ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values, real_array
from accordant.errors import DataError
from accordant.preferences.checks import check_whole, codes

NO_ITEM = -1  # fills the places of a ranking that is shorter than others
ROUNDED = 1e-9  # of a gap: 4.1 and 3.1 are 1 apart, though their difference is 0.9999999999999996
NO_FOLD = -1  # of users without records of positive weight


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Users who prefer one item to another.

    Parameters
    ----------
    features
        Features of the items, shape (item, feature), finite.
    chosen, rejected
        Positions of the preferred item and of the other one, shape (record,); never the same.
    users
        Position of the user, shape (record,).
    user_names
        Names of the users, text or numbers; None for ``"0"``, ``"1"``, … A user may have no record.
    groups
        Group of each user, text or a number, shape (user,); None if there are none. Nothing but measures and training
        may read it.
    weights
        At least 0 and not all 0, shape (record,); None for 1 each. A weight of 1 is one record: what stands in units of
        records, such as the prior of `PerUser` and how sure a mixture is of a user's type, changes with their scale.
    margins
        By how much the chosen item was preferred, where somebody said so, shape (record,); NaN where nobody did, None
        if nobody did anywhere.
    user_features
        What is known of each user beside the records, shape (user, feature), finite; None if nothing is.

    Raises
    ------
    DataError
        If shapes do not match, a position or a number is out of range. An array of shape (record, 1) is refused: it
        would silently be compared with every record.
    """

    features: Values
    chosen: Codes
    rejected: Codes
    users: Codes
    user_names: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    weights: Values | None = None
    margins: Values | None = None
    user_features: Values | None = None

    def __post_init__(self) -> None:
        features = np.ascontiguousarray(real_array("features", self.features, DataError), dtype=np.float64)
        if features.ndim != 2 or not np.isfinite(features).all():
            raise DataError(f"features have shape {features.shape}; allowed: finite numbers of shape (item, feature)")
        object.__setattr__(self, "features", features)
        n_records = len(np.atleast_1d(self.chosen))
        for name in ("chosen", "rejected"):
            object.__setattr__(self, name, codes(name, getattr(self, name), n_records, len(features), DataError))
        users, names, groups = _of_users(self.users, self.user_names, self.groups, n_records)
        for name, column in (("users", users), ("user_names", names), ("groups", groups)):
            object.__setattr__(self, name, column)
        same = np.flatnonzero(self.chosen == self.rejected)
        if len(same):
            raise DataError(f"record {same[0]} compares item {self.chosen[same[0]]} with itself")
        self._check_numbers(n_records)
        if self.user_features is not None:
            given = real_array("user_features", self.user_features, DataError)
            known = np.ascontiguousarray(given, dtype=np.float64)
            if known.ndim != 2 or len(known) != len(names) or not np.isfinite(known).all():
                raise DataError(
                    f"user_features have shape {known.shape}; allowed: finite numbers of shape ({len(names)}, feature)"
                )
            object.__setattr__(self, "user_features", known)

    def _check_numbers(self, n_records: int) -> None:
        if self.weights is not None:
            weights = _numbers("weights", self.weights, n_records)
            if not np.isfinite(weights).all() or (weights < 0).any() or (n_records and not weights.sum() > 0):
                raise DataError("weights must be finite and at least 0, and not all 0")
            object.__setattr__(self, "weights", weights)
        if self.margins is not None:
            margins = _numbers("margins", self.margins, n_records)
            if np.isinf(margins).any():
                raise DataError("margins must be finite, or NaN where nobody said one")
            object.__setattr__(self, "margins", margins)

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the users."""
        assert self.user_names is not None
        return self.user_names

    @property
    def n_users(self) -> int:
        """Number of users, with and without records."""
        return len(self.names)

    @property
    def counts(self) -> Codes:
        """Number of records of each user, shape (user,)."""
        return np.bincount(self.users, minlength=self.n_users)

    @cached_property
    def record_weights(self) -> Values:
        """Weight of each record, shape (record,)."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def differences(self, rows: NDArray[np.intp] | slice = slice(None)) -> Values:
        """Return features of the chosen items less those of the rejected ones, shape (record, feature)."""
        return np.asarray(self.features[self.chosen[rows]] - self.features[self.rejected[rows]])

    def take(self, rows: NDArray[np.intp] | slice) -> Comparisons:
        """Return some of the records; items, users and groups stay."""
        weights, margins = (None if column is None else column[rows] for column in (self.weights, self.margins))
        return replace(
            self, chosen=self.chosen[rows], rejected=self.rejected[rows], users=self.users[rows],
            weights=weights, margins=margins,
        )  # fmt: skip

    def of_users(self, users: Sequence[int] | NDArray[np.intp]) -> Comparisons:
        """Return the records of some users."""
        return self.take(np.flatnonzero(np.isin(self.users, users)))

    def with_groups(self, groups: Sequence[str]) -> Comparisons:
        """Return the same records with another group for each user."""
        return replace(self, groups=_labels("groups", groups))


@dataclass(frozen=True, eq=False)
class Rankings:
    """Users who rank several items.

    Parameters
    ----------
    features
        Features of the items, shape (item, feature).
    order
        Positions of the ranked items, best first, shape (record, place); -1 where a ranking has fewer places, at the
        end only; at least two items each.
    users, user_names, groups
        As for `Comparisons`.

    Raises
    ------
    DataError
        If shapes do not match, an item repeats in a ranking, or a position is out of range.
    """

    features: Values
    order: Codes
    users: Codes
    user_names: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        order = np.asarray(self.order)
        if order.ndim != 2 or not np.issubdtype(order.dtype, np.integer):
            raise DataError(f"order has shape {order.shape}; allowed: whole numbers of shape (record, place)")
        present = order != NO_ITEM
        if ((order < NO_ITEM) | (order >= len(self.features))).any() or (
            np.diff(present.astype(int), axis=1) > 0
        ).any():
            raise DataError(
                f"order holds positions from 0 to {len(self.features) - 1}, and -1 only behind the last item"
            )
        if (present.sum(axis=1) < 2).any():
            raise DataError("a ranking has fewer than two items")
        ordered = np.sort(np.where(present, order, -1 - np.arange(order.shape[1])), axis=1)
        if (np.diff(ordered, axis=1) == 0).any():
            raise DataError("an item stands twice in a ranking")
        if not len(order):
            order = np.empty((0, 2), dtype=np.intp)
        object.__setattr__(self, "order", order.astype(np.intp))
        first = Comparisons(self.features, order[:, 0], order[:, 1], self.users, self.user_names, self.groups)
        for name in ("features", "users", "user_names", "groups"):
            object.__setattr__(self, name, getattr(first, name))

    def __len__(self) -> int:
        return len(self.order)

    @property
    def lengths(self) -> Codes:
        """Number of items in each ranking, shape (record,)."""
        return np.asarray((self.order != NO_ITEM).sum(axis=1))

    def to_comparisons(self) -> Comparisons:
        """Return a comparison for every two items of a ranking, weighted so that each ranking counts once."""
        records, better, worse = [], [], []
        for high in range(self.order.shape[1]):
            for low in range(high + 1, self.order.shape[1]):
                rows = np.flatnonzero(self.order[:, low] != NO_ITEM)
                records.append(rows)
                better.append(self.order[rows, high])
                worse.append(self.order[rows, low])
        rows = np.concatenate(records)
        pairs = self.lengths * (self.lengths - 1) / 2
        turn = np.argsort(rows, kind="stable")
        rows = rows[turn]
        return Comparisons(
            self.features, np.concatenate(better)[turn], np.concatenate(worse)[turn], self.users[rows],
            self.user_names, self.groups, 1.0 / pairs[rows],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Ratings:
    """Users who rate single items.

    Parameters
    ----------
    features
        Features of the items, shape (item, feature).
    items, users
        Positions, shape (record,).
    ratings
        Higher is better, shape (record,), finite.
    times
        When, in any unit, shape (record,); None if unknown.
    user_names, groups
        As for `Comparisons`.
    """

    features: Values
    items: Codes
    users: Codes
    ratings: Values
    times: Values | None = None
    user_names: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n_records = len(np.atleast_1d(self.items))
        object.__setattr__(self, "items", codes("items", self.items, n_records, len(self.features), DataError))
        users, names, groups = _of_users(self.users, self.user_names, self.groups, n_records)
        object.__setattr__(self, "users", users)
        object.__setattr__(self, "user_names", None if self.user_names is None else names)
        object.__setattr__(self, "groups", groups)
        for name in ("ratings", "times"):
            if getattr(self, name) is not None:
                numbers = _numbers(name, getattr(self, name), n_records)
                if not np.isfinite(numbers).all():
                    raise DataError(f"{name} must be finite")
                object.__setattr__(self, name, numbers)

    def __len__(self) -> int:
        return len(self.items)

    def to_comparisons(
        self, *, gap: float = 1.0, most: int | None = None, generator: np.random.Generator | None = None
    ) -> Comparisons:
        """Return comparisons of items that one user rated at least `gap` apart, with the difference as margin.

        [ours] All differences of m ratings follow from m − 1 of them. So the comparisons of a user weigh m − 1 in all,
        each as much as any other and at most 1, where m is the number of the user's ratings that occur in one. An item
        that a user rated twice is not compared with itself.

        Parameters
        ----------
        gap
            Smallest difference of ratings, above 0; differences that fall short of it by rounding count.
        most
            Largest number of comparisons of a user, drawn at random; None for all, n²/2 of n ratings.
        generator
            Source of the draw; needed with `most`.
        """
        if not gap > 0:
            raise DataError(f"gap is {gap}; allowed: above 0")
        if most is not None and (most < 1 or generator is None):
            raise DataError("most must be at least 1, and needs a generator")
        better, worse = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        weights = [np.empty(0)]
        for rows in _by_user(self.users):
            items, ratings = self.items[rows], self.ratings[rows]
            wide = ratings[:, None] - ratings >= gap * (1.0 - ROUNDED)
            high, low = np.nonzero(wide & (items[:, None] != items))
            if most is not None and generator is not None and len(high) > most:
                kept = np.sort(generator.choice(len(high), most, replace=False))
                high, low = high[kept], low[kept]
            better.append(rows[high])
            worse.append(rows[low])
            occurring = len(np.unique(np.concatenate([high, low])))
            weights.append(np.full(len(high), min(1.0, (occurring - 1) / max(1, len(high)))))
        first, second = np.concatenate(better), np.concatenate(worse)
        return Comparisons(
            self.features, self.items[first], self.items[second], self.users[first], self.names, self.groups,
            np.concatenate(weights), self.ratings[first] - self.ratings[second],
        )  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the users; their positions where none were given."""
        return self.user_names or tuple(map(str, range(int(self.users.max(initial=-1)) + 1)))


def _by_user(users: Codes) -> list[Codes]:
    """Return the records of each user who has any."""
    order = np.argsort(users, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(users[order])) + 1) if len(users) else []


def _of_users(
    users: Any, user_names: Any, groups: Any, n_records: int
) -> tuple[Codes, tuple[str, ...], tuple[str, ...] | None]:
    """Return users of records, their names, and their groups if there are any, or raise if they do not match."""
    names = () if user_names is None else _labels("user_names", user_names)
    of_record = codes("users", users, n_records, None if user_names is None else len(names), DataError)
    names = names or tuple(map(str, range(int(of_record.max(initial=-1)) + 1)))
    if len(set(names)) < len(names):
        raise DataError("names of users repeat")
    if groups is None:
        return of_record, names, None
    labels = _labels("groups", groups)
    if len(labels) != len(names):
        raise DataError(f"{len(labels)} groups were given for {len(names)} users; allowed: one per user")
    return of_record, names, labels


def _labels(name: str, given: Any) -> tuple[str, ...]:
    """Return names as text, or raise if one is missing or is several."""
    if isinstance(given, str):
        raise DataError(f"{name} is the text {given!r}; allowed: one name per user")
    labels = tuple(given)
    for place, label in enumerate(labels):
        named = isinstance(label, str | int | float | np.number | np.bool_)
        if not named or (isinstance(label, float | np.floating) and np.isnan(label)):
            raise DataError(f"{name}[{place}] is {label!r}; allowed: text or a number, none missing")
    return tuple(map(str, labels))


def _numbers(name: str, given: Any, n_records: int) -> Values:
    array = np.asarray(real_array(name, given, DataError), dtype=np.float64)
    if array.shape != (n_records,):
        raise DataError(f"{name} has shape {array.shape}; allowed: ({n_records},)")
    return array


def user_folds(weights: Values, folds: int, generator: np.random.Generator) -> Codes:
    """Deal users into folds of equal size, but for one user, at random.

    Parameters
    ----------
    weights
        Sum of the weights of each user's records, above 0 for at least two users, shape (user,).
    folds
        At least 2; with fewer users every user is a fold.
    generator
        Source of the deal; the same state gives the same folds.

    Returns
    -------
    numpy.ndarray
        Fold of each user, shape (user,); -1 for users whose records weigh nothing, who take part in no training.

    Raises
    ------
    InputError
        If `folds` is not a whole number of at least 2.
    DataError
        If fewer than two users have records.
    """
    check_whole(2, folds=folds)
    present = np.flatnonzero(weights > 0)
    if len(present) < 2:
        raise DataError(f"folds need at least 2 users with records; found {len(present)}")
    fold = np.full(len(weights), NO_FOLD, dtype=np.intp)
    fold[generator.permutation(present)] = np.arange(len(present)) % folds
    return fold


def weight_of_users(comparisons: Comparisons) -> Values:
    """Return the sum of the weights of each user's records, shape (user,)."""
    return np.asarray(np.bincount(comparisons.users, comparisons.record_weights, minlength=comparisons.n_users))
