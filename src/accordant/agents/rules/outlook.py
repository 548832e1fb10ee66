"""`Outlook`: what an agent can choose from at one moment, how much it likes each choice, and how it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.agents.agent import View
from accordant.agents.concession import Progress
from accordant.agents.moves import Answering, proposal_in
from accordant.allocations import AdditiveUtility, Allocation, Utility
from accordant.allocations.allocation import Options
from accordant.arrays import Values
from accordant.errors import InputError, InvalidMoveError


def offers(view: View) -> Iterator[tuple[str, Allocation]]:
    """Yield agents with what they offered, oldest first: the history, then standing proposals that it does not hold."""
    last: dict[str, Allocation] = {}
    for turn in view.history:
        proposal = proposal_in(turn.move)
        if proposal is not None:
            last[turn.agent] = proposal.allocation
            yield turn.agent, proposal.allocation
    for name in sorted(view.proposals):
        standing = view.proposals[name].allocation
        if last.get(name) != standing:
            yield name, standing


def offers_by_agent(view: View) -> dict[str, tuple[Allocation, ...]]:
    """Return what each agent offered, oldest first; agents by name."""
    made: dict[str, list[Allocation]] = {}
    for name, allocation in offers(view):
        made.setdefault(name, []).append(allocation)
    return {name: tuple(made[name]) for name in sorted(made)}


CONSIDERED = 400  # options: twice the weightings that a search tries; what it adds beyond them is random


def search_options(view: View, utility: Utility) -> Options:
    """Return allocations to choose from: standing proposals, one's own best, and what lies between them.

    What lies between is found as the best for weightings of the own utility and of the shares that others propose.
    The best by an additive utility is exact, by another what an exchange search finds.
    """
    from accordant.allocations.search import pool

    standing = [proposal.allocation for _, proposal in sorted(view.proposals.items())]
    towards = [AdditiveUtility(proposal.allocation.shares) for _, proposal in sorted(view.others.items())]
    return pool(view.scenario, [utility, *towards], standing, view.seed, CONSIDERED)


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
        From shares (option, claimant) to utilities on the same scale, shape (option,).
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

        Raises InvalidMoveError if the utility does not give one finite number for each option.
        """
        from accordant.allocations.search import scaled

        try:
            options = view.options if view.options is not None else search_options(view, utility)
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
        received = [offer for name, offer in offers(self.view) if name != self.view.agent]
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


NOTHING = 1e-9  # a share up to here, or a difference of shares up to here, is rounding

KEEPING = ("maintain", "justify")  # answers that stand by one's own claim


@dataclass(frozen=True)
class Stand:
    """An answer on one claimant, and the claimant it is compared with.

    Attributes
    ----------
    kind
        See `accordant.agents.moves.Reply`.
    against
        Position of the claimant whose claim is compared: for a challenge, one to whom oneself grants more than another
        agent does; for a justification, one to whom another agent grants more. None if nobody is compared.
    """

    kind: Answering
    against: int | None = None


def contradiction(claimant: str, kind: Answering, before: Allocation, after: Allocation) -> str | None:
    """Return in which way an answer and the proposal that comes with it contradict each other, or None.

    `claimant`: id; `kind`: what was answered on that claimant; `before`, `after`: what oneself proposed until then, and
    proposes now.
    """
    place = after.scenario.index(claimant)
    was, now = float(before.shares[place]), float(after.shares[place])
    if kind == "concede" and abs(was - now) <= NOTHING:
        return f"{after.scenario.noun} {claimant!r} was conceded and still gets {now:.0%}"
    if kind in KEEPING and was > NOTHING >= now:
        dropped = f"{after.scenario.noun} {claimant!r} got {was:.0%} and is dropped"
        return f"{dropped}, but the answer is {kind!r}; allowed: 'concede'"
    return None


def stand(claimant: int, values: Values, before: Values, after: Values, others: Values) -> Stand:
    """Return the answer on a disputed claimant.

    ``concede`` drops one's own claim or takes up another's, ``revise`` changes the share otherwise. A share that stays
    is defended by the closest comparison of values there is: ``challenge`` where somebody to whom another agent grants
    less has at least the value of the claimant, ``justify`` where the claimant has at least the value of somebody to
    whom another agent grants more, or where there is nobody such. Without a comparison that speaks for it,
    ``maintain``. Equally close ones: the lower id.

    `claimant`: position; `values`: what granting each claimant is worth to oneself, shape (claimant,); `before`,
    `after`: shares of one's own proposal before and after revision, shape (claimant,); `others`: shares of the others'
    proposals, shape (agent, claimant).
    """
    was, now = before[claimant], after[claimant]
    if abs(was - now) > NOTHING:
        dropped = now <= NOTHING
        taken_up = bool((np.abs(others[:, claimant] - now) <= NOTHING).any())
        return Stand("concede" if dropped or taken_up else "revise")
    if now > NOTHING:
        wanted = np.asarray((others > after + NOTHING).any(axis=0))
        wanted[claimant] = False
        if not wanted.any():
            return Stand("justify")
        below = np.flatnonzero(wanted & (values <= values[claimant]))
        return Stand("justify", int(below[np.argmax(values[below])])) if len(below) else Stand("maintain")
    kept = (after > NOTHING) & (others < after - NOTHING).any(axis=0)
    above = np.flatnonzero(kept & (values >= values[claimant]))
    return Stand("challenge", int(above[np.argmin(values[above])])) if len(above) else Stand("maintain")
