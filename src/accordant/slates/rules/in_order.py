"""Rules that serve users one after the other, because each list depends on the lists that were shown before.

Whoever changes the lists of such a rule must do so before the next user is served, or the rule would remember lists
that nobody saw. So the rule hands over every list by itself, and remembers what it gets back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.slates.candidates import Candidates
from accordant.slates.rule import SlateRule
from accordant.slates.slates import Slates
from accordant.slates.state import State

Mend = Callable[[int, NDArray[np.intp]], NDArray[np.intp]]
"""From the position of a user in a block, and the list that the rule would show, shape (k,), to the one that is shown.

It has as many items, all of which may be shown.
"""

Mending = Callable[[Candidates], Mend]
"""From the candidates of a block of users to what changes their lists; blocks come in order, and so do their users."""


@dataclass(frozen=True)
class InOrder(SlateRule):
    """A rule of which every list depends on those before it, also inside a batch."""

    @abstractmethod
    def serve(
        self, candidates: Candidates, k: int, state: State | None = None, mending: Mending | None = None
    ) -> Slates:
        """Return a list of at most k items for every user, in order.

        Parameters
        ----------
        candidates, k
            As for every rule.
        state
            What was shown before; None if nothing was.
        mending
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
