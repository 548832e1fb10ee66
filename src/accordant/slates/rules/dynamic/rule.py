"""`Dynamic`: user after user, a stakeholder who is behind mixes its wishes with those of the user.

SCRUF-D (repository that-recsys-lab/scruf_d, MIT); formulas follow the official code:

    score of an item = (1 − λ) E[user] + λ Σ_i share_i E[i]

The share that an allocation gives to nobody goes to the user [ours]: with nobody at all the list is the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform
from accordant.slates.candidates import Candidates, Gains, best_items, extremes, user_position
from accordant.slates.rule import InOrder, Kind, Repair, Repairs, check_places, empty, register
from accordant.slates.rules.dynamic.allocation import VotingWeightAllocation, first_largest, only, weight_allocations
from accordant.slates.rules.dynamic.history import (
    FairnessOfHistory,
    History,
    HistoryFairness,
    RunningHistory,
    history_fairness,
)
from accordant.slates.slates import NOTHING, Slates, State, join_slates

Mode = Literal["lottery", "top", "mixture"]
MODES: tuple[Mode, ...] = get_args(Mode)
SHORT = 1e-9  # a sum of shares that is further below 1 leaves something to nobody


def compatibilities(candidates: Candidates, user: Values, extremes: tuple[Values, Values], k: int) -> Values:
    """Return c_i = (u(best k items of i) − worst) / (ideal − worst) for the user, in [0, 1] [ours].

    SCRUF-D takes compatibility as given. This one needs no data beside E: it is 1 if the best list of a stakeholder is
    as good as the user's own, and 0 if no list is worse. It is 1 where all lists are alike for the user, and 0 for
    stakeholders without weight, shape (stakeholder, user). `user` is E of the user, shape (item, user); `extremes` are
    the user's ideal and worst mean over lists of the same length, each of shape (user,).
    """
    compatibility = np.zeros((len(candidates.stakeholders), user.shape[1]))
    ideal, worst = extremes
    users = np.arange(user.shape[1])[:, None]
    for i in np.flatnonzero(candidates.weights > 0):
        best = best_items(candidates.values[i], candidates.totals, candidates.available, k, candidates.tolerance)
        shown = best.items != NOTHING
        worth = np.where(shown, user[np.maximum(best.items, 0), users], 0.0).sum(axis=1)
        kept = Gains(worth / np.maximum(shown.sum(axis=1), 1), ideal, worst).attained
        compatibility[i] = np.where(np.isnan(kept), 1.0, kept)
    return compatibility


@dataclass(frozen=True, eq=False)
class Block:
    """What is known of some users before any of them is served.

    E by user is of shape (user, stakeholder, item), that of the user of shape (user, item), 0 without weight; `ideal`,
    `worst` and `compatibility`, 1 where no allocation reads it, are of shape (stakeholder, user). `speakers` are
    positions of those who may be given voting weight: with weight above 0, but for the user.
    """

    candidates: Candidates
    by_user: Values
    own: Values
    ideal: Values
    worst: Values
    speakers: NDArray[np.intp]
    compatibility: Values
    reads_compatibility: bool

    @classmethod
    def of(cls, candidates: Candidates, user: int | None, k: int, reads_compatibility: bool) -> Block:
        """Return what is known, with the position of the user among stakeholders, None if the user has no weight."""
        lengths = np.minimum(k, candidates.available.sum(axis=0))
        ideal, worst = extremes(candidates, lengths)
        by_user = np.ascontiguousarray(candidates.values.transpose(2, 0, 1))
        own = np.zeros_like(by_user[:, 0]) if user is None else by_user[:, user]
        speakers = np.array([i for i in np.flatnonzero(candidates.weights > 0) if i != user], dtype=np.intp)
        if not reads_compatibility:
            fits = np.ones(ideal.shape)
        elif user is None:
            fits = np.ones(ideal.shape)  # nobody is there to fit
        else:
            fits = compatibilities(candidates, candidates.values[user], (ideal[user], worst[user]), k)
        return cls(candidates, by_user, own, ideal, worst, speakers, fits, reads_compatibility)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the speakers."""
        return tuple(self.candidates.stakeholders[i] for i in self.speakers)

    @property
    def weights(self) -> Values:
        """Weights of the speakers."""
        return np.asarray(self.candidates.weights[self.speakers])

    def attained(self, u: int, items: NDArray[np.intp]) -> Values:
        """Return the normalised utilities of one user's list, shape (stakeholder,)."""
        if not len(items):
            return np.full(len(self.ideal), np.nan)
        means = self.by_user[u][:, items].sum(axis=1) / len(items)
        return Gains(means, self.ideal[:, u], self.worst[:, u]).attained


