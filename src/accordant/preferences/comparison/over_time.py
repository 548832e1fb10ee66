"""Whether preferences changed while the records of a file were made: alarms with a bound on false ones.

Records with times: the pooled reward of those before T, by when half of the records were made, is the reference; what
comes from T on is watched (`accordant.preferences.drift.group_alarms`). Ratings with times are replayed
(`accordant.preferences.drift.replay`), which also says whether it pays to learn on, and to forget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import DataError
from accordant.preferences.drift.alarms import ALPHA, DriftTrace
from accordant.preferences.drift.group_alarms import watch_groups
from accordant.preferences.drift.replay import FORGETTING, POOLED, SEQUENTIAL, ReplaySettings, replay_ratings
from accordant.preferences.groups import EVERYBODY
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.records import Comparisons, Ratings
from accordant.statistics import Estimate

PAST = 0.5  # share of the records that the reference is learned from
FEWEST_RECORDS = 20  # before T: fewer give no reference
RECORD_NULL = "every user's agreement with the reward of the earlier records is the same at all times, whatever it is"
RATING_NULL = "every user's agreement with its own reward of the first part is the same at all times, whatever it is"


@dataclass(frozen=True)
class StreamWatch:
    """What was seen of one group or user.

    Attributes
    ----------
    name
        Of the group or user.
    records
        Watched.
    evidence
        Largest log wealth over the log of the threshold: 1 and more is an alarm.
    alarm
        Number of the watched record, from 1, at which the change was noticed; None for no alarm.
    time
        Its time; None for no alarm.
    """

    name: str
    records: int
    evidence: float
    alarm: int | None
    time: float | None

    @classmethod
    def of(cls, trace: DriftTrace) -> StreamWatch:
        """Return what a trace shows."""
        largest = float(trace.log_wealth.max(initial=0.0)) / trace.log_threshold
        place = None if trace.alarm is None else trace.alarm + 1
        return cls(trace.name, len(trace.records), largest, place, trace.alarm_time)


@dataclass(frozen=True)
class OverTime:
    """What was seen over time.

    Attributes
    ----------
    kind
        ``records``, or ``ratings``.
    null
        What an alarm speaks against.
    alpha
        Largest probability of any false alarm, of whatever group or user, at any time.
    start
        T: the reference was learned from what came before.
    before
        Records, or ratings, before T.
    watched
        Records, or pairs of ratings, that are watched.
    groups, users
        What was seen of each group and user.
    able
        Number of users with records enough for an alarm at all.
    learning
        Two methods to the difference of their losses, as a mean over users with its interval: does it pay to learn on,
        and to forget; of ratings only.
    """

    kind: str
    null: str
    alpha: float
    start: float
    before: int
    watched: int
    groups: tuple[StreamWatch, ...]
    users: tuple[StreamWatch, ...]
    able: int
    learning: dict[str, Estimate]


def watch_records(
    comparisons: Comparisons, times: Values, *, declared: bool, alpha: float = ALPHA, ridge: float | None = None
) -> OverTime:
    """Watch records whose times are known.

    Parameters
    ----------
    comparisons
        All records, with features that were not made from those at T or later.
    times
        Shape (record,).
    declared
        Whether the groups are those of the file: groups that were found in the answers cannot be watched.
    alpha
        Largest probability of any false alarm, in (0, 1).
    ridge
        Of the reference; None for the usual one.

    Raises
    ------
    DataError
        If there are too few records before T, or none at T or later.
    """
    start, past = past_records(times)
    later = np.flatnonzero(times >= start)
    reference = BradleyTerry() if ridge is None else BradleyTerry(ridge=ridge)
    watched = comparisons.take(later)
    margins = reference.fit(comparisons.take(past)).margins(watched)
    names: tuple[str, ...] = (EVERYBODY,)
    of_user = np.zeros(comparisons.n_users, dtype=np.intp)
    if declared and comparisons.groups is not None:
        groups, code = np.unique(np.array(comparisons.groups), return_inverse=True)
        names, of_user = tuple(map(str, groups)), code.astype(np.intp)
    alarms = watch_groups(
        margins, watched.users, watched.names, of_user, names, times=times[later], alpha=alpha
    )  # fmt: skip
    return OverTime(
        "records", RECORD_NULL, alpha, start, len(past), len(later),
        tuple(map(StreamWatch.of, alarms.groups.traces)), tuple(map(StreamWatch.of, alarms.users.traces)),
        _able(alarms.users.traces), {},
    )  # fmt: skip


def past_records(times: Values) -> tuple[float, Codes]:
    """Return T and the records before it; raises `DataError` if there are too few, or all have one time."""
    start = float(np.quantile(times, PAST, method="higher"))
    past = np.flatnonzero(times < start)
    if len(past) < FEWEST_RECORDS:
        raise DataError(
            f"--over-time: {len(past)} of {len(times)} records were made before time {start:g}, by when half of them "
            f"were; allowed: at least {FEWEST_RECORDS}, for a reward to compare later answers with"
        )
    return start, past


def watch_ratings(
    ratings: Ratings, *, generator: np.random.Generator, resamples: int, alpha: float = ALPHA
) -> OverTime:
    """Replay ratings and watch them.

    Parameters
    ----------
    ratings
        With times.
    generator
        Source of randomness; the same state gives the same bytes.
    resamples
        Of users, for intervals.
    alpha
        Largest probability of any false alarm, in (0, 1).

    Raises
    ------
    InputError
        As `replay_ratings`.
    """
    settings = ReplaySettings(alpha=alpha)
    replay = replay_ratings(ratings, settings, generator=generator, resamples=resamples)
    losses = replay.fresh.log_loss.differences
    users = replay.agreement.traces
    pairs = sum(len(trace.records) for trace in users)
    assert ratings.times is not None  # else there is no replay
    asked = ((SEQUENTIAL, POOLED), (FORGETTING, SEQUENTIAL))
    return OverTime(
        "ratings", RATING_NULL, alpha, replay.start.time,
        int((ratings.times < replay.start.time).sum()), pairs, (), tuple(map(StreamWatch.of, users)),
        _able(users), {f"{one} less {other}": losses[one, other] for one, other in asked},
    )  # fmt: skip


def _able(traces: tuple[DriftTrace, ...]) -> int:
    """Return how many users have records enough for an alarm: the wealth at most doubles with each."""
    return sum(len(trace.records) * math.log(2.0) >= trace.log_threshold for trace in traces)
