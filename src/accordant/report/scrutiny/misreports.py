"""What misreports can make of the metrics: certified ranges, and the best attacks that are known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.page import sentence, short, strong
from accordant.report.scale import decimals, number, percent
from accordant.runs.record.scrutiny import BoundPart, CandidatePart, Ends, RankingPart

EVERYBODY = "everybody together"


@dataclass(frozen=True)
class BoundRow:
    """One metric against one coalition.

    Attributes
    ----------
    coalition, delta
        Who misreports, and by how much.
    nominal, certified, attained
        The honest value, the range that no misreport leaves, and the range that known misreports reach.
    searched
        What simple searches for misreports reach, one line each.
    certainty
        Which ends of the certified range known misreports reach.
    """

    coalition: str
    delta: float
    nominal: str
    certified: str
    attained: str
    searched: tuple[str, ...]
    certainty: str


@dataclass(frozen=True)
class Bounds:
    """What the table says.

    Attributes
    ----------
    weighted, others
        Metrics with weight, and all others, each with its rows.
    reasons
        Metric to the reason why it has no bound.
    """

    weighted: tuple[tuple[str, tuple[BoundRow, ...]], ...]
    others: tuple[tuple[str, tuple[BoundRow, ...]], ...]
    reasons: dict[str, str]


def bounds_of(
    bounds: Sequence[BoundPart] | None, weighted: Collection[str], unbounded: Mapping[str, str] = MappingProxyType({})
) -> Bounds | None:
    """Return the bounds of a record, metrics in its order; None if it was written without."""
    if bounds is None:
        return None
    rows = tuple(_rows(bounds))
    return Bounds(
        tuple(row for row in rows if row[0] in weighted),
        tuple(row for row in rows if row[0] not in weighted),
        dict(unbounded),
    )


def _rows(bounds: Sequence[BoundPart]) -> Iterable[tuple[str, tuple[BoundRow, ...]]]:
    by_metric: dict[str, list[BoundPart]] = {}
    for bound in bounds:
        by_metric.setdefault(bound.metric, []).append(bound)
    everybody = {name for bound in bounds if bound.coalition is not None for name in bound.coalition}
    for metric, rows in by_metric.items():
        digits = decimals(
            end for row in rows for end in (row.nominal, row.low, row.high, row.attained_low, row.attained_high)
        )
        yield metric, tuple(_row(row, digits, everybody) for row in rows)


def _row(bound: BoundPart, digits: int, everybody: set[str]) -> BoundRow:
    undefined = ", or not defined" if bound.may_be_undefined else ""
    return BoundRow(
        coalition=_members(bound.coalition, everybody),
        delta=bound.delta,
        nominal=number(bound.nominal, digits),
        certified=_range(bound.low, bound.high, digits) + undefined,
        attained=_range(bound.attained_low, bound.attained_high, digits),
        searched=tuple(
            f"{name} search: {_range(ends[0], ends[1], digits)}" for name, ends in bound.searched.items() if ends
        ),
        certainty=_certainty(bound.low_status, bound.high_status),
    )


def _members(coalition: Sequence[str] | None, everybody: set[str]) -> str:
    if coalition is None or (set(coalition) == everybody and len(everybody) > 1):
        return EVERYBODY
    return listed(coalition) or "nobody"


def _range(low: float | None, high: float | None, digits: int) -> str:
    if low is None and high is None:
        return "–"
    if low == high:
        return f"stays {number(low, digits)}"
    return f"{'no end' if low is None else number(low, digits)} to {'no end' if high is None else number(high, digits)}"


def _certainty(low: str, high: str) -> str:
    return low if low == high else f"low end {low}, high end {high}"


@dataclass(frozen=True)
class Gain:
    """What one stakeholder can gain alone: in which share of decisions, and how much on average."""

    stakeholder: str
    share: str
    mean: str


def gains(compared: CandidatePart) -> tuple[Gain, ...]:
    """Return the gains under one strategy; none if the record does not say."""
    return tuple(
        Gain(
            part.stakeholder,
            _between(part.manipulable, percent),
            _between(part.mean_gain, lambda value: number(value, 3)),
        )
        for part in compared.manipulable
    )


def _between(ends: Ends, written: Callable[[float], str]) -> str:
    if ends.low is None or ends.high is None:
        return "–"
    least, most = written(ends.low), written(ends.high)
    return least if least == most else f"{least} to {most}"


SCALES = {
    "frozen": "On the scales that honest reports give the metrics",
    "live": "With scales that move with the misreports",
}


def order_sentences(rankings: Sequence[RankingPart]) -> tuple[Markup, ...]:
    """Return what is shown about the best candidate; nothing if the record does not say."""
    return tuple(
        _sentence(words, [ranking for ranking in rankings if ranking.ranges == ranges])
        for ranges, words in SCALES.items()
        if any(ranking.ranges == ranges for ranking in rankings)
    )


def _sentence(words: str, rankings: Sequence[RankingPart]) -> Markup:
    everybody = max(len(ranking.coalition) for ranking in rankings)
    holds = {_who(ranking.coalition, everybody): ranking.best_holds for ranking in rankings}
    shown, open_ = [who for who, kept in holds.items() if kept], [who for who, kept in holds.items() if not kept]
    best, delta = strong(rankings[0].best), short(rankings[0].delta)
    if not shown:
        return sentence(f"{words} it is not shown for anybody that ", best, f" stays best under misreports of {delta}.")
    rest = f"; this is not shown for {listed(open_)}." if open_ else "."
    return sentence(f"{words} ", best, f" stays the best candidate if {listed(shown)} may misreport by {delta}{rest}")


def _who(members: Sequence[str], everybody: int) -> str:
    return "everybody together" if len(members) == everybody > 1 else f"{members[0]} alone"
