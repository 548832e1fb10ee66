"""Whether an order of strategies by composite score, and the choice of the best, survives misreports.

All strategies see the same misreports. Strategy D stays ahead of D' if the lowest score of D is above the highest score
of D' over everything that either can be made to decide: sound, as fewer pairs of decisions may be reachable together.

The ranking consistency lemma of Vineis, Perelli and Tolomei (2025, Lemma 20) compares smooth and sharp scores on the
same reports; it says nothing about the order on other reports unless the gap holds there as well. With one action,
scores 0.6 and 0.5 of two rules that each score one stakeholder's own value, and δ = 0.2, its condition holds and the
order turns round. It is not used here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from accordant.arrays import Mask, Values
from accordant.certificates.bounds.bound import ends_of
from accordant.certificates.bounds.composite import Criteria, Scale, live_scores
from accordant.certificates.bounds.rule_choices import Attackable, attackable, known_from
from accordant.certificates.certificate import for_blocks
from accordant.certificates.columns import ends
from accordant.certificates.reports import Known, Reports, honest_block
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.json_values import json_value
from accordant.strategies.block import Workspace
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Ranges = Literal["frozen", "live"]

LEAD = 1e-9  # relative to max(1, |score|): a smaller lead may be rounding


@dataclass(frozen=True, eq=False)
class Ranking:
    """What misreports can make of the order of strategies.

    Attributes
    ----------
    strategies
        Their labels.
    nominal
        Scores on honest reports, shape (strategy,); NaN if a metric is not defined.
    low, high
        No misreport brings a score beyond these, shape (strategy,); NaN if it may become undefined.
    threat
        Who may misreport, by how much.
    ranges
        Whether the scales of metrics stay (``frozen``) or move with the attack (``live``).
    """

    strategies: tuple[str, ...]
    nominal: Values
    low: Values
    high: Values
    threat: Threat
    ranges: Ranges = "frozen"

    @property
    def margin(self) -> Values:
        """Lowest score of the row's strategy minus highest of the column's, shape (strategy, strategy)."""
        return np.asarray(self.low[:, None] - self.high)

    @property
    def ahead(self) -> Mask:
        """Whether the row's strategy is ahead of the column's on all reports, shape (strategy, strategy)."""
        with np.errstate(invalid="ignore"):
            ahead = self.margin > LEAD * np.maximum(1.0, np.abs(self.high))
        np.fill_diagonal(ahead, val=False)
        return np.asarray(ahead)

    @property
    def order(self) -> tuple[str, ...]:
        """Strategies from the best to the worst on honest reports; those without a score come last."""
        return tuple(self.strategies[k] for k in self._order)

    @property
    def best_holds(self) -> bool:
        """Whether the strategy that is best on honest reports is best on all reports."""
        best = self._order[0]
        return bool(np.delete(self.ahead[best], best).all())

    @property
    def order_holds(self) -> bool:
        """Whether the whole order is the same on all reports."""
        order, ahead = self._order, self.ahead
        return all(ahead[one, other] for one, other in pairwise(order))

    @property
    def _order(self) -> list[int]:
        return [int(k) for k in np.argsort(-self.nominal, kind="stable")]

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with None for what is not defined."""
        names = (
            "strategies", "threat", "ranges", "status", "nominal", "low", "high", "order", "best_holds", "order_holds",
        )  # fmt: skip
        given = {"threat": self.threat.to_json(), "status": "sound"}
        values: dict[str, Any] = json_value({name: given.get(name) or getattr(self, name) for name in names})
        return values


