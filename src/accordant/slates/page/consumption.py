"""Whether diversity costs accuracy, or only seems to because all that is shown counts as consumed."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.curves import Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED, linear_scale, number, percent
from accordant.slates.page.facts import told
from accordant.slates.page.summary import signed, span

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
    "consumed": "Items consumed",
    "margin": "Loss that does not matter", "level": "Level of intervals, for all points together",
    "resamples": "Resamples of users", "n_requests": "Requests with something to judge by", "n_users": "Users of these",
}  # fmt: skip
CURVES = {"all_consumed": "if all is consumed", "best_consumed": "if the best are consumed"}


@dataclass(frozen=True)
class Check:
    """The check as the page shows it.

    Attributes
    ----------
    verdict, reason
        In words.
    facts
        Further numbers: name and value.
    heads, rows
        The path of lists from accurate to diverse as a table; rows hold pairs of a value and what stands below it.
    chart
        The path as curves; None if there are fewer than two points.
    """

    verdict: str
    reason: str
    facts: tuple[tuple[str, str], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]
    chart: Markup | None


def check(content: Json) -> Check | None:
    """Return the check; None where there is none. Entries that the page does not know are shown as facts."""
    found = content["consumption"]
    if found is None:
        return None
    verdict = str(found.get("verdict", NOT_DEFINED))
    points = found.get("points") or []
    names = [name for name in HEADS if points and name in points[0]]
    facts = [
        (FACTS.get(key, key.replace("_", " ")), percent(value) if key == "level" else told(value))
        for key, value in found.items()
        if key not in ("verdict", "reason", "words", "points") and not isinstance(value, dict | list)
    ]
    rows = [tuple(_cell(each[name], name) for name in names) for each in points]
    return Check(
        VERDICTS.get(verdict, verdict), str(found.get("reason") or found.get("words") or ""), tuple(facts),
        tuple(HEADS[name] for name in names), tuple(rows), _chart(points),
    )  # fmt: skip


def _cell(value: object, name: str) -> tuple[str, str]:
    if name == "gamma" and isinstance(value, dict):
        return number(value["gamma"]), ""
    if isinstance(value, dict):
        below = [span(value, 4), str(value.get("effect", ""))]
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
    if len(points) < 2 or not all(needed <= set(each) for each in points):
        return None
    path = sorted(points, key=lambda each: each["categories"])
    curves = [Curve(words, tuple((each["categories"], each[key]) for each in path)) for key, words in CURVES.items()]
    values = [value for curve in curves for _, value in curve.points]
    axes = Axes(
        linear_scale([each["categories"] for each in path], *plot_width(), wanted=3),
        linear_scale([0.0, *values], *plot_height()),
        ("categories per list →", "accuracy"),
    )
    return curve_chart("consumption-chart", "Accuracy against diversity", curves, axes)
