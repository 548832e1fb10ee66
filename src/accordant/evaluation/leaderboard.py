"""The leaderboard: strategies × metrics with intervals, ties, and the set of the best; and the table of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.decisions import Decisions
from accordant.errors import UnknownNameError
from accordant.evaluation.composite import Normalisation
from accordant.evaluation.overlap import Overlap
from accordant.evidence import Evidence
from accordant.faces import Displayed, drawn
from accordant.metrics.metric import Goal, Range, defined
from accordant.metrics.rates import Actions, benefits
from accordant.metrics.statistics import Cells, check_decisions, contingency, divide, expected_contributions
from accordant.statistics import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class GroupEstimate:
    """A rate in one group, with its interval, and how many contexts count towards it."""

    rate: str
    label: str
    estimate: Estimate
    n: float


@dataclass(frozen=True)
class MetricCell:
    """One metric of one strategy.

    Attributes
    ----------
    estimate
        Raw score with interval.
    normalised
        Score on the candidates' scale, 1 best; may leave [0, 1] for lines that are no candidates.
    n
        Contexts that the raw score rests on.
    reason
        Why it is not defined, or has no interval; empty if it is and has.
    by_group
        The rates in each group, where the metric has groups.
    """

    estimate: Estimate
    normalised: float | None
    n: float
    reason: str = ""
    by_group: tuple[GroupEstimate, ...] = ()


@dataclass(frozen=True)
class LeaderboardRow:
    """One strategy.

    Attributes
    ----------
    strategy, kind
        Its name, and what sort of line it is (``compromise``, ``baseline``, ``reference``, …).
    candidate
        Whether it belongs to the set over which metrics are normalised; other lines can neither win nor
        influence a score.
    score
        Composite score; its value is None if a metric with positive weight is not defined.
    among_best
        Whether it is in the set that contains the best candidate with probability `level`; None if it was not
        compared: no candidate, without a score, or nothing was resampled.
    alike
        The line that stands for it in comparisons, because both decide alike in at least 99 % of contexts; None if it
        stands for itself.
    tied
        Share of contexts in which another action had the same primary score.
    below_best_constant
        Whether some constant action scores higher.
    metrics
        Cells by metric label.
    overlap
        How far the log supports its decisions; None where nothing is estimated from decisions of others.
    """

    strategy: str
    kind: str
    candidate: bool
    score: Estimate
    among_best: bool | None
    alike: str | None
    tied: float
    below_best_constant: bool
    metrics: Mapping[str, MetricCell]
    overlap: Overlap | None = None


@dataclass(frozen=True)
class MetricColumn:
    """How a metric enters the composite score.

    Attributes
    ----------
    label, goal, weight, description
        What it is called, what is better, its share of all weight, and what it measures.
    uninformative
        Whether the candidates differ on it by no more than its own noise, all pairs compared together.
    influence
        Share of the differences between candidates' scores that it makes: its weight times the standard deviation of
        its normalised values over the candidates, as a share of the sum over metrics; 0 if nothing differs.
    range
        Smallest and largest value that the ``natural`` scale reckons with; None with other scales.
    """

    label: str
    goal: Goal
    weight: float
    uninformative: bool
    description: str
    influence: float = 0.0
    range: Range | None = None


@dataclass(frozen=True)
class Leaderboard(Displayed):
    """Strategies in order of their composite score; unranked ones last.

    Attributes
    ----------
    rows
        One per strategy.
    columns
        One per metric; the weights sum to 1 and are a value judgement.
    n
        Number of contexts.
    resamples, level, normalisation
        How intervals and scores were computed.
    best_constant
        Name of the constant action with the highest score; None if no constant is ranked.
    remarks
        What a reader must know, in plain sentences.
    chosen_score
        Score of the best of those that may be chosen, less what being chosen as the best on these very contexts adds to
        it, with its interval; None if none of them is ranked, nothing was resampled, or its interval is withheld.
    """

    rows: tuple[LeaderboardRow, ...]
    columns: tuple[MetricColumn, ...]
    n: int
    resamples: int
    level: float
    normalisation: Normalisation
    best_constant: str | None
    remarks: tuple[str, ...]
    chosen_score: Estimate | None = None

    def __iter__(self) -> Iterator[LeaderboardRow]:
        return iter(self.rows)

    def __getitem__(self, strategy: str) -> LeaderboardRow:
        for row in self.rows:
            if row.strategy == strategy:
                return row
        raise UnknownNameError("strategy", strategy, [row.strategy for row in self.rows])

    @property
    def best(self) -> str | None:
        """Name of the candidate with the highest score; None if all are unranked."""
        return next((row.strategy for row in self.rows if row.candidate and row.score.value is not None), None)

    def plot(self, metric: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw strategies with their intervals, the best on top; needs the extra ``plot``.

        Parameters
        ----------
        metric
            Label of a metric; None for the composite score, of candidates only.
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed, or there is no such metric.
        """
        return drawn("leaderboard", self, ax, metric=metric)

    def plot_trade_off(self, across: str, up: str, *, ax: Axes | None = None) -> Axes:
        """Draw candidates on two metrics with intervals, better to the right and up; needs the extra ``plot``.

        Parameters
        ----------
        across, up
            Labels of the metrics.
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed, or there is no such metric.
        """
        return drawn("trade_off", self, ax, across=across, up=up)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per strategy, for a table or CSV; undefined values are None."""
        return [_flat(row) for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return `to_rows` as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_rows())

    def to_json(self) -> list[dict[str, Any]]:
        """Return one JSON object per strategy; undefined values are None, never NaN."""
        return [_json(row) for row in self.rows]


def _flat(row: LeaderboardRow) -> dict[str, Any]:
    flat: dict[str, Any] = {
        "strategy": row.strategy,
        "kind": row.kind,
        "candidate": row.candidate,
        "score": row.score.value,
        "score low": row.score.low,
        "score high": row.score.high,
        "among best": row.among_best,
        "alike": row.alike,
        "tied": row.tied,
        "below best constant": row.below_best_constant,
    }
    for label, cell in row.metrics.items():
        flat |= {label: cell.estimate.value, f"{label} low": cell.estimate.low, f"{label} high": cell.estimate.high}
    return flat


def _json(row: LeaderboardRow) -> dict[str, Any]:
    return {
        "strategy": row.strategy,
        "kind": row.kind,
        "candidate": row.candidate,
        "score": _limits(row.score),
        "among_best": row.among_best,
        "alike": row.alike,
        "tied": row.tied,
        "below_best_constant": row.below_best_constant,
        "overlap": None if row.overlap is None else row.overlap.to_json(),
        "metrics": {
            label: {
                **_limits(cell.estimate),
                "n": cell.n,
                "reason": cell.reason,
                "normalised": cell.normalised,
                "by_group": [
                    {"rate": group.rate, "group": group.label, **_limits(group.estimate), "n": group.n}
                    for group in cell.by_group
                ],
            }
            for label, cell in row.metrics.items()
        },
    }


def _limits(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "undefined": estimate.undefined}


if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class GroupRow:
    """One group under one strategy.

    Attributes
    ----------
    strategy, group
        Names; the group is a value of the attribute or a combination of values.
    n
        Contexts in the group; with 0, all values are None.
    favourable_share
        Share (or expected benefit) of favourable actions; None if no action is declared favourable.
    mean_rewards
        Mean realised reward of each stakeholder over the contexts of the group.
    """

    strategy: str
    group: str
    n: int
    favourable_share: float | None
    mean_rewards: Mapping[str, float | None]


@dataclass(frozen=True)
class GroupTable(Displayed):
    """Groups × strategies for one attribute or one combination of attributes."""

    attributes: tuple[str, ...]
    rows: tuple[GroupRow, ...]

    def plot(self, stakeholder: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw what each group received under every strategy; needs the extra ``plot``.

        Parameters
        ----------
        stakeholder
            Whose mean reward; None for the share of favourable actions.
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed, there is no such stakeholder, no action is favourable, or there are more
            groups than marks.
        """
        return drawn("groups", self, ax, stakeholder=stakeholder)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per row; undefined values are None."""
        return [
            {"strategy": row.strategy, "group": row.group, "n": row.n, "favourable share": row.favourable_share}
            | {f"mean reward {name}": value for name, value in row.mean_rewards.items()}
            for row in self.rows
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return `to_rows` as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_rows())

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; undefined values are None."""
        rows = [vars(row) | {"mean_rewards": dict(row.mean_rewards)} for row in self.rows]
        return {"attributes": list(self.attributes), "rows": rows}


