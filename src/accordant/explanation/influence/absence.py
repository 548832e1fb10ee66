"""What a rule decides without somebody, with somebody silenced, or with other weights.

| | what happens to stakeholder i | allowed for |
|---|---|---|
| neutralised | every action is worth to i what actions are worth to i on average, so i has no preference | every rule |
| dropped | i is not there: weight 0, no floor and no veto | rules with weights, or asking somebody else alone |
| re-weighted | the weight of i is multiplied | rules with weights |

Rules of this package leave out whoever has weight 0, also when ties are broken; so weight 0 and removing the row of E
with every parameter that belongs to it are the same decision.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.strategies.baselines import SingleStakeholder
from accordant.strategies.constraints import Constrained
from accordant.strategies.strategy import Strategy, stakeholder_weights
from accordant.strategies.welfare import GeneralisedGini
from accordant.utilities import ExpectedRewards


def neutralise(expected: ExpectedRewards, absent: Mask) -> ExpectedRewards:
    """Return E in which all actions are worth to some stakeholders what they are worth to them on average.

    Parameters
    ----------
    absent
        Who has no preference, shape (stakeholder,).
    """
    if not absent.any():
        return expected
    values = expected.values.copy()
    values[absent] = values[absent].mean(axis=1, keepdims=True)
    return ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions)


def drop(rule: Strategy, expected: ExpectedRewards, absent: Mask) -> tuple[Strategy, ExpectedRewards]:
    """Return the rule and E as if some stakeholders were not there.

    Parameters
    ----------
    absent
        Who is not there, shape (stakeholder,).

    Raises
    ------
    InputError
        If the rule means nothing without them; says why.
    """
    if not absent.any() or rule.structure() == "fixed":
        return rule, expected
    names = [name for name, gone in zip(expected.stakeholders, absent, strict=True) if gone]
    if isinstance(rule, Constrained):
        inner, _ = drop(rule.terms.rule, expected, absent)
        kept = tuple(name for name in expected.stakeholders if name not in names)
        floors, vetoes = _levels_of(rule.floors, kept), _levels_of(rule.vetoes, kept)
        # whoever has no row cannot break a tie of the rule within the constraints either
        return replace(rule, rule=inner, floors=floors, vetoes=vetoes), neutralise(expected, absent)
    if isinstance(rule, SingleStakeholder):
        if rule.stakeholder in names:
            raise InputError(
                f"{rule.label} asks nobody but {rule.stakeholder!r}; without {rule.stakeholder!r} it is no rule"
            )
        return rule, neutralise(expected, absent)
    weights = weights_of(rule, len(expected.stakeholders))
    if weights is None:
        raise InputError(f"{rule.label} has no weights; it is not declared what it decides without somebody")
    if isinstance(rule, GeneralisedGini) and rule.order_weights is not None and (weights[absent] > 0).any():
        raise InputError(
            f"{rule.label} declares a weight for every rank; with fewer stakeholders the ranks mean something else"
        )
    left = np.where(absent, 0.0, weights)
    if not left.any():
        raise InputError(f"without {', '.join(names)} nobody has weight in {rule.label}")
    return with_weights(rule, left), expected


def weighing(rule: Strategy) -> Strategy:
    """Return the rule that carries the weights: the rule itself, or the one that is constrained."""
    return rule.terms.rule if isinstance(rule, Constrained) else rule


def weights_of(rule: Strategy, n_stakeholders: int) -> Values | None:
    """Return the weights that a rule gives to stakeholders, shape (stakeholder,); None if it has no such parameter."""
    inner = weighing(rule)
    if not any(field.name == "weights" for field in dataclasses.fields(inner)):
        return None
    return stakeholder_weights(getattr(inner, "weights"), n_stakeholders)  # noqa: B009 - not every rule has them


def with_weights(rule: Strategy, weights: Sequence[float] | Values) -> Strategy:
    """Return the rule with other stakeholder weights."""
    if isinstance(rule, Constrained):
        return replace(rule, rule=with_weights(rule.terms.rule, weights))
    changed: dict[str, Any] = {"weights": tuple(map(float, weights))}
    return replace(rule, **changed)


def with_positive_weight(rule: Strategy, stakeholders: Sequence[str]) -> Mask:
    """Return who has a say, shape (stakeholder,): weight above 0, a floor or a veto, or being the one who is asked."""
    nobody = np.zeros(len(stakeholders), dtype=bool)
    if rule.structure() == "fixed":
        return nobody
    if isinstance(rule, Constrained):
        protected = nobody.copy()
        for levels in (_levels_of(rule.floors, tuple(stakeholders)), _levels_of(rule.vetoes, tuple(stakeholders))):
            protected |= np.array([name in (levels or {}) for name in stakeholders], dtype=bool)
        return protected | with_positive_weight(rule.terms.rule, stakeholders)
    if isinstance(rule, SingleStakeholder):
        return np.array([name == rule.stakeholder for name in stakeholders], dtype=bool)
    weights = weights_of(rule, len(stakeholders))
    return ~nobody if weights is None else weights > 0


def _levels_of(levels: Any, kept: tuple[str, ...]) -> dict[str, Any] | None:
    """Return floors or vetoes of those who are kept, by name; None if nobody has one."""
    if levels is None:
        return None
    named = dict(levels) if isinstance(levels, Mapping) else dict.fromkeys(kept, levels)
    return {name: level for name, level in named.items() if name in kept} or None
