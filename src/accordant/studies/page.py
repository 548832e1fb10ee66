"""From the result of a study to one HTML file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import yaml
from markupsafe import Markup

from accordant.naming import counted
from accordant.report.charts.curves import MOST_CURVES, Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.charts.panels import GROUP_SHAPES, group_panel
from accordant.report.page import Page
from accordant.report.reading import GOALS, MARKS, Line, Listing
from accordant.report.scale import Cell, interval, linear_scale, number
from accordant.report.tables import MetricTable, in_parts, metric_table, score_cell
from accordant.runs.record import Column, Row
from accordant.statistics import Estimate
from accordant.studies.result import ConditionPart, Difference, StudyResult

COLUMNS = 5  # metrics beside the score that A4 holds


@dataclass(frozen=True)
class ConditionReading(Listing):
    """One condition as lines and metrics."""

    condition: ConditionPart
    metrics: tuple[Column, ...]

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Means of strategies, candidates first, by score; the one that is D* most often is marked."""
        often = next(iter(self.condition.selected), None)
        return tuple(
            _line(row, position, selected=row.strategy == often)
            for position, row in enumerate(self.condition.leaderboard, start=1)
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """Metrics that every strategy of the condition has."""
        rows = self.condition.leaderboard
        return tuple(column for column in self.metrics if all(column.label in row.metrics for row in rows))


@dataclass(frozen=True)
class AxisPanels:
    """Small multiples of one axis: a drawing for the score and each weighted metric, its variants side by side."""

    axis: str
    variants: tuple[str, ...]
    panels: tuple[tuple[str, str, Markup], ...]  # metric, what its goal means, drawing


def render_study(result: StudyResult) -> str:
    """Return the page; nothing but the result is read, so the same result gives the same bytes."""
    readings = [ConditionReading(condition, result.metrics) for condition in result.conditions if condition.runs]
    return PAGE.render(
        "study.html",
        result=result,
        done=sum(cell.finished for cell in result.cells),
        seeds=result.study["seeds"],
        conditions=[(condition, _against(result, condition)) for condition in result.conditions],
        compared=len(result.against_baseline),
        more=[difference for difference in result.against_baseline if not _is_main(difference)],
        baselines=_baselines(result),
        sizes=_sizes(result),
        axes=_axes(result),
        boards=[(reading, _tables(reading)) for reading in readings],
        families=[
            family for family in MARKS if any(line.family == family for reading in readings for line in reading.lines)
        ],
        groups=_groups(result),
        declaration=yaml.safe_dump(result.study, sort_keys=False, allow_unicode=True, width=100),
        command=shlex.join(["accordant", "study", result.study["name"]]),
    )


def estimate_cell(estimate: Estimate, digits: int = 3) -> Cell:
    """Return an estimate as a cell; the reason where there is no interval."""
    details = (estimate.reason,) if estimate.reason else ()
    return Cell(number(estimate.value, digits), interval(estimate.low, estimate.high, digits), details)


def often(selected: Mapping[str, int], runs: int) -> list[str]:
    """Return in words how often each strategy is D*."""
    return [f"{name}: {times} of {runs}" for name, times in selected.items()]


def _line(row: Row, position: int, *, selected: bool) -> Line:
    constant = row.strategy.startswith("constant:")
    family = "constant" if constant else row.kind if row.kind in MARKS else "other"
    return Line(
        row.strategy, row.kind, family if row.candidate else "outside", row.candidate, selected, "", position, row
    )


def _is_main(difference: Difference) -> bool:
    return (difference.strategy, difference.metric) == ("selected", "score")


def _against(result: StudyResult, condition: ConditionPart) -> Difference | None:
    """Return how the score of D* differs from the baseline condition; None if that is not compared."""
    differences = (
        difference
        for difference in result.against_baseline
        if difference.condition == condition.label and _is_main(difference)
    )
    return next(differences, None)


def _baselines(result: StudyResult) -> tuple[list[str], list[tuple[str, list[Difference | None]]]]:
    """Return names of baselines, and for every condition how D* differs from each."""
    names = list(dict.fromkeys(difference.other for difference in result.against_strategies))
    by_pair = {(difference.condition, difference.other): difference for difference in result.against_strategies}
    rows = [
        (condition.label, [by_pair.get((condition.label, name)) for name in names])
        for condition in result.conditions
        if condition.runs
    ]
    return names, rows


def _tables(reading: ConditionReading) -> list[MetricTable]:
    """Return strategies × metrics with weight, then the others."""
    weighted = reading.weighted
    rest = [column for column in reading.columns if column.weight == 0]
    return [metric_table(reading, part) for part in (*in_parts(weighted, COLUMNS), *in_parts(rest, COLUMNS + 1))]


def _sizes(result: StudyResult) -> Markup | None:
    """Return curves of the score over training rows, other axes as in the baseline; None with one size."""
    place = result.baseline.variants
    alike = [
        condition for condition in result.conditions if condition.variants == place and condition.train is not None
    ]
    alike.sort(key=lambda condition: condition.train or 0.0)
    if len({condition.train for condition in alike}) < 2:
        return None
    best = [row.strategy for row in alike[-1].leaderboard if row.candidate][: MOST_CURVES - 1]
    curves = [Curve("D* of each run", _points([(condition.train, condition.score.value) for condition in alike]))]
    for name in best:
        rows = {condition.label: row for condition in alike for row in condition.leaderboard if row.strategy == name}
        curves.append(Curve(name, _points([(condition.train, rows[condition.label].score.value) for condition in alike
                                           if condition.label in rows])))  # fmt: skip
    curves = [curve for curve in curves if curve.points]
    if not curves:
        return None
    across = linear_scale([condition.train or 0.0 for condition in alike], *plot_width(), wanted=3)
    up = linear_scale([y for curve in curves for _, y in curve.points], *plot_height())
    axes = Axes(across, up, ("training rows →", "mean composite score"))
    return curve_chart("sizes-chart", "Mean composite score by training rows", curves, axes)


def _points(pairs: Sequence[tuple[float | None, float | None]]) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in pairs if x is not None and y is not None)


