"""What would change lists: a stakeholder who is not heard, a majority that prefers another item.

`drop_one` leaves E as it is given, list by list. `drop_one_in_market` serves all requests again, so that other lists
also load places and use up attention otherwise, and E follows.

`condorcet` says whether lists hold what a majority prefers to everything else. Stakeholder i prefers a to b if
E_i(a) > E_i(b) by more than rounding. Item a beats b if the weights of those who prefer a exceed the weights of those
who prefer b; without a difference they tie. Only items that may be shown are compared.

    Condorcet winner      beats every other item (Condorcet 1785)
    stable list           every item shown beats every item not shown (Gehrlein 1985); weakly stable: or ties

No rule can always show a stable list: there may be none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.json_values import finite, json_value
from accordant.slates.candidates import Candidates, gains_of
from accordant.slates.evaluation.manipulation import served_by
from accordant.slates.market import Market, Served, on_one_scale, serve
from accordant.slates.measures.measure import ratio
from accordant.slates.measures.stakeholder import average
from accordant.slates.rule import SlateRule
from accordant.slates.slates import NOTHING, Slates, State


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
        (`accordant.slates.market.on_one_scale`); if not, E is that of the lists with everybody, and requests with an
        empty list do not count in `changes`.
    """

    stakeholder: str
    overlap: float | None
    unchanged: float
    changes: Mapping[str, float | None]
    in_market: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def drop_one(rule: SlateRule, candidates: Candidates, k: int, state: State | None = None) -> tuple[Dropped, ...]:
    """Leave out every stakeholder with a weight above 0 in turn, while E stays as it is.

    Where E depends on what was shown before, this is not what would happen: use `drop_one_in_market`.

    Returns
    -------
    One entry for each stakeholder who can be left out; none if only one has a say.
    """
    has_weight = np.flatnonzero(candidates.weights > 0)
    if len(has_weight) < 2:
        return ()
    full = rule(candidates, k, state=state)
    attained = gains_of(full, candidates).attained
    absences = []
    for i in has_weight:
        weights = candidates.weights.copy()
        weights[i] = 0.0
        fewer = candidates.but(weights=weights)
        slates = rule(fewer, k, state=state)
        gained = gains_of(slates, candidates).attained - attained
        absences.append(_dropped(candidates.stakeholders, int(i), (full, slates), gained, in_market=False))
    return tuple(absences)


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
    has_weight = [i for i, name in enumerate(market.stakeholders) if market.weights.get(name, 1.0) > 0]
    if len(has_weight) < 2:
        return ()
    served = served_by(rule, market, k, full)
    absences = []
    for i in has_weight:
        without = serve(rule, replace(market, weights={**market.weights, market.stakeholders[i]: 0.0}), k)
        before, after = on_one_scale({"with": served, "without": without}).values()
        gained = after.gains.attained - before.gains.attained
        absences.append(_dropped(market.stakeholders, i, (served.slates, without.slates), gained, in_market=True))
    return tuple(absences)


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


@dataclass(frozen=True)
class Condorcet:
    """How lists stand to majorities.

    Attributes
    ----------
    compared
        Requests with at least two items that may be shown.
    winners
        Of these, how many have a Condorcet winner.
    winner_shown
        Share of those whose list holds it; None without winners.
    lists
        Requests with an item shown and one not shown.
    beating
        Share of items shown, over these lists, that beat every item not shown; None without such lists.
    stable, weakly_stable
        Share of these lists of which all items do so, or do so or tie; None without such lists.
    """

    compared: int
    winners: int
    winner_shown: float | None
    lists: int
    beating: float | None
    stable: float | None
    weakly_stable: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def condorcet(slates: Slates, candidates: Candidates) -> Condorcet:
    """Compare lists with the preferences of weighted majorities."""
    parts = candidates.slices()
    winner = np.concatenate([np.zeros(0, np.intp), *(condorcet_winners(candidates.take(part)) for part in parts)])
    compared = candidates.available.sum(axis=0) >= 2
    has = compared & (winner != NOTHING)
    held = (slates.items == winner[:, None]).any(axis=1)
    beats, ties = (np.zeros(slates.items.shape, dtype=bool) for _ in range(2))
    for part in parts:
        beats[part], ties[part] = _against_rest(slates.items[part], candidates.take(part))
    filled = slates.items != NOTHING
    counted = filled.any(axis=1) & (candidates.available & ~slates.shown()).any(axis=0)
    return Condorcet(
        int(compared.sum()),
        int(has.sum()),
        _share(held[has]),
        int(counted.sum()),
        _share(beats[filled & counted[:, None]]),
        _share((beats | ~filled).all(axis=1)[counted]),
        _share((beats | ties | ~filled).all(axis=1)[counted]),
    )


def condorcet_winners(candidates: Candidates) -> Codes:
    """Return the item that beats every other one of each user, `NOTHING` where there is none, shape (user,).

    One pass keeps an item until another one is not beaten by it; only the last one kept can be the winner, and a second
    pass compares it with all. A single item that may be shown is a winner.
    """
    available = candidates.available
    kept = np.full(candidates.n_users, NOTHING, dtype=np.intp)
    for item in range(len(candidates.items)):
        safe = majority(candidates, kept, slice(item, item + 1))[0] > 0
        kept = np.where(available[item] & ~((kept != NOTHING) & safe), item, kept)
    own = np.arange(len(candidates.items))[:, None] == kept
    wins = (~available | own | (majority(candidates, kept) > 0)).all(axis=0)
    return np.where(wins, kept, NOTHING)


def majority(candidates: Candidates, items: Codes, others: slice = slice(None)) -> NDArray[np.int8]:
    """Return 1 where the item of a user beats another one, −1 where it is beaten, 0 where they tie, shape (item, user).

    Parameters
    ----------
    candidates
        E and weights.
    items
        One for each user, shape (user,); what is said of `NOTHING` means nothing.
    others
        Items that it is compared with.
    """
    values = candidates.values
    gaps = values[:, items, np.arange(len(items))][:, None] - values[:, others]
    sides = np.where(np.abs(gaps) > candidates.tolerance, np.sign(gaps), 0.0)
    margins = np.tensordot(candidates.weights, sides, axes=1)
    slack = candidates.tolerance * candidates.weights.sum()
    return np.where(np.abs(margins) > slack, np.sign(margins), 0.0).astype(np.int8)


def _against_rest(items: Codes, candidates: Candidates) -> tuple[Mask, Mask]:
    """Return whether the item at each place beats, and beats or ties, every available item not shown."""
    rest = candidates.available.copy()
    beats, ties = items != NOTHING, items != NOTHING
    for chosen in items.T:
        users = np.flatnonzero(chosen != NOTHING)
        rest[chosen[users], users] = False
    for place, chosen in enumerate(items.T):
        duels = majority(candidates, chosen)
        beats[:, place] &= (~rest | (duels > 0)).all(axis=0)
        ties[:, place] &= (~rest | (duels >= 0)).all(axis=0)
    return beats, ties


def _share(flags: Mask) -> float | None:
    return float(flags.mean()) if len(flags) else None
