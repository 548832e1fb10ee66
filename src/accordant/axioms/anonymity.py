"""Anonymity: it does not matter who has which rewards (May 1952)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.orders import orders
from accordant.axioms.outcome import RESOLUTION, outcome_of, sets_differ, somewhere


@register("anonymity")
class Anonymity(Axiom):
    """If stakeholders exchange their rows of E, the winners stay the same.

    Judged on winners. Only asked of rules with equal weights. Put to the test wherever the exchange changes E.
    """

    head = "anonym."
    statement = "the winners stay the same if stakeholders exchange their rewards"
    source = "May 1952"
    impartial = True

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Exchange rows: in every order for up to four stakeholders."""
        values = setting.values
        for order in orders(len(values), setting.generator()):
            changed = setting.changed(values[order])
            after = outcome_of(setting.rule, changed)
            differs = somewhere(np.abs(changed.values - values) > RESOLUTION)
            names = ", ".join(setting.expected.stakeholders[i] for i in order)
            sentence = f"the winners change if {', '.join(setting.expected.stakeholders)} take the rewards of {names}"
            yield Trial(differs, sets_differ(setting.before, after), sentence, (changed, after))
