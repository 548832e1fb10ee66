"""Ordinal invariance: only the order of each stakeholder's rewards matters (Arrow 1951; Sen 1970)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from accordant.arrays import Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION
from accordant.axioms.rows import every_row, redrawn_in_order, trial_with_row

POWERS = (0.25, 4.0)
DRAWS = 3


@register("ordinal_invariance")
class OrdinalInvariance(Axiom):
    """If one stakeholder's row is replaced by another in the same order, the winners stay the same.

    Such a row is a strictly increasing transform of the old one. Judged on winners. Tried are powers of the row, and
    rows drawn at random.
    """

    head = "ordinal"
    statement = "the winners stay the same if one stakeholder's rewards change but not their order"
    source = "Arrow 1951, Sen 1970"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Redraw every row in its order."""
        generator = setting.generator()
        for i, name, row in every_row(setting):
            sentence = f"the winners change although {name}'s order of actions stays the same"
            rows = [redrawn_in_order(row, generator) for _ in range(DRAWS)] + [row**power for power in POWERS]
            for changed in rows:
                trial = trial_with_row(setting, i, changed, sentence)
                yield replace(trial, judged=trial.judged & clearly_ordered(row) & clearly_ordered(changed))


def clearly_ordered(row: Values) -> Mask:
    """Return where rewards in a row are either equal or clearly different, shape (context,)."""
    gaps = np.diff(np.sort(row, axis=0), axis=0)
    return np.asarray(((gaps == 0) | (gaps > RESOLUTION)).all(axis=0))
