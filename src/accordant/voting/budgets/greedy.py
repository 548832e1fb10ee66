"""`greedy`: the most wanted project that still fits, again and again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from accordant.errors import InputError
from accordant.voting.budgets.exact import Ballots
from accordant.voting.budgets.rule import BudgetRule, Spending, check_choice, register

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
