"""From what a user gives to a log: contexts, logged actions and outcomes, and a reward signal per stakeholder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Contexts, Log
from accordant.errors import InputError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.rewards import FunctionReward, ObservedReward, RewardSignal, checked_rewards
from accordant.split import group_codes
from accordant.tables.column_types import ColumnType, typed_column


def read_log(
    problem: DecisionProblem,
    X: Any,
    actions: Any,
    outcomes: Any,
    rewards: Mapping[str, Any],
    group: str | None = None,
    types: Mapping[str, ColumnType] | None = None,
) -> tuple[Log, dict[str, RewardSignal]]:
    """Return the log, and the signal of every stakeholder.

    Parameters
    ----------
    problem
        The decision problem.
    X, actions, outcomes, rewards
        As for `accordant.ParticipatoryPolicy.fit`.
    group
        Column of X that says whose each row is.
    types
        Column to its declared type.

    Raises
    ------
    InputError
        If something given cannot be used; the message says what.
    """
    contexts = Contexts.of(X)
    for name in rewards:
        if name not in problem.stakeholder_names:
            raise UnknownNameError("stakeholder in rewards:", name, problem.stakeholder_names)
    signals: dict[str, RewardSignal] = {}
    observed: dict[str, NDArray[np.float64]] = {}
    for name in problem.stakeholder_names:
        if name not in rewards:
            raise InputError(f"rewards of stakeholder {name!r} are missing")
        given = rewards[name]
        if isinstance(given, ObservedReward):
            raise InputError(f"rewards of {name!r} were observed; give those of these rows, shape (context,)")
        if isinstance(given, RewardSignal):
            signals[name] = given
        elif callable(given):
            signals[name] = FunctionReward(given)
        else:
            observed[name] = checked_rewards(given, contexts.n_contexts, f"observed by {name!r}")
            signals[name] = ObservedReward(name)
    values = problem.outcome_values(outcomes) if problem.continuous else problem.outcome_codes(outcomes)
    groups = None
    if group is not None:
        groups = group_codes(typed_column(group, contexts[group], (types or {}).get(group)), group)
    sensitive = [attribute.name for attribute in problem.sensitive_attributes]
    kept = contexts.only([name for name in contexts if name != group or name in sensitive])
    codes, action_values = problem.logged_actions(actions)
    return Log(kept, codes, values, observed, groups, action_values), signals


def one_of(y: Any, outcomes: Any) -> Any:
    """Return the outcomes, which come as y or by name.

    Raises
    ------
    InputError
        If they come as both.
    """
    if y is not None and outcomes is not None:
        raise InputError("outcomes and y are the same; give one of them")
    return outcomes if y is None else y


def given_rewards(rewards: Mapping[str, Any] | Any) -> Mapping[str, Any]:
    """Return rewards by stakeholder: a mapping as it is, a data frame with a column of observed rewards for each."""
    if rewards is None or isinstance(rewards, Mapping):
        return rewards or {}
    return dict(Contexts.of(rewards))
