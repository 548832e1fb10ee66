"""`ProxyReports`: what rankers said for stakeholders, how faithful that was, and what it counted as."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.catalogue import Requests
from accordant.slates.fidelity import Instead
from accordant.slates.market import Market
from accordant.slates.rankers import Ranker
from accordant.slates.slates import State
from accordant.tables.text import csv_text
from accordant.utilities import ExpectedRewards
from accordant.voting.ballots import Ranking

CountsAs = Literal["ballot", "silence", "declared"]


@dataclass(frozen=True)
class ProxyBallot:
    """One ranking, for one stakeholder and one request.

    Attributes
    ----------
    stakeholder, request
        For whom, and which, named as in the data.
    tau
        Kendall's τ_b with the declared utilities, in [−1, 1]; None where there is none.
    share
        τ_b over the largest that a ranking with the same ties can have, at most 1; None where there is none.
    passed
        Whether the share is at least the threshold.
    counts_as
        ``ballot`` if it passed. If not: ``silence``, the stakeholder has no say for this request; or ``declared``, its
        declared utilities count, because that was asked for, or nobody else was left to have a say.
    note
        Why there is no τ; empty where there is one.
    """

    stakeholder: str
    request: str
    ranking: Ranking
    tau: float | None
    share: float | None
    passed: bool
    counts_as: CountsAs
    note: str

    def to_json(self) -> dict[str, Any]:
        """Return everything but the order, which stands in the file of rankings."""
        return {
            "stakeholder": self.stakeholder,
            "request": self.request,
            "ranked": len(self.ranking.order),
            "generated_by": self.ranking.generated_by,
            "fallback": self.ranking.fallback,
            "tau": self.tau,
            "share": self.share,
            "passed": self.passed,
            "counts_as": self.counts_as,
            "note": self.note,
        }


@dataclass(frozen=True)
class ProxySummary:
    """What was said for one stakeholder, over all requests for which its ranker was asked.

    `ranker` is what a record says of it. Of these requests it said nothing for `empty`; rankings that `passed` count,
    and those that are `silenced` leave the stakeholder without a say. `fallbacks` are rankings of a rule in place of a
    language model; `mean_tau` and `mean_share` are over requests that have one, None if none has. `usage` is empty for
    rules.
    """

    stakeholder: str
    ranker: Mapping[str, Any]
    asked: int
    empty: int
    passed: int
    silenced: int
    fallbacks: int
    mean_tau: float | None
    mean_share: float | None
    usage: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "ranker": dict(self.ranker), "usage": dict(self.usage)}


@dataclass(frozen=True, eq=False)
class ProxyReports:
    """A market in which rankers speak, and what they have said in it so far.

    Rankings are made while the market is served: before that, there are none.

    Attributes
    ----------
    rankers
        Stakeholder to who speaks for it.
    threshold, instead
        Of the gate: what has to be reached, and what becomes of a ranking that does not.
    collect
        Returns the ballots so far.
    """

    market: Market
    rankers: Mapping[str, Ranker]
    threshold: float
    instead: Instead
    collect: Callable[[], tuple[ProxyBallot, ...]]

    @property
    def ballots(self) -> tuple[ProxyBallot, ...]:
        """All ballots so far, in the order in which they were made."""
        return self.collect()

    @property
    def summaries(self) -> tuple[ProxySummary, ...]:
        """What was said for each stakeholder."""
        every = self.ballots
        return tuple(
            _summary(name, ranker, [ballot for ballot in every if ballot.stakeholder == name])
            for name, ranker in self.rankers.items()
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that a reader must see, the worst first."""
        summaries = self.summaries
        return (
            *_fallback_warnings(summaries),
            *(warning for one in summaries for warning in _warnings_of(one, self.threshold)),
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "threshold": self.threshold,
            "instead": self.instead,
            "voices": [summary.to_json() for summary in self.summaries],
            "ballots": [ballot.to_json() for ballot in self.ballots],
            "warnings": list(self.warnings),
        }

    def rankings_csv(self) -> str:
        """Return all rankings as a file that `RecordedRanker` reads."""
        return csv_text(("stakeholder", "request", "place", "item", "score", "reason"), self._places())

    def _places(self) -> Iterator[tuple[object, ...]]:
        """Yield stakeholder, request, place, item, score and reason."""
        for ballot in self.ballots:
            ranking = ballot.ranking
            scores = ranking.scores or ("",) * len(ranking.order)
            reasons = ranking.reasons or ("",) * len(ranking.order)
            for place, (item, score, reason) in enumerate(zip(ranking.order, scores, reasons, strict=True), 1):
                yield ballot.stakeholder, ballot.request, place, item, score, reason


