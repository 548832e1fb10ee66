"""Whether conflicts are real: pairs of metrics with verdicts and their grounds; what bounds on group gaps cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import counted, listed
from accordant.report.charts.curves import MOST_CURVES, Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.page import short
from accordant.report.reading import Reading
from accordant.report.scale import NOT_DEFINED, Cell, count, decimals, interval, linear_scale, number, percent
from accordant.runs.record.choice import (
    ChangePart,
    ConcessionsPart,
    GroundsPart,
    ImprovementPart,
    PairPart,
    PricePart,
    PricePointPart,
)


@dataclass(frozen=True)
class PriceRow:
    """One bound: the share of decisions it changes, what it costs the rule, and the change of each metric.

    Attributes
    ----------
    changed, lost, hopeless
        Share of decisions that differ, score of the rule lost per row where it is finite, and how many more rows
        have none that is.
    """

    within: str  # the bound, as written
    changed: str
    lost: str
    hopeless: float | None
    cells: tuple[Cell, ...]  # change of each metric of the table
    reason: str  # why the bound cannot be met; empty if it can


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


def parity_price(price: PricePart, index: int, metrics: Sequence[str]) -> ParityPrice:
    """Return the price of bounding one gap.

    Parameters
    ----------
    price
        As in the record.
    index
        Position in the report, from 1.
    metrics
        Those of the table.
    """
    identifier = f"parity-{index}"
    points = [point for point in price.points if not point.reason]
    shown = tuple(label for label in metrics if points and label in points[0].change)
    fine = decimals(point.within for point in price.points)
    digits = {label: decimals(point.change[label].value for point in points) for label in shown}
    return ParityPrice(
        identifier=identifier,
        metric=price.metric,
        rule=price.rule,
        attribute=price.attribute,
        same=price.same,
        reason=price.reason,
        chart=_chart(identifier, price, points),
        sentence=_sentence(points),
        metrics=shown,
        rows=tuple(_row(point, shown, digits, fine) for point in price.points if point.within is not None),
    )


def _bounds(points: Sequence[PricePointPart]) -> list[tuple[float, PricePointPart]]:
    """Return the bounds that can be met, loosest first."""
    bounds = [(point.within, point) for point in points if point.within is not None]
    return sorted(bounds, key=lambda bound: -bound[0])


def _chart(identifier: str, price: PricePart, points: Sequence[PricePointPart]) -> Markup | None:
    """Return the change of stakeholders' mean expected rewards by bound; None if there is nothing to draw."""
    bounds = _bounds(points)
    free = next((point for point in points if point.within is None), None)
    if free is None or len({within for within, _ in bounds}) < 2:
        return None
    changes = {
        name: tuple((within, point.rewards[name] - reward) for within, point in bounds)
        for name, reward in free.rewards.items()
    }
    # who is moved most comes first
    order = sorted(changes, key=lambda name: -max(abs(change) for _, change in changes[name]))[:MOST_CURVES]
    curves = [Curve(name, changes[name]) for name in order]
    left, right = plot_width()
    axes = Axes(
        linear_scale([0.0, *(within for within, _ in bounds)], right, left, wanted=3),
        linear_scale([0.0, *(change for name in order for _, change in changes[name])], *plot_height()),
        ("largest gap allowed, stricter →", "↑ change of the mean expected reward"),
    )
    return curve_chart(
        f"{identifier}-chart", f"What a bound on {price.metric} changes for each stakeholder", curves, axes
    )


def _sentence(points: Sequence[PricePointPart]) -> str:
    bounds = _bounds(points)
    if not bounds:
        return "No bound can be met."
    (within, strictest), (loosest, _) = bounds[-1], bounds[0]
    if loosest == 0:
        return "The rule has no gap by itself, so a bound costs nothing."
    lost = ""
    if strictest.score_lost is not None:
        lost = f" and costs the rule {number(strictest.score_lost, _fine(strictest))} of its score per row"
    hopeless = strictest.hopeless or 0.0
    if hopeless > 0:
        lost += f", and {count(round(hopeless, 1))} more rows than without a bound have no finite score"
    return f"A bound of {short(within)} changes {percent(strictest.changed)} of decisions{lost}."


def _fine(point: PricePointPart) -> int:
    return decimals([point.score_lost])


