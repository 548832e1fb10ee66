"""Budget rules that take one project after the other: `Greedy` and `SeqPhragmen`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from accordant import limits
from accordant.arrays import Codes
from accordant.errors import InputError
from accordant.voting.budgets.rule import Ballots, BudgetRule, Spending, check_choice, register

By = Literal["score", "votes"]


@register("greedy")
@dataclass(frozen=True)
class Greedy(BudgetRule):
    """Fund projects from the highest score down, and skip what no longer fits.

    The rule of most cities and of Pabulib's ``rule;greedy`` (utilitarian greedy, Talmon and Faliszewski 2019): it gives
    the majority everything before a minority gets anything.

    Parameters
    ----------
    by
        ``score`` (points; with approvals the same as votes) or ``votes`` (voters who gave the project anything).
    per_cost
        Divide by the cost: more projects, and cheaper ones.

    Raises
    ------
    InputError
        If a parameter is outside its range.
    """

    by: By = "score"
    per_cost: bool = False

    def __post_init__(self) -> None:
        check_choice("by of greedy", self.by, get_args(By))
        if not isinstance(self.per_cost, bool):
            raise InputError(f"per_cost of greedy is {self.per_cost!r}; allowed: true, false")

    def spend(self, ballots: Ballots) -> Spending:
        """Return what is bought of the projects that cost something and that somebody voted for."""
        order, ties = add_greedily(ballots, ballots.wanted, ballots.budget, self.by, per_cost=self.per_cost)
        return Spending(order, ties)


def add_greedily(
    ballots: Ballots, projects: Iterable[int], money: int, by: By, *, per_cost: bool = False
) -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
    """Return what can be bought from the highest score down, and which ties were broken.

    Parameters
    ----------
    ballots
        Votes and scores.
    projects
        What to choose from.
    money
        In coins.
    by, per_cost
        See `Greedy`.
    """
    totals = ballots.totals if by == "score" else ballots.votes
    worth = {project: Fraction(totals[project], ballots.costs[project] if per_cost else 1) for project in projects}
    queue = sorted(ballots.preferred(worth), key=lambda project: -worth[project])
    order: list[int] = []
    ties: dict[int, tuple[int, ...]] = {}
    for place, project in enumerate(queue):
        if ballots.costs[project] > money:
            continue
        order.append(project)
        level = [
            other for other in queue[place + 1 :] if worth[other] == worth[project] and ballots.costs[other] <= money
        ]
        if level:
            ties[project] = tuple(level)
        money -= ballots.costs[project]
    return tuple(order), ties


NEAR = 1e-6  # loads this close, relatively, are compared exactly; rounding moves them by less than 1e-9
TooDear = Literal["stop", "skip"]


@register("seq_phragmen")
@dataclass(frozen=True)
class SeqPhragmen(BudgetRule):
    """Phragmén's sequential rule with costs (Los, Christoff and Grossi 2022).

    Every voter earns money at one unit per unit of time. As soon as the voters of a project hold its cost together they
    buy it and are left with nothing. So a project p raises the load of its voters to
    (Σ_i w_i load_i + cost(p)) / Σ_i w_i, and the project with the lowest is bought. Votes count, points do not.

    Parameters
    ----------
    too_dear
        What happens when the next project would cost more than is left: ``stop``, as published, which may leave much of
        the budget, or ``skip`` it and go on, which spends until nothing fits.

    Raises
    ------
    InputError
        If a parameter is outside its range.
    """

    too_dear: TooDear = "stop"

    def __post_init__(self) -> None:
        check_choice("too_dear of seq_phragmen", self.too_dear, get_args(TooDear))

    def spend(self, ballots: Ballots) -> Spending:
        """Return what is bought of the projects that cost something and that somebody voted for."""
        limits.EXACT_PROJECTS.check(len(ballots.costs), self.name)
        loads = _Loads(ballots)
        left, money = [p for p in ballots.wanted if ballots.costs[p] <= ballots.budget], ballots.budget
        order: list[int] = []
        ties: dict[int, tuple[int, ...]] = {}
        while left:
            load, level = loads.lowest(left)
            fitting = [project for project in level if ballots.costs[project] <= money]
            if len(fitting) < len(level) and self.too_dear == "stop":
                break
            if not fitting:
                left = [project for project in left if project not in level]
                continue
            bought, *others = ballots.preferred(fitting)
            if others:
                ties[bought] = tuple(others)
            loads.buy(bought, load)
            order.append(bought)
            money -= ballots.costs[bought]
            left.remove(bought)
        prices = {project: loads.after[project] * ballots.voice for project in order}
        return Spending(tuple(order), ties, prices)


class _Loads:
    """How much each ballot has paid: the load after the last purchase that it took part in."""

    def __init__(self, ballots: Ballots) -> None:
        self.ballots = ballots
        self.supporters: list[Codes] = [np.flatnonzero(row > 0) for row in ballots.scores]
        self.weights = [ballots.weights[supporters] for supporters in self.supporters]
        self.after: dict[int, Fraction] = {}
        self.last = np.full(len(ballots.weights), -1)  # the project that a ballot paid for last
        self.load = np.zeros(len(ballots.weights))  # the same loads, rounded

    def lowest(self, projects: list[int]) -> tuple[Fraction, list[int]]:
        """Return the lowest load that a project would bring, and the projects that bring it."""
        rough = {project: self._rough(project) for project in projects}
        limit = min(rough.values()) * (1 + NEAR)
        exact = {project: self._exact(project) for project in projects if rough[project] <= limit}
        lowest = min(exact.values())
        return lowest, [project for project, load in exact.items() if load == lowest]

    def buy(self, project: int, load: Fraction) -> None:
        """Let the voters of a project pay for it."""
        self.after[project] = load
        self.last[self.supporters[project]] = project
        self.load[self.supporters[project]] = float(load)

    def _rough(self, project: int) -> float:
        paid = float(self.weights[project].astype(np.float64) @ self.load[self.supporters[project]])
        return (paid + self.ballots.costs[project]) / self.ballots.votes[project]

    def _exact(self, project: int) -> Fraction:
        last, weights = self.last[self.supporters[project]], self.weights[project]
        paid = sum((load * int(weights[last == bought].sum()) for bought, load in self.after.items()), Fraction())
        return (paid + self.ballots.costs[project]) / self.ballots.votes[project]
