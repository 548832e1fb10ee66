"""Reading a record: which lines and metrics there are, in which order, and how each is marked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from accordant.cases.preference_sources import GUESSED
from accordant.problem import Stakeholder
from accordant.report.labels import readable, readable_names, shortened, with_names
from accordant.report.scale import percent
from accordant.runs.record import Board, Column, Record, Row
from accordant.runs.record.scrutiny import ScrutinyPart

Json = dict[str, Any]

# kind of line → (mark in tables and charts, words for the legend)
MARKS = {
    "compromise": ("circle", "compromise strategy"),
    "voting": ("hexagon", "voting rule"),
    "stakeholder": ("diamond", "one stakeholder decides alone"),
    "baseline": ("square", "baseline"),
    "constant": ("open-square", "constant: the same action for everybody"),
    "outside": ("cross", "reference line outside the candidate set"),
    "other": ("triangle", "other candidate"),
}
GOALS = {"max": "more is better", "min": "less is better", "zero": "nearer to zero is better"}
EQUAL = 1e-12  # values closer than this are the same number


@dataclass(frozen=True)
class Line:
    """One strategy of the test leaderboard, with what a reader needs to recognise it.

    Attributes
    ----------
    name, kind
        As in the record; the kind of a constant action says so.
    candidate, selected
        Whether it may win; whether cross-validation selected it.
    """

    name: str
    kind: str
    family: str  # key of `MARKS`
    candidate: bool
    selected: bool
    note: str  # what the strategy says about itself
    position: int  # 1 for the first line of the report; the same in every table and chart
    row: Row  # its row in the record

    @property
    def mark(self) -> str:
        """Shape that stands for the line."""
        return MARKS[self.family][0]

    def value(self, label: str) -> float | None:
        """Return the raw score on a metric."""
        return self.row.metrics[label].value


class Listing(ABC):
    """Lines and metrics in their order, whatever they were read from."""

    @property
    @abstractmethod
    def lines(self) -> Sequence[Line]:
        """Those that may win first."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """All metrics."""

    @property
    def candidates(self) -> tuple[Line, ...]:
        """Lines that may win."""
        return tuple(line for line in self.lines if line.candidate)

    @property
    def outside(self) -> tuple[Line, ...]:
        """Lines that neither win nor influence a score."""
        return tuple(line for line in self.lines if not line.candidate)

    @property
    def weighted(self) -> list[Column]:
        """Metrics that enter the composite score, in declared order."""
        return [column for column in self.columns if column.weight > 0]

    def find(self, name: str | None) -> Line | None:
        """Return the line of a strategy; None if it is not listed."""
        return next((line for line in self.lines if line.name == name), None)


@dataclass(frozen=True)
class Reading(Listing):
    """A record and the questions that several sections ask of it.

    Attributes
    ----------
    record
        What is read.
    labels
        Name to label of strategies and of what the case declares, where the record says another name than the label.
    """

    record: Record
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return the reading of the object of a ``run.json``."""
        return cls(Record.read(content))

    @classmethod
    def named(cls, record: Record) -> Self:
        """Return the reading of a record that speaks by names in words."""
        names = readable_names(record)
        return cls(with_names(record, names), {name: label for label, name in names.items()})

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Candidates in order of their test score, then the lines outside the candidate set."""
        rows = sorted(self.record.test.leaderboard, key=lambda row: not row.candidate)
        return tuple(self._line(row, position) for position, row in enumerate(rows, start=1))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All metrics."""
        return self.record.test.metrics

    @property
    def selected(self) -> Line | None:
        """The line of D*; None if it is not listed."""
        return self.find(self.record.selected)

    @cached_property
    def shown(self) -> tuple[Line, ...]:
        """Lines without those that decide as another candidate does; the selected one always."""
        return tuple(line for line in self.lines if line.selected or not self._stands_for(line))

    def alike(self, line: Line) -> tuple[Line, ...]:
        """Return the lines that decide as one does and stand behind it."""
        return tuple(other for other in self.lines if other not in self.shown and self._stands_for(other) == line)

    def registered(self, name: str) -> Line | None:
        """Return the first line whose rule is registered under a name."""
        parts = self.record.strategies
        return next((line for line in self.lines if line.name in parts and parts[line.name].name == name), None)

    def label(self, name: str) -> str:
        """Return the label of a strategy or a metric, by which commands know it."""
        return self.labels.get(name, name)

    @property
    def scrutiny(self) -> ScrutinyPart:
        """What `accordant.runs.scrutiny` found; only for records that have it."""
        assert self.record.scrutiny is not None
        return self.record.scrutiny

    @property
    def level(self) -> str:
        """Confidence level of every interval."""
        return percent(self.record.test.level)

    @property
    def stakeholders(self) -> tuple[Stakeholder, ...]:
        """Stakeholders as declared."""
        return self.record.case.problem.stakeholders

    @property
    def guessed(self) -> list[str]:
        """Stakeholders whose rewards nobody stated."""
        return [name for name, source in self.record.reward_sources.items() if source.kind == GUESSED]

    @property
    def families(self) -> list[str]:
        """Kinds of lines that occur, in the order of `MARKS`."""
        return [family for family in MARKS if any(line.family == family for line in self.lines)]

    def group_name(self, attributes: Sequence[str], label: str) -> str:
        """Return a group in words: the declared label of each value, with the value."""
        declared = {attribute.name: attribute.labels for attribute in self.record.case.problem.sensitive_attributes}
        values = label.split(" × ") if len(attributes) > 1 else [label]
        if len(values) != len(attributes):
            return label
        words = [declared.get(name, {}).get(value, "") for name, value in zip(attributes, values, strict=True)]
        return " × ".join(f"{word} ({value})" if word else value for word, value in zip(words, values, strict=True))

    def _stands_for(self, line: Line) -> Line | None:
        """Return the candidate as which a line decides; None if it stands for itself."""
        return self.find(line.row.alike) if line.row.alike else None

    def _line(self, row: Row, position: int) -> Line:
        about = self.record.strategies.get(row.strategy)
        constant = about is not None and about.name == "constant"
        return Line(
            row.strategy, f"{row.kind}, constant" if constant else row.kind, family_of(row, constant=constant),
            row.candidate, row.strategy == self.record.selected, "" if about is None else about.note, position, row,
        )  # fmt: skip


