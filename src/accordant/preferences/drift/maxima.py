"""The largest likelihood of one slope for all answers so far, after each of them; never understated.

f_t(a) = Σ_{s ≤ t} log σ(a D_s) is concave in the slope a. Two bounds of its maximum from above:

    one slope    f(a) + |f'(a)| · width, for a in a bracket of the maximum (Newton's method until this is 10⁻⁹)
    two slopes   where f' changes its sign between two slopes, the height at which their tangents meet [ours]

The first looks at all records so far, for each record anew. For the second f and f' are carried along at some slopes
around the maximum, and found anew when the number of records has grown by a tenth, or the maximum has left them.
"""

from __future__ import annotations

import math

import numpy as np

from accordant.arrays import Values
from accordant.preferences.learners.solving.logistic import log_loss, sigmoid

EXCESS = 1e-9  # largest amount, in nats, by which the maximum of the likelihood is overstated
PAST = 1e-6  # how far a step goes past where Newton's method sees the maximum, relative to the slope
EXACT = 1000  # records with the maximum itself: their work grows with the square of their number
MOST_STEPS = 200  # of one maximisation; bisection alone halves a bracket to nothing in fewer
SLOPES_BESIDE = np.linspace(-4.0, 4.0, 65)  # around the maximum, in units of 1 / √−f''
GROWTH = 10  # records for which slopes are carried along, as a share of those before: one in so many
FEW = 32  # records carried along, below which as many are maximised one by one, since the maximum moves fast
CHUNK = 2048  # records added up at a time
LOOSE = 0.01  # nats by which tangents may overstate the maximum


def log_maxima(margins: Values) -> Values:
    """Return max_a Σ_{s ≤ t} log σ(a D_s) for each t, never understated, shape (record,).

    Overstated by at most 10⁻⁹ for the first thousand records, and by at most 0.01 for later ones, see
    `later_maxima`.
    """
    scaled = margins / max(float(np.abs(margins).max(initial=0.0)), np.finfo(float).tiny)  # the maximum is the same
    both = np.logical_or.accumulate(margins > 0) & np.logical_or.accumulate(margins < 0)
    # a → ±∞ explains all answers but ties, if they are on one side
    found, slope = -math.log(2.0) * np.cumsum(margins == 0), 0.0
    begin = int(np.argmax(both)) if both.any() else len(margins)
    exact = max(begin, min(len(margins), EXACT))
    for row in range(begin, exact):
        value, slope = maximum(scaled[: row + 1], slope)
        found[row] = min(value, found[row])
    found[exact:] = np.minimum(found[exact:], later_maxima(scaled, exact, slope))
    return found


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
    found = np.empty(n - begin)
    while row < n:
        value, slope = maximum(margins[: row + 1], slope)
        found[row - begin] = value
        row += 1
        if alone:
            alone -= 1
            continue
        carried = _carried(margins, row, min(n, row + row // GROWTH), slope)
        found[row - begin : row - begin + len(carried)] = carried
        row, alone = row + len(carried), 0 if len(carried) >= FEW else FEW
    return found


def _carried(margins: Values, start: int, stop: int, slope: float) -> Values:
    """Return bounds by tangents for records from start on, up to stop or where they are too loose."""
    against = sigmoid(-slope * margins[:start])
    bent = float((margins[:start] ** 2) @ (against * (1.0 - against)))
    slopes = slope + SLOPES_BESIDE / math.sqrt(max(bent, np.finfo(float).tiny))
    value, gradient = np.zeros(len(slopes)), np.zeros(len(slopes))
    for first in range(0, start, CHUNK):
        values, gradients = _terms(margins[first : min(start, first + CHUNK)], slopes)
        value, gradient = value + values.sum(axis=0), gradient + gradients.sum(axis=0)
    found: list[Values] = []
    for first in range(start, stop, CHUNK):
        values, gradients = (
            np.cumsum(np.vstack([before, terms]), axis=0)[1:]
            for before, terms in zip(
                (value, gradient), _terms(margins[first : min(stop, first + CHUNK)], slopes), strict=True
            )
        )
        bounds = _tangents(values, gradients, slopes)
        loose = np.flatnonzero(np.isinf(bounds))
        found.append(bounds[: loose[0]] if len(loose) else bounds)
        if len(loose):
            break
        value, gradient = values[-1], gradients[-1]
    return np.concatenate(found) if found else np.empty(0)


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
