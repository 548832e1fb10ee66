"""Do early and late answers look alike? A conformal test martingale against "they are exchangeable".

Null hypothesis: the scores of a stream are exchangeable: every order of them is as likely. No model of the answers is
needed, right or wrong; but scores also change when other items are shown, so that an alarm does not tell a change of
taste from a change of what is compared.

    p_t = (#{s ≤ t: score_s < score_t} + u_t #{s ≤ t: score_s = score_t}) / t,   u_t uniform on [0, 1]

are then independent and uniform (Vovk, Gammerman and Shafer 2005), and betting on them makes a martingale: the simple
jumper of Vovk, Petej, Nouretdinov, Ahlberg, Carlsson and Gammerman 2021. It moves wealth between the bets
1 + ε (p − ½), ε in {−1, 0, 1}, a share of 1/100 at each record.
"""

from __future__ import annotations

import bisect
import math

import numpy as np

from accordant.arrays import Values

BETS = np.array([-1.0, 0.0, 1.0])
JUMPS = 0.01  # share of the wealth that is spread over all bets before each record (Vovk et al. 2021)


def conformal_p_values(scores: Values, generator: np.random.Generator) -> Values:
    """Return smoothed p-values, shape (record,).

    Parameters
    ----------
    scores
        In order of time, finite, shape (record,).
    generator
        Breaks ties: u_t.
    """
    seen: list[float] = []
    found, broken = np.empty(len(scores)), generator.random(len(scores))
    for row, score in enumerate(scores.tolist()):
        bisect.insort(seen, score)
        lower = bisect.bisect_left(seen, score)
        equal = bisect.bisect_right(seen, score) - lower
        found[row] = (lower + broken[row] * equal) / len(seen)
    return found


def log_jumper(p_values: Values) -> Values:
    """Return the log wealth of the simple jumper after each p-value, shape (record,)."""
    shares, found, total = np.full(len(BETS), 1.0 / len(BETS)), np.empty(len(p_values)), 0.0
    for row, p_value in enumerate(p_values.tolist()):
        shares = (1.0 - JUMPS) * shares + JUMPS / len(BETS)
        won = shares * (1.0 + BETS * (p_value - 0.5))
        gain = float(won.sum())
        total += math.log(gain)
        found[row], shares = total, won / gain
    return found
