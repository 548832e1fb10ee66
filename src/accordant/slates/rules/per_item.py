"""The best k items by a strategy: items are judged one by one, as if each were the only one to be shown.

Reference points of a strategy, such as the ideal points of Kalai–Smorodinsky, and ballots are taken over the items that
may be shown to the user, so that a closed item changes nothing. For strategies that judge each item by its own expected
rewards this comes by itself; for the others, users to whom the same items may be shown are decided together.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.candidates import BestItems, Candidates, best_items, even_weights
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.block import BLOCK_SIZE, Block
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.constraints.declaration import FrozenMapping, declared, only_keys
from accordant.strategies.strategy import Strategy, strategies

BY_COLUMN = ("column_score", "column_peaked")  # structures whose score of an item depends on that item alone

PAIRS = 200  # items up to which rules that compare all pairs take a few milliseconds per user [measured]
LARGEST = {
    "kemeny": 8, "ranked_pairs": 20, "majority_judgment": 25, "schulze": 60, "leximin": 600
}  # fmt: skip
"""Items up to which rules take a few milliseconds per user, where that differs from `PAIRS` [measured]."""


@register("per_item")
@dataclass(frozen=True)
class PerItem(SlateRule):
    """Show the k items with the highest scores of a strategy, or its winner, its winner among the rest, and so on.

    Weights come from the candidates, and only their ratios matter: see `even_weights`. The list is called as the
    strategy is.

    Parameters
    ----------
    strategy
        Name of a registered strategy, ``{"name": …, "parameters": {…}}``, or a strategy. It must decide in each context
        by itself, from nothing but E, and without a draw.

    Raises `InputError` if the strategy needs more than E, draws, or has weights of its own.
    """

    kind: ClassVar[Kind] = "per item"

    strategy: str | Mapping[str, Any] | Strategy

    def __post_init__(self) -> None:
        made = self.decider
        object.__setattr__(self, "strategy", FrozenMapping(name=made.name, parameters=declared(made.parameters)))

    @classmethod
    def line_up(cls, stakeholders: Sequence[str], user: str | None, n_items: int) -> tuple[SlateRule, ...]:
        """Return the lists of all strategies that are fast enough; see `item_rules`."""
        del stakeholders, user
        return item_rules(n_items)

    @cached_property
    def decider(self) -> ContextRule:
        """The strategy as it was read; what is wrong is refused here."""
        made = _strategy(self.strategy)
        if not isinstance(made, ContextRule):
            raise InputError(
                f"per_item cannot make lists by {made.label!r}: it needs more than expected rewards, or always takes "
                "the same action; allowed: strategies that decide in each context from E alone"
            )
        if made.draws:
            raise InputError(f"per_item cannot make lists by {made.label!r}: it draws; allowed: strategies without")
        if not made.fitted:
            raise InputError(
                f"per_item cannot make lists by {made.label!r}: it needs training contexts; give it fitted"
            )
        if getattr(made, "weights", None) is not None:
            raise InputError(f"per_item takes weights from the candidates; found weights of {made.label!r} itself")
        return made

    @property
    def label(self) -> str:
        """The name of the strategy as every table shows it."""
        return self.decider.label

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the best items of one block of users."""
        rule = self.decider
        if hasattr(rule, "weights"):
            weighted: dict[str, Any] = {"weights": tuple(even_weights(candidates.weights).tolist())}
            rule = replace(rule, **weighted)
        among = decide_among(rule, candidates, candidates.available)
        if among.scores is None:
            picked = _in_turn(rule, candidates, k, among)
        else:
            picked = best_items(among.scores, candidates.totals, candidates.available, k, candidates.tolerance)
        return Slates(self.label, candidates.items, picked.items, picked.tied)


@dataclass(frozen=True, eq=False)
class Among:
    """What a strategy decides if only some items are there: winners, ties, and scores if it has any.

    Winners and ties are of shape (user,); winners are `NOTHING` for users without an item, and arbitrary where there
    are scores, which are of shape (item, user) with −∞ for items that are not there.
    """

    winners: NDArray[np.intp]
    tied: Mask
    scores: Values | None


