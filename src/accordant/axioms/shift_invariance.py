"""Shift invariance: the zero from which one stakeholder's rewards are measured does not matter (Nash 1950)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.rows import every_row, trial_with_row


@register("shift_invariance")
class ShiftInvariance(Axiom):
    """If the same number is added to one stakeholder's whole row, the winners stay the same.

    Judged on winners. The number is drawn, or takes the row down to 0 or up to 1; E stays in [0, 1].
    """

    head = "shift"
    statement = "the winners stay the same if a number is added to one stakeholder's rewards"
    source = "Nash 1950, d'Aspremont and Gevers 1977"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Shift every row."""
        generator = setting.generator()
        for i, name, row in every_row(setting):
            down, up = -row.min(axis=0), 1.0 - row.max(axis=0)
            drawn = np.round(down + (up - down) * generator.random(down.shape), 2)
            for shift in (np.clip(drawn, down, up), down, up):
                sentence = f"the winners change if a number is added to the rewards of {name}"
                yield trial_with_row(setting, i, np.clip(row + shift, 0.0, 1.0), sentence)
