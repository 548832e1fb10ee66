"""What the page says of each method: its number, its mark, and numbers as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from accordant.preferences.comparison.conclusions import share, signed
from accordant.preferences.result import (
    DifferenceResult,
    GroupChangeResult,
    LearnerComparison,
    MethodResult,
    MetricResult,
    ParetoResult,
)
from accordant.report.labels import SPECIAL, in_words, readable
from accordant.report.scale import Cell, interval, number, percent

POOLED = "pooled"
PART = re.compile(r"\w+(?:\[[^\]]*\])?")  # of the label of a method: its name with parameters, or that of a control
MARKS = {
    "pooled": ("square", "the pooled reward, which every row is compared with"),
    "control": ("open-circle", "control"),
    "method": ("circle", "method"),
    "looked_at": ("star", "the method that is looked at closely"),
}
MOST_GROUPS = 4  # groups with a column of their own in the first table; all stand in the table of groups
COLUMNS = {
    "accuracy": ("accuracy", "more is better"),
    "log_loss": ("log-loss", "less is better"),
    "worst_10": ("worst 10% of users", "mean accuracy, more is better"),
    "min": ("worst user", "accuracy, more is better"),
    "gap": ("gap between groups", "less is better"),
    "gini": ("Gini", "less is better"),
    "jain": ("Jain", "more is better"),
    "theil": ("Theil", "less is better"),
    "atkinson": ("Atkinson", "ε = 0.5, less is better"),
    "std": ("spread over users", "standard deviation, less is better"),
    "corrected_std": ("spread beyond chance", "standard deviation, less is better"),
    "support_correlation": ("correlation with support", "nearer to zero is better"),
    "support_rank_correlation": ("rank correlation with support", "nearer to zero is better"),
    "support_slope": ("slope on support", "nearer to zero is better"),
}
FIRST = ("worst_10", "gap", "corrected_std", "support_slope", "log_loss")
REST = ("min", "gini", "jain", "theil", "atkinson", "std", "support_correlation", "support_rank_correlation")


@dataclass(frozen=True)
class Row:
    """A method as the page names it.

    Attributes
    ----------
    label
        Its name.
    position
        Number in the table and in the drawing, from 1.
    role
        Key of `MARKS`.
    content
        What is known of it.
    """

    label: str
    position: int
    role: str
    content: MethodResult

    @property
    def mark(self) -> str:
        """Shape that stands for it."""
        return MARKS[self.role][0]

    @property
    def kind(self) -> str:
        """What it is, in a few words."""
        if self.content.control_of:
            return f"control of {self.content.control_of}"
        if self.role == "pooled":
            return "control: one reward for everybody"
        return "control" if self.content.control else "method"

    def metric(self, name: str) -> MetricResult:
        """Return a metric with its interval."""
        return self.content.metrics[name]

    def value(self, name: str) -> float:
        """Return the value of a metric that is defined."""
        value = self.metric(name).value
        assert value is not None
        return value


@dataclass(frozen=True)
class ComparisonReading:
    """A comparison and the questions that several sections ask of it."""

    content: LearnerComparison

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The pooled reward, other controls, methods; controls of a method stand behind it."""
        looked_at = self.content.answer.looked_at

        def role(row: MethodResult) -> str:
            """Return the key of `MARKS`."""
            if row.method == POOLED:
                return "pooled"
            if row.method == looked_at:
                return "looked_at"
            return "control" if row.control else "method"

        rows = self.content.methods
        return tuple(Row(row.method, place, role(row), row) for place, row in enumerate(rows, 1))

    @property
    def pooled(self) -> Row:
        """The row that others are compared with."""
        return self.rows[0]

    @property
    def looked_at(self) -> Row | None:
        """The method that pictures show beside the pooled reward; None if there are controls alone."""
        return next((row for row in self.rows if row.role == "looked_at"), None)

    @property
    def groups(self) -> list[str]:
        """Names of the groups, the largest first."""
        return list(self.content.groups.sizes)

    @property
    def over_users(self) -> bool:
        """Whether numbers are about users, not about the records of a single one."""
        return bool(self.content.intervals.over == "users")

    @property
    def level(self) -> str:
        """Coverage of intervals."""
        return percent(self.content.intervals.level)

    @property
    def shown_groups(self) -> list[str]:
        """Groups with a column of their own: all, or the majority and the minority of many."""
        if len(self.groups) == 1:
            return []
        if len(self.groups) <= MOST_GROUPS:
            return self.groups
        return [self.content.groups.majority, self.content.groups.minority]

    @property
    def first_columns(self) -> list[str]:
        """Metrics of the first table."""
        names = ["accuracy", *(f"accuracy[{name}]" for name in self.shown_groups), *FIRST]
        return [name for name in names if self._defined(name)]

    @property
    def more_columns(self) -> list[str]:
        """Metrics of the second table: the others, and accuracy in groups without a column."""
        names = [*(f"accuracy[{name}]" for name in self.groups if name not in self.shown_groups), *REST]
        return [name for name in names if self._defined(name)]

    def _defined(self, name: str) -> bool:
        return any(row.metric(name).value is not None for row in self.rows)


def heading(name: str) -> tuple[str, str]:
    """Return a metric in words, and what is better."""
    if name.startswith("accuracy["):
        return f"accuracy of {name[9:-1]}", "more is better"
    return COLUMNS[name]


def cell(metric: MetricResult) -> Cell:
    """Return a number with its interval as text."""
    if metric.value is None:
        return Cell("–")
    return Cell(number(metric.value), interval(metric.low, metric.high))


def change(found: DifferenceResult | GroupChangeResult | None) -> Cell:
    """Return a difference with its sign and its interval as text."""
    if found is None:
        return Cell("–")
    value, low, high = found.difference if isinstance(found, GroupChangeResult) else found.value, found.low, found.high
    if value is None:
        return Cell("–")
    return Cell(signed(value), "" if low is None or high is None else f"[{signed(low)}, {signed(high)}]")


def verdicts(rows: Sequence[Row]) -> dict[str, str]:
    """Return the verdict of each row against the pooled reward; a dash where there is none."""
    return {row.label: row.content.pareto.verdict if row.content.pareto else "–" for row in rows}


def power_of(test: ParetoResult) -> str:
    """Return in how many samples the verdict would show a gain; a dash where there was no gain."""
    chance = test.power.probability
    return "–" if chance is None else share(chance)


def names_in_words(content: LearnerComparison) -> dict[str, str]:
    """Return label to name in words, of methods with their controls and parameters, and of groups."""
    labels = [row.method for row in content.methods] + [skip.method for skip in content.skipped]
    parts = {part for label in labels for part in PART.findall(label) if SPECIAL.search(part)}
    return in_words(content.groups.sizes) | {part: readable(part) for part in parts}