def ranking(
    rules: Sequence[Strategy], expected: ExpectedRewards, metrics: Mapping[Any, Any] | None = None, *, delta: float,
    coalition: Sequence[str] | None = None, box: tuple[float, float] = UNIT, frozen: bool = False,
    evidence: Evidence | None = None, at_most: int | None = None, known: Known | None = None, ranges: Ranges = "frozen",
    scales: Mapping[str, Scale] | None = None,
) -> Ranking:  # fmt: skip
    """Find out whether the order of strategies by composite score survives misreports.

    Parameters
    ----------
    rules
        Candidate strategies.
    expected, metrics
        E, honestly reported; see `composite_bounds`.
    delta, coalition, box, frozen, evidence, at_most, known
        See `bounds`.
    ranges
        Whether the scales of metrics stay as honest reports put them (``frozen``) or move with the attack (``live``).
    scales
        Frozen scales, by label of the metric; by default those of the given strategies.

    Raises
    ------
    InputError
        If there is no strategy, `ranges` is something else, or scales are given to be live.
    """
    if not rules:
        raise InputError("no strategies; a ranking needs at least one")
    if ranges not in ("frozen", "live") or (ranges == "live" and scales is not None):
        raise InputError(f"ranges is {ranges!r}; allowed: 'frozen', or 'live' without scales")
    threat = Threat(delta, checked_coalition(coalition), box, frozen)
    criteria, known = Criteria.of(metrics, expected, evidence), known_from(known, evidence)
    attacked = [attackable(rule, expected, threat, at_most=at_most, known=known) for rule in rules]
    if ranges == "live":
        live = live_scores(criteria, attacked)
        return Ranking(live.strategies, live.nominal, live.low, live.high, threat, "live")
    return _frozen(criteria, attacked, scales or criteria.scales(attacked), threat)


def _frozen(criteria: Criteria, attacked: Sequence[Attackable], scales: Mapping[str, Scale], threat: Threat) -> Ranking:
    """Rank on scales that stay as they are."""
    spans = [ends_of(criteria.about(target.outer.base).composite(scales), target) for target in attacked]
    low, high = (
        [np.nan if span.may_be_undefined else end for span, end in zip(spans, side, strict=True)]
        for side in ([span.low for span in spans], [span.high for span in spans])
    )
    labels = tuple(target.rule.label for target in attacked)
    nominal = np.array([span.nominal for span in spans], dtype=np.float64)
    return Ranking(labels, nominal, np.array(low, dtype=np.float64), np.array(high, dtype=np.float64), threat)


def ranking_by_own_scores(
    rules: Sequence[ContextRule], expected: ExpectedRewards, *, delta: float, coalition: Sequence[str] | None = None,
    box: tuple[float, float] = UNIT, frozen: bool = False,
) -> Ranking:  # fmt: skip
    """Rank rules by the score that each gives to its own decisions, averaged over contexts, which misreports move too.

    For rules that score each action by its own column both ends are attained: all columns at their worst, all at their
    best. Scores of different rules are in different units; the ranking is that of the paper's ranking lemma.

    Parameters
    ----------
    rules
        Rules that score each action by its own column.
    expected
        E, honestly reported.
    delta, coalition, box, frozen
        See `Threat`.

    Raises
    ------
    InputError
        If a rule scores actions in another way.
    """
    threat = Threat(delta, checked_coalition(coalition), box, frozen)
    honest = threat.honest(expected)
    rows = [_own_scores(rule, honest, threat) for rule in rules]
    low, nominal, high = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Ranking(tuple(rule.label for rule in rules), nominal, low, high, threat)


def _own_scores(rule: ContextRule, honest: ExpectedRewards, threat: Threat) -> tuple[float, float, float]:
    """Return the lowest, honest and highest mean score of the decisions."""
    if rule.structure(frozen=threat.frozen) not in ("column_score", "column_peaked"):
        raise InputError(f"{rule.label} does not score each action by its own column of E; allowed: rules that do")
    best = np.empty((3, honest.n_contexts))

    def work(part: slice, shared: Workspace, scratch: Workspace) -> None:
        """Score one block at both ends."""
        reports = Reports.of(honest_block(honest, part, shared, scratch), threat, scratch=scratch)
        up, down = ends(rule, reports)
        for row, values in zip(best, (down, reports.honest.values, up), strict=True):
            row[part] = reports.scores(rule, values).max(axis=0)

    for_blocks(honest, work)
    low, nominal, high = best.mean(axis=1)
    return float(low), float(nominal), float(high)
