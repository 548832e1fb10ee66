"""One stakeholder's row of E, stretched, shifted or redrawn in every context: what the invariance axioms share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from accordant.arrays import Codes, Values
from accordant.axioms.axiom import Setting, Trial
from accordant.axioms.outcome import RESOLUTION, outcome_of, sets_differ, somewhere

SMALLEST_GAP = 0.01  # between two rewards of a redrawn row, before the row is scaled to [0, 1]


def trial_with_row(setting: Setting, stakeholder: int, row: Values, sentence: str) -> Trial:
    """Return the trial in which one stakeholder has another row of rewards, shape (action, context).

    The winners are to stay the same. Put to the test wherever the row changes.
    """
    values = setting.values.copy()
    values[stakeholder] = row
    expected = setting.changed(values)
    after = outcome_of(setting.rule, expected)
    judged = somewhere(np.abs(row - setting.values[stakeholder]) > RESOLUTION)
    return Trial(judged, sets_differ(setting.before, after), sentence, (expected, after))


def ranks(row: Values) -> Codes:
    """Return the place of every action in a row, 0 for the worst, the same for equal rewards, (action, context)."""
    return np.asarray((row[None] < row[:, None]).sum(axis=1))


def redrawn_in_order(row: Values, generator: np.random.Generator) -> Values:
    """Return a row with other rewards in the same order, drawn with gaps of all sizes, shape (action, context)."""
    n_actions, n_contexts = row.shape
    gaps = SMALLEST_GAP + generator.random((n_actions + 1, n_contexts)) ** 2
    levels = np.cumsum(gaps, axis=0)[:-1] / gaps.sum(axis=0)
    return np.asarray(np.take_along_axis(levels, ranks(row), axis=0))


def every_row(setting: Setting) -> Iterator[tuple[int, str, Values]]:
    """Yield number, name and row of every stakeholder."""
    for i, name in enumerate(setting.expected.stakeholders):
        yield i, name, setting.values[i]
