"""Regions: for which weights each strategy has the highest composite score.

At given normalised metrics N the score of strategy s is N_s · w, linear in the weights. So s wins exactly on the convex
set R_s = {w ≥ 0, Σ w = 1 : (N_s − N_r) · w ≥ 0 for all r}, and these sets cover the simplex and overlap in borders
only. The share of R_s in the simplex is its first-rank acceptability when nothing is known about the weights
(stochastic multicriteria acceptability analysis: Lahdelma, Hokkanen and Salminen 1998; Lahdelma and Salminen 2001);
decomposing the weight space goes back to Charnetski and Soland 1978 and Steuer 1986.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.composite import EQUAL
from accordant.evaluation.weighting.choices import drawn_weights, wins_of
from accordant.evaluation.weighting.undominated_scores import Cone, UndominatedScores
from accordant.json_values import fields_json
from accordant.statistics import wilson

Status = Literal["wins", "border", "never"]
EXACT_METRICS = 5  # cut exactly in a tenth of a second; from six on corners multiply and it takes seconds
UNITS = 10**12  # thirds must add up to a whole: finer digits are rounding, see `EQUAL`
ROUNDED = 3  # units: values that differ by `EQUAL`, each taken to a whole unit, differ by at most two, and one to spare
SLIVER = 1e-6  # regions with margins of rounding that hold no more of all weights are rounding themselves
DRAWS = 100_000  # standard error of a share at most 0.0016


@dataclass(frozen=True)
class Inequality:
    """One side of a region: the strategy is not behind `rival` where coefficients · w ≥ 0, coefficients by metric."""

    rival: str
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Region:
    """The weights at which one strategy wins.

    Attributes
    ----------
    strategy, tied_with
        Its name, and the strategies with the same normalised metrics, which share the region.
    status
        ``wins`` on a set with volume; on a ``border`` only, where it is level with a winner up to rounding (1e-12) and
        nowhere ahead beyond it; or ``never``.
    share
        Volume of the region as a share of all weights.
    low, high
        Interval of the share if it was estimated; equal to it if it is exact.
    dominated_by
        A strategy at least as good on every metric and better on one; None if there is none (one that never wins may
        still lose to another strategy at each weight).
    inequalities
        What the region is made of, besides weights of at least 0: one against every rival that wins somewhere, be it
        on a border. Empty if the strategy never wins.
    neighbours
        Rivals with which it shares a border of full dimension; None if shares were estimated.
    corners
        Corners as weights by metric, in order round the region if there are three metrics; None if shares were
        estimated.
    """

    strategy: str
    tied_with: tuple[str, ...]
    status: Status
    share: float
    low: float
    high: float
    dominated_by: str | None
    inequalities: tuple[Inequality, ...]
    neighbours: tuple[str, ...] | None
    corners: tuple[tuple[float, ...], ...] | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


@dataclass(frozen=True)
class WeightRegions:
    """The simplex of weights, divided among the strategies that win in it.

    Attributes
    ----------
    metrics
        The metrics weighed; the order of weights everywhere below.
    weights
        The chosen weights, sum 1.
    winners
        Who has the highest score there; several if they are equal, tied strategies included.
    method
        ``exact``, or ``sampled`` from evenly drawn weights.
    draws, level
        Number of draws (0 if exact) and coverage of the intervals.
    regions
        One per place, largest share first; those that win nowhere come last.
    left_out
        Strategy to the reason why it takes no part.
    """

    metrics: tuple[str, ...]
    weights: tuple[float, ...]
    winners: tuple[str, ...]
    method: Literal["exact", "sampled"]
    draws: int
    level: float
    regions: tuple[Region, ...]
    left_out: Mapping[str, str]

    def __getitem__(self, strategy: str) -> Region:
        """Return the region of a strategy, or the one that it shares."""
        for region in self.regions:
            if strategy == region.strategy or strategy in region.tied_with:
                return region
        raise UnknownNameError(
            "strategy", strategy, [name for other in self.regions for name in (other.strategy, *other.tied_with)]
        )

    def at(self, weights: Sequence[float]) -> tuple[str, ...]:
        """Return the strategies that win at these weights, if only on a border (within 1e-12); of tied ones one."""
        point = np.asarray(weights, dtype=np.float64)
        if point.shape != (len(self.metrics),) or not (point >= 0).all() or not 0 < point.sum() < np.inf:
            raise InputError(f"weights {tuple(weights)} are wrong; allowed: {len(self.metrics)} numbers ≥ 0, not all 0")
        point = point / point.sum()
        return tuple(
            region.strategy
            for region in self.regions
            if region.status != "never"
            and all(float(np.dot(inequality.coefficients, point)) >= -EQUAL for inequality in region.inequalities)
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


def weight_regions(
    normalised: Values,
    strategies: Sequence[str],
    metrics: Sequence[str],
    weights: Sequence[float],
    *,
    candidates: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
    generator: np.random.Generator | None = None,
    draws: int = DRAWS,
    level: float = 0.95,
) -> WeightRegions:
    """Divide the simplex of weights among the strategies.

    Parameters
    ----------
    normalised, strategies, metrics, weights, candidates, among
        See `UndominatedScores.of`.
    generator
        Source of weights for more than 5 metrics; not read otherwise.
    draws
        Number of weights drawn for more than 5 metrics.
    level
        Coverage of the intervals of estimated shares.

    Raises
    ------
    InputError
        If something does not fit, `level` is not in (0, 1), or there are more than 5 metrics and no generator.
    """
    scores = UndominatedScores.of(normalised, strategies, metrics, weights, candidates=candidates, among=among)
    return regions_of(scores, generator=generator, draws=draws, level=level)


def regions_of(
    scores: UndominatedScores,
    *,
    generator: np.random.Generator | None = None,
    draws: int = DRAWS,
    level: float = 0.95,
) -> WeightRegions:
    """Return what `weight_regions` returns, from undominated scores."""
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    exact = len(scores.metrics) <= EXACT_METRICS
    if exact:
        regions = _exact(scores)
    elif generator is None:
        raise InputError(
            f"{len(scores.metrics)} weighted metrics need a generator: beyond {EXACT_METRICS}, weights are drawn"
        )
    else:
        regions = _sampled(scores, drawn_weights(len(scores.metrics), draws, generator), level)
    ranks = {"wins": 0, "border": 1, "never": 2}
    ordered = sorted(regions, key=lambda region: (ranks[region.status], -region.share))
    winners = tuple(name for place in scores.leaders for name in scores.places[place])
    return WeightRegions(
        scores.metrics,
        tuple(scores.weights.tolist()),
        winners,
        "exact" if exact else "sampled",
        0 if exact else draws,
        level,
        tuple(ordered),
        dict(scores.left_out),
    )


def _exact(scores: UndominatedScores) -> list[Region]:
    """Return the regions by cutting the simplex; slivers of rounding go to those that win beside them."""
    every = range(len(scores.rows))
    cones = {place: _cone(scores, place, every) for place in every}
    status = {place: _exact_status(scores, place, cones[place]) for place in every}
    winning = [place for place in every if status[place] == "wins"]
    against: Sequence[int] = every
    if any(cones[place].full for place in every if place not in winning):
        against = winning
        cones = {place: _cone(scores, place, winning) for place in winning}
    regions = []
    for place in every:
        if place not in winning:
            regions.append(_region(scores, place, status, 0.0, (0.0, 0.0)))
            continue
        rivals, cone = [rival for rival in against if rival != place], cones[place]
        sides = [rivals[c - len(scores.metrics)] for c in cone.facets() if c >= len(scores.metrics)]
        share, corners = float(cone.share()), cone.corners()
        regions.append(
            _region(
                scores, place, status, share, (share, share),
                tuple(scores.places[rival][0] for rival in sides), _round_about(corners),
            )
        )  # fmt: skip
    return regions


def _exact_status(scores: UndominatedScores, place: int, cone: Cone) -> Status:
    """Return where a strategy wins: ahead by more than rounding, or on more than a sliver of all weights."""
    every = range(len(scores.rows))
    if cone.full and (cone.share() > SLIVER or _cone(scores, place, every, -ROUNDED).full):
        return "wins"
    return "border" if cone.rays or _cone(scores, place, every, ROUNDED).rays else "never"


def _sampled(scores: UndominatedScores, weights: Values, level: float) -> list[Region]:
    """Return the regions with estimated shares; who wins none of the draws may still win somewhere."""
    wins = wins_of(scores.rows, weights).tolist()
    status: dict[int, Status] = {place: "wins" if count else _status(scores, place) for place, count in enumerate(wins)}
    return [
        _region(scores, place, status, count / len(weights), _wilson(count, len(weights), level))
        if status[place] == "wins"
        else _region(scores, place, status, 0.0, (0.0, 0.0))
        for place, count in enumerate(wins)
    ]


def _wilson(count: int, draws: int, level: float) -> tuple[float, float]:
    """Return the interval of a share of draws."""
    low, high = wilson(count / draws, draws, level)
    return float(low), float(high)


def _cone(scores: UndominatedScores, place: int, against: Sequence[int], slack: int = 0) -> Cone:
    """Return the weights at which nobody in `against` is ahead by more than `slack` units, values to 12 decimals."""
    units = [[round(Fraction(value) * UNITS) for value in row.tolist()] for row in scores.rows]
    cone = Cone.orthant(len(scores.metrics))
    for rival in against:
        if rival != place:
            cone = cone.clipped([own - other + slack for own, other in zip(units[place], units[rival], strict=True)])
    return cone


def _difference(row: Values, rival: Values) -> list[float]:
    return [float(value) for value in row - rival]


def _status(scores: UndominatedScores, place: int) -> Status:
    """Return where a strategy wins: the largest margin over all rivals that some weights give it decides.

    The programme is solved up to its own tolerance. Its weights prove a margin from below, and the prices of its rivals
    one from above: a mixture of them that is ahead by so much on every metric.
    """
    from scipy.optimize import linprog

    margins = scores.rows[place] - np.delete(scores.rows, place, axis=0)
    n_metrics = len(scores.metrics)
    if not len(margins):
        return "wins"
    done = linprog(
        [*np.zeros(n_metrics), -1.0],
        A_ub=np.column_stack([-margins, np.ones(len(margins))]),
        b_ub=np.zeros(len(margins)),
        A_eq=[[*np.ones(n_metrics), 0.0]],
        b_eq=[1.0],
        bounds=[*[(0, None)] * n_metrics, (None, None)],
    )
    weights, prices = np.maximum(done.x[:-1], 0.0), np.maximum(-done.ineqlin.marginals, 0.0)
    if float((margins @ weights).min() / weights.sum()) > EQUAL:
        return "wins"
    return "never" if float((prices @ margins).max() / prices.sum()) < -2 * EQUAL else "border"


def _region(
    scores: UndominatedScores,
    place: int,
    status: Mapping[int, Status],
    share: float,
    limits: tuple[float, float],
    neighbours: tuple[str, ...] | None = None,
    corners: tuple[tuple[float, ...], ...] | None = None,
) -> Region:
    """Return a region with its names; inequalities against the rivals that win somewhere."""
    dominator = scores.dominator(place)
    rivals = [rival for rival, standing in status.items() if standing != "never" and rival != place]
    return Region(
        strategy=scores.places[place][0],
        tied_with=scores.places[place][1:],
        status=status[place],
        share=share,
        low=limits[0],
        high=limits[1],
        dominated_by=None if dominator is None else scores.places[dominator][0],
        inequalities=tuple(
            Inequality(scores.places[rival][0], tuple(_difference(scores.rows[place], scores.rows[rival])))
            for rival in (rivals if status[place] != "never" else ())
        ),
        neighbours=neighbours,
        corners=corners,
    )


def _round_about(corners: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    """Return corners in order round the region if it is a polygon, by the first weight if it is an interval."""
    if len(corners[0]) != 3:
        return tuple(sorted(corners, reverse=True))
    points = np.array(corners)
    # axes of the triangle's plane at right angles, of any length: the order does not depend on it
    plane = (points - points.mean(axis=0)) @ np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, -2.0]])
    return tuple(corners[k] for k in np.argsort(np.arctan2(plane[:, 1], plane[:, 0]), kind="stable"))
