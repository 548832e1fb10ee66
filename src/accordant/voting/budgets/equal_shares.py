"""`equal_shares`: every voter has the same share of the budget, and projects are bought by those who want them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from accordant.arrays import AnyArray
from accordant.voting.budgets.affine_price import RATE, Line
from accordant.voting.budgets.exact import Ballots
from accordant.voting.budgets.floating_point_filter import Rehearsal, Rehearsed
from accordant.voting.budgets.greedy import By, add_greedily
from accordant.voting.budgets.rule import BudgetRule, Spending, check_choice, register
from accordant.voting.budgets.voter_budgets import SAME, Demand, Purses, demands_of

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
        bought = _equal_shares(ballots, demands, share)
        found = _raised(ballots, demands, bought, share) if self.completion in ("add1", "add1u") else bought
        extra, ties = self._completed(ballots, found) if self.completion in ("greedy", "add1u") else ((), {})
        unit = ballots.voice * {"approval": 1, "cost": ballots.coin, "score": ballots.point}[self.utility]
        return Spending(
            found.order + extra, dict(found.ties) | ties,
            {project: price * unit for project, price in found.prices.items()}, found.purse, len(extra),
        )  # fmt: skip

    def _utilities(self, ballots: Ballots) -> AnyArray:
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


@dataclass(frozen=True)
class Purchases(Spending):
    """What voters buy, and with how many coins more for each part of one they buy the same in the same order."""

    room: Fraction | float = 0.0


def _equal_shares(ballots: Ballots, demands: dict[int, Demand], first: Fraction) -> Purchases:
    """Return what voters buy if each part of one is given `first` coins, whatever it costs in all."""
    purses = Purses(len(ballots.weights), demands, first)
    lowest = {project: Line(demand.least, 0.0) for project, demand in demands.items()}  # prices only rise
    order: list[int] = []
    ties: dict[int, tuple[int, ...]] = {}
    while exact := _near_cheapest(purses, lowest):
        least = min(price.value for price in exact.values())
        bought, *others = ballots.preferred(project for project, price in exact.items() if price.value == least)
        if others:
            ties[bought] = tuple(others)
        _keep_cheapest(purses, bought, exact, lowest)
        purses.buy(bought, exact[bought])
        order.append(bought)
        del lowest[bought]
    prices = {project: price.value for project, price in purses.prices.items()}
    return Purchases(tuple(order), ties, prices, first, room=purses.room.coins)


def _near_cheapest(purses: Purses, lowest: dict[int, Line[float]]) -> dict[int, Line[Fraction]]:
    """Return exact prices of the cheapest project and of all near it; takes out what nobody can pay for any more."""
    best = np.inf
    near: list[int] = []
    for project in sorted(lowest, key=lambda project: lowest[project].value):
        if lowest[project].value > best * (1 + SAME):
            break
        price = purses.rough_price(project)
        if price is None:
            del lowest[project]
            continue
        lowest[project] = price
        near.append(project)
        best = min(best, price.value)
    return {p: purses.price(p, lowest[p]) for p in near if lowest[p].value <= best * (1 + SAME)}


def _keep_cheapest(
    purses: Purses, bought: int, exact: dict[int, Line[Fraction]], lowest: dict[int, Line[float]]
) -> None:
    """Take room for a project to stay the cheapest."""
    price = exact[bought]
    for project, other in exact.items():
        if project != bought:
            purses.room.keep(other.value - price.value, price.rate - other.rate)
    rate = float(price.rate)
    for project, bound in lowest.items():
        if project not in exact:
            purses.room.keep_roughly(bound.value - float(price.value), rate + RATE * abs(rate) - bound.rate)


def _raised(ballots: Ballots, demands: dict[int, Demand], found: Purchases, share: Fraction) -> Spending:
    """Return the outcome of the most money that does not overspend, one unit of the currency after another.

    As the code of equalshares.net, the first step goes to the next whole unit. Units within the room of an outcome are
    not tried, for they give the same.
    """
    rehearse = Rehearsal(len(ballots.weights), demands)
    step = Fraction(ballots.coin, ballots.voice)
    units, money, last = share // step, share, Rehearsed(found.order, found.room)
    while not _exhaustive(ballots, last.order):  # so a project is left that more money buys, and room is finite
        units = max(units, math.ceil((money + Fraction(last.room)) / step) - 1)
        money = (units + 1) * step
        richer = rehearse(money) or _equal_shares(ballots, demands, money)
        if _cost(ballots, richer.order) > ballots.budget:
            break
        units, last = units + 1, Rehearsed(richer.order, richer.room)
    return _equal_shares(ballots, demands, units * step) if units * step > share else found


def _exhaustive(ballots: Ballots, order: tuple[int, ...]) -> bool:
    left = ballots.budget - _cost(ballots, order)
    return not any(ballots.costs[project] <= left for project in ballots.wanted if project not in order)


def _cost(ballots: Ballots, order: tuple[int, ...]) -> int:
    return sum(ballots.costs[project] for project in order)
