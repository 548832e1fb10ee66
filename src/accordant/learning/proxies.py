"""Proxy check: how well the features tell who belongs to which group, even if the attribute is left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score

from accordant.contexts import Log
from accordant.learning.encoding import ContextEncoder
from accordant.learning.folds import all_but, make_folds
from accordant.problem import DecisionProblem

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
    problem: DecisionProblem, log: Log, features: tuple[str, ...], generator: np.random.Generator
) -> tuple[ProxyCheck, ...]:
    """Predict every sensitive attribute from the other features with histogram boosting, cross-validated."""
    checks = []
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
