"""`proxy_reports`: rankers speak for stakeholders of a market, behind a gate that asks how faithful they are.

Every request is asked once for each stakeholder that is spoken for, while the market is served for the first time, and
what was said is kept for all rules that serve it later. So there are at most requests × speakers rankings for lists of
one length. What is seen must then not depend on the rule: agents see scores as they are before anything was shown, and
their fidelity is judged by the utilities that they saw [ours].

    report   E now + (what the ranking says − E then), within [0, 1]                                     [ours]

What changed since then, such as how full a place is today, is added as it was declared: an agent is not asked about it,
and its stakeholder goes on noticing it. Where nothing changes, the report is what the ranking says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError, InvalidMoveError, UnknownNameError
from accordant.json_values import finite
from accordant.randomness import keyed_seed, keyed_uniform
from accordant.slates.candidates import Candidates
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.fidelity import THRESHOLD, Gated, Instead, gate
from accordant.slates.market import Market
from accordant.slates.objectives import SlateStakeholder
from accordant.slates.objectives.travel import ways
from accordant.slates.proxies.reports import CountsAs, ProxyBallot, ProxyReports, proxy_market
from accordant.slates.rankers import Aim, Ranker, RankingView, SeenItem, SpeaksFor
from accordant.slates.slates import State
from accordant.utilities import ExpectedRewards
from accordant.voting.ballots import Ranking

REWARD = "expected_reward"  # the only aim of a stakeholder of whom nothing but E is known


@dataclass(frozen=True, eq=False)
class Shown:
    """What one stakeholder's ranker may see of some requests, of which only facts are shown.

    `available` and `distances`, kilometres or NaN, are of shape (item, request); `scores` of each aim, 1 is best, of
    shape (aim, item, request).
    """

    catalogue: Catalogue
    requests: Requests
    available: NDArray[np.bool_]
    distances: Values
    party: SpeaksFor
    scores: Values

    def view(self, position: int, voter: str, name: str, number: int, k: int, seed: int) -> RankingView:
        """Return the view of the request at a position, under a name.

        `number` is that of the request in the whole market: all that draws depend on beside the seed and the
        stakeholder.
        """
        requests = self.requests
        drawn = keyed_seed(seed, f"{self.party.name}:{number}")
        shown = np.flatnonzero(self.available[:, position])
        uniform = keyed_uniform(drawn, (self.catalogue.items[c] for c in shown))
        moment = {
            "day": float(requests.day),
            "latitude": finite(requests.latitude[position]),
            "longitude": finite(requests.longitude[position]),
        }
        items = tuple(self._item(int(c), position) for c in shown[np.argsort(uniform, kind="stable")])
        return RankingView(voter, self.party, name, moment, items, k, drawn)

    def _item(self, c: int, position: int) -> SeenItem:
        catalogue = self.catalogue
        return SeenItem(
            catalogue.items[c],
            {
                "category": catalogue.category[c],
                "popularity": finite(catalogue.popularity[c]),
                "price": finite(catalogue.price[c]),
                "distance_km": finite(self.distances[c, position]),
            },
            {aim.name: float(score) for aim, score in zip(self.party.aims, self.scores[:, c, position], strict=True)},
        )


def shown_to(
    stakeholder: str, declared: SlateStakeholder | None, catalogue: Catalogue, requests: Requests, state: State,
    candidates: Candidates,
) -> Shown:  # fmt: skip
    """Return what the ranker of one stakeholder may see of requests at a state, and of E at the same state.

    `declared` holds its objectives; None if nothing but E is known of it, which then is its only aim.
    """
    if declared is None:
        meaning = "as much as can be expected"
        aims: Sequence[Aim] = [
            Aim(REWARD, "what is expected of an item", "max", 1.0, meaning, "no objective is stated")
        ]
        scores = candidates.values[[candidates.stakeholders.index(stakeholder)]]
        party = SpeaksFor(stakeholder, "", tuple(aims))
    else:
        party = SpeaksFor(stakeholder, declared.role, _aims(declared))
        scores = np.stack([objective.scores(catalogue, requests, state) for objective in declared.objectives])
    return Shown(catalogue, requests, candidates.available, ways(catalogue, requests), party, np.clip(scores, 0.0, 1.0))


def _aims(declared: SlateStakeholder) -> tuple[Aim, ...]:
    """Return the objectives of a stakeholder; one whose metric came before gets a number."""
    total = sum(objective.weight for objective in declared.objectives)
    aims: list[Aim] = []
    for value in declared.values:
        for objective in value.objectives:
            before = sum(aim.name.partition(" ")[0] == objective.metric for aim in aims)
            name = f"{objective.metric} {before + 1}" if before else objective.metric
            about = objective.objective.about
            aims.append(Aim(name, value.value, objective.direction, objective.weight / total, about, objective.because))
    return tuple(aims)


def proxy_reports(
    market: Market,
    rankers: Mapping[str, Ranker],
    *,
    declared: Sequence[SlateStakeholder] = (),
    threshold: float = THRESHOLD,
    instead: Instead = "silence",
    seed: int = 0,
) -> ProxyReports:
    """Return a market in which rankers speak for some stakeholders; rules read what they say, measures do not.

    Parameters
    ----------
    market
        Whoever is served; nobody speaks in it yet.
    rankers
        Stakeholder to who speaks for it, at least one; all others report their declared utilities.
    declared
        Stakeholders with their objectives, as the market's E was made of them. A ranker sees those of its own. Of a
        stakeholder that is not among them it sees the expected rewards.
    threshold
        Of the gate, see `accordant.slates.fidelity`.
    instead
        What becomes of a ranking that stays below it: ``silence``, the stakeholder has no say for that request, or
        ``declared``, its declared utilities count.
    seed
        Of the order in which items are shown, and of everything that rankers draw.

    Raises
    ------
    InputError
        If nobody speaks, somebody speaks already, names of requests repeat, the threshold is outside [−1, 1], or a
        ranker names requests or items that do not exist.
    UnknownNameError
        If there is no such stakeholder, or `instead` is neither.
    """
    if not rankers:
        raise InputError("nobody speaks; allowed: at least one ranker")
    if market.reports is not None:
        raise InputError("somebody speaks in this market already; give all rankers at once")
    if not -1 <= threshold <= 1:
        raise InputError(f"threshold is {threshold}; allowed: a number in [-1, 1]")
    if instead not in get_args(Instead):
        raise UnknownNameError("instead", instead, get_args(Instead))
    for name in rankers:
        if name not in market.stakeholders:
            raise UnknownNameError("stakeholder to speak for:", name, market.stakeholders)
    ids = market.ids
    if len(set(ids)) < len(ids):
        raise InputError("names of requests repeat in the market; allowed: different names")
    for ranker in rankers.values():
        ranker.check(ids, market.catalogue.items)
    known = {stakeholder.name: stakeholder for stakeholder in declared}
    reporters = RankerReports(
        market, dict(rankers), {name: known.get(name) for name in rankers}, threshold, instead, seed,
        {request: number for number, request in enumerate(ids, 1)},
    )  # fmt: skip
    return ProxyReports(proxy_market(market, reporters), dict(rankers), threshold, instead, reporters.ballots)


@dataclass(frozen=True, eq=False)
class RequestReports:
    """What was said for one request: a ballot for each stakeholder that is spoken for.

    `moved` is what rankings say less what was declared, shape (speaker, item), 0 for items that were not seen; `passed`
    which of them are used, shape (speaker,); `muted` who has no say, shape (stakeholder,).
    """

    ballots: tuple[ProxyBallot, ...]
    moved: Values
    passed: Mask
    muted: Mask


class RankerReports:
    """Asks rankers for what was not asked yet, and keeps what they said; the reports of a market without proxies."""

    def __init__(
        self,
        market: Market,
        rankers: Mapping[str, Ranker],
        declared: Mapping[str, SlateStakeholder | None],
        threshold: float,
        instead: Instead,
        seed: int,
        numbers: Mapping[str, int],
    ) -> None:
        self.market, self.rankers, self.declared = market, rankers, declared
        self.threshold, self.instead, self.seed, self.numbers = threshold, instead, seed, numbers
        self._said: dict[tuple[str, int], RequestReports] = {}

    def __call__(self, requests: Requests, state: State, expected: ExpectedRewards) -> ExpectedRewards:
        """Return E as rankers report it in the rows of those for whom they speak, where what they say passed."""
        values = np.array(expected.values, dtype=np.float64)
        rows = [expected.stakeholders.index(name) for name in self.rankers]
        for user, said in enumerate(self._of(requests, state)):
            for row, passed, moved in zip(rows, said.passed, said.moved, strict=True):
                if passed:
                    values[row, :, user] = np.clip(values[row, :, user] + moved, 0.0, 1.0)
        return ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions)

    def muted(self, requests: Requests, state: State) -> Mask:
        """Return who has no say for which request, shape (stakeholder, request)."""
        said = [report.muted for report in self._of(requests, state)]
        return np.array(said, dtype=bool).reshape(len(said), len(self.market.stakeholders)).T

    def ballots(self) -> tuple[ProxyBallot, ...]:
        """Return all ballots so far."""
        return tuple(ballot for said in self._said.values() for ballot in said.ballots)

    def _of(self, requests: Requests, state: State) -> list[RequestReports]:
        """Return what was said for each request; who was not asked yet is asked now."""
        k = int(state.slates.shape[1])
        new = np.array([u for u, request in enumerate(requests.ids) if (request, k) not in self._said], dtype=np.intp)
        if len(new):
            self._ask(requests.take(new), k)
        return [self._said[request, k] for request in requests.ids]

    def _ask(self, requests: Requests, k: int) -> None:
        """Ask all rankers about some requests, as if nothing had been shown before."""
        market = self.market
        start = State.start(market.catalogue.n_items, len(market.stakeholders), k).on(requests.day)
        candidates = market.candidates(requests, start)
        shown = {
            name: shown_to(name, self.declared[name], market.catalogue, requests, start, candidates)
            for name in self.rankers
        }
        rankings: dict[str, list[Ranking | None]] = {name: [] for name in self.rankers}
        for user, request in enumerate(requests.ids):
            if request not in self.numbers:
                raise InputError(f"request {request!r} is not of the market in which rankers speak")
            for name, ranker in self.rankers.items():
                known_as = request if ranker.reads_requests else f"request {self.numbers[request]}"
                view = shown[name].view(user, ranker.name, known_as, self.numbers[request], k, self.seed)
                rankings[name].append(_ranking(name, request, ranker, view))
        gated = gate(candidates, rankings, self.threshold, self.instead)
        rows = [market.stakeholders.index(name) for name in self.rankers]
        moved = np.where(candidates.available, gated.candidates.values[rows] - candidates.values[rows], 0.0)
        self._keep(requests, k, rankings, gated, moved)

    def _keep(
        self,
        requests: Requests,
        k: int,
        rankings: Mapping[str, Sequence[Ranking | None]],
        gated: Gated,
        moved: Values,
    ) -> None:
        """Keep what was said, with what the gate says of it, and by how much it differs, (speaker, item, request)."""
        for user, request in enumerate(requests.ids):
            ballots = []
            for name, given in rankings.items():
                check, ranking = gated.fidelity[name], given[user]
                passed = bool(check.passed[user])
                muted = gated.muted[self.market.stakeholders.index(name), user]
                counts: CountsAs = "ballot" if passed else "silence" if muted else "declared"
                ballots.append(
                    ProxyBallot(
                        name, request, ranking or Ranking(name, ()), finite(check.tau[user]),
                        finite(check.share[user]), passed, counts, check.notes[user],
                    )
                )  # fmt: skip
            self._said[request, k] = RequestReports(
                tuple(ballots),
                moved[:, :, user],
                np.array([ballot.passed for ballot in ballots]),
                gated.muted[:, user],
            )


def _ranking(stakeholder: str, request: str, ranker: Ranker, view: RankingView) -> Ranking:
    """Return what a ranker says; nobody is asked to put fewer than two items into an order.

    An `InvalidMoveError`, if it has nothing valid to say, names stakeholder and request.
    """
    if len(view.items) < 2:
        return Ranking(ranker.name, tuple(item.name for item in view.items))
    try:
        return ranker.rank(view)
    except InvalidMoveError as error:
        raise InvalidMoveError(f"ranking for {stakeholder!r}, request {request!r}: {error}") from None
