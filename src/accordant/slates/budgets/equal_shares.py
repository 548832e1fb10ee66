"""`equal_shares`: every voter has the same share of the budget, and projects are bought by those who want them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from accordant.slates.budgets.exact import Ballots, Whole
from accordant.slates.budgets.greedy import By, add_greedily
from accordant.slates.budgets.purses import SAME, Demand, Purses, demands_of
from accordant.slates.budgets.rehearsal import Rehearsal, Rehearsed
from accordant.slates.budgets.rule import BudgetRule, Spending, check_choice, register

UtilityKind = Literal["approval", "cost", "score"]
Completion = Literal["none", "greedy", "add1", "add1u"]


@register("equal_shares", aliases=("mes",))
@dataclass(frozen=True)
class EqualShares(BudgetRule):
    """The Method of Equal Shares (Peters, Pierczyński and Skowron 2021).

    Every voter holds an equal share of the budget. A project can be bought at price ρ if its voters, each paying
    min(what she holds, ρ · her utility), raise its cost. The project with the lowest price is bought, until none can.

    Parameters
    ----------
    utility
        What a project is worth to somebody who voted for it: ``approval`` (1), ``cost`` (its cost: large projects
        count more), ``score`` (the points she gave it).
    completion
        What happens with money that is left: ``none``; ``greedy`` buys what fits from the most votes down (from the
        highest score down with utility ``score``); ``add1`` (code of equalshares.net) raises every voter's money to the
        next whole unit of the currency and by one unit after another, and takes the last outcome that does not cost
        more than the budget, or the first that is exhaustive; ``add1u`` is ``add1``, then ``greedy``.

    Raises
    ------
    InputError
        If a parameter is outside its range.
    """

    utility: UtilityKind = "approval"
    completion: Completion = "add1u"

    def __post_init__(self) -> None:
        check_choice("utility of equal_shares", self.utility, get_args(UtilityKind))
        check_choice("completion of equal_shares", self.completion, get_args(Completion))

    def spend(self, ballots: Ballots) -> Spending:
        """Return what is bought of the projects that cost something and that somebody voted for."""
        demands = demands_of(ballots, self._utilities(ballots), ballots.wanted)
        share = Fraction(ballots.budget, ballots.electorate)
        found = _equal_shares(ballots, demands, share)
        if self.completion in ("add1", "add1u"):
            found = _raised(ballots, demands, found, share)
        extra, ties = self._completed(ballots, found) if self.completion in ("greedy", "add1u") else ((), {})
        unit = ballots.voice * {"approval": 1, "cost": ballots.coin, "score": ballots.point}[self.utility]
        return Spending(
            found.order + extra, dict(found.ties) | ties,
            {project: price * unit for project, price in found.prices.items()}, found.purse, len(extra),
        )  # fmt: skip

    def _utilities(self, ballots: Ballots) -> Whole:
        """Return utilities, shape (project, ballot)."""
        if self.utility == "score":
            return ballots.scores
        worth = ballots.costs if self.utility == "cost" else [1] * len(ballots.costs)
        column = np.array(worth, dtype=ballots.scores.dtype)[:, None]
        return np.asarray((ballots.scores > 0) * column)

    def _completed(self, ballots: Ballots, found: Spending) -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
        left = [project for project in ballots.wanted if project not in found.order]
        by: By = "score" if self.utility == "score" else "votes"
        return add_greedily(ballots, left, ballots.budget - _cost(ballots, found.order), by)


def _equal_shares(ballots: Ballots, demands: dict[int, Demand], first: Fraction) -> Spending:
    """Return what voters buy if each part of one is given `first` coins, whatever it costs in all."""
    purses = Purses(len(ballots.weights), demands, first)
    lowest = {project: demand.least for project, demand in demands.items()}  # prices only rise
    order: list[int] = []
    ties: dict[int, tuple[int, ...]] = {}
    while lowest:
        price, level = _cheapest(purses, lowest)
        if price is None:
            break
        bought, *others = ballots.preferred(level)
        if others:
            ties[bought] = tuple(others)
        purses.buy(bought, price)
        order.append(bought)
        del lowest[bought]
    return Spending(tuple(order), ties, purses.prices, first)


def _cheapest(purses: Purses, lowest: dict[int, float]) -> tuple[Fraction | None, list[int]]:
    """Return the lowest price and the projects that have it; takes out projects that nobody can pay for any more."""
    best = np.inf
    near: list[int] = []
    for project in sorted(lowest, key=lowest.__getitem__):
        if lowest[project] > best * (1 + SAME):
            break
        price = purses.rough_price(project)
        if np.isinf(price):
            del lowest[project]
            continue
        lowest[project] = price
        near.append(project)
        best = min(best, price)
    exact = {project: purses.price(project) for project in near if lowest[project] <= best * (1 + SAME)}
    if not exact:
        return None, []
    price_of_best = min(exact.values())
    return price_of_best, [project for project, price in exact.items() if price == price_of_best]


def _raised(ballots: Ballots, demands: dict[int, Demand], found: Spending, share: Fraction) -> Spending:
    """Return the outcome of the most money that does not overspend, one unit of the currency after another.

    As the code of equalshares.net, the first step goes to the next whole unit. Steps that cannot change anything are
    not tried one by one: while all voters can pay their parts, a further project needs voters who could pay for it
    alone.
    """
    rehearse = Rehearsal(len(ballots.weights), demands)
    step = Fraction(ballots.coin, ballots.voice)
    units, order, comfortable = share // step, found.order, False
    while not _exhaustive(ballots, order):
        if comfortable:
            alone = min(Fraction(ballots.costs[p], ballots.votes[p]) for p in demands if p not in order)
            units = max(units, math.ceil(alone / step) - 1)
        first = (units + 1) * step
        richer = rehearse(first) or Rehearsed(_equal_shares(ballots, demands, first).order, comfortable=False)
        if _cost(ballots, richer.order) > ballots.budget:
            break
        units, order, comfortable = units + 1, richer.order, richer.comfortable
    return _equal_shares(ballots, demands, units * step) if units * step > share else found


def _exhaustive(ballots: Ballots, order: tuple[int, ...]) -> bool:
    left = ballots.budget - _cost(ballots, order)
    return not any(ballots.costs[project] <= left for project in ballots.wanted if project not in order)


def _cost(ballots: Ballots, order: tuple[int, ...]) -> int:
    return sum(ballots.costs[project] for project in order)
