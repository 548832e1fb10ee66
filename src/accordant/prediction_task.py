"""Plain prediction as a decision problem: what ``fit(X, y)`` means where nobody declared stakeholders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import assert_all_finite, column_or_1d

from accordant.arrays import Codes
from accordant.errors import InputError
from accordant.problem import DecisionProblem, value_label
from accordant.rewards import TableReward

STAKEHOLDER = "Prediction"
MANY_LABELS = 100  # more of them are a number to be predicted, not names


@dataclass(frozen=True, eq=False)
class PredictionTask:
    """One stakeholder who wants the outcome named rightly: an action for each outcome, which changes nothing.

    Attributes
    ----------
    problem
        Outcomes are the labels of y, and so are actions.
    classes
        The labels, sorted, shape (label,).
    codes
        Position of each row's label among them, shape (context,).
    """

    problem: DecisionProblem
    classes: NDArray[Any]
    codes: Codes

    @classmethod
    def of(cls, y: Any, classes: NDArray[Any] | None = None) -> PredictionTask:
        """Return the task of predicting y, or of judging predictions of known labels.

        Parameters
        ----------
        y
            Labels: numbers or texts, shape (context,).
        classes
            Those of `fit`; None takes those of y.

        Raises
        ------
        InputError
            If y is missing, holds fewer than two labels, more than a hundred, or another one than before.
        """
        if y is None:
            raise InputError("requires y to be passed, but the target y is None: the outcomes, or declare a problem")
        try:
            labels = column_or_1d(y, warn=True)
            if labels.dtype.kind == "f":
                assert_all_finite(labels, input_name="y")
        except ValueError as error:
            raise InputError(str(error)) from None
        known = np.unique(labels) if classes is None else classes
        if len(known) < 2:
            raise InputError(f"y holds one class only, {known.tolist()}; at least two outcomes are needed")
        if len(known) > MANY_LABELS:
            raise InputError(
                f"Unknown label type: y holds {len(known)} different values, so it is a number rather than a name of "
                "what follows; declare a problem with a continuous outcome"
            )
        position = {label: code for code, label in enumerate(known.tolist())}
        unknown = [label for label in np.unique(labels).tolist() if label not in position]
        if unknown:
            raise InputError(f"y holds {unknown[0]!r}, which fit did not see; labels: {known.tolist()}")
        names = tuple(value_label(label) for label in known.tolist())
        problem = DecisionProblem(
            stakeholders=(STAKEHOLDER,),
            actions=names,
            outcomes=names,
            outcome_to_action=dict(zip(names, names, strict=True)),
            outcome_depends_on_action=False,
        )
        codes = np.array([position[label] for label in labels.tolist()], dtype=np.intp)
        return cls(problem, known, codes)

    @property
    def most_frequent(self) -> str:
        """The action logged on every row: the label that most rows have, since nothing was decided."""
        return self.problem.actions[int(np.bincount(self.codes).argmax())]

    @property
    def rewards(self) -> dict[str, TableReward]:
        """1 for the right label, else 0."""
        names = self.problem.actions
        table = {action: {outcome: float(action == outcome) for outcome in names} for action in names}
        return {STAKEHOLDER: TableReward(table)}
