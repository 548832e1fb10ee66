"""What the user and the worst-off attain under every rule: up and to the right both are better off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.curves import Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.charts.svg import Box, Label, figure, line, mark, placed, tag, text
from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED, Scale, interval, linear_scale, number, percent
from accordant.slates.page.reading import RuleLine, in_words
from accordant.slates.page.summary import signed, span

WIDTH, HEIGHT = 360.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 56.0, 28.0, 50.0
RADIUS = 4.6
FEW = 15  # rules up to which every one has its number; with more, those not dominated and the marked ones
CROSSES = 8  # rules not dominated up to which each has its intervals drawn; with more, the marked ones
VERDICTS = {
    "artefact": "An artefact: the loss is there if all that is shown counts as consumed, and not if only the best do",
    "real": "Real: diversity costs accuracy even if only the best items of a list are consumed",
    "none": "None: diversity costs no accuracy under either reading",
    "undecided": "Undecided: it is not shown that diversity costs accuracy, nor that it does not",
}
HEADS = {
    "balance": "balance", "categories": "categories per list", "entropy": "entropy of categories",
    "all_consumed": "accuracy if all is consumed", "all_change": "change",
    "best_consumed": "accuracy if the best are consumed", "best_change": "change", "gamma": "gamma",
}  # fmt: skip
FACTS = {
    "real_from": "Categories from which on the loss is real", "length": "Places in a list",
    "consumed": "Items consumed", "judged_by": "Lists are judged by",
    "margin": "Loss that does not matter", "level": "Level of intervals, for all points together",
    "resamples": "Resamples of users", "n_requests": "Requests with something to judge by", "n_users": "Users of these",
}  # fmt: skip
CURVES = {"all_consumed": "if all is consumed", "best_consumed": "if the best are consumed"}


def front_chart(identifier: str, lines: Sequence[RuleLine], axes: tuple[str, str], user: str | None) -> Markup:
    """Return rules by two measures; a full mark for those that no other dominates, a hollow one for others.

    Rules without a value on an axis are left out. `axes` are labels of measures, horizontal first; more of both is
    better.
    """
    there = [rule for rule in lines if None not in rule.standing.values]
    free = [rule for rule in there if rule.standing.on_front]
    crossed = [rule for rule in there if rule.roles or (len(free) <= CROSSES and rule in free)]
    scales = tuple(
        linear_scale([value for rule in there for value in _reach(rule, axes[k], rule in crossed)], *ends)
        for k, ends in enumerate(((LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)))
    )
    places = {
        rule.name: (scales[0](x), scales[1](y))
        for rule in there
        for x, y in [rule.standing.values]
        if x is not None and y is not None
    }
    drawn = _frame((scales[0], scales[1]), axes)
    drawn += [part for rule in crossed for part in _cross(rule, axes, scales, places[rule.name])]
    for rule in sorted(there, key=lambda one: (one.standing.on_front, bool(one.roles))):
        drawn.append(_marked(rule, axes, places[rule.name]))
    drawn += _labels(there, free, places)
    said = (
        f"Not dominated: {', '.join(rule.name for rule in free) or 'none'}. The reference is the list of {user} alone. "
        f"Values: " + "; ".join(_said(rule, axes) for rule in there)
    )
    return figure(identifier, (WIDTH, HEIGHT), f"{axes[1]} against {axes[0]}", said + ".", *drawn)


def _reach(rule: RuleLine, label: str, crossed: bool) -> list[float]:
    """Return what must fit on an axis: the value, and its interval if it is drawn."""
    cell = rule.row.metrics[label]
    return [end for end in (cell.value, *((cell.low, cell.high) if crossed else ())) if end is not None]


def _frame(scales: tuple[Scale, Scale], axes: tuple[str, str]) -> list[Markup]:
    across, up = scales
    base, drawn = HEIGHT - BOTTOM, []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        x = across(value)
        drawn += [line(x, TOP, x, base, "grid"), text(x, base + 16, label, "tick", "middle")]
    for value, label in zip(up.ticks, up.labels(), strict=True):
        y = up(value)
        drawn += [line(LEFT, y, WIDTH - RIGHT, y, "grid"), text(LEFT - 7, y + 4, label, "tick", "end")]
    drawn.append(text(WIDTH - 2, HEIGHT - 12, f"{_cut(axes[0])}, better →", "caption", "end"))
    drawn.append(text(2, 12, f"↑ {_cut(axes[1])}, better", "caption"))
    return drawn


def _cut(label: str) -> str:
    return label if len(label) <= 36 else label[:35] + "…"


def _cross(rule: RuleLine, axes: tuple[str, str], scales: Sequence[Scale], place: tuple[float, float]) -> list[Markup]:
    """Return the intervals of a rule."""
    x, y = place
    first, second = (rule.row.metrics[label] for label in axes)
    drawn = []
    if first.low is not None and first.high is not None:
        drawn.append(line(scales[0](first.low), y, scales[0](first.high), y, "interval"))
    if second.low is not None and second.high is not None:
        drawn.append(line(x, scales[1](second.low), x, scales[1](second.high), "interval"))
    return drawn


def _marked(rule: RuleLine, axes: tuple[str, str], place: tuple[float, float]) -> Markup:
    """Return the mark of a rule; a ring is for the reference, colour for the chosen rule."""
    css = f"{rule.fill} chosen" if rule.selected else rule.fill
    ring = [tag("circle", {"cx": place[0], "cy": place[1], "r": RADIUS + 4.5, "class": "ring"})]
    inner = [*(ring if "reference" in rule.roles else []), mark(rule.mark, *place, RADIUS, css)]
    return tag("g", {}, tag("title", {}, _said(rule, axes)), *inner)


def _labels(
    there: Sequence[RuleLine], free: Sequence[RuleLine], places: dict[str, tuple[float, float]]
) -> list[Markup]:
    """Return positions of rules beside their marks, with a word for the reference and the chosen rule."""
    named = sorted(
        (rule for rule in there if rule.roles or rule in free or len(there) <= FEW), key=lambda rule: not rule.roles
    )
    words: dict[tuple[int, int], list[RuleLine]] = {}
    for rule in named:
        x, y = places[rule.name]
        words.setdefault((round(x / 4), round(y / 4)), []).append(rule)
    labels = [
        Label(*places[group[0].name], _label(group), "halo selected" if group[0].selected else "halo")
        for group in words.values()
    ]
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places.values()]
    return placed(labels, taken, (LEFT, TOP - 8, WIDTH - 2, HEIGHT - BOTTOM))


def _label(group: Sequence[RuleLine]) -> str:
    roles = [role for rule in group for role in rule.roles if role in ("reference", "chosen")]
    return " ".join([", ".join(str(rule.position) for rule in group), *roles])


def _said(rule: RuleLine, axes: tuple[str, str]) -> str:
    cells = [(label, rule.row.metrics[label]) for label in axes]
    values = ", ".join(f"{label} {number(cell.value)} {interval(cell.low, cell.high)}".strip() for label, cell in cells)
    return f"{rule.words}: {values}"


@dataclass(frozen=True)
class Check:
    """The check as the page shows it: verdict and reason in words, further facts, the path of lists, and its chart.

    The path leads from accurate to diverse lists; its rows hold pairs of a value and what stands below it. The chart is
    None with fewer than two points.
    """

    verdict: str
    reason: str
    facts: tuple[tuple[str, str], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]
    chart: Markup | None


def check(found: Json | None) -> Check | None:
    """Return the check; None where there is none. Entries that the page does not know are shown as facts."""
    if found is None:
        return None
    verdict = str(found.get("verdict", NOT_DEFINED))
    points = found.get("points") or []
    names = [name for name in HEADS if points and name in points[0]]
    facts = [
        (FACTS.get(key, key.replace("_", " ")), percent(value) if key == "level" else in_words(value))
        for key, value in found.items()
        if key not in ("verdict", "reason", "words", "points") and not isinstance(value, dict | list)
    ]
    rows = [tuple(_cell(point[name], name) for name in names) for point in points]
    return Check(
        VERDICTS.get(verdict, verdict), str(found.get("reason") or found.get("words") or ""), tuple(facts),
        tuple(HEADS[name] for name in names), tuple(rows), _chart(points),
    )  # fmt: skip


def _cell(value: object, name: str) -> tuple[str, str]:
    if name == "gamma" and isinstance(value, dict):
        return number(value["gamma"]), ""
    if isinstance(value, dict):
        below = [span(value["low"], value["high"], 4), str(value.get("effect", ""))]
        return signed(value["value"], 4), " ".join(filter(None, below))
    if name.endswith("_change") and value is None:
        return "the most accurate list", ""
    return (
        (number(value, 2 if name in ("balance", "categories") else 4), "")
        if isinstance(value, float | int)
        else (NOT_DEFINED, "")
    )


def _chart(points: list[Json]) -> Markup | None:
    needed = {"categories", *CURVES}
    if len(points) < 2 or not all(needed <= set(point) for point in points):
        return None
    path = sorted(points, key=lambda point: point["categories"])
    curves = [Curve(words, tuple((point["categories"], point[key]) for point in path)) for key, words in CURVES.items()]
    values = [value for curve in curves for _, value in curve.points]
    axes = Axes(
        linear_scale([point["categories"] for point in path], *plot_width(), wanted=3),
        linear_scale([0.0, *values], *plot_height()),
        ("categories per list →", "accuracy"),
    )
    return curve_chart("consumption-chart", "Accuracy against diversity", curves, axes)
