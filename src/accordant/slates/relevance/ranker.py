"""Ranker: any classifier or regressor of scikit-learn on what the other recommenders, categories and distances say."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Catalogue
from accordant.slates.objectives.travel import kilometres
from accordant.slates.relevance.counts import Neighbours, Popular, Rows, Transitions
from accordant.slates.relevance.factorisation import Factorisation
from accordant.slates.relevance.recommender import (
    NOBODY,
    NOWHERE,
    Fitted,
    Interactions,
    Recommender,
    check_fit,
    register,
    relative,
)

AT_ONCE = 1024  # requests whose features are held in memory together
DECIMALS = 7  # of features; linear algebra differs from machine to machine in the last digits, and trees split on them
NAMED = ("boosting", "logistic")


@dataclass(frozen=True, eq=False)
class Features:
    """Numbers about (user, start, item), from some interactions.

    Attributes
    ----------
    catalogue
        Categories and positions.
    history
        Counts, one row per user.
    learned
        Recommenders that were fitted on the same interactions: popular, transitions, neighbours, factorisation.
    """

    catalogue: Catalogue
    history: Rows
    learned: tuple[Fitted, ...]

    names: ClassVar[tuple[str, ...]] = (
        "popularity",  # the scores of the four recommenders, relative to the best item of the request
        "transition",
        "neighbour",
        "factors",
        "same category",  # as the start
        "category share",  # of the item's category in the history
        "closeness",  # 1 / (1 + kilometres from the start), 0 where a position is unknown
        "had before",  # log(1 + times that the user consumed it)
        "is start",
    )

    @classmethod
    def learned_from(cls, interactions: Interactions, catalogue: Catalogue, seed: int) -> Features:
        """Return features that know these interactions and nothing else."""
        models = (Popular(), Transitions(), Neighbours(), Factorisation(seed=seed))
        return cls(catalogue, Rows.of(interactions), tuple(model.fit(interactions, catalogue) for model in models))

    def of(self, users: Codes, starts: Codes) -> Values:
        """Return features of every item for each request, rounded, shape (item, request, feature)."""
        codes, somewhere = self.catalogue.category_codes, starts != NOWHERE
        had = np.zeros((self.catalogue.n_items, len(users)))
        for request, user in enumerate(users):
            if user != NOBODY:
                items, counts = self.history.row(int(user))
                had[items, request] = counts
        same = (codes[:, None] == codes[starts]) & (codes[:, None] >= 0) & somewhere
        itself = (np.arange(self.catalogue.n_items)[:, None] == starts).astype(np.float64)
        columns = [
            *(relative(model.rate(users, starts)) for model in self.learned),
            same.astype(np.float64), self._category_shares(had), self._closeness(starts), np.log1p(had), itself,
        ]  # fmt: skip
        return np.stack(columns, axis=2).round(DECIMALS)

    def _category_shares(self, had: Values) -> Values:
        """Return the share of each item's category in the history, shape (item, request); 0 where unknown."""
        codes, amounts = self.catalogue.category_codes, self.catalogue.by_category(had)
        totals = amounts.sum(axis=0)
        shares = np.divide(amounts, totals, out=np.zeros_like(amounts), where=totals > 0)
        return np.where(codes[:, None] >= 0, shares[codes], 0.0) if len(shares) else np.zeros_like(had)

    def _closeness(self, starts: Codes) -> Values:
        """Return 1 / (1 + kilometres), shape (item, request); 0 without a start or a position."""
        latitude, longitude = self.catalogue.latitude, self.catalogue.longitude
        far = kilometres(latitude[starts], longitude[starts], latitude[:, None], longitude[:, None])
        known = ~np.isnan(far) & (starts != NOWHERE)
        return np.where(known, 1.0 / (1.0 + np.where(known, far, 0.0)), 0.0)


def one_thread() -> AbstractContextManager[Any]:
    """Return a context with one thread: boosting on small data is far slower with several."""
    from threadpoolctl import threadpool_limits

    return cast("AbstractContextManager[Any]", threadpool_limits(limits=1))


