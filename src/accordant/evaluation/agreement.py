"""How often rules disagree on E, and whether taking away an action that was not chosen changes a decision.

The second is rank reversal (Belton and Gear 1983): the ideal point, the scale or the points of a rule come from all
actions, so that one that nobody would take can still decide between two others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import fields_json, json_value
from accordant.statistics import dominated_by
from accordant.strategies.block_decisions import ContextRule, decide
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

CLEAR = 1e-9  # an action is dominated only by one that gives somebody more than this


@dataclass(frozen=True, eq=False)
class Agreement:
    """How often rules choose different actions.

    Attributes
    ----------
    rules
        Labels.
    n_contexts
        Number of contexts.
    disagreement
        Share of contexts with different decisions, shape (rule, rule).
    untied
        The same among contexts in which neither rule is tied; NaN if there are none, shape (rule, rule).
    n_untied
        Number of those contexts, shape (rule, rule).
    """

    rules: tuple[str, ...]
    n_contexts: int
    disagreement: Values
    untied: Values
    n_untied: Codes

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a share of nothing is None."""
        return {
            "rules": list(self.rules),
            "contexts": self.n_contexts,
            "disagreement": self.disagreement.tolist(),
            "disagreement_untied": json_value(self.untied),
            "contexts_untied": self.n_untied.tolist(),
        }


@dataclass(frozen=True, eq=False)
class ReversalWitness:
    """A context in which taking away an action that was not chosen changes the decision.

    Attributes
    ----------
    context
        Its number.
    values
        E in it, shape (stakeholder, action).
    chosen, removed, instead
        The decision, the action taken away, and the decision without it.
    """

    context: int
    values: NDArray[np.float64]
    chosen: str
    removed: str
    instead: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        names = {"chosen": self.chosen, "removed": self.removed, "instead": self.instead}
        return {"context": self.context, "expected_rewards": self.values.tolist(), **names}


@dataclass(frozen=True, eq=False)
class Reversals:
    """In how many contexts taking away an action changes the decision.

    Attributes
    ----------
    tested
        Contexts with an action that could be taken away.
    changed
        Contexts in which taking away some such action changes the decision.
    witness
        The first of them, or None.
    """

    tested: int
    changed: int
    witness: ReversalWitness | None

    @property
    def share(self) -> float | None:
        """Share of tested contexts that changed; None if none was tested."""
        return self.changed / self.tested if self.tested else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self) | {"share": self.share}


@dataclass(frozen=True, eq=False)
class RankReversal:
    """Rank reversal of one rule.

    Attributes
    ----------
    rule
        Label.
    dominated
        Taking away actions that were not chosen and are dominated: another action is better for somebody and worse for
        nobody.
    unchosen
        Taking away any action that was not chosen.
    """

    rule: str
    dominated: Reversals
    unchosen: Reversals

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


def agreement(rules: Sequence[Strategy], expected: ExpectedRewards) -> Agreement:
    """Compare the decisions of every two rules.

    Parameters
    ----------
    rules
        Rules that read nothing but E; one that draws is taken by its most probable action.
    expected
        E, with at least one context.

    Raises
    ------
    InputError
        If there is no rule or no context.
    """
    if not rules or expected.n_contexts == 0:
        raise InputError("agreement needs at least one rule and one context")
    decisions = [_decisions(rule, expected) for rule in rules]
    codes, clear = (
        np.stack([decided.codes for decided in decisions]),
        np.stack([~decided.tied for decided in decisions]),
    )
    shape = len(rules), len(rules)
    disagreement, untied, n_untied = np.empty(shape), np.full(shape, np.nan), np.empty(shape, dtype=np.intp)
    for k in range(len(rules)):
        differs, both = codes != codes[k], clear & clear[k]
        disagreement[k], n_untied[k] = differs.mean(axis=1), both.sum(axis=1)
        np.divide((differs & both).sum(axis=1), n_untied[k], out=untied[k], where=n_untied[k] > 0)
    labels = tuple(rule.label for rule in rules)
    return Agreement(labels, expected.n_contexts, disagreement, untied, n_untied)


def rank_reversal(rule: Strategy, expected: ExpectedRewards) -> RankReversal:
    """Take away every action in turn and see whether the decision changes where it was another one.

    From three actions on; an action that the rule names, such as a status quo, is not taken away.

    Parameters
    ----------
    rule
        A rule that reads nothing but E.
    expected
        E.
    """
    codes = _decisions(rule, expected).codes.astype(np.intp)
    n_actions, n_contexts = len(expected.actions), expected.n_contexts
    instead, removable = np.tile(codes, (n_actions, 1)), np.zeros((n_actions, n_contexts), dtype=bool)
    for removed in range(n_actions if n_actions > 2 else 0):
        kept = np.delete(np.arange(n_actions), removed)
        fewer = ExpectedRewards(
            expected.values[:, kept], stakeholders=expected.stakeholders, actions=[expected.actions[a] for a in kept]
        )
        try:
            instead[removed] = kept[_decisions(rule, fewer).codes]
        except UnknownNameError:  # the rule names this action
            continue
        removable[removed] = codes != removed
    irrelevant = removable & dominated(expected)
    return RankReversal(
        rule.label, _reversals(expected, codes, instead, irrelevant), _reversals(expected, codes, instead, removable)
    )


def dominated(expected: ExpectedRewards) -> Mask:
    """Return where another action is better for somebody and worse for nobody, shape (action, context)."""
    values = expected.values
    better = [dominated_by(values, other, CLEAR) for other in range(values.shape[1])]
    return np.asarray(np.logical_or.reduce(better))


def _reversals(expected: ExpectedRewards, codes: Codes, instead: Codes, removable: Mask) -> Reversals:
    """Count contexts; `instead` holds the decision without each action, shape (action, context)."""
    changed = removable & (instead != codes)
    where = np.flatnonzero(changed.any(axis=0))
    witness = None
    if len(where):
        t = int(where[0])
        removed = int(changed[:, t].argmax())
        names = (expected.actions[a] for a in (codes[t], removed, instead[removed, t]))
        witness = ReversalWitness(t, np.array(expected.values[:, :, t], dtype=np.float64), *names)
    return Reversals(int(removable.any(axis=0).sum()), len(where), witness)


def _decisions(rule: Strategy, expected: ExpectedRewards) -> Decisions:
    """Return actions and ties, without the scores that nobody asks for here."""
    return decide((rule,), expected, details=False)[0] if isinstance(rule, ContextRule) else rule(expected)
