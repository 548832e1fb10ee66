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

from accordant.arrays import Values
from accordant.preferences.drift.maxima import log_maxima
from accordant.preferences.learners.solving.logistic import sigmoid

SLOPES = np.array([-4.0, -2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0])  # of the bet; the null allows all
SWITCHES = np.array([0.1, 0.02])  # probability that the slope is drawn anew at a record: after ten, or after fifty
CERTAIN = 1e6  # margins beyond are bet on like this one: σ is 0 or 1 there, for any slope but 0


def log_agreement_process(margins: Values) -> Values:
    """Return log W_t after each record; the work grows about in proportion to the number of records.

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
    for row, likely in enumerate(sigmoid(np.outer(np.clip(margins, -CERTAIN, CERTAIN), SLOPES))):
        seen = states * likely
        total = seen.sum()
        found[row] = math.log(total)
        states = seen / total
        states += SWITCHES[:, None] * (states.mean(axis=1, keepdims=True) - states)
    return found
