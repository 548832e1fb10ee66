"""`seq_phragmen`: voters earn money at the same speed, and buy what they can as soon as they can."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.voting.budgets.exact import Ballots
from accordant.voting.budgets.rule import BudgetRule, Spending, check_choice, register

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
        self.supporters: list[NDArray[np.intp]] = [np.flatnonzero(row > 0) for row in ballots.scores]
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
