"""What a log can say about f(o | x, a): only actions that were taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.contexts import Log
from accordant.errors import InputError
from accordant.problem import DecisionProblem

FEW = 20  # rows of an action below which its outcomes are hardly learnable


@dataclass(frozen=True)
class Identification:
    """Whether f may depend on the action, and what must be said about it.

    Attributes
    ----------
    action_aware
        Whether outcomes are modelled as f(o | x, a) rather than f(o | x).
    counts
        Rows in which each action was taken, in declared order.
    warnings
        Sentences for every report.
    """

    action_aware: bool
    counts: tuple[int, ...]
    warnings: tuple[str, ...]


def identify(log: Log, problem: DecisionProblem) -> Identification:
    """Decide from the declaration and the log whether f depends on the action, and name what is too rare.

    Raises
    ------
    InputError
        If the problem declares that outcomes depend on the action but only one action was ever taken.
    """
    counts = np.bincount(log.actions, minlength=len(problem.actions))
    taken = [action for action, count in zip(problem.actions, counts, strict=True) if count]
    declared = problem.outcome_depends_on_action
    if declared is True and len(taken) == 1 < len(problem.actions):
        raise InputError(
            f"outcome_depends_on_action is true, but the log holds only the action {taken[0]!r}: "
            "f(o | x, a) is not identified; declare false and report the assumption, or bring other data"
        )
    aware = len(taken) > 1 if declared == "auto" else declared
    warnings = []
    if not aware and len(problem.actions) > 1:
        why = f"only {taken[0]!r} was ever taken" if len(taken) == 1 else "the problem declares so"
        warnings.append(
            f"Outcomes are assumed not to depend on the action ({why}). Expected rewards of other actions "
            "rest on this assumption, which these data cannot test."
        )
    if aware:
        for action, count in zip(problem.actions, counts, strict=True):
            if count < FEW:
                warnings.append(
                    f"The action {action!r} was taken in {count} training rows; what it leads to is extrapolated."
                )
    if not problem.continuous:
        seen = np.bincount(log.outcomes.astype(np.intp), minlength=len(problem.outcome_names))
        for outcome, count in zip(problem.outcome_names, seen, strict=True):
            if count == 0:
                warnings.append(f"The outcome {outcome!r} never occurs in training rows; it gets probability 0.")
            elif count < FEW:
                warnings.append(f"The outcome {outcome!r} occurs in {count} training rows; its probability is a guess.")
    return Identification(bool(aware), tuple(int(count) for count in counts), tuple(warnings))
