"""From what was seen to the result: figures, the answer in one sentence, and what a reader must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from accordant import __version__
from accordant.monitoring.result import (
    ActionShare,
    LinesRead,
    Measure,
    Monitored,
    OutcomesRead,
    RealisedReward,
    alarms_of,
)
from accordant.monitoring.streams import RewardStream, Streams, Whose
from accordant.monitoring.watch import Watch
from accordant.naming import counted
from accordant.runs.folder import Run
from accordant.runs.record.promise import LEAST_GROUP

MOST_REASONS = 10  # why lines cannot be used, told apart; what comes after is counted together
FURTHER = "other reasons"


@dataclass(eq=False)
class LinesSeen:
    """What the log held, counted while it is read; see `accordant.monitoring.result.LinesRead`."""

    decisions: int = 0
    first: str = ""
    last: str = ""
    out_of_order: int = 0
    repeated: int = 0
    row_again: int = 0
    other_runs: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    above: str = ""

    def note(self, time: str) -> None:
        """Count a decision."""
        self.decisions += 1
        self.first, self.last = min(self.first or time, time), max(self.last, time)
        self.out_of_order += time < self.above
        self.above = time

    def refuse(self, reason: str) -> None:
        """Count a line that cannot be used."""
        known = reason in self.unusable or len(self.unusable) < MOST_REASONS
        self.unusable[reason if known else FURTHER] += 1

    def refusal(self, run: Run) -> str:
        """Return why there is nothing to say."""
        if self.unusable:
            reason, n = self.unusable.most_common(1)[0]
            return f"no line of the log can be used; {n} of them: {reason}"
        others = ", ".join(self.other_runs) or "no line at all"
        return (
            f"the log holds no decision of {run.path}, whose manifest has the sha256 {run.manifest.sha256}; "
            f"found: {others}"
        )

    def read(self) -> LinesRead:
        """Return the counts."""
        names = ("decisions", "first", "last", "out_of_order", "repeated", "row_again")
        counts = {name: getattr(self, name) for name in names}
        return LinesRead(**counts, other_runs=dict(self.other_runs), unusable=dict(self.unusable))


def monitored(
    run: Run, streams: Streams, lines: LinesSeen, outcomes: OutcomesRead | None, unread: Sequence[str]
) -> Monitored:
    """Return what was seen as a result; `unread`: remarks on what outcomes could not be compared with."""
    measures = tuple(measure(watch) for watch in streams.watches)
    alarms = alarms_of(measures)
    part, n = run.record.unusual, streams.counts["decisions"]
    rewards = () if outcomes is None else tuple(_reward(*pair) for pair in streams.rewards.items())
    return Monitored(
        accordant=__version__,
        case=run.record.case.name,
        title=run.record.case.title,
        run=run.manifest.sha256,
        selected=run.policy.selected_,
        simulated=run.record.data.simulated,
        alpha=streams.alpha,
        alarm=bool(alarms),
        since=alarms[0].alarm.since if alarms and alarms[0].alarm else "",
        sentence=_sentence(alarms, measures, n, streams.counts["outcomes"]),
        lines=lines.read(),
        outcomes=outcomes,
        actions=tuple(_actions(run, streams)),
        unusual_share=streams.counts["unusual"] / n,
        unusual_promised=None if part is None else part.unusual / part.rows,
        referred_share=streams.counts["referred"] / n,
        referred_promised=None if part is None else part.referred / part.rows,
        measures=measures,
        rewards=rewards,
        remarks=(*_unkept(rewards, alarms), *_remarks(run, streams, lines, outcomes), *unread),
    )


def measure(watch: Watch) -> Measure:
    """Return a stream as a part of the result."""
    names = ("family", "name", "part", "attribute", "group", "n", "reference", "share", "alarm")
    return Measure(
        **{name: getattr(watch, name) for name in names}, highest=round(watch.highest, 4),
        latest=round(watch.latest, 4), path=tuple(watch.path),
    )  # fmt: skip


def _sentence(alarms: Sequence[Measure], measures: Sequence[Measure], decisions: int, outcomes: int) -> str:
    """Return the answer in one sentence."""
    seen = f"{decisions:,} decisions" + (f" and {outcomes:,} outcomes" if outcomes else "")
    if not alarms:
        return f"No alarm in {seen}: none of {len(measures)} measures shows a change."
    first = alarms[0]
    assert first.alarm is not None
    return (
        f"{len(alarms)} of {len(measures)} measures changed in {seen}; the first alarm is on {first.label}: "
        f"{first.alarm.words} since about {first.alarm.since_day}."
    )


def _actions(run: Run, streams: Streams) -> Iterator[ActionShare]:
    """Yield how often each action is taken, and was on untouched rows."""
    promise, total = run.record.promise, sum(streams.taken.values())
    counts = {} if promise is None else promise.actions
    before = sum(counts.values())
    for name in streams.actions:
        taken = streams.taken[name]
        yield ActionShare(
            action=name, promised=counts[name] / before if before else None, share=taken / total if total else None,
            n=taken,
        )  # fmt: skip


def _reward(whose: Whose, stream: RewardStream) -> RealisedReward:
    """Return what a stakeholder got and was promised; no figures of a group that is too small."""
    name, attribute, group = whose
    n, (low, high) = stream.mean.n, stream.tolerated or (None, None)
    told = n > 0 and (not group or n >= LEAST_GROUP)
    point = stream.point()
    return RealisedReward(
        stakeholder=name, attribute=attribute, group=group, n=n,
        promised=stream.promised / n if told else None, realised=stream.realised / n if told else None,
        difference=point.difference if told else None, low=point.low if told else None,
        high=point.high if told else None, tolerated_low=low, tolerated_high=high,
        path=tuple(step for step in stream.path if not group or step.n >= LEAST_GROUP),
    )  # fmt: skip


def _unkept(rewards: Sequence[RealisedReward], alarms: Sequence[Measure]) -> Iterator[str]:
    """Yield promises that are shown not to be kept, where untouched rows leave open whether they ever were right."""
    alarmed = {alarm.name for alarm in alarms if alarm.family == "rewards"}
    for reward in rewards:
        if reward.group or reward.stakeholder in alarmed or reward.low is None or reward.high is None:
            continue
        if reward.low <= 0 <= reward.high:
            continue
        how, ends = "less" if reward.high < 0 else "more", sorted((abs(reward.low), abs(reward.high)))
        yield (
            f"{reward.stakeholder} gets {how} than E promised, by {ends[0]:.3f} to {ends[1]:.3f}. It need not be a "
            "change: on the untouched rows of the run promises may have been off by as much."
        )


def _remarks(run: Run, streams: Streams, lines: LinesSeen, outcomes: OutcomesRead | None) -> Iterator[str]:
    """Yield what a reader must know of these figures."""
    if run.record.promise is None:
        yield "The run does not tell what untouched rows promise: decisions and outcomes are compared with nothing."
    if lines.other_runs:
        n, runs = sum(lines.other_runs.values()), len(lines.other_runs)
        yield f"{counted(n, 'line')} of {counted(runs, 'other run')} left out: each version is watched by itself."
    for reason, n in lines.unusable.items():
        yield f"{counted(n, 'line')} left out that cannot be used: {reason}."
    if lines.repeated:
        yield f"{counted(lines.repeated, 'line')} left out as a repetition of one above."
    if lines.row_again:
        yield (
            f"{counted(lines.row_again, 'decision')} of rows that were decided before. If these are the same people, "
            "evidence is overstated; if numbers begin anew in every file, outcomes cannot be told apart: log an "
            "identifier (recommend --id)."
        )
    if lines.out_of_order:
        yield f"{counted(lines.out_of_order, 'line')} earlier than the one above: the order of the log counts."
    rule = run.policy.strategies_[run.policy.selected_]
    if rule.whole_batch:
        yield (
            f"{run.policy.selected_} looks at all rows of a file together, so its decisions are not independent: "
            "evidence on actions is a hint, not a test."
        )
    if run.record.data.group is not None:
        yield "Rows come in groups: evidence holds if each person is decided about once, and is overstated otherwise."
    yield from _outcome_remarks(streams, outcomes)


def _outcome_remarks(streams: Streams, outcomes: OutcomesRead | None) -> Iterator[str]:
    """Yield what a reader must know of outcomes."""
    if outcomes is None:
        yield "Without outcomes nobody knows whether promises are kept: calibration and rewards are not watched."
        return
    words = {
        "not_logged": "of rows that are not among these decisions",
        "ambiguous": "of rows with several decisions, so nobody knows which one they followed",
        "repeated": "repeated, and counted once",
        "contradicted": "unlike the one above for the same row; the first counts",
        "by_person": "after decisions that were left to a person, for which nothing was promised",
        "empty": "not filled in",
    }
    for name, what in words.items():
        if n := getattr(outcomes, name):
            yield f"{counted(n, 'outcome')} {what}."
    if outcomes.overdue:
        yield (
            f"Up to the latest decision with an outcome {outcomes.overdue:,} have none and {outcomes.used:,} have one. "
            "If bad outcomes are known sooner than good ones, figures are too bad: report outcomes when they are due."
        )
    if n := streams.counts["other_promises"]:
        yield f"{n:,} logged promises are not what this run expects of their contexts: the log or a model was changed."
