"""`serve`: a rule shows slates batch by batch, and what it shows changes what the next batch finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates, Gains, gains_of
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.rule import SlateRule
from accordant.slates.slates import Slates, State, join_slates
from accordant.utilities import ExpectedRewards

Expected = Callable[[Requests, State], ExpectedRewards]
"""From a batch and the state before it to E, shape (stakeholder, item, request)."""

Reports = Callable[[Requests, State, ExpectedRewards], ExpectedRewards]
"""From a batch, the state before it and E to what stakeholders say E is; rules read that, measures read E."""

Uptake = Callable[[Requests, Slates], Values]
"""From a batch and its slates to the visits that each item gets of it, shape (item, request)."""


@dataclass(frozen=True)
class ExpectedUptake:
    """Every user visits some items of the slate, those that are seen more being likelier.

    Parameters
    ----------
    visits
        Visits of one user, at least 0; no item is visited more than once.
    """

    visits: float = 1.0

    def __call__(self, requests: Requests, slates: Slates) -> Values:
        """Return expected visits, shape (item, request): shares of attention times visits, at most 1 each."""
        del requests
        seen = slates.exposure()
        totals = seen.sum(axis=0)
        shares = np.divide(seen, totals, out=np.zeros_like(seen), where=totals > 0)
        return np.asarray(np.minimum(1.0, self.visits * shares))


@dataclass(frozen=True, eq=False)
class Market:
    """Whoever is served, and by what.

    Attributes
    ----------
    stakeholders
        Names, in the order of E.
    expected
        E of a batch.
    batches
        Requests in the order of time; several batches may be of one day.
    weights
        Stakeholder to weight; 1 where nothing is said.
    floors
        Stakeholder to the normalised utility that no list may go below.
    uptake
        What is visited of what is shown.
    user_stakeholder
        The stakeholder who is the user, for measures of relevance and for the price of a compromise; None if nobody is.
    reports
        What agents that speak for stakeholders make of E; None if everybody reports E.
    close_when_full
        Whether an item is no longer shown on a day on which it has had as many visits as it takes.
    """

    catalogue: Catalogue
    stakeholders: tuple[str, ...]
    expected: Expected
    batches: Sequence[Requests]
    weights: Mapping[str, float] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    uptake: Uptake = field(default_factory=ExpectedUptake)
    user_stakeholder: str | None = None
    reports: Reports | None = None
    close_when_full: bool = False

    def __post_init__(self) -> None:
        named = [*self.weights, *self.floors, *([] if self.user_stakeholder is None else [self.user_stakeholder])]
        for name in named:
            if name not in self.stakeholders:
                raise UnknownNameError("stakeholder", name, self.stakeholders)
        if not self.batches:
            raise InputError("there are no requests to serve")

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of all requests, in order."""
        return tuple(name for batch in self.batches for name in batch.ids)

    def candidates(self, requests: Requests, state: State) -> Candidates:
        """Return E of a batch with what may be shown: closed items are not."""
        return self._offered(self.expected(requests, state), requests, state)

    def reported(self, requests: Requests, state: State, candidates: Candidates) -> Candidates:
        """Return the same candidates as stakeholders report them, which is all that a rule may read."""
        if self.reports is None:
            return candidates
        return self._offered(self.reports(requests, state, candidates.expected), requests, state)

    def _offered(self, expected: ExpectedRewards, requests: Requests, state: State) -> Candidates:
        shown = self.catalogue.open
        if self.close_when_full:
            shown = shown & (state.load < self.catalogue.capacity)
        return Candidates(
            expected,
            requests.available & shown[:, None],
            [self.weights.get(name, 1.0) for name in self.stakeholders],
            self.catalogue.category_codes,
            self.user_stakeholder,
        )


