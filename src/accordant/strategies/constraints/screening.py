"""Screening: in each context, the rule chooses among the actions that floors, vetoes and prohibitions admit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Floats, Integers, Mask, Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.constraints.floors import Floors
from accordant.strategies.constraints.vetoes import Vetoes
from accordant.strategies.deciding import ContextRule, tie_totals
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import Strategy


@dataclass(frozen=True, eq=False)
class Admission:
    """What each context admits.

    Attributes
    ----------
    admissible
        Actions that may be taken, shape (action, context); at least one per context.
    levels
        What each stakeholder must be left with, −inf without floor and veto, shape (stakeholder, context).
    unmet
        Contexts in which no action reaches every level, shape (context,). The actions whose largest shortfall is
        smallest are the admissible ones there.
    """

    admissible: Mask
    levels: Values
    unmet: Mask

    def below(self, codes: Integers, block: Block) -> Values:
        """Return how far below its level the chosen action leaves each stakeholder, shape (stakeholder, context)."""
        found, where = np.zeros(self.levels.shape), np.flatnonzero(self.unmet)
        found[:, where] = np.maximum(0.0, self.levels[:, where] - block.values[:, codes[where], where])
        return found


def admitted(block: Block, constraints: tuple[Floors | Vetoes, ...], forbidden: Mask | None = None) -> Admission:
    """Return what floors, vetoes and prohibitions (shape (action, context)) leave in each context."""
    levels = np.full((len(block.stakeholders), block.n_contexts), -np.inf)
    for constraint in constraints:
        constraint.lift(levels, block)
    largest = np.zeros((len(block.actions), block.n_contexts))
    for level, rewards in zip(levels, block.values, strict=True):
        if level.max(initial=-np.inf) > -np.inf:
            np.maximum(largest, level - rewards, out=largest)
    if forbidden is not None:
        largest[forbidden] = np.inf
    least = largest.min(axis=0)
    unmet = least > block.tolerance
    return Admission(largest <= np.where(unmet, least, 0.0) + block.tolerance, levels, unmet)


def choose_admissible(rule: Strategy, block: Block, found: Decisions, admissible: Mask) -> tuple[Integers, Mask]:
    """Return the best admissible action by the rule's scores, and whether another admissible one ties with it.

    Where the rule's own choice is among the best, it stays; other ties go to the utilitarian sum over those who have
    a say in the rule, then to declared order. An action with score −inf is worse than any other admissible action and
    better than any that is not.
    """
    masked = np.where(admissible, scores_of(found), -np.inf)
    hopeless = np.isneginf(masked).all(axis=0)
    if hopeless.any():
        masked[:, hopeless] = np.where(admissible[:, hopeless], 0.0, -np.inf)
    best = select_best(masked, tie_totals(rule, block), block.tolerance)
    highest = masked.max(axis=0, initial=-np.inf)
    own = masked[found.codes, np.arange(len(found.codes))]
    keeps = own >= highest - block.tolerance * np.maximum(1.0, np.abs(highest))
    return np.where(keeps, found.codes, best.codes), best.tied


def scores_of(found: Decisions) -> Floats:
    """Return the scores of decisions that choose the action with the highest one.

    Raises
    ------
    InputError
        If there are no scores, or the decisions are drawn.
    """
    if found.scores is None:
        raise InputError(f"{found.strategy} has no scores; constraints need a rule that scores every action")
    if found.policy is not None:
        raise InputError(f"{found.strategy} draws its actions; constraints need a rule that takes the best one")
    return found.scores


@dataclass(frozen=True)
class Screened(ContextRule):
    """A rule under floors and vetoes; `title` is the label of its decisions."""

    title: str
    rule: ContextRule
    constraints: tuple[Floors | Vetoes, ...]

    @property
    def label(self) -> str:
        """Label of the strategy that screens."""
        return self.title

    def decide(self, block: Block) -> Decisions:
        """Decide in the contexts of one block."""
        found = self.rule.decide(block)
        return screened(self.title, self.rule, block, found, admitted(block, self.constraints))


def screened(title: str, rule: Strategy, block: Block, found: Decisions, admission: Admission) -> Decisions:
    """Return decisions within what each context admits; actions that it does not admit get the score −inf."""
    codes, tied = choose_admissible(rule, block, found, admission.admissible)
    return Decisions(
        title, block.actions, codes, tied, np.where(admission.admissible, scores_of(found), -np.inf), None,
        {**found.flags, "floor_unmet": admission.unmet, "changed": codes != found.codes},
        {**found.quantities, "below_floor": admission.below(codes, block)},
    )  # fmt: skip
