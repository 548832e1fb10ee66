"""Choices other than the weights: how metrics are normalised, and who else is in the comparison.

A scale that reads the best and worst candidate lets one that nobody would take turn the order of two others round: rank
reversal (Belton and Gear 1983, for the analytic hierarchy process). Natural ranges do not.

    natural, relative, reference   those offered for a composite score (`accordant.evaluation.composite`)
    rank                           share of the others that are worse, half of those that are equal (Borda 1784)
    zscore                         (value − mean) / standard deviation over the candidates; 0 if all are equal

``rank`` and ``zscore`` are for comparison only; no composite score is computed with them elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.evaluation.composite import EQUAL, NORMALISATIONS, Normalisation, composite_score
from accordant.json_values import fields_json
from accordant.metrics.metric import Goal, Range

MAX_SUBSETS = 1024  # all subsets of up to ten baselines


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Raw values of all strategies, and what turns them into scores.

    Attributes
    ----------
    strategies, goals, weights
        Names of the rows; one goal and one weight per metric.
    raw
        Shape (strategy, metric); NaN where a metric is not defined.
    accuracy
        Metrics that the ``reference`` normalisation leaves raw, shape (metric,).
    candidates, baselines
        Who can win, and which of the strategies are baselines, shape (strategy,).
    normalisation
        The one that was chosen.
    ranges
        Range of each metric, for the ``natural`` normalisation.
    """

    strategies: tuple[str, ...]
    goals: tuple[Goal, ...]
    weights: Values
    raw: Values
    accuracy: Mask
    candidates: Mask
    baselines: Mask
    normalisation: Normalisation
    ranges: tuple[Range, ...]

    def scores(self, scale: str, among: Mask) -> Values:
        """Return scores of the strategies in `among`, −inf for others and unranked ones, shape (strategy,)."""
        scores = SCALES[scale](self, among)
        return np.asarray(np.where(among & ~np.isnan(scores), scores, -np.inf))

    def names(self, rows: Mask) -> tuple[str, ...]:
        """Return the strategies of a mask."""
        return tuple(self.strategies[s] for s in np.flatnonzero(rows))


def _composite(table: ScoreTable, among: Mask, *, normalisation: Normalisation) -> Values:
    """Return composite scores."""
    return composite_score(
        table.raw,
        goals=table.goals,
        weights=table.weights.tolist(),
        candidates=among,
        normalisation=normalisation,
        accuracy=table.accuracy,
        ranges=table.ranges,
    ).scores


def _weighed(column_scale: Callable[[Values], Values], table: ScoreTable, among: Mask) -> Values:
    """Return weighted sums of columns on a scale that reads all defined values in `among`."""
    sums = np.zeros(len(table.raw))
    for m in np.flatnonzero(table.weights > 0):
        column, goal = table.raw[:, m], table.goals[m]
        better = {"max": column, "min": -column, "zero": -np.abs(column)}[goal]
        known = among & ~np.isnan(better)
        placed = np.full(len(better), np.nan)
        if known.any():
            placed[known] = column_scale(better[known])
        sums += table.weights[m] / table.weights.sum() * placed
    return sums


def rank_scale(better: Values) -> Values:
    """Return the share of others that are worse, half of those equal within 1e-12; 1 if there are no others."""
    gaps = better[:, None] - better
    slack = EQUAL * np.maximum(1.0, np.abs(better).max())
    points = (gaps > slack) + 0.5 * (np.abs(gaps) <= slack)
    return np.asarray((points.sum(axis=1) - 0.5) / (len(better) - 1)) if len(better) > 1 else np.ones(1)


def z_scale(better: Values) -> Values:
    """Return standard scores; 0 if all are equal."""
    spread = better.std()
    return (better - better.mean()) / spread if spread > EQUAL else np.zeros(len(better))


SCALES: Mapping[str, Callable[[ScoreTable, Mask], Values]] = {
    **{normalisation: partial(_composite, normalisation=normalisation) for normalisation in NORMALISATIONS},
    "rank": partial(_weighed, rank_scale),
    "zscore": partial(_weighed, z_scale),
}


@dataclass(frozen=True)
class UnderNormalisation:
    """Winners under one normalisation, all candidates in score order, and the lead over the first that is no winner."""

    normalisation: str
    winners: tuple[str, ...]
    order: tuple[str, ...]
    lead: float | None


@dataclass(frozen=True)
class Without:
    """Winners if some candidates are left out; `changed` if all are new although a former winner is still in."""

    removed: tuple[str, ...]
    winners: tuple[str, ...]
    changed: bool


@dataclass(frozen=True)
class OrderReversal:
    """Two candidates that change their order if a third is left out: `ahead` is better with it, `behind` without it.

    Attributes
    ----------
    ahead, behind
        The candidates as ordered while everybody is in.
    removed
        Who is left out; the first found.
    lead_before, lead_after
        Score of `ahead` minus score of `behind`; above 0 before, below 0 after.
    """

    ahead: str
    behind: str
    removed: str
    lead_before: float
    lead_after: float


