"""What leaving out a measured feature would amount to, on the scale of the marginal sensitivity model.

An odds ratio Λ says how far an unrecorded reason moves the odds of the action taken. To judge whether such a reason is
plausible, each recorded feature is treated as if it had not been recorded: by how much do the odds of the logged
actions differ between propensities with and without it? Formal benchmarks of this kind: Cinelli and Hazlett 2020 for
linear models, McClean, Branson and Kennedy 2024 for others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from accordant.contexts import Log
from accordant.learning.encoding import ContextEncoder

QUANTILE = 0.95  # of rows: in so many the odds change by at most the factor reported
MOST_ROWS = 4000  # beyond which rows are thinned out evenly; coefficients are known well enough from these
LEAST_PROBABILITY = 1e-6  # of which log odds are taken


def omitted_feature_odds_ratios(log: Log, encoder: ContextEncoder) -> dict[str, float]:
    """Return, for each raw column, the factor that leaving it out changes the odds of the logged action by.

    Propensities are logistic on standardised columns with a weak penalty. The factor is exp of the 95th percentile over
    rows of the absolute difference in log odds of the logged action. A column that says nothing gets a factor near 1
    rather than 1, because coefficients are estimated; one that others can stand in for gets a small one.

    Parameters
    ----------
    log
        Rows with logged actions.
    encoder
        From raw columns to numbers.

    Returns
    -------
    Column to factor, at least 1, largest first; empty if fewer than two actions were taken.
    """
    log = log.take(np.unique(np.linspace(0, len(log) - 1, min(len(log), MOST_ROWS)).astype(np.intp)))
    _, taken = np.unique(log.actions, return_inverse=True)
    if taken.max(initial=0) == 0:
        return {}
    matrix = encoder(log.contexts)
    spread = matrix.std(axis=0)
    matrix = (matrix - matrix.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    everything = _log_odds(matrix, taken)
    odds_ratios = {}
    for name, places in encoder.positions.items():
        difference = everything - _log_odds(np.delete(matrix, places, axis=1), taken)
        odds_ratios[name] = float(np.exp(np.quantile(np.abs(difference), QUANTILE)))
    return dict(sorted(odds_ratios.items(), key=lambda pair: -pair[1]))


def _log_odds(matrix: NDArray[np.float64], taken: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the log odds of the action that was taken in each row."""
    if matrix.shape[1] == 0:
        shares = np.bincount(taken) / len(taken)
        chosen = shares[taken]
    else:
        model = LogisticRegression(solver="newton-cholesky").fit(matrix, taken)
        chosen = model.predict_proba(matrix)[np.arange(len(taken)), taken]
    chosen = np.clip(chosen, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return np.asarray(np.log(chosen) - np.log1p(-chosen))
