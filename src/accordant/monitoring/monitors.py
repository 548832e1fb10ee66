"""`Monitor`: decisions and outcomes one by one, and at any time what they show."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import numpy as np

from accordant.arrays import Codes, Times, Values
from accordant.contexts import Contexts
from accordant.errors import DataError, InputError, MissingColumnError, UnknownNameError
from accordant.monitoring.result import Monitored, OutcomesRead
from accordant.monitoring.sightings import Sightings, fingerprint
from accordant.monitoring.streams import Streams
from accordant.monitoring.summary import LinesSeen, monitored
from accordant.monitoring.values import DecidedRows, decision_values, outcome_values
from accordant.problem import value_label
from accordant.runs.decision_log import DecisionLine
from accordant.runs.folder import Run

AT_ONCE = 256  # decisions, or outcomes, that are worked on together; no result depends on how they were brought
ALPHA = 0.05
COUNTED = ("used", "by_person", "not_logged", "ambiguous", "repeated", "contradicted", "empty")


@dataclass(frozen=True)
class Outcome:
    """What followed a decision.

    Attributes
    ----------
    row
        Of the decision, as it was logged.
    outcome
        Name of a discrete outcome, or a number; None if only rewards are known.
    rewards
        Stakeholder to an observed reward in [0, 1].
    where
        File and line, for messages.
    """

    row: str | int
    outcome: str | float | None
    rewards: Mapping[str, float] = field(default_factory=dict)
    where: str = "outcome"


@dataclass(frozen=True)
class _Decided:
    """What is kept of a decision until its outcome comes."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]
    action: int
    promised: tuple[float, ...]
    time: str
    number: int