def _row(point: PricePointPart, metrics: Sequence[str], digits: dict[str, int], fine: int) -> PriceRow:
    within = number(point.within, fine)
    if point.reason:
        return PriceRow(within, "", "", None, (), point.reason)
    lost = "–" if point.score_lost is None else number(point.score_lost, _fine(point))
    return PriceRow(
        within, percent(point.changed), lost, point.hopeless,
        tuple(_cell(point.change[label], digits[label]) for label in metrics), "",
    )  # fmt: skip


def _cell(change: ChangePart, digits: int) -> Cell:
    value = number(change.value, digits)
    rises = change.value is not None and change.value > 0 and float(f"{change.value:.{digits}f}") > 0
    return Cell(f"+{value}" if rises else value, interval(change.low, change.high, digits))


# verdict → what it means; those that ask for something to be done first
MEANINGS = {
    "missing strategy": "an attainable rule improves both beyond lotteries between candidates, confirmed on other rows",
    "a lottery improves": "a candidate on the front is behind in both, but no rule is confirmed to be beyond lotteries",
    "inherent": "even with hindsight no policy reaches the best of both at once, beyond sampling error",
    "limited by prediction": "with hindsight some policy reaches the best of both; for new people it is not known how",
    "no improvement found": "nothing better was confirmed, and what hindsight could do is not known or not settled",
    "opposed by construction": "one metric never rises where the other rises, over everything tried",
    "undecided": "the sample does not settle which candidate is best in what",
    "same direction": "one candidate is best in both, or one metric never falls where the other rises",
    "no difference": "all candidates are equal on one of them, or fewer than two are defined on both",
}


@dataclass(frozen=True)
class Pair:
    """One pair of metrics.

    Attributes
    ----------
    metrics, verdict
        Labels, and the word for their conflict.
    improvements, attempts
        Policies that were tried against candidates, with their gains: confirmed ones, and others.
    """

    metrics: tuple[str, str]
    verdict: str
    grounds: tuple[str, ...]  # which of the grounds for a verdict apply, in words
    costs: tuple[str, ...]  # the best candidate of each metric and what it is behind in the other one
    concessions: tuple[tuple[str, str], ...]  # over ever larger sets of policies, as written
    improvements: tuple[str, ...]
    attempts: tuple[str, ...]
    reasons: tuple[str, ...]  # what was not computed, and why


@dataclass(frozen=True)
class Disputes:
    """What the section says."""

    summary: str  # how many pairs have which verdict
    verdicts: tuple[tuple[str, str], ...]  # those that occur, with their meaning
    pairs: tuple[Pair, ...]  # in the order of `MEANINGS`
    prices: tuple[ParityPrice, ...]  # what bounds on group gaps cost
    tried: str  # what was looked at, in words
    level: str  # of the intervals


def disputes(reading: Reading) -> Disputes:
    """Return what the record says about conflicts."""
    conflict = reading.scrutiny.conflict
    order = list(MEANINGS)
    pairs = sorted((_pair(pair) for pair in conflict.pairs), key=lambda pair: order.index(pair.verdict))
    verdicts = Counter(pair.verdict for pair in pairs)
    weighted = [column.label for column in reading.weighted]
    return Disputes(
        summary=_summary(verdicts),
        verdicts=tuple((word, MEANINGS[word]) for word in verdicts),
        pairs=tuple(pairs),
        prices=tuple(parity_price(price, k, weighted) for k, price in enumerate(conflict.prices, 1)),
        tried=_tried(conflict.tried),
        level=percent(conflict.level),
    )


def _summary(verdicts: Counter[str]) -> str:
    total = verdicts.total()
    if not total:
        return "Fewer than two metrics have weight, so there is no pair that could be in conflict."
    if len(verdicts) == 1:
        return f"{counted(total, 'pair')} of metrics with weight: {next(iter(verdicts))}."
    parts = [f"{word} for {n}" for word, n in verdicts.items()]
    return f"{counted(total, 'pair')} of metrics with weight: {listed(parts)}."


def _tried(tried: Mapping[str, int]) -> str:
    words = {
        "strategy": "the candidates", "reweighed": "the utilitarian rule under {n} stakeholder weights",
        "bounded": "{n} rules with a bound on a group gap",
        "probe": "{n} random rules that only test whether metrics can come apart",
    }  # fmt: skip
    return listed([words[kind].format(n=n) for kind, n in tried.items() if n and kind in words])


