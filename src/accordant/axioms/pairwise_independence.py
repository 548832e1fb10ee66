"""Pairwise independence: how two actions rank depends on their own rewards only (Arrow 1951; Sen 1970)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from accordant.arrays import Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import outcome_of

PAIRS = 6  # more pairs than these, those of four actions, are sampled


@register("pairwise_independence")
class PairwiseIndependence(Axiom):
    """If the columns of two actions stay as they are, so does their order by score, whatever the others become.

    Arrow's independence of irrelevant alternatives in the form for rewards (Sen 1970): equal rewards, not only equal
    orders, are required to stay. Together with ordinal invariance it is Arrow's own condition. Judged on the ranking
    of all actions by score; put to the test from three actions on.
    """

    head = "pair ind"
    statement = "the order of two actions does not depend on the rewards of others"
    source = "Arrow 1951"
    about = "ranking"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Replace the columns of all other actions."""
        values, actions, generator = setting.values, setting.expected.actions, setting.generator()
        pairs = list(combinations(range(len(actions)), 2))
        if len(actions) < 3:
            return
        if len(pairs) > PAIRS:
            pairs = [pairs[k] for k in generator.choice(len(pairs), size=PAIRS, replace=False)]
        for first, second in pairs:
            for replaced in _replacements(values, generator):
                replaced[:, [first, second]] = values[:, [first, second]]
                expected = setting.changed(replaced)
                after = outcome_of(setting.rule, expected)
                if after.scores is None:
                    continue
                old, new = setting.before.order(first, second), after.order(first, second)
                judged = ~np.isnan(old) & ~np.isnan(new)
                pair = f"{actions[first]} and {actions[second]}"
                sentence = f"the order of {pair} changes although only rewards of other actions changed"
                yield Trial(judged, old != new, sentence, (expected, after))


def _replacements(values: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Yield other rewards for every action, shape (stakeholder, action, context)."""
    yield np.round(generator.random(values.shape), 2)
    yield generator.integers(0, 2, size=values.shape).astype(np.float64)
    yield np.ascontiguousarray(values[:, :, ::-1])  # those of another context
