"""Neutrality: it does not matter how actions are called or in which order they were declared (May 1952)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.orders import orders
from accordant.axioms.outcome import RESOLUTION, outcome_of, sets_differ, somewhere


@register("neutrality")
class Neutrality(Axiom):
    """If actions exchange their columns of E, the winners move with the columns.

    Judged on winners: among equal sums the tie rule follows the declared order, and is not meant to be neutral.
    """

    head = "neutral."
    statement = "the winners move along if actions exchange their rewards"
    source = "May 1952"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Exchange columns: in every order for up to four actions."""
        values, actions = setting.values, setting.expected.actions
        for order in orders(len(actions), setting.generator()):
            changed = setting.changed(values[:, order])
            after = outcome_of(setting.rule, changed)
            back = np.argsort(order)  # after[back[a]] is about the column that a had
            moved = replace(after, winners=after.winners[back], near=after.near[back])
            differs = somewhere(np.abs(changed.values - values) > RESOLUTION)
            names = ", ".join(actions[a] for a in order)
            sentence = f"the winners do not move along if {', '.join(actions)} take the rewards of {names}"
            yield Trial(differs, sets_differ(setting.before, moved), sentence, (changed, after))
