"""Betting against "nothing changes": an e-process on agreement with a reference, a conformal martingale on answers.

`log_maxima`: the largest likelihood of one slope for all answers so far, after each of them; never understated.
f_t(a) = Σ_{s ≤ t} log σ(a D_s) is concave in the slope a. Two bounds of its maximum from above:

    one slope    f(a) + |f'(a)| · width, for a in a bracket of the maximum (Newton's method until this is 10⁻⁹)
    two slopes   where f' changes its sign between two slopes, the height at which their tangents meet [ours]

The first looks at all records so far, for each record anew. For the second f and f' are carried along at some slopes
around the maximum, and found anew when the number of records has grown by a tenth, or the maximum has left them.

`log_agreement_process`: has the agreement with a reference reward changed? An e-process against "it is constant,
whatever it is". Null hypothesis: there is one slope a, the same at all times, so that given everything before and the
two items shown, the chosen item wins with probability σ(a D), D = margin of a reference that is fixed beforehand.
a = 1: the reference is right; 0 < a < 1: right direction, noisier answers; a < 0: opposed. None of these is a change.

    W_t = Π_{s ≤ t} q_s / max_a Π_{s ≤ t} σ(a D_s),   q_s = Σ_k π_{s,k} σ(a_k D_s)

W_t is at most Π q_s / σ(a D_s), which is a martingale from 1 under the true a, because q_s gives the two possible
answers probabilities that sum to 1. So P(W ever reaches 1/α) ≤ α (Ville 1939; the construction is universal inference
of Wasserman, Ramdas and Balakrishnan 2020, with a predictable numerator). π is over slopes that may switch at any
record (fixed share of Herbster and Warmuth 1998): it gains wherever one slope for all times fits badly. The bet is
[ours]; a bad bet costs power, never validity.

`log_jumper`: do early and late answers look alike? A conformal test martingale against "they are exchangeable". Null
hypothesis: the scores of a stream are exchangeable: every order of them is as likely. No model of the answers is
needed, right or wrong; but scores also change when other items are shown, so that an alarm does not tell a change of
taste from a change of what is compared.

    p_t = (#{s ≤ t: score_s < score_t} + u_t #{s ≤ t: score_s = score_t}) / t,   u_t uniform on [0, 1]

are then independent and uniform (Vovk, Gammerman and Shafer 2005), and betting on them makes a martingale: the simple
jumper of Vovk, Petej, Nouretdinov, Ahlberg, Carlsson and Gammerman 2021. It moves wealth between the bets 1 + ε
(p − ½), ε in {−1, 0, 1}, a share of 1/100 at each record.
"""

from __future__ import annotations

import bisect
import math

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.logistic import log_loss, sigmoid

EXCESS = 1e-9  # largest amount, in nats, by which the maximum of the likelihood is overstated
PAST = 1e-6  # how far a step goes past where Newton's method sees the maximum, relative to the slope
EXACT = 1000  # records with the maximum itself: their work grows with the square of their number
MOST_STEPS = 200  # of one maximisation; bisection alone halves a bracket to nothing in fewer
SLOPES_BESIDE = np.linspace(-4.0, 4.0, 65)  # around the maximum, in units of 1 / √−f''
GROWTH = 10  # records for which slopes are carried along, as a share of those before: one in so many
FEW = 32  # records carried along, below which as many are maximised one by one, since the maximum moves fast
CHUNK = 2048  # records added up at a time
LOOSE = 0.01  # nats by which tangents may overstate the maximum
SLOPES = np.array([-4.0, -2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0])  # of the bet; the null allows all
SWITCHES = np.array([0.1, 0.02])  # probability that the slope is drawn anew at a record: after ten, or after fifty
CERTAIN = 1e6  # margins beyond are bet on like this one: σ is 0 or 1 there, for any slope but 0
BETS = np.array([-1.0, 0.0, 1.0])  # ε of the simple jumper
JUMPS = 0.01  # share of the wealth that is spread over all bets before each record (Vovk et al. 2021)


def log_maxima(margins: Values) -> Values:
    """Return max_a Σ_{s ≤ t} log σ(a D_s) for each t, never understated, shape (record,).

    Overstated by at most 10⁻⁹ for the first thousand records, and by at most 0.01 for later ones, see
    `later_maxima`.
    """
    scaled = margins / max(float(np.abs(margins).max(initial=0.0)), np.finfo(float).tiny)  # the maximum is the same
    both = np.logical_or.accumulate(margins > 0) & np.logical_or.accumulate(margins < 0)
    # a → ±∞ explains all answers but ties, if they are on one side
    maxima, slope = -math.log(2.0) * np.cumsum(margins == 0), 0.0
    begin = int(np.argmax(both)) if both.any() else len(margins)
    exact = max(begin, min(len(margins), EXACT))
    for row in range(begin, exact):
        value, slope = maximum(scaled[: row + 1], slope)
        maxima[row] = min(value, maxima[row])
    maxima[exact:] = np.minimum(maxima[exact:], later_maxima(scaled, exact, slope))
    return maxima


