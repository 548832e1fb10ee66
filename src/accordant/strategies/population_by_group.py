"""Rules for the whole policy, in every group of an attribute by itself.

What a policy does in one group changes no mean of another. So one policy has the highest mean of the worst-off
stakeholder in every group at once, and with it the highest smallest mean of all pairs of a stakeholder and a group:
that of each group alone. The same holds for leximin and Nash.

For the same reason there is no rule that weighs groups instead of stakeholders: with the weighted sum over stakeholders
as the reward of a group, the utilitarian rule is best for every group at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from accordant.arrays import Codes
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, NotFittedError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem, value_label
from accordant.strategies.constraints.declaration import FrozenMapping, declared, strategy_of
from accordant.strategies.population import PopulationRule
from accordant.strategies.strategy import Strategy, register
from accordant.utilities import ExpectedRewards


@register("population_by_group")
@dataclass(frozen=True)
class PopulationByGroup(Strategy):
    """Fit a rule for the whole policy in every group of an attribute, so that no group pays for another.

    Contexts of a group without training contexts are decided with the multipliers of all training contexts together,
    and flagged ``group_unseen``.

    Parameters
    ----------
    attribute
        The column that says to which group a context belongs. Decisions read it: where it is sensitive, say so in the
        scope card.
    rule
        ``"population_maximin"``, ``"population_leximin"``, ``"population_nash"``, one of them as
        ``{"name": …, "parameters": {…}}``, or a strategy.
    multipliers
        Group to the multipliers of the rule there; set by `fit`.
    """

    attribute: str
    rule: str | Mapping[str, Any] | Strategy = "population_maximin"
    multipliers: Mapping[str, Sequence[float]] | None = None

    def __post_init__(self) -> None:
        rule = self.inner
        if not isinstance(self.attribute, str):
            raise InputError(f"attribute is {self.attribute!r}; allowed: the name of a column")
        object.__setattr__(self, "rule", FrozenMapping(name=rule.name, parameters=declared(rule.parameters)))
        object.__setattr__(self, "multipliers", declared(self.multipliers))
        for multipliers in (self.multipliers or {}).values():
            replace(rule, multipliers=tuple(multipliers))  # refuses what cannot be a multiplier

    @property
    def inner(self) -> PopulationRule:
        """The rule as it was read."""
        rule = strategy_of("rule", self.rule)
        if not isinstance(rule, PopulationRule):
            raise InputError(f"rule is {rule.label}; allowed: population_maximin, population_leximin, population_nash")
        if rule.selection != "argmax":
            raise InputError(f"rule is {rule.label}, which draws; allowed: selection 'argmax'")
        return rule

    @property
    def label(self) -> str:
        """Name of the rule and the attribute."""
        return f"{self.inner.label} by {self.attribute}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    @property
    def fitted(self) -> bool:
        """Whether multipliers are known."""
        return self.multipliers is not None and self.inner.fitted

    @property
    def draws(self) -> bool:
        """Whether the rule draws."""
        return self.inner.draws

    @property
    def may_be_selected(self) -> bool:
        """Whether the rule may be selected."""
        return self.inner.may_be_selected

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take stakeholder weights from the problem."""
        return replace(self, rule=self.inner.for_problem(problem))

    def fit(self, expected: ExpectedRewards, contexts: Contexts | None = None) -> Self:
        """Take multipliers from the training contexts of each group, and from all of them.

        Raises
        ------
        InputError
            If contexts are missing, have no such column, or are none.
        """
        rule = self.inner
        multipliers = {
            name: rule.fit(expected.take(rows)).multipliers or () for name, rows in self._groups(expected, contexts)
        }
        return replace(self, rule=rule.fit(expected), multipliers=multipliers)

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Decide in every context by the multipliers of its group.

        Raises
        ------
        NotFittedError
            If multipliers are not known.
        """
        del prediction, log
        if self.multipliers is None:
            raise NotFittedError(f"{self.label} takes its weights from training contexts; call fit(E, contexts) first")
        rule = self.inner
        together = rule(expected)
        codes, tied, scores = together.codes.copy(), together.tied.copy(), np.array(together.scores)
        counted = np.repeat(together.quantities["multipliers"], expected.n_contexts, axis=1)
        unseen = np.zeros(expected.n_contexts, dtype=bool)
        for name, rows in self._groups(expected, contexts):
            unseen[rows] = name not in self.multipliers
            if name in self.multipliers:
                decisions = replace(rule, multipliers=tuple(self.multipliers[name]))(expected.take(rows))
                codes[rows], tied[rows], scores[:, rows] = decisions.codes, decisions.tied, decisions.scores
                counted[:, rows] = decisions.quantities["multipliers"]
        return Decisions(
            self.label, expected.actions, codes, tied, scores, None, {"group_unseen": unseen}, {"multipliers": counted}
        )

    def _groups(self, expected: ExpectedRewards, contexts: Contexts | None) -> Iterator[tuple[str, Codes]]:
        if contexts is None:
            raise InputError(f"{self.label} reads the column {self.attribute!r}; pass contexts=")
        column = contexts[self.attribute]
        if len(column) != expected.n_contexts:
            raise DataError(
                f"expected rewards have {expected.n_contexts} contexts, and contexts= has {len(column)} rows"
            )
        values, codes = np.unique(column, return_inverse=True)
        for number, value in enumerate(values):
            yield value_label(value), np.flatnonzero(codes == number)
