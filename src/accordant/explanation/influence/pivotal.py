"""Who is pivotal: whose absence, silence or weight would have changed the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Labels, Mask
from accordant.certificates import Known
from accordant.certificates.certificate import decisions_on
from accordant.errors import InputError
from accordant.explanation.influence.absence import drop, neutralise, weights_of, with_weights
from accordant.problem import value_label
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards


def checked_labels(groups: Any, n_contexts: int) -> Labels:
    """Return one label per context as text, written as metrics write values of sensitive attributes.

    Raises
    ------
    InputError
        If there is not one label per context.
    """
    given = np.asarray(groups)
    if given.shape != (n_contexts,):
        raise InputError(f"groups have shape {given.shape}; allowed: one label per context, here {(n_contexts,)}")
    values, codes = np.unique(given, return_inverse=True)
    return (
        np.asarray(np.array([value_label(value) for value in values], dtype=str)[codes])
        if n_contexts
        else (np.empty(0, dtype=str))
    )


def members_of(labels: Labels | None) -> dict[str, Mask]:
    """Return the contexts of each group by label, each of shape (context,)."""
    return {} if labels is None else {str(label): labels == label for label in np.unique(labels)}


Changed = tuple[Strategy, ExpectedRewards]

FACTORS = {"doubled": 2.0, "halved": 0.5}
VARIATIONS = ("dropped", "neutralised", *FACTORS)


@dataclass(frozen=True, eq=False)
class Variation:
    """Decisions after one change to one stakeholder at a time.

    Attributes
    ----------
    codes
        The action that would be taken if the stakeholder were changed so, shape (stakeholder, context); the decision
        itself where the change means nothing.
    changes
        Whether that is another action than the one decided, same shape.
    reasons
        Why the change means nothing for a stakeholder; empty where it means something.
    """

    codes: Integers
    changes: Mask
    reasons: tuple[str, ...]

    @property
    def defined(self) -> Mask:
        """For whom the change means something, shape (stakeholder,)."""
        return np.array([not reason for reason in self.reasons], dtype=bool)

    def shares(self, contexts: Mask | slice = slice(None)) -> tuple[float | None, ...]:
        """Return the share of contexts in which each stakeholder is pivotal; None where that means nothing."""
        some = self.changes[:, contexts]
        if not some.shape[1]:
            return (None,) * len(self.reasons)
        return tuple(float(row.mean()) if not reason else None for row, reason in zip(some, self.reasons, strict=True))


@dataclass(frozen=True, eq=False)
class Pivotal:
    """Who is pivotal, context by context.

    A rule that decides a whole batch at once is asked with the stakeholder changed in all contexts of the batch.

    Attributes
    ----------
    rule
        Label of the rule.
    stakeholders, actions
        Names.
    decided
        The decisions, shape (context,).
    variations
        ``drop``, ``neutralise``, ``doubled`` and ``halved``, each with its decisions.
    groups
        Group label of each context, shape (context,), or None.
    """

    rule: str
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    decided: Integers
    variations: Mapping[str, Variation]
    groups: NDArray[np.str_] | None = None

    @cached_property
    def by_group(self) -> dict[str, Mask]:
        """Contexts of each group, each of shape (context,)."""
        return members_of(self.groups)

    def to_json(self) -> dict[str, Any]:
        """Return the shares of contexts in which each stakeholder is pivotal, in all and by group."""

        def by_name(contexts: Mask | slice) -> dict[str, Any]:
            """Return shares by variation and stakeholder."""
            return {
                name: dict(zip(self.stakeholders, variation.shares(contexts), strict=True))
                for name, variation in self.variations.items()
            }

        return {
            "rule": self.rule,
            "contexts": len(self.decided),
            "pivotal": by_name(slice(None)),
            "reasons": {
                name: {who: why for who, why in zip(self.stakeholders, variation.reasons, strict=True) if why}
                for name, variation in self.variations.items()
            },
            "groups": {
                label: {"contexts": int(contexts.sum()), "pivotal": by_name(contexts)}
                for label, contexts in self.by_group.items()
            },
        }


def pivotal(
    rule: Strategy, expected: ExpectedRewards, *, known: Known | None = None, groups: Any | None = None
) -> Pivotal:
    """Decide again with each stakeholder dropped, neutralised, and with twice and half the weight.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E.
    known
        What the rule reads beside E.
    groups
        One label per context, to tell shares apart by group.

    Raises
    ------
    InputError
        If there is not one label per context.
    """
    known = known or Known()
    decided = decisions_on(rule, expected, known)
    asked: dict[str, Callable[[Mask], Changed]] = {
        "dropped": lambda who: drop(rule, expected, who),
        "neutralised": lambda who: (rule, neutralise(expected, who)),
    }
    for name, factor in FACTORS.items():
        asked[name] = lambda who, factor=factor: (reweighted(rule, expected, who, factor), expected)  # type: ignore[misc]
    variations = {name: _vary(change, expected, decided, known) for name, change in asked.items()}
    labels = None if groups is None else checked_labels(groups, expected.n_contexts)
    return Pivotal(rule.label, expected.stakeholders, expected.actions, decided, variations, labels)


def reweighted(rule: Strategy, expected: ExpectedRewards, who: Mask, factor: float) -> Strategy:
    """Return the rule with the weights of some stakeholders multiplied.

    Raises
    ------
    InputError
        If the rule has no weights.
    """
    weights = weights_of(rule, len(expected.stakeholders))
    if weights is None:
        raise InputError(f"{rule.label} has no weights")
    return with_weights(rule, np.where(who, weights * factor, weights))


def _vary(change: Callable[[Mask], Changed], expected: ExpectedRewards, decided: Integers, known: Known) -> Variation:
    """Apply one kind of change to each stakeholder in turn."""
    n_stakeholders = len(expected.stakeholders)
    codes = np.tile(decided, (n_stakeholders, 1))
    reasons = [""] * n_stakeholders
    for i in range(n_stakeholders):
        try:
            rule, given = change(np.arange(n_stakeholders) == i)
        except InputError as error:
            reasons[i] = str(error)
            continue
        codes[i] = decisions_on(rule, given, known)
    return Variation(codes, codes != decided, tuple(reasons))