class Monitor:
    """Watches decisions of one run.

    The same decisions and outcomes in the same order give the same result, however they are brought: one by one, in
    parts, or all at once.

    Parameters
    ----------
    run
        From `accordant.runs.read_run`.
    alpha
        Probability with which there is ever a false alarm, at most; in (0, 1).
    awaited
        Rows that may get an outcome, as text; None for all. What is decided about others is not kept.

    Raises
    ------
    InputError
        If α is no such number.
    """

    def __init__(self, run: Run, *, alpha: float = ALPHA, awaited: Container[str] | None = None) -> None:
        self.run, self.alpha, self._awaited = run, alpha, awaited
        self._streams = Streams.of(run, alpha)
        self._seen, self._rows = Sightings(), Sightings()
        self._waiting: dict[int, _Decided | None] = {}
        self._answered: dict[int, int] = {}
        self._column_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._lines = LinesSeen()
        self._outcomes = Counter[str]()
        self._unread: dict[str, None] = {}
        self._by_rule, self._last_answered = 0, -1  # decisions of the rule; the latest with an outcome
        self._decided: list[tuple[_Decided, bool]] = []
        self._followed: list[tuple[_Decided, Outcome]] = []

    def decide(self, line: DecisionLine) -> None:
        """Take in a decision; lines of other runs, repeated and unusable ones are counted and left out."""
        if line.run != self.run.manifest.sha256:
            self._lines.other_runs[line.run] += 1
            return
        row = fingerprint(str(line.row))
        what = fingerprint(line.context, line.action, line.expected_rewards)
        time = f"{line.time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"
        if self._seen.see(fingerprint(row, what, line.time.isoformat())):
            self._lines.repeated += 1
            return
        try:
            decided = self._checked(line, time)
        except InputError as error:
            self._lines.refuse(str(error))
            return
        self._lines.note(time)
        before = self._rows.see(row, what)
        self._lines.row_again += bool(before)
        if before and before != what:
            if row in self._waiting:
                self._waiting[row] = None
        elif not before and (self._awaited is None or str(line.row) in self._awaited):
            self._waiting[row] = decided
        self._decided.append((decided, line.action is None or line.referral))
        if len(self._decided) == AT_ONCE:
            self._take_decisions(self._streams)
            self._decided.clear()

    def observe(self, outcome: Outcome) -> None:
        """Take in what followed a decision that was taken in before.

        Raises
        ------
        InputError
            If the outcome or a reward cannot be used.
        """
        row = fingerprint(str(outcome.row))
        if outcome.outcome is None and not outcome.rewards:
            self._outcomes["empty"] += 1
            return
        self._check(outcome)
        said = fingerprint(outcome.outcome, sorted(outcome.rewards.items()))
        if row in self._answered:
            self._outcomes["repeated" if self._answered[row] == said else "contradicted"] += 1
        elif row not in self._waiting:
            self._outcomes["not_logged"] += 1
        elif (decided := self._waiting[row]) is None:
            self._outcomes["ambiguous"] += 1
        elif decided.action < 0:
            self._outcomes["by_person"] += 1
        else:
            del self._waiting[row]
            self._answered[row] = said
            self._outcomes["used"] += 1
            self._last_answered = max(self._last_answered, decided.number)
            self._followed.append((decided, outcome))
            if len(self._followed) == AT_ONCE:
                self._take_outcomes(self._streams)
                self._followed.clear()

    def result(self) -> Monitored:
        """Return what decisions and outcomes so far show.

        Raises
        ------
        InputError
            If there is no decision of this run yet.
        """
        if not self._lines.decisions:
            raise InputError(self._lines.refusal(self.run))
        streams = copy.deepcopy(self._streams)
        self._take_decisions(streams)
        self._take_outcomes(streams)
        return monitored(self.run, streams, self._lines, self._outcomes_read(), tuple(self._unread))

    def _outcomes_read(self) -> OutcomesRead | None:
        if not self._outcomes:
            return None
        overdue = self._last_answered + 1 - self._outcomes["used"]
        return OutcomesRead(overdue=overdue, **{name: self._outcomes[name] for name in COUNTED})

    def _checked(self, line: DecisionLine, time: str) -> _Decided:
        """Return what counts of a line.

        Raises
        ------
        InputError
            If a feature is missing or no value of its type, or there is no such action, stakeholder or promise.
        """
        policy = self.run.policy
        for name in policy.features_:
            if name not in line.context:
                raise MissingColumnError(name, line.context, "context")
            value = line.context[name]
            if name in policy.profile_.encoder.medians and not _is_number(value):
                raise DataError(f"context: {name} is {value!r:.40}; allowed: a finite number, or null")
        if line.action is None:
            return self._kept(line, -1, (), time)
        if line.action not in policy.problem.actions:
            raise UnknownNameError("action", line.action, policy.problem.actions)
        promised = []
        for name in policy.problem.stakeholder_names:
            value = line.expected_rewards.get(name, {}).get(line.action, math.nan)
            if not 0.0 <= value <= 1.0:
                raise DataError(f"expected_rewards of {name!r}, {line.action!r}: {value}; allowed: a number in [0, 1]")
            promised.append(value)
        return self._kept(line, policy.problem.actions.index(line.action), tuple(promised), time)

    def _kept(self, line: DecisionLine, action: int, promised: tuple[float, ...], time: str) -> _Decided:
        names = tuple(line.context)
        columns = self._column_names.setdefault(names, names)
        number = self._by_rule
        self._by_rule += action >= 0
        return _Decided(columns, tuple(line.context.values()), action, promised, time, number)

    def _check(self, outcome: Outcome) -> None:
        problem, value = self.run.policy.problem, outcome.outcome
        if value is not None and problem.continuous:
            if not _is_number(value):
                raise DataError(f"{outcome.where}: outcome is {value!r:.40}; allowed: a finite number")
            problem.outcome_values([value], lambda _: outcome.where)
        elif value is not None and value_label(value) not in problem.outcome_names:
            unknown = UnknownNameError("outcome", value, problem.outcome_names)
            raise DataError(f"{outcome.where}: {unknown}")
        for name, reward in outcome.rewards.items():
            if name not in problem.stakeholder_names:
                raise UnknownNameError("stakeholder", name, problem.stakeholder_names)
            if not 0.0 <= reward <= 1.0:
                raise DataError(f"{outcome.where}: reward of {name!r} is {reward}; allowed: a number in [0, 1]")

    def _take_decisions(self, streams: Streams) -> None:
        """Let streams take in the decisions that are gathered."""
        if not self._decided:
            return
        batch = [line for line, _ in self._decided]
        actions, referred = np.array([line.action for line in batch]), np.array([flag for _, flag in self._decided])
        streams.decide(decision_values(self.run, self._contexts(batch), actions, referred, _times(batch)))

    def _take_outcomes(self, streams: Streams) -> None:
        """Let streams take in the outcomes that are gathered."""
        if not self._followed:
            return
        batch, outcomes = [line for line, _ in self._followed], [outcome for _, outcome in self._followed]
        known = np.array([outcome.outcome is not None for outcome in outcomes])
        rewards = [
            [outcome.rewards.get(name, math.nan) for outcome in outcomes]
            for name in self.run.policy.problem.stakeholder_names
        ]
        rows = DecidedRows(
            self._contexts(batch), np.array([line.action for line in batch]), _times(batch),
            known, self._codes(outcomes), np.array(rewards),
            np.array([line.promised for line in batch]).T,
        )  # fmt: skip
        values, unread = outcome_values(self.run, streams.layout, rows)
        self._unread.update(dict.fromkeys(unread))
        streams.follow(values)

    def _codes(self, outcomes: Sequence[Outcome]) -> Codes | Values:
        """Return codes or numbers; they do not count where none is known."""
        problem = self.run.policy.problem
        if problem.continuous:
            return np.array([math.nan if outcome.outcome is None else float(outcome.outcome) for outcome in outcomes])
        names = [
            problem.outcome_names[0] if outcome.outcome is None else value_label(outcome.outcome)
            for outcome in outcomes
        ]
        return problem.outcome_codes(names)

    def _contexts(self, batch: Sequence[_Decided]) -> Contexts:
        """Return contexts with the columns that all lines of a batch have."""
        names = [name for name in batch[0].columns if all(name in line.columns for line in batch)]
        rows = [dict(zip(line.columns, line.values, strict=True)) for line in batch]
        columns = {name: [row[name] for row in rows] for name in names}
        return self.run.policy.contexts_of(columns, lambda row: f"decision {batch[row].number} of {batch[row].time}")


def _times(batch: Sequence[_Decided]) -> Times:
    return np.array([line.time.removesuffix("Z") for line in batch], dtype="datetime64[s]")


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number, or missing."""
    return value is None or (isinstance(value, int | float) and math.isfinite(value))
