"""Residuals of numeric outcomes on rows that a fit did not see, and the nodes by which they are integrated over."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from accordant.learning.causal import LevelLearner, LoggedData
from accordant.learning.causal.level_learner import action_folds

Integration = Literal["empirical", "gauss_hermite", "plug_in"]
FOLDS = 5
ENOUGH = 10  # rows of an action from which its own residuals are used instead of everybody's


def held_out_residuals(
    learner: Any,
    features: NDArray[np.float64],
    actions: NDArray[np.intp],
    outcomes: NDArray[np.float64],
    n_actions: int,
    seed: int,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Return outcome minus the level predicted by fits that did not see the row, shape (context,).

    Rows of one group are held out together. A learner that already cross-fitted its levels, such as the default, keeps
    these residuals itself.
    """
    kept = getattr(learner, "held_out_residuals_", None)
    if kept is not None:
        return np.asarray(kept)
    residuals = np.empty(len(outcomes))
    # dealing rows action by action keeps every action in every fold
    order = np.random.default_rng(seed).permutation(len(outcomes))
    order = order[np.argsort(actions[order], kind="stable")]
    parts = [(np.setdiff1d(order, order[fold::FOLDS]), order[fold::FOLDS]) for fold in range(FOLDS)]
    if groups is not None:
        parts = action_folds(actions, FOLDS, seed, groups)
    for train, test in parts:
        whose = None if groups is None else groups[train]
        fitted = _fitted_on(learner, LoggedData(features[train], actions[train], outcomes[train], n_actions, whose))
        levels = fitted.predict_levels(features[test])
        residuals[test] = outcomes[test] - levels[actions[test], np.arange(len(test))]
    return residuals


def _fitted_on(learner: Any, part: LoggedData) -> Any:
    """Return a copy of the learner fitted on a part of data of which the whole was checked already."""
    if isinstance(learner, LevelLearner):
        return clone(learner).fit_part(part)
    return clone(learner).fit(part.X, part.actions, part.outcomes, n_actions=part.n_actions)


def residual_nodes(
    residuals: NDArray[np.float64], actions: NDArray[np.intp], n_actions: int, integration: Integration, n_nodes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return offsets of shape (action, node) and weights of shape (node,), weights summing to 1.

    Parameters
    ----------
    residuals
        Held-out residuals, shape (context,).
    actions
        Codes of the actions taken; an action with fewer than 10 rows gets everybody's residuals.
    n_actions
        Number of actions.
    integration
        ``empirical``: midpoint quantiles of the residuals, centred. ``gauss_hermite``: normal with their
        standard deviation. ``plug_in``: one node at 0, an approximation that ignores all spread.
    n_nodes
        Number of nodes, except for ``plug_in``.
    """
    if integration == "plug_in":
        return np.zeros((n_actions, 1)), np.ones(1)
    own = [residuals[actions == action] for action in range(n_actions)]
    own = [part if len(part) >= ENOUGH else residuals for part in own]
    if integration == "gauss_hermite":
        roots, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
        return np.stack([part.std() * roots for part in own]), weights / weights.sum()
    levels = (np.arange(n_nodes) + 0.5) / n_nodes
    quantiles = np.stack([np.quantile(part, levels) for part in own])
    return quantiles - quantiles.mean(axis=1, keepdims=True), np.full(n_nodes, 1.0 / n_nodes)