def maximum(margins: Values, slope: float) -> tuple[float, float]:
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


def later_maxima(margins: Values, begin: int, slope: float) -> Values:
    """Return upper bounds of the maximum for each record from a position on, overstated by at most 0.01.

    Parameters
    ----------
    margins
        With margins on both sides of 0 up to `begin`, largest size 1, shape (record,).
    begin
        Position of the first record.
    slope
        Where to begin to look.
    """
    n, row, alone = len(margins), begin, 0
    bounds = np.empty(n - begin)
    while row < n:
        value, slope = maximum(margins[: row + 1], slope)
        bounds[row - begin] = value
        row += 1
        if alone:
            alone -= 1
            continue
        carried = _carried(margins, row, min(n, row + row // GROWTH), slope)
        bounds[row - begin : row - begin + len(carried)] = carried
        row, alone = row + len(carried), 0 if len(carried) >= FEW else FEW
    return bounds


def _carried(margins: Values, start: int, stop: int, slope: float) -> Values:
    """Return bounds by tangents for records from start on, up to stop or where they are too loose."""
    against = sigmoid(-slope * margins[:start])
    bent = float((margins[:start] ** 2) @ (against * (1.0 - against)))
    slopes = slope + SLOPES_BESIDE / math.sqrt(max(bent, np.finfo(float).tiny))
    value, gradient = np.zeros(len(slopes)), np.zeros(len(slopes))
    for first in range(0, start, CHUNK):
        values, gradients = _terms(margins[first : min(start, first + CHUNK)], slopes)
        value, gradient = value + values.sum(axis=0), gradient + gradients.sum(axis=0)
    parts: list[Values] = []
    for first in range(start, stop, CHUNK):
        values, gradients = (
            np.cumsum(np.vstack([before, terms]), axis=0)[1:]
            for before, terms in zip(
                (value, gradient), _terms(margins[first : min(stop, first + CHUNK)], slopes), strict=True
            )
        )
        bounds = _tangents(values, gradients, slopes)
        loose = np.flatnonzero(np.isinf(bounds))
        parts.append(bounds[: loose[0]] if len(loose) else bounds)
        if len(loose):
            break
        value, gradient = values[-1], gradients[-1]
    return np.concatenate(parts) if parts else np.empty(0)


def _terms(margins: Values, slopes: Values) -> tuple[Values, Values]:
    """Return log σ(a D) and its derivative D σ(−a D), shape (record, slope) each."""
    products = margins[:, None] * slopes
    return -log_loss(products), margins[:, None] * sigmoid(-products)


def _tangents(values: Values, gradients: Values, slopes: Values) -> Values:
    """Return where tangents on both sides of the maximum meet, shape (record,); ∞ if there are none, or too high.

    Parameters
    ----------
    values, gradients
        f and f' at each slope, shape (record, slope).
    slopes
        Rising, shape (slope,).
    """
    rows, right = np.arange(len(values)), (gradients >= 0).sum(axis=1)
    inside = (right > 0) & (right < len(slopes))
    right = np.clip(right, 1, len(slopes) - 1)
    left = right - 1
    rise, fall = gradients[rows, left], gradients[rows, right]
    low, high = values[rows, left], values[rows, right]
    width = slopes[right] - slopes[left]
    way = np.clip((high - low - fall * width) / np.where(rise > fall, rise - fall, 1.0), 0.0, width)
    bounds = np.maximum(low + rise * way, np.maximum(low, high)) + EXCESS
    return np.where(inside & (rise > fall) & (bounds - np.maximum(low, high) <= LOOSE), bounds, np.inf)


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
    logs = np.empty(len(margins))
    for row, likely in enumerate(sigmoid(np.outer(np.clip(margins, -CERTAIN, CERTAIN), SLOPES))):
        seen = states * likely
        total = seen.sum()
        logs[row] = math.log(total)
        states = seen / total
        states += SWITCHES[:, None] * (states.mean(axis=1, keepdims=True) - states)
    return logs


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
    p_values, broken = np.empty(len(scores)), generator.random(len(scores))
    for row, score in enumerate(scores.tolist()):
        bisect.insort(seen, score)
        lower = bisect.bisect_left(seen, score)
        equal = bisect.bisect_right(seen, score) - lower
        p_values[row] = (lower + broken[row] * equal) / len(seen)
    return p_values


def log_jumper(p_values: Values) -> Values:
    """Return the log wealth of the simple jumper after each p-value, shape (record,)."""
    shares, wealth, total = np.full(len(BETS), 1.0 / len(BETS)), np.empty(len(p_values)), 0.0
    for row, p_value in enumerate(p_values.tolist()):
        shares = (1.0 - JUMPS) * shares + JUMPS / len(BETS)
        won = shares * (1.0 + BETS * (p_value - 0.5))
        gain = float(won.sum())
        total += math.log(gain)
        wealth[row], shares = total, won / gain
    return wealth
