"""Exact changes of weights where scores are linear in their shares: Σ_i share_i Φ_i."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.explanation.influence.absence import with_weights
from accordant.explanation.weights.changes import NewWeights
from accordant.explanation.weights.trial import END, STEP, Side, Trial
from accordant.strategies.deciding import ContextRule, decide
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE
from accordant.utilities import ExpectedRewards

CLEAR = 4.0  # times the tie tolerance: enough for rounding to leave a rival ahead, not level

# scores are Σ_i share_i Φ_i, where Φ_i are the scores with i alone heard
LINEAR = frozenset({
    "anti_plurality", "approval", "borda", "plurality", "range", "relative_utilitarian", "sufficientarian",
    "utilitarian",
})  # fmt: skip


def exact_changes(trial: Trial, scores: Values) -> tuple[list[NewWeights], bool]:
    """Return the smallest shift and the smallest change for each stakeholder in each direction.

    Beside them: whether it is proven that no weights above 0 lead to another decision, because every stakeholder's
    scores put the decision at least level with every rival.

    Parameters
    ----------
    trial
        The rule in one context.
    scores
        Φ_i, shape (stakeholder, action), see `components`.
    """
    rivals = [a for a in range(len(trial.here.actions)) if a != trial.chosen]
    leads = [scores[:, trial.chosen] - scores[:, a] for a in rivals]  # by how much each prefers the decision
    ahead = least_lead(trial, scores)
    shifts = [each for lead in leads if (each := smallest_shift(lead, trial.shares, ahead)) is not None]
    tried = (trial.changed("shift", None, each) for each in sorted(shifts, key=trial.moved))
    found = [next((each for each in tried if each is not None), None)]
    found += [_first(trial, leads, i, direction, ahead) for i in range(len(trial.shares)) for direction in END]
    return [each for each in found if each is not None], all(lead.min() >= 0 for lead in leads)


def _first(trial: Trial, leads: list[Values], who: int, direction: Side, ahead: float) -> NewWeights | None:
    """Return the nearest share of one stakeholder at which some rival is ahead."""
    end = END[direction]
    reached = [share for lead in leads if (share := crossing(lead, trial.shares, who, end, ahead)) is not None]
    for share in sorted(reached, key=lambda each: abs(each - trial.shares[who])):
        change = trial.changed(direction, who, trial.with_share(who, share))
        if change is not None:
            return change
    return None


def least_lead(trial: Trial, scores: Values) -> float:
    """Return the lead that a rival needs to be ahead for certain: `CLEAR` times what still counts as a tie."""
    single = trial.here.values.dtype == np.float32
    tolerance = SINGLE_PRECISION_TOLERANCE if single else TIE_TOLERANCE
    return CLEAR * tolerance * max(1.0, float(np.abs(scores).max()))


def components(rule: ContextRule, here: ExpectedRewards) -> Values:
    """Return the scores of a rule in one context with each stakeholder alone heard, shape (stakeholder, action)."""
    n_stakeholders = len(here.stakeholders)
    alone = [with_weights(rule, row) for row in np.eye(n_stakeholders)]
    found = decide([each for each in alone if isinstance(each, ContextRule)], here)
    return np.array([each.scores[:, 0] for each in found if each.scores is not None], dtype=np.float64)


def smallest_shift(lead: Values, shares: Values, ahead: float = 0.0) -> Values | None:
    """Return the shares nearest to the present ones at which a rival is ahead; None if it never is.

    A share that passes from i to k lowers the lead Σ_j share_j lead_j by lead_i − lead_k per unit. So everything goes
    to whoever likes the rival best, from those who like it least, as much of each as is needed (Dantzig 1957). What is
    left to pass after that is rounding, and so are differences within the tie tolerance: nothing is taken for them.

    Parameters
    ----------
    lead
        By how much each stakeholder's scores prefer the decision, shape (stakeholder,).
    shares
        Shares of weight, summing to 1.
    ahead
        The lead that the rival needs at least, or a `STEP` of the most that it can get if that is more; 0 if level is
        enough.
    """
    taker = int(lead.argmin())
    if lead[taker] >= -ahead:
        return None
    goal = float(shares @ lead) + _beyond(float(lead[taker]), ahead)  # how far the lead must fall
    new = shares.copy()
    for giver in np.argsort(-lead, kind="stable"):
        per_unit = float(lead[giver] - lead[taker])
        if goal <= TIE_TOLERANCE or per_unit <= TIE_TOLERANCE:
            break
        passed = min(float(shares[giver]), goal / per_unit)
        new[giver] -= passed
        new[taker] += passed
        goal -= passed * per_unit
    return new


def crossing(lead: Values, shares: Values, who: int, end: float, ahead: float = 0.0) -> float | None:
    """Return the share of one stakeholder, between its present one and `end`, at which a rival is ahead; or None.

    The others keep their proportions, so the lead is s lead_i + (1 − s) L, where L is their weighted mean lead: a line
    between the present lead and that at the end. The end itself is left out: there somebody has no weight, which is
    another question. So a rival that is only level there never is ahead.

    Parameters
    ----------
    lead, shares, ahead
        See `smallest_shift`.
    who
        Position of the stakeholder.
    end
        0 or 1.
    """
    own = float(shares[who])
    if own >= 1:
        return None  # nobody else has a proportion to keep
    now = float(shares @ lead)
    at_end = float(lead[who]) if end == 1 else (now - own * float(lead[who])) / (1.0 - own)
    if own == end or at_end >= -ahead:
        return None
    return own + (end - own) * (now + _beyond(at_end, ahead)) / (now - at_end)


def _beyond(most: float, ahead: float) -> float:
    """Return how far below 0 the lead must fall, which is at most `most` < 0."""
    return max(ahead, STEP * -most) if ahead > 0 else 0.0