@dataclass(frozen=True, eq=False)
class FittedRanker(Fitted):
    """An estimator, and the features that it reads."""

    features: Features
    estimator: Any

    def rate(self, users: Codes, starts: Codes) -> Values:
        """Return the predicted chance that the item is taken, or the predicted number, at least 0."""
        ratings = np.empty((self.n_items, len(users)))
        for start in range(0, len(users), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            described = self.features.of(users[part], starts[part])
            rows = described.reshape(-1, described.shape[-1])
            with one_thread():
                chances = hasattr(self.estimator, "predict_proba")
                predicted = self.estimator.predict_proba(rows)[:, 1] if chances else self.estimator.predict(rows)
            ratings[:, part] = np.maximum(0.0, predicted).reshape(described.shape[:2])
        return ratings


@register("ranker")
@dataclass(frozen=True)
class Ranker(Recommender):
    """Learns from features of (user, item, start) which items are taken [ours]; see `Features`.

    The last part of the interactions by time tells the estimator what was taken; the features that it sees there come
    from the earlier part alone, else they would know the answers. For requests they come from everything.

    Parameters
    ----------
    estimator
        ``boosting`` (histogram boosting; with fewer than some hundred examples it tells little apart), ``logistic``
        (regression on standardised features), or a classifier or regressor of scikit-learn.
    held
        The part of interactions, last by time, that the estimator learns from, in (0, 1).
    negatives
        Items that were not taken, drawn for each that was, at least 1.
    """

    about: ClassVar[str] = "a classifier on popularity, categories, distance, and the other recommenders"
    estimator: Literal["boosting", "logistic"] | Any = "boosting"
    held: float = 0.4
    negatives: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.estimator, str) and self.estimator not in NAMED:
            raise UnknownNameError("estimator", self.estimator, NAMED)
        if not 0 < self.held < 1:
            raise InputError(f"held is {self.held}; allowed: above 0 and below 1")
        if self.negatives < 1:
            raise InputError(f"negatives is {self.negatives}; allowed: a whole number of at least 1")

    def fit(self, interactions: Interactions, catalogue: Catalogue) -> FittedRanker:
        """Return the estimator with its features.

        Raises
        ------
        InputError
            If there are too few interactions to hold some back, or no item was left that was not taken.
        """
        check_fit(interactions, catalogue)
        order = np.argsort(interactions.times, kind="stable")
        n_earlier = len(order) - int(len(order) * self.held)
        if not 0 < n_earlier < len(order):
            raise InputError(f"a ranker has {len(order)} interactions; allowed: enough to hold {self.held:.0%} back")
        earlier, later = interactions.take(order[:n_earlier]), interactions.take(order[n_earlier:])
        described, taken = self.examples(Features.learned_from(earlier, catalogue, self.seed), later)
        if taken.all():
            raise InputError("a ranker finds no item that was not taken; allowed: at least two items")
        with one_thread():
            estimator = self._estimator().fit(described, taken)
        return FittedRanker(
            interactions.n_users,
            interactions.n_items,
            Features.learned_from(interactions, catalogue, self.seed),
            estimator,
        )

    def examples(self, features: Features, later: Interactions) -> tuple[Values, NDArray[np.intp]]:
        """Return features of what was taken and of some that was not, shape (example, feature), and which is which."""
        requests, position = np.unique(np.stack([later.users, later.starts], axis=1), axis=0, return_inverse=True)
        position = position.reshape(-1)
        took = np.zeros((len(requests), later.n_items), dtype=bool)
        took[position, later.items] = True
        generator = np.random.default_rng(self.seed)
        at, item, taken = [position], [later.items], [np.ones(len(position), dtype=np.intp)]
        for request, n_taken in zip(*np.unique(position, return_counts=True), strict=True):
            drawn = generator.permutation(np.flatnonzero(~took[request]))[: self.negatives * n_taken]
            at.append(np.full(len(drawn), request))
            item.append(drawn)
            taken.append(np.zeros(len(drawn), dtype=np.intp))
        rows, items = np.concatenate(at), np.concatenate(item)
        described = np.empty((len(rows), len(features.names)))
        for first in range(0, len(requests), AT_ONCE):
            part = requests[first : first + AT_ONCE]
            here = (rows >= first) & (rows < first + AT_ONCE)
            described[here] = features.of(part[:, 0], part[:, 1])[items[here], rows[here] - first]
        return described, np.concatenate(taken)

    def _estimator(self) -> Any:
        """Return an estimator that is not fitted yet."""
        if self.estimator == "logistic":
            from sklearn.linear_model import LogisticRegression
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import StandardScaler

            return make_pipeline(StandardScaler(), LogisticRegression())
        if self.estimator == "boosting":
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(max_iter=100, max_leaf_nodes=8, random_state=self.seed)
        from sklearn.base import clone

        return clone(self.estimator)
