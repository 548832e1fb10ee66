"""Who decides: what each stakeholder contributes to the decisions, in all contexts and by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.bars import Bar, bar_chart
from accordant.report.page import sentence, strong
from accordant.report.reading import Reading
from accordant.report.scale import MINUS, count, number, percent
from accordant.runs.record.scrutiny import (
    EstimatedIndex,
    GroupPivotal,
    GroupPower,
    IndexPart,
    InfluencePart,
    PivotalPart,
    PowerPart,
)

VARIATIONS = {
    "neutralised": "neutralised", "dropped": "left out", "doubled": "twice the weight", "halved": "half the weight",
}  # fmt: skip
LARGEST_SHARE = 2.0  # shares beyond that come from dividing by next to nothing
MOST_NAMED = 3  # stakeholders in a sentence, beside the first
MOST_BARS = 24  # more than a page holds; the table has all of them


@dataclass(frozen=True)
class Row:
    """One stakeholder in one group, or in all contexts.

    Attributes
    ----------
    group
        In words; empty for all contexts.
    n
        Contexts.
    shapley, banzhaf
        Contributions per 100 decisions; None without contexts.
    shapley_share, banzhaf_share
        Shares of all contributions, as written; a dash where there is nothing to share.
    telling
        Whether shares of these contexts say something: there is enough to share.
    error
        Standard error of `shapley`; None if it is exact.
    pivotal
        By variation, the share of decisions that would be different; None where the variation means nothing.
    """

    group: str
    n: int
    shapley: float | None
    banzhaf: float | None
    shapley_share: str
    banzhaf_share: str
    telling: bool
    error: float | None
    pivotal: tuple[float | None, ...]


@dataclass(frozen=True)
class Division:
    """One grouping: rows by stakeholder, and their drawing (None if there are too many)."""

    attributes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Row, ...]], ...]
    chart: Markup | None

    @property
    def title(self) -> str:
        """The attributes in one phrase; empty if contexts are not divided."""
        return " × ".join(self.attributes)


@dataclass(frozen=True)
class Deciders:
    """What the section says."""

    strategy: str  # whose decisions they are
    sentences: tuple[Markup, ...]  # the finding in words
    divisions: tuple[Division, ...]  # one per grouping
    rotated: bool  # whether nobody's choice is each action alike; else it is the one declared first
    reasons: tuple[str, ...]  # what means nothing for this strategy, and why


def deciders(reading: Reading) -> Deciders:
    """Return what the record says about influence."""
    scrutiny = reading.scrutiny
    influences, strategy = scrutiny.influence, scrutiny.strategy
    divisions = tuple(_division(reading, influence, k) for k, influence in enumerate(influences, 1))
    rotated = any(influence.power.ties == "rotated" for influence in influences)
    return Deciders(
        strategy, _sentences(influences[0], strategy) if influences else (), divisions, rotated, _reasons(influences)
    )


def _sentences(influence: InfluencePart, strategy: str) -> tuple[Markup, ...]:
    """Return whose silence would change most, and what there is to share."""
    power, n = influence.power, influence.power.contexts
    if not n:
        return (sentence("There are no untouched rows, so nobody decides anything."),)
    asked = influence.pivotal.pivotal["neutralised"]
    shares = sorted(((share, name) for name, share in asked.items() if share is not None), key=lambda pair: -pair[0])
    said = []
    if shares and shares[0][0] == 0:
        said.append(
            sentence("No decision of ", strong(strategy), " would change if any one stakeholder had no preference.")
        )
    elif shares:
        (most, who), rest = shares[0], shares[1:]
        others = listed([f"{name} {percent(share)}" for share, name in rest])
        if len(rest) > MOST_NAMED:
            others = f"any other stakeholder at most {percent(rest[0][0])}"
        start = f" had no preference, {percent(most)} of the {count(n)} decisions of "
        end = f" would be different{f'; for {others}' if others else ''}."
        said.append(sentence("If ", strong(who), start, strong(strategy), end))
    silent = [name for name in power.shapley.raw if name not in power.players]
    if silent:
        said.append(sentence(f"{listed(silent)} {'has' if len(silent) == 1 else 'have'} no say under this strategy."))
    said.append(_moved(power, n))
    if not power.exact:
        said.append(sentence(f"Values are estimated from {count(power.samples)} drawn orders of being heard."))
    return tuple(said)


def _moved(power: PowerPart, n: int) -> Markup:
    """Return what is shared out, and how far shares can be read."""
    moved = power.moved
    nothing = "so there is nothing to share out and only contributions are shown."
    if moved < 0:
        fewer = f"{count(-moved)} fewer of the {count(n)} decisions"
        return sentence(f"Hearing everybody brings about {fewer} than hearing nobody, {nothing}")
    if moved == 0:
        return sentence(f"Hearing everybody brings about no more of the decisions than hearing nobody, {nothing}")
    few = "" if _telling(power.shapley) else " Parts of so few are large numbers that say little: read contributions."
    return sentence(
        f"Hearing everybody brings about {count(moved)} more of the {count(n)} decisions than hearing nobody; ",
        f"shares are parts of these {count(moved)}.{few}",
    )


def _division(reading: Reading, influence: InfluencePart, index: int) -> Division:
    """Return the rows of one grouping and their drawing."""
    attributes, power, pivotal = influence.attributes, influence.power, influence.pivotal
    names = list(power.shapley.raw)
    parts: list[tuple[str, PowerPart | GroupPower, PivotalPart | GroupPivotal]] = [("", power, pivotal)]
    for label, group in power.groups.items():
        parts.append((reading.group_name(list(attributes), label), group, pivotal.groups[label]))
    rows = tuple((name, tuple(_row(name, *part) for part in parts)) for name in names)
    return Division(attributes, rows, _chart(rows, " × ".join(attributes), index))


def _row(name: str, group: str, power: PowerPart | GroupPower, pivotal: PivotalPart | GroupPivotal) -> Row:
    n = power.contexts
    shapley, banzhaf = power.shapley, power.banzhaf
    errors = shapley.standard_error if isinstance(shapley, EstimatedIndex) else None
    return Row(
        group,
        n,
        _per_hundred(shapley.raw[name], n),
        _per_hundred(banzhaf.raw[name], n),
        _share(shapley.share, name),
        _share(banzhaf.share, name),
        _telling(shapley),
        None if errors is None else _per_hundred(errors[name], n),
        tuple(pivotal.pivotal[variation][name] for variation in VARIATIONS),
    )


def _telling(index: IndexPart) -> bool:
    """Return whether there is enough to share for shares to say something."""
    return index.share is not None and max(map(abs, index.share.values())) <= LARGEST_SHARE


def _per_hundred(value: float, n: int) -> float | None:
    return 100 * value / n if n else None


def _share(shares: Mapping[str, float] | None, name: str) -> str:
    if shares is None:
        return "–"
    if shares[name] >= 0:
        return percent(shares[name])
    return f"> {MINUS}0.1%" if shares[name] > -0.001 else f"{MINUS}{percent(-shares[name])}"


def _chart(rows: Sequence[tuple[str, Sequence[Row]]], title: str, index: int) -> Markup | None:
    """Return Shapley contributions as bars: solid in all contexts, hatched by group."""
    if sum(len(parts) for _, parts in rows) > MOST_BARS:
        rows = [(name, parts[:1]) for name, parts in rows]
    if len(rows) > MOST_BARS:
        return None
    bars = []
    for name, parts in rows:
        for k, row in enumerate(parts):
            words = number(row.shapley, 1) + (f" ({row.shapley_share})" if row.telling else "")
            limits = None if row.error is None or row.shapley is None else (
                row.shapley - 2 * row.error, row.shapley + 2 * row.error
            )  # fmt: skip
            bars.append(Bar(row.group or name, row.shapley, words, None if k == 0 else k, limits, heading=k == 0))
    about = f" by {title}" if title else ""
    return bar_chart(
        f"deciders-chart-{index}", f"Shapley contribution of each stakeholder{about}", bars,
        "contribution per 100 decisions",
    )  # fmt: skip


def _reasons(influences: Sequence[InfluencePart]) -> tuple[str, ...]:
    """Return what means nothing, once for each reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for influence in influences[:1]:
        for variation, why in influence.pivotal.reasons.items():
            for name, reason in why.items():
                reasons.setdefault((VARIATIONS[variation], reason), []).append(name)
    return tuple(f"{variation}, {listed(names)}: {reason}" for (variation, reason), names in reasons.items())