@dataclass(frozen=True)
class BoardListing(Listing):
    """A leaderboard as lines with marks and names in words.

    Attributes
    ----------
    board
        As records hold it.
    selected
        Label of D*; None if it is not known.
    """

    board: Board
    selected: str | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """Candidates by score, then lines outside the candidate set."""
        rows = sorted(self.board.leaderboard, key=lambda row: not row.candidate)
        lines = []
        for position, row in enumerate(rows, 1):
            constant = row.strategy.startswith("constant:")
            alike = row.alike and shortened(readable(row.alike))
            lines.append(Line(
                readable(shortened(row.strategy)), f"{row.kind}, constant" if constant else row.kind,
                family_of(row, constant=constant), row.candidate, row.strategy == self.selected, "", position,
                row.model_copy(update={"alike": alike}),
            ))  # fmt: skip
        return tuple(lines)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All metrics, those with the largest weights first."""
        return tuple(sorted(self.board.metrics, key=lambda column: -column.weight))


def family_of(row: Row, *, constant: bool) -> str:
    """Return the key of `MARKS` for a row of a leaderboard."""
    if not row.candidate:
        return "outside"
    return "constant" if constant else row.kind if row.kind in MARKS else "other"


def oriented(goal: str, value: float) -> float:
    """Return a raw score turned so that more is better."""
    return {"max": value, "min": -value, "zero": -abs(value)}[goal]
