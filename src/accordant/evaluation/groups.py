"""Group tables: what each group received, under each strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.decisions import Decisions
from accordant.evidence import Evidence
from accordant.metrics.metric import defined
from accordant.metrics.rates import Actions, benefits
from accordant.metrics.statistics import Cells, check_decisions, contingency, divide, expected_contributions

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
class GroupTable:
    """Groups × strategies for one attribute or one combination of attributes."""

    attributes: tuple[str, ...]
    rows: tuple[GroupRow, ...]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per row; undefined values are None."""
        return [
            {
                "strategy": row.strategy,
                "group": row.group,
                "n": row.n,
                "favourable share": row.favourable_share,
            }
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
    decisions: Mapping[str, Decisions],
    evidence: Evidence,
    attributes: Sequence[str],
    *,
    actions: Actions = (),
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
    for name, each in decisions.items():
        check_decisions(each, evidence)
        taken = contingency(each, cells).counts.sum(axis=1)  # action × group
        shares = divide(benefit @ taken, cells.sizes.astype(np.float64))
        rewards = expected_contributions(evidence.for_decisions(each).rewards, each)
        sums = [np.bincount(cells.groups.codes, weights=row, minlength=len(cells.sizes)) for row in rewards]
        means = divide(np.array(sums), cells.sizes.astype(np.float64))
        for g, label in enumerate(cells.groups.labels):
            by_stakeholder = {who: defined(means[i, g]) for i, who in enumerate(problem.stakeholder_names)}
            share = defined(shares[g]) if declared else None
            rows.append(GroupRow(name, label, int(cells.sizes[g]), share, by_stakeholder))
    return GroupTable(tuple(attributes), tuple(rows))