@dataclass(frozen=True, eq=False)
class Served:
    """What a rule showed to all batches, in order.

    Attributes
    ----------
    slates
        Shape (request, k).
    candidates
        E as each request found it under this rule.
    gains
        What the slates gave to each stakeholder. The ideal and the worst list are those of `moment`, or after
        `on_one_scale` those of all rules of a comparison.
    moment
        The same between the ideal and the worst list of what could be shown at that moment, which is what floors read.
    visits
        Visits of each item by each request, shape (item, request).
    days
        Day of each request, shape (request,).
    states
        What had happened before each batch.
    """

    market: Market
    slates: Slates
    candidates: Candidates
    gains: Gains
    moment: Gains
    visits: Values
    days: NDArray[np.intp]
    users: tuple[str, ...]
    states: tuple[State, ...]

    @property
    def targets(self) -> NDArray[np.bool_] | None:
        """What was really consumed afterwards, shape (item, request); None where nobody knows."""
        found = [batch.targets for batch in self.market.batches]
        return None if any(each is None for each in found) else np.concatenate([e for e in found if e is not None], 1)

    @property
    def history(self) -> Values:
        """How often users consumed each item before, shape (item, request)."""
        return np.concatenate([batch.history for batch in self.market.batches], axis=1)

    def between(self, start: int, stop: int) -> Served:
        """Return what was shown to some consecutive requests, from `start` to before `stop`."""
        part, first = slice(start, stop), 0
        kept, states = [], []
        for batch, state in zip(self.market.batches, self.states, strict=True):
            rows = slice(max(start - first, 0), max(stop - first, 0))
            first += batch.n_users
            if rows.start < min(rows.stop, batch.n_users):
                kept.append(batch.take(rows))
                states.append(state)
        gains, moment = (
            Gains(each.utilities[:, part], each.ideal[:, part], each.worst[:, part])
            for each in (self.gains, self.moment)
        )
        return Served(
            replace(self.market, batches=tuple(kept)), self.slates.take(part), self.candidates.take(part), gains,
            moment, self.visits[:, part], self.days[part], self.users[part], tuple(states),
        )  # fmt: skip


def serve(rule: SlateRule, market: Market, k: int) -> Served:
    """Show slates to every batch in turn.

    What a rule may remember of earlier lists is what stakeholders reported that these gave them, not the truth.
    """
    state = State.start(market.catalogue.n_items, len(market.stakeholders), k)
    shown, found, visits, states = [], [], [], []
    for batch in market.batches:
        state = state.on(batch.day)
        states.append(state)
        candidates = market.candidates(batch, state)
        reported = market.reported(batch, state, candidates)
        slates = rule(reported, k, state=state)
        taken = market.uptake(batch, slates)
        state = state.after(slates, gains_of(slates, reported).attained, taken.sum(axis=1))
        shown.append(slates)
        found.append(candidates)
        visits.append(taken)
    every = join_candidates(found)
    slates = join_slates(shown)
    moment = gains_of(slates, every)
    return Served(
        market, slates, every, moment, moment, np.concatenate(visits, axis=1),
        np.repeat([batch.day for batch in market.batches], [batch.n_users for batch in market.batches]),
        tuple(user for batch in market.batches for user in batch.users), tuple(states),
    )  # fmt: skip


def on_one_scale(served_by_rule: Mapping[str, Served]) -> dict[str, Served]:
    """Return what rules showed to the same requests, with gains between the same ideal and the same worst for all.

    For each request and stakeholder the ideal is the best that any of the rules could have shown at its moment, the
    worst the worst [ours]. So one list attains more than another exactly if its utility is higher, whatever rules
    filled or closed before. An empty list where another rule had something to show attains 0. Where E depends on
    nothing that was shown, and nothing closes, gains stay as they are.

    Parameters
    ----------
    served_by_rule
        Rule to what it showed; each stakeholder's own list among them makes the scale a stable one.
    """
    moments = [served.moment for served in served_by_rule.values()]
    if not moments:
        return {}
    ideal, worst = moments[0].ideal, moments[0].worst
    for each in moments[1:]:
        ideal, worst = np.fmax(ideal, each.ideal), np.fmin(worst, each.worst)
    return {
        rule: replace(served, gains=Gains(_or_worst(served.moment.utilities, worst), ideal, worst))
        for rule, served in served_by_rule.items()
    }


def _or_worst(utilities: Values, worst: Values) -> Values:
    """Return utilities, and for empty lists the worst that others could have shown."""
    return np.where(np.isnan(utilities), worst, utilities)


def join_candidates(parts: Sequence[Candidates]) -> Candidates:
    """Return the candidates of several batches as one."""
    first = parts[0]
    expected = ExpectedRewards(
        np.concatenate([part.expected.values for part in parts], axis=2),
        stakeholders=first.stakeholders,
        actions=first.items,
    )
    available = np.concatenate([part.available for part in parts], axis=1)
    return first.but(expected=expected, available=available)
