"""Condorcet consistency: an action that beats every other in a majority vote wins alone (Condorcet 1785)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import NEAR, somewhere


def condorcet_winners(values: Values) -> Mask:
    """Return the action that more stakeholders prefer to each other action than the reverse, shape (action, context).

    At most one per context; stakeholders count alike, and the indifferent do not count.
    """
    winners = np.ones(values.shape[1:], dtype=bool)
    for a in range(values.shape[1]):
        for b in range(values.shape[1]):
            difference = values[:, a] - values[:, b]
            if a != b:
                winners[a] &= (difference > NEAR).sum(axis=0) > (difference < -NEAR).sum(axis=0)
    return winners


@register("condorcet_consistency")
class CondorcetConsistency(Axiom):
    """If one action beats every other by simple majority, it is the only winner.

    Judged on winners. Put to the test wherever there is such an action.
    """

    head = "Condorc."
    statement = "an action that beats every other by majority wins alone"
    source = "Condorcet 1785, Fishburn 1977"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Look for the majority's action."""
        before, favourites = setting.before, condorcet_winners(setting.values)
        exists = somewhere(favourites) & (len(favourites) > 1)
        wrong = somewhere(before.winners & ~favourites) | ~somewhere(before.near & favourites)
        yield Trial(exists, wrong, partial(_passed_over, setting, favourites.argmax(axis=0)))


def _passed_over(setting: Setting, favourites: Codes, context: int) -> str:
    actions, favourite = setting.expected.actions, setting.expected.actions[favourites[context]]
    winners = [name for name, wins in zip(actions, setting.before.winners[:, context], strict=True) if wins]
    others = [name for name in winners if name != favourite]
    verb = "win" if len(others) > 1 else "wins"
    return f"{favourite} beats every other action by majority, yet {', '.join(others)} {verb}"
