"""Terms: a rule with all its constraints as they were read, and how they are met together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.arrays import Mask, Values
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.errors import DataError
from accordant.strategies.block import block_of
from accordant.strategies.constraints.batch import Batch, Plan
from accordant.strategies.constraints.budgets import ROUNDING, Budgets, Capacities, check_room, within_one_budget
from accordant.strategies.constraints.floors import Floors
from accordant.strategies.constraints.forbidden import Prohibition, forbidden_actions
from accordant.strategies.constraints.parity import Parity
from accordant.strategies.constraints.screening import Screened, admitted, scores_of, screened
from accordant.strategies.constraints.sifting import solve
from accordant.strategies.constraints.vetoes import Vetoes
from accordant.strategies.constraints.window import within_parity
from accordant.strategies.deciding import ContextRule, tie_totals
from accordant.strategies.strategy import Strategy
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
        batch = [each for each in (self.budgets, self.parity) if each is not None]
        constraints: list[Any] = [*self.levels, *self.prohibitions, *batch]
        return f"constrained[{'; '.join([self.rule.label, *(each.label for each in constraints)])}]"

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
        found = self.rule(expected, contexts=contexts, **known)
        block = block_of(expected, slice(0, expected.n_contexts))
        forbidden = self._forbidden(expected, contexts)
        admission = admitted(block, self.levels, forbidden)
        decisions = screened(self.label, self.rule, block, found, admission)
        if not whole:
            return Solution(decisions)
        batch = Batch(
            expected.actions, np.asarray(scores_of(found), dtype=np.float64), admission.admissible,
            tie_totals(self.rule, block), decisions.codes, block.tolerance,
        )  # fmt: skip
        plan = self._plan(batch, contexts)
        below = admission.below(plan.codes, block)
        return Solution(_planned(decisions, found, batch, plan, below), plan)

    def _forbidden(self, expected: ExpectedRewards, contexts: Contexts | None) -> Mask | None:
        if not self.prohibitions:
            return None
        return forbidden_actions(self.prohibitions, expected.actions, contexts, expected.n_contexts)

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


def _planned(decisions: Decisions, found: Decisions, batch: Batch, plan: Plan, below: Values) -> Decisions:
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
    flags["changed"] = (plan.codes != found.codes) | drawn
    quantities = {**decisions.quantities, "below_floor": below}
    return replace(
        decisions, codes=plan.codes, tied=level.sum(axis=0) > 1, policy=plan.policy, flags=flags, quantities=quantities
    )
