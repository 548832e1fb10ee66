"""The weights behind the winner: who wins at which, how near another winner is; other choices behind the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import counted, listed
from accordant.report.charts.bars import Bar, bar_chart
from accordant.report.charts.simplex import Area, weight_strip, weight_triangle
from accordant.report.page import sentence, short, strong
from accordant.report.reading import Line, Reading
from accordant.report.scale import count, number, percent
from accordant.runs.record.choice import (
    ChoicesPart,
    RegionPart,
    RegionsPart,
    SamplingErrorPart,
    ShiftPart,
    SurvivalPart,
    WeightSensitivityPart,
    WithoutPart,
)

NORMALISATIONS = {
    "natural": "each metric on its own range",
    "relative": "worst candidate 0, best candidate 1",
    "reference": "as the published code does it",
    "rank": "share of the other candidates that are worse",
    "zscore": "standard scores over the candidates",
}


@dataclass(frozen=True)
class Normalised:
    """The winner under one normalisation.

    Attributes
    ----------
    name, meaning
        Which one, and in words.
    chosen, same
        Whether it is the one of this run; whether one of its winners wins there too.
    winners, lead
        Who wins, and by how much over the first that does not; a dash if all win.
    order
        All candidates in order of their score.
    """

    name: str
    meaning: str
    chosen: bool
    same: bool
    winners: tuple[str, ...]
    lead: str
    order: tuple[str, ...]


@dataclass(frozen=True)
class Choices:
    """What the part says: normalisations, and sentences on candidates that are left out."""

    normalisations: tuple[Normalised, ...]
    removals: tuple[str, ...]
    reversals: tuple[str, ...]
    summary: str


def choices(found: ChoicesPart) -> Choices:
    """Return what the record says about other choices."""
    own = next(ranking for ranking in found.normalisations if ranking.normalisation == found.normalisation)
    winners = set(own.winners)
    normalisations = tuple(
        Normalised(
            name=ranking.normalisation,
            meaning=NORMALISATIONS.get(ranking.normalisation, ""),
            chosen=ranking.normalisation == found.normalisation,
            same=bool(winners & set(ranking.winners)),
            winners=ranking.winners,
            lead="–" if ranking.lead is None else number(ranking.lead),
            order=ranking.order,
        )
        for ranking in found.normalisations
    )
    reversals = tuple(
        f"{reversal.ahead} is ahead of {reversal.behind} by {number(reversal.lead_before)}; without {reversal.removed} "
        f"it is behind by {number(-reversal.lead_after)}."
        for reversal in found.reversals
    )
    return Choices(normalisations, tuple(_removals(found)), reversals, _summary(found))


def _summary(choices: ChoicesPart) -> str:
    n, pairs = len(choices.reversals), choices.pairs
    if not pairs:
        return "There is no pair of ranked candidates whose order could change."
    if not n:
        return f"Leaving out any one candidate changes the order of none of {counted(pairs, 'pair')} of others."
    return f"Leaving out one candidate turns round {n} of {counted(pairs, 'pair')} of others (rank reversal)."


def _removals(choices: ChoicesPart) -> list[str]:
    """Return who wins if candidates are left out."""
    said = [
        f"Without {removal.removed[0]}, {listed(removal.winners)} {_wins(removal)} "
        "although the former winner is still in."
        for removal in choices.without
        if removal.changed
    ]
    if choices.baseline_subsets:
        said.append(_baselines(choices))
    without = choices.without_baselines
    if without is not None and without.winners:
        said.append(f"Without any baseline {listed(without.winners)} {_wins(without)}.")
    return said


def _baselines(choices: ChoicesPart) -> str:
    """Say how often leaving out baselines brings another winner, and the smallest set that does."""
    sets, smallest = counted(choices.baseline_subsets, "set"), choices.smallest_change
    if smallest is None:
        return f"None of {sets} of baselines that can be left out brings another winner."
    return (
        f"Of {sets} of baselines that can be left out, {choices.baseline_changes} brought another winner; without "
        f"{listed(smallest.removed)}, a smallest one, {listed(smallest.winners)} {_wins(smallest)}."
    )


def _wins(removal: WithoutPart) -> str:
    return "wins" if len(removal.winners) == 1 else "win"


SMALL = 1e-9  # changes of a weight up to this are rounding


@dataclass(frozen=True)
class Shift:
    """What must move until a rival is level with the winner.

    Attributes
    ----------
    giving, taking
        Metrics that lose and gain weight, each with its points.
    """

    rival: str  # who takes over, with those that share its values
    points: str  # percentage points of weight
    giving: str
    taking: str
    wins_from: str  # points until nobody is ahead of the rival; a dash if it wins nowhere


@dataclass(frozen=True)
class Standing:
    """One candidate: the share of weights at which it wins, on the sample and over resamples.

    Attributes
    ----------
    name, line
        Which strategy; `line` is None if the leaderboard does not have it.
    region
        Its share of all weights, in words.
    detail
        Its interval, who shares the region, or why it wins nowhere.
    share, limits, unranked
        Over resamples, as written; empty if nothing was resampled.
    """

    name: str
    line: Line | None
    region: str
    detail: str
    share: str
    limits: str
    unranked: str


@dataclass(frozen=True)
class Weighed:
    """What the section says.

    Attributes
    ----------
    metrics
        Those with weight, with the chosen weight of each as written.
    sentences
        The finding in words.
    bars, map
        Shares of regions, and the regions themselves for two and three metrics.
    shifts, cannot
        Borders, nearest first; rivals that no weights bring ahead.
    standings
        All candidates.
    resamples, draws, level
        Behind the standings; None if nothing was resampled.
    left_out
        Strategy to the reason why it takes no part, candidates only.
    choices
        Other normalisations and candidates; None if they were not looked at.
    """

    metrics: tuple[tuple[str, str], ...]
    sentences: tuple[Markup, ...]
    bars: Markup | None
    map: Markup | None
    shifts: tuple[Shift, ...]
    cannot: tuple[str, ...]
    standings: tuple[Standing, ...]
    resamples: int | None
    draws: int
    level: str
    left_out: dict[str, str]
    choices: Choices | None


def weighed(reading: Reading) -> Weighed:
    """Return what the record says about weights."""
    weights = reading.scrutiny.weights
    assert weights is not None
    regions, survival = weights.regions, weights.sampling_error
    bars, drawn = _drawings(regions)
    return Weighed(
        metrics=tuple(zip(regions.metrics, map(percent, regions.weights), strict=True)),
        sentences=(*_regions_said(regions), *_border_said(regions, weights.borders, reading.selected)),
        bars=bars,
        map=drawn,
        shifts=tuple(_shift(shift) for shift in weights.borders.shifts),
        cannot=weights.borders.cannot,
        standings=_standings(reading, regions, survival),
        resamples=None if survival is None else survival.resamples,
        draws=regions.draws,
        level=percent(regions.level),
        left_out={name: why for name, why in regions.left_out.items() if why != "not a candidate"},
        choices=None if weights.choices is None else choices(weights.choices),
    )


def _together(strategy: str, tied_with: Sequence[str]) -> str:
    """Return a strategy with those that share its values."""
    return listed([strategy, *tied_with])


def _winning(regions: RegionsPart) -> list[RegionPart]:
    return [region for region in regions.regions if region.status == "wins"]


def _regions_said(regions: RegionsPart) -> list[Markup]:
    """Say at how many weights the winner wins."""
    winning = _winning(regions)
    if len(regions.metrics) == 1:
        return [
            sentence(
                f"Only one metric has weight, {regions.metrics[0]}, so there are no weights to choose; ",
                strong(listed(regions.winners)), " is best on it.",
            )
        ]  # fmt: skip
    about = "about " if regions.method == "sampled" else ""
    here = next((region for region in winning if region.strategy in regions.winners), None)
    said = []
    if here is not None:
        said.append(sentence(
            "At the chosen weights ", strong(_together(here.strategy, here.tied_with)),
            f" {'has' if not here.tied_with else 'have'} the highest score on the untouched rows, and so at {about}"
            f"{percent(here.share)} of all weights that could have been chosen.",
        ))  # fmt: skip
    never = len(regions.regions) - len(winning)
    if never:
        said.append(
            sentence(f"{never} of {len(regions.regions)} different candidates win at no weights, or only on a border.")
        )
    return said


def _border_said(regions: RegionsPart, borders: WeightSensitivityPart, selected: Line | None) -> list[Markup]:
    """Say what takes the least change of weights; of equals the selected strategy is named, or the first."""
    nearest = borders.nearest
    if len(regions.metrics) == 1:
        return []
    if borders.level_with:
        return [sentence(
            strong(listed(borders.level_with)), f" {'is' if len(borders.level_with) == 1 else 'are'} level with ",
            strong(borders.winner), " at the chosen weights: the smallest change decides between them.",
        )]  # fmt: skip
    if nearest is None:
        return [sentence("No weights bring another candidate ahead.")]
    shift = _shift(nearest)
    leader, others = _one_of((borders.winner, *borders.tied_with), selected)
    rival, more = _one_of((nearest.rival, *nearest.tied_with), selected)
    moved = f"{shift.points} percentage points of weight moved from {shift.giving} to {shift.taking}"
    end = f"{others}, which is ahead on the untouched rows, and take over beyond that."
    return [sentence(f"If {moved}, ", strong(rival), f"{more} would be level with ", strong(leader), end)]


def _one_of(names: Sequence[str], selected: Line | None) -> tuple[str, str]:
    """Return the selected strategy if it is one of these, or the first, and how many equal it."""
    name = selected.name if selected is not None and selected.name in names else names[0]
    return name, f" ({counted(len(names) - 1, 'other')} with equal values)" if len(names) > 1 else ""


def _shift(shift: ShiftPart) -> Shift:
    giving = {name: -change for name, change in shift.change.items() if change < -SMALL}
    taking = {name: change for name, change in shift.change.items() if change > SMALL}
    return Shift(
        _together(shift.rival, shift.tied_with), _points(shift.share_moved), _moved(giving), _moved(taking),
        "–" if shift.wins_from is None else _points(shift.wins_from),
    )  # fmt: skip


def _points(share: float) -> str:
    return short(round(100 * share, 1)) if share >= 0.0005 or share == 0 else "less than 0.1"


def _moved(changes: dict[str, float]) -> str:
    """Return metrics, with their points if there are several."""
    if len(changes) < 2:
        return "".join(changes) or "–"
    return listed([f"{name} ({_points(change)})" for name, change in changes.items()])


def _drawings(regions: RegionsPart) -> tuple[Markup | None, Markup | None]:
    """Return bars of all regions with volume, and a map if there are two or three metrics."""
    winning, metrics = _winning(regions), regions.metrics
    if len(metrics) == 1 or not winning:
        return None, None
    sampled = regions.method == "sampled"
    bars = []
    for k, region in enumerate(winning):
        chosen = " ★" if region.strategy in regions.winners else ""
        limits = (region.low, region.high) if sampled else None
        words = f"{percent(region.share)}{chosen}"
        more = f" +{len(region.tied_with)}" if region.tied_with else ""
        bars.append(Bar(f"{k + 1} {region.strategy}{more}", region.share, words, k, limits, heading=bool(chosen)))
    chart = bar_chart(
        "weights-bars", "Share of all weights at which each strategy wins", bars, "share of all weights", shares=True
    )
    drawing = {2: weight_strip, 3: weight_triangle}.get(len(metrics))
    if drawing is None or any(region.corners is None for region in winning):
        return chart, None
    areas = [Area(k, region.strategy, region.corners or ()) for k, region in enumerate(winning, 1)]
    return chart, drawing("weights-map", metrics, areas, regions.weights)


def _standings(reading: Reading, regions: RegionsPart, survival: SamplingErrorPart | None) -> tuple[Standing, ...]:
    """Return all candidates, by their region, and among equals by their share over resamples."""
    over = {} if survival is None else {candidate.strategy: candidate for candidate in survival.strategies}
    standings = []
    for region in regions.regions:
        names = sorted(
            (region.strategy, *region.tied_with), key=lambda name: -over[name].share if name in over else 0.0
        )
        standings += [_standing(reading, name, region, names, regions, over.get(name)) for name in names]
    return tuple(standings)


def _standing(
    reading: Reading,
    name: str,
    region: RegionPart,
    names: Sequence[str],
    regions: RegionsPart,
    over: SurvivalPart | None,
) -> Standing:
    detail = ""
    if region.status != "wins":
        by = region.dominated_by
        detail = f"dominated by {by}" if by else "another is ahead at each" if region.status == "never" else ""
    elif regions.method == "sampled":
        detail = f"{percent(region.low)} to {percent(region.high)}"
    elif len(names) > 1:
        detail = f"shared by {count(len(names))} with equal values"
    words = {"wins": percent(region.share), "border": "a border only", "never": "nowhere"}[region.status]
    if over is None:
        return Standing(name, reading.find(name), words, detail, "", "", "")
    return Standing(
        name, reading.find(name), words, detail, percent(over.share),
        f"{percent(over.low)} to {percent(over.high)}", percent(over.unranked),
    )  # fmt: skip
