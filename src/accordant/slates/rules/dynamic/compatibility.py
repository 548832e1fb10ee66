"""How well a stakeholder fits the user: what the user would keep if that stakeholder alone chose the list."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.slates.candidates import Candidates
from accordant.slates.gains import Gains
from accordant.slates.moderation.offers import best_items
from accordant.slates.slates import NOTHING


def compatibilities(candidates: Candidates, user: Values, extremes: tuple[Values, Values], k: int) -> Values:
    """Return c_i = (u(best k items of i) − worst) / (ideal − worst) for the user, in [0, 1] [ours].

    SCRUF-D takes compatibility as given. This one needs no data beside E: it is 1 if the best list of a stakeholder is
    as good as the user's own, and 0 if no list is worse. It is 1 where all lists are alike for the user.

    Parameters
    ----------
    candidates
        E and what may be shown.
    user
        E of the user, shape (item, user).
    extremes
        The user's ideal and worst mean over lists of the same length, each of shape (user,).
    k
        Places.

    Returns
    -------
    Shape (stakeholder, user); 0 for stakeholders without a say.
    """
    found = np.zeros((len(candidates.stakeholders), user.shape[1]))
    ideal, worst = extremes
    users = np.arange(user.shape[1])[:, None]
    for i in np.flatnonzero(candidates.weights > 0):
        best = best_items(candidates.values[i], candidates.totals, candidates.available, k, candidates.tolerance)
        shown = best.items != NOTHING
        worth = np.where(shown, user[np.maximum(best.items, 0), users], 0.0).sum(axis=1)
        kept = Gains(worth / np.maximum(shown.sum(axis=1), 1), ideal, worst).attained
        found[i] = np.where(np.isnan(kept), 1.0, kept)
    return found
