"""Choice independence: removing an action that was not chosen does not change the choice (Nash 1950, Chernoff 1954)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from accordant.arrays import Codes
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import outcome_of
from accordant.errors import UnknownNameError


@register("choice_independence")
class ChoiceIndependence(Axiom):
    """If an action other than the decided one is taken away, the decision stays the same.

    Nash's independence of irrelevant alternatives, Sen's property α, on a finite set of actions. Judged on decisions:
    the tie rule itself does not depend on what is taken away. Put to the test from three actions on; an action that the
    rule names, such as a status quo, is not taken away.
    """

    head = "ch. ind."
    statement = "the decision stays the same if an action that was not chosen is taken away"
    source = "Nash 1950, Chernoff 1954"
    about = "decisions"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Take away every action in turn."""
        actions, codes = setting.expected.actions, setting.before.codes
        if len(actions) < 3:
            return
        for removed, name in enumerate(actions):
            kept = np.delete(np.arange(len(actions)), removed)
            expected = setting.changed(setting.values[:, kept], actions=tuple(actions[a] for a in kept))
            try:
                after = outcome_of(setting.rule, expected)
            except UnknownNameError:  # the rule names this action
                continue
            now = kept[after.codes]
            yield Trial(codes != removed, now != codes, partial(_changed, setting, now, name), (expected, after))


def _changed(setting: Setting, now: Codes, removed: str, context: int) -> str:
    actions = setting.expected.actions
    return f"without {removed} the decision is {actions[now[context]]}, not {actions[setting.before.codes[context]]}"
