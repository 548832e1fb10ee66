"""Constrained: any scoring rule under floors, vetoes, prohibitions, budgets and a parity bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from accordant.arrays import Mask, Values
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.strategies.block import Block, block_of
from accordant.strategies.block_decisions import ContextRule, tie_totals
from accordant.strategies.constraints.batch import Batch, Plan
from accordant.strategies.constraints.budgets import ROUNDING, Budgets, Capacities, check_room, within_one_budget
from accordant.strategies.constraints.declaration import FrozenMapping, declared, strategy_of
from accordant.strategies.constraints.parity import Parity, within_parity
from accordant.strategies.constraints.programme import solve
from accordant.strategies.constraints.screening import (
    Admission,
    Floors,
    Prohibition,
    Screened,
    Vetoes,
    admitted,
    forbidden_actions,
    scores_of,
    screen,
)
from accordant.strategies.strategy import Strategy, Structure, register
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Solution:
    """Decisions under constraints, with the plan for the batch; None if nothing was constrained over the batch."""

    decisions: Decisions
    plan: Plan | None = None


@dataclass(frozen=True)
class Terms:
    """A rule and its constraints.

    Attributes
    ----------
    rule
        Whose scores are maximised.
    levels
        Floors and vetoes.
    prohibitions
        What is forbidden where.
    budgets, parity
        Constraints over the batch, or None.
    title
        What tables show in place of the list of constraints, if anything.
    """

    rule: Strategy
    levels: tuple[Floors | Vetoes, ...] = ()
    prohibitions: tuple[Prohibition, ...] = ()
    budgets: Budgets | None = None
    parity: Parity | None = None
    title: str = ""

    @property
    def label(self) -> str:
        """Label of the rule with every constraint or the title, such as ``constrained[maximin; Applicant >= 0.3]``."""
        if self.title:
            return f"constrained[{self.title}]"
        batch = [constraint for constraint in (self.budgets, self.parity) if constraint is not None]
        constraints: list[Any] = [*self.levels, *self.prohibitions, *batch]
        return f"constrained[{'; '.join([self.rule.label, *(constraint.label for constraint in constraints)])}]"

    def solve(self, expected: ExpectedRewards, contexts: Contexts | None, **known: Any) -> Solution:
        """Decide in every context; `known` is passed on to the rule.

        Raises
        ------
        InputError
            If contexts are needed and missing, or constraints cannot be met.
        """
        if contexts is not None and contexts.n_contexts != expected.n_contexts and len(contexts):
            raise DataError(
                f"expected rewards have {expected.n_contexts} contexts, and contexts= has {contexts.n_contexts} rows"
            )
        whole = self.budgets is not None or self.parity is not None
        if isinstance(self.rule, ContextRule) and not self.prohibitions and not whole:
            return Solution(Screened(self.label, self.rule, self.levels)(expected))
        free = self.rule(expected, contexts=contexts, **known)
        block = block_of(expected, slice(0, expected.n_contexts))
        admission = self.admission(block, contexts)
        decisions = screen(self.label, self.rule, block, free, admission)
        if not whole:
            return Solution(decisions)
        batch = Batch(
            expected.actions, np.asarray(scores_of(free), dtype=np.float64), admission.admissible,
            tie_totals(self.rule, block), decisions.codes, block.tolerance,
        )  # fmt: skip
        plan = self._plan(batch, contexts)
        below = admission.below(plan.codes, block)
        return Solution(_plan_batch(decisions, free, batch, plan, below), plan)

    def admission(self, block: Block, contexts: Contexts | None) -> Admission:
        """Return what floors, vetoes and prohibitions leave in each context."""
        return admitted(block, self.levels, self.forbidden(block, contexts))

    def forbidden(self, block: Block, contexts: Contexts | None) -> Mask | None:
        """Return which actions are forbidden, shape (action, context); None without prohibitions."""
        if not self.prohibitions:
            return None
        return forbidden_actions(self.prohibitions, block.actions, contexts, block.n_contexts)

    def _plan(self, batch: Batch, contexts: Contexts | None) -> Plan:
        """Return the best plan; the simplest one that meets all constraints is the best one that does."""
        capacities = {} if self.budgets is None else self.budgets.capacities(batch.actions, batch.n_contexts)
        if self.parity is None:
            plan = Plan(batch.codes)
            enough = _enough(plan, capacities, batch)
            if not enough:
                check_room(batch, capacities)
                one = next(iter(capacities.items())) if len(capacities) == 1 else None
                return solve(batch, capacities, None, None) if one is None else within_one_budget(batch, *one)
        else:
            groups = self.parity.groups(contexts)
            plan = within_parity(batch, groups, self.parity)
            if not _enough(plan, capacities, batch):
                check_room(batch, capacities)
                return solve(batch, capacities, groups, self.parity)
        return replace(plan, per_place={batch.actions[a]: 0.0 for a in capacities})


def _enough(plan: Plan, capacities: Capacities, batch: Batch) -> bool:
    """Whether no action is planned more often than its budget allows."""
    if plan.policy is None:
        used = np.bincount(plan.codes, minlength=len(batch.actions)).astype(np.float64)
    else:
        used = plan.policy.sum(axis=1)
    return all(used[a] <= capacity + ROUNDING for a, capacity in capacities.items())


def _plan_batch(decisions: Decisions, free: Decisions, batch: Batch, plan: Plan, below: Values) -> Decisions:
    """Return decisions that follow the plan."""
    columns = np.arange(batch.n_contexts)
    chosen = batch.scores[plan.codes, columns]
    slack = batch.tolerance * np.maximum(1.0, np.where(np.isneginf(chosen), 0.0, np.abs(chosen)))
    level = batch.admissible & (batch.scores >= chosen - slack) & (batch.scores <= chosen + slack)
    flags = dict(decisions.flags)
    drawn = np.zeros(batch.n_contexts, dtype=bool)
    if plan.policy is not None:
        drawn = plan.policy[plan.codes, columns] < 1.0
    if plan.per_tolerance is not None:
        flags["randomised"] = drawn
    flags["changed"] = (plan.codes != free.codes) | drawn
    quantities = {**decisions.quantities, "below_floor": below}
    return replace(
        decisions, codes=plan.codes, tied=level.sum(axis=0) > 1, policy=plan.policy, flags=flags, quantities=quantities
    )


@register("constrained")
@dataclass(frozen=True)
class Constrained(Strategy):
    """Maximise the scores of another rule within declared constraints.

    Floors, vetoes and prohibitions hold in each context: they decide which actions are admissible there, and the rule
    keeps the scores that it gives when all actions are open. Where no action is admissible, the context is flagged
    ``floor_unmet``, the action with the smallest largest shortfall is taken, and ``below_floor`` says by how much each
    stakeholder falls short. Budgets and parity hold over the batch that is decided in one call; they maximise the sum
    of the rule's scores, so the rule's scores must be comparable between contexts. A score of −inf is worse than any
    number: as few contexts as possible get one, then the sum of the others counts.

    With parity, decisions may be random: `Decisions.policy` holds probabilities, ``randomised`` flags the contexts,
    and budgets hold for expected numbers. Without parity, every decision is certain. ``changed`` flags contexts in
    which the rule alone would choose another action.

    Such a strategy may be selected as D* if its rule may and all constraints hold in each context by itself. Budgets
    and parity need the whole batch: what they decide for a person depends on who else is there, so that a score on
    held-out people says little about the next ones.

    Parameters
    ----------
    rule
        Name of a registered rule with scores, ``{"name": …, "parameters": {…}}``, or a strategy.
    floors
        The least expected reward: a number in [0, 1] or ``"status_quo"`` for everybody, or stakeholder to one of these.
    vetoes
        Stakeholder to ``"worst"``, which rules out its worst action in the context, or to a threshold.
    forbidden
        List of ``{"actions": …, "where": {column: value or values}}``.
    budgets
        Action to the largest number of contexts (whole number), or share of the batch (0.2, 1.0), that may get it.
    parity
        ``{"attribute": column, "within": ε, "favourable": actions}``; the favourable rates of any two groups differ by
        at most ε. Favourable actions come from the problem if they are left out.
    status_quo
        Action of the floors ``"status_quo"``; filled from the problem if None.
    title
        Short name for tables, shown in place of the list of constraints.
    """

    rule: str | Mapping[str, Any] | Strategy
    floors: float | str | Mapping[str, float | str] | None = None
    vetoes: Mapping[str, float | str] | None = None
    forbidden: Sequence[Mapping[str, Any]] = ()
    budgets: Mapping[str, int | float] | None = None
    parity: Mapping[str, Any] | None = None
    status_quo: str | None = None
    title: str = ""

    def __post_init__(self) -> None:
        for name in ("floors", "vetoes", "forbidden", "budgets", "parity"):
            object.__setattr__(self, name, declared(getattr(self, name)))
        rule = self.terms.rule
        if isinstance(rule, Constrained):
            raise InputError(
                f"the rule to be constrained is {rule.label}, itself constrained; put all constraints side by side"
            )
        if not isinstance(self.title, str):
            raise InputError(f"title is {self.title!r}; allowed: text")
        object.__setattr__(self, "rule", FrozenMapping(name=rule.name, parameters=declared(rule.parameters)))

    @cached_property
    def terms(self) -> Terms:
        """The rule and its constraints as they were read; what is wrong is refused here."""
        levels: list[Floors | Vetoes] = []
        if self.floors is not None:
            levels.append(Floors(self.floors, self.status_quo))
        if self.vetoes is not None:
            levels.append(Vetoes(self.vetoes))
        if isinstance(self.forbidden, str | Mapping) or not isinstance(self.forbidden, Sequence):
            raise InputError(f"forbidden is {self.forbidden!r}; allowed: a list of prohibitions")
        return Terms(
            strategy_of("rule", self.rule), tuple(levels), tuple(map(Prohibition.of, self.forbidden)),
            None if self.budgets is None else Budgets(self.budgets),
            None if self.parity is None else Parity.of(self.parity), self.title,
        )  # fmt: skip

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Decide in every context; prohibitions and parity read columns of `contexts`.

        Raises
        ------
        InputError
            If the rule has no scores, contexts are needed and missing, or constraints cannot be met.
        """
        return self.terms.solve(expected, contexts, prediction=prediction, log=log).decisions

    @property
    def label(self) -> str:
        """Rule and constraints, ``constrained[maximin; Applicant >= 0.3]``, or the title, ``constrained[half]``."""
        return self.terms.label

    @property
    def fitted(self) -> bool:
        """Whether the rule can decide."""
        return self.terms.rule.fitted

    @property
    def whole_batch(self) -> bool:
        """Whether decisions for one context depend on the others in the same call."""
        return self.budgets is not None or self.parity is not None

    def structure(self, *, frozen: bool = False) -> Structure:
        """Return ``column_order`` if the rule judges columns by themselves and stated numbers alone constrain it.

        Reference points of the rule cannot be frozen.
        """
        del frozen
        rule, batch = self.terms.rule.structure(), self.whole_batch
        stated = all(level.stated for level in self.terms.levels)
        return "column_order" if rule in ("column_score", "column_order") and stated and not batch else "other"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that prohibitions and parity read."""
        forbidden = [name for prohibition in self.terms.prohibitions for name in prohibition.where]
        parity = self.terms.parity
        return (*self.terms.rule.columns, *forbidden, *(() if parity is None else (parity.attribute,)))

    @property
    def draws(self) -> bool:
        """Whether the rule draws, or parity may make it draw."""
        return self.terms.rule.draws or self.terms.parity is not None

    @property
    def may_be_selected(self) -> bool:
        """Whether the rule may be selected and each context is decided by itself."""
        return self.terms.rule.may_be_selected and not self.whole_batch

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take weights, status quo and favourable actions from the problem, for the rule too.

        Raises
        ------
        UnknownNameError
            If a constraint names a stakeholder or an action that the problem does not declare.
        """
        self._check_names(problem)
        status_quo, parity = self.status_quo, self.parity
        if status_quo is None and any(
            isinstance(level, Floors) and level.need_status_quo for level in self.terms.levels
        ):
            status_quo = problem.status_quo
            if status_quo is None:
                raise InputError("floors 'status_quo' need an action; the problem declares no status_quo")
        if parity is not None and parity.get("favourable") is None:
            if not problem.favourable_actions:
                raise InputError("parity needs favourable actions; the problem declares no favourable_actions")
            parity = {**parity, "favourable": problem.favourable_actions}
        return replace(self, rule=self.terms.rule.for_problem(problem), status_quo=status_quo, parity=parity)

    def _check_names(self, problem: DecisionProblem) -> None:
        for name in (self.floors, self.vetoes):
            for stakeholder in name if isinstance(name, Mapping) else ():
                if stakeholder not in problem.stakeholder_names:
                    raise UnknownNameError(f"{self.label}: stakeholder", stakeholder, problem.stakeholder_names)
        forbidden = [action for prohibition in self.terms.prohibitions for action in prohibition.actions]
        favourable = () if self.parity is None else self.parity.get("favourable") or ()
        for action in (
            *(self.budgets or ()),
            *forbidden,
            *([favourable] if isinstance(favourable, str) else favourable),
        ):
            if action not in problem.actions:
                raise UnknownNameError(f"{self.label}: action", action, problem.actions)

    def fit(self, expected: ExpectedRewards, contexts: Contexts | None = None) -> Self:
        """Let the rule take what it takes from training contexts."""
        return replace(self, rule=self.terms.rule.fit(expected, contexts))
