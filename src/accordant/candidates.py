"""Candidates of a policy: the strategies that were given, all baselines, and predictors that learn on its folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from accordant import strategies as rules
from accordant.arrays import Codes
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.learning.folds import all_but
from accordant.problem import DecisionProblem
from accordant.strategies import Strategy
from accordant.strategies.predictors import Predictor
from accordant.utilities import ExpectedRewards


def given_strategies(strategies: Sequence[Strategy] | None, problem: DecisionProblem) -> list[Strategy]:
    """Return strategies with what they take from the problem; the compromise functions where none were given.

    Raises
    ------
    InputError
        If one is listed twice.
    """
    given = rules.defaults_for(problem) if strategies is None else strategies
    own = [strategy.for_problem(problem) for strategy in given]
    labels = [strategy.label for strategy in own]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"the strategy {label!r} is listed twice")
    return own


def candidates(
    given: Sequence[Strategy],
    problem: DecisionProblem,
    expected: ExpectedRewards,
    contexts: Contexts,
    features: tuple[str, ...],
    *,
    action_aware: bool,
) -> dict[str, Strategy]:
    """Return label to strategy: those from `given_strategies`, fitted on E, and the baselines that are always there.

    Parameters
    ----------
    given, problem
        The strategies, and the problem.
    expected, contexts
        E and contexts that reference points are fitted on.
    features
        Columns that predictors see where none were named.
    action_aware
        Whether f depends on the action.
    """
    own = [
        rule.with_features(features) if isinstance(rule, Predictor) else rule.fit(expected, contexts) for rule in given
    ]
    labels = [rule.label for rule in own]
    always = (rule for rule in rules.baselines_for(problem, action_aware=action_aware) if rule.label not in labels)
    return {rule.label: rule for rule in (*own, *always)}


def waits(rule: Strategy) -> bool:
    """Return whether a strategy is trained or judged apart from those that read E."""
    return isinstance(rule, Predictor) and (rule.learns_here or not rule.judged_in_fit)


def train_predictors(
    strategies: dict[str, Strategy],
    refits: Sequence[dict[str, Decisions]],
    log: Log,
    folds: tuple[Codes, ...],
    problem: DecisionProblem,
    features: tuple[str, ...],
    expected: ExpectedRewards,
) -> dict[str, Decisions]:
    """Fit predictors that others brought unfitted: on all rows, and without each fold to judge them there.

    Parameters
    ----------
    strategies
        Label to strategy; a predictor that learns here is replaced by itself, fitted on all rows.
    refits
        Label to decisions on all rows without each fold; those of the predictors are added.
    log, folds
        Training rows, and those of each fold.
    problem, features
        Names, and columns that models may read.
    expected
        Names the actions.

    Returns
    -------
    dict of str to Decisions
        Label to decisions on every row, by the copy of a predictor that did not see its fold.
    """
    held_out: dict[str, Decisions] = {}
    for label, rule in strategies.items():
        if not isinstance(rule, Predictor) or not rule.learns_here:
            continue
        codes = np.empty(len(log), dtype=np.intp)
        for fold, rows in enumerate(folds):
            part = rule.trained_on(log.take(all_but(folds, fold)), problem, features)
            refits[fold][label] = part(expected, contexts=log.contexts)
            codes[rows] = refits[fold][label].codes[rows]
        held_out[label] = replace(refits[0][label], codes=codes)
        strategies[label] = rule.trained_on(log, problem, features)
    return held_out


def predictor_warnings(strategies: Iterable[Strategy]) -> list[str]:
    """Say which predictors may have seen the rows, and what was believed of others."""
    predictors = [rule for rule in strategies if isinstance(rule, Predictor)]
    return [
        f"{rule.label} was trained elsewhere and may have seen the rows of fit: it is not judged on them, and "
        "cannot be chosen. It stands on leaderboards of evaluate, on rows that it has not seen."
        for rule in predictors
        if not rule.judged_in_fit
    ] + [
        f"{rule.label} was trained elsewhere; that it has seen none of these rows was declared, not checked."
        for rule in predictors
        if not rule.trained and rule.judged_in_fit
    ]
