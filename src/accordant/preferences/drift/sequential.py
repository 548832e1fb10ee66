"""Follow rewards through time: each block of records is predicted before it is learned from.

The belief of a user, or of a group from the records of all its users, begins at the prior, loses what time takes away
and takes in one block after the other (`accordant.preferences.drift.belief`). The loss of predictions made before
learning is the prequential one (Dawid 1984): no record is ever used to predict itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences.checks import codes, numbers
from accordant.preferences.drift.belief import SMALL_BLOCK, Belief, TasteChange, learn, predict, update
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.learners.shrinkage import PerUserReward
from accordant.preferences.records import Comparisons

Stream = Literal["user", "group"]

LARGEST_TIME = 1e300  # so that the time between two records is a number


@dataclass(frozen=True, eq=False)
class Followed:
    """Records followed through time.

    Attributes
    ----------
    names
        Names of the streams: of all users, or of all groups in alphabetical order.
    beliefs
        Belief of each stream after its last record; the prior for a stream without records.
    prior
        Where every stream began: the belief about somebody unknown.
    margins
        Margin of each record before it was learned from, in the given order, shape (record,); σ(margin) is the
        probability that was given to the observed answer.
    blocks
        Number of blocks.
    model
        The rewards at the end, for each user.
    """

    names: tuple[str, ...]
    beliefs: tuple[Belief, ...]
    prior: Belief
    margins: Values
    blocks: int
    model: PerUserReward

    @property
    def log_loss(self) -> Values:
        """Prequential loss −log σ(margin) of each record, in nats, shape (record,)."""
        return log_loss(self.margins)

    def of(self, name: str | None) -> Belief:
        """Return the belief about a stream; None, for somebody unknown, is the prior."""
        if name is None:
            return self.prior
        if name not in self.names:
            raise UnknownNameError("stream", name, self.names)
        return self.beliefs[self.names.index(name)]


def follow(
    comparisons: Comparisons,
    prior: Belief,
    change: TasteChange | None = None,
    *,
    times: Values | None = None,
    blocks: Codes | None = None,
    by: Stream = "user",
) -> Followed:
    """Predict and learn records in order of time, for each user or group by itself.

    Parameters
    ----------
    comparisons
        The records; weights multiply what a record teaches.
    prior
        Where every stream begins, for example around the pooled reward.
    change
        What time does; None for nothing.
    times
        Time of each record, shape (record,); records of a stream are read in this order, ties in the given order. None
        for the given order, in which each block takes one unit of time.
    blocks
        Records of a stream with the same number are predicted together, then learned together, shape (record,); all
        must have the same time. None: records of a stream at the same time, or every record by itself without times.
    by
        Streams: ``"user"`` or ``"group"``.

    Raises
    ------
    InputError
        If shapes differ, the prior has another number of features, or a time is out of range.
    DataError
        If there are no groups to follow, or a block has two times.
    """
    n = len(comparisons)
    if len(prior.mean) != comparisons.features.shape[1]:
        raise InputError(f"the prior has {len(prior.mean)} features; allowed: {comparisons.features.shape[1]}")
    names, of_user = _streams(comparisons, by)
    when = None if times is None else numbers("times", times, "record", n)
    if when is not None and n and max(-when.min(), when.max()) > LARGEST_TIME:
        raise InputError(f"times go from {when.min()} to {when.max()}; allowed: {-LARGEST_TIME:g} to {LARGEST_TIME:g}")
    number = None if blocks is None else codes("blocks", blocks, n)
    rows = _blocks_of_streams(of_user[comparisons.users], len(names), when, number)
    state = _State.at(prior, len(names), change or TasteChange())
    margins = np.empty(n)
    for step in range(max(map(len, rows), default=0)):
        going = [stream for stream, own in enumerate(rows) if len(own) > step]
        now = np.full(len(going), step + 1.0) if when is None else when[[rows[stream][step][0] for stream in going]]
        state.wait(np.array(going), now)
        for streams in _batches(going, [len(rows[stream][step]) for stream in going]):
            state.learn(streams, [rows[stream][step] for stream in streams], comparisons, margins)
    beliefs = tuple(map(Belief, state.means, state.covariances))
    return Followed(
        names, beliefs, prior, margins, sum(map(len, rows)), PerUserReward(prior.mean, state.means, of_user)
    )


@dataclass(eq=False)
class _State:
    """Beliefs of all streams while they are followed; shapes (stream, …)."""

    means: Values
    covariances: Values
    reached: Values
    prior: Belief
    change: TasteChange

    @classmethod
    def at(cls, prior: Belief, n_streams: int, change: TasteChange) -> _State:
        """Return every stream at the prior; NaN is the time of a stream that has not begun."""
        covariances = np.repeat(prior.covariance[None], n_streams, axis=0)
        return cls(np.tile(prior.mean, (n_streams, 1)), covariances, np.full(n_streams, np.nan), prior, change)

    def wait(self, streams: Codes, now: Values) -> None:
        """Let time pass until now, shape (stream,)."""
        elapsed = np.nan_to_num(now - self.reached[streams])
        self.reached[streams] = now
        if elapsed.any():
            self.means[streams], self.covariances[streams] = self.change.passed(
                self.means[streams], self.covariances[streams], self.prior, elapsed
            )

    def learn(self, streams: list[int], rows: list[Codes], comparisons: Comparisons, margins: Values) -> None:
        """Predict one block of each stream, then learn it; the margins are written where their records stand."""
        if len(streams) == 1:
            belief = Belief(self.means[streams[0]], self.covariances[streams[0]])
            differences = comparisons.differences(rows[0])
            margins[rows[0]] = belief.margins(differences)
            belief = update(belief, differences, comparisons.record_weights[rows[0]])
            self.means[streams[0]], self.covariances[streams[0]] = belief.mean, belief.covariance
            return
        sizes = np.array([len(block) for block in rows])
        there = np.arange(sizes.max()) < sizes[:, None]
        padded = np.zeros(there.shape, dtype=np.intp)
        padded[there] = np.concatenate(rows)
        differences = comparisons.differences(padded.ravel()).reshape(*there.shape, -1)
        weights = np.where(there, comparisons.record_weights[padded], 0.0)
        means, covariances = self.means[streams], self.covariances[streams]
        margins[padded[there]] = predict(means, covariances, differences)[there]
        self.means[streams], self.covariances[streams] = learn(means, covariances, differences, weights)


def _batches(streams: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Yield streams that learn together: all with a small block, and each of the others by itself."""
    small = [stream for stream, size in zip(streams, sizes, strict=True) if size <= SMALL_BLOCK]
    if small:
        yield small
    yield from ([stream] for stream, size in zip(streams, sizes, strict=True) if size > SMALL_BLOCK)


