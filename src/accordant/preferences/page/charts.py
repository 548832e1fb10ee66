"""Charts of a comparison of learners: the groups against each other, and users one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from accordant.naming import counted
from accordant.preferences.page.reading import Row
from accordant.preferences.result import LearnerComparison
from accordant.report.charts.svg import box, figure, hatched, line, mark, tag, text
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
USERS_SIZE = (360.0, 280.0)
USERS_BOX = (50.0, 26.0, 348.0, 232.0)  # left, top, right and base of the plot
BINS = 10  # of accuracy, from 0 to 1
MINORITY, OTHERS = "open-diamond", "circle"
MINORITY_HATCH, OTHERS_HATCH = 6, 0


def pareto_chart(identifier: str, rows: Sequence[Row], groups: tuple[str, str], key: Sequence[str]) -> Markup:
    """Return methods by the accuracy of majority (across) and minority (up), with a cross of intervals each.

    Methods without a value in a group are left out; intervals of labels in `key` are drawn even among many.
    """
    names = tuple(f"accuracy[{group}]" for group in groups)
    shown = [row for row in rows if all(row.metric(name).value is not None for name in names)]
    crossed = [row for row in shown if len(shown) <= FEW or row.label in key]
    across, up = (
        linear_scale(_span(shown, crossed, name), *ends)
        for name, ends in zip(names, ((LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)), strict=True)
    )
    points = {row.label: (across(row.value(names[0])), up(row.value(names[1]))) for row in shown}
    crosses = [part for row in crossed for part in _cross(row, names, across, up)]
    marks = [
        tag("g", {}, tag("title", {}, _said(row, names)), mark(row.mark, *points[row.label], size, css))
        for role, size, css in (("", 4.6, ""), ("looked_at", 6.5, "front"))
        for row in shown
        if (row.role == "looked_at") == bool(role)
    ]
    said = f"Accuracy of {groups[0]} and of {groups[1]}. " + "; ".join(_said(row, names) for row in shown) + "."
    captions = (f"accuracy of {_short(groups[0])} →", f"↑ accuracy of {_short(groups[1])}")
    plot = (LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM)
    frame = _frame(across, up, captions, plot, HEIGHT)
    if shown:  # dashed lines through the pooled reward
        x, y = points[shown[0].label]
        frame[-2:-2] = [line(x, TOP, x, plot[3], "apart"), line(LEFT, y, plot[2], y, "apart")]
    return figure(
        identifier, (WIDTH, HEIGHT), f"Accuracy of {groups[1]} against accuracy of {groups[0]}", said,
        *frame, *crosses, *marks, *_labels(shown, points),
    )  # fmt: skip


def _span(shown: Sequence[Row], crossed: Sequence[Row], name: str) -> list[float]:
    ends = [getattr(row.metric(name), end) for row in crossed for end in ("low", "high")]
    return [coordinate for coordinate in [*(row.metric(name).value for row in shown), *ends] if coordinate is not None]


def _cross(row: Row, names: Sequence[str], across: Scale, up: Scale) -> list[Markup]:
    """Return the two intervals of a row."""
    here, there = (row.metric(name) for name in names)
    x, y = across(row.value(names[0])), up(row.value(names[1]))
    css = "interval selected" if row.role == "looked_at" else "interval"
    lines = []
    if here.low is not None and here.high is not None:
        lines.append(line(across(here.low), y, across(here.high), y, css))
        lines += [line(across(end), y - 3, across(end), y + 3, css) for end in (here.low, here.high)]
    if there.low is not None and there.high is not None:
        lines.append(line(x, up(there.low), x, up(there.high), css))
        lines += [line(x - 3, up(end), x + 3, up(end), css) for end in (there.low, there.high)]
    return lines


def _frame(
    across: Scale, up: Scale, captions: tuple[str, str], plot: Box, height: float, zero: str = "grid"
) -> list[Markup]:
    """Return grid and captions of a chart between (left, top, right, base); `zero` is the class of the line at 0."""
    left, top, right, base = plot
    frame = []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        x = across(value)
        frame += [line(x, top, x, base, "grid"), text(x, base + 16, label, "tick", "middle")]
    for value, label in zip(up.ticks, up.labels(), strict=True):
        y = up(value)
        frame += [line(left, y, right, y, zero if value == 0 else "grid"), text(left - 8, y + 4, label, "tick", "end")]
    return [*frame, text(right, height - 12, captions[0], "caption", "end"), text(2, 14, captions[1], "caption")]


def _short(name: str) -> str:
    return name if len(name) <= 30 else name[:29] + "…"


def _said(row: Row, names: Sequence[str]) -> str:
    values = ", ".join(number(row.metric(name).value) for name in names)
    return f"{row.position} {row.label}: {values}"


def _labels(shown: Sequence[Row], points: dict[str, tuple[float, float]]) -> list[Markup]:
    """Return numbers beside marks, one label for marks that coincide."""
    clusters: list[list[Row]] = []
    for row in shown:
        x, y = points[row.label]
        for cluster in clusters:
            there = points[cluster[0].label]
            if max(abs(there[0] - x), abs(there[1] - y)) < NEAR:
                cluster.append(row)
                break
        else:
            clusters.append([row])
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in points.values()]
    labels = []
    for cluster in clusters:
        words = ", ".join(str(row.position) for row in cluster)
        x, y = points[cluster[0].label]
        options = [(_box(x + dx, y + dy, words, anchor), (x + dx, y + dy, anchor)) for dx, dy, anchor in PLACES]
        box, place = min(
            options, key=lambda option: sum(_overlap(option[0], other) for other in taken) + _outside(option[0])
        )
        taken.append(box)
        css = "number selected" if any(row.role == "looked_at" for row in cluster) else "number"
        labels.append(text(place[0], place[1], words, f"{css} halo", place[2]))
    return labels


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


@dataclass(frozen=True)
class Users:
    """Users as drawings need them, equally long; `support` is None where it is unknown."""

    accuracy: tuple[float, ...]
    support: tuple[float | None, ...]
    minority: tuple[bool, ...]

    @classmethod
    def of(cls, content: LearnerComparison, label: str) -> Users:
        """Return the users of a comparison under one method."""
        users, minority = content.per_user, content.groups.minority
        assert users is not None
        alone = len(content.groups.sizes) == 1
        return cls(
            users.accuracy[label], users.support,
            tuple(group == minority and not alone for group in users.group),
        )  # fmt: skip


def support_chart(identifier: str, title: str, users: Users, line_of: tuple[float, float] | None) -> Markup:
    """Return a mark for each user with a support rate, and a straight line by slope and intercept, if there is one."""
    known = [
        (support, accuracy, few)
        for support, accuracy, few in zip(users.support, users.accuracy, users.minority, strict=True)
        if support is not None
    ]
    left, top, right, base = USERS_BOX
    across, up = linear_scale([0.0, 1.0], left, right), linear_scale([0.0, 1.0], base, top)
    marks = [
        mark(*((MINORITY, across(x), up(y), 3.4, "user few") if few else (OTHERS, across(x), up(y), 2.6, "user")))
        for x, y, few in sorted(known, key=lambda user: user[2])
    ]
    drawn = []
    if line_of is not None and known:
        slope, start = line_of
        ends = [min(support for support, _, _ in known), max(support for support, _, _ in known)]
        places = [(across(x), up(min(1.0, max(0.0, start + slope * x)))) for x in ends]
        drawn = [line(*places[0], *places[1], "trend")]
    said = f"{counted(len(known), 'user')}. " + ("" if line_of is None else f"Slope of the line: {number(line_of[0])}.")
    frame = _frame(across, up, ("support rate of the user →", "↑ accuracy"), USERS_BOX, USERS_SIZE[1], "axis")
    return figure(identifier, USERS_SIZE, title, said, *frame, *marks, *drawn)


def line_through(users: Users) -> tuple[float, float] | None:
    """Return slope and intercept of the least-squares line of accuracy on support; None if support does not vary."""
    known = np.array([support is not None for support in users.support])
    support = np.array([0.0 if rate is None else rate for rate in users.support])[known]
    accuracy = np.array(users.accuracy)[known]
    if not len(support) or support.min() == support.max():
        return None
    apart = support - support.mean()
    slope = float(apart @ (accuracy - accuracy.mean()) / (apart @ apart))
    return slope, float(accuracy.mean() - slope * support.mean())


def spread_chart(identifier: str, title: str, users: Users, most: float, *, groups: tuple[str, str] | None) -> Markup:
    """Return how many users have which accuracy, those of the minority hatched.

    `most` is the largest number of users in a bin of any drawing beside this one, so that heights compare; `groups`
    are the two parts of a bar in words, None if there is one.
    """
    left, top, right, base = USERS_BOX
    across, up = linear_scale([0.0, 1.0], left, right), linear_scale([0.0, most], base, top)
    few, others = counts(users, minority=True), counts(users, minority=False)
    bars: list[Markup] = []
    for k in range(BINS):
        start, end = across(k / BINS) + 0.8, across((k + 1) / BINS) - 0.8
        total = few[k] + others[k]
        about = f"accuracy {k / BINS:.1f} to {(k + 1) / BINS:.1f}: {counted(total, 'user')}"
        about += f", {few[k]} of them of {groups[1]}" if groups else ""
        parts: list[Markup] = []
        if few[k]:
            parts += hatched(box(start, up(few[k]), end, up(0)), MINORITY_HATCH)
        if others[k]:
            parts += hatched(box(start, up(total), end, up(few[k])), OTHERS_HATCH, "area others")
        bars.append(tag("g", {}, tag("title", {}, about), *parts))
    mean = float(np.mean(users.accuracy))
    x = across(mean)
    words = f"mean {number(mean)}"
    said = (
        f"{counted(len(users.accuracy), 'user')}, mean accuracy {number(mean)}, lowest {number(min(users.accuracy))}."
    )
    beside = mean < 0.75
    frame = _frame(across, up, ("accuracy →", "↑ users"), USERS_BOX, USERS_SIZE[1], "axis")
    return figure(
        identifier, USERS_SIZE, title, said, *frame, *bars,
        line(x, top - 4, x, base, "chosen"),
        text(x + (5 if beside else -5), top - 6, words, "selected halo", "start" if beside else "end"),
    )  # fmt: skip


def counts(users: Users, *, minority: bool) -> list[int]:
    """Return how many users of one part fall into each bin; an accuracy of 1 is in the last one."""
    values = [accuracy for accuracy, few in zip(users.accuracy, users.minority, strict=True) if few == minority]
    places = [min(BINS - 1, int(value * BINS + 1e-9)) for value in values]
    return [places.count(k) for k in range(BINS)]


def highest(every: Sequence[Users]) -> float:
    """Return the largest number of users in a bin."""
    return float(max(
        few + others
        for users in every
        for few, others in zip(counts(users, minority=True), counts(users, minority=False), strict=True)
    ))  # fmt: skip
