"""`SlateRule`: any rule from candidates to slates, and the registry that knows every rule by name."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from accordant.errors import InputError
from accordant.registry import Registry
from accordant.slates.candidates import Candidates
from accordant.slates.slates import Slates, together
from accordant.slates.state import State
from accordant.threads import free_cores, on_threads

Kind = Literal["approval", "welfare", "per item", "moderation", "dynamic", "consumption", "baseline"]

rules: Registry[SlateRule] = Registry("slate rule", group="accordant.slate_rules", packages=("accordant.slates.rules",))


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

        Raises
        ------
        InputError
            If k is no whole number of at least 1.
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
        return together([first, *rest])

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
    """Stop unless a slate has at least one place.

    Raises
    ------
    InputError
        If k is no whole number of at least 1.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"a slate has {k!r} places; allowed: a whole number of at least 1")


def _words(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