def _summary(stakeholder: str, ranker: Ranker, ballots: list[ProxyBallot]) -> ProxySummary:
    return ProxySummary(
        stakeholder,
        ranker.to_json(),
        len(ballots),
        sum(not ballot.ranking.order for ballot in ballots),
        sum(ballot.passed for ballot in ballots),
        sum(ballot.counts_as == "silence" for ballot in ballots),
        sum(ballot.ranking.fallback for ballot in ballots),
        _mean([ballot.tau for ballot in ballots]),
        _mean([ballot.share for ballot in ballots]),
        ranker.usage(),
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _fallback_warnings(summaries: tuple[ProxySummary, ...]) -> list[str]:
    """Return how often a rule stood in for a language model, or nothing."""
    models = [summary for summary in summaries if summary.ranker["kind"] == "language model"]
    asked, stood_in = sum(model.asked for model in models), sum(model.fallbacks for model in models)
    if 0 < asked == stood_in:
        return [f"NO RANKING CAME FROM THE LANGUAGE MODEL: a rule stood in for all of its {asked} rankings"]
    return [f"in {stood_in} of {asked} rankings a rule stood in for a language model"] if stood_in else []


def _warnings_of(voice: ProxySummary, threshold: float) -> list[str]:
    """Return what must be known of one voice."""
    who, warnings = f"{voice.ranker['name']}, who speaks for {voice.stakeholder},", []
    if voice.ranker["kind"] == "fixture":
        warnings.append(f"{who} is a fixture: it tries the gate and speaks for nobody")
    if voice.empty:
        warnings.append(f"{who} ranks nothing for {voice.empty} of {voice.asked} requests")
    failed = voice.asked - voice.passed
    if failed:
        silenced = (
            f"has no say for {voice.silenced} of them" if voice.silenced else "is heard by its declared utilities"
        )
        warnings.append(
            f"{who} fails the gate for {failed} of {voice.asked} requests: there the ranking reaches less than "
            f"{threshold:g} of the attainable agreement with the declared utilities, or is missing; "
            f"{voice.stakeholder} {silenced}"
        )
    return warnings


@dataclass(frozen=True, eq=False)
class PartlyMutedCandidates(Candidates):
    """Candidates of users for some of whom some stakeholders are muted, shape (stakeholder, user).

    Rules take users in blocks. Here every block holds users for whom the same stakeholders are muted; these have
    weight 0 in it, as if they were absent. Users stay in order, so that rules which look back see the same past. Raises
    `InputError` if the shape is another, or nobody has a say for a user.
    """

    muted: Mask

    def __init__(self, candidates: Candidates, muted: Mask) -> None:
        given = candidates
        super().__init__(given.expected, given.available, given.weights, given.categories, given.user)
        if muted.shape != (len(given.stakeholders), given.n_users):
            raise InputError(f"muted has shape {muted.shape}; allowed: (stakeholder, user)")
        if muted[given.weights > 0].all(axis=0).any():
            raise InputError("everybody with weight is muted for a user; somebody must have a say")
        object.__setattr__(self, "muted", muted)

    def take(self, users: slice | NDArray[np.intp]) -> Candidates:
        """Return the candidates of some users; plain ones where the same stakeholders are muted for all of them."""
        part = super().but(expected=self.expected.take(users), available=self.available[:, users])
        return without_muted(part, self.muted[:, users])

    def but(
        self,
        *,
        expected: ExpectedRewards | None = None,
        available: Mask | None = None,
        weights: Values | None = None,
    ) -> Candidates:
        """Return the candidates with another E, availability, or weights of those who are not muted."""
        return PartlyMutedCandidates(super().but(expected=expected, available=available, weights=weights), self.muted)

    def slices(self) -> list[slice]:
        """Return users in blocks of neighbours for whom the same stakeholders are muted."""
        changes = np.flatnonzero((self.muted[:, 1:] != self.muted[:, :-1]).any(axis=0)) + 1
        slices = []
        for block in super().slices():
            edges = [block.start, *(int(c) for c in changes if block.start < c < block.stop), block.stop]
            slices += [slice(start, stop) for start, stop in pairwise(edges)]
        return slices


def without_muted(candidates: Candidates, muted: Mask) -> Candidates:
    """Return candidates in which some stakeholders are muted, shape (stakeholder, user)."""
    if not candidates.n_users or not muted.any():
        return _plain(candidates)
    if (muted == muted[:, :1]).all():
        return _plain(candidates, np.where(muted[:, 0], 0.0, candidates.weights))
    return PartlyMutedCandidates(candidates, muted)


def _plain(given: Candidates, weights: Values | None = None) -> Candidates:
    return Candidates(
        given.expected, given.available, given.weights if weights is None else weights, given.categories, given.user
    )


class Reporters(Protocol):
    """Reports of stakeholders, and who among them is muted."""

    def __call__(self, requests: Requests, state: State, expected: ExpectedRewards) -> ExpectedRewards:
        """Return what stakeholders say E is."""
        ...

    def muted(self, requests: Requests, state: State) -> Mask:
        """Return who has no say for which request, shape (stakeholder, request)."""
        ...


@dataclass(frozen=True, eq=False)
class ProxyMarket(Market):
    """A market in which agents speak for stakeholders, and are muted where they are not faithful."""

    reporters: Reporters = field(kw_only=True)

    def reported(self, requests: Requests, state: State, candidates: Candidates) -> Candidates:
        """Return the candidates as stakeholders report them, with those muted who have no say."""
        return without_muted(super().reported(requests, state, candidates), self.reporters.muted(requests, state))


def proxy_market(market: Market, reporters: Reporters) -> ProxyMarket:
    """Return the market in which proxies report."""
    same = {field.name: getattr(market, field.name) for field in fields(market)}
    return ProxyMarket(**{**same, "reports": reporters}, reporters=reporters)
