"""Overlap: how far the log supports what a strategy decides, and what it leaves open.

Where a strategy decides what the logged behaviour almost never did, no logged case tells what would follow: the
importance weights of the few matching cases are huge, and estimates rest on the outcome model alone. There the
reward can be anything in its range, so intervals are widened by the range times the share of such decisions
(bounds without assumptions: Manski 1990; for off-policy evaluation without overlap: Khan, Saveski and Ugander 2024,
of whose bounds these are the widest, for outcomes of any roughness).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.decisions import Decisions
from accordant.learning.causal.propensity import CLIP

RARE = 0.05  # propensities below this are rare
MANY_RARE = 0.15  # if more decisions than this are rare, they must have enough matching cases
EXPECTED_CASES = 5.0  # so many must be expected among them, as for tables of counts
TOLERATED = 0.075  # share of unsupported decisions up to which nothing needs to be said: intervals hold it
FEW = 10.0  # below this effective number of matching cases an interval of resamples is not to be trusted


@dataclass(frozen=True)
class Overlap:
    """How far the log supports what one strategy decides.

    Attributes
    ----------
    unsupported
        Share of its decisions that the logged behaviour took too rarely to learn from, in [0, 1].
    effective
        Effective number of logged cases that match its decisions, (Σ w)² / Σ w² with w = 1 / propensity (Kish 1965).
    """

    unsupported: float
    effective: float

    @property
    def poor(self) -> bool:
        """Whether a reader must be told."""
        return self.unsupported > TOLERATED or self.scarce

    @property
    def scarce(self) -> bool:
        """Whether too few cases match for an interval."""
        return self.effective < FEW

    @property
    def reason(self) -> str:
        """Why what it decides cannot be bounded where a metric is open at one end."""
        return f"the log does not support {self.unsupported:.0%} of its decisions"

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"poor": self.poor}


def unsupported_decisions(decisions: Decisions, propensities: Values) -> Values:
    """Return the probability of each unsupported action of one strategy, shape (action, context).

    An action is unsupported where its propensity is below 0.02, the smallest that estimates divide by; or below 0.05,
    if that concerns more than 15 % of the strategy's decisions and fewer than five matching cases are expected there.
    """
    probabilities, rare = np.zeros(propensities.shape), RareDecisions.of(decisions, propensities, RARE)
    if not too_many_rare(rare.total, rare.expected, propensities.shape[1]):
        rare = RareDecisions.of(decisions, propensities, CLIP)
    probabilities[rare.actions, rare.contexts] = rare.probabilities
    return probabilities


def too_many_rare(rare: float, expected: float, n: int) -> bool:
    """Return whether decisions below `RARE` are unsupported: so many of `n`, with so many matching cases expected."""
    return rare > MANY_RARE * n and expected < EXPECTED_CASES


@dataclass(frozen=True, eq=False)
class RareDecisions:
    """Decisions of one strategy that the logged behaviour rarely took.

    Attributes
    ----------
    actions, contexts
        Where they are, each of shape (decision,).
    probabilities
        With which the strategy takes them, same shape.
    expected
        Matching cases expected among them.
    """

    actions: Codes
    contexts: Codes
    probabilities: Values
    expected: float

    @classmethod
    def of(cls, decisions: Decisions, propensities: Values, below: float) -> Self:
        """Return the decisions whose propensity is below a limit."""
        if decisions.policy is None:
            chosen = propensities[decisions.codes, np.arange(len(decisions.codes))]
            contexts = np.flatnonzero(chosen < below)
            actions = decisions.codes[contexts].astype(np.intp)
            return cls(actions, contexts, np.ones(len(contexts)), float(chosen[contexts].sum()))
        actions, contexts = np.nonzero((propensities < below) & (decisions.policy > 0))
        taken = np.asarray(decisions.policy[actions, contexts], dtype=np.float64)
        return cls(actions, contexts, taken, float((taken * propensities[actions, contexts]).sum()))

    @property
    def total(self) -> float:
        """How many there are; an expected number if decisions are randomised."""
        return float(self.probabilities.sum())

    def sums(self, contributions: Values) -> Values:
        """Return the sum over them of contributions of shape (column, action, context), shape (column,)."""
        return np.asarray((contributions[:, self.actions, self.contexts] * self.probabilities).sum(axis=1))


def overlap(decisions: Decisions, propensities: Values, actions: NDArray[np.intp]) -> Overlap:
    """Return how far a log supports one strategy.

    Parameters
    ----------
    decisions
        What it decides.
    propensities
        Shape (action, context).
    actions
        Logged actions, shape (context,).
    """
    weights = matching_weights(decisions, propensities, actions)
    total = float(np.square(weights).sum())
    return Overlap(
        float(unsupported_decisions(decisions, propensities).sum() / len(actions)),
        float(weights.sum() ** 2 / total) if total else 0.0,
    )


def matching_weights(decisions: Decisions, propensities: Values, actions: NDArray[np.intp]) -> Values:
    """Return 1 / propensity of logged actions, as far as a strategy decides so too, shape (context,)."""
    rows = np.arange(len(actions))
    matching = (
        (decisions.codes == actions).astype(np.float64) if decisions.policy is None else decisions.policy[actions, rows]
    )
    return np.asarray(matching / np.maximum(propensities[actions, rows], CLIP))
