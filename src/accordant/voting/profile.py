"""`Profile`: all ballots, as ranks of alternatives, with weights of voters and the grades that ballots may carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.errors import InputError, UnknownNameError

UNRANKED = -1


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
        self,
        ranks: ArrayLike,
        weights: ArrayLike | None = None,
        alternatives: Sequence[str] | None = None,
        *,
        grades: ArrayLike | None = None,
        approvals: ArrayLike | None = None,
    ) -> None:
        given = _with_contexts(ranks, "ranks")
        if not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"ranks have type {given.dtype}; allowed: integers")
        n_voters, n_alternatives, _ = given.shape
        if not (n_voters and n_alternatives):
            raise InputError(
                f"a profile of {n_voters} ballots on {n_alternatives} alternatives; allowed: at least 1 of both"
            )
        self.ranks: NDArray[np.signedinteger[Any]] = places_above(given)
        self.weights = _voter_weights(weights, n_voters)
        self.alternatives = _names(alternatives, n_alternatives)
        self.grades: NDArray[np.float64] | None = _beside(grades, given, "grades", np.float64)
        self.approvals: NDArray[np.bool_] | None = _beside(approvals, given, "approvals", np.bool_)
        if self.grades is not None and not np.isfinite(self.grades).all():
            raise InputError("a grade is not a finite number; an alternative that nobody graded needs a grade too")

    @classmethod
    def from_orders(
        cls,
        orders: Sequence[Sequence[str | Iterable[str]]],
        weights: ArrayLike | None = None,
        alternatives: Sequence[str] | None = None,
    ) -> Profile:
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


def places_above(ranks: NDArray[np.integer[Any]]) -> NDArray[np.signedinteger[Any]]:
    """Return how many alternatives are ranked above each, shape (voter, alternative, context)."""
    n_alternatives = ranks.shape[1]
    if (ranks < 0).any():
        ranks = np.where(ranks < 0, np.iinfo(ranks.dtype).max, ranks)
    above = np.zeros(ranks.shape, dtype=rank_type(n_alternatives))
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


def _voter_weights(given: ArrayLike | None, n_voters: int) -> NDArray[np.float64]:
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
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"alternative {twice[0]!r} is named twice; allowed: different names")
    return names
