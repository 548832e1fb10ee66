"""What groups receive: one row per strategy, one mark per group, joined by a line as long as their gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from accordant.report.charts.panel import NAMES, RIGHT, WIDTH, Panel
from accordant.report.charts.svg import figure, line, mark, tag, text
from accordant.report.reading import Line
from accordant.report.scale import NOT_DEFINED, linear_scale, number

GROUP_SHAPES = ("circle", "open-diamond", "triangle", "open-square", "hexagon", "open-triangle")


def group_panel(
    identifier: str,
    title: str,
    lines: Sequence[Line],
    values: Mapping[str, Mapping[str, float | None]],
    groups: Sequence[str],
    span: Sequence[float],
) -> Markup:
    """Return the values of all groups under every strategy.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        What is shown.
    lines
        Strategies, top first.
    values
        Strategy to group to value; None if not defined.
    groups
        At most as many as `GROUP_SHAPES`, in the order of the legend.
    span
        Values that must be on the axis, so that panels of the same quantity compare.
    """
    panel = Panel(lines, marked=False)
    step = min(4.5, 9.0 / max(1, len(groups) - 1))  # groups lie a little above each other, so none hides another
    scale = linear_scale(span, NAMES + 6, WIDTH - RIGHT)
    drawn: list[Markup] = []
    for each, y in zip(lines, panel.centres, strict=True):
        found = values[each.name]
        known = [(shape, group, found[group]) for shape, group in zip(GROUP_SHAPES, groups, strict=False)]
        places = [scale(value) for _, _, value in known if value is not None]
        if not places:
            drawn.append(text(NAMES + 6, y + 4, NOT_DEFINED, "missing"))
            continue
        about = f"{each.name}: " + ", ".join(f"{group} {number(value)}" for _, group, value in known)
        marks = [
            mark(shape, scale(value), y + step * (index - (len(known) - 1) / 2), 3.8, f"group-{index}")
            for index, (shape, _, value) in enumerate(known)
            if value is not None
        ]
        drawn.append(tag("g", {}, tag("title", {}, about), line(min(places), y, max(places), y, "gap"), *marks))
    said = "; ".join(
        f"{each.name}: " + ", ".join(f"{group} {number(values[each.name][group])}" for group in groups)
        for each in lines
    )
    return figure(identifier, panel.size, title, said + ".", *panel.frame(scale, ""), *panel.labels(), *drawn)
