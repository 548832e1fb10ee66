"""The fidelity gate: whether an agent ranks items as the stakeholder that it speaks for declared.

    τ_b         (C − D) / √((P − X)(P − Y))                                       (Kendall 1945)
                over pairs of items that may be shown: C agree, D disagree, of P pairs X are tied in the declared
                utilities and Y in the ranking
    attainable  τ_b of the declared order itself, cut to the same groups as the ranking: who names 5 of 88 items in
                exactly the declared order has τ_b = .33, and can have no more                           [ours]
    share       τ_b / attainable, at most 1: what the gate compares with its threshold                   [ours]

Items that a ranking leaves out are below all others and tied; items with equal scores are tied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import SlateRule
from accordant.slates.slates import Slates, State, join_slates
from accordant.utilities import ExpectedRewards
from accordant.voting.ballots import Ranking

Ballots = Mapping[str, Sequence[Ranking | None]]
"""Stakeholder to one ranking for each user; None where there is none."""

Instead = Literal["silence", "declared"]

THRESHOLD = 0.5  # three of four pairs in the declared order: half-way between chance and certainty [ours]
ROUNDING = 1e-9  # a share that is short of the threshold by less reaches it

NOTHING_DECLARED = "the declared utilities are all equal: there is nothing to contradict"
NO_RANKING = "there is no ranking, or it tells no items apart"


@dataclass(frozen=True, eq=False)
class Fidelity:
    """How faithfully the rankings of one agent follow the declared utilities, user by user.

    Attributes
    ----------
    tau
        τ_b in [−1, 1], shape (user,); NaN where utilities or ranking are constant.
    attainable
        The largest τ_b that a ranking with the same groups of ties can have, in (0, 1]; NaN as `tau`.
    threshold
        In [−1, 1].
    passed
        Whether `share` is at least the threshold, shape (user,). Constant utilities pass; no ranking does not.
    notes
        Why a user has no τ; empty where there is one.
    """

    stakeholder: str
    tau: Values
    attainable: Values
    threshold: float
    passed: Mask
    notes: tuple[str, ...]

    @property
    def share(self) -> Values:
        """τ_b over the attainable one, at most 1, shape (user,)."""
        return np.minimum(1.0, self.tau / self.attainable)

    @property
    def mean(self) -> float:
        """Mean τ_b over users who have one; NaN if nobody has."""
        return _mean(self.tau)

    @property
    def mean_share(self) -> float:
        """Mean share over users who have one; NaN if nobody has."""
        return _mean(self.share)


def fidelity(
    rankings: Sequence[Ranking | None], candidates: Candidates, stakeholder: str, threshold: float = THRESHOLD
) -> Fidelity:
    """Return how faithfully rankings follow the declared utilities of a stakeholder.

    Parameters
    ----------
    rankings
        One for each user; None where there is none. Items that may not be shown to the user are passed over.
    candidates
        The declared utilities.
    stakeholder
        For whom the rankings speak.
    threshold
        In [−1, 1].

    Raises
    ------
    InputError
        If there are not as many rankings as users, an item or the stakeholder is unknown, or the threshold is outside.
    """
    if not -1 <= threshold <= 1:
        raise InputError(f"threshold is {threshold}; allowed: a number in [-1, 1]")
    declared, positions = candidates.values[_row(candidates, stakeholder)], _positions(candidates)
    n_users = _checked(rankings, candidates, stakeholder)
    tau, attainable = np.full(n_users, np.nan), np.full(n_users, np.nan)
    passed, notes = np.zeros(n_users, dtype=bool), []
    for user, ranking in enumerate(rankings):
        shown = candidates.available[:, user]
        wanted = _levels(declared[shown, user], candidates.tolerance)
        if len(np.unique(wanted)) < 2:
            passed[user] = ranking is not None
            notes.append(NO_RANKING if ranking is None else NOTHING_DECLARED)
            continue
        said = np.zeros(len(wanted)) if ranking is None else _heights(ranking, positions)[shown]
        if len(np.unique(said)) < 2:
            notes.append(NO_RANKING)
            continue
        tau[user], attainable[user] = _tau(wanted, said), _tau(np.sort(wanted), np.sort(said))
        passed[user] = tau[user] / attainable[user] >= threshold - ROUNDING
        notes.append("")
    return Fidelity(stakeholder, tau, attainable, threshold, passed, tuple(notes))


def ranked_candidates(candidates: Candidates, ballots: Ballots) -> Candidates:
    """Return candidates in which rankings stand in place of declared utilities, for every slate rule to aggregate.

    An item has the score that the ranking gives. Where it gives none, it has Borda points over those of the first
    place: with m items that may be shown, place r from 0 has (m − 1 − r) / (m − 1). Items that are left out have 0.

    Parameters
    ----------
    candidates
        Declared utilities; they stay for stakeholders without ballots, and for users for whom a ballot is None.
    ballots
        Stakeholder to one ranking for each user.

    Raises
    ------
    InputError
        If there are not as many rankings as users, a name is unknown, or a score is outside [0, 1].
    """
    values, positions = candidates.values.copy(), _positions(candidates)
    for stakeholder, rankings in ballots.items():
        row = values[_row(candidates, stakeholder)]
        _checked(rankings, candidates, stakeholder)
        for user, ranking in enumerate(rankings):
            if ranking is not None:
                row[:, user] = _points(ranking, positions, candidates.available[:, user])
    expected = ExpectedRewards(values, stakeholders=candidates.stakeholders, actions=candidates.items)
    return candidates.but(expected=expected)


@dataclass(frozen=True, eq=False)
class Gated:
    """What the gate lets through.

    Attributes
    ----------
    candidates
        Ballots in place of declared utilities where they passed. Gains of slates are measured with the declared ones.
    fidelity
        Stakeholder to fidelity, for all who sent ballots.
    muted
        Who has no say for whom, shape (stakeholder, user).
    all_muted
        Whether everybody with weight was silenced for a user, shape (user,): there the declared utilities of all
        count, since somebody must.
    """

    candidates: Candidates
    fidelity: Mapping[str, Fidelity]
    muted: Mask
    all_muted: Mask

    @property
    def gated(self) -> Mask:
        """Whether a ballot did not pass, and was not used, shape (user,)."""
        gated = np.zeros(self.candidates.n_users, dtype=bool)
        for check in self.fidelity.values():
            gated |= ~check.passed
        return gated

    def slates(self, rule: SlateRule, k: int, *, state: State | None = None, threads: int | None = None) -> Slates:
        """Return the slates of a rule in which those who are muted for a user have weight 0 for that user.

        The flag ``gated`` marks users for whom a ballot was not used.
        """
        if not self.candidates.n_users:
            return rule(self.candidates, k, state=state, threads=threads)
        patterns, which = np.unique(self.muted, axis=1, return_inverse=True)
        parts, users = [], []
        for pattern, muted in enumerate(patterns.T):
            chosen = np.flatnonzero(which.reshape(-1) == pattern)
            part = self.candidates.take(chosen)
            without_muted = part.but(weights=np.where(muted, 0.0, part.weights))
            parts.append(rule(without_muted, k, state=state, threads=threads))
            users.append(chosen)
        slates = join_slates(parts).take(np.argsort(np.concatenate(users)))
        return replace(slates, flags={**slates.flags, "gated": self.gated})


def gate(candidates: Candidates, ballots: Ballots, threshold: float = THRESHOLD, instead: Instead = "silence") -> Gated:
    """Return candidates with the ballots that are faithful enough, and who is muted because a ballot is not.

    Parameters
    ----------
    candidates
        Declared utilities.
    ballots
        Stakeholder to one ranking for each user. Who sends none keeps the declared utilities.
    threshold
        Of `fidelity`.
    instead
        What becomes of a ballot that does not pass. ``silence``: the stakeholder has no say for that user, for an
        unfaithful agent is no reason to pretend that it said something else. ``declared``: the declared utilities are
        used.

    Raises
    ------
    InputError
        See `fidelity` and `ranked_candidates`; or if `instead` is neither.
    """
    if instead not in get_args(Instead):
        raise UnknownNameError("instead", instead, get_args(Instead))
    checks = {name: fidelity(rankings, candidates, name, threshold) for name, rankings in ballots.items()}
    kept = {
        name: [ranking if passed else None for ranking, passed in zip(rankings, checks[name].passed, strict=True)]
        for name, rankings in ballots.items()
    }
    muted = np.zeros((len(candidates.stakeholders), candidates.n_users), dtype=bool)
    if instead == "silence":
        for name, check in checks.items():
            muted[_row(candidates, name)] = ~check.passed
    all_muted = np.asarray(muted[candidates.weights > 0].all(axis=0))
    muted[:, all_muted] = False
    return Gated(ranked_candidates(candidates, kept), checks, muted, all_muted)


def _mean(values: Values) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _tau(one: Values, other: Values) -> float:
    from scipy.stats import kendalltau

    method = "exact" if len(one) == 2 else "asymptotic"  # of the p-value, which nobody reads: the quickest that exists
    return float(kendalltau(one, other, variant="b", method=method).statistic)


def _row(candidates: Candidates, stakeholder: str) -> int:
    if stakeholder not in candidates.stakeholders:
        raise UnknownNameError("stakeholder", stakeholder, candidates.stakeholders)
    return candidates.stakeholders.index(stakeholder)


def _positions(candidates: Candidates) -> dict[str, int]:
    return {name: position for position, name in enumerate(candidates.items)}


def _checked(rankings: Sequence[Ranking | None], candidates: Candidates, stakeholder: str) -> int:
    """Return the number of users, if every ranking names items that exist."""
    if len(rankings) != candidates.n_users:
        raise InputError(f"{stakeholder!r} has {len(rankings)} rankings; allowed: {candidates.n_users}, one per user")
    known = set(candidates.items)
    for ranking in rankings:
        for item in () if ranking is None else ranking.order:
            if item not in known:
                raise UnknownNameError(f"item ranked for {stakeholder!r}:", item, candidates.items)
    return candidates.n_users


def _levels(values: Values, tolerance: float) -> Values:
    """Return the rank of each value from below; neighbours that are within the tolerance share one."""
    order = np.argsort(values, kind="stable")
    levels = np.empty(len(values))
    levels[order] = np.cumsum(np.append(0.0, np.diff(values[order]) > tolerance))[: len(values)]
    return levels


def _heights(ranking: Ranking, positions: Mapping[str, int]) -> Values:
    """Return 0 for items that are left out, and more for better ones; equal scores are equally high, shape (item,)."""
    heights = np.zeros(len(positions))
    ordered = np.arange(len(ranking.order), 0, -1, dtype=np.float64)
    if ranking.scores:
        falls = np.append(False, np.diff(ranking.scores) < 0)
        ordered = len(ranking.order) - np.cumsum(falls)
    heights[[positions[item] for item in ranking.order]] = ordered
    return heights


def _points(ranking: Ranking, positions: Mapping[str, int], shown: Mask) -> Values:
    """Return what a ranking gives to each item, in [0, 1], shape (item,); 0 where it says nothing."""
    points = np.zeros(len(positions))
    at = np.array([positions[item] for item in ranking.order], dtype=np.intp)
    if ranking.scores:
        scores = np.array(ranking.scores)
        if not ((scores >= 0) & (scores <= 1)).all():
            raise InputError(f"{ranking.voter!r} gives scores up to {scores[0]}; allowed: scores in [0, 1], or none")
        points[at] = scores
        return np.where(shown, points, 0.0)
    at, m = at[shown[at]], int(shown.sum())
    points[at] = np.arange(m - 1, m - 1 - len(at), -1) / (m - 1) if m > 1 else 1.0
    return points
