"""How much the records of one user say together, where they share items, and folds of records that share none.

`SharedItems` counts independent records. A user's mean is Σ_r w_r x_r / W = Σ_i d_i f_i / W: d_i is the net weight of
wins of item i, f_i its features, W the weight of all the user's records. [ours] Suppose which item wins has nothing to
do with its features, and items are drawn independently. Then x = f_a − f_b has twice the covariance of f, and the mean
has the covariance of one record divided by

    n = min(2 W² / Σ_i d_i², W² / Σ_r w_r²)

Records that share no item and weigh the same count 1 each: both terms are their number. Copies of a record count as
one. The second term is there for answers that contradict each other, whose wins cancel. The scale of weights cancels.

`RecordSums` are sums over other records. Differences of records that share items determine each other,
x_ab + x_bc = x_ac. So what a record's user is like is told by the user's records that share *no* item with it. Their
sums are those over all the user's records, less those that touch either item, plus those of the same two items, which
were taken twice. For Σ d² of what is left, the items that both were compared with are needed too: finding them takes
each pair's less compared item through all its pairs, at most records^1.5 steps (as in counting triangles: Chiba and
Nishizeki 1985), and about as many as records where users have tens of records.

`item_folds` deals each user's records into folds that share no item. Records of one user that share items are not
independent. From ratings they follow from each other, x_ab + x_bc = x_ac, and any two of them share what the user makes
of their common item beyond its features; so records of other items are what a held-out record must be predicted from.
[ours] Records that are linked by items stay in one fold where that leaves the other folds enough; where they are most
of the user's, the *items* are dealt, and a record between two folds is held out with neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.preferences.checks import check_whole
from accordant.preferences.records import Comparisons, weight_of_users

STEPS = 1 << 20  # of the search for common opponents held in memory at once
INDEPENDENT = 1e-9  # of a factor: independent records keep their weights exactly
ROUNDING = 1e-12  # of a user's weight: less than this is what subtraction leaves of nothing
MOST_LINKED = 0.5  # of a user's records in one fold; if more are linked, their items are dealt


@dataclass(frozen=True, eq=False)
class RecordSums:
    """Weighted means of some records of each row, and how much these records say together; see `SharedItems`.

    Attributes
    ----------
    means
        Σ w x / Σ w, shape (row, column); 0 without records.
    counted
        How many independent records they are worth, n; 0 without records of positive weight, shape (row,).
    """

    means: Values
    counted: Values


@dataclass(frozen=True, eq=False)
class SharedItems:
    """Records of users, and which items of a user stand in several of them.

    Parameters
    ----------
    comparisons
        Any.
    """

    comparisons: Comparisons

    def of_users(self, columns: Values) -> RecordSums:
        """Return sums over all records of each user, of columns of shape (record, column)."""
        sums = summed(self._users, self._weights, columns, self.comparisons.n_users)
        return _record_sums(sums, self._totals, self._totals, self._squares, self._wins_squared, self.counts)

    def of_others(self, columns: Values) -> RecordSums:
        """Return, for each record, sums over the user's records that share no item with it."""
        users, weights = self._users, self._weights
        sums = self._without(weights, columns)
        numbers = np.stack([weights, weights**2, self._counted], axis=1)
        totals, squares, counts = self._without(np.ones(len(users)), numbers).T
        wins_squared = self._wins_squared[users] - self._taken[self._pair]
        return _record_sums(sums, totals, self._totals[users], squares, wins_squared, counts)

    @property
    def sharing(self) -> NDArray[np.bool_]:
        """Whether an item stands in two records of the user, shape (user,)."""
        counted, n_places = self._counted, self._n_places
        often = _totals_by(self._high, counted, n_places) + _totals_by(self._low, counted, n_places) > 1
        return _totals_by(self._user_of_place, often.astype(np.float64), self.comparisons.n_users) > 0

    @cached_property
    def counts(self) -> Values:
        """Number of records of positive weight of each user, shape (user,)."""
        return _totals_by(self._users, self._counted, self.comparisons.n_users)

    def _without(self, weights: Values, columns: Values) -> Values:
        """Return weighted sums of columns over the user's records that share no item, shape (record, column)."""
        low, high, n_places = self._low, self._high, self._n_places
        every = summed(self._users, weights, columns, self.comparisons.n_users)
        touching = summed(low, weights, columns, n_places) + summed(high, weights, columns, n_places)
        same = summed(self._pair, weights, columns, len(self._pairs))
        return np.asarray(every[self._users] - touching[low] - touching[high] + same[self._pair])

    @property
    def _users(self) -> Codes:
        return self.comparisons.users

    @cached_property
    def _weights(self) -> Values:
        """Weights, those of a user summing to 1 where there are some, shape (record,)."""
        tiny, weights = np.finfo(float).tiny, self.comparisons.record_weights
        weights = weights / max(float(weights.max(initial=0.0)), tiny)
        totals = _totals_by(self._users, weights, self.comparisons.n_users)
        return np.asarray(weights / np.maximum(totals, tiny)[self._users])

    @cached_property
    def _counted(self) -> Values:
        """1 for records of positive weight, 0 for others, shape (record,)."""
        return (self._weights > 0).astype(np.float64)

    @cached_property
    def _totals(self) -> Values:
        return _totals_by(self._users, self._weights, self.comparisons.n_users)

    @cached_property
    def _squares(self) -> Values:
        return _totals_by(self._users, self._weights**2, self.comparisons.n_users)

    @cached_property
    def _places(self) -> tuple[Codes, Codes]:
        """Return codes user · items + item that occur, and those of the chosen items, then of the rejected ones."""
        some, n_items = self.comparisons, len(self.comparisons.features)
        codes = np.concatenate([some.users * n_items + some.chosen, some.users * n_items + some.rejected])
        distinct, places = np.unique(codes, return_inverse=True)
        return distinct, places

    @property
    def _n_places(self) -> int:
        return len(self._places[0])

    @property
    def _user_of_place(self) -> Codes:
        return np.asarray(self._places[0] // max(1, len(self.comparisons.features)))

    @cached_property
    def _low(self) -> Codes:
        """The earlier place of each record, shape (record,)."""
        return np.asarray(self._places[1].reshape(2, -1).min(axis=0))

    @cached_property
    def _high(self) -> Codes:
        """The later place of each record, shape (record,)."""
        return np.asarray(self._places[1].reshape(2, -1).max(axis=0))

    @cached_property
    def _pairing(self) -> tuple[Codes, Codes]:
        pairs, pair = np.unique(self._low * max(1, self._n_places) + self._high, return_inverse=True)
        return np.asarray(pairs), pair

    @property
    def _pairs(self) -> Codes:
        """Codes low · places + high of the pairs that occur, in rising order, shape (pair,)."""
        return self._pairing[0]

    @property
    def _pair(self) -> Codes:
        """Position of each record's pair, shape (record,)."""
        return self._pairing[1]

    @cached_property
    def _net(self) -> Values:
        """By how much the earlier place of each pair beats the later one, shape (pair,)."""
        first_won = self._places[1][: len(self._users)] == self._low
        return _totals_by(self._pair, np.where(first_won, self._weights, -self._weights), len(self._pairs))

    @cached_property
    def _ends(self) -> tuple[Codes, Codes]:
        low, high = np.divmod(self._pairs, max(1, self._n_places))
        return low, high

    def _at_places(self, of_low: Values, of_high: Values) -> Values:
        """Return sums over the pairs of each place, of what a pair means to either end, shape (place,)."""
        low, high = self._ends
        return _totals_by(low, of_low, self._n_places) + _totals_by(high, of_high, self._n_places)

    @cached_property
    def _wins(self) -> Values:
        """Net wins d of each place, shape (place,)."""
        return self._at_places(self._net, -self._net)

    @cached_property
    def _wins_squared(self) -> Values:
        """Σ d² of each user, shape (user,)."""
        return _totals_by(self._user_of_place, self._wins**2, self.comparisons.n_users)

    @cached_property
    def _taken(self) -> Values:
        """By how much Σ d² falls without the records that touch either item of a pair, shape (pair,)."""
        (low, high), net, wins = self._ends, self._net, self._wins
        against = self._at_places(-net * wins[high], net * wins[low])  # Σ_i d_i e_ia over the opponents i of a
        squares = self._at_places(net**2, net**2)
        kept = -2.0 * (against[low] + against[high] + net * (wins[high] - wins[low]))
        kept += squares[low] + squares[high] - 2.0 * net**2 + 2.0 * self._common
        return np.asarray(wins[low] ** 2 + wins[high] ** 2 - kept)

    @cached_property
    def _common(self) -> Values:
        """Σ_i e_ia e_ib over items i compared with both ends a, b, e_ia the net of i over a, shape (pair,)."""
        low, high = self._ends
        starts, opponents = np.concatenate([low, high]), np.concatenate([high, low])  # every pair from both ends
        codes = starts * max(1, self._n_places) + opponents
        turn = np.argsort(codes)
        codes, opponents, nets = codes[turn], opponents[turn], np.concatenate([-self._net, self._net])[turn]
        degree = np.bincount(starts, minlength=self._n_places)
        begin = np.cumsum(degree) - degree
        few = np.where(degree[low] <= degree[high], low, high)
        many = low + high - few
        common = np.zeros(len(low))
        asked = np.flatnonzero(degree[few] > 1)  # an item of one pair has no other opponent
        parts = np.cumsum(degree[few[asked]]) // STEPS
        for part in np.split(asked, np.flatnonzero(np.diff(parts)) + 1):
            pair = np.repeat(part, degree[few[part]])
            first = np.repeat(np.cumsum(degree[few[part]]) - degree[few[part]], degree[few[part]])
            edge = begin[few[pair]] + np.arange(len(pair)) - first
            wanted = many[pair] * self._n_places + opponents[edge]
            other = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
            products = np.where(codes[other] == wanted, nets[edge] * nets[other], 0.0)
            common += _totals_by(pair, products, len(common))
        return common


def independent_weights(comparisons: Comparisons) -> Values:
    """Return weights of records, lowered to what independent records would weigh that say as much, shape (record,).

    Each user's are lowered by one factor, at most 1: n of `SharedItems` divided by their sum. All pairs of a few rated
    items are lowered, and so are copies, and weights above 1, which are copies in other words; records of weight 1 that
    share no item are not. Weights that sum to less than n, as those of `Ratings.to_comparisons`, stay as they are.
    """
    totals = weight_of_users(comparisons)
    counted = SharedItems(comparisons).of_users(np.empty((len(comparisons), 0))).counted
    shares = counted / np.where(totals > 0, totals, 1.0)
    shares = np.where(shares > 1.0 - INDEPENDENT, 1.0, shares)
    return np.asarray(comparisons.record_weights * shares[comparisons.users])


def _totals_by(rows: Codes, weights: Values, n_rows: int) -> Values:
    """Return sums of weights by row, shape (row,)."""
    return np.bincount(rows, weights, minlength=n_rows).astype(np.float64, copy=False)


def summed(rows: Codes, weights: Values, columns: Values, n_rows: int) -> Values:
    """Return weighted sums of columns by row, shape (row, column)."""
    from scipy.sparse import csr_array

    n_records = len(rows)
    return np.asarray(csr_array((weights, (rows, np.arange(n_records))), shape=(n_rows, n_records)) @ columns)


def _record_sums(
    sums: Values, totals: Values, wholes: Values, squares: Values, wins_squared: Values, counts: Values
) -> RecordSums:
    """Return means and n from sums, of which subtraction may leave traces of nothing."""
    has_weight = (counts > 0.5) & (totals > ROUNDING * wholes)
    total = np.where(has_weight, totals, 1.0)
    noise = np.maximum.reduce([wins_squared / 2.0, squares, total**2 / np.maximum(counts, 1.0)])
    return RecordSums(
        np.where(has_weight[:, None], sums / total[:, None], 0.0), np.where(has_weight, total**2 / noise, 0.0)
    )


@dataclass(frozen=True, eq=False)
class ItemFolds:
    """Folds of the two items of each record, for the record's user.

    A fold below is one for all records, or one for each.

    Attributes
    ----------
    sides
        Fold of either item, shape (2, record).
    """

    sides: Codes

    def held_out(self, fold: int | Codes) -> NDArray[np.bool_]:
        """Return which records have both items in a fold, shape (record,)."""
        return np.asarray((self.sides == fold).all(axis=0))

    def known(self, fold: int | Codes) -> NDArray[np.bool_]:
        """Return which records have no item in a fold, shape (record,)."""
        return np.asarray((self.sides != fold).all(axis=0))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which records are held out once, the others never, shape (record,)."""
        return np.asarray(self.sides[0] == self.sides[1])


def item_folds(comparisons: Comparisons, folds: int, generator: np.random.Generator) -> ItemFolds:
    """Deal each user's records into folds so that those of different folds share no item.

    Linked records, which are connected through items of the same user, are dealt in turn as one, in the order in which
    they come; user u begins at fold u mod `folds`. If they are most of the user's records and of more than one pair of
    items, their items are dealt at random instead, at least two to a fold while there are as many.

    Parameters
    ----------
    comparisons
        The records.
    folds
        At least 2.
    generator
        Deals items of records that cannot stay together; the same state gives the same folds.

    Raises
    ------
    InputError
        If `folds` is not a whole number of at least 2.
    """
    check_whole(2, folds=folds)
    items, link = _linked(comparisons)
    _, first, counts = np.unique(link, return_index=True, return_counts=True)
    owners = comparisons.users[first]
    together = (_place_in_turn(owners, first) + owners) % folds
    link_of_item = np.empty(int(items.max(initial=-1)) + 1, dtype=np.intp)
    link_of_item[items] = link
    sizes = np.bincount(link_of_item, minlength=len(owners))
    dealt = (counts > MOST_LINKED * comparisons.counts[owners]) & (sizes > 2)
    turn = _place_in_turn(link_of_item, generator.permutation(len(link_of_item)))
    enough = np.clip(sizes // 2, 2, folds)
    apart = (turn % enough[link_of_item] + owners[link_of_item]) % folds
    return ItemFolds(np.where(dealt[link], apart[items], together[link]))


def _linked(comparisons: Comparisons) -> tuple[Codes, Codes]:
    """Return a number for each user's item, shape (2, record), and for each set of linked records, shape (record,)."""
    sides = np.stack([comparisons.chosen, comparisons.rejected])
    named, items = np.unique(comparisons.users * len(comparisons.features) + sides, return_inverse=True)
    items = np.asarray(items.reshape(sides.shape), dtype=np.intp)
    return items, connected_parts(items[0], items[1], len(named))[1][items[0]]


def connected_parts(one: Codes, other: Codes, n_nodes: int) -> tuple[int, Codes]:
    """Return how many parts pairs of nodes connect, and the part of each node, shape (node,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(one)), (one, other)), shape=(n_nodes, n_nodes))
    n_parts, part = connected_components(edges, directed=False)
    return int(n_parts), np.asarray(part, dtype=np.intp)


def _place_in_turn(owners: Codes, order: Codes) -> Codes:
    """Return how many come before each with the same owner in some order of distinct numbers, shape (any,)."""
    turn = np.lexsort((order, owners))
    _, starts, counts = np.unique(owners[turn], return_index=True, return_counts=True)
    places = np.empty(len(owners), dtype=np.intp)
    places[turn] = np.arange(len(owners)) - np.repeat(starts, counts)
    return places
