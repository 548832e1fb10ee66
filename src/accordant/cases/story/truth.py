"""What is true in the made-up town, by which everything that a run says of it can be judged.

Learned rewards are mapped to [0, 1] by the range of what was learned; true values are mapped by their own range, in the
same way (`accordant.preferences.learned_rewards.fitted_reward.Scale`): the smallest 1 % quantile of a cell becomes 0,
the largest 99 % quantile 1. Households get what the case's table says. Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from accordant.arrays import Values
from accordant.cases.story.homes import ACTIONS, OUTCOMES, drawn_homes, true_chances
from accordant.cases.story.residents import true_values

HOMES = 20_000  # from which the ends of a scale are taken; as many as learned rewards are looked at, twice over
TAIL = 0.01  # as in `accordant.preferences.learned_rewards.fitted_reward`


def true_rewards(kind: str, homes: pd.DataFrame) -> Values:
    """Return the reward in [0, 1] of residents of a kind, shape (action, outcome, home)."""
    low, high = _ends(kind)
    return np.clip((true_values(kind, homes) - low) / (high - low), 0.0, 1.0)


def true_expected(homes: pd.DataFrame, kinds: Mapping[str, str], table: Mapping[str, Mapping[str, float]]) -> Values:
    """Return the true E of everybody: of the household first, then of residents, shape (stakeholder, action, home).

    Parameters
    ----------
    homes
        From `accordant.cases.story.homes.drawn_homes`, or the rows of a run.
    kinds
        Stakeholder to the kind of residents for whom it stands.
    table
        Action to outcome to the reward of the household, as the case states it.
    """
    stated = np.array([[table[action][outcome] for outcome in OUTCOMES] for action in ACTIONS])
    rewards = [np.broadcast_to(stated[:, :, None], (*stated.shape, len(homes)))]
    rewards += [true_rewards(kind, homes) for kind in kinds.values()]
    return np.asarray((np.stack(rewards) * true_chances(homes)).sum(axis=2))


@cache
def _ends(kind: str) -> tuple[float, float]:
    """Return the values of a kind that become 0 and 1."""
    values = true_values(kind, drawn_homes(HOMES, np.random.default_rng(0)))
    lows, highs = np.quantile(values, [TAIL, 1 - TAIL], axis=2)
    return float(lows.min()), float(highs.max())
