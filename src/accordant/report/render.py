"""From a record to one HTML file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from accordant.report.charts.bars import meter
from accordant.report.charts.panels import GROUP_SHAPES, group_panel, metric_panel, score_axis, score_scale, score_strip
from accordant.report.charts.pareto import pareto_chart
from accordant.report.distribution import Grouping, groupings, rates_behind_metrics, rewards_by_stakeholder
from accordant.report.exploration import exploration
from accordant.report.headlines import headlines
from accordant.report.overview import overview
from accordant.report.page import Page
from accordant.report.reading import GOALS, MARKS, Reading
from accordant.report.rules import about, rules
from accordant.report.scrutiny import findings
from accordant.report.scrutiny.deciders import VARIATIONS
from accordant.report.scrutiny.trust import QUANTILES
from accordant.report.section_parts import added_sections
from accordant.report.standings import compare, standings
from accordant.report.summary import answer, checks
from accordant.report.tables import (
    fixed_models,
    in_parts,
    metric_decimals,
    metric_table,
    reward_errors,
    score_cell,
    searches,
    stand_ins,
)
from accordant.runs.chain import Link
from accordant.runs.record import Column, Record

FIRST_COLUMNS, MORE_COLUMNS = 5, 6  # metrics beside the composite score, and per further table: what A4 holds


def render(record: Record, added: Sequence[Link] = ()) -> str:
    """Return the report of a run as one HTML document.

    Parameters
    ----------
    record
        Of a run made just now, or read from its folder. Nothing else is read, so the same record gives the same bytes.
    added
        Sections that were added to the run since.
    """
    reading = Reading.named(record)
    record, names = reading.record, {label: name for name, label in reading.labels.items()}
    sections = added_sections(added, names)
    weighted = sorted(reading.weighted, key=lambda column: -column.weight)
    told, looked_at, judged = answer(reading), findings(reading), checks(reading)
    dominance, groups = standings(reading, weighted), groupings(reading)
    first = overview(reading, told, looked_at, judged, frozenset(section.chapter for section in sections))
    return PAGE.render(
        "report.html",
        reading=reading,
        exploration=exploration(reading, first.comparison, groups),
        record=record,
        case=record.case,
        answer=told,
        overview=first,
        says=headlines(reading, told, looked_at, judged, dominance, groups),
        rules=rules(reading),
        score_scale=score_scale(line.row.score for line in reading.candidates or reading.lines),
        score_tables=_score_tables(reading, weighted),
        all_tables=_all_tables(reading),
        panels=_metric_panels(reading, weighted),
        pareto=_pareto(reading, weighted),
        standings=dominance,
        rewards=rewards_by_stakeholder(reading),
        rates=rates_behind_metrics(reading),
        groupings=[(grouping, _group_panels(reading, grouping, i)) for i, grouping in enumerate(groups, 1)],
        errors=reward_errors(reading),
        searches=searches(reading),
        stand_ins=stand_ins(reading),
        fixed_models=fixed_models(reading),
        validation={row.strategy: row for row in record.validation.leaderboard},
        places=compare(reading),
        unselectable=_unselectable(record),
        checks=judged,
        scrutiny=looked_at,
        given=[name for name, source in record.reward_sources.items() if source.given],
        command=_command(reading),
        added=sections,
        more_style="\n".join(dict.fromkeys(section.style for section in sections if section.style)),
    )  # fmt: skip


def _score_tables(reading: Reading, weighted: list[Column]) -> list[Any]:
    parts = [weighted[:FIRST_COLUMNS], *in_parts(weighted[FIRST_COLUMNS:], MORE_COLUMNS)]
    return [metric_table(reading, part) for part in parts]


def _all_tables(reading: Reading) -> list[Any]:
    return [metric_table(reading, part, detailed=True) for part in in_parts(reading.columns, MORE_COLUMNS)]


def _metric_panels(reading: Reading, weighted: list[Column]) -> list[tuple[Column, Markup]]:
    return [
        (column, metric_panel(f"trade-off-{index}", reading.shown, column, metric_decimals(reading, column.label)))
        for index, column in enumerate(weighted, 1)
    ]


def _pareto(reading: Reading, weighted: list[Column]) -> dict[str, Any] | None:
    """Return the chart of the two metrics with the largest weights; None if only one has weight."""
    if len(weighted) < 2:
        return None
    pair = (weighted[0], weighted[1])
    standing = standings(reading, pair)
    more = sum(column.weight >= pair[1].weight for column in weighted) > 2
    return {
        "columns": pair,
        "chart": pareto_chart("pareto-chart", standing, pair),
        "standings": standing,
        "more_equal": more,
    }


def _group_panels(reading: Reading, grouping: Grouping, index: int) -> list[tuple[str, Markup]]:
    """Return a panel for the favourable share and for each stakeholder; none if there are too many groups."""
    if len(grouping.names) > len(GROUP_SHAPES):
        return []
    lines = [line for line in reading.shown if line.name in grouping.rows]
    shares, panels = grouping.values(None), []
    if any(value is not None for row in shares.values() for value in row.values()):
        title = "Share of favourable actions"
        panels.append((title, group_panel(f"groups-{index}-0", title, lines, shares, grouping.names, (0.0, 1.0))))
    names = [stakeholder.name for stakeholder in reading.stakeholders]
    rewards = {name: grouping.values(name) for name in names}
    span = [value for rows in rewards.values() for row in rows.values() for value in row.values() if value is not None]
    for position, name in enumerate(names, 1):
        title = f"Mean reward of {name}"
        panels.append(
            (title, group_panel(f"groups-{index}-{position}", title, lines, rewards[name], grouping.names, span))
        )
    return panels


def _unselectable(record: Record) -> list[str]:
    """Return candidates that are compared but never selected."""
    strategies = record.strategies.items()
    return [name for name, about in strategies if about.candidate and not about.selectable]


def _command(reading: Reading) -> str:
    record = reading.record
    sources = {
        reading.label(record.declared_name(name)): source
        for name, source in record.reward_sources.items()
        if source.given
    }
    given = [f"{name}={source.learned_from}" for name, source in sources.items()]
    flags = [part for pair in given for part in ("--preferences", pair)]
    parts = ["accordant", "run", record.case.name, *flags, "--seed", str(record.seed)]
    return shlex.join(parts) + ("" if record.data.simulated else " --data PATH")


PAGE = Page(
    "accordant.report", "",
    filters={"score": score_cell},
    names={
        "MARKS": MARKS, "GOALS": GOALS, "GROUP_SHAPES": GROUP_SHAPES, "score_axis": score_axis,
        "score_strip": score_strip, "meter": meter, "QUANTILES": QUANTILES, "VARIATIONS": VARIATIONS,
        "about": about,
    },
    script="run.js",
)  # fmt: skip
