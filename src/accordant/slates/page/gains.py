"""What lists give to whom, over time, and how attention is spread over items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.curves import MOST_CURVES, Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.charts.svg import figure, line, tag, text, wrapped
from accordant.report.scale import NOT_DEFINED, Cell, Scale, linear_scale, number, percent
from accordant.slates.evaluation.curves import PopularityCurve
from accordant.slates.page.reading import BEST, FOLD, RuleLine, SlateReading

EVEN = 5e-4  # a mean that rounds to its floor is not shown as below it
WIDE = 7  # stakeholders side by side
SHADES = 5  # of cells, from white to dark; equal parts of [0, 1]
WIDTH, NAMES, RIGHT, ROW, TOP, FOOT = 360.0, 140.0, 22.0, 20.0, 8.0, 36.0
LETTER = 12.0
MOST_ROWS = 12  # stakeholders that are told apart as behind
CURVE_WIDTH, CURVE_HEIGHT = 360.0, 214.0
CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_BOTTOM = 46.0, 6.0, 24.0, 44.0
BARS = 60  # no more fit side by side; beyond that one bar stands for several items
POINTS = 100  # of a Lorenz curve
EQUALITY = "equality"


@dataclass(frozen=True)
class AttainmentCell:
    """One cell: the number in words, its shade (None if not defined), and whether it is marked as below the floor.

    It is if the mean is smaller than the floor, unless no list of the rule is below one: floors are held list by list,
    between the ideal and the worst of that moment, and the mean lies on the scale of all rules.
    """

    cell: Cell
    shade: int | None
    below: bool


@dataclass(frozen=True)
class AttainmentTable:
    """A table of rules by stakeholders, each of these with its floor; rules that stand unfolded, and the rest."""

    stakeholders: tuple[tuple[str, float | None], ...]
    shown: tuple[tuple[RuleLine, tuple[AttainmentCell, ...]], ...]
    rest: tuple[tuple[RuleLine, tuple[AttainmentCell, ...]], ...]

    @property
    def parts(self) -> tuple[AttainmentTable, ...]:
        """The same in tables with few enough stakeholders for a sheet of paper."""
        return tuple(self._part(slice(k, k + WIDE)) for k in range(0, len(self.stakeholders), WIDE))

    def _part(self, part: slice) -> AttainmentTable:
        shown, rest = (tuple((line, cells[part]) for line, cells in rows) for rows in (self.shown, self.rest))
        return AttainmentTable(self.stakeholders[part], shown, rest)


def attainment_table(reading: SlateReading) -> AttainmentTable:
    """Return what every stakeholder attains under every rule: the first rules and all baselines unfolded."""
    stakeholders = tuple((stakeholder["name"], stakeholder["floor"]) for stakeholder in reading.stakeholders)
    lines = reading.lines
    names = {line.position for line in lines if line.roles or line.family == "baseline"}
    others = [line.position for line in lines if line.position not in names]
    names |= set(others if len(lines) <= FOLD else others[:BEST])
    shown = [line for line in lines if line.position in names]
    rest = [line for line in lines if line.position not in names]
    return AttainmentTable(stakeholders, _rows(reading, shown, stakeholders), _rows(reading, rest, stakeholders))


def _rows(
    reading: SlateReading, lines: Sequence[RuleLine], stakeholders: Sequence[tuple[str, float | None]]
) -> tuple[tuple[RuleLine, tuple[AttainmentCell, ...]], ...]:
    return tuple((line, tuple(_cell(reading, line, name, floor) for name, floor in stakeholders)) for line in lines)


def _cell(reading: SlateReading, line: RuleLine, stakeholder: str, floor: float | None) -> AttainmentCell:
    value, cell = reading.attained(line, stakeholder)
    if value is None:
        return AttainmentCell(cell, None, False)
    below = floor is not None and value < floor - EVEN and line.rule.floor_unmet != 0
    return AttainmentCell(cell, min(SHADES - 1, max(0, int(value * SHADES))), below)


def drawn_stakeholders(lines: Sequence[RuleLine], user: str | None) -> list[str]:
    """Return the stakeholders whose lines are drawn, the user first, the same for all rules side by side.

    With more than there is room for, those who end lowest under one of the rules are kept.
    """
    ends: dict[str, float] = {}
    for rule_line in lines:
        past = rule_line.rule.over_time
        for name, row in zip(past.stakeholders, past.attained, strict=True):
            known = [value for value in row if value is not None]
            ends[name] = min(ends.get(name, 1.0), known[-1] if known else 1.0)
    lowest = sorted(ends, key=lambda name: ends[name])[:MOST_CURVES]
    return sorted((name for name in ends if name in lowest), key=lambda name: name != user)


def attained_chart(identifier: str, each: RuleLine, names: Sequence[str]) -> Markup | None:
    """Return means of what stakeholders attain up to each request; None if no list made a difference to anybody."""
    past = each.rule.over_time
    rows = dict(zip(past.stakeholders, past.attained, strict=True))
    curves = []
    for name in names:
        points = [(float(t), value) for t, value in zip(past.request, rows[name], strict=True) if value is not None]
        if points:
            curves.append(Curve(name, tuple(points)))
    if not curves:
        return None
    axes = Axes(
        _requests(past.request[-1], *plot_width()), linear_scale([0.0, 1.0], *plot_height()),
        ("requests so far →", "attained so far"),
    )  # fmt: skip
    return curve_chart(identifier, f"Attained so far: {each.name}", curves, axes)


def ever_behind(lines: Sequence[RuleLine]) -> list[str]:
    """Return the stakeholders who are behind at some time under one of some rules."""
    names = dict.fromkeys(name for line in lines for name in line.rule.over_time.stakeholders)
    return [name for name in names if any(name in line.rule.over_time.behind for line in lines)]


def behind_chart(identifier: str, each: RuleLine, names: Sequence[str]) -> Markup | None:
    """Return for each stakeholder the requests at which it is behind; None if nobody ever is, or too many are."""
    past = each.rule.over_time
    if not names or len(names) > MOST_ROWS or not any(past.behind):
        return None
    across, base = _requests(past.request[-1], NAMES, WIDTH - RIGHT), TOP + ROW * len(names)
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
    said = f"Behind at the end: {past.behind[-1] or 'nobody'}; it changed {past.changes[-1]} times."
    return figure(identifier, (WIDTH, base + FOOT), f"Who is behind: {each.name}", said, *drawn)


def _runs(rule_line: RuleLine, names: Sequence[str], across: Scale) -> list[Markup]:
    """Return a bar for each stretch of requests with the same stakeholder behind."""
    past, bars, first = rule_line.rule.over_time, [], 0
    requests = past.request
    for name, run in groupby(past.behind):
        last = first + len(list(run))
        if name is not None:
            left, right = across(requests[first - 1] if first else 0), across(requests[last - 1])
            y = TOP + ROW * (names.index(name) + 0.5)
            box = {"x": left, "y": y - 5, "width": max(1.0, right - left), "height": 10, "class": "bar"}
            bars.append(tag("rect", box, tag("title", {}, f"{name}: up to request {requests[last - 1]}")))
        first = last
    return bars


def _requests(last: int, start: float, end: float) -> Scale:
    return linear_scale([0.0, float(last)], start, end, wanted=3, tight=True)


def parts(n_items: int) -> list[range]:
    """Return ranks of items in parts of nearly the same size, one for each bar."""
    bars = min(n_items, BARS)
    ends = [round(bar * n_items / bars) for bar in range(bars + 1)] if bars else [0]
    return [range(first, last) for first, last in pairwise(ends)]


def highest(curves: Sequence[PopularityCurve]) -> float:
    """Return the largest share of a bar over some rules, of attention or of popularity."""
    values = [value for curve in curves for name in ("exposure", "popularity") for value in _shares(curve, name)]
    return max((value for value in values if value is not None), default=1.0)


def attention_chart(identifier: str, each: RuleLine, top: float) -> Markup:
    """Return a bar of attention for every item, the most popular first, and a line for its popularity.

    `top` is the largest share on the axis, the same for all rules side by side.
    """
    curve = each.rule.popularity
    shown, known = _shares(curve, "exposure"), _shares(curve, "popularity")
    up = linear_scale([0.0, 100 * top], CURVE_HEIGHT - CURVE_BOTTOM, CURVE_TOP, wanted=3)  # in per cent
    wide = (CURVE_WIDTH - CURVE_LEFT - CURVE_RIGHT) / max(1, len(shown))
    drawn = []
    for value, label in zip(up.ticks, up.labels(), strict=True):
        drawn.append(
            line(CURVE_LEFT, up(value), CURVE_WIDTH - CURVE_RIGHT, up(value), "axis" if value == 0 else "grid")
        )
        drawn.append(text(CURVE_LEFT - 6, up(value) + 4, f"{label}%", "tick", "end"))
    for bar, (names, share) in enumerate(zip(_names(curve), shown, strict=True)):
        if share:
            left, base = CURVE_LEFT + bar * wide, up(0.0)
            about = tag("title", {}, f"{names}: {percent(share)} of attention")
            box = {
                "x": left + 0.12 * wide,
                "y": up(100 * share),
                "width": 0.76 * wide,
                "height": base - up(100 * share),
            }
            drawn.append(tag("rect", box | {"class": "bar"}, about))
    drawn += _steps(known, wide, up)
    drawn.append(text(CURVE_LEFT, CURVE_HEIGHT - CURVE_BOTTOM + 15, "most popular", "tick"))
    drawn.append(text(CURVE_WIDTH - CURVE_RIGHT, CURVE_HEIGHT - CURVE_BOTTOM + 15, "least popular", "tick", "end"))
    drawn.append(text(CURVE_WIDTH - CURVE_RIGHT, CURVE_HEIGHT - 8, "items by popularity →", "caption", "end"))
    drawn.append(text(2, 12, "share of attention", "caption"))
    if not any(shown):
        drawn.append(text(CURVE_WIDTH / 2, CURVE_HEIGHT / 2, "nothing was shown", "missing", "middle"))
    return figure(
        identifier, (CURVE_WIDTH, CURVE_HEIGHT), f"Attention by popularity: {each.name}", _said(curve), *drawn
    )


def lorenz_chart(identifier: str, lines: Sequence[RuleLine]) -> Markup | None:
    """Return the share of attention of those who get least, for some rules; None if nothing was shown by any."""
    curves = []
    for rule_line in sorted(lines, key=lambda line: not line.selected):  # the first curve is drawn thicker
        lorenz = rule_line.rule.popularity.lorenz
        values = [value for value in lorenz if value is not None]
        if 1 < len(values) == len(lorenz):
            curves.append(
                Curve(
                    f"{rule_line.position}. {listed(rule_line.roles) or rule_line.name}",
                    tuple((k / (len(values) - 1), values[k]) for k in _thin(len(values))),
                )
            )
    if not curves:
        return None
    axes = Axes(
        linear_scale([0.0, 1.0], *plot_width(), wanted=2), linear_scale([0.0, 1.0], *plot_height()),
        ("share of items, least seen first →", "share of attention"), shares=True,
    )  # fmt: skip
    curves.append(Curve(EQUALITY, ((0.0, 0.0), (1.0, 1.0))))
    return curve_chart(identifier, "Lorenz curve of attention", curves, axes)


def _thin(n: int) -> list[int]:
    """Return positions of at most about `POINTS` values, both ends among them."""
    every = max(1, n // POINTS)
    return sorted({*range(0, n, every), n - 1})


def _shares(curve: PopularityCurve, name: str) -> list[float | None]:
    """Return the share of the items of every bar together; None where it is not defined."""
    values = getattr(curve, name)
    shares: list[float | None] = []
    for part in parts(len(values)):
        inside = [values[rank] for rank in part]
        shares.append(None if None in inside else sum(inside))
    return shares


def _names(curve: PopularityCurve) -> list[str]:
    """Return what each bar stands for."""
    items = curve.items
    return [
        items[part[0]] if len(part) == 1 else f"ranks {part[0] + 1} to {part[-1] + 1}" for part in parts(len(items))
    ]


def _steps(known: Sequence[float | None], wide: float, up: Scale) -> list[Markup]:
    """Return popularity as a line with steps; nothing where it is not known."""
    heights = [up(100 * value) for value in known if value is not None]
    if not heights or len(heights) < len(known):
        return []
    path = "".join(
        f"{'L' if bar else 'M'}{CURVE_LEFT + bar * wide:.1f} {y:.1f}H{CURVE_LEFT + (bar + 1) * wide:.1f}"
        for bar, y in enumerate(heights)
    )
    return [tag("path", {"d": path, "class": "popularity"})]


def _said(curve: PopularityCurve) -> str:
    """Put the bars into words: shares of the most popular tenth and half."""
    values = [value for value in curve.exposure if value is not None]
    if not values or len(values) < len(curve.exposure):
        return "Nothing was shown."
    told = [
        f"the {n} most popular of {len(values)} items get {percent(sum(values[:n]))} of attention"
        for n in dict.fromkeys((max(1, round(len(values) / 10)), max(1, round(len(values) / 2))))
    ]
    gini = NOT_DEFINED if curve.gini is None else number(curve.gini)
    return "; ".join(told) + f"; Gini {gini}."