def _pair(pair: PairPart) -> Pair:
    return Pair(
        metrics=pair.metrics,
        verdict=pair.verdict,
        grounds=tuple(_grounds(pair.grounds)),
        costs=tuple(_costs(pair)),
        concessions=tuple(_concessions(pair.concessions)),
        improvements=tuple(_improvements(pair, confirmed=True)),
        attempts=tuple(_improvements(pair, confirmed=False)),
        reasons=pair.reasons,
    )


def _grounds(grounds: GroundsPart) -> list[str]:
    """Return what speaks for the verdict, besides the numbers of the other columns."""
    said = []
    if grounds.differs and grounds.relation == "none":
        if grounds.single_share is not None:
            said.append(f"one candidate is best in both in {percent(grounds.single_share)} of resamples")
        if grounds.apart is False and not grounds.single:
            said.append("the two best candidates are not told apart in both metrics")
    return said


def _costs(pair: PairPart) -> list[str]:
    """Return the best candidate of each metric, and what it is behind in the other one."""
    if pair.best is None or pair.costs is None:
        return [NOT_DEFINED]
    (first, second), (a, b) = pair.metrics, pair.best
    if a == b:
        return [f"{a} is best in both"]
    said = []
    for best, metric, other, cost in ((a, first, second, pair.costs[1]), (b, second, first, pair.costs[0])):
        digits = decimals((cost.value, cost.low, cost.high))
        limits = interval(cost.low, cost.high, digits)
        behind = " ".join(filter(None, (number(cost.value, digits), limits)))
        said.append(f"{best}, best in {metric}, is behind by {behind} in {other}")
    return said


def _concessions(concessions: ConcessionsPart | None) -> list[tuple[str, str]]:
    """Return the share of the span that has to be given up, over ever larger sets of policies."""
    if concessions is None:
        return []
    rows = [
        ("candidates", _share(concessions.strategies)),
        ("lotteries between two", _share(concessions.mixtures)),
        ("other rules", _share(concessions.rules)),
    ]
    if concessions.hindsight is not None:
        low, high = (_share(end) for end in concessions.hindsight)
        rows.append(("with hindsight", low if low == high else f"{low} to {high}"))
    if concessions.hindsight_interval is not None:
        low, high = (_share(end) for end in concessions.hindsight_interval)
        rows.append(("with hindsight, over resamples", low if low == high else f"{low} to {high}"))
    return rows


def _share(value: float | None) -> str:
    """Return a share of the span; below 0, but for rounding, is better than the best of both."""
    if value is None:
        return NOT_DEFINED
    return "better than both" if value < -0.0005 else percent(abs(value))


def _improvements(pair: PairPart, *, confirmed: bool) -> list[str]:
    """Return policies that were tried against candidates on the front, with what they gain."""
    said = []
    for improvement in pair.improvements:
        if improvement.confirmed != confirmed:
            continue
        gains = [_gain(metric, gain) for metric, gain in zip(pair.metrics, improvement.gains, strict=True)]
        words = f"{improvement.by.name} instead of {improvement.over}: {'; '.join(gains)}"
        said.append(f"{words}{_beyond(improvement)}")
    return said


def _beyond(improvement: ImprovementPart) -> str:
    """Return how far a rule passes lotteries between candidates, in shares of the span; nothing for a lottery."""
    past = improvement.beyond
    if past is None:
        return ""
    limits = "" if past.low is None else f" [{percent(past.low)}, {percent(past.high)}]"
    value = NOT_DEFINED if past.value is None else percent(past.value)
    if improvement.compromise:
        return f"; besides the candidates it lowers the concession of lotteries by {value}{limits}"
    return f"; beyond all lotteries by {value}{limits}"


def _gain(metric: str, gain: ChangePart) -> str:
    digits = decimals((gain.value, gain.low, gain.high))
    rises = gain.value is not None and gain.value > 0
    words = (
        metric,
        f"{'+' if rises else ''}{number(gain.value, digits)}",
        interval(gain.low, gain.high, digits),
    )
    return " ".join(filter(None, words))
