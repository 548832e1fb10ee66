"""Strategy-proofness: nobody gains by reporting rewards that they do not have (Gibbard 1973, Satterthwaite 1975)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.orders import orders
from accordant.axioms.outcome import RESOLUTION, Outcome, outcome_of
from accordant.axioms.rows import ranks

MARGIN = 0.01  # room for the order of all other actions beside an extreme report


def strict(values: Values) -> Mask:
    """Return where no stakeholder is indifferent between two actions, shape (context,)."""
    gaps = np.diff(np.sort(values, axis=1), axis=1)
    return np.asarray((gaps > RESOLUTION).all(axis=(0, 1)))


@register("strategy_proofness")
class StrategyProofness(Axiom):
    """No stakeholder's true expected reward of the decision rises if they report another row than their own.

    Judged on decisions, where no stakeholder is indifferent between two actions, as in the theorem: else even under a
    dictator the others could move the tie rule. Reports keep this too. Tried for every stakeholder: the own rewards in
    every other order, the own order stretched over [0, 1], one action at 1 with all others near 0, one action at 0 with
    all others near 1, and one action at 1 with the decided one at 0. Who could gain by some other report is
    not found.
    """

    head = "str.-pr."
    statement = "no stakeholder can raise their true reward by misreporting"
    source = "Gibbard 1973, Satterthwaite 1975"
    about = "decisions"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Let every stakeholder try every report."""
        values, before = setting.values, setting.before
        columns = np.arange(setting.expected.n_contexts)
        judged = strict(values)
        if values.shape[1] < 2 or not judged.any():
            return
        for i in range(len(values)):
            true = values[i, before.codes, columns]
            for report in reports(values[i], before.codes, setting.generator()):
                changed = values.copy()
                changed[i] = report
                expected = setting.changed(changed)
                after = outcome_of(setting.rule, expected)
                gain = values[i, after.codes, columns] - true
                yield Trial(judged, gain > RESOLUTION, partial(_gains, setting, i, after), (expected, after))


def reports(row: Values, decided: Codes, generator: np.random.Generator) -> Iterator[Values]:
    """Yield misreports of a row, shape (action, context)."""
    n_actions = len(row)
    for order in orders(n_actions, generator):
        yield row[order]
    low, high = row.min(axis=0), row.max(axis=0)
    stretched = (row - low) / np.where(high > low, high - low, 1.0)
    yield stretched
    small = MARGIN * (1 + ranks(row)) / (1 + n_actions)
    squeezed = MARGIN + (1 - 2 * MARGIN) * stretched
    columns = np.arange(row.shape[1])
    for a in range(n_actions):
        for around, own in ((small, 1.0), (1.0 - MARGIN + small, 0.0), (squeezed, 1.0)):
            report = around.copy()
            if around is squeezed:
                report[decided, columns] = 0.0
            report[a] = own
            yield report


def _gains(setting: Setting, i: int, after: Outcome, context: int) -> str:
    actions, row = setting.expected.actions, setting.values[i, :, context]
    honest, other = setting.before.codes[context], after.codes[context]
    who = setting.expected.stakeholders[i]
    return (
        f"{who} truly gets {row[honest]:.3g} from {actions[honest]}, and {row[other]:.3g} from {actions[other]} "
        "by misreporting"
    )
