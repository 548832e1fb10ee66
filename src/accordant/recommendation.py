"""Recommendations: what a decision looks like to those who act on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.decisions import Decisions
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Recommendations:
    """Actions with what speaks for them.

    Attributes
    ----------
    decisions
        What the strategy chose.
    expected
        E on the same contexts.
    runner_up
        Name of the action with the next best score, shape (context,); empty for strategies without scores.
    margin
        Score of the chosen action minus that of the runner-up, in the strategy's own unit, shape (context,);
        NaN where there is no finite runner-up, below 0 where a budget or parity gave the better action to others.
    """

    decisions: Decisions
    expected: ExpectedRewards
    runner_up: NDArray[np.str_]
    margin: NDArray[np.float64]

    @classmethod
    def of(cls, decisions: Decisions, expected: ExpectedRewards) -> Recommendations:
        """Find the runner-up of every decision."""
        names = np.array([*decisions.action_names, ""], dtype=str)
        rows = np.arange(decisions.n_contexts)
        if decisions.scores is None or len(decisions.action_names) == 1:
            nobody = np.full(len(rows), len(names) - 1)
            return cls(decisions, expected, names[nobody], np.full(len(rows), np.nan))
        scores = np.array(decisions.scores, dtype=np.float64)
        chosen = scores[decisions.codes, rows].copy()
        scores[decisions.codes, rows] = -np.inf
        # actions that share the best remaining score are ordered like ties: utilitarian sum, declared order
        sums = np.where(scores == scores.max(axis=0), expected.values.sum(axis=0), -np.inf)
        sums[decisions.codes, rows] = -np.inf
        second = sums.argmax(axis=0)
        with np.errstate(invalid="ignore"):
            margin = chosen - scores[second, rows]
        return cls(decisions, expected, names[second], np.where(np.isfinite(margin), margin, np.nan))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one column per field, as ``accordant recommend`` writes them.

        ``action``, ``runner_up``, ``margin``, ``tied``, ``P[action]`` for randomised strategies, and
        ``E[stakeholder, action]`` for every pair, and the strategy's flags, such as ``floor_unmet``.
        """
        table: dict[str, NDArray[Any]] = {
            "action": self.decisions.actions,
            "runner_up": self.runner_up,
            "margin": self.margin,
            "tied": self.decisions.tied,
        }
        if self.decisions.policy is not None:
            names = self.decisions.action_names
            table |= {f"P[{action}]": self.decisions.policy[a] for a, action in enumerate(names)}
        for i, stakeholder in enumerate(self.expected.stakeholders):
            for a, action in enumerate(self.expected.actions):
                table[f"E[{stakeholder}, {action}]"] = self.expected.values[i, a]
        return table | dict(self.decisions.flags)

    def to_frame(self) -> Any:
        """Return `columns` as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.columns())
