"""Monotonicity: a winner that becomes better stays a winner (Arrow 1951, positive association)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from accordant.arrays import Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION, outcome_of, somewhere

TOGETHER = 4  # random groups of stakeholders who raise the winner together


@register("monotonicity")
class Monotonicity(Axiom):
    """If E rises for the decided action, for some stakeholders, and nothing else changes, it stays a winner.

    Judged on winners. Raised are each stakeholder's reward, and those of some groups: a little, just above the next
    better action, and to 1.
    """

    head = "monoton."
    statement = "the decided action stays a winner if its rewards rise"
    source = "Arrow 1951"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Raise the decided action."""
        values, before, generator = setting.values, setting.before, setting.generator()
        n_stakeholders, _, n_contexts = values.shape
        columns = np.arange(n_contexts)
        old = values[:, before.codes, columns]
        groups = [[i] for i in range(n_stakeholders)]
        groups += [np.flatnonzero(generator.random(n_stakeholders) < 0.5).tolist() for _ in range(TOGETHER)]
        for group in groups:
            for raised in _raised(values, old, generator):
                changed = values.copy()
                new = old.copy()
                new[group] = raised[group]
                changed[:, before.codes, columns] = new
                expected = setting.changed(changed)
                after = outcome_of(setting.rule, expected)
                judged = somewhere(new - old > RESOLUTION)
                who = ", ".join(setting.expected.stakeholders[i] for i in group)
                yield Trial(
                    judged, ~after.near[before.codes, columns], partial(_loses, setting, who), (expected, after)
                )


def _raised(values: Values, old: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Yield higher rewards of the decided action, shape (stakeholder, context)."""
    above = np.where(values > old[:, None], values, 1.0).min(axis=1)  # the next better action, or 1
    yield old + (1.0 - old) * np.round(generator.uniform(0.1, 0.9, size=old.shape), 2)
    yield np.minimum(1.0, above + 0.01)
    yield np.ones_like(old)


def _loses(setting: Setting, who: str, context: int) -> str:
    winner = setting.expected.actions[setting.before.codes[context]]
    return f"{winner} wins, becomes better for {who}, and no longer wins"
