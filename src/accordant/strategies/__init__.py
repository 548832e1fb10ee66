"""Strategies: rules from expected rewards E to decisions.

    welfare       Φ weighs everybody's expected rewards: sums, the worst-off, weights by rank
    power_means   the same between sums and the worst-off: Nash welfare, α-fairness, Atkinson
    bargaining    Φ weighs gains over a disagreement point
    distance      Φ is minus a distance from an ideal point
    population    Φ weighs rewards so that means over all contexts are best (`population_by_group`: in each group)
    voting        rules on the ballots that E induces, or that come from a file (`accordant.voting.rules`)
    constraints   any rule under floors, vetoes, budgets or parity
    predictors    what somebody else decides: a column of decisions, any fitted or unfitted predictor
    baselines     constants, outcome-only, single stakeholders, logged, random; and the oracle as a reference

A `Compromise` (compromise.py) is a score Φ and a selection Ψ (selection.py). Rules see E as a `Block` (block.py) of
some contexts, and `decide` (block_decisions.py) applies many rules in one reading of E.

A rule is a class (`KalaiSmorodinsky`) and, with default parameters, a ready-made object of the same name in
lower case::

    strategies.kalai_smorodinsky(E).actions
    strategies.create("kalai_smorodinsky", {"disagreement": "global"}).fit(E_train)(E).actions

Nash social welfare and proportional fairness are one rule under two names: both order actions by the
product of expected rewards.
"""

from __future__ import annotations

import inspect
from typing import Any

from accordant.errors import InputError
from accordant.problem import DecisionProblem
from accordant.strategies.block_decisions import decide, decide_in_blocks
from accordant.strategies.predictors import from_predictor
from accordant.strategies.strategy import Kind, Strategy, register, strategies

create = strategies.create
names = strategies.names

__all__ = [
    "Kind", "Strategy", "baselines_for", "create", "decide", "decide_in_blocks", "defaults_for", "from_predictor",
    "names", "register",
    "strategies",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return the rule registered under `name` with default parameters."""
    # whoever looks for a name in all modules, as skops does for functions of NumPy, need not import every rule
    if name.startswith("_") or not strategies.may_know(name) or name not in strategies:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return strategies.create(name)
    except InputError as error:
        raise AttributeError(str(error)) from None


def __dir__() -> list[str]:
    """Return everything that is public, with the rules that need no parameter."""
    return sorted({*__all__, *(name for name in strategies if _needs_nothing(name))})


def _needs_nothing(name: str) -> bool:
    """Return whether a rule can be made by its name alone."""
    parameters = inspect.signature(strategies.factory(name)).parameters.values()
    return name.isidentifier() and all(parameter.default is not parameter.empty for parameter in parameters)


def defaults_for(problem: DecisionProblem) -> tuple[Strategy, ...]:
    """Return the compromise functions with default reference points.

    The disagreement point is the status quo if the problem declares one, else the minimum over actions.
    """
    disagreement = "context" if problem.status_quo is None else "status_quo"
    rules: tuple[tuple[str, dict[str, Any]], ...] = (
        ("utilitarian", {}),
        ("maximin", {}),
        ("nash_social_welfare", {}),
        ("nash_bargaining", {"disagreement": disagreement}),
        ("kalai_smorodinsky", {"disagreement": disagreement}),
        ("compromise_programming", {}),
    )
    return tuple(create(name, parameters).for_problem(problem) for name, parameters in rules)


def baselines_for(problem: DecisionProblem, *, action_aware: bool) -> tuple[Strategy, ...]:
    """Return every baseline and reference that the problem's declarations allow.

    Parameters
    ----------
    problem
        The decision problem.
    action_aware
        Whether f depends on the action; then outcome-only needs favourable outcomes, else the mapping.
    """
    lines: list[tuple[str, dict[str, Any]]] = [
        ("stakeholder", {"stakeholder": name}) for name in problem.stakeholder_names
    ]
    lines += [("constant", {"action": action}) for action in problem.actions]
    if problem.continuous or (problem.favourable_outcomes if action_aware else problem.outcome_to_action):
        lines.append(("outcome_only", {}))
    lines += [("logged", {}), ("random", {})]
    if problem.outcome_to_action:
        lines.append(("oracle", {}))
    return tuple(create(name, parameters).for_problem(problem) for name, parameters in lines)
