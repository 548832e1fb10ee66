"""`Method`: how the actions that misreports can make win are found; `Fixed` and `Unknown`, the ends of certainty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.reports import Reports
from accordant.registry import Registry
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import Strategy


@dataclass(frozen=True, eq=False)
class Reach:
    """What misreports can make of the decisions in some contexts.

    Attributes
    ----------
    outer
        Actions that could not be ruled out, shape (action, context): no misreport makes another one win.
    inner
        Actions that a known misreport makes win, same shape, within `outer`.
    attack
        Which misreport of the method does, a number for `Method.misreport`, same shape; None if it is always number 0.
    """

    outer: Mask
    inner: Mask
    attack: Integers | None = None


class Method(ABC):
    """A way to find the reachable actions of a rule.

    Class attributes
    ----------------
    words
        What it does, in a few words, for tables.
    always_exact
        Whether reachable sets are exact in every context, whatever the rule and the number of actions.
    """

    words: ClassVar[str]
    always_exact: ClassVar[bool] = False

    def serves(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether the method is right for these parameters of the rule and this number of actions."""
        del rule, n_actions
        return True

    def exact(self, rule: Strategy, n_actions: int) -> bool:
        """Return whether reachable sets are exact in every context."""
        del rule, n_actions
        return self.always_exact

    @abstractmethod
    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Return the reachable actions in some contexts."""

    def misreport(self, rule: Strategy, reports: Reports, action: int, attack: int) -> Values:
        """Return the reports, shape (stakeholder, action, context), of one attack in favour of one action."""
        del rule, attack
        return reports.promoting(action)

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Return where an action other than the decided one could not be ruled out, shape (context,)."""
        outer = self.reach(rule, reports).outer
        return np.asarray(outer.sum(axis=0) > outer[decided, np.arange(len(decided))])


methods: Registry[Method] = Registry(
    "certificate", group="accordant.certificates", packages=("accordant.certificates",)
)

Made = TypeVar("Made", bound=type[Method])


def certifies(*strategies: str) -> Callable[[Made], Made]:
    """Return a class decorator that makes a method known for strategies by their registered names."""

    def decorate(method: Made) -> Made:
        """Register one method under every name."""
        for name in strategies:
            methods.register(name)(method)
        return method

    return decorate


class Fixed(Method):
    """Nothing that is reported matters: only the decided action is reachable."""

    words = "nothing that is reported matters"
    always_exact = True

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Rule everything out; whoever asks puts the decided action in."""
        del rule
        nothing = np.zeros((reports.n_actions, reports.n_contexts), dtype=bool)
        return Reach(nothing, nothing)

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Return False everywhere."""
        del rule, decided
        return np.zeros(reports.n_contexts, dtype=bool)


class Unknown(Method):
    """Nothing is known of the rule: no action is ruled out where somebody may misreport.

    The attacks tried are the reports that help each action most where more is never worse. A rule that decides a whole
    batch at once is not attacked context by context, and neither is one whose reference points cannot be frozen.
    """

    words = "nothing is ruled out"

    def reach(self, rule: Strategy, reports: Reports) -> Reach:
        """Rule nothing out, and try the most favourable report for each action."""
        shape = (reports.n_actions, reports.n_contexts)
        inner = np.zeros(shape, dtype=bool)
        idle = rule.whole_batch or (reports.frozen and not isinstance(rule, ContextRule))
        for action in range(0 if idle else reports.n_actions):
            inner[action] = reports.choose(rule, reports.promoting(action)) == action
        return Reach(np.ones(shape, dtype=bool), inner)

    def changeable(self, rule: Strategy, reports: Reports, decided: Integers) -> Mask:
        """Return True wherever there is another action."""
        del rule
        return np.full(len(decided), reports.n_actions > 1)
