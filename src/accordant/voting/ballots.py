"""Ballots as arrays: `Profile` of ranks and grades, `Ranking` of one voter, `Election` of projects with costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Integers, Mask, Values
from accordant.errors import InputError, UnknownNameError

UNRANKED = -1
SORTED_FROM = 32  # alternatives beyond which sorting a ballot is faster than comparing every two of them


class Profile:
    """Ballots of weighted voters on the same alternatives, in one context or many.

    Parameters
    ----------
    ranks
        Integers of shape (voter, alternative, context), or (voter, alternative) for one context. A smaller number is
        better, equal numbers are ties, numbers may be left out. `UNRANKED`, or any number below 0, marks an alternative
        that the voter left out: it counts as below every ranked one and tied with the others left out.
    weights
        One number of at least 0 per voter, such as how many handed in the same ballot; None means 1 for everybody.
    alternatives
        Names, all different; None numbers them from 1.
    grades
        Numbers with the shape of `ranks`, higher is better; None if ballots carry no grades.
    approvals
        Booleans with the shape of `ranks`; None if ballots carry no approvals.

    Attributes
    ----------
    ranks
        How many alternatives the voter puts above each, the smallest integers that hold them, shape
        (voter, alternative, context): ties share a number, and nothing is unranked any more.
    weights
        Shape (voter,).
    alternatives, grades, approvals
        As given, with an axis for contexts.

    Raises
    ------
    InputError
        If shapes differ, a weight is negative or not finite, all weights are 0, a name occurs twice, a rank is no
        integer, or a grade is not finite.
    """

    def __init__(
        self, ranks: ArrayLike, weights: ArrayLike | None = None, alternatives: Sequence[str] | None = None, *,
        grades: ArrayLike | None = None, approvals: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        given = _with_contexts(ranks, "ranks")
        if not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"ranks have type {given.dtype}; allowed: integers")
        n_voters, n_alternatives, _ = given.shape
        if not (n_voters and n_alternatives):
            raise InputError(
                f"a profile of {n_voters} ballots on {n_alternatives} alternatives; allowed: at least 1 of both"
            )
        self.ranks: Integers = places_above(given)
        self.weights = _voter_weights(weights, n_voters)
        self.alternatives = _names(alternatives, n_alternatives)
        self.grades: Values | None = _beside(grades, given, "grades", np.float64)
        self.approvals: Mask | None = _beside(approvals, given, "approvals", np.bool_)
        if self.grades is not None and not np.isfinite(self.grades).all():
            raise InputError("a grade is not a finite number; an alternative that nobody graded needs a grade too")

    @classmethod
    def from_orders(
        cls, orders: Sequence[Sequence[str | Iterable[str]]], weights: ArrayLike | None = None,
        alternatives: Sequence[str] | None = None,
    ) -> Profile:  # fmt: skip
        """Return the profile of orders such as ``["a", {"b", "c"}]``: best first, sets for ties, the rest unranked.

        Parameters
        ----------
        orders
            One order per voter, of names.
        weights
            One weight per voter; None means 1 for everybody.
        alternatives
            Names; None takes them in the order of their first appearance (those of a set sorted).

        Raises
        ------
        UnknownNameError
            If an order names what is no alternative.
        InputError
            If an order names an alternative twice.
        """
        tiers = [[[tier] if isinstance(tier, str) else sorted(tier) for tier in order] for order in orders]
        if alternatives is None:
            alternatives = tuple(dict.fromkeys(name for order in tiers for tier in order for name in tier))
        position = {name: column for column, name in enumerate(alternatives)}
        ranks = np.full((len(tiers), len(position)), UNRANKED)
        for row, order in enumerate(tiers):
            for rank, tier in enumerate(order):
                for name in tier:
                    if name not in position:
                        raise UnknownNameError("alternative", name, position)
                    if ranks[row, position[name]] != UNRANKED:
                        raise InputError(f"ballot {row + 1} names {name!r} twice; allowed: once")
                    ranks[row, position[name]] = rank
        return cls(ranks, weights, alternatives)

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return int(self.ranks.shape[2])


def places_above(ranks: NDArray[np.integer[Any]]) -> Integers:
    """Return how many alternatives are ranked above each, shape (voter, alternative, context)."""
    n_alternatives = ranks.shape[1]
    if (ranks < 0).any():
        ranks = np.where(ranks < 0, np.iinfo(ranks.dtype).max, ranks)
    above = np.zeros(ranks.shape, dtype=rank_type(n_alternatives))
    if n_alternatives > SORTED_FROM:
        order = np.argsort(ranks, axis=1)
        rising = np.take_along_axis(ranks, order, axis=1)
        starts = np.where(np.diff(rising, axis=1, prepend=rising[:, :1]) != 0, np.arange(n_alternatives)[:, None], 0)
        np.put_along_axis(above, order, np.maximum.accumulate(starts, axis=1).astype(above.dtype), axis=1)
        return above
    for b in range(n_alternatives):
        above += ranks[:, b : b + 1] < ranks
    return above


def rank_type(n_alternatives: int) -> np.dtype[Any]:
    """Return the smallest signed integer that holds every rank and one number more."""
    return np.min_scalar_type(-n_alternatives - 1)


def _with_contexts(given: ArrayLike, name: str) -> NDArray[Any]:
    array = np.asarray(given)
    if array.ndim not in (2, 3):
        raise InputError(
            f"{name} have shape {array.shape}; allowed: (voter, alternative) or (voter, alternative, context)"
        )
    return array if array.ndim == 3 else array[:, :, None]


def _beside(given: ArrayLike | None, ranks: NDArray[Any], name: str, kind: type) -> NDArray[Any] | None:
    if given is None:
        return None
    array: NDArray[Any] = _with_contexts(given, name).astype(kind)
    if array.shape != ranks.shape:
        raise InputError(f"{name} have shape {array.shape}; allowed: {ranks.shape}, that of the ranks")
    return array


def _voter_weights(given: ArrayLike | None, n_voters: int) -> Values:
    if given is None:
        return np.ones(n_voters)
    weights = np.array(given, dtype=np.float64)
    if weights.shape != (n_voters,):
        raise InputError(f"weights have shape {weights.shape}; allowed: one per voter, {(n_voters,)}")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(weights).all() or (weights < 0).any() or not 0 < total < np.inf:
        raise InputError("weights of voters are wrong; allowed: finite numbers of at least 0, not all 0")
    return weights


def _names(given: Sequence[str] | None, n_alternatives: int) -> tuple[str, ...]:
    names = tuple(map(str, range(1, n_alternatives + 1) if given is None else given))
    if len(names) != n_alternatives:
        raise InputError(f"{len(names)} names of alternatives; allowed: {n_alternatives}, one per column of ranks")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"alternative {twice[0]!r} is named twice; allowed: different names")
    return names


@dataclass(frozen=True)
class Ranking:
    """What a voter says about items for one user.

    Attributes
    ----------
    voter
        Who says it.
    order
        Items, best first; those left out are below all others and tied.
    scores
        One finite number per item of `order`, never rising; empty if the voter gave an order alone.
    reasons
        One text per item of `order`, or empty. Nothing reads them but people.
    generated_by
        ``rule``, ``model NAME`` or ``person``.
    fallback
        Whether a rule stood in for a language model that gave no valid order.
    """

    voter: str
    order: tuple[str, ...]
    scores: tuple[float, ...] = ()
    reasons: tuple[str, ...] = ()
    generated_by: str = "rule"
    fallback: bool = False

    def __post_init__(self) -> None:
        if len(set(self.order)) < len(self.order):
            raise InputError(f"the order of {self.voter!r} names an item twice")
        for name in ("scores", "reasons"):
            given = getattr(self, name)
            if given and len(given) != len(self.order):
                raise InputError(f"{self.voter!r} gives {len(given)} {name} for {len(self.order)} items")
        if any(not after <= before for before, after in zip(self.scores, self.scores[1:], strict=False)):
            raise InputError(f"scores of {self.voter!r} rise along the order, or one is no number")


VoteType = Literal["approval", "ordinal", "cumulative", "scoring", "choose-1"]


@dataclass(frozen=True, eq=False)
class Election:
    """A vote on what to spend a budget on. A committee of k is the same with costs of 1 and a budget of k.

    Attributes
    ----------
    projects
        Names, all different.
    costs
        At least 0, shape (project,), in the currency of the budget. A project may cost more than the budget; then no
        rule funds it.
    budget
        At least 0.
    scores
        At least 0, shape (voter, project): 1 for approved, points, or places below; 0 for what a voter left out.
    weights
        At least 0, shape (voter,).
    vote_type
        What the scores are.
    facts
        Further lines of the file's head.
    voter_facts
        Further columns on voters, such as ``age``: column to texts, one per voter, empty where nothing is known.
    project_facts
        Further columns on projects, such as ``name``: column to texts, one per project.
    """

    projects: tuple[str, ...]
    costs: Values
    budget: float
    scores: Values
    weights: Values
    vote_type: VoteType = "approval"
    facts: Mapping[str, str] = field(default_factory=dict)
    voter_facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    project_facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_voters, n_projects = self.scores.shape
        if len(self.projects) != n_projects or self.costs.shape != (n_projects,) or self.weights.shape != (n_voters,):
            raise InputError(
                f"{len(self.projects)} projects, {self.costs.shape} costs and {self.weights.shape} weights do not fit "
                f"scores of shape {self.scores.shape}, (voter, project)"
            )
        if len(set(self.projects)) < n_projects:
            raise InputError("names of projects repeat; allowed: different names")
        for name in ("costs", "scores", "weights"):
            given = getattr(self, name)
            if not np.isfinite(given).all() or (given < 0).any():
                raise InputError(f"{name} are wrong; allowed: finite numbers of at least 0")
        for name, expected in (("voter_facts", n_voters), ("project_facts", n_projects)):
            for column, texts in getattr(self, name).items():
                if len(texts) != expected:
                    raise InputError(f"{name}: {len(texts)} entries of {column!r}; allowed: {expected}")
        if not (np.isfinite(self.budget) and self.budget >= 0):
            raise InputError(f"the budget is {self.budget}; allowed: a finite number of at least 0")

    @property
    def approvals(self) -> Mask:
        """Whether a voter gave a project anything, shape (voter, project)."""
        return np.asarray(self.scores > 0)
