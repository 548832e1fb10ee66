"""What constraints cost: score and expected rewards against the same rule without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.strategies.constraints.constrained_strategy import Constrained
from accordant.strategies.constraints.screening import scores_of
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True)
class Price:
    """The price of constraints on one batch, against the same rule without constraints.

    Randomised decisions count by their probabilities.

    Attributes
    ----------
    n_contexts
        Contexts of the batch.
    score_lost
        Sum over contexts of the rule's score without constraints minus that with them, where both are finite; in the
        unit of the rule's score, at least 0 up to rounding.
    score_lost_per_context
        The same divided by the number of contexts; NaN for an empty batch.
    hopeless
        How many more contexts have score −inf because of the constraints (expected number).
    reward_change
        Stakeholder to the change of its mean expected reward; above 0 if the constraints help it. NaN for an empty
        batch.
    changed
        Share of decisions that differ (by probability); NaN for an empty batch.
    unmet
        Contexts in which no action satisfies floors and vetoes.
    per_place
        Capped action to the score that one more place would add: the marginal price of its budget. inf if it would
        spare a score of −inf.
    per_tolerance
        Score that a wider parity bound would add per unit of ε, at the margin; None without parity.
    """

    n_contexts: int
    score_lost: float
    score_lost_per_context: float
    hopeless: float
    reward_change: Mapping[str, float]
    changed: float
    unmet: int
    per_place: Mapping[str, float]
    per_tolerance: float | None


def price_of(
    constrained: Constrained, expected: ExpectedRewards, *, contexts: Contexts | None = None, **known: Any
) -> Price:
    """Return what the constraints of a strategy cost on a batch.

    Parameters
    ----------
    constrained
        The strategy, fitted if its rule needs it.
    expected
        E of the batch.
    contexts
        Columns that prohibitions and parity read.
    **known
        Passed on to the rule: ``prediction``, ``log``.
    """
    solution = constrained.terms.solve(expected, contexts, **known)
    free, bound, plan = constrained.terms.rule(expected, contexts=contexts, **known), solution.decisions, solution.plan
    n = expected.n_contexts
    hopeless, finite = _split(np.asarray(scores_of(free), dtype=np.float64))
    changes = _taken(bound, hopeless) - _taken(free, hopeless)
    score = np.where(changes == 0, _taken(free, finite) - _taken(bound, finite), 0.0).sum()
    rewards = [
        float((_taken(bound, values) - _taken(free, values)).sum()) / n if n else np.nan for values in expected.values
    ]
    stays = np.ones(n) if bound.policy is None else bound.policy[free.codes, np.arange(n)]
    stays = np.where(bound.codes == free.codes, 1.0, 0.0) if bound.policy is None else stays
    return Price(
        n_contexts=n, score_lost=float(score), score_lost_per_context=float(score) / n if n else np.nan,
        hopeless=float(changes.sum()), reward_change=dict(zip(expected.stakeholders, rewards, strict=True)),
        changed=float((1.0 - stays).mean()) if n else np.nan, unmet=int(bound.flags["floor_unmet"].sum()),
        per_place={} if plan is None else dict(plan.per_place),
        per_tolerance=None if plan is None else plan.per_tolerance,
    )  # fmt: skip


def _split(scores: Values) -> tuple[Values, Values]:
    """Return where scores are −inf, as 0 and 1, and the finite scores, 0 elsewhere."""
    hopeless = np.isneginf(scores)
    return hopeless.astype(np.float64), np.where(hopeless, 0.0, scores)


def _taken(decisions: Decisions, values: NDArray[Any]) -> Values:
    """Return the expected value of the decision, from values of shape (action, context), shape (context,)."""
    if decisions.policy is None:
        return np.asarray(values[decisions.codes, np.arange(decisions.n_contexts)], dtype=np.float64)
    return np.asarray((decisions.policy * values).sum(axis=0))