def _axes(result: StudyResult) -> list[AxisPanels]:
    """Return small multiples of every axis with variants, sizes and other axes as in the baseline."""
    base, panels = result.baseline, []
    for axis in base.variants:
        rest = {name: variant for name, variant in base.variants.items() if name != axis}
        alike = [
            condition for condition in result.conditions
            if condition.rows == base.rows and condition.runs and rest.items() <= condition.variants.items()
        ]  # fmt: skip
        if 1 < len(alike) <= len(GROUP_SHAPES) and base.runs:
            panels.append(_axis_panels(result, axis, alike))
    return panels


def _axis_panels(result: StudyResult, axis: str, alike: Sequence[ConditionPart]) -> AxisPanels:
    variants = tuple(condition.variants[axis] for condition in alike)
    lines = ConditionReading(result.baseline, result.metrics).lines
    panels = []
    wanted = [("composite score", None), *((column.label, column) for column in result.metrics if column.weight > 0)]
    for number_, (label, column) in enumerate(wanted):
        values = {
            line.name: {
                name: _mean(condition, line.name, column) for name, condition in zip(variants, alike, strict=True)
            }
            for line in lines
        }
        span = [mean for row in values.values() for mean in row.values() if mean is not None]
        drawn = group_panel(f"{axis}-{number_}", f"{label} by {axis}", lines, values, variants, span)
        panels.append((label, GOALS["max" if column is None else column.goal], drawn))
    return AxisPanels(axis, variants, tuple(panels))


def _mean(condition: ConditionPart, strategy: str, column: Column | None) -> float | None:
    row = next((row for row in condition.leaderboard if row.strategy == strategy), None)
    if row is None:
        return None
    if column is None:
        return row.score.value
    return row.metrics[column.label].value if column.label in row.metrics else None


def _groups(result: StudyResult) -> tuple[list[str], list[tuple[str, str, str, Cell, list[Cell]]]]:
    """Return stakeholders, and for every condition and group what it gets under D*."""
    names = list(dict.fromkeys(name for share in result.groups for name in share.rewards))
    empty = Estimate(None)
    return names, [
        (share.condition, " × ".join(share.attributes), share.group, estimate_cell(share.favourable),
         [estimate_cell(share.rewards.get(name, empty)) for name in names])
        for share in result.groups
    ]  # fmt: skip


PAGE = Page(
    package="accordant.studies",
    sheet="",
    filters={"estimate_cell": estimate_cell, "score_cell": score_cell, "often": often, "counted": counted},
    names={"GOALS": GOALS, "MARKS": MARKS, "GROUP_SHAPES": GROUP_SHAPES},
)
