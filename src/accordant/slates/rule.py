"""What slate rules share: the registry, rules that decide in the order of time, and which rules compete.

`InOrder` is the base of rules that serve users one after the other, because each list depends on the lists that were
shown before. Whoever changes the lists of such a rule must do so before the next user is served, or the rule would
remember lists that nobody saw. So the rule hands over every list by itself, and remembers what it gets back.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named
from accordant.registry import Registry
from accordant.slates.candidates import Candidates
from accordant.slates.slates import Slates, State, join_slates
from accordant.strategies.strategy import strategies
from accordant.threads import free_cores, on_threads

Kind = Literal["approval", "welfare", "per item", "moderation", "dynamic", "consumption", "baseline"]

rules: Registry[SlateRule] = Registry("slate rule", group="accordant.slate_rules", packages=("accordant.slates.rules",))
ALL = "all"
ORDER = ("baseline", "welfare", "approval", "moderation", "dynamic", "consumption", "per item")


@dataclass(frozen=True)
class SlateRule(ABC):
    """A rule with its parameters; call it with candidates and a length.

    Every rule breaks ties in favour of the higher sum of expected rewards over those who have a say, then of the item
    that is declared first, never by a hash order or a draw. Items that may not be shown are not; a list is shorter than
    k where there are fewer items.

    Class attributes
    ----------------
    name
        Registered name.
    kind
        ``approval`` (multiwinner rules on approvals), ``welfare`` (sums of utilities over the list), ``per item`` (the
        best k items by a strategy), ``moderation`` (agents offer, a moderator merges), ``dynamic`` (who is behind is
        served), ``consumption`` (the best few are consumed), or ``baseline``.
    note
        One sentence that a leaderboard shows with it, or nothing.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "welfare"
    note: ClassVar[str] = ""

    @abstractmethod
    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; k is at least 1."""

    def __call__(
        self, candidates: Candidates, k: int, *, state: State | None = None, threads: int | None = None
    ) -> Slates:
        """Return a list of at most k items for every user.

        Parameters
        ----------
        candidates
            E, shape (stakeholder, item, user), and what may be shown; E may be mapped from a file. Beyond the result,
            memory does not grow with the number of users.
        k
            Places, at least 1.
        state
            What happened so far; only dynamic rules read it.
        threads
            Threads over blocks of users; None uses every core that this process may use. The result does not depend on
            it.

        Raises `InputError` if k is no whole number of at least 1.
        """
        del state
        check_places(k)
        parts = candidates.slices()
        if not parts:
            return empty(self.label, candidates, k)

        def work(part: slice) -> Slates:
            """Fill the slates of one block."""
            return self.fill(candidates.take(part), k)

        first = work(parts[0])  # compiles kernels, which threads would do at the same time
        rest = on_threads(work, parts[1:], free_cores() if threads is None else threads)
        return join_slates([first, *rest])

    @classmethod
    def line_up(cls, stakeholders: Sequence[str], user: str | None, n_items: int) -> tuple[SlateRule, ...]:
        """Return the rule in every setting that competes where somebody asks for all rules.

        Parameters
        ----------
        stakeholders
            Who takes part.
        user
            Which of them is the user; None if nobody is.
        n_items
            Number of items: some rules take too long with many.
        """
        del stakeholders, user, n_items
        return (cls(),)

    @property
    def label(self) -> str:
        """Name, and the parameters that differ from their defaults: ``name[parameter=value,…]``."""
        given = [
            f"{field.name}={_words(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}[{','.join(given)}]" if given else self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the rule: ``rules.create(name, parameters)``."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


register = rules.named
create = rules.create
names = rules.names


def empty(label: str, candidates: Candidates, k: int) -> Slates:
    """Return the slates of no users."""
    return Slates(label, candidates.items, np.empty((0, k), dtype=np.intp), np.empty(0, dtype=bool))


def check_places(k: int) -> None:
    """Raise `InputError` unless a slate has at least one place."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"a slate has {k!r} places; allowed: a whole number of at least 1")


def _words(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


Repair = Callable[[int, NDArray[np.intp]], NDArray[np.intp]]
"""From the position of a user in a block, and the list that the rule would show, shape (k,), to the one that is shown.

It has as many items, all of which may be shown.
"""

Repairs = Callable[[Candidates], Repair]
"""From the candidates of a block of users to what changes their lists; blocks come in order, and so do their users."""


@dataclass(frozen=True)
class InOrder(SlateRule):
    """A rule of which every list depends on those before it, also inside a batch."""

    @abstractmethod
    def serve(
        self, candidates: Candidates, k: int, state: State | None = None, repairs: Repairs | None = None
    ) -> Slates:
        """Return a list of at most k items for every user, in order.

        Parameters
        ----------
        candidates, k
            As for every rule.
        state
            What was shown before; None if nothing was.
        repairs
            Changes each list before it is shown and remembered; None if nothing does.

        Raises
        ------
        InputError
            If k is no whole number of at least 1, or the state is of other stakeholders or items.
        """

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of users before whom nothing was shown."""
        return self.serve(candidates, k)

    def __call__(
        self, candidates: Candidates, k: int, *, state: State | None = None, threads: int | None = None
    ) -> Slates:
        """Return a list of at most k items for every user, in order; see `serve`. Threads have no effect."""
        del threads
        return self.serve(candidates, k, state)


def rule_of(named: Named) -> SlateRule:
    """Return a slate rule by its name, or the strategy of that name turned to lists.

    Raises `UnknownNameError` if there is neither.
    """
    if named.name in rules:
        return rules.create(named.name, named.parameters)
    if named.name in strategies:
        declared = {"name": named.name, "parameters": named.parameters}
        return rules.create("per_item", {"strategy": declared})
    raise UnknownNameError("slate rule", named.name, (*rules.names(), *strategies.names(), ALL))


def rules_of(
    named: Sequence[Named], stakeholders: Sequence[str], user: str | None, n_items: int
) -> tuple[SlateRule, ...]:
    """Return the rules of some names; every rule for ``all``, or if nothing is named.

    Raises `UnknownNameError` if a rule does not exist; `InputError` if a rule is named twice, or ``all`` stands beside
    other names.
    """
    if not named or [named_rule.name for named_rule in named] == [ALL]:
        line_up = [rule for name in rules for rule in _class(name).line_up(stakeholders, user, n_items)]
        return tuple(sorted(line_up, key=lambda rule: (ORDER.index(rule.kind), rule.label)))
    chosen = [rule_of(named_rule) for named_rule in named if named_rule.name != ALL]
    if len(chosen) < len(named):
        raise InputError(f"{ALL!r} names every rule and stands alone")
    labels = [rule.label for rule in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"the rule {label!r} is named twice")
    return tuple(chosen)


def _class(name: str) -> type[SlateRule]:
    """Return the class that is registered under a name."""
    factory = rules.factory(name)
    if not (isinstance(factory, type) and issubclass(factory, SlateRule)):
        raise InputError(f"slate rule {name!r} is registered by a {type(factory).__name__}; allowed: a class")
    return factory
