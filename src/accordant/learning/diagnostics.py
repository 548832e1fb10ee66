"""What a log can tell: which actions were taken often enough, and which features give a group away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score

from accordant import randomness
from accordant.contexts import Log
from accordant.errors import InputError
from accordant.learning.encoding import ContextEncoder
from accordant.learning.folds import all_but, make_folds
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


FOLDS = 3
WORTH_SAYING = 0.9  # balanced accuracy from which leaving the attribute out removes next to nothing


@dataclass(frozen=True)
class ProxyCheck:
    """How well one sensitive attribute is predicted from the features.

    Attributes
    ----------
    attribute
        The attribute.
    is_feature
        Whether the models read it directly.
    balanced_accuracy
        Mean over groups of the share recognised on held-out rows, in [0, 1]; None with fewer than two groups.
    chance
        What guessing achieves: 1 / number of groups.
    """

    attribute: str
    is_feature: bool
    balanced_accuracy: float | None
    chance: float

    def warning(self) -> str | None:
        """Return a sentence if the attribute is left out in name only."""
        if self.is_feature or self.balanced_accuracy is None or self.balanced_accuracy < WORTH_SAYING:
            return None
        return (
            f"{self.attribute!r} is no feature, but the features tell it with balanced accuracy "
            f"{self.balanced_accuracy:.2f} (chance {self.chance:.2f}): leaving it out hides next to nothing from them."
        )


def proxy_checks(
    problem: DecisionProblem, log: Log, features: tuple[str, ...], random_state: int
) -> tuple[ProxyCheck, ...]:
    """Predict every sensitive attribute from the other features with histogram boosting, cross-validated."""
    checks, generator = [], randomness.generator(random_state, "proxies")
    for attribute in problem.sensitive_attributes:
        labels, groups = np.unique(log.contexts[attribute.name], return_inverse=True)
        others = tuple(name for name in features if name != attribute.name)
        accuracy = None
        if len(labels) > 1 and others:
            folds = make_folds(len(log), FOLDS, generator, groups, log.groups)
            columns = ContextEncoder.fit(log.contexts, others)(log.contexts)
            predicted = np.empty_like(groups)
            for fold, rows in enumerate(folds):
                training = all_but(folds, fold)
                model = HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0)
                predicted[rows] = model.fit(columns[training], groups[training]).predict(columns[rows])
            accuracy = float(balanced_accuracy_score(groups, predicted))
        checks.append(ProxyCheck(attribute.name, attribute.name in features, accuracy, 1 / len(labels)))
    return tuple(checks)
