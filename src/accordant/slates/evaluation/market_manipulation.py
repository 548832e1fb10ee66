"""`manipulability_in_market`: a misreport is sent through the market, so what it changes for later lists counts too.

Where lists load places, fill them or use up attention, a misreport changes the lists of everybody after it, and E with
them. A gain that is computed list by list at the E of the truth (`accordant.slates.evaluation.manipulability`) may then
vanish, or be larger. Here all requests are served anew with the misreport, and true utility is read where it arises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Requests
from accordant.slates.evaluation.manipulation import Manipulability, depends_on_others, mean_gain
from accordant.slates.evaluation.misreports import Sight, plain_misreports, with_report
from accordant.slates.evaluation.resampling import Users
from accordant.slates.gains import ALIKE
from accordant.slates.rule import SlateRule
from accordant.slates.serving import Market, Served, serve
from accordant.slates.state import State
from accordant.utilities import ExpectedRewards

TRIES = 6  # misreports, each of which serves all requests once


@dataclass(frozen=True, eq=False)
class Misreporting:
    """`Reports` of a market in which one stakeholder misreports in the same way in every request.

    Attributes
    ----------
    market
        The market in which it does not; what others report stays as it is there.
    stakeholder
        Position of the misreporter.
    k
        Places in a list.
    say
        From what it sees to what it says.
    """

    market: Market
    stakeholder: int
    k: int
    say: Callable[[Sight], Values]

    def __call__(self, requests: Requests, state: State, expected: ExpectedRewards) -> ExpectedRewards:
        """Return E of a batch as it is reported; the misreporter sees its own E and the reports of others."""
        others = expected if self.market.reports is None else self.market.reports(requests, state, expected)
        seen = with_report(others, self.stakeholder, expected.values[self.stakeholder])
        offered = replace(self.market, expected=lambda *_: seen, reports=None).candidates(requests, state)
        return with_report(others, self.stakeholder, self.say(Sight.of(offered, self.stakeholder, self.k)))


def manipulability_in_market(
    rule: SlateRule,
    market: Market,
    k: int,
    stakeholder: str,
    *,
    truthful: Served | None = None,
    tries: int = TRIES,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Manipulability:
    """Serve a market again with misreports of one stakeholder, one misreport for all requests at a time.

    The gain is the mean of true utility over requests, at the E that each request finds, minus the same in the market
    as it is. An empty list is worth 0 where the other market shows something. The best of all misreports tried, and of
    the truth, is taken, so the gain is at least 0. For these requests it is a lower bound of what the stakeholder could
    gain in this market: it may say something cleverer, or not the same every time. It is no forecast: the best of
    several is chosen on the requests on which it is measured, and the interval does not know that.

    Parameters
    ----------
    rule
        How lists are chosen.
    market
        The market as it is. Where it has `reports`, the gain is over what the stakeholder reports there.
    k
        Places in a list.
    stakeholder
        Who misreports.
    truthful
        What the rule shows in this market, if that is known; else it is served first.
    tries
        Misreports at most, at least 0, in the order of `accordant.slates.evaluation.misreports.plain_misreports`; each
        serves all requests once.
    resamples, seed, level
        Of the interval over users, of differences of the same requests.

    Raises
    ------
    UnknownNameError
        If there is no such stakeholder.
    InputError
        If `tries` is negative, or what is known was shown by another rule, in another market or with another k.
    """
    if stakeholder not in market.stakeholders:
        raise UnknownNameError("stakeholder", stakeholder, market.stakeholders)
    if tries < 0:
        raise InputError(f"tries is {tries}; allowed: at least 0")
    i, served = market.stakeholders.index(stakeholder), served_by(rule, market, k, truthful)
    honest, rounding = served.moment.utilities[i], max(ALIKE, served.candidates.tolerance)
    best, family = np.where(np.isnan(honest), np.nan, 0.0), ""
    ways = list(plain_misreports(k, market.catalogue.n_items).items())[:tries]
    for name, say in ways:
        misled = serve(rule, replace(market, reports=Misreporting(market, i, k, say)), k)
        gain = _gain(misled.moment.utilities[i], honest)
        if np.nansum(gain) > np.nansum(best) + rounding * len(gain):
            best, family = gain, name
    rises, known = best > rounding, int((~np.isnan(best)).sum())
    return Manipulability(
        rule.label, stakeholder, mean_gain(best, Users.of(served.users), resamples, seed, level),
        float(rises.sum() / known) if known else None, float(np.max(best[rises], initial=0.0)),
        {family: int(rises.sum())} if family else {}, len(ways), every_order=False, one_report=True, in_market=True,
    )  # fmt: skip


def served_by(rule: SlateRule, market: Market, k: int, known: Served | None) -> Served:
    """Return what a rule shows in a market: what is known of it, or all requests are served.

    Raises
    ------
    InputError
        If what is known was shown by another rule, in another market or with another k.
    """
    if known is None:
        return serve(rule, market, k)
    if known.market is not market or known.slates.k != k or known.slates.rule != rule.label:
        raise InputError(
            f"what {known.slates.rule} showed with k={known.slates.k} is not what {rule.label} shows with k={k} in "
            f"this market; allowed: the same rule, market and k"
        )
    return known


def state_matters(rule: SlateRule, served: Served) -> bool:
    """Return whether what was shown before may change what later requests find, so that misreports have consequences.

    That is so if the rule is dynamic, if full items close, or if E of some batch differs from what it would be had
    nothing been shown, or had each item been shown and visited more often, by its position in the catalogue. E is asked
    at these states alone: whoever needs certainty sends misreports through the market anyway.

    Parameters
    ----------
    rule
        How lists were chosen.
    served
        What it showed.
    """
    market, first = served.market, 0
    if depends_on_others(rule) or (market.close_when_full and np.isfinite(market.catalogue.capacity).any()):
        return True
    more = np.arange(1.0, market.catalogue.n_items + 1)
    fresh = State.start(market.catalogue.n_items, len(market.stakeholders), served.slates.k)
    for batch, state in zip(market.batches, served.states, strict=True):
        found = served.candidates.take(slice(first, first + batch.n_users)).expected.values
        first += batch.n_users
        fuller = replace(state, load=state.load + more, exposure=state.exposure + more)
        if any(
            not np.array_equal(market.expected(batch, each).values, found) for each in (fresh.on(batch.day), fuller)
        ):
            return True
    return False


def _gain(utilities: Values, honest: Values) -> Values:
    """Return differences, an empty list being worth 0; NaN where neither market shows anything."""
    shown = ~(np.isnan(utilities) & np.isnan(honest))
    return np.where(shown, np.nan_to_num(utilities) - np.nan_to_num(honest), np.nan)