@dataclass(frozen=True)
class OtherChoices:
    """The winner under choices other than the weights.

    Attributes
    ----------
    normalisation
        The one that was chosen.
    normalisations
        Every one, the comparisons included.
    without
        Every single candidate left out in turn.
    reversals
        Pairs that change their order when a third candidate is left out, with a witness each.
    pairs
        Number of pairs that could.
    baseline_subsets, baseline_changes
        How many sets of baselines were left out, and in how many cases another strategy than a winner still in won.
    smallest_change
        The smallest such set; None if there is none.
    without_baselines
        All baselines left out; None if nobody else is ranked, or there are none.
    """

    normalisation: str
    normalisations: tuple[UnderNormalisation, ...]
    without: tuple[Without, ...]
    reversals: tuple[OrderReversal, ...]
    pairs: int
    baseline_subsets: int
    baseline_changes: int
    smallest_change: Without | None
    without_baselines: Without | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


def other_choices(table: ScoreTable) -> OtherChoices:
    """Return the winner under every normalisation, and with candidates left out under the chosen one."""
    full = table.scores(table.normalisation, table.candidates)
    ranked = np.isfinite(full)
    singles = [_without(table, full, (s,)) for s in np.flatnonzero(ranked).tolist()] if ranked.sum() > 1 else []
    subsets = [_without(table, full, rows) for rows in _baseline_subsets(table, ranked)]
    changed = [omission for omission in subsets if omission.changed]
    baselines = table.baselines & table.candidates
    everybody = bool(baselines.any() and (ranked & ~baselines).any())
    return OtherChoices(
        table.normalisation,
        tuple(_under(table, scale) for scale in SCALES),
        tuple(singles),
        tuple(_reversals(table, full, ranked)),
        int(ranked.sum() * (ranked.sum() - 1) // 2),
        len(subsets),
        len(changed),
        changed[0] if changed else None,
        _without(table, full, tuple(np.flatnonzero(baselines).tolist())) if everybody else None,
    )


def _under(table: ScoreTable, scale: str) -> UnderNormalisation:
    scores = table.scores(scale, table.candidates)
    order = [int(s) for s in np.argsort(-scores, kind="stable") if np.isfinite(scores[s])]
    winners = _winners(scores)
    rest = [scores[s] for s in order if not winners[s]]
    lead = float(scores[order[0]] - rest[0]) if rest else None
    return UnderNormalisation(scale, table.names(winners), tuple(table.strategies[s] for s in order), lead)


def _winners(scores: Values) -> Mask:
    return np.asarray((scores >= scores.max() - EQUAL) & np.isfinite(scores))


def _without(table: ScoreTable, full: Values, rows: tuple[int, ...]) -> Without:
    """Leave some candidates out."""
    kept = table.candidates.copy()
    kept[list(rows)] = False
    winners, former = _winners(table.scores(table.normalisation, kept)), _winners(full) & kept
    changed = bool(former.any() and not (winners & former).any())
    return Without(tuple(table.strategies[s] for s in rows), table.names(winners), changed)


def _baseline_subsets(table: ScoreTable, ranked: Mask) -> Iterator[tuple[int, ...]]:
    """Yield the sets of baselines that leave somebody ranked, smallest first; single ones and all if there are many."""
    rows = np.flatnonzero(table.baselines & table.candidates).tolist()
    sizes = range(1, len(rows) + 1) if 2 ** len(rows) <= MAX_SUBSETS else (1, len(rows))
    for size in sizes:
        for subset in combinations(rows, size):
            if not set(np.flatnonzero(ranked).tolist()) <= set(subset):
                yield subset


def _reversals(table: ScoreTable, full: Values, ranked: Mask) -> Iterator[OrderReversal]:
    """Yield each pair of candidates that changes its order, with the first removal that does it."""
    seen: set[tuple[int, int]] = set()
    rows = np.flatnonzero(ranked).tolist()
    for removed in rows if len(rows) > 2 else ():
        kept = table.candidates.copy()
        kept[removed] = False
        scores = table.scores(table.normalisation, kept)
        for a in rows:
            for b in rows:
                if removed in (a, b) or (a, b) in seen or not np.isfinite([scores[a], scores[b]]).all():
                    continue
                before, after = float(full[a] - full[b]), float(scores[a] - scores[b])
                if before > EQUAL and after < -EQUAL:
                    seen.add((a, b))
                    ahead, behind, out = (table.strategies[s] for s in (a, b, removed))
                    yield OrderReversal(ahead, behind, out, before, after)


BLOCK = 2_000_000  # scores held at a time (16 MB)


def drawn_weights(n_weights: int, draws: int, generator: np.random.Generator) -> Values:
    """Return weights drawn evenly from the simplex (Dirichlet with all parameters 1), shape (draw, weight).

    Raises
    ------
    InputError
        If there is no draw.
    """
    if draws < 1:
        raise InputError(f"draws is {draws}; allowed: 1 or more")
    return np.asarray(generator.dirichlet(np.ones(n_weights), size=draws))


def wins_of(rows: Values, weights: Values) -> NDArray[np.intp]:
    """Return for how many weight vectors each row has the highest score, shape (row,); the first among equals.

    Parameters
    ----------
    rows
        Normalised metrics, shape (row, metric).
    weights
        Shape (draw, metric).
    """
    wins = np.zeros(len(rows), dtype=np.intp)
    step = max(1, BLOCK // len(rows))
    for start in range(0, len(weights), step):
        wins += np.bincount((weights[start : start + step] @ rows.T).argmax(axis=1), minlength=len(rows))
    return wins
