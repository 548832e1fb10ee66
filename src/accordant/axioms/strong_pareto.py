"""Strong Pareto: no winner is worse for somebody and better for nobody (Pareto 1906; Sen 1970)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION, somewhere
from accordant.statistics import dominated_by


@register("strong_pareto")
class StrongPareto(Axiom):
    """If E[i, b] ≥ E[i, a] for every stakeholder and > for one, then a is not among the winners.

    Judged on winners. A rule that fails may still never decide for a dominated action: the tie rule prefers the larger
    sum, and so the dominating action, whenever both win.
    """

    head = "str. Par"
    statement = "an action does not win if another one is better for somebody and worse for nobody"
    source = "Sen 1970"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Compare every action with every other."""
        values, before, actions = setting.values, setting.before, setting.expected.actions
        better = [dominated_by(values, b, RESOLUTION) for b in range(len(actions))]

        def say(t: int) -> str:
            """Name the winner and the action that dominates it."""
            a, b = next(
                (a, b)
                for b in range(len(actions))
                for a in range(len(actions))
                if better[b][a, t] and before.winners[a, t]
            )
            spared = "" if before.codes[t] == a else " (the tie rule does not take it)"
            return f"{actions[a]} wins although {actions[b]} is better for somebody and worse for nobody{spared}"

        dominated = np.logical_or.reduce(better)
        yield Trial(somewhere(dominated), somewhere(dominated & before.winners), say)
