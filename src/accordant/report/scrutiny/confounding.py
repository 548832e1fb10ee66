"""What hidden reasons behind past decisions could change: comparisons, welfare, and what features would amount to."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.report.page import short
from accordant.report.reading import Line, Reading
from accordant.report.scale import number, percent
from accordant.runs.record.scrutiny import ComparisonSensitivityPart, RuleSensitivityPart

SHOWN_FEATURES = 10  # the strongest ones; the rest is folded away
LARGEST = 100  # odds ratio up to which turning points are looked for


@dataclass(frozen=True)
class ComparedRow:
    """Two rules: who, how often they differ, the difference, its intervals by odds ratio, and what turns it round."""

    other: str
    different: str
    difference: str
    intervals: tuple[str, ...]
    turning_point: str
    turning_point_with_error: str


@dataclass(frozen=True)
class WelfareRow:
    """One rule: its name, its line if the leaderboard has it, and its intervals by odds ratio."""

    name: str
    line: Line | None
    welfare: str
    intervals: tuple[str, ...]


@dataclass(frozen=True)
class Confounding:
    """What the section says.

    Attributes
    ----------
    compared, welfare
        The tables.
    features, more_features
        Column and what leaving it out would amount to: the strongest ones, and the rest.
    """

    strategy: str  # the selected rule; empty if nothing is compared
    sentences: tuple[str, ...]  # the finding in words
    odds_ratios: tuple[str, ...]  # as written in the heads of tables
    compared: tuple[ComparedRow, ...]
    welfare: tuple[WelfareRow, ...]
    features: tuple[tuple[str, str], ...]
    more_features: tuple[tuple[str, str], ...]
    observed: tuple[str, ...]  # stakeholders whose rewards were only observed
    level: str  # of the intervals


def confounding(reading: Reading) -> Confounding | None:
    """Return what the record says about hidden reasons; None if the rewards of all actions are known, or it is old."""
    sensitivity = reading.scrutiny.sensitivity
    if not sensitivity or not sensitivity.rules:
        return None
    features = tuple((feature.column, number(feature.odds_ratio, 2)) for feature in sensitivity.features)
    return Confounding(
        strategy=sensitivity.comparisons[0].strategy if sensitivity.comparisons else "",
        sentences=sensitivity.sentences,
        odds_ratios=tuple(short(interval.odds_ratio) for interval in sensitivity.rules[0].intervals),
        compared=tuple(_compared(comparison) for comparison in sensitivity.comparisons),
        welfare=tuple(sorted((_welfare(reading, rule) for rule in sensitivity.rules), key=_place)),
        features=features[:SHOWN_FEATURES],
        more_features=features[SHOWN_FEATURES:],
        observed=sensitivity.observed,
        level=percent(sensitivity.level),
    )


def _compared(comparison: ComparisonSensitivityPart) -> ComparedRow:
    return ComparedRow(
        "logged decisions" if comparison.against == "logged" else comparison.other,
        percent(comparison.different),
        number(comparison.difference, 3),
        _intervals(comparison),
        _turning(comparison.turning_point),
        _turning(comparison.turning_point_with_error),
    )


def _welfare(reading: Reading, rule: RuleSensitivityPart) -> WelfareRow:
    line = reading.find(rule.strategy)
    return WelfareRow(rule.strategy, line, number(rule.welfare, 3), _intervals(rule))


def _place(row: WelfareRow) -> float:
    """Return where the row stands in every table; rows that the leaderboard does not have come last."""
    return float("inf") if row.line is None else row.line.position


def _intervals(part: ComparisonSensitivityPart | RuleSensitivityPart) -> tuple[str, ...]:
    return tuple(f"[{number(at.lowest, 3)}, {number(at.highest, 3)}]" for at in part.intervals)


def _turning(value: float | None) -> str:
    if value is None:
        return f"above {LARGEST}"
    return "cannot be told" if value == 1 else number(value, 2)