def group_table(
    decisions: Mapping[str, Decisions], evidence: Evidence, attributes: Sequence[str], *, actions: Actions = ()
) -> GroupTable:
    """Return what each group received under each strategy.

    Parameters
    ----------
    decisions
        Strategy name to its decisions on the contexts of `evidence`.
    evidence
        What is known about the contexts.
    attributes
        One column, or several whose combinations make the groups.
    actions
        Favourable actions, or a benefit per action; the problem's favourable actions by default.

    Raises
    ------
    InputError
        If decisions do not fit the evidence, or a column or action is unknown.
    """
    problem, cells = evidence.problem, Cells.of(evidence, attributes)
    benefit = benefits(problem, actions)
    declared = bool(actions or problem.favourable_actions)
    rows = []
    for name, decided in decisions.items():
        check_decisions(decided, evidence)
        taken = contingency(decided, cells).counts.sum(axis=1)  # action × group
        shares = divide(benefit @ taken, cells.sizes.astype(np.float64))
        rewards = expected_contributions(evidence.for_decisions(decided).rewards, decided)
        sums = [np.bincount(cells.groups.codes, weights=row, minlength=len(cells.sizes)) for row in rewards]
        means = divide(np.array(sums), cells.sizes.astype(np.float64))
        for g, label in enumerate(cells.groups.labels):
            by_stakeholder = {who: defined(means[i, g]) for i, who in enumerate(problem.stakeholder_names)}
            share = defined(shares[g]) if declared else None
            rows.append(GroupRow(name, label, int(cells.sizes[g]), share, by_stakeholder))
    return GroupTable(tuple(attributes), tuple(rows))
