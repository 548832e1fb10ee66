"""`manipulability`: what one stakeholder can gain, by its true utility, if it does not tell the truth about items.

E stays as it is given, list by list. Where lists change what later requests find, a misreport also changes E and the
lists of everybody after it, which is not counted here: see `accordant.slates.evaluation.market_manipulation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import generator
from accordant.slates.candidates import Candidates
from accordant.slates.evaluation.board import estimates, limits
from accordant.slates.evaluation.misreports import FEW, misreports, with_report
from accordant.slates.evaluation.resampling import Users
from accordant.slates.gains import ALIKE, gains_of
from accordant.slates.measures.measure import counted, ratio
from accordant.slates.rule import SlateRule
from accordant.slates.state import State
from accordant.statistics import Estimate

TRUTH = "truth"


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
    return any(each.kind == "dynamic" for each in (rule, inner))


def mean_gain(values: Values, users: Users, resamples: int, seed: int, level: float) -> Estimate:
    """Return the mean over requests with its interval over users."""
    columns = counted(values)
    totals = users.sums(columns)
    blocks = list(users.weights(resamples, generator(seed, "resamples"))) if users.n else []
    sums = np.concatenate([np.zeros((0, 2)), *(weights @ totals for weights in blocks)])
    point = ratio(*columns.sum(axis=1)[:, None])
    return estimates(point, ratio(sums[:, :1], sums[:, 1:]), level)[0]