Fairness = Callable[[History], FairnessOfHistory]
VotingWeights = Callable[[int, Values], tuple[Values, Values]]


def served_block(
    block: Block,
    k: int,
    history: RunningHistory,
    fairness: Fairness,
    voting_weights: VotingWeights,
    share: float,
    repair: Repair | None = None,
) -> Slates:
    """Return the slates of the users of a block, each of which becomes part of the history.

    `voting_weights` gives, from the position of a user and m, the chances and the voting weight of every stakeholder;
    `repair` may change each list before it is shown.
    """
    candidates = block.candidates
    shape = len(candidates.stakeholders), candidates.n_users
    totals, available = candidates.totals, candidates.available
    items = np.full((candidates.n_users, k), NOTHING, dtype=np.intp)
    tied = np.zeros(candidates.n_users, dtype=bool)
    fair, chances, given = (np.empty(shape) for _ in range(3))
    for u in range(candidates.n_users):
        fair[:, u] = fairness(history.seen).values
        chances[:, u], given[:, u] = voting_weights(u, fair[:, u])
        scores = (1.0 - share * given[:, u].sum()) * block.own[u] + share * (given[:, u] @ block.by_user[u])
        column = slice(u, u + 1)
        best = best_items(scores[:, None], totals[:, column], available[:, column], k, candidates.tolerance)
        items[u], tied[u] = best.items[0] if repair is None else repair(u, best.items[0]), best.tied[0]
        history.add(items[u], block.attained(u, items[u][items[u] != NOTHING]))
    known = {"compatibility": block.compatibility} if block.reads_compatibility else {}
    return Slates(
        "dynamic",
        candidates.items,
        items,
        tied,
        {},
        {"fairness": fair, "chances": chances, "voting_weights": given, **known},
    )


