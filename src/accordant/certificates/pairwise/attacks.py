"""Attacks: corners of the box that may make an action win although its own best corner does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.certificates.reports import Reports
from accordant.strategies.block import PIECE, Workspace
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import Strategy

Attacks = NDArray[np.int32]

SWEEPS = 2  # of coordinate search
PATIENCE = 500  # decisions beyond which neither single rows nor coordinates are tried: 5 stakeholders with 7 actions
DEEP = -60.0  # scores below count as this in the search: logarithms of products that are almost nothing
TIES = 1e-3  # weight of the sums that break ties in the search


class Advice(Protocol):
    """What a method knows about good attacks on a rule."""

    def ideal_thirds(self, reports: Reports, action: int, rival: int) -> Values:
        """Return what the others should report if one action is to get ahead of a rival."""

    def levels(self, rule: Strategy, reports: Reports, action: int) -> Values:
        """Return the level of every entry below which an action other than the promoted one should not be."""


@dataclass(frozen=True)
class Plan:
    """One way to promote an action, which is itself at its highest.

    Attributes
    ----------
    column
        The rival that is meant; None if all others are at their lowest.
    raised
        What else is raised: ``"it"``, the rival; ``"others"``, all but it; ``"best"``, what suits each row best;
        ``"level"``, all but the action, up to a level; ``"climb"``, whatever `climb` finds.
    stakeholder
        Whose row is raised; None for everybody.
    """

    column: int | None = None
    raised: str = "it"
    stakeholder: int | None = None


def plans(n_stakeholders: int, n_actions: int, *, tailored: bool, levelled: bool) -> tuple[Plan, ...]:
    """Return the attacks in the order in which they are tried.

    Parameters
    ----------
    n_stakeholders, n_actions
        Shape of E.
    tailored
        Whether to try what suits each row best, too.
    levelled
        Whether to try levels in each row, too.
    """
    ways = ("it", "others") if n_actions > 3 else ("it",)  # with three actions the others are one action
    everybody = [Plan(column, way) for way in ways for column in range(n_actions)]
    rows = [replace(plan, stakeholder=i) for i in range(n_stakeholders) for plan in everybody]
    best = [Plan(column, "best") for column in range(n_actions)] if tailored else []
    level = [Plan(raised="level")] if levelled else []
    entries = n_stakeholders * n_actions * (n_actions - 1)
    patient = [*rows, Plan(raised="climb")] if SWEEPS * entries <= PATIENCE else []
    return (Plan(), *level, *best, *everybody, *patient)


def attack_reports(rule: Strategy, reports: Reports, action: int, plan: Plan, advice: Advice) -> Values:
    """Return the reports of one attack in favour of an action, shape (stakeholder, action, context)."""
    if plan.raised == "climb":
        return climb(rule, reports, action)
    values = reports.promoting(action)
    if plan.raised == "level":
        np.clip(advice.levels(rule, reports, action), reports.lowest, reports.highest, out=values)
        values[:, action] = reports.highest[:, action]
    if plan.column is None:
        return values
    if plan.raised == "best":
        values[:] = advice.ideal_thirds(reports, action, plan.column)
        values[:, action] = reports.highest[:, action]
        values[:, plan.column] = reports.lowest[:, plan.column]
        return values
    rows = slice(None) if plan.stakeholder is None else slice(plan.stakeholder, plan.stakeholder + 1)
    for column in range(reports.n_actions):
        if column != action and (column == plan.column) == (plan.raised == "it"):
            values[rows, column] = reports.highest[rows, column]
    return values


def climb(rule: Strategy, reports: Reports, action: int) -> Values:
    """Return a corner found by moving one entry of another action at a time to its other end, if that helps.

    Parameters
    ----------
    rule
        The rule, whose scores say what helps.
    reports
        The box; arrays of its workspace are taken back.
    action
        The action to promote.
    """
    assert isinstance(rule, ContextRule)
    values = reports.promoting(action).copy()
    best = _lead(rule, reports, values, action)
    for _ in range(SWEEPS):
        for i in np.flatnonzero(reports.members):
            for column in range(reports.n_actions):
                if column != action:
                    kept = values[i, column].copy()
                    low, high = reports.lowest[i, column], reports.highest[i, column]
                    values[i, column] = np.where(kept == low, high, low)
                    reports.scratch.reclaim()
                    lead = _lead(rule, reports, values, action)
                    values[i, column] = np.where(lead > best, values[i, column], kept)
                    best = np.maximum(best, lead)
    return values


def _lead(rule: ContextRule, reports: Reports, values: Values, action: int) -> Values:
    """Return how far an action leads, in scores and a little in the sums that break ties, shape (context,)."""
    standing = np.maximum(reports.scores(rule, values), DEEP) + TIES * reports.totals(rule, values)
    others = np.delete(standing, action, axis=0).max(axis=0)
    return np.asarray(standing[action] - others)


def search(
    rule: Strategy, reports: Reports, outer: Mask, tried: Sequence[Plan], advice: Advice
) -> tuple[Mask, Attacks]:
    """Return which actions some attack makes win, shape (action, context), and the numbers of the attacks.

    The decision on honest reports needs none. The number of an attack is that of its plan times the number of actions,
    plus the action it promotes. Only contexts where an action of `outer` is still without an attack are gone through.

    Parameters
    ----------
    rule
        The rule, which decides on every attack.
    reports
        The box.
    outer
        Actions that could not be ruled out, shape (action, context).
    tried
        Attacks in their order.
    advice
        What attacks depend on the rule.
    """
    decided, where = reports.decided(rule), np.arange(reports.n_contexts)
    inner = np.zeros(outer.shape, dtype=bool)
    inner[decided, where] = True
    attack = np.zeros(outer.shape, dtype=np.int32)
    scratch = Workspace(PIECE)
    some = replace(reports, scratch=scratch)
    for number, plan in enumerate(tried):
        if plan.stakeholder is not None and not reports.members[plan.stakeholder]:
            continue
        missing = outer[:, where] & ~inner[:, where]
        kept = np.flatnonzero(missing.any(axis=0))
        if not len(kept):
            break
        if len(kept) < len(where):
            some, where, missing = some.take(kept), where[kept], missing[:, kept]
        for action in range(reports.n_actions):
            if action != plan.column and missing[action].any():
                scratch.reclaim()
                winners = rule_choice(rule, some, attack_reports(rule, some, action, plan, advice))
                new = ~inner[winners, where]
                inner[winners[new], where[new]] = True
                attack[winners[new], where[new]] = number * reports.n_actions + action
    return inner, attack


def rule_choice(rule: Strategy, reports: Reports, values: Values) -> Codes:
    """Return the decisions of a rule on reports as indices, shape (context,)."""
    return reports.choose(rule, values).astype(np.intp)
