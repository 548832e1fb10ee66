"""Weights in a unit of their own: only their ratios matter to a rule, whatever unit they are declared in."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values


def even_weights(weights: Values) -> Values:
    """Return weights whose mean over those who have a say is 1, shape (stakeholder,).

    Rules compare scores within a tolerance that is absolute below 1: in other units it would count for more or less.

    Parameters
    ----------
    weights
        Of at least 0, not all 0, shape (stakeholder,).
    """
    return np.asarray(weights / weights[weights > 0].mean())