@register("dynamic")
@dataclass(frozen=True)
class Dynamic(InOrder):
    """Give voting weight to stakeholders who are behind, one user after the other.

    Within a batch every slate counts before the next one is chosen. So users are served in order, on one thread; the
    result is the same whether they come in one batch or in several, but for measures that take the protected items of a
    stakeholder from the batch.

    Parameters
    ----------
    allocation, allocation_parameters
        Who gets how much voting weight: a name of `weight_allocations`.
    fairness, fairness_parameters
        How far behind each is: a name of `history_fairness`. A value that is not defined counts as 1: not behind.
    share
        λ in [0, 1], what those who get voting weight have of it; the user has the rest.
    mode
        ``lottery`` draws one stakeholder with the shares as chances, ``top`` takes the largest share (ties: declared
        first), ``mixture`` weighs all by their shares.
    user
        The stakeholder who is the user and takes no part in the allocation; None for the first who has weight.
    seed
        Of the lottery: a draw depends on it and on the number of slates shown so far alone.

    Raises `InputError` if a name or a parameter is wrong.
    """

    kind: ClassVar[Kind] = "dynamic"
    note: ClassVar[str] = "Formulas follow the official code of SCRUF-D; the default measures are ours."

    allocation: str = "product"
    fairness: str = "attained"
    allocation_parameters: Mapping[str, Any] | None = None
    fairness_parameters: Mapping[str, Any] | None = None
    share: float = 0.5
    mode: Mode = "lottery"
    user: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InputError(f"share is {self.share}; allowed: from 0 to 1")
        if self.mode not in MODES:
            raise UnknownNameError("mode", self.mode, MODES)
        self._parts()

    def serve(
        self, candidates: Candidates, k: int, state: State | None = None, repairs: Repairs | None = None
    ) -> Slates:
        """Return a list of at most k items for every user, in order.

        Quantities of shape (stakeholder, user): ``fairness`` of the lists shown before each user, NaN where it is
        not defined; ``chances`` that the allocation gives; ``voting_weights`` after the draw; ``compatibility`` where
        the allocation reads it.

        Raises
        ------
        InputError
            If k is no whole number of at least 1, or the state is of other stakeholders or items.
        """
        check_places(k)
        allocation, fairness = self._parts()
        allocation.check(candidates.stakeholders)
        user = user_position(candidates, self.user)
        protected = fairness.protected(candidates)
        state = State.start(len(candidates.items), len(candidates.stakeholders), k) if state is None else state
        _check(state, candidates)
        history = RunningHistory(state.slates, state.attained, k)
        number = state.served
        parts = []
        for part in candidates.slices():
            block = Block.of(candidates.take(part), user, k, allocation.reads_compatibility)
            draws = keyed_uniform(self.seed, (f"slate {number + u}" for u in range(part.start, part.stop)))

            def voting_weights(u: int, m: Values, block: Block = block, draws: Values = draws) -> tuple[Values, Values]:
                """Return chances and voting weights of one user of the block, each of shape (stakeholder,)."""
                return self._voting_weights(allocation, block, u, m, float(draws[u]))

            repair = None if repairs is None else repairs(block.candidates)
            parts.append(
                served_block(
                    block, k, history, lambda past: fairness.of(past, protected), voting_weights, self.share, repair
                )
            )
        return self._slates(parts, candidates, k)

    def _voting_weights(
        self, allocation: VotingWeightAllocation, block: Block, u: int, m: Values, draw: float
    ) -> tuple[Values, Values]:
        members = block.speakers
        chances = np.zeros(len(m))
        if not len(members):
            return chances, chances
        behind = np.where(np.isnan(m), 1.0, m)[members]
        chances[members] = allocation.shares(block.names, behind, block.compatibility[members, u], block.weights)
        return chances, _decided(self.mode, chances, draw)

    def _slates(self, parts: list[Slates], candidates: Candidates, k: int) -> Slates:
        if not parts:
            return empty(self.label, candidates, k)
        every = join_slates(parts)
        return Slates(self.label, every.item_names, every.items, every.tied, every.flags, every.quantities)

    def _parts(self) -> tuple[VotingWeightAllocation, HistoryFairness]:
        """Return the allocation and the measure of fairness."""
        return (
            weight_allocations.create(self.allocation, self.allocation_parameters),
            history_fairness.create(self.fairness, self.fairness_parameters),
        )


def _decided(mode: Mode, chances: Values, draw: float) -> Values:
    """Return who has the voting weight, shape (stakeholder,): one by lot, the largest, or all by their shares."""
    if mode == "mixture" or not chances.any():
        return chances
    if mode == "top":
        return only(first_largest(chances), len(chances))
    limits = np.cumsum(chances)
    winner = int(np.searchsorted(limits, draw, side="right"))
    if winner < len(chances):
        return only(winner, len(chances))
    if limits[-1] < 1.0 - SHORT:
        return np.zeros_like(chances)  # the lot of nobody
    return only(int(np.flatnonzero(chances > 0)[-1]), len(chances))  # rounding left a gap below 1


def _check(state: State, candidates: Candidates) -> None:
    n_items, n_stakeholders = len(candidates.items), len(candidates.stakeholders)
    sizes = len(state.exposure), len(state.attained)
    if sizes != (n_items, n_stakeholders):
        raise InputError(f"the state is of {sizes} items and stakeholders; allowed: {(n_items, n_stakeholders)}")
