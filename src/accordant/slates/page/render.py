"""From the JSON of served slates to one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from accordant.errors import InputError
from accordant.report.charts.panels import metric_panel, score_axis, score_scale, score_strip
from accordant.report.page import Page
from accordant.report.reading import GOALS
from accordant.report.tables import MetricTable, in_parts, metric_decimals, metric_table, score_cell
from accordant.sections import PagePart, page_parts
from accordant.slates.options import command_line
from accordant.slates.page import declarations, gains, maps, summary
from accordant.slates.page.declarations import proxies
from accordant.slates.page.gains import attainment_table
from accordant.slates.page.maps import centre, located, project
from accordant.slates.page.reading import KINDS, RuleLine, SlateReading, role_words, sentence
from accordant.slates.page.robustness import Robustness, changes, robustness, staleness_tables
from accordant.slates.page.tradeoffs import check, front_chart
from accordant.slates.result import FORMAT, ItemResult, SlateResult

BESIDE, MORE = 5, 6  # measures beside the score, and per further table


def render_slates(content: dict[str, Any]) -> str:
    """Return what rules showed, and all that was measured about it, as one HTML document.

    Nothing but the JSON that ``accordant slate --json`` prints is read, so the same content gives the same bytes.
    Raises `InputError` if it has another format.
    """
    if content.get("result") != FORMAT:
        raise InputError(f"the slates have format {content.get('result')!r}; allowed: {FORMAT}")
    return PAGE.render("slates.html", **_told(content))


@page_parts.register("slates")
def slates_part(content: SlateResult) -> PagePart:
    """Return the same as a part of the page of the run that the slates were made of."""
    return PAGE.part("lists", f"Lists of {content.k}", "slates_part.html", **_told(content.to_json()))


def _told(content: dict[str, Any]) -> dict[str, Any]:
    """Return what the templates read."""
    reading = SlateReading(content)
    looked_at, robust = _looked_at(reading), robustness(reading)
    return {
        "content": reading.result,
        "reading": reading,
        "front": _front(reading),
        "score_scale": score_scale(line.row.score for line in reading.lines),
        "boards": _boards(reading),
        "changed": changes(reading),
        "attainment": attainment_table(reading),
        "proxies": proxies(reading),
        "attention": _attention(reading),
        "load": _load(reading),
        "times": _times(reading),
        "robust": robust,
        "stale": staleness_tables(reading, MORE),
        "proportional": _proportional(robust),
        "objectives": declarations.objective_rows(reading, looked_at),
        "looked_at": looked_at,
        "check": check(reading.result.consumption),
        "criteria": declarations.criteria(reading),
        "command": command_line(content),
    }


def _proportional(robust: Robustness) -> tuple[list[RuleLine], list[RuleLine]] | None:
    """Return rules that stand unfolded and folded among those whose proportionality was checked; None without any."""
    shown, others = ([line for line in part if line.rule.broken] for part in (robust.shown, robust.others))
    return (shown, others) if shown else None


def _looked_at(reading: SlateReading) -> tuple[RuleLine, ...]:
    """Return marked rules without the drawn one, where there is another."""
    return tuple(line for line in reading.marked if "drawn at random" not in line.roles) or reading.marked


def _front(reading: SlateReading) -> dict[str, Any]:
    """Return the drawing of the front, with a panel instead where it has one axis, and its table."""
    axes, user = reading.result.front.axes, reading.result.user
    there = [line for line in reading.lines if None not in line.standing.values]
    chart = front_chart("front-chart", reading.lines, (axes[0], axes[1]), user) if len(axes) == 2 and there else None
    if len(axes) == 1 and there and (column := reading.column(axes[0])) is not None:
        chart = metric_panel("front-chart", there, column, metric_decimals(reading, axes[0]))
    ordered = sorted(reading.lines, key=lambda line: (not line.standing.on_front, line.position))
    shown, rest = reading.folded(ordered)
    return {"axes": axes, "chart": chart, "shown": shown, "rest": rest, "pair": len(axes) == 2}


def _boards(reading: SlateReading) -> dict[str, Any]:
    """Return tables of measures: those that count and the first others beside the score, and all others."""
    ordered = sorted(reading.columns, key=lambda column: -column.weight)
    first, others = ordered[:BESIDE], ordered[BESIDE:]
    shown, rest = reading.folded(reading.lines)
    kept = {line.position for line in shown}
    return {
        "first": metric_table(reading, first),
        "more": [metric_table(reading, part) for part in in_parts(others, MORE)],
        "kept": kept,
        "rest": rest,
        "weighted": sorted(reading.weighted, key=lambda column: -column.weight),
    }


def _attention(reading: SlateReading) -> dict[str, Any]:
    """Return a drawing of attention for each marked rule, and Lorenz curves of all of them."""
    lines = reading.marked
    top = gains.highest([line.rule.popularity for line in lines])
    bars = [(line, gains.attention_chart(f"attention-{place}", line, top)) for place, line in enumerate(lines, 1)]
    n_items = max((len(line.rule.popularity.items) for line in lines), default=0)
    sizes = sorted({len(part) for part in gains.parts(n_items)})
    return {"bars": bars, "lorenz": gains.lorenz_chart("lorenz-chart", lines), "n": n_items,
            "grouped": " or ".join(map(str, sizes)) if n_items > gains.BARS else ""}  # fmt: skip


def _load(reading: SlateReading) -> dict[str, Any]:
    """Return maps, or bars where no item has a place, and the table of the most crowded items."""
    lines, items = reading.compared, reading.result.items
    places, names = located(items), maps.most_crowded(lines, maps.CROWDED)
    drawn: list[tuple[str, list[tuple[RuleLine, Markup]]]] = []
    if places:
        drawn = _maps(lines, places, {name: number for number, name in enumerate(names, 1)})
    elif names:
        bars = maps.most_crowded(lines, maps.BARS)
        top = max(maps.peaks(line).get(name, 0.0) for line in lines for name in bars)
        drawn = [("", [(line, maps.load_bars(f"load-{k}", line, bars, top)) for k, line in enumerate(lines, 1)])]
    return {"drawn": drawn, "map": bool(places), "unplaced": len(items) - len(places), "lines": lines,
            "rows": maps.rows(lines, names), "legend": maps.legend(items, lines),
            "closed": [item.name for item in items if item.capacity == 0]}  # fmt: skip


def _maps(
    lines: Sequence[RuleLine], places: Sequence[ItemResult], numbers: dict[str, int]
) -> list[tuple[str, list[tuple[RuleLine, Markup]]]]:
    """Return maps of all items, and of a dense centre, with a title each; numbers stand where there is most room."""
    shares = [share for line in lines for share in line.rule.popularity.exposure if share is not None]
    largest, dense = max(shares, default=0.0), centre(places)
    inside = {item.name for item in dense}
    outer = {name: place for name, place in numbers.items() if name not in inside}
    parts = [("All items" if dense else "", places, outer, dense)]
    parts += [("The centre, inside the frame", dense, numbers, [])] if dense else []
    drawn = []
    for part, (title, items, numbered, framed) in enumerate(parts, 1):
        where = project(items)
        drawn.append((title, [
            (line, maps.load_map(f"map-{part}-{k}", line, items, where, largest, numbered, framed))
            for k, line in enumerate(lines, 1)
        ]))  # fmt: skip
    return drawn


def _times(reading: SlateReading) -> list[tuple[RuleLine, Markup | None, Markup | None]]:
    """Return drawings of what was attained so far and of who is behind, for the rules side by side."""
    names = gains.drawn_stakeholders(reading.compared, reading.result.user)
    behind = gains.ever_behind(reading.compared)
    return [
        (line, gains.attained_chart(f"time-{k}", line, names), gains.behind_chart(f"behind-{k}", line, behind))
        for k, line in enumerate(reading.compared, 1)
    ]


def _of(table: MetricTable, positions: Sequence[int] | set[int]) -> list[Any]:
    """Return rows of a table by position."""
    return [row for row in table.rows if row[0].position in positions]


def _last(values: Sequence[Any]) -> Any:
    """Return the last of some values; None of none."""
    return values[-1] if values else None


PAGE = Page(
    "accordant.slates.page", "slates.css",
    filters={
        "score": score_cell, "sentence": sentence, "standing": declarations.standing, "rows_of": _of,
        "last_of": _last,
    },
    names={
        "KINDS": KINDS, "GOALS": GOALS, "STANDINGS": declarations.STANDINGS, "summary": summary,
        "declared": declarations, "role_words": role_words, "score_axis": score_axis, "score_strip": score_strip,
        "sample": maps.sample, "MARKS": KINDS,
    },
)  # fmt: skip
