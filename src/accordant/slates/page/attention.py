"""Who gets attention: shares of items by their popularity, and how unequal they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.curves import Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.charts.svg import figure, line, tag, text
from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED, Scale, linear_scale, number, percent
from accordant.slates.page.reading import RuleLine

WIDTH, HEIGHT = 360.0, 214.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 6.0, 24.0, 44.0
BARS = 60  # no more fit side by side; beyond that one bar stands for several items
POINTS = 100  # of a Lorenz curve
EQUALITY = "equality"


def parts(n_items: int) -> list[range]:
    """Return ranks of items in parts of nearly the same size, one for each bar."""
    bars = min(n_items, BARS)
    ends = [round(bar * n_items / bars) for bar in range(bars + 1)] if bars else [0]
    return [range(first, last) for first, last in pairwise(ends)]


def highest(curves: Sequence[Json]) -> float:
    """Return the largest share of a bar over some rules, of attention or of popularity."""
    values = [value for each in curves for name in ("exposure", "popularity") for value in _shares(each, name)]
    return max((value for value in values if value is not None), default=1.0)


def attention_chart(identifier: str, each: RuleLine, top: float) -> Markup:
    """Return a bar of attention for every item, the most popular first, and a line for its popularity.

    Parameters
    ----------
    identifier
        Unique in the document.
    each
        The rule.
    top
        Largest share on the axis, the same for all rules side by side.
    """
    curve = each.rule["popularity"]
    shown, known = _shares(curve, "exposure"), _shares(curve, "popularity")
    up = linear_scale([0.0, 100 * top], HEIGHT - BOTTOM, TOP, wanted=3)  # in per cent
    wide = (WIDTH - LEFT - RIGHT) / max(1, len(shown))
    drawn = []
    for value, label in zip(up.ticks, up.labels(), strict=True):
        drawn.append(line(LEFT, up(value), WIDTH - RIGHT, up(value), "axis" if value == 0 else "grid"))
        drawn.append(text(LEFT - 6, up(value) + 4, f"{label}%", "tick", "end"))
    for bar, (names, share) in enumerate(zip(_names(curve), shown, strict=True)):
        if share:
            left, base = LEFT + bar * wide, up(0.0)
            about = tag("title", {}, f"{names}: {percent(share)} of attention")
            box = {
                "x": left + 0.12 * wide,
                "y": up(100 * share),
                "width": 0.76 * wide,
                "height": base - up(100 * share),
            }
            drawn.append(tag("rect", box | {"class": "bar"}, about))
    drawn += _steps(known, wide, up)
    drawn.append(text(LEFT, HEIGHT - BOTTOM + 15, "most popular", "tick"))
    drawn.append(text(WIDTH - RIGHT, HEIGHT - BOTTOM + 15, "least popular", "tick", "end"))
    drawn.append(text(WIDTH - RIGHT, HEIGHT - 8, "items by popularity →", "caption", "end"))
    drawn.append(text(2, 12, "share of attention", "caption"))
    if not any(shown):
        drawn.append(text(WIDTH / 2, HEIGHT / 2, "nothing was shown", "missing", "middle"))
    return figure(identifier, (WIDTH, HEIGHT), f"Attention by popularity: {each.name}", _said(curve), *drawn)


def lorenz_chart(identifier: str, lines: Sequence[RuleLine]) -> Markup | None:
    """Return the share of attention of those who get least, for some rules; None if nothing was shown by any."""
    curves = []
    for each in sorted(lines, key=lambda line: not line.selected):  # the first curve is drawn thicker
        values = each.rule["popularity"]["lorenz"]
        if len(values) > 1 and None not in values:
            curves.append(
                Curve(
                    f"{each.position}. {listed(each.roles) or each.name}",
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


def _shares(curve: Json, name: str) -> list[float | None]:
    """Return the share of the items of every bar together; None where it is not defined."""
    values = curve[name]
    found: list[float | None] = []
    for part in parts(len(values)):
        inside = [values[rank] for rank in part]
        found.append(None if None in inside else sum(inside))
    return found


def _names(curve: Json) -> list[str]:
    """Return what each bar stands for."""
    items = curve["items"]
    return [
        items[part[0]] if len(part) == 1 else f"ranks {part[0] + 1} to {part[-1] + 1}" for part in parts(len(items))
    ]


def _steps(known: Sequence[float | None], wide: float, up: Scale) -> list[Markup]:
    """Return popularity as a line with steps; nothing where it is not known."""
    heights = [up(100 * value) for value in known if value is not None]
    if not heights or len(heights) < len(known):
        return []
    path = "".join(
        f"{'L' if bar else 'M'}{LEFT + bar * wide:.1f} {y:.1f}H{LEFT + (bar + 1) * wide:.1f}"
        for bar, y in enumerate(heights)
    )
    return [tag("path", {"d": path, "class": "popularity"})]


def _said(curve: Json) -> str:
    """Put the bars into words: shares of the most popular tenth and half."""
    values = curve["exposure"]
    if not values or None in values:
        return "Nothing was shown."
    told = [
        f"the {n} most popular of {len(values)} items get {percent(sum(values[:n]))} of attention"
        for n in dict.fromkeys((max(1, round(len(values) / 10)), max(1, round(len(values) / 2))))
    ]
    gini = NOT_DEFINED if curve["gini"] is None else number(curve["gini"])
    return "; ".join(told) + f"; Gini {gini}."
