"""`Outlook`: what an agent can choose from at one moment, and how much it likes each choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.agents.concession import Progress
from accordant.agents.rules.offers import offers, offers_by_agent
from accordant.agents.rules.search_options import searched
from accordant.agents.view import View
from accordant.allocations import Allocation, Utility
from accordant.allocations.options import Options
from accordant.arrays import Values
from accordant.errors import InputError, InvalidMoveError

Violations = Callable[[Values], NDArray[np.int64]]

DIGITS = 12  # utilities and distances that agree to so many decimals tie


def tied(values: Values) -> Values:
    """Return numbers over the largest of them, rounded to `DIGITS`, so that equals tie in any unit; same shape."""
    size = float(np.abs(values).max(initial=0.0))
    return np.asarray(np.round(values / size, DIGITS)) if size > 0 else values


@dataclass(frozen=True, eq=False)
class Outlook:
    """Options of one agent with its own judgement of them.

    Attributes
    ----------
    view
        What the agent may see.
    options
        All feasible allocations, or where they are too many those that a search found, and the standing proposals.
    utilities
        The agent's own, scaled so that over all feasible allocations the lowest is 0 and the highest 1, rounded to
        `DIGITS`, shape (option,).
    broken
        How many hard constraints of the agent each option breaks, shape (option,).
    judge
        From shares (option, patient) to utilities on the same scale, shape (option,).
    violations
        From shares to the number of hard constraints that are broken.
    """

    view: View
    options: Options
    utilities: Values
    broken: NDArray[np.int64]
    judge: Callable[[Values], Values]
    violations: Violations

    @classmethod
    def of(cls, view: View, utility: Utility, violations: Violations) -> Self:
        """Look at the options of a view with one's own utility.

        Raises
        ------
        InvalidMoveError
            If the utility does not give one finite number for each option.
        """
        from accordant.allocations.search import scaled

        try:
            options = view.options if view.options is not None else searched(view, utility)
            scale = scaled(view.scenario, [utility], options, view.seed)
        except InputError as error:
            raise InvalidMoveError(f"the utility cannot be read: {error}") from error

        def judge(shares: Values) -> Values:
            """Return scaled utilities; a search may have missed the ends, so they are cut to [0, 1]."""
            return np.asarray(np.round(np.clip(scale.of(shares)[0], 0.0, 1.0), DIGITS))

        shares = options.shares
        return cls(view, options, judge(shares), violations(shares), judge, violations)

    @cached_property
    def permitted(self) -> NDArray[np.intp]:
        """Positions of the options that break the fewest hard constraints, rising."""
        return np.flatnonzero(self.broken == self.broken.min())

    @cached_property
    def reservation(self) -> float:
        """Utility without an agreement; 0 if that is not known."""
        without = self.view.disagreement
        return 0.0 if without is None else self.utility(without)

    def utility(self, allocation: Allocation) -> float:
        """Return the own utility of an allocation, in [0, 1]."""
        return float(self.judge(allocation.shares[None])[0])

    def allowed(self, allocation: Allocation) -> bool:
        """Return whether an allocation breaks no more hard constraints than it must."""
        return bool(self.violations(allocation.shares[None])[0] <= self.broken.min())

    def best(self) -> int:
        """Return the option liked best among the permitted ones; ties by option order."""
        return int(self.permitted[np.argmax(self.utilities[self.permitted])])

    def nearest(self, target: float, others: Sequence[Allocation]) -> int:
        """Return the option of at least the target that is nearest to offers of others; ties by own utility."""
        reaching = self._reaching(target)
        order = np.lexsort((-self.utilities[reaching], self._distances(reaching, others)))
        return int(reaching[order[0]])

    def lowest(self, target: float, others: Sequence[Allocation]) -> int:
        """Return the option of the lowest utility that is at least the target; ties by distance to offers of others."""
        reaching = self._reaching(target)
        least = reaching[self.utilities[reaching] == self.utilities[reaching].min()]
        return int(least[np.argmin(self._distances(least, others))])

    def progress(self) -> Progress:
        """Return what a concession strategy reads: the offers so far, in own utility."""
        by_agent = offers_by_agent(self.view)
        received = [each for name, each in offers(self.view) if name != self.view.agent]
        return Progress(
            time=self.view.time,
            made=tuple(map(self.utility, by_agent.get(self.view.agent, ()))),
            received=tuple(map(self.utility, received)),
            distinct_received=len(set(received)),
            reservation=self.reservation,
            levels=np.unique(self.utilities[self.permitted])[::-1],
            opponents=tuple(
                tuple(map(self.utility, made)) for name, made in by_agent.items() if name != self.view.agent
            ),
        )

    def _reaching(self, target: float) -> NDArray[np.intp]:
        """Return the permitted options of at least the target; the best of them if none reaches it."""
        own = self.utilities[self.permitted]
        return np.asarray(self.permitted[own >= min(round(target, DIGITS), own.max())])

    def _distances(self, options: NDArray[np.intp], others: Sequence[Allocation]) -> Values:
        """Return the sum of absolute differences in shares to offers, shape (option,)."""
        shares = self.options.shares[options]
        total = np.zeros(len(shares))
        for offer in others:
            total += np.abs(shares - offer.shares).sum(axis=1)
        return np.asarray(np.round(total, DIGITS))
