"""`equal_shares`: every voter has the same share of the budget, and projects are bought by those who want them.

Raising the voters' money by one unit after another repeats the method hundreds of times. `FloatingPointFilter` tells in
milliseconds what would be bought, and with how much more money the same, as long as nothing is close: it says so where
two prices, a cost and what its voters hold, or a budget and a part to pay are too close to be told apart in floating
point. Only then, and for the final outcome, the purchases are calculated exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from accordant import limits
from accordant.arrays import AnyArray, Codes, Mask, Values
from accordant.kernels import compiled
from accordant.voting.budgets.rule import Ballots, BudgetRule, Spending, check_choice, register
from accordant.voting.budgets.sequential import By, add_greedily
from accordant.voting.budgets.voter_budgets import NEAR, RATE, SAFE, SAME, Affine, Demand, VoterBudgets, demands_of

CLOSE = -1  # instead of a number of purchases


@dataclass(frozen=True)
class FilteredPurchases:
    """What the filter found to be bought.

    Attributes
    ----------
    order
        Projects as they were bought.
    increase
        How many coins more each part of a voter could be given, and they would buy the same in the same order. Never
        too high.
    """

    order: tuple[int, ...]
    increase: Fraction | float


class FloatingPointFilter:
    """The demands of an election, end to end, as the kernel reads them.

    Parameters
    ----------
    n_ballots
        Number of distinct ballots.
    demands
        Who would pay for which project.
    """

    def __init__(self, n_ballots: int, demands: dict[int, Demand]) -> None:
        self.projects = tuple(demands)
        self.n_ballots = n_ballots
        given = list(demands.values())
        self.starts = np.cumsum([0, *(len(demand.voters) for demand in given)])
        self.voters = np.concatenate([np.empty(0, dtype=np.intp), *(demand.voters for demand in given)])
        self.weights = np.concatenate([np.empty(0), *(demand.rough_weights for demand in given)])
        self.utilities = np.concatenate([np.empty(0), *(demand.rough_utilities for demand in given)])
        self.costs = np.array([float(demand.cost) for demand in given])
        self.least = np.array([demand.least for demand in given])

    def __call__(self, first: Fraction) -> FilteredPurchases | None:
        """Return what is bought if each part of a voter is given `first` coins; None if it is close."""
        bought = np.empty(len(self.projects), dtype=np.intp)
        budgets = np.full(self.n_ballots, float(first))
        count, increase = _filter_purchases(
            budgets, self.least.copy(), self.starts, self.voters, self.weights, self.utilities, self.costs,
            float(first), NEAR, SAME, RATE, bought,
        )  # fmt: skip
        if count == CLOSE:
            return None
        return FilteredPurchases(tuple(self.projects[position] for position in bought[:count]), SAFE * increase)


@compiled
def _filter_purchases(
    budgets: Values, lowest: Values, starts: Codes, voters: Codes, weights: Values, utilities: Values, costs: Values,
    first: float, near: float, same: float, error: float, bought: Codes,
) -> tuple[int, float]:  # fmt: skip
    """Write purchases; return their number, or `CLOSE`, and the allowable increase; writes over budgets and `lowest`.

    `lowest` bounds prices from below. With more money and the same purchases the bounds change by `lowest_rates`, known
    to within `errors`. Increases are as in `accordant.voting.budgets.voter_budgets`.
    """
    n_projects = len(costs)
    gone = np.zeros(n_projects, dtype=np.bool_)
    asked = np.full(n_projects, -1)  # the last purchase before which a price was asked for
    rates, lowest_rates, errors = np.ones(len(budgets)), np.zeros(n_projects), np.zeros(n_projects)
    terms, increase = 1.0, np.inf
    for count in range(n_projects):
        best, second, chosen = np.inf, np.inf, -1
        while True:
            p = _cheapest(lowest, gone, asked, count)
            if p < 0 or lowest[p] > best * (1 + same):
                break
            asked[p] = count
            held, gained, weight = 0.0, 0.0, 0.0
            for at in range(starts[p], starts[p + 1]):
                held += weights[at] * budgets[voters[at]]
                gained += weights[at] * rates[voters[at]]
                weight += weights[at]
            margin = near * max(costs[p], weight * first)
            if held < costs[p] - margin:
                gone[p] = True
                approach = gained + error * terms * weight
                if approach > 0.0:
                    increase = min(increase, (costs[p] - held) / approach)
                continue
            if held < costs[p] + margin:
                return -1, 0.0
            own = slice(starts[p], starts[p + 1])
            price, lowest_rates[p], paying = _price(costs[p], budgets, rates, voters[own], weights[own], utilities[own])
            errors[p] = error * terms * weight / paying
            lowest[p] = price
            if price < best:
                best, second, chosen = price, best, p
            elif price < second:
                second = price
        if chosen < 0:
            return count, increase
        if second <= best * (1 + same):
            return -1, 0.0
        rate, own = lowest_rates[chosen], slice(starts[chosen], starts[chosen + 1])
        overtaken = _increase_until_overtaken(lowest, lowest_rates, errors, gone, chosen)
        paid, largest = _pay(
            budgets, rates, voters[own], utilities[own], best, rate, error * terms, errors[chosen], near * first
        )
        if paid < 0.0:
            return -1, 0.0
        increase = min(increase, overtaken, paid)
        terms += (abs(rate) + errors[chosen]) * largest
        gone[chosen] = True
        bought[count] = chosen
    return n_projects, increase


def _increase_until_overtaken(lowest: Values, rates: Values, errors: Values, gone: Mask, chosen: int) -> float:
    """Return the increase up to which no other project that is left becomes cheaper than the chosen one."""
    increase = np.inf
    for q in range(len(lowest)):
        approach = rates[chosen] + errors[chosen] - rates[q] + errors[q]
        if not gone[q] and q != chosen and approach > 0.0:
            increase = min(increase, (lowest[q] - lowest[chosen]) / approach)
    return increase


def _pay(
    budgets: Values, rates: Values, voters: Codes, utilities: Values, price: float, rate: float, rate_error: float,
    price_error: float, close: float,
) -> tuple[float, float]:  # fmt: skip
    """Take a price from voters; return the increase that changes nobody's state, and the largest utility.

    A voter whose budget is within `close` of what is asked makes the increase −1. `budgets` and their `rates`, known to
    within `rate_error`, are written over; `rate` and `price_error` are those of the price.
    """
    increase, largest = np.inf, 0.0
    for k in range(len(voters)):
        i = voters[k]
        left = budgets[i] - price * utilities[k]
        if abs(left) <= close:
            return -1.0, 0.0
        approach = (rate * utilities[k] - rates[i]) * (1.0 if left > 0.0 else -1.0)
        approach += rate_error + price_error * utilities[k]
        if approach > 0.0:
            increase = min(increase, abs(left) / approach)
        budgets[i] = max(0.0, left)
        rates[i] = rates[i] - rate * utilities[k] if left > 0.0 else 0.0
        largest = max(largest, utilities[k])
    return increase, largest


def _cheapest(lowest: Values, gone: Mask, asked: Codes, count: int) -> int:
    """Return the project with the lowest bound whose price is not known before this purchase; −1 if there is none."""
    p = -1
    for q in range(len(lowest)):
        if not gone[q] and asked[q] < count and (p < 0 or lowest[q] < lowest[p]):
            p = q
    return p


def _price(
    cost: float, budgets: Values, rates: Values, voters: Codes, weights: Values, utilities: Values
) -> tuple[float, float, float]:
    """Return the price of a unit of utility at which voters can pay a cost, its rate, and the utility of who pays it.

    Newton's method, from below: whoever cannot pay the price gives what is left.
    """
    n_poor, price, rate, paying = 0, 0.0, 0.0, 0.0
    while True:
        shared, from_poor, gained, poorer = 0.0, 0.0, 0.0, 0
        for at in range(len(voters)):
            if budgets[voters[at]] < price * utilities[at]:
                from_poor += weights[at] * budgets[voters[at]]
                gained += weights[at] * rates[voters[at]]
                poorer += 1
            else:
                shared += weights[at] * utilities[at]
        if price > 0.0 and (poorer == n_poor or shared == 0.0):
            return price, rate, paying
        n_poor, paying = poorer, shared
        price, rate = (cost - from_poor) / shared, -gained / shared


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
        limits.EXACT_PROJECTS.check(len(ballots.costs), self.name)
        demands = demands_of(ballots, self._utilities(ballots), ballots.wanted)
        share = Fraction(ballots.budget, ballots.electorate)
        bought = _equal_shares(ballots, demands, share)
        spending = _raise_money(ballots, demands, bought, share) if self.completion in ("add1", "add1u") else bought
        extra, ties = self._complete(ballots, spending) if self.completion in ("greedy", "add1u") else ((), {})
        unit = ballots.voice * {"approval": 1, "cost": ballots.coin, "score": ballots.point}[self.utility]
        return Spending(
            spending.order + extra, dict(spending.ties) | ties,
            {project: price * unit for project, price in spending.prices.items()}, spending.purse, len(extra),
        )  # fmt: skip

    def _utilities(self, ballots: Ballots) -> AnyArray:
        """Return utilities, shape (project, ballot)."""
        if self.utility == "score":
            return ballots.scores
        worth = ballots.costs if self.utility == "cost" else [1] * len(ballots.costs)
        column = np.array(worth, dtype=ballots.scores.dtype)[:, None]
        return np.asarray((ballots.scores > 0) * column)

    def _complete(self, ballots: Ballots, spending: Spending) -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
        left = [project for project in ballots.wanted if project not in spending.order]
        by: By = "score" if self.utility == "score" else "votes"
        return add_greedily(ballots, left, ballots.budget - _cost(ballots, spending.order), by)


@dataclass(frozen=True)
class Purchases(Spending):
    """What voters buy, and with how many coins more for each part of one they buy the same in the same order."""

    increase: Fraction | float = 0.0


def _equal_shares(ballots: Ballots, demands: dict[int, Demand], first: Fraction) -> Purchases:
    """Return what voters buy if each part of one is given `first` coins, whatever it costs in all."""
    budgets = VoterBudgets(len(ballots.weights), demands, first)
    lowest = {project: Affine(demand.least, 0.0) for project, demand in demands.items()}  # prices only rise
    order: list[int] = []
    ties: dict[int, tuple[int, ...]] = {}
    while exact := _near_cheapest(budgets, lowest):
        least = min(price.value for price in exact.values())
        bought, *others = ballots.preferred(project for project, price in exact.items() if price.value == least)
        if others:
            ties[bought] = tuple(others)
        _keep_cheapest(budgets, bought, exact, lowest)
        budgets.buy(bought, exact[bought])
        order.append(bought)
        del lowest[bought]
    prices = {project: price.value for project, price in budgets.prices.items()}
    return Purchases(tuple(order), ties, prices, first, increase=budgets.increase.coins)


def _near_cheapest(budgets: VoterBudgets, lowest: dict[int, Affine[float]]) -> dict[int, Affine[Fraction]]:
    """Return exact prices of the cheapest project and of all near it; takes out what nobody can pay for any more."""
    best = np.inf
    near: list[int] = []
    for project in sorted(lowest, key=lambda project: lowest[project].value):
        if lowest[project].value > best * (1 + SAME):
            break
        price = budgets.rough_price(project)
        if price is None:
            del lowest[project]
            continue
        lowest[project] = price
        near.append(project)
        best = min(best, price.value)
    return {p: budgets.price(p, lowest[p]) for p in near if lowest[p].value <= best * (1 + SAME)}


def _keep_cheapest(
    budgets: VoterBudgets, bought: int, exact: dict[int, Affine[Fraction]], lowest: dict[int, Affine[float]]
) -> None:
    """Bound the increase for a project to stay the cheapest."""
    price = exact[bought]
    for project, other in exact.items():
        if project != bought:
            budgets.increase.keep(other.value - price.value, price.rate - other.rate)
    rate = float(price.rate)
    for project, bound in lowest.items():
        if project not in exact:
            budgets.increase.keep_roughly(bound.value - float(price.value), rate + RATE * abs(rate) - bound.rate)


def _raise_money(ballots: Ballots, demands: dict[int, Demand], purchases: Purchases, share: Fraction) -> Spending:
    """Return the outcome of the most money that does not overspend, one unit of the currency after another.

    As the code of equalshares.net, the first step goes to the next whole unit. Units within the allowable increase of
    an outcome are not tried, for they give the same.
    """
    in_floating_point = FloatingPointFilter(len(ballots.weights), demands)
    step = Fraction(ballots.coin, ballots.voice)
    units, money, last = share // step, share, FilteredPurchases(purchases.order, purchases.increase)
    while not _exhaustive(ballots, last.order):  # so a project is left that more money buys, and the increase is finite
        units = max(units, math.ceil((money + Fraction(last.increase)) / step) - 1)
        money = (units + 1) * step
        richer = in_floating_point(money) or _equal_shares(ballots, demands, money)
        if _cost(ballots, richer.order) > ballots.budget:
            break
        units, last = units + 1, FilteredPurchases(richer.order, richer.increase)
    return _equal_shares(ballots, demands, units * step) if units * step > share else purchases


def _exhaustive(ballots: Ballots, order: tuple[int, ...]) -> bool:
    left = ballots.budget - _cost(ballots, order)
    return not any(ballots.costs[project] <= left for project in ballots.wanted if project not in order)


def _cost(ballots: Ballots, order: tuple[int, ...]) -> int:
    return sum(ballots.costs[project] for project in order)
