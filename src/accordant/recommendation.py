"""Recommendations: what a decision looks like to those who act on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.decisions import Decisions
from accordant.faces import Displayed
from accordant.predictions import OutcomePrediction
from accordant.unusual import Unusual, UnusualCounts, UnusualSpec
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Recommendations(Displayed):
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
        NaN where there is no finite runner-up, below 0 where a budget or parity gave the better action to others, or
        where the action was drawn.
    unusual
        What is unusual about the contexts; None if nobody looked.
    fall_back
        Whether the action is the one declared for unusual contexts, not the strategy's, shape (context,).
    adopted
        Why the action is one that a person adopted for this very context, shape (context,), empty where it is not; None
        if nothing was adopted.
    prediction
        f on the same contexts; None where the decisions came without it.
    """

    decisions: Decisions
    expected: ExpectedRewards
    runner_up: NDArray[np.str_]
    margin: NDArray[np.float64]
    unusual: Unusual | None = None
    fall_back: NDArray[np.bool_] | None = None
    adopted: NDArray[np.str_] | None = None
    prediction: OutcomePrediction | None = None

    @property
    def counts(self) -> UnusualCounts:
        """How many contexts are unusual, and what happens to them."""
        if self.unusual is None or self.fall_back is None:
            return UnusualCounts(self.decisions.n_contexts)
        return UnusualCounts.of(self.unusual, self.referred, self.fall_back)

    @property
    def referred(self) -> NDArray[np.bool_]:
        """Whether a person decides, so that there is no action, shape (context,)."""
        return np.zeros(self.decisions.n_contexts, bool) if self.decisions.referred is None else self.decisions.referred

    @classmethod
    def of(
        cls, decisions: Decisions, expected: ExpectedRewards, prediction: OutcomePrediction | None = None
    ) -> Recommendations:
        """Find the runner-up of every decision."""
        names = np.array([*decisions.action_names, ""], dtype=str)
        rows = np.arange(decisions.n_contexts)
        if decisions.scores is None or len(decisions.action_names) == 1:
            nobody = np.full(len(rows), len(names) - 1)
            return cls(decisions, expected, names[nobody], np.full(len(rows), np.nan), prediction=prediction)
        scores = np.array(decisions.scores, dtype=np.float64)
        chosen = scores[decisions.codes, rows].copy()
        scores[decisions.codes, rows] = -np.inf
        # actions that share the best remaining score are ordered like ties: utilitarian sum, declared order
        sums = np.where(scores == scores.max(axis=0), expected.values.sum(axis=0), -np.inf)
        sums[decisions.codes, rows] = -np.inf
        second = sums.argmax(axis=0)
        with np.errstate(invalid="ignore"):
            margin = chosen - scores[second, rows]
        margin = np.where(np.isfinite(margin), margin, np.nan)
        return cls(decisions, expected, names[second], margin, prediction=prediction)

    def handled(self, unusual: Unusual, declared: UnusualSpec) -> Recommendations:
        """Return what is recommended where unusual contexts are handled as declared.

        Contexts that are referred to a person have no action; they and those with a fall-back action have no runner-up
        and no margin.
        """
        referred = declared.referred(unusual)
        taken = declared.fall_backs(unusual, self.decisions.action_names)
        fall_back = taken >= 0
        if not (referred | fall_back).any():
            return replace(self, unusual=unusual, fall_back=fall_back)
        decisions, apart = self.decisions, referred | fall_back
        policy = decisions.policy
        if policy is not None:
            certain = np.where(referred, np.nan, np.arange(len(policy))[:, None] == taken)
            policy = np.where(apart, certain, policy)
        return replace(
            self,
            decisions=replace(
                decisions,
                codes=np.where(fall_back, taken, decisions.codes),
                tied=decisions.tied & ~apart,
                policy=policy,
                referred=referred,
            ),
            runner_up=np.where(apart, "", self.runner_up),
            margin=np.where(apart, np.nan, self.margin),
            unusual=unusual,
            fall_back=fall_back,
        )

    def adopted_where(self, codes: NDArray[np.intp], remarks: NDArray[np.str_]) -> Recommendations:
        """Return what is recommended where people adopted actions; what is unusual about a context stays said.

        Parameters
        ----------
        codes
            Position of the adopted action, −1 for none, shape (context,).
        remarks
            Why, in words, shape (context,).
        """
        apart, decisions = codes >= 0, self.decisions
        policy = decisions.policy
        if policy is not None:
            policy = np.where(apart, np.arange(len(policy))[:, None] == codes, policy)
        referred = None if decisions.referred is None else decisions.referred & ~apart
        return replace(
            self,
            decisions=replace(
                decisions, codes=np.where(apart, codes, decisions.codes), tied=decisions.tied & ~apart, policy=policy,
                referred=referred,
            ),
            runner_up=np.where(apart, "", self.runner_up),
            margin=np.where(apart, np.nan, self.margin),
            fall_back=None if self.fall_back is None else self.fall_back & ~apart,
            adopted=remarks,
        )  # fmt: skip

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one column per field, as ``accordant recommend`` writes them.

        ``action`` (empty where ``referred``), ``runner_up``, ``margin``, ``tied``, ``unusual`` (in words),
        ``referred``, ``fall_back``, ``adopted`` (in words, if anything was adopted), ``P[action]`` and ``draw`` for
        randomised strategies (see `Decisions.draw`), and ``E[stakeholder, action]`` for every pair, and the strategy's
        flags, such as ``floor_unmet``.
        """
        table: dict[str, NDArray[Any]] = {
            "action": self.decisions.actions,
            "runner_up": self.runner_up,
            "margin": self.margin,
            "tied": self.decisions.tied,
        }
        if self.unusual is not None and self.fall_back is not None:
            table |= {"unusual": self.unusual.remarks, "referred": self.referred, "fall_back": self.fall_back}
        if self.adopted is not None:
            table["adopted"] = self.adopted
        if self.decisions.policy is not None:
            names = self.decisions.action_names
            table |= {f"P[{action}]": self.decisions.policy[a] for a, action in enumerate(names)}
            table |= {"draw": self.decisions.quantities["draw"]} if "draw" in self.decisions.quantities else {}
        return table | self.expected.columns() | dict(self.decisions.flags)

    def to_frame(self) -> Any:
        """Return `columns` as a data frame of the library in which the contexts came; pandas if they came in none."""
        return self.expected.schema.table(self.columns())
