"""What one stakeholder can gain, by its true utility, if it does not tell the truth about items.

`manipulability` looks at each list by itself, at the E of the truth. Where lists load places, fill them or use up
attention, a misreport also changes E and the lists of everybody after it, and the gain may vanish or be larger:
`manipulability_in_market` serves all requests anew with the misreport and reads true utility where it arises.
`state_matters` says whether the two can differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import generator
from accordant.slates.candidates import ALIKE, Candidates, gains_of
from accordant.slates.catalogue import Requests
from accordant.slates.evaluation.board import estimates, limits
from accordant.slates.evaluation.misreports import FEW, Sight, misreports, plain_misreports, with_report
from accordant.slates.evaluation.scores import Users
from accordant.slates.market import Market, Served, serve
from accordant.slates.measures.measure import counted, ratio
from accordant.slates.rule import SlateRule
from accordant.slates.slates import State
from accordant.statistics import Estimate
from accordant.utilities import ExpectedRewards

TRUTH = "truth"
TRIES = 6  # misreports, each of which serves all requests once


@dataclass(frozen=True)
class Manipulability:
    """The best gain that was found for one stakeholder.

    Attributes
    ----------
    rule, stakeholder
        Who misreports to what.
    gain
        Mean over requests of true utility with the best misreport found minus that with the truth, at least 0, with an
        interval over users; None if every list is empty. The best is chosen on the same requests, which the interval
        does not know.
    share
        Share of requests in which this is above 0, by more than rounding.
    largest
        Largest gain of a request; 0 if there is none.
    best
        Family of misreports to the requests in which it is best; those in which the truth is are left out. With one
        misreport for all requests: those in which it gains.
    tried
        Number of misreports.
    every_order
        Whether every order of items was among them.
    one_report
        Whether the same misreport was assumed in all requests.
    in_market
        Whether misreports were sent through the market, with all that follows from them for E and for later lists. If
        not, E is what was found with the truth, list by list: where the market has a state, the gain may be larger or
        smaller than what the stakeholder would have of it there, so it is no bound.
    """

    rule: str
    stakeholder: str
    gain: Estimate
    share: float | None
    largest: float
    best: Mapping[str, int]
    tried: int
    every_order: bool
    one_report: bool
    in_market: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(vars(self)) | {"gain": limits(self.gain), "best": dict(self.best)}


def manipulability(
    rule: SlateRule,
    candidates: Candidates,
    k: int,
    stakeholder: str,
    *,
    users: Sequence[str] | None = None,
    tries: int = 20,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    state: State | None = None,
) -> Manipulability:
    """Try misreports of one stakeholder while all others tell the truth and E stays as it is.

    The misreporter knows E of all; see `accordant.slates.evaluation.misreports` for what it may say. In dynamic rules
    it says the same in all requests, in others the best in each. For these E, the gain is a lower bound of what the
    stakeholder could gain. Where E depends on what was shown before, it is not: use `manipulability_in_market`.

    Parameters
    ----------
    rule
        How lists are chosen.
    candidates
        The truth, of all requests at once.
    k
        Places in a list.
    stakeholder
        Who misreports.
    users
        Who asks, for the interval; None if every request is another user's.
    tries
        Swaps that are drawn, at least 0.
    resamples, seed, level
        Of the interval; the seed is also that of the swaps.
    state
        What happened before.

    Raises
    ------
    UnknownNameError
        If there is no such stakeholder.
    InputError
        If users do not fit.
    """
    if stakeholder not in candidates.stakeholders:
        raise UnknownNameError("stakeholder", stakeholder, candidates.stakeholders)
    names = tuple(map(str, range(candidates.n_users))) if users is None else tuple(users)
    if len(names) != candidates.n_users:
        raise InputError(f"there are {len(names)} users; allowed: {candidates.n_users}, one per request")
    i = candidates.stakeholders.index(stakeholder)
    truthful = gains_of(rule(candidates, k, state=state), candidates).utilities[i]
    one_report, rounding = depends_on_others(rule), max(ALIKE, candidates.tolerance)
    best, families, tried = np.where(np.isnan(truthful), np.nan, 0.0), np.full(len(names), TRUTH, dtype=object), 0
    known = int((~np.isnan(best)).sum())
    for report in misreports(candidates, i, k, tries, seed):
        slates = rule(candidates.but(expected=with_report(candidates.expected, i, report.values)), k, state=state)
        gain = np.where(np.isnan(truthful), np.nan, gains_of(slates, candidates).utilities[i] - truthful)
        gain = np.where(np.isnan(gain) & ~np.isnan(truthful), -truthful, gain)  # an empty list gives nothing
        if one_report:
            better = np.full(len(names), np.nansum(gain - best) > rounding * known)
        else:
            better = gain > np.nan_to_num(best) + rounding
        best, families = np.where(better, gain, best), np.where(better, report.family, families)
        tried += 1
    rises = best > rounding
    return Manipulability(
        rule.label, stakeholder, mean_gain(best, Users.of(names), resamples, seed, level),
        float(rises.sum() / known) if known else None, float(np.max(best[rises], initial=0.0)),
        {str(name): int((families[rises] == name).sum()) for name in sorted(set(families[rises]))},
        tried, len(candidates.items) <= FEW, one_report, in_market=False,
    )  # fmt: skip


def depends_on_others(rule: SlateRule) -> bool:
    """Return whether one list depends on others of the batch: dynamic rules, also those that another rule repairs."""
    inner = getattr(rule, "inner", rule)
    return any(layer.kind == "dynamic" for layer in (rule, inner))


def mean_gain(values: Values, users: Users, resamples: int, seed: int, level: float) -> Estimate:
    """Return the mean over requests with its interval over users."""
    columns = counted(values)
    totals = users.sums(columns)
    blocks = list(users.weights(resamples, generator(seed, "resamples"))) if users.n else []
    sums = np.concatenate([np.zeros((0, 2)), *(weights @ totals for weights in blocks)])
    point = ratio(*columns.sum(axis=1)[:, None])
    return estimates(point, ratio(sums[:, :1], sums[:, 1:]), level)[0]


@dataclass(frozen=True, eq=False)
class Misreporting:
    """`Reports` of a market in which one stakeholder misreports in the same way in every request, by what it sees.

    What others report stays as it is in the market.
    """

    market: Market
    stakeholder: int
    k: int
    report: Callable[[Sight], Values]

    def __call__(self, requests: Requests, state: State, expected: ExpectedRewards) -> ExpectedRewards:
        """Return E of a batch as it is reported; the misreporter sees its own E and the reports of others."""
        others = expected if self.market.reports is None else self.market.reports(requests, state, expected)
        seen = with_report(others, self.stakeholder, expected.values[self.stakeholder])
        offered = replace(self.market, expected=lambda *_: seen, reports=None).candidates(requests, state)
        return with_report(others, self.stakeholder, self.report(Sight.of(offered, self.stakeholder, self.k)))


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
    for name, report in ways:
        misled = serve(rule, replace(market, reports=Misreporting(market, i, k, report)), k)
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

    Raises `InputError` if what is known was shown by another rule, in another market or with another k.
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
    """
    market, first = served.market, 0
    if depends_on_others(rule) or (market.close_when_full and np.isfinite(market.catalogue.capacity).any()):
        return True
    more = np.arange(1.0, market.catalogue.n_items + 1)
    fresh = State.start(market.catalogue.n_items, len(market.stakeholders), served.slates.k)
    for batch, state in zip(market.batches, served.states, strict=True):
        expected = served.candidates.take(slice(first, first + batch.n_users)).expected.values
        first += batch.n_users
        fuller = replace(state, load=state.load + more, exposure=state.exposure + more)
        if any(
            not np.array_equal(market.expected(batch, past).values, expected) for past in (fresh.on(batch.day), fuller)
        ):
            return True
    return False


def _gain(utilities: Values, honest: Values) -> Values:
    """Return differences, an empty list being worth 0; NaN where neither market shows anything."""
    shown = ~(np.isnan(utilities) & np.isnan(honest))
    return np.where(shown, np.nan_to_num(utilities) - np.nan_to_num(honest), np.nan)
