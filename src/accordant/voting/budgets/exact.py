"""`Ballots`: an election in whole numbers, with identical ballots counted once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import AnyArray
from accordant.voting import Election

MACHINE = 1 << 62  # sums below it fit into 64 bits

"""Whole numbers: int64, or Python's own where sums could grow beyond 64 bits."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """The distinct ballots of an election; every number is whole.

    Attributes
    ----------
    costs
        In coins, one per project.
    budget
        In coins.
    coin
        How many coins make a unit of the currency: 1, or 100 if a cost or the budget has cents.
    scores
        Shape (project, ballot), in parts of `point`.
    point
        How many parts make a point.
    weights
        How many voters handed in each ballot, in parts of `voice`, shape (ballot,).
    voice
        How many parts make one voter.
    of_voter
        The ballot of each voter, shape (voter,).
    """

    costs: tuple[int, ...]
    budget: int
    coin: int
    scores: AnyArray
    point: int
    weights: AnyArray
    voice: int
    of_voter: NDArray[np.intp]

    @classmethod
    def of(cls, election: Election) -> Ballots:
        """Read numbers as the decimals that they print as: 0.1 is one tenth."""
        rows, of_voter = _distinct(election.scores)
        *costs, budget = _decimals([*election.costs.tolist(), election.budget])
        coin = math.lcm(*(each.denominator for each in (*costs, budget)))
        scores, point = _whole(np.ascontiguousarray(election.scores[rows].T))
        weights, voice = _whole(election.weights)
        largest = max(int(scores.max(initial=0)), *(int(cost * coin) for cost in costs), 1)
        small = largest * sum(weights.tolist()) * max(1, len(rows)) < MACHINE
        counts = np.zeros(len(rows), dtype=np.int64 if small else object)
        np.add.at(counts, of_voter, weights if small else weights.astype(object))
        return cls(
            tuple(int(cost * coin) for cost in costs), int(budget * coin), coin,
            scores if small else scores.astype(object), point, counts, voice, of_voter,
        )  # fmt: skip

    @cached_property
    def votes(self) -> tuple[int, ...]:
        """Weight of the voters who gave a project anything, one per project."""
        return tuple(int(each) for each in (self.scores > 0) @ self.weights)

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Score of each project over all voters, one per project."""
        return tuple(int(each) for each in self.scores @ self.weights)

    @cached_property
    def electorate(self) -> int:
        """Weight of all voters, also of those who voted for nothing."""
        return int(self.weights.sum())

    @property
    def wanted(self) -> list[int]:
        """Projects that cost something and that somebody voted for."""
        return [project for project, votes in enumerate(self.votes) if votes and self.costs[project]]

    def preferred(self, projects: Iterable[int]) -> list[int]:
        """Return projects as ties are broken: more votes, then the lower cost, then the order of the file."""
        return sorted(projects, key=lambda project: (-self.votes[project], self.costs[project], project))

    def money(self, coins: Fraction | int) -> Fraction:
        """Return coins in units of the currency."""
        return Fraction(coins) / self.coin


def _distinct(scores: NDArray[np.float64]) -> tuple[list[int], NDArray[np.intp]]:
    """Return one voter for each distinct ballot, and which of these ballots each voter handed in."""
    place: dict[bytes, int] = {}
    rows: list[int] = []
    of_voter = np.empty(len(scores), dtype=np.intp)
    for voter, row in enumerate(scores):
        key = row.tobytes()
        if key not in place:
            place[key] = len(rows)
            rows.append(voter)
        of_voter[voter] = place[key]
    return rows, of_voter


def _decimals(given: Iterable[float]) -> list[Fraction]:
    return [Fraction(repr(each)) for each in given]


def _whole(given: NDArray[np.float64]) -> tuple[AnyArray, int]:
    """Return numbers as whole multiples of a part, and how many parts make 1."""
    if (given == np.rint(given)).all() and given.max(initial=0) < MACHINE:
        return given.astype(np.int64), 1
    values, codes = np.unique(given, return_inverse=True)
    exact = _decimals(values.tolist())
    parts = math.lcm(*(each.denominator for each in exact))
    numbers = [int(each * parts) for each in exact]
    kind = np.int64 if max(numbers, default=0) < MACHINE else object
    return np.array(numbers, dtype=kind)[codes.reshape(given.shape)], parts