def _streams(comparisons: Comparisons, by: Stream) -> tuple[tuple[str, ...], Codes]:
    """Return the names of the streams, and the stream of each user."""
    if by not in get_args(Stream):
        raise UnknownNameError("stream", by, get_args(Stream))
    if by == "user":
        return comparisons.names, np.arange(comparisons.n_users, dtype=np.intp)
    if comparisons.groups is None:
        raise DataError("by is 'group', and the records have no groups; allowed: 'user', or records with groups")
    names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
    return tuple(map(str, names)), of_user.astype(np.intp)


def _blocks_of_streams(streams: Codes, n_streams: int, times: Values | None, blocks: Codes | None) -> list[list[Codes]]:
    """Return the rows of each block of each stream, in order of time."""
    n = len(streams)
    when = np.zeros(n) if times is None else times
    if blocks is None:
        number = np.arange(n) if times is None else np.unique(times, return_inverse=True)[1].reshape(n)
    else:
        number = blocks
    _, first, code = np.unique(np.stack([streams, number]), axis=1, return_index=True, return_inverse=True)
    code = code.reshape(n)
    split = np.flatnonzero(when != when[first[code]])
    if len(split):
        raise DataError(f"record {split[0]} has another time than its block; allowed: one time for each block")
    order = np.lexsort((np.arange(n), first[code], when, streams))
    by_stream: list[list[Codes]] = [[] for _ in range(n_streams)]
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1) if n else []:
        by_stream[streams[rows[0]]].append(rows)
    return by_stream
