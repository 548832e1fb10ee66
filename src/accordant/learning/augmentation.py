"""The reward-augmented dataset: what stakeholders would say about actions that were not taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    """

    rows: NDArray[np.intp]
    actions: NDArray[np.intp]
    outcomes: NDArray[np.intp] | NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)


def logged_queries(log: Log) -> RewardQueries:
    """Return one query per logged row: the action taken and the outcome that followed."""
    return RewardQueries(np.arange(len(log)), log.actions, log.outcomes)


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
        Draws the crossed continuous outcomes.
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
    shape = (n_actions, len(outcomes), n_contexts)
    return RewardQueries(
        np.broadcast_to(np.arange(n_contexts), shape).ravel(),
        np.broadcast_to(np.arange(n_actions)[:, None, None], shape).ravel(),
        np.broadcast_to(outcomes, shape).ravel(),
    )


def elicit(
    signal: RewardSignal,
    contexts: Contexts,
    queries: RewardQueries,
    problem: DecisionProblem,
    generator: np.random.Generator | None,
) -> NDArray[np.float64]:
    """Return one stakeholder's answers to the queries from raw, unscaled contexts, shape (query,).

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
