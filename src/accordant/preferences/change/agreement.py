"""Has the agreement with a reference reward changed? An e-process against "it is constant, whatever it is".

Null hypothesis: there is one slope a, the same at all times, so that given everything before and the two items shown,
the chosen item wins with probability σ(a D), D = margin of a reference that is fixed beforehand. a = 1: the reference
is right; 0 < a < 1: right direction, noisier answers; a < 0: opposed. None of these is a change.

    W_t = Π_{s ≤ t} q_s / max_a Π_{s ≤ t} σ(a D_s),   q_s = Σ_k π_{s,k} σ(a_k D_s)

W_t is at most Π q_s / σ(a D_s), which is a martingale from 1 under the true a, because q_s gives the two possible
answers probabilities that sum to 1. So P(W ever reaches 1/α) ≤ α (Ville 1939; the construction is universal inference
of Wasserman, Ramdas and Balakrishnan 2020, with a predictable numerator). π is over slopes that may switch at any
record (fixed share of Herbster and Warmuth 1998): it gains wherever one slope for all times fits badly. The bet is
[ours]; a bad bet costs power, never validity.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from accordant.preferences.learners.logistic import log_loss, sigmoid

Values = NDArray[np.float64]

SLOPES = np.array([-4.0, -2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0])  # of the bet; the null allows all
SWITCHES = np.array([0.1, 0.02])  # probability that the slope is drawn anew at a record: after ten, or after fifty
EXCESS = 1e-9  # largest amount, in nats, by which the maximum of the likelihood is overstated
PAST = 1e-6  # how far a step goes past where Newton's method sees the maximum, relative to the slope
MOST_STEPS = 200  # of one maximisation; bisection alone halves a bracket to nothing in fewer


def log_agreement_process(margins: Values) -> Values:
    """Return log W_t after each record.

    Parameters
    ----------
    margins
        D of the reference for the observed answers, in order of time, finite, shape (record,). A record with D = 0
        is as likely under every slope and leaves W as it is.
    """
    return np.asarray(np.cumsum(log_bets(margins)) - log_maxima(margins))


def log_bets(margins: Values) -> Values:
    """Return log q_s of each record, from the records before it, shape (record,)."""
    states = np.full((len(SWITCHES), len(SLOPES)), 1.0 / (len(SWITCHES) * len(SLOPES)))
    found = np.empty(len(margins))
    for row, likely in enumerate(sigmoid(np.outer(margins, SLOPES))):
        seen = states * likely
        total = seen.sum()
        found[row] = math.log(total)
        states = seen / total
        states += SWITCHES[:, None] * (states.mean(axis=1, keepdims=True) - states)
    return found


def log_maxima(margins: Values) -> Values:
    """Return max_a Σ_{s ≤ t} log σ(a D_s) for each t, overstated by at most 10⁻⁹, shape (record,)."""
    scaled = margins / max(float(np.abs(margins).max(initial=0.0)), np.finfo(float).tiny)  # the maximum is the same
    found, slope = np.empty(len(margins)), 0.0
    agreed, opposed = np.logical_or.accumulate(margins > 0), np.logical_or.accumulate(margins < 0)
    limit = -math.log(2.0) * np.cumsum(margins == 0)  # a → ±∞ explains all answers but ties, if they are on one side
    for row in range(len(margins)):
        found[row] = limit[row]
        if agreed[row] and opposed[row]:
            value, slope = _maximum(scaled[: row + 1], slope)
            found[row] = min(value, limit[row])
    return found


def _maximum(margins: Values, slope: float) -> tuple[float, float]:
    """Return an upper bound of the largest log-likelihood, and its slope, by Newton's method within a bracket.

    The log-likelihood f is concave, so its maximum is at most f(a) + |f'(a)| · width for a in a bracket of the maximum.
    """
    low, high, excess = -math.inf, math.inf, math.inf
    for _ in range(MOST_STEPS):
        against = sigmoid(-slope * margins)
        gradient = float(margins @ against)
        low, high = (slope, high) if gradient >= 0 else (low, slope)
        excess = abs(gradient) * (high - low) if gradient else 0.0
        if excess <= EXCESS:
            break
        slope = _next_slope(slope, gradient, float((margins * margins) @ (against * (1.0 - against))), low, high)
    return excess - float(log_loss(slope * margins).sum()), slope


def _next_slope(slope: float, gradient: float, curvature: float, low: float, high: float) -> float:
    """Return Newton's next slope, a little past the maximum so that the bracket closes; else a half or a double one."""
    reach = 1.0 + abs(slope)
    step = gradient / max(curvature, np.finfo(float).tiny) + math.copysign(PAST * reach, gradient)
    moved = slope + max(-reach, min(reach, step))
    if low < moved < high:
        return moved
    return (low + high) / 2.0 if math.isfinite(high - low) else slope + math.copysign(reach, gradient)
