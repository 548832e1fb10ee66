"""Rewards of Parent, Healthcare_Provider and Policy_Maker in the infant-health case.

Formulas and constants follow the settings of the official code of Vineis, Perelli and Tolomei (2025),
"Beyond Predictions", as published at commit f15b820. There, the rewards of actions that were not taken came
from an object on which the outcome ranges had never been fitted; here an unfitted signal is an error. The structures
``mild`` and ``strictest`` are ours: that code has them for lending only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.cases.parts import reward_sets
from accordant.contexts import Contexts, Log
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.rewards import ClippedReward, Outcome, RewardSignal

STAKEHOLDERS = ("Parent", "Healthcare_Provider", "Policy_Maker")
COSTS = {"A": 100.0, "C": 10.0}  # home visits and control, in the published cost unit
OUTCOME_SHARE = 0.8  # α: weight of the outcome, against cost, for the provider
EQUITY = 0.5  # β: how much more the policy maker values outcomes of the protected group
EPSILON = 1e-10

Ranges = Mapping[str, tuple[float, float]]
Structure = Literal["base", "mild", "strictest"]

# α and β: in `mild` stakeholders want nearly the same; in `strictest` cost weighs as much as the outcome for the
# provider, and the policy maker values a protected child three times as much as another one
_WEIGHTS: dict[Structure, tuple[float, float]] = {
    "base": (OUTCOME_SHARE, EQUITY), "mild": (0.95, 0.1), "strictest": (0.5, 1.0),
}  # fmt: skip


@dataclass(frozen=True)
class HealthReward(ClippedReward):
    """A reward for a cognitive score o, relative to the range of scores seen in training.

    With m_a and M_a the smallest and largest training outcome under action a, and costs c:

    * Healthcare_Provider: α max(0, o − m_C) / (M_A − m_C) + (1 − α) (1 − c(a) / max c)
    * Policy_Maker: max(0, o − m_a) / (M_a − m_a) · (1 + β (x23 − 0.5))
    * Parent: (o − min m) / (max M − min m), without noise

    Parameters
    ----------
    noise
        Half-width of the noise in elicited rewards; the Parent's answers carry none.
    stakeholder
        Parent, Healthcare_Provider or Policy_Maker.
    ranges
        (m_a, M_a) for every action; set by `fit`.
    structure
        Which α and β: ``base`` as published, 0.8 and 0.5; ``mild`` 0.95 and 0.1, ``strictest`` 0.5 and 1 [ours].
    """

    stakeholder: str = "Parent"
    ranges: Ranges = field(default_factory=dict)
    structure: Structure = "base"

    def fit(self, log: Log, problem: DecisionProblem) -> RewardSignal:
        """Return the signal with the outcome ranges of these training rows."""
        ranges = {}
        for code, action in enumerate(problem.actions):
            outcomes = log.outcomes[log.actions == code]
            if not outcomes.size:
                raise DataError(
                    f"no training row has the action {action!r}; the health rewards need its range of outcomes"
                )
            ranges[action] = (float(outcomes.min()), float(outcomes.max()))
        return replace(self, ranges=ranges)

    def desirability(self, contexts: Contexts, action: str, outcome: Outcome) -> NDArray[np.float64]:
        """Return the formula before clipping."""
        if not self.ranges:
            raise NotFittedError(
                "health rewards need the outcome ranges of training rows; call fit(log, problem) first"
            )
        score = np.broadcast_to(np.asarray(outcome, dtype=np.float64), (contexts.n_contexts,))
        low, high = self.ranges[action]
        share, extra = _WEIGHTS[self.structure]
        if self.stakeholder == "Healthcare_Provider":
            floor, top = self.ranges["C"][0], self.ranges["A"][1]
            gained = np.maximum(0.0, score - floor) / (top - floor + EPSILON)
            return share * gained + (1 - share) * (1 - COSTS[action] / max(COSTS.values()))
        if self.stakeholder == "Policy_Maker":
            equity = 1 + extra * (contexts.numeric("x23") - 0.5)
            return np.maximum(0.0, score - low) / (high - low + EPSILON) * equity
        lowest = min(low for low, _ in self.ranges.values())
        highest = max(high for _, high in self.ranges.values())
        return (score - lowest) / (highest - lowest + EPSILON)


@reward_sets.register("health")
def health_rewards(noise: float = 0.05, structure: Structure = "base") -> dict[str, RewardSignal]:
    """Return the reward signals of all three stakeholders."""
    if structure not in _WEIGHTS:
        raise UnknownNameError("reward structure", structure, _WEIGHTS)
    if not 0 <= noise <= 1:
        raise InputError(f"reward noise is {noise}; allowed: [0, 1]")
    return {name: HealthReward(0.0 if name == "Parent" else noise, name, structure=structure) for name in STAKEHOLDERS}
