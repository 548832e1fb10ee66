"""Errors of promises: what followed, minus what f and E said of it beforehand, for the action that was taken.

    calibration   1[outcome = o] − f(o | x, a), apart for low, middling and high f(o | x, a); of an outcome that is a
                  number, where it fell in f: its level U − ½ and its spread |2 U − 1| − ½, U = f(outcome below | x, a)
    reward        reward of what followed, minus E

If f and E hold, each has mean 0 given everything known beforehand. Where they do not, a run tells how far off they were
on its untouched rows, and whoever watches decisions in use compares that with what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from accordant.arrays import Codes, Values
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem

Kind = Literal["calibration", "reward"]
PARTS = ((0.0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1.0))  # of f, so that being too sure does not cancel being too unsure


@dataclass(frozen=True, eq=False)
class PromiseErrors:
    """One kind of error.

    Attributes
    ----------
    kind, name, part
        What it is about: an outcome and the part of f's range, or a stakeholder and no part.
    values
        The errors, NaN where there is none, shape (context,).
    least, most
        What no error is below, or above.
    """

    kind: Kind
    name: str
    part: str
    values: Values
    least: float
    most: float

    @property
    def key(self) -> tuple[Kind, str, str]:
        """Kind, name and part."""
        return self.kind, self.name, self.part


def calibration_errors(
    problem: DecisionProblem, prediction: OutcomePrediction, actions: Codes, outcomes: Codes | Values
) -> tuple[PromiseErrors, ...]:
    """Return how outcomes differ from f.

    Parameters
    ----------
    problem
        Declares the outcomes. Of two outcomes only the first is looked at: the other is its mirror.
    prediction
        f in the contexts.
    actions
        Codes of the actions taken, shape (context,).
    outcomes
        Codes or numbers, shape (context,).
    """
    rows = np.arange(len(actions))
    weights = prediction.weights[actions, :, rows]
    if prediction.nodes is not None:
        nodes, seen = prediction.nodes[actions, :, rows], outcomes[:, None]
        place = (weights * ((nodes < seen) + 0.5 * (nodes == seen))).sum(axis=1)
        name = getattr(problem.outcomes, "name", "outcome")
        return (
            PromiseErrors("calibration", name, "level", place - 0.5, -0.5, 0.5),
            PromiseErrors("calibration", name, "spread", np.abs(2 * place - 1) - 0.5, -0.5, 0.5),
        )
    names = problem.outcome_names
    promise_errors = []
    for code, name in enumerate(names[:1] if len(names) == 2 else names):
        said = weights[:, code]
        for low, high in PARTS:
            inside = (said >= low) & ((said < high) | (high == 1.0))
            errors = np.where(inside, (outcomes == code) - said, np.nan)
            promise_errors.append(
                PromiseErrors("calibration", name, f"{low:.0%} to {high:.0%}", errors, -high, 1.0 - low)
            )
    return tuple(promise_errors)


def reward_errors(stakeholders: Sequence[str], promised: Values, realised: Values) -> tuple[PromiseErrors, ...]:
    """Return how rewards differ from E, both of the action taken, shape (stakeholder, context); NaN where none is."""
    errors = realised - promised
    return tuple(PromiseErrors("reward", name, "", errors[i], -1.0, 1.0) for i, name in enumerate(stakeholders))
