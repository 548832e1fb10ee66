"""Weak Pareto: nobody wins against an action that everybody prefers (Arrow 1951, 1963)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.arrays import Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION, somewhere


def preferred_by_all(values: Values, other: int) -> Mask:
    """Return where E[i, other, t] > E[i, a, t] for every i, shape (action, context)."""
    return np.asarray((values[:, other, None] > values + RESOLUTION).all(axis=0))


@register("weak_pareto")
class WeakPareto(Axiom):
    """If E[i, b] > E[i, a] for every stakeholder i, then a is not among the winners.

    Judged on winners: a score that puts an action level with one that everybody prefers has lost sight of it, even if
    the tie rule would then take the better one. Put to the test wherever some action is so dominated.
    """

    head = "weak Par"
    statement = "an action does not win if everybody prefers another one"
    source = "Arrow 1951"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Compare every action with every other."""
        values, winners, actions = setting.values, setting.before.winners, setting.expected.actions
        better = [preferred_by_all(values, b) for b in range(len(actions))]

        def say(t: int) -> str:
            """Name the winner and the action that dominates it."""
            a, b = next(
                (a, b) for b in range(len(actions)) for a in range(len(actions)) if better[b][a, t] and winners[a, t]
            )
            return f"{actions[a]} wins although everybody prefers {actions[b]}"

        dominated = np.logical_or.reduce(better)
        yield Trial(somewhere(dominated), somewhere(dominated & winners), say)
