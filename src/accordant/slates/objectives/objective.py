"""Objectives: functions of items, users and what has happened so far, in [0, 1]; and those about single items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.registry import Registry
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.slates import NOTHING, State

objectives: Registry[Objective] = Registry(
    "objective", group="accordant.objectives", packages=("accordant.slates.objectives",)
)
ALONE = 0.5  # a single item is neither head nor tail


@dataclass(frozen=True)
class Objective(ABC):
    """A measurable property of showing an item to a user, a frozen dataclass of its parameters.

    Whether more of it is good is not its business: a stakeholder declares a direction.

    Class attributes
    ----------------
    name
        Registered name.
    about
        One phrase that says what 1 means: ``load of today over capacity, at most 1``.
    """

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> Values:
        """Return the objective in [0, 1], shape (item, user) or (item, 1) if it is the same for all users.

        NaN where it is not known, such as the price of an item without one.
        """


register = objectives.named


@dataclass(frozen=True)
class Known(Objective):
    """A property that items or requests already have, whatever happened so far.

    Class attributes
    ----------------
    read
        From the catalogue and the requests to scores, as `Objective.scores` returns them.
    """

    read: ClassVar[staticmethod[[Catalogue, Requests], Values]]

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return the property."""
        del state
        return self.read(catalogue, requests)


def popularity_share(popularity: Values) -> NDArray[np.float64]:
    """Return log(1 + times consumed) over that of the most popular item, in [0, 1], shape (item,); 0 for all of none.

    The logarithm keeps one famous item from making all others look alike.
    """
    logs = np.log1p(popularity)
    return np.asarray(logs / max(float(logs.max(initial=0.0)), 1e-12))


# name, what 1 means, the formula, and where it is read
KNOWN: tuple[tuple[str, str, str, Callable[[Catalogue, Requests], Values]], ...] = (
    ("relevance", "predicted to be what the user wants most",
     "`Requests.relevance` as it is: learned by a recommender, or stated.",
     lambda _, requests: requests.relevance),
    ("novelty", "the user never consumed the item",
     "1 if the item is not in the user's history, else 0. To a user without a history everything is new.",
     lambda _, requests: np.asarray(requests.history == 0, dtype=np.float64)),
    ("safety", "declared to be safe", "`Catalogue.safety` as it is declared; NaN where it is unknown.",
     lambda catalogue, _: catalogue.safety[:, None]),
    ("popularity", "the most popular item; logarithmic in how often items were consumed",
     "log(1 + times consumed) over that of the most popular item [ours]: 1 is the most popular.",
     lambda catalogue, _: popularity_share(catalogue.popularity)[:, None]),
)  # fmt: skip

for _name, _about, _formula, _read in KNOWN:
    objectives.define(_name, _name, Known, __name__, about=_about, read=staticmethod(_read), __doc__=_formula)


@register("price")
@dataclass(frozen=True)
class Price(Objective):
    """min(1, price / reference) [ours].

    Parameters
    ----------
    reference
        A budget for one item, in the currency of prices, above 0; None for the highest known price.
    """

    about: ClassVar[str] = "as dear as the reference, or dearer"
    reference: float | None = None

    def __post_init__(self) -> None:
        if self.reference is not None and not 0 < self.reference < np.inf:
            raise InputError(f"reference is {self.reference}; allowed: a price above 0, or nothing")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return price over reference, shape (item, 1); NaN where it is unknown, 0 for all if everything is free."""
        del requests, state
        price = catalogue.price
        known = price[~np.isnan(price)]
        if (known < 0).any() or np.isinf(known).any():
            raise InputError(f"a price is {known.min()} or infinite; allowed: numbers of at least 0, NaN where unknown")
        top = float(known.max(initial=0.0)) if self.reference is None else self.reference
        return np.minimum(1.0, price / (top if top > 0 else 1.0))[:, None]


@register("diversity")
@dataclass(frozen=True)
class Diversity(Objective):
    """1 − share of the item's category, in the user's history and in the last slates [ours].

    The share is (1 − shown) × that in the history + shown × that in the slates that the state remembers, of all users;
    where one of the two is empty, the other counts alone, and where both are, the share is 0. Only items with a
    category count in shares.

    Parameters
    ----------
    shown
        Weight of what was shown against the history, in [0, 1].
    """

    about: ClassVar[str] = "a category that the user never had, and that nobody was shown lately"
    shown: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.shown <= 1:
            raise InputError(f"shown is {self.shown}; allowed: a weight in [0, 1]")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> Values:
        """Return 1 − share, shape (item, user); NaN where the category is unknown."""
        codes = catalogue.category_codes
        seen = np.bincount(state.slates[state.slates != NOTHING], minlength=catalogue.n_items)
        had, lately = catalogue.by_category(requests.history), catalogue.by_category(seen)[:, None]
        weights = [(1.0 - self.shown) * (had.sum(axis=0) > 0), self.shown * (lately.sum(axis=0) > 0)]
        total = weights[0] + weights[1]
        mixed = weights[0] * _shares(had) + weights[1] * _shares(lately)
        shares = np.divide(mixed, total, out=np.zeros_like(mixed), where=total > 0)
        scores = np.full((catalogue.n_items, requests.n_users), np.nan)
        scores[codes >= 0] = 1.0 - shares[codes[codes >= 0]]
        return scores


def _shares(amounts: Values) -> Values:
    """Return amounts over the sum of each column; 0 where it is 0."""
    totals = amounts.sum(axis=0)
    return np.asarray(np.divide(amounts, totals, out=np.zeros_like(amounts), where=totals > 0))


@register("long_tail")
@dataclass(frozen=True)
class LongTail(Objective):
    """The share of other items that are more popular, equally popular ones counting one half [ours].

    Ranks, unlike counts, do not depend on how famous the most famous item is. Equal popularity of all gives ½ for all.

    Parameters
    ----------
    tail
        None for the share itself. Else the part of the catalogue that counts as tail, in (0, 1]: 1 for items with a
        share of at least 1 − tail, 0 for others.
    """

    about: ClassVar[str] = "the least popular item; the share of other items that are more popular"
    tail: float | None = None

    def __post_init__(self) -> None:
        if self.tail is not None and not 0 < self.tail <= 1:
            raise InputError(f"tail is {self.tail}; allowed: above 0 and at most 1, or nothing")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return the share, or whether an item is in the tail, shape (item, 1)."""
        del requests, state
        shares = more_popular(catalogue.popularity)
        return (shares if self.tail is None else (shares >= 1.0 - self.tail).astype(np.float64))[:, None]


def more_popular(popularity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of other items that are more popular, ties counting one half, shape (item,)."""
    n_items = len(popularity)
    if n_items < 2:
        return np.full(n_items, ALONE)
    ordered = np.sort(popularity)
    above = n_items - np.searchsorted(ordered, popularity, side="right")
    level = np.searchsorted(ordered, popularity, side="right") - np.searchsorted(ordered, popularity, side="left") - 1
    return np.asarray((above + 0.5 * level) / (n_items - 1))
