"""`Watch`: one stream that is watched for a change, from its first record to its last.

Every stream gets a share of α, fixed beforehand, so that the probability of any false alarm in any of them, ever, is at
most α: P(E_k ever reaches 1/(α share_k)) ≤ α share_k (Ville 1939), added up over k. Evidence is shown as share_k E_k,
with one alarm line for all streams at 1/α.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from accordant.arrays import Codes, Values
from accordant.monitoring.bets import Bets
from accordant.monitoring.result import Alarm, Family, PathPoint
from accordant.statistics import ChangeEvidence, ReferenceRanks

GROWTH = 1.25  # of the number of records between two points of a path that lie on one day
NATS = math.log(10.0)  # of a power of ten


@dataclass(frozen=True, eq=False)
class LevelOrder:
    """Levels of a category in the order of their ranks.

    Attributes
    ----------
    levels
        Those that reference rows have, the most frequent first.
    places
        Place of each level in that order; of all others, and of one that is none, behind them.
    """

    levels: Codes
    places: Values

    @classmethod
    def of(cls, counts: Codes) -> LevelOrder:
        """Return the order for the number of reference rows of each level."""
        levels = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        places = np.full(len(counts) + 1, float(len(levels)))
        places[levels] = np.arange(len(levels))
        return cls(levels, places)

    def __call__(self, levels: Values) -> Values:
        """Return the place of each level."""
        return np.asarray(self.places[levels.astype(np.intp)])


@dataclass(eq=False)
class Watch:
    """One stream.

    Attributes
    ----------
    family, name, part, attribute, group
        What is watched, and of whom; see `accordant.monitoring.result.Measure`.
    share
        Of α.
    bets
        What may change.
    reference
        Rows with which new values are compared.
    ranks
        What turns values into ranks among the reference; None where they are compared with limits.
    order
        What turns levels of categories into values with an order.
    """

    family: Family
    name: str
    share: float
    bets: Bets
    reference: int
    ranks: ReferenceRanks | None = None
    part: str = ""
    attribute: str = ""
    group: str = ""
    order: LevelOrder | None = None
    alarm: Alarm | None = None
    highest: float = 0.0
    path: list[PathPoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._evidence = ChangeEvidence(len(self.bets.words))
        self._due = 1  # number of records at which the next point of the path is due
        self._day = ""
        self.highest = self.latest = math.log10(self.share)

    @property
    def n(self) -> int:
        """Records so far."""
        return self._evidence.n

    def add(self, values: Values, times: Sequence[str], alpha: float) -> None:
        """Take in values with the times of their decisions; NaN among errors of promises is no record."""
        if self.ranks is None:
            known = np.flatnonzero(~np.isnan(values))
            values, times = values[known], [times[k] for k in known]
        else:
            values = self.ranks(values if self.order is None else self.order(values))
        if not len(values):
            return
        first = self.n
        log_evidence, winner, begun = self._evidence.add(self.bets.log_factors(values))
        powers = (log_evidence + math.log(self.share)) / NATS
        self._follow(powers, times, first)
        crossed = np.flatnonzero(powers >= -math.log10(alpha))
        if self.alarm is None and len(crossed):
            row = int(crossed[0])
            self.alarm = Alarm(
                n=first + row + 1, time=times[row], since=self._time(int(begun[row])),
                since_n=int(begun[row]) + 1, words=self.bets.words[int(winner[row])],
            )  # fmt: skip
        self.highest, self.latest = max(self.highest, float(powers.max())), float(powers[-1])

    def _follow(self, powers: Values, times: Sequence[str], first: int) -> None:
        """Note the points of the path: each day's first record, and others ever further apart."""
        if max(times)[:10] <= self._day and first + len(times) < self._due:
            return
        for row, time in enumerate(times):
            number = first + row + 1
            if time[:10] > self._day or number >= self._due:
                self._day = max(self._day, time[:10])
                self._due = max(self._due, math.ceil(number * GROWTH))
                self.path.append(PathPoint(n=number, time=time, evidence=round(float(powers[row]), 4)))

    def _time(self, number: int) -> str:
        """Return the time of the last point of the path up to a record, from 0: right to the day."""
        return next((point.time for point in reversed(self.path) if point.n <= number + 1), self.path[0].time)
