"""Non-dictatorship: nobody gets their way whatever the others want (Arrow 1951)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.arrays import Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION, Outcome, outcome_of, somewhere


def single_favourites(values: Values) -> Mask:
    """Return each stakeholder's best action where it is clearly the only one, shape (stakeholder, action, context)."""
    best = values.max(axis=1, keepdims=True)
    top = values >= best - RESOLUTION
    return np.asarray(top & (top.sum(axis=1, keepdims=True) == 1))


@register("non_dictatorship")
class NonDictatorship(Axiom):
    """There is no stakeholder whose only best action is the only winner, in every E.

    A property of a rule on all E, not on one: it is violated if on every E tried, those of the data and those with rows
    exchanged in a circle, the same stakeholder's only best action wins alone although somebody else prefers
    another. Then every context in which this was tried counts as violated. Judged on winners.
    """

    about_all = True
    head = "non-dict"
    statement = "no stakeholder always gets their best action"
    source = "Arrow 1951"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Look for somebody who always prevails."""
        values, names = setting.values, setting.expected.stakeholders
        tried = np.zeros((len(names), setting.expected.n_contexts), dtype=bool)
        prevails = np.ones(len(names), dtype=bool)
        for shift in range(len(names)):
            turned = np.roll(values, shift, axis=0)
            outcome = outcome_of(setting.rule, setting.changed(turned)) if shift else setting.before
            opposed, alone = _opposed(turned) & outcome.known, _wins_alone(turned, outcome)
            tried |= opposed
            prevails &= (alone | ~opposed).all(axis=1)
        dictators = np.flatnonzero(prevails & tried.any(axis=1))
        sentence = "".join(f"{names[i]}'s best action wins in every context" for i in dictators[:1])
        here = tried[dictators[0]] if len(dictators) else np.zeros(tried.shape[1], dtype=bool)
        yield Trial(somewhere(tried), here, sentence)


def _opposed(values: Values) -> Mask:
    """Return where a stakeholder has one best action and it is not among somebody else's, (stakeholder, context)."""
    single = single_favourites(values)
    best = values >= values.max(axis=1, keepdims=True) - RESOLUTION
    return np.stack([somewhere(mine & ~best) for mine in single])


def _wins_alone(values: Values, outcome: Outcome) -> Mask:
    """Return where a stakeholder's only best action is the only winner, shape (stakeholder, context)."""
    return np.asarray((single_favourites(values) == outcome.winners).all(axis=1))
