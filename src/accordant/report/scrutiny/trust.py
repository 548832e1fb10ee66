"""How far decisions can be trusted: shares that no misreport within δ changes, coalition by coalition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.curves import MOST_CURVES, Axes, Curve, curve_chart, plot_height, plot_width
from accordant.report.page import sentence, short, strong
from accordant.report.reading import Line, Reading
from accordant.report.scale import count, linear_scale, number, percent
from accordant.report.scrutiny.misreports import Bounds, Gain, bounds_of, gains, order_sentences
from accordant.runs.record.scrutiny import CandidatePart, SurveyPart

FEW = 0.05  # shares below that end a drawing
LEAST_RADII = 6  # drawn in any case
SPOKEN = 0.05  # the radius of the first sentence, or the nearest one on record
ANYTHING = "any"  # how a radius without end is written
QUANTILES = {"0": "smallest", "0.1": "9 in 10 reach", "0.5": "half reach", "0.9": "1 in 10 reaches"}
CERTAINTY = {True: "exact: all others can be changed", False: "sound: others may hold as well"}


@dataclass(frozen=True)
class Coalition:
    """Who misreports together, and which shares of decisions they cannot change."""

    members: tuple[str, ...]  # names
    everybody: bool  # whether nobody is missing
    shares: tuple[float | None, ...]  # by radius, for all radii on record; None without contexts
    quantiles: dict[str, str]  # by level, as they are written
    never: float | None  # share of decisions that no misreport of theirs changes

    @property
    def name(self) -> str:
        """Who it is, in words."""
        return "Everybody together" if self.everybody and len(self.members) > 1 else listed(self.members)


@dataclass(frozen=True)
class Rival:
    """What one strategy withstands; `line` is None if the leaderboard does not have it."""

    name: str
    line: Line | None
    everybody: tuple[float | None, ...]
    worst_single: tuple[float | None, ...]
    certainty: str
    method: str
    gains: tuple[Gain, ...]


@dataclass(frozen=True)
class Trust:
    """What the section says.

    Attributes
    ----------
    strategy
        Whose decisions they are.
    sentences
        The finding in words.
    chart
        Shares against δ; None if there is nothing to draw.
    undrawn, cut
        How many single stakeholders the drawing leaves out, and the radius at which it ends if there are larger ones,
        because hardly a decision withstands these.
    deltas
        The radii of the tables, with their positions among those on record.
    coalitions
        The coalitions of the first table: single stakeholders, the worst pair, everybody.
    others
        All others.
    certainty, method, box, frozen
        Of the certificates.
    collusion
        Size of the smallest coalition (0: none that was asked) to the share of decisions, by radius of the tables.
    rivals, rival_deltas
        The comparison of strategies and its radii.
    order
        Whether the best candidate stays the best, in sentences; empty if the record does not say.
    bounds
        Certified bounds of metrics; None if the record was written without.
    """

    strategy: str
    sentences: tuple[Markup, ...]
    chart: Markup | None
    undrawn: int
    cut: float | None
    deltas: tuple[tuple[int, float], ...]
    coalitions: tuple[Coalition, ...]
    others: tuple[Coalition, ...]
    certainty: str
    method: str
    box: tuple[float, float]
    frozen: bool
    collusion: tuple[tuple[int, tuple[float | None, ...]], ...]
    rivals: tuple[Rival, ...]
    rival_deltas: tuple[float, ...]
    order: tuple[Markup, ...]
    bounds: Bounds | None


def trust(reading: Reading) -> Trust:
    """Return what the record says about certificates."""
    scrutiny = reading.scrutiny
    survey = scrutiny.certificates
    coalitions = _coalitions(survey)
    singles, pair, everybody = _first(coalitions)
    first = (*singles, *pair, *everybody)
    radii = [float(delta) for delta in survey.deltas]
    compared = scrutiny.by_strategy[0].deltas if scrutiny.by_strategy else ()
    wanted = [*(delta for delta in compared if delta in radii), radii[-1]]
    deltas = tuple((radii.index(delta), delta) for delta in dict.fromkeys(wanted))
    low, high = survey.box
    chart, undrawn, cut = _chart(survey.rule, singles, pair, everybody, radii)
    return Trust(
        strategy=survey.rule,
        sentences=_sentences(survey, singles, everybody, radii),
        chart=chart,
        undrawn=undrawn,
        cut=cut,
        deltas=deltas,
        coalitions=first,
        others=tuple(coalition for coalition in coalitions if coalition not in first),
        certainty=CERTAINTY[survey.exact],
        method=survey.method,
        box=(low, high),
        frozen=survey.frozen,
        collusion=_collusion(survey, [k for k, _ in deltas]),
        rivals=tuple(_rival(reading, candidate) for candidate in scrutiny.by_strategy),
        rival_deltas=tuple(compared),
        order=order_sentences(scrutiny.ranking),
        bounds=bounds_of(scrutiny.bounds, {column.label for column in reading.weighted}, scrutiny.unbounded),
    )


def _coalitions(survey: SurveyPart) -> tuple[Coalition, ...]:
    everyone = {name for coalition in survey.coalitions for name in coalition.members}
    return tuple(
        Coalition(
            coalition.members,
            set(coalition.members) == everyone,
            coalition.certified,
            {level: _radius(coalition.quantiles[level]) for level in QUANTILES},
            coalition.never,
        )
        for coalition in survey.coalitions
    )


def _radius(value: float | str | None) -> str:
    return ANYTHING if value == "inf" else "–" if value is None else number(float(value))


def _first(coalitions: Sequence[Coalition]) -> tuple[tuple[Coalition, ...], ...]:
    """Return single stakeholders, the pair that can change most beside everybody, and everybody."""
    singles = tuple(coalition for coalition in coalitions if len(coalition.members) == 1)
    pairs = [coalition for coalition in coalitions if len(coalition.members) == 2 and not coalition.everybody]
    worst = min(pairs, key=_strength, default=None)
    everybody = tuple(coalition for coalition in coalitions if coalition.everybody and len(coalition.members) > 1)
    return singles, () if worst is None else (worst,), everybody


def _strength(coalition: Coalition) -> float:
    """Return what a coalition leaves certified, summed over all radii."""
    return sum(share or 0.0 for share in coalition.shares)


def _sentences(
    survey: SurveyPart, singles: Sequence[Coalition], everybody: Sequence[Coalition], radii: Sequence[float]
) -> tuple[Markup, ...]:
    """Return the finding in words: the worst single stakeholder, everybody, and how far misreports may go."""
    if not survey.contexts:
        return (sentence("There are no untouched rows, so there is nothing to certify."),)
    all_of_them = everybody[0] if everybody else singles[0]
    if all_of_them.never == 1:
        return (sentence("No misreport by anybody, however large, changes a decision of ", strong(survey.rule), "."),)
    k = min((k for k in range(len(radii)) if radii[k] > 0), key=lambda k: abs(radii[k] - SPOKEN))
    worst = min(singles, key=lambda coalition: coalition.shares[k] or 0.0)
    least = "" if survey.exact else "at least "
    only = "only " if everybody else ""
    rest = f"; if everybody did, {least}{percent(all_of_them.shares[k])}." if everybody else "."
    first = sentence(
        f"If {only}",
        strong(worst.members[0]),
        f" misreported its rewards by up to {short(radii[k])}, {least}",
        f"{percent(worst.shares[k])} of the {count(survey.contexts)} decisions would stay for certain{rest}",
    )
    return first, _withstood(all_of_them, "everybody together" if everybody else worst.members[0])


def _withstood(coalition: Coalition, whose: str) -> Markup:
    half, most = coalition.quantiles["0.5"], coalition.quantiles["0.1"]
    if half == ANYTHING:
        return sentence(f"At least half of the decisions withstand any misreport of {whose}.")
    return sentence(f"Half of the decisions withstand misreports of {whose} up to {half}, nine in ten up to {most}.")


def _chart(
    rule: str,
    singles: Sequence[Coalition],
    pair: Sequence[Coalition],
    everybody: Sequence[Coalition],
    radii: Sequence[float],
) -> tuple[Markup | None, int, float | None]:
    """Return curves of everybody, the worst pair, and single stakeholders; how many of these do not fit; the end."""
    drawn = sorted(singles, key=_strength)[: MOST_CURVES - len(pair) - len(everybody)]
    shown = [*everybody, *pair, *(coalition for coalition in singles if coalition in drawn)]
    if len(radii) < 2 or any(share is None for coalition in shown for share in coalition.shares):
        return None, 0, None
    highest = [max(coalition.shares[k] or 0.0 for coalition in shown) for k in range(len(radii))]
    end = next((k for k, share in enumerate(highest) if share < FEW and k + 1 >= LEAST_RADII), len(radii) - 1)
    radii, cut = radii[: end + 1], radii[end] if end + 1 < len(radii) else None
    curves = [
        Curve(
            coalition.name, tuple((delta, share or 0.0) for delta, share in zip(radii, coalition.shares, strict=False))
        )
        for coalition in shown
    ]
    axes = Axes(
        linear_scale(radii, *plot_width(), tight=True), linear_scale([0.0, 1.0], *plot_height()),
        ("misreport δ of each expected reward →", "↑ decisions that cannot change"), shares=True,
    )  # fmt: skip
    title = f"Share of decisions of {rule} that no misreport within δ changes"
    return curve_chart("trust-chart", title, curves, axes), len(singles) - len(drawn), cut


def _collusion(survey: SurveyPart, positions: Sequence[int]) -> tuple[tuple[int, tuple[float | None, ...]], ...]:
    """Return how many must collude, smallest number first, those that nobody can change last."""
    n, counts = survey.contexts, survey.smallest_coalition
    sizes = sorted({int(size) for k in positions for size in counts[k]}, key=lambda size: size or float("inf"))
    return tuple((size, tuple(counts[k].get(str(size), 0) / n if n else None for k in positions)) for size in sizes)


def _rival(reading: Reading, candidate: CandidatePart) -> Rival:
    return Rival(
        candidate.strategy, reading.find(candidate.strategy), candidate.everybody, candidate.worst_single,
        CERTAINTY[candidate.exact], candidate.method, gains(candidate),
    )  # fmt: skip
