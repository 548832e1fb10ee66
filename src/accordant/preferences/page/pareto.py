"""Accuracy of the minority against that of the majority: up and to the right both groups are better served."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from accordant.preferences.page.reading import Row
from accordant.report.charts.svg import figure, line, mark, tag, text
from accordant.report.scale import Scale, linear_scale, number

WIDTH, HEIGHT = 360.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 14.0, 28.0, 50.0
FEW = 6  # rows up to which every one has its interval drawn; with more, only those that matter most
NEAR = 7.0  # marks closer than this share one label
LETTER = 7.0  # width of a digit
PLACES = (
    (9, 4, "start"), (-9, 4, "end"), (0, -10, "middle"), (0, 20, "middle"),
    (9, -9, "start"), (-9, -9, "end"), (9, 17, "start"), (-9, 17, "end"),
    (22, 4, "start"), (-22, 4, "end"), (0, -24, "middle"), (0, 34, "middle"),
)  # fmt: skip
Box = tuple[float, float, float, float]


def pareto_chart(identifier: str, rows: Sequence[Row], groups: tuple[str, str], key: Sequence[str]) -> Markup:
    """Return methods and controls by the accuracy of two groups, with a cross of intervals each.

    Parameters
    ----------
    identifier
        Unique in the document.
    rows
        Methods; those without a value in a group are left out.
    groups
        Majority (across) and minority (up).
    key
        Labels whose intervals are drawn even among many.
    """
    names = tuple(f"accuracy[{group}]" for group in groups)
    shown = [row for row in rows if all(row.metric(name)["value"] is not None for name in names)]
    crossed = [row for row in shown if len(shown) <= FEW or row.label in key]
    across, up = (
        linear_scale(_span(shown, crossed, name), *ends)
        for name, ends in zip(names, ((LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)), strict=True)
    )
    points = {row.label: (across(row.metric(names[0])["value"]), up(row.metric(names[1])["value"])) for row in shown}
    crosses = [part for row in crossed for part in _cross(row, names, across, up)]
    marks = [
        tag("g", {}, tag("title", {}, _said(row, names)), mark(row.mark, *points[row.label], _size(row), _css(row)))
        for row in sorted(shown, key=lambda row: row.role == "looked_at")
    ]
    said = f"Accuracy of {groups[0]} and of {groups[1]}. " + "; ".join(_said(row, names) for row in shown) + "."
    frame = _frame(across, up, groups, points.get(shown[0].label) if shown else None)
    return figure(
        identifier, (WIDTH, HEIGHT), f"Accuracy of {groups[1]} against accuracy of {groups[0]}", said,
        *frame, *crosses, *marks, *_labels(shown, points),
    )  # fmt: skip


def _span(shown: Sequence[Row], crossed: Sequence[Row], name: str) -> list[float]:
    ends = [row.metric(name)[end] for row in crossed for end in ("low", "high")]
    return [each for each in [*(row.metric(name)["value"] for row in shown), *ends] if each is not None]


def _size(row: Row) -> float:
    return 6.5 if row.role == "looked_at" else 4.6


def _css(row: Row) -> str:
    return "front" if row.role == "looked_at" else ""


def _cross(row: Row, names: Sequence[str], across: Scale, up: Scale) -> list[Markup]:
    """Return the two intervals of a row."""
    here, there = (row.metric(name) for name in names)
    css = "interval selected" if row.role == "looked_at" else "interval"
    found = []
    if here["low"] is not None:
        y = up(there["value"])
        found.append(line(across(here["low"]), y, across(here["high"]), y, css))
        found += [line(across(here[end]), y - 3, across(here[end]), y + 3, css) for end in ("low", "high")]
    if there["low"] is not None:
        x = across(here["value"])
        found.append(line(x, up(there["low"]), x, up(there["high"]), css))
        found += [line(x - 3, up(there[end]), x + 3, up(there[end]), css) for end in ("low", "high")]
    return found


def _frame(across: Scale, up: Scale, groups: tuple[str, str], pooled: tuple[float, float] | None) -> list[Markup]:
    """Return grid, captions, and dashed lines through the pooled reward."""
    base, found = HEIGHT - BOTTOM, []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        found += [
            line(across(value), TOP, across(value), base, "grid"),
            text(across(value), base + 16, label, "tick", "middle"),
        ]
    for value, label in zip(up.ticks, up.labels(), strict=True):
        found += [
            line(LEFT, up(value), WIDTH - RIGHT, up(value), "grid"),
            text(LEFT - 8, up(value) + 4, label, "tick", "end"),
        ]
    if pooled is not None:
        found += [
            line(pooled[0], TOP, pooled[0], base, "apart"),
            line(LEFT, pooled[1], WIDTH - RIGHT, pooled[1], "apart"),
        ]
    found.append(text(WIDTH - RIGHT, HEIGHT - 12, f"accuracy of {_short(groups[0])} →", "caption", "end"))
    found.append(text(2, 14, f"↑ accuracy of {_short(groups[1])}", "caption"))
    return found


def _short(name: str) -> str:
    return name if len(name) <= 30 else name[:29] + "…"


def _said(row: Row, names: Sequence[str]) -> str:
    values = ", ".join(number(row.metric(name)["value"]) for name in names)
    return f"{row.position} {row.label}: {values}"


def _labels(shown: Sequence[Row], points: dict[str, tuple[float, float]]) -> list[Markup]:
    """Return numbers beside marks, one label for marks that coincide."""
    clusters: list[list[Row]] = []
    for row in shown:
        x, y = points[row.label]
        home = next(
            (
                each
                for each in clusters
                if max(abs(points[each[0].label][0] - x), abs(points[each[0].label][1] - y)) < NEAR
            ),
            None,
        )
        if home is None:
            clusters.append([row])
        else:
            home.append(row)
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in points.values()]
    found = []
    for cluster in clusters:
        words = ", ".join(str(row.position) for row in cluster)
        x, y = points[cluster[0].label]
        options = [(_box(x + dx, y + dy, words, anchor), (x + dx, y + dy, anchor)) for dx, dy, anchor in PLACES]
        box, place = min(
            options, key=lambda option: sum(_overlap(option[0], each) for each in taken) + _outside(option[0])
        )
        taken.append(box)
        css = "number selected" if any(row.role == "looked_at" for row in cluster) else "number"
        found.append(text(place[0], place[1], words, f"{css} halo", place[2]))
    return found


def _box(x: float, y: float, words: str, anchor: str) -> Box:
    width = LETTER * len(words)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 10, left + width, y + 2


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _outside(box: Box) -> float:
    """Return a price for leaving the drawing."""
    return 1e3 * (max(0.0, LEFT - box[0]) + max(0.0, box[2] - WIDTH) + max(0.0, TOP - 8 - box[1])
                  + max(0.0, box[3] - HEIGHT + BOTTOM + 8))  # fmt: skip
