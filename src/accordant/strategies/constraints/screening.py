"""Screening: in each context, the rule chooses among the actions that floors, vetoes and prohibitions admit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from accordant.arrays import Floats, Integers, Mask, Values
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.naming import position
from accordant.problem import value_label
from accordant.strategies.block import Block
from accordant.strategies.block_decisions import ContextRule, tie_totals
from accordant.strategies.constraints.declaration import is_share, names_of, only_keys
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import Strategy

STATUS_QUO = "status_quo"


@dataclass(frozen=True)
class Floors:
    """The least expected reward r_i that an action must leave each stakeholder: E[i, a, t] ≥ r_i.

    Attributes
    ----------
    levels
        A number in [0, 1] or ``"status_quo"`` (what the status quo gives in the context) for everybody, or a mapping
        from stakeholder to one of these; who is not named has no floor.
    status_quo
        The action of ``"status_quo"``.
    """

    levels: float | str | Mapping[str, float | str]
    status_quo: str | None = None

    def __post_init__(self) -> None:
        for level in self.levels.values() if isinstance(self.levels, Mapping) else (self.levels,):
            if level != STATUS_QUO and not is_share(level):
                raise InputError(
                    f"floors: {level!r} is no floor; allowed: a number in [0, 1] or {STATUS_QUO!r}, for everybody or "
                    "by stakeholder"
                )

    @property
    def need_status_quo(self) -> bool:
        """Whether a floor is what the status quo gives."""
        return STATUS_QUO in (self.levels.values() if isinstance(self.levels, Mapping) else (self.levels,))

    @property
    def stated(self) -> bool:
        """Whether every floor is a number."""
        return not self.need_status_quo

    @property
    def label(self) -> str:
        """The floors as a leaderboard shows them, such as ``Applicant >= 0.3``."""
        if isinstance(self.levels, Mapping):
            return ", ".join(f"{name} >= {_show_level(level)}" for name, level in self.levels.items())
        return f"everybody >= {_show_level(self.levels)}"

    def lift(self, levels: Values, block: Block) -> None:
        """Raise `levels`, shape (stakeholder, context), in place, to the floors."""
        named: Any = self.levels
        if not isinstance(named, Mapping):
            named = dict.fromkeys(block.stakeholders, named)
        for name, level in named.items():
            i = position("stakeholder in floors:", name, block.stakeholders)
            np.maximum(levels[i], self._status_quo(block, i) if level == STATUS_QUO else level, out=levels[i])

    def _status_quo(self, block: Block, i: int) -> Values:
        if self.status_quo is None:
            raise InputError("floors 'status_quo' need the parameter status_quo, an action")
        return np.asarray(block.values[i, position("action", self.status_quo, block.actions)])


def _show_level(level: Any) -> str:
    return str(level) if isinstance(level, str) else f"{level:g}"


WORST = "worst"


@dataclass(frozen=True)
class Vetoes:
    """Who may rule out what (Mueller 1978, voting by veto, where each rules out one).

    A veto is a floor that its holder sets in the context: at the level of the second worst action (``"worst"``), or at
    a threshold. So ``"worst"`` rules out the action, or all the equal actions, with the smallest E[i, a, t]; a
    stakeholder to whom all actions are equal rules out nothing.

    Attributes
    ----------
    by_stakeholder
        Stakeholder to ``"worst"``, or to a number in [0, 1]: rules out every action that gives less than this.
    """

    by_stakeholder: Mapping[str, float | str]

    def __post_init__(self) -> None:
        if not isinstance(self.by_stakeholder, Mapping):
            raise InputError(f"vetoes are {self.by_stakeholder!r}; allowed: a mapping from stakeholder to a veto")
        for name, veto in self.by_stakeholder.items():
            if veto != WORST and not is_share(veto):
                raise InputError(f"veto of {name!r} is {veto!r}; allowed: {WORST!r} or a number in [0, 1]")

    @property
    def stated(self) -> bool:
        """Whether every veto is a threshold."""
        return WORST not in self.by_stakeholder.values()

    @property
    def label(self) -> str:
        """The vetoes as a leaderboard shows them, such as ``veto Patient worst``."""
        shown = (f"{name} {veto if isinstance(veto, str) else f'< {veto:g}'}"
                 for name, veto in self.by_stakeholder.items())  # fmt: skip
        return "veto " + ", ".join(shown)

    def lift(self, levels: Values, block: Block) -> None:
        """Raise `levels`, shape (stakeholder, context), in place, to what the vetoes demand."""
        for name, veto in self.by_stakeholder.items():
            i = position("stakeholder in vetoes:", name, block.stakeholders)
            np.maximum(levels[i], second_worst(block, i) if isinstance(veto, str) else veto, out=levels[i])


def second_worst(block: Block, stakeholder: int) -> Values:
    """Return the smallest E[i, a, t] above the worst, −inf where there is none, shape (context,)."""
    rewards = block.values[stakeholder]
    above = np.where(rewards > rewards.min(axis=0) + block.tolerance, rewards, np.inf).min(axis=0)
    return np.asarray(np.where(np.isinf(above), -np.inf, above))


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
        shortfalls, where = np.zeros(self.levels.shape), np.flatnonzero(self.unmet)
        shortfalls[:, where] = np.maximum(0.0, self.levels[:, where] - block.values[:, codes[where], where])
        return shortfalls


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


def choose_admissible(rule: Strategy, block: Block, decisions: Decisions, admissible: Mask) -> tuple[Integers, Mask]:
    """Return the best admissible action by the rule's scores, and whether another admissible one ties with it.

    Where the rule's own choice is among the best, it stays; other ties go to the utilitarian sum over those who have
    weight in the rule, then to declared order. An action with score −inf is worse than any other admissible action and
    better than any that is not.
    """
    masked = np.where(admissible, scores_of(decisions), -np.inf)
    hopeless = np.isneginf(masked).all(axis=0)
    if hopeless.any():
        masked[:, hopeless] = np.where(admissible[:, hopeless], 0.0, -np.inf)
    best = select_best(masked, tie_totals(rule, block), block.tolerance)
    highest = masked.max(axis=0, initial=-np.inf)
    own = masked[decisions.codes, np.arange(len(decisions.codes))]
    keeps = own >= highest - block.tolerance * np.maximum(1.0, np.abs(highest))
    return np.where(keeps, decisions.codes, best.codes), best.tied


def scores_of(decisions: Decisions) -> Floats:
    """Return the scores of decisions that choose the action with the highest one.

    Raises
    ------
    InputError
        If there are no scores, or the decisions are drawn.
    """
    if decisions.scores is None:
        raise InputError(f"{decisions.strategy} has no scores; constraints need a rule that scores every action")
    if decisions.policy is not None:
        raise InputError(f"{decisions.strategy} draws its actions; constraints need a rule that takes the best one")
    return decisions.scores


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
        decisions = self.rule.decide(block)
        return screen(self.title, self.rule, block, decisions, admitted(block, self.constraints))


def screen(title: str, rule: Strategy, block: Block, decisions: Decisions, admission: Admission) -> Decisions:
    """Return decisions within what each context admits; actions that it does not admit get the score −inf."""
    codes, tied = choose_admissible(rule, block, decisions, admission.admissible)
    return Decisions(
        title, block.actions, codes, tied, np.where(admission.admissible, scores_of(decisions), -np.inf), None,
        {**decisions.flags, "floor_unmet": admission.unmet, "changed": codes != decisions.codes},
        {**decisions.quantities, "below_floor": admission.below(codes, block)},
    )  # fmt: skip


@dataclass(frozen=True)
class Prohibition:
    """Some actions are forbidden where each named column has one of the named values.

    Attributes
    ----------
    actions
        What is forbidden.
    where
        Column to values, written as texts: 1, 1.0 and True are all ``"1"``; a missing number is ``"nan"``, a missing
        text ``""``. No columns at all means everywhere.
    """

    actions: tuple[str, ...]
    where: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, given: Any) -> Self:
        """Read ``{"actions": …, "where": {column: value or values}}``."""
        read = only_keys("a prohibition in forbidden", given, ("actions",), ("where",))
        where = read.get("where", {})
        if not isinstance(where, Mapping):
            raise InputError(f"forbidden.where is {where!r}; allowed: a mapping from column to a value or values")
        values = {
            name: column_values if isinstance(column_values, list | tuple) else (column_values,)
            for name, column_values in where.items()
        }
        for name, column_values in values.items():
            if not column_values or None in column_values:
                raise InputError(
                    f"forbidden.where.{name} is {where[name]!r}, which no context has; allowed: a value or several, "
                    "'nan' for a missing number, '' for a missing text"
                )
        return cls(
            names_of("forbidden.actions", read["actions"]),
            {name: tuple(map(value_label, column_values)) for name, column_values in values.items()},
        )

    @property
    def label(self) -> str:
        """The prohibition as a leaderboard shows it, such as ``no Grant if region = south``."""
        where = " and ".join(f"{name} = {' or '.join(values)}" for name, values in self.where.items())
        return f"no {', '.join(self.actions)}" + f" if {where}" * bool(where)

    def applies(self, contexts: Contexts | None, n_contexts: int) -> Mask:
        """Return where the actions are forbidden, shape (context,)."""
        forbidden = np.ones(n_contexts, dtype=bool)
        for name, values in self.where.items():
            if contexts is None:
                raise InputError(f"forbidden actions read the column {name!r}; pass contexts=")
            kinds, inverse = np.unique(contexts[name], return_inverse=True)
            forbidden &= np.isin([value_label(kind) for kind in kinds], values)[inverse]
        return forbidden


def forbidden_actions(
    prohibitions: tuple[Prohibition, ...], actions: tuple[str, ...], contexts: Contexts | None, n_contexts: int
) -> Mask:
    """Return which actions are forbidden, shape (action, context).

    Raises
    ------
    InputError
        If contexts are needed and missing, or all actions are forbidden in one of them.
    """
    forbidden = np.zeros((len(actions), n_contexts), dtype=bool)
    for prohibition in prohibitions:
        rows = [position("forbidden action", name, actions) for name in prohibition.actions]
        forbidden[rows] |= prohibition.applies(contexts, n_contexts)
    nothing_left = np.flatnonzero(forbidden.all(axis=0))
    if nothing_left.size:
        raise InputError(
            f"every action is forbidden in {nothing_left.size} contexts, the first of them context {nothing_left[0]}; "
            "at least one must be left"
        )
    return forbidden
