"""`drop_one`: how much lists change, and for whom, if one stakeholder is not heard.

`drop_one` leaves E as it is given, list by list. `drop_one_in_market` serves all requests again, so that other lists
also load places and use up attention otherwise, and E follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.json_values import finite, json_value
from accordant.slates.candidates import Candidates
from accordant.slates.evaluation.market_manipulation import served_by
from accordant.slates.gains import gains_of
from accordant.slates.measures.collective import average
from accordant.slates.measures.measure import ratio
from accordant.slates.rule import SlateRule
from accordant.slates.serving import Market, Served, on_one_scale, serve
from accordant.slates.slates import Slates
from accordant.slates.state import State


@dataclass(frozen=True)
class Dropped:
    """What a rule shows without one stakeholder, against what it shows with everybody.

    Attributes
    ----------
    stakeholder
        Who is not heard: its weight is 0.
    overlap
        Mean over requests of items in both lists over items in either (Jaccard 1912), in [0, 1]; 1 is no change at all
        but for the order. None if all lists are empty.
    unchanged
        Share of requests with the same items.
    changes
        Every stakeholder, the dropped one too, to its mean normalised utility without minus with; None where all lists
        are alike for it.
    in_market
        Whether all requests were served again, both lists being normalised on one scale
        (`accordant.slates.serving.on_one_scale`); if not, E is that of the lists with everybody, and requests with an
        empty list do not count in `changes`.
    """

    stakeholder: str
    overlap: float | None
    unchanged: float
    changes: Mapping[str, float | None]
    in_market: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "stakeholder": self.stakeholder,
            "overlap": self.overlap,
            "unchanged": self.unchanged,
            "changes": dict(self.changes),
            "in_market": self.in_market,
        }


def drop_one(rule: SlateRule, candidates: Candidates, k: int, state: State | None = None) -> tuple[Dropped, ...]:
    """Leave out every stakeholder with a weight above 0 in turn, while E stays as it is.

    Where E depends on what was shown before, this is not what would happen: use `drop_one_in_market`.

    Parameters
    ----------
    rule
        How lists are chosen.
    candidates
        E and weights, of at least one request.
    k
        Places in a list.
    state
        What happened before, the same with and without.

    Returns
    -------
    One entry for each stakeholder who can be left out; none if only one has a say.
    """
    heard = np.flatnonzero(candidates.weights > 0)
    if len(heard) < 2:
        return ()
    full = rule(candidates, k, state=state)
    attained = gains_of(full, candidates).attained
    found = []
    for i in heard:
        weights = candidates.weights.copy()
        weights[i] = 0.0
        fewer = candidates.but(weights=weights)
        slates = rule(fewer, k, state=state)
        gained = gains_of(slates, candidates).attained - attained
        found.append(_dropped(candidates.stakeholders, int(i), (full, slates), gained, in_market=False))
    return tuple(found)


def drop_one_in_market(rule: SlateRule, market: Market, k: int, *, full: Served | None = None) -> tuple[Dropped, ...]:
    """Serve the market again without the say of every stakeholder with a weight above 0 in turn.

    Parameters
    ----------
    rule
        How lists are chosen.
    market
        The market with everybody.
    k
        Places in a list.
    full
        What the rule shows in this market, if that is known; else it is served first.

    Returns
    -------
    One entry for each stakeholder who can be left out; none if only one has a say.

    Raises
    ------
    InputError
        If what is known was shown by another rule, in another market or with another k.
    """
    heard = [i for i, name in enumerate(market.stakeholders) if market.weights.get(name, 1.0) > 0]
    if len(heard) < 2:
        return ()
    served = served_by(rule, market, k, full)
    found = []
    for i in heard:
        without = serve(rule, replace(market, weights={**market.weights, market.stakeholders[i]: 0.0}), k)
        before, after = on_one_scale({"with": served, "without": without}).values()
        gained = after.gains.attained - before.gains.attained
        found.append(_dropped(market.stakeholders, i, (served.slates, without.slates), gained, in_market=True))
    return tuple(found)


def _dropped(
    stakeholders: tuple[str, ...], i: int, slates: tuple[Slates, Slates], gained: Values, *, in_market: bool
) -> Dropped:
    """Return what changes between two lists of every request, the second being without stakeholder i."""
    shared = jaccard(*slates)
    changes = dict(zip(stakeholders, json_value(average(gained.T)), strict=True))
    unchanged = float(np.where(np.isnan(shared), True, shared == 1.0).mean())
    return Dropped(stakeholders[i], finite(average(shared)), unchanged, changes, in_market)


def jaccard(one: Slates, other: Slates) -> Values:
    """Return items in both lists over items in either, shape (user,); NaN if both are empty."""
    first, second = one.shown(), other.shown()
    return ratio((first & second).sum(axis=0).astype(np.float64), (first | second).sum(axis=0).astype(np.float64))
