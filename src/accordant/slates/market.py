"""`serve`: a rule shows slates batch by batch, and what it shows changes what the next batch finds.

Where several workers serve a market at once, a rule knows what happened some batches ago: the `staleness` N of a
market. The rule decides for batch b on the state before batch b − N: its load, attention and memory, and E and
availability as they were in it. Calendar and numbers of requests are no news: on a new day the rule knows that there is
no load yet, and nothing else of it, and what it draws at random differs from request to request. What lists give is
read at the true state: visits, E, the ideal and the worst list.

An item may be shown that was full or closed meanwhile. Without `close_when_full` it is an item like others: E at the
true state says what it is worth, and visits beyond capacity count as overload. With it, the place is lost: the item
gives nobody anything (E counts as 0), so lists may attain 0, and never more than the ideal list of what was open;
whoever is sent there still counts as a visit, beyond capacity; and the measure ``closed_places`` says how many places
were lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.compute.fan_out import run_all
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
    staleness
        How many batches old the state is that rules see, a whole number of at least 0; from the number of batches on,
        every batch is decided on what is known at the beginning.
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
    staleness: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.staleness, bool) or not isinstance(self.staleness, int) or self.staleness < 0:
            raise InputError(f"staleness is {self.staleness!r}; allowed: a whole number of batches, at least 0")
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
        E as each request found it under this rule; 0 for items that were shown though they were closed meanwhile.
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
        What had happened before each batch, whatever the rule knew of it.
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
        parts = [batch.targets for batch in self.market.batches]
        return None if any(part is None for part in parts) else np.concatenate([e for e in parts if e is not None], 1)

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
            Gains(whole.utilities[:, part], whole.ideal[:, part], whole.worst[:, part])
            for whole in (self.gains, self.moment)
        )
        return Served(
            replace(self.market, batches=tuple(kept)), self.slates.take(part), self.candidates.take(part), gains,
            moment, self.visits[:, part], self.days[part], self.users[part], tuple(states),
        )  # fmt: skip


def serve(rule: SlateRule, market: Market, k: int, *, n_jobs: int = 1) -> Served:
    """Show slates to every batch in turn.

    What a rule may remember of earlier lists is what stakeholders reported that these gave them, not the truth; where
    the market is served with staleness, what they reported when the lists were chosen.

    Parameters
    ----------
    rule
        How lists are chosen.
    market
        Who is served.
    k
        Places in a list.
    n_jobs
        Processes on which batches are decided that do not wait for each other, one more than the staleness at a time;
        or the executor that was chosen, see `accordant.compute`. The result is the same for any.
    """
    state = State.start(market.catalogue.n_items, len(market.stakeholders), k)
    shown, candidates, visits, states = list[Slates](), list[Candidates](), list[Values](), list[State]()
    at_once = market.staleness + 1
    for start in range(0, len(market.batches), at_once):
        block = market.batches[start : start + at_once]
        past = [*states[start - market.staleness :], state] if start else repeat(state)
        asked = state.served + np.cumsum([0, *(batch.n_users for batch in block)])
        known = [
            replace(earlier.on(batch.day), served=int(before))
            for batch, earlier, before in zip(block, past, asked[:-1], strict=False)
        ]
        offered = [market.candidates(batch, known_state) for batch, known_state in zip(block, known, strict=True)]
        reported = [market.reported(*triple) for triple in zip(block, known, offered, strict=True)]
        tasks = [partial(rule, said, k, state=known_state) for said, known_state in zip(reported, known, strict=True)]
        lists = [tasks[0]()] if len(tasks) == 1 else run_all(tasks, n_jobs, "deciding batches")
        for batch, slates, seen, said in zip(block, lists, offered, reported, strict=True):
            state = state.on(batch.day)
            states.append(state)
            candidates.append(_as_found(market.candidates(batch, state), slates) if market.staleness else seen)
            taken = market.uptake(batch, slates)
            state = state.after(slates, gains_of(slates, said).attained, taken.sum(axis=1))
            shown.append(slates)
            visits.append(taken)
    every = join_candidates(candidates)
    slates = join_slates(shown)
    moment = gains_of(slates, every)
    return Served(
        market, slates, every, moment, moment, np.concatenate(visits, axis=1),
        np.repeat([batch.day for batch in market.batches], [batch.n_users for batch in market.batches]),
        tuple(user for batch in market.batches for user in batch.users), tuple(states),
    )  # fmt: skip


def _as_found(candidates: Candidates, slates: Slates) -> Candidates:
    """Return candidates in which items that were shown though they may not be shown any more give nobody anything."""
    closed, expected = slates.shown() & ~candidates.available, candidates.expected
    if not closed.any():
        return candidates
    values = np.where(closed, expected.values.dtype.type(0), expected.values)
    return candidates.but(
        expected=ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions)
    )


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
    for moment in moments[1:]:
        ideal, worst = np.fmax(ideal, moment.ideal), np.fmin(worst, moment.worst)
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
