"""Scale invariance: the unit in which one stakeholder's rewards are measured does not matter (Nash 1950)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.rows import every_row, trial_with_row


@register("scale_invariance")
class ScaleInvariance(Axiom):
    """If one stakeholder's row is multiplied by a number above 0, the winners stay the same.

    Judged on winners. Factors shrink the row, or stretch it until its best action has 1, so that E stays in [0, 1].
    """

    head = "scale"
    statement = "the winners stay the same if one stakeholder's rewards are multiplied by a number"
    source = "Nash 1950, d'Aspremont and Gevers 1977"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Stretch every row."""
        generator = setting.generator()
        for i, name, row in every_row(setting):
            best = row.max(axis=0)
            drawn = np.round(generator.uniform(0.1, 0.9, size=best.shape), 1)
            for factor in (drawn, 1.0 / np.where(best > 0, best, 1.0)):
                sentence = f"the winners change if the rewards of {name} are multiplied by a number"
                yield trial_with_row(setting, i, np.minimum(1.0, row * factor), sentence)
