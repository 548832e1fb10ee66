"""What watching decisions in use found, typed: JSON, page and terminal are made from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from accordant.sections import Number, Part, Section, sections

FORMAT = 1  # of the JSON that a page is made from

Family = Literal["contexts", "decisions", "handling", "calibration", "rewards"]


class Alarm(Part):
    """Where evidence first reached the alarm line.

    Attributes
    ----------
    n, time
        Number of the record, from 1, and the time of its decision; empty where it is not known.
    since_n, since
        The same of the record with which the change most likely began.
    words
        What seems to have changed.
    """

    n: int
    time: str
    since_n: int
    since: str
    words: str

    @property
    def day(self) -> str:
        """When it was: the day, or the number of the record."""
        return self.time[:10] or f"record {self.n:,}"

    @property
    def since_day(self) -> str:
        """When the change most likely began: the day, or the number of the record."""
        return self.since[:10] or f"record {self.since_n:,}"


class PathPoint(Part):
    """Evidence after n records, as a power of ten; an alarm is at log₁₀ (1/α)."""

    n: int
    time: str
    evidence: float


class Measure(Part):
    """One stream that was watched.

    Attributes
    ----------
    family, name, part
        What: a feature, decisions, what is unusual, an outcome with a part of f's range, a stakeholder.
    attribute, group
        Of whom; empty for everybody.
    n, reference
        Records, and those that they are compared with.
    share
        Of α.
    highest, latest
        Evidence as powers of ten.
    alarm
        None without one.
    path
        Evidence over time.
    """

    family: Family
    name: str
    part: str
    attribute: str
    group: str
    n: int
    reference: int
    share: float
    highest: Number
    latest: Number
    alarm: Alarm | None
    path: tuple[PathPoint, ...]

    @property
    def label(self) -> str:
        """What is watched, in a few words."""
        of = f" of {self.attribute} {self.group}" if self.group else ""
        return f"{self.name}{of}" + (f" ({self.part})" if self.part else "")


class RewardPoint(Part):
    """Realised minus promised reward after n outcomes, with limits that hold at all times together."""

    n: int
    difference: Number
    low: Number
    high: Number


class RealisedReward(Part):
    """A stakeholder's reward in use, and what was promised.

    Attributes
    ----------
    stakeholder, attribute, group
        Whose, and in which group; empty for everybody.
    n
        Outcomes; figures are None below the least number for a group.
    promised, realised
        Mean E of the actions taken, and mean reward of what followed.
    difference, low, high
        Realised minus promised, and a confidence sequence of it: the limits of all lines hold together at all times.
    tolerated_low, tolerated_high
        What untouched rows showed the promise to be off by; None if they are too few.
    path
        The same over time.
    """

    stakeholder: str
    attribute: str
    group: str
    n: int
    promised: Number
    realised: Number
    difference: Number
    low: Number
    high: Number
    tolerated_low: Number
    tolerated_high: Number
    path: tuple[RewardPoint, ...]


class ActionShare(Part):
    """How often an action is taken, among decisions that are not left to a person."""

    action: str
    promised: Number
    share: Number
    n: int


class LinesRead(Part):
    """What the log held.

    Attributes
    ----------
    decisions
        Lines that were watched.
    first, last
        Times of the earliest and the latest of them; empty where they are not known.
    out_of_order
        Those with a time before that of the line above.
    repeated
        Lines left out because the same row with the same context and action stood above.
    row_again
        Lines whose row stood above with another context or action: their outcomes cannot be told apart.
    other_runs
        Run to number of lines of it.
    unusable
        Reason to number of lines that were left out.
    """

    decisions: int
    first: str
    last: str
    out_of_order: int
    repeated: int
    row_again: int
    other_runs: dict[str, int]
    unusable: dict[str, int]

    @property
    def days(self) -> str:
        """From when to when decisions were taken; empty where it is not known."""
        first, last = self.first[:10], self.last[:10]
        return first if first == last else f"{first} to {last}"


class OutcomesRead(Part):
    """What the outcomes held.

    Attributes
    ----------
    used
        Outcomes of decisions that were watched.
    overdue
        Earlier decisions than the latest with an outcome that have none yet.
    not_logged
        Of rows that are not among the decisions.
    ambiguous
        Of rows with several decisions.
    repeated, contradicted
        Of rows with an outcome above: the same one, or another. The first counts.
    empty
        Rows without an outcome.
    by_person
        Of decisions that were left to a person: nothing was promised.
    """

    used: int
    overdue: int
    not_logged: int
    ambiguous: int
    repeated: int
    contradicted: int
    empty: int
    by_person: int


@sections.register("monitored")
class Monitored(Section):
    """What watching decisions in use found.

    Attributes
    ----------
    alarm
        Whether any measure reached the alarm line.
    since
        When the change behind the first alarm most likely began; empty without one.
    alpha
        Probability with which there is ever a false alarm, at most.
    lines, outcomes
        What was read, and what was left out.
    actions
        How often each action is taken.
    unusual_share, unusual_promised, referred_share, referred_promised
        Shares of decisions that are unlike the training rows, and that are left to a person; what untouched rows had.
    measures
        Everything that was watched.
    rewards
        Each stakeholder's reward in use.
    remarks
        What a reader must know.
    """

    version: ClassVar[int] = FORMAT
    result: int = FORMAT
    accordant: str
    case: str
    title: str
    run: str
    selected: str
    simulated: bool
    alpha: float
    alarm: bool
    since: str
    sentence: str
    lines: LinesRead
    outcomes: OutcomesRead | None
    actions: tuple[ActionShare, ...]
    unusual_share: Number
    unusual_promised: Number
    referred_share: Number
    referred_promised: Number
    measures: tuple[Measure, ...]
    rewards: tuple[RealisedReward, ...]
    remarks: tuple[str, ...]

    @property
    def words(self) -> str:
        """What it found, in one sentence."""
        return self.sentence

    @property
    def alarms(self) -> tuple[Measure, ...]:
        """Measures with an alarm, the first one first."""
        return alarms_of(self.measures)


def alarms_of(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Return measures with an alarm, the first one first: what came first stays first, whatever follows."""
    alarms = [measure for measure in measures if measure.alarm is not None]
    return tuple(sorted(alarms, key=lambda measure: _moment(measure.alarm)))


def _moment(alarm: Alarm | None) -> tuple[str, int]:
    """Return what alarms are ordered by: their time, or where it is not known the number of the record."""
    assert alarm is not None
    return alarm.time, 0 if alarm.time else alarm.n
