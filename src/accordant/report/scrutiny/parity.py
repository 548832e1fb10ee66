"""What bounds on group gaps cost: stakeholders' rewards as curves, metrics with weight as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.curves import MOST_CURVES, Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.reading import Json
from accordant.report.scale import count, decimals, interval, linear_scale, number, percent
from accordant.report.scrutiny.wording import short
from accordant.report.tables import Cell


@dataclass(frozen=True)
class PriceRow:
    """One bound: the share of decisions it changes, what it costs the rule, and the change of each metric.

    Attributes
    ----------
    within
        The bound, as written.
    changed, lost, hopeless
        Share of decisions that differ, score of the rule lost per row where it is finite, and how many more rows
        have none that is.
    cells
        Change of each metric of the table.
    reason
        Why the bound cannot be met; empty if it can.
    """

    within: str
    changed: str
    lost: str
    hopeless: float | None
    cells: tuple[Cell, ...]
    reason: str


@dataclass(frozen=True)
class ParityPrice:
    """The price of bounding one gap.

    Attributes
    ----------
    identifier
        Unique in the document.
    metric, rule, attribute
        Whose gap is bounded under which rule, between groups of which column.
    same
        Whether the bound is on the metric itself; else on all pairs of groups, which implies it.
    reason
        Why there is no price; empty if there is one.
    chart, sentence
        Rewards of stakeholders by bound, and what the strictest bound changes.
    metrics, rows
        The table.
    """

    identifier: str
    metric: str
    rule: str
    attribute: str
    same: bool
    reason: str
    chart: Markup | None
    sentence: str
    metrics: tuple[str, ...]
    rows: tuple[PriceRow, ...]

    @property
    def hopeless(self) -> bool:
        """Whether some bound leaves more rows without a finite score."""
        return any((row.hopeless or 0.0) > 0 for row in self.rows)


def parity_price(found: Json, index: int, metrics: Sequence[str]) -> ParityPrice:
    """Return the price of bounding one gap.

    Parameters
    ----------
    found
        As in the record.
    index
        Position in the report, from 1.
    metrics
        Those of the table.
    """
    identifier = f"parity-{index}"
    points = [point for point in found["points"] if not point["reason"]]
    shown = tuple(label for label in metrics if points and label in points[0]["change"])
    fine = decimals(point["within"] for point in found["points"])
    digits = {label: decimals(point["change"][label]["value"] for point in points) for label in shown}
    return ParityPrice(
        identifier=identifier,
        metric=found["metric"],
        rule=found["rule"],
        attribute=found["attribute"],
        same=found["same"],
        reason=found["reason"],
        chart=_chart(identifier, found, points),
        sentence=_sentence(points),
        metrics=shown,
        rows=tuple(_row(point, shown, digits, fine) for point in found["points"] if point["within"] is not None),
    )


def _bounds(points: Sequence[Json]) -> list[Json]:
    """Return the bounds that can be met, loosest first."""
    return sorted((point for point in points if point["within"] is not None), key=lambda point: -point["within"])


def _chart(identifier: str, found: Json, points: Sequence[Json]) -> Markup | None:
    """Return the change of stakeholders' mean expected rewards by bound; None if there is nothing to draw."""
    bounds = _bounds(points)
    free = next((point for point in points if point["within"] is None), None)
    if free is None or len({point["within"] for point in bounds}) < 2:
        return None
    changes = {
        name: tuple((point["within"], point["rewards"][name] - reward) for point in bounds)
        for name, reward in free["rewards"].items()
    }
    # who is moved most comes first
    order = sorted(changes, key=lambda name: -max(abs(change) for _, change in changes[name]))[:MOST_CURVES]
    curves = [Curve(name, changes[name]) for name in order]
    left, right = plot_width()
    axes = Axes(
        linear_scale([0.0, *(point["within"] for point in bounds)], right, left, wanted=3),
        linear_scale([0.0, *(change for name in order for _, change in changes[name])], *plot_height()),
        ("largest gap allowed, stricter →", "↑ change of the mean expected reward"),
    )
    return curve_chart(
        f"{identifier}-chart", f"What a bound on {found['metric']} changes for each stakeholder", curves, axes
    )


def _sentence(points: Sequence[Json]) -> str:
    bounds = _bounds(points)
    if not bounds:
        return "No bound can be met."
    strictest, loosest = bounds[-1], bounds[0]
    if loosest["within"] == 0:
        return "The rule has no gap by itself, so a bound costs nothing."
    lost = ""
    if strictest["score_lost"] is not None:
        lost = f" and costs the rule {number(strictest['score_lost'], _fine(strictest))} of its score per row"
    hopeless = strictest.get("hopeless") or 0.0
    if hopeless > 0:
        lost += f", and {count(round(hopeless, 1))} more rows than without a bound have no finite score"
    return f"A bound of {short(strictest['within'])} changes {percent(strictest['changed'])} of decisions{lost}."


def _fine(point: Json) -> int:
    return decimals([point["score_lost"]])


def _row(point: Json, metrics: Sequence[str], digits: dict[str, int], fine: int) -> PriceRow:
    within = number(point["within"], fine)
    if point["reason"]:
        return PriceRow(within, "", "", None, (), point["reason"])
    lost = "–" if point["score_lost"] is None else number(point["score_lost"], _fine(point))
    return PriceRow(
        within, percent(point["changed"]), lost, point.get("hopeless"),
        tuple(_cell(point["change"][label], digits[label]) for label in metrics), "",
    )  # fmt: skip


def _cell(change: Json, digits: int) -> Cell:
    value = number(change["value"], digits)
    rises = change["value"] is not None and change["value"] > 0 and float(f"{change['value']:.{digits}f}") > 0
    return Cell(f"+{value}" if rises else value, interval(change["low"], change["high"], digits))
