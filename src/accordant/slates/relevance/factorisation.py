"""Factorisation: users and items as vectors whose product is high where the user consumed the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance.counts import Rows
from accordant.slates.relevance.recommender import NOWHERE, Fitted, Interactions, Recommender, check_fit, register

FIRST_SCALE = 0.1  # of the factors that the alternation starts from; any small number does


@dataclass(frozen=True, eq=False)
class FittedFactorisation(Fitted):
    """Factors Y of items, shape (item, factor), and what users consumed; factors of users follow from both.

    `reach` is the share of users who consumed each item, shape (item,): the score where the factors say nothing. It
    estimates the same p_uc as they do.
    """

    factors: Values
    history: Rows
    reach: Values
    alpha: float
    regularisation: float

    def rate(self, users: Codes, starts: Codes) -> Values:
        """Return x_u · y_c, at least 0, with the start counted as one more item of the history."""
        pairs, position = np.unique(np.stack([users, starts], axis=1), axis=0, return_inverse=True)
        rows = [self._with(int(user), int(start)) for user, start in pairs]
        vectors = solve_factors(self.factors, [(items, 1.0 + self.alpha * counts) for items, counts in rows],
                         self.regularisation)  # fmt: skip
        ratings = np.maximum(0.0, self.factors @ vectors.T)
        uncounted = ~(ratings > 0).any(axis=0)
        ratings[:, uncounted] = self.reach[:, None]
        return np.asarray(ratings[:, position.reshape(-1)])

    def _with(self, user: int, start: int) -> tuple[Codes, Values]:
        """Return the history of a user, and the start as one more."""
        items, counts = self.history.row(user)
        if start == NOWHERE:
            return items, counts
        if start in items:
            return items, counts + (items == start)
        return np.append(items, start), np.append(counts, 1.0)


@register("factorisation")
@dataclass(frozen=True)
class Factorisation(Recommender):
    """Weighted alternating least squares for implicit feedback (Hu, Koren and Volinsky 2008).

        min Σ_uc c_uc (p_uc − x_u · y_c)² + λ (Σ_u |x_u|² + Σ_c |y_c|²),
        p_uc = 1 if u consumed c, else 0;   c_uc = 1 + α × count

    Every step solves x_u = (YᵀY + Yᵀ(C_u − I)Y + λI)⁻¹ YᵀC_u p_u, where only consumed items cost time (their equation 4
    and the remark after it). The start of a request counts as one more item of its history. Where the factors say
    nothing, as for a user without a history who has no start, the score is the share of users who consumed the item. An
    item that nobody consumed has factors 0 and score 0.

    Parameters
    ----------
    factors
        Length of vectors, at least 1.
    alpha
        α, how much more one consumption counts than none, above 0.
    regularisation
        λ, above 0. The default suits thousands of consumptions; fewer want less, else all vectors shrink towards 0.
    iterations
        Steps over users and items, at least 1.
    seed
        Of the factors at the beginning.
    """

    about: ClassVar[str] = "vectors of users and items; the start joins the user's history"
    factors: int = 16
    alpha: float = 1.0
    regularisation: float = 20.0
    iterations: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("factors", "iterations"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: a whole number of at least 1")
        for name in ("alpha", "regularisation"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: a number above 0")

    def fit(self, interactions: Interactions, catalogue: Catalogue) -> FittedFactorisation:
        """Return factors of items."""
        check_fit(interactions, catalogue)
        history = Rows.of(interactions)
        first = np.random.default_rng(self.seed).random((interactions.n_items, self.factors)) * FIRST_SCALE
        _, items = self.alternate(history, first)
        return FittedFactorisation(
            interactions.n_users, interactions.n_items, items, history, interactions.reach,
            self.alpha, self.regularisation,
        )  # fmt: skip

    def alternate(self, history: Rows, items: Values) -> tuple[Values, Values]:
        """Return factors of users and items after all iterations, from factors of items at the beginning."""
        by_user, by_item = ([(at, 1.0 + self.alpha * n) for at, n in side] for side in (history, history.turned))
        for _ in range(self.iterations):
            users = solve_factors(items, by_user, self.regularisation)
            items = solve_factors(users, by_item, self.regularisation)
        return users, items

    def loss(self, history: Rows, users: Values, items: Values) -> float:
        """Return what is minimised; entries that were not consumed cost no time."""
        products = (users[history.rows] * items[history.columns]).sum(axis=1)
        confidence = 1.0 + self.alpha * history.values
        everywhere = ((users.T @ users) * (items.T @ items)).sum()
        seen = (confidence * (1.0 - products) ** 2 - products**2).sum()
        return float(everywhere + seen + self.regularisation * ((users**2).sum() + (items**2).sum()))


def solve_factors(others: Values, rows: list[tuple[Codes, Values]], regularisation: float) -> Values:
    """Return the best factors of each row, given those of the other side, shape (row, factor).

    Each row says whom of the others it has, and with what confidence c ≥ 1.
    """
    n_factors = others.shape[1]
    shared = others.T @ others + regularisation * np.eye(n_factors)
    left, right = np.empty((len(rows), n_factors, n_factors)), np.empty((len(rows), n_factors))
    for row, (at, confidence) in enumerate(rows):
        mine = others[at]
        left[row] = shared + mine.T @ (mine * (confidence - 1.0)[:, None])
        right[row] = confidence @ mine
    return np.asarray(np.linalg.solve(left, right[:, :, None])[:, :, 0], dtype=np.float64)
