"""What happened over time: what each stakeholder attains so far, and who is behind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from accordant.report.charts.curves import MOST_CURVES, Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.charts.svg import figure, line, tag, text, wrapped
from accordant.report.scale import Scale, linear_scale
from accordant.slates.page.reading import RuleLine

WIDTH, NAMES, RIGHT, ROW, TOP, FOOT = 360.0, 140.0, 22.0, 20.0, 8.0, 36.0
LETTER = 12.0
MOST_ROWS = 12  # stakeholders that are told apart as behind


def followed(lines: Sequence[RuleLine], user: str | None) -> list[str]:
    """Return the stakeholders whose lines are drawn, the user first, the same for all rules side by side.

    With more than there is room for, those who end lowest under one of the rules are kept.
    """
    ends: dict[str, float] = {}
    for each in lines:
        past = each.rule["over_time"]
        for name, row in zip(past["stakeholders"], past["attained"], strict=True):
            known = [value for value in row if value is not None]
            ends[name] = min(ends.get(name, 1.0), known[-1] if known else 1.0)
    lowest = sorted(ends, key=lambda name: ends[name])[:MOST_CURVES]
    return sorted((name for name in ends if name in lowest), key=lambda name: name != user)


def attained_chart(identifier: str, each: RuleLine, names: Sequence[str]) -> Markup | None:
    """Return means of what stakeholders attain up to each request; None if no list made a difference to anybody."""
    past = each.rule["over_time"]
    rows = dict(zip(past["stakeholders"], past["attained"], strict=True))
    curves = []
    for name in names:
        points = [(float(t), value) for t, value in zip(past["request"], rows[name], strict=True) if value is not None]
        if points:
            curves.append(Curve(name, tuple(points)))
    if not curves:
        return None
    axes = Axes(
        _requests(past["request"][-1], *plot_width()), linear_scale([0.0, 1.0], *plot_height()),
        ("requests so far →", "attained so far"),
    )  # fmt: skip
    return curve_chart(identifier, f"Attained so far: {each.name}", curves, axes)


def ever_behind(lines: Sequence[RuleLine]) -> list[str]:
    """Return the stakeholders who are behind at some time under one of some rules."""
    names = dict.fromkeys(name for each in lines for name in each.rule["over_time"]["stakeholders"])
    return [name for name in names if any(name in each.rule["over_time"]["behind"] for each in lines)]


def behind_chart(identifier: str, each: RuleLine, names: Sequence[str]) -> Markup | None:
    """Return for each stakeholder the requests at which it is behind; None if nobody ever is, or too many are."""
    past = each.rule["over_time"]
    if not names or len(names) > MOST_ROWS or not any(past["behind"]):
        return None
    across, base = _requests(past["request"][-1], NAMES, WIDTH - RIGHT), TOP + ROW * len(names)
    drawn: list[Markup] = []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        x = across(value)
        drawn += [line(x, TOP, x, base, "grid"), text(x, base + 14, label, "tick", "middle")]
    for row, name in enumerate(names):
        y = TOP + ROW * (row + 0.5)
        drawn.append(text(2, y + 4, wrapped(name, (NAMES - 8) / LETTER, 1)[0]))
        drawn.append(line(NAMES, y, WIDTH - RIGHT, y, "grid"))
    drawn += _runs(each, names, across)
    drawn.append(text(WIDTH - RIGHT, base + 31, "requests so far →", "caption", "end"))
    said = f"Behind at the end: {past['behind'][-1] or 'nobody'}; it changed {past['changes'][-1]} times."
    return figure(identifier, (WIDTH, base + FOOT), f"Who is behind: {each.name}", said, *drawn)


def _runs(each: RuleLine, names: Sequence[str], across: Scale) -> list[Markup]:
    """Return a bar for each stretch of requests with the same stakeholder behind."""
    past, found, first = each.rule["over_time"], [], 0
    requests = past["request"]
    for name, run in groupby(past["behind"]):
        last = first + len(list(run))
        if name is not None:
            left, right = across(requests[first - 1] if first else 0), across(requests[last - 1])
            y = TOP + ROW * (names.index(name) + 0.5)
            box = {"x": left, "y": y - 5, "width": max(1.0, right - left), "height": 10, "class": "bar"}
            found.append(tag("rect", box, tag("title", {}, f"{name}: up to request {requests[last - 1]}")))
        first = last
    return found


def _requests(last: int, start: float, end: float) -> Scale:
    return linear_scale([0.0, float(last)], start, end, wanted=3, tight=True)
