"""The reward-augmented dataset: what stakeholders would say about actions that were not taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Contexts, Log
from accordant.problem import DecisionProblem
from accordant.rewards import ClippedReward, Outcome, RewardSignal

Over = Literal["actions", "actions_and_outcomes"]

CLIPPED_SHARE = 0.2  # more rewards than this at one end of the scale are reported


@dataclass(frozen=True, eq=False)
class RewardQueries:
    """Rows (context, action, outcome) about which stakeholders are asked.

    Attributes
    ----------
    rows
        Row of the log that gives the context, shape (query,).
    actions
        Action codes, shape (query,).
    outcomes
        Outcome codes or numbers, shape (query,).
    values
        Values of the actions, shape (query,), where actions are points of a grid: `actions` are then the nearest
        points. None for the points themselves.
    """

    rows: NDArray[np.intp]
    actions: NDArray[np.intp]
    outcomes: NDArray[np.intp] | NDArray[np.float64]
    values: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> RewardQueries:
        """Return some of the queries."""
        values = None if self.values is None else self.values[chosen]
        return RewardQueries(self.rows[chosen], self.actions[chosen], self.outcomes[chosen], values)


def logged_queries(log: Log) -> RewardQueries:
    """Return one query per logged row: the action taken and the outcome that followed."""
    return RewardQueries(np.arange(len(log)), log.actions, log.outcomes, log.action_values)


def augmented_queries(log: Log, problem: DecisionProblem, over: Over, generator: np.random.Generator) -> RewardQueries:
    """Return queries for every action, and for every outcome or only the observed one.

    Parameters
    ----------
    log
        Training rows.
    problem
        Declares actions and outcomes.
    over
        ``"actions"``: the observed outcome under every action, as in the published protocol.
        ``"actions_and_outcomes"``: every declared outcome under every action; for continuous outcomes the
        observed outcome and one drawn from the training outcomes, so that actions and outcomes are crossed.
    generator
        Draws the crossed continuous outcomes, and the values between points of a grid.

    Notes
    -----
    On a grid of actions everybody is also asked about one value in each context that is drawn from the whole grid, so
    that reward models are told what lies between its points.
    """
    n_contexts, n_actions = len(log), len(problem.actions)
    outcomes: NDArray[Any]
    if over == "actions":
        outcomes = log.outcomes[None, :]
    elif problem.continuous:
        outcomes = np.stack([log.outcomes, generator.permutation(log.outcomes)])
    else:
        n_outcomes = len(problem.outcome_names)
        outcomes = np.repeat(np.arange(n_outcomes, dtype=np.intp)[:, None], n_contexts, axis=1)
    actions, values = np.repeat(np.arange(n_actions)[:, None], n_contexts, axis=1), None
    if problem.grid is not None:
        drawn = generator.uniform(problem.grid.values[0], problem.grid.values[-1], n_contexts)
        values = np.vstack([problem.grid.points[actions], drawn])
        actions = problem.grid.nearest(values)
    shape = (len(actions), len(outcomes), n_contexts)
    return RewardQueries(
        np.broadcast_to(np.arange(n_contexts), shape).ravel(),
        np.broadcast_to(actions[:, None, :], shape).ravel(),
        np.broadcast_to(outcomes, shape).ravel(),
        None if values is None else np.broadcast_to(values[:, None, :], shape).ravel(),
    )


def elicit(
    signal: RewardSignal,
    contexts: Contexts,
    queries: RewardQueries,
    problem: DecisionProblem,
    generator: np.random.Generator | None,
) -> NDArray[np.float64]:
    """Return one stakeholder's answers to the queries from raw, unscaled contexts, shape (query,).

    What is said between two points of a grid of actions is linear in the value, from what is said at the points.

    Parameters
    ----------
    generator
        Draws the noise of noisy signals; None asks for the stated reward without noise.
    """
    if generator is None:
        return _each_cell(signal, contexts, queries, problem)
    ask = partial(signal.elicit, generator=generator)
    return _each_cell(ask, contexts, queries, problem)


def _each_cell(
    ask: Callable[[Contexts, str, Outcome], NDArray[np.float64]],
    contexts: Contexts,
    queries: RewardQueries,
    problem: DecisionProblem,
) -> NDArray[np.float64]:
    """Ask once per action and discrete outcome, or once per action with one number per query."""
    if problem.grid is not None and queries.values is not None:

        def at(point: int, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
            """Return the answers to some of the queries if they were about a point of the grid."""
            asked = queries.take(chosen)
            about = np.full(len(chosen), point, dtype=np.intp)
            return _each_cell(ask, contexts, replace(asked, actions=about, values=None), problem)

        return problem.grid.interpolated(at, queries.values)
    answers = np.empty(len(queries))
    for action, name in enumerate(problem.actions):
        chosen = np.flatnonzero(queries.actions == action)
        if problem.continuous:
            cells: list[tuple[NDArray[np.intp], Outcome]] = [(chosen, queries.outcomes[chosen].astype(np.float64))]
        else:
            codes = queries.outcomes[chosen]
            cells = [(chosen[codes == code], outcome) for code, outcome in enumerate(problem.outcome_names)]
        for where, outcome in cells:
            if where.size:
                answers[where] = ask(contexts.take(queries.rows[where]), name, outcome)
    return answers


def clipping_warnings(
    name: str, signal: RewardSignal, contexts: Contexts, queries: RewardQueries, problem: DecisionProblem
) -> list[str]:
    """Warn when many of a stakeholder's rewards are cut at an end of the scale."""
    if not isinstance(signal, ClippedReward):
        return []
    raw = _each_cell(signal.desirability, contexts, queries, problem)
    shares = {"0": float(np.mean(raw < 0)), "1": float(np.mean(raw > 1))}
    return [
        f"{share:.0%} of the rewards of {name!r} are clipped to {end}: there they no longer tell actions and "
        "outcomes apart."
        for end, share in shares.items()
        if share > CLIPPED_SHARE
    ]
