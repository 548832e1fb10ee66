"""Participation: nobody is better off by staying away (Fishburn and Brams 1983; Moulin 1988)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION, Outcome, outcome_of
from accordant.errors import UnknownNameError
from accordant.strategies.strategy import Strategy

PER_STAKEHOLDER = ("weights", "disagreement", "ideal", "floor")  # parameters that may hold one number each


def without(rule: Strategy, stakeholder: int) -> Strategy:
    """Return the rule for everybody but one: parameters with one number per stakeholder lose theirs."""
    names = {field.name for field in fields(rule)}
    shorter: dict[str, Any] = {
        name: _dropped(getattr(rule, name), stakeholder)
        for name in PER_STAKEHOLDER
        if name in names and isinstance(getattr(rule, name), tuple)
    }
    reach = getattr(rule, "training_range", None)
    if reach is not None:
        shorter["training_range"] = tuple(_dropped(end, stakeholder) for end in reach)
    return replace(rule, **shorter) if shorter else rule


@register("participation")
class Participation(Axiom):
    """No stakeholder expects more from the decision that is taken without them than from the one taken with them.

    Judged on decisions. Put to the test where there are at least two stakeholders; a stakeholder whom the rule names
    does not stay away, and a rule whose parameters fit one number of stakeholders only is not judged.
    """

    head = "particip"
    statement = "no stakeholder would get more by staying away"
    source = "Fishburn and Brams 1983, Moulin 1988"
    about = "decisions"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Leave out every stakeholder in turn."""
        names, values = setting.expected.stakeholders, setting.values
        columns = np.arange(setting.expected.n_contexts)
        if len(names) < 2:
            return
        for i, name in enumerate(names):
            others = [each for each in names if each != name]
            expected = setting.changed(np.delete(values, i, axis=0), stakeholders=tuple(others))
            try:
                after = outcome_of(without(setting.rule, i), expected)
            except UnknownNameError:  # the rule names this stakeholder
                continue
            gain = values[i, after.codes, columns] - values[i, setting.before.codes, columns]
            judged = np.ones(len(columns), dtype=bool)
            yield Trial(judged, gain > RESOLUTION, partial(_gains, setting, i, after), (expected, after))

    def _inapplicable(self, setting: Setting) -> str:
        if getattr(setting.rule, "order_weights", None) is not None:
            return "its order weights are stated for this number of stakeholders only"
        return super()._inapplicable(setting)


def _dropped(numbers: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    return numbers[:position] + numbers[position + 1 :]


def _gains(setting: Setting, i: int, after: Outcome, context: int) -> str:
    actions, row = setting.expected.actions, setting.values[i, :, context]
    here, away = setting.before.codes[context], after.codes[context]
    who = setting.expected.stakeholders[i]
    return f"{who} gets {row[here]:.3g} from {actions[here]}, and {row[away]:.3g} from {actions[away]} by staying away"