def decide_among(rule: ContextRule, candidates: Candidates, left: Mask) -> Among:
    """Apply a strategy to the items that are left to each user, shape (item, user), as if there were no others."""
    shape = left.shape
    winners, tied = np.full(shape[1], NOTHING, dtype=np.intp), np.zeros(shape[1], dtype=bool)
    scores: Values | None = np.full(shape, -np.inf)
    open_items = np.ones(shape, dtype=bool) if rule.structure() in BY_COLUMN else left
    for items, users in _alike(open_items, _together(rule, shape[0])):
        values = candidates.values[:, items[:, None], users]
        names = tuple(candidates.items[item] for item in items)
        decisions = rule.decide(Block(values, candidates.stakeholders, names, candidates.tolerance))
        winners[users], tied[users] = items[decisions.codes], decisions.tied
        if decisions.scores is None or scores is None:
            scores = None
        else:
            scores[items[:, None], users] = decisions.scores
    return Among(winners, tied, None if scores is None else np.where(left, scores, -np.inf))


def item_rules(n_items: int) -> tuple[PerItem, ...]:
    """Return the list of every strategy that needs no parameters and takes at most a few milliseconds per user.

    Rules that look at each item once are always there. Voting rules compare all pairs of items: on one core here 0.9 to
    3 ms per user with 200 items, 25 times as long with 1,000 [measured]; they are there up to `PAIRS` items, or up to
    the number in `LARGEST`.
    """
    made = (strategies.create(name) for name in strategies if not _required(name))
    return tuple(
        PerItem(strategy)
        for strategy in made
        if isinstance(strategy, ContextRule)
        and strategy.may_be_selected
        and not strategy.draws
        and strategy.fitted
        and strategy.kind in ("compromise", "voting")
        and n_items <= LARGEST.get(strategy.name, PAIRS if strategy.kind == "voting" else n_items)
    )


def _required(name: str) -> bool:
    """Whether a strategy has a parameter without a default."""
    given = inspect.signature(strategies.factory(name)).parameters.values()
    return any(parameter.default is inspect.Parameter.empty for parameter in given)


def _together(rule: ContextRule, n_items: int) -> int:
    """Return how many users are decided at a time: what pairs of items need must stay in cache."""
    return max(1, BLOCK_SIZE // n_items**2) if rule.kind == "voting" else BLOCK_SIZE


def _alike(left: Mask, most: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield items and the users to whom exactly these are left, at most `most` users at a time."""
    if left.all():
        groups = {b"": list(range(left.shape[1]))}
    else:
        groups = {}
        for user, pattern in enumerate(np.packbits(left, axis=0).T):
            groups.setdefault(pattern.tobytes(), []).append(user)
    for members in groups.values():
        items = np.flatnonzero(left[:, members[0]])
        for start in range(0, len(members) if len(items) else 0, most):
            yield items, np.array(members[start : start + most], dtype=np.intp)


def _in_turn(rule: ContextRule, candidates: Candidates, k: int, first: Among) -> BestItems:
    """Return the winner, the winner among the rest, and so on."""
    left, users, among = candidates.available.copy(), np.arange(candidates.n_users), first
    lists = BestItems.none(candidates.n_users, k)
    for place in range(min(k, len(left))):
        lists.items[:, place] = among.winners
        lists.tied[:] |= among.tied
        left[np.maximum(among.winners, 0), users] = False
        if place + 1 < min(k, len(left)):
            among = decide_among(rule, candidates, left)
    return lists


def _strategy(given: Any) -> Strategy:
    """Return the strategy that a name, a mapping or a strategy stands for."""
    if isinstance(given, Strategy):
        return given
    if isinstance(given, str):
        return strategies.create(given)
    read = only_keys("strategy", given, ("name",), ("parameters",))
    return strategies.create(read["name"], read.get("parameters"))
