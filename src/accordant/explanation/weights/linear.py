"""Exact changes of weights where scores are linear in their shares: Σ_i share_i Φ_i."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.explanation.influence.absence import with_weights
from accordant.explanation.weights.changes import NewWeights
from accordant.explanation.weights.trial import END, STEP, Side, Trial, onwards
from accordant.strategies.deciding import ContextRule, decide
from accordant.strategies.selection import TIE_TOLERANCE
from accordant.utilities import ExpectedRewards

Values = NDArray[np.float64]

# scores are Σ_i share_i Φ_i, where Φ_i are the scores with i alone heard
LINEAR = frozenset({
    "anti_plurality", "approval", "borda", "plurality", "range", "relative_utilitarian", "sufficientarian",
    "utilitarian",
})  # fmt: skip


def exact_changes(trial: Trial, scores: Values) -> list[NewWeights]:
    """Return the smallest shift, and the smallest change for each stakeholder in each direction.

    Parameters
    ----------
    trial
        The rule in one context.
    scores
        Φ_i, shape (stakeholder, action), see `components`.
    """
    rivals = [a for a in range(len(trial.here.actions)) if a != trial.chosen]
    leads = [scores[:, trial.chosen] - scores[:, a] for a in rivals]  # by how much each prefers the decision
    shifts = [each for lead in leads if (each := smallest_shift(lead, trial.shares)) is not None]
    tried = (trial.changed("shift", None, each) for each in sorted(shifts, key=trial.moved))
    found = [next((each for each in tried if each is not None), None)]
    found += [_first(trial, leads, i, direction) for i in range(len(trial.shares)) for direction in END]
    return [each for each in found if each is not None]


def _first(trial: Trial, leads: list[Values], who: int, direction: Side) -> NewWeights | None:
    """Return the nearest share of one stakeholder at which some rival is ahead."""
    end = END[direction]
    reached = [share for lead in leads if (share := crossing(lead, trial.shares, who, end)) is not None]
    for share in sorted(reached, key=lambda each: abs(each - trial.shares[who])):
        change = trial.changed(direction, who, trial.with_share(who, onwards(share, end)))
        if change is not None:
            return change
    return None


def components(rule: ContextRule, here: ExpectedRewards) -> Values:
    """Return the scores of a rule in one context with each stakeholder alone heard, shape (stakeholder, action)."""
    n_stakeholders = len(here.stakeholders)
    alone = [with_weights(rule, row) for row in np.eye(n_stakeholders)]
    found = decide([each for each in alone if isinstance(each, ContextRule)], here)
    return np.array([each.scores[:, 0] for each in found if each.scores is not None], dtype=np.float64)


def smallest_shift(lead: Values, shares: Values, step: float = STEP) -> Values | None:
    """Return the shares nearest to the present ones at which a rival is ahead; None if it never is.

    A share that passes from i to k lowers the lead Σ_j share_j lead_j by lead_i − lead_k per unit. So everything goes
    to whoever likes the rival best, from those who like it least, as much of each as is needed.

    Parameters
    ----------
    lead
        By how much each stakeholder's scores prefer the decision, shape (stakeholder,).
    shares
        Shares of weight, summing to 1.
    step
        How far beyond the threshold to go, in units of the lead that the rival gets.
    """
    taker = int(lead.argmin())
    if lead[taker] >= 0:
        return None
    goal = float(shares @ lead) + step * -float(lead[taker])  # how far the lead must fall
    new = shares.copy()
    for giver in np.argsort(-lead, kind="stable"):
        per_unit = float(lead[giver] - lead[taker])
        if goal <= 0 or per_unit <= 0:
            break
        passed = min(float(shares[giver]), goal / per_unit)
        new[giver] -= passed
        new[taker] += passed
        goal -= passed * per_unit
    return new


def crossing(lead: Values, shares: Values, who: int, end: float) -> float | None:
    """Return the share of one stakeholder, between its present one and `end`, at which a rival draws level; or None.

    The others keep their proportions, so the lead is s lead_i + (1 − s) L, where L is their weighted mean lead.
    """
    if shares[who] >= 1:
        return None  # nobody else has a proportion to keep
    others = (float(shares @ lead) - float(shares[who] * lead[who])) / (1.0 - float(shares[who]))
    slope = float(lead[who]) - others
    if slope == 0:
        return None
    share = -others / slope
    low, high = sorted((float(shares[who]), end))
    slack = TIE_TOLERANCE * max(1.0, abs(others / slope))
    return min(max(share, low), high) if low - slack <= share <= high + slack else None
