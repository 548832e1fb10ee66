"""`BudgetRule`: any rule from an election with costs to funded projects, and the registry of these rules."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from accordant.arrays import AnyArray, Codes, Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.registry import Registry
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
    of_voter: Codes

    @classmethod
    def of(cls, election: Election) -> Ballots:
        """Read numbers as the decimals that they print as: 0.1 is one tenth."""
        rows, of_voter = _distinct(election.scores)
        *costs, budget = _decimals([*election.costs.tolist(), election.budget])
        coin = math.lcm(*(number.denominator for number in (*costs, budget)))
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
        return tuple(int(weight) for weight in (self.scores > 0) @ self.weights)

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Score of each project over all voters, one per project."""
        return tuple(int(total) for total in self.scores @ self.weights)

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


def _distinct(scores: Values) -> tuple[list[int], Codes]:
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
    return [Fraction(repr(number)) for number in given]


def _whole(given: Values) -> tuple[AnyArray, int]:
    """Return numbers as whole multiples of a part, and how many parts make 1."""
    if (given == np.rint(given)).all() and given.max(initial=0) < MACHINE:
        return given.astype(np.int64), 1
    values, codes = np.unique(given, return_inverse=True)
    exact = _decimals(values.tolist())
    parts = math.lcm(*(fraction.denominator for fraction in exact))
    numbers = [int(fraction * parts) for fraction in exact]
    kind = np.int64 if max(numbers, default=0) < MACHINE else object
    return np.array(numbers, dtype=kind)[codes.reshape(given.shape)], parts


budget_rules: Registry[BudgetRule] = Registry(
    "budget rule", group="accordant.budget_rules", packages=("accordant.voting.budgets",)
)
register = budget_rules.named


@dataclass(frozen=True)
class Spending:
    """What a rule bought, by positions of projects and in coins.

    Attributes
    ----------
    order
        Projects as they were bought.
    ties
        Which projects a bought one was preferred to by nothing but the order that breaks ties.
    prices
        Price of a unit of utility in coins and parts of points, for projects that voters paid at a price.
    purse
        Coins that each part of a voter was given, if voters were given money.
    completed
        How many of the last purchases the rule proper did not make, but its completion.
    """

    order: tuple[int, ...]
    ties: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    prices: Mapping[int, Fraction] = field(default_factory=dict)
    purse: Fraction | None = None
    completed: int = 0


@dataclass(frozen=True, eq=False)
class Funded:
    """What a rule funds.

    Attributes
    ----------
    rule
        Name of the rule with its parameters.
    election
        What was voted on.
    order
        Positions of the funded projects as they were bought, without repetition.
    spent
        What they cost together, exactly.
    ties
        For a funded project, the projects that it tied with when it was bought and was preferred to by more votes, then
        the lower cost, then the order of the file. A project that is not here was preferred to all others by the rule.
    prices
        Position of a project to its price: with Equal Shares money per unit of utility, with Phragmén the load of its
        voters after it was bought. Empty for rules without prices.
    voter_money
        What every voter of weight 1 was given to spend, exactly; more than her share of the budget if it was raised.
        None for rules that give voters no money.
    completed
        Those of `order` that were added after the rule proper ended.
    """

    rule: str
    election: Election
    order: tuple[int, ...]
    spent: Fraction
    ties: Mapping[int, tuple[int, ...]]
    prices: Mapping[int, Fraction]
    voter_money: Fraction | None
    completed: tuple[int, ...]

    @property
    def projects(self) -> tuple[str, ...]:
        """Names of the funded projects as they were bought."""
        return tuple(self.election.projects[project] for project in self.order)

    @property
    def chosen(self) -> Mask:
        """Whether a project is funded, shape (project,)."""
        chosen = np.zeros(len(self.election.projects), dtype=bool)
        chosen[list(self.order)] = True
        return chosen


@dataclass(frozen=True)
class BudgetRule(ABC):
    """A rule with its parameters; call it with an election.

    All arithmetic is exact: costs, scores and weights are read as the decimals that they print as.

    Class attributes
    ----------------
    name
        Registered name.
    """

    name: ClassVar[str]

    @abstractmethod
    def spend(self, ballots: Ballots) -> Spending:
        """Return what is bought of the projects that cost something and that somebody voted for."""

    def __call__(self, election: Election) -> Funded:
        """Return which projects are funded.

        Parameters
        ----------
        election
            Projects, costs, a budget, and scores of voters.

        Raises
        ------
        InputError
            If nobody has a say: there are no voters, or all weights are 0.
        """
        if not election.weights.sum() > 0:
            raise InputError("an election without voters; allowed: at least one with a weight above 0")
        ballots = Ballots.of(election)
        bought = self.spend(ballots)
        given_away = tuple(
            ballots.preferred(p for p, cost in enumerate(ballots.costs) if not cost and ballots.votes[p])
        )
        return Funded(
            self.label, election, given_away + bought.order,
            ballots.money(sum(ballots.costs[project] for project in bought.order)),
            bought.ties, {project: ballots.money(price) for project, price in bought.prices.items()},
            None if bought.purse is None else ballots.money(bought.purse * ballots.voice),
            bought.order[len(bought.order) - bought.completed :],
        )  # fmt: skip

    @property
    def label(self) -> str:
        """Name, and the parameters that differ from their defaults: ``name[parameter=value,…]``."""
        given = [
            f"{parameter.name}={str(getattr(self, parameter.name)).lower()}"
            for parameter in dataclasses.fields(self)
            if getattr(self, parameter.name) != parameter.default
        ]
        return f"{self.name}[{','.join(given)}]" if given else self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the rule: ``budget_rules.create(name, parameters)``."""
        return {parameter.name: getattr(self, parameter.name) for parameter in dataclasses.fields(self)}


def check_choice(what: str, given: object, allowed: tuple[str, ...]) -> None:
    """Stop unless a parameter is one of the allowed words.

    Raises
    ------
    UnknownNameError
        If it is another.
    """
    if given not in allowed:
        raise UnknownNameError(what, given, allowed)
